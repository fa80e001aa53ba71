/* padded THREADS CALLS [BAD [RATE]]: each thread calls tick(i, &item, thread) for i from 0 up to CALLS, where item is
 * { 3*i + thread, ~i }. Each BADth call passes an address where nothing is. RATE is how often a second a timer has a signal handler
 * call tick(2^40 + n, &item, 99), n from 0. A call has data in the red zone and flags that the tracepoint at tick_site, an
 * instruction of 7 bytes, must keep. The program ends with status 2 or 3 at the first call that returns something wrong, and prints
 * how many calls the handler has made. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct item {
    uint64_t a, b;
};

static uint64_t calls, bad;
static volatile uint64_t handled;

#define SUM (42 + 1 + 0x5a5a5a5a)

__attribute__((noipa, aligned(64))) uint64_t tick(uint64_t i, struct item *p, uint64_t thread)
{
    uint64_t r;
    __asm__ volatile("movq %[i], -8(%%rsp)\n movq $0x5a5a5a5a, -120(%%rsp)\n"
                     "cmpq $100, %[i]\n stc\n"
                     ".globl tick_site\n tick_site: movq $42, %%rax\n"
                     "adcq $0, %%rax\n addq -8(%%rsp), %%rax\n addq -120(%%rsp), %%rax\n"
                     : "=&a"(r)
                     : [i] "D"(i), "S"(p), "d"(thread)
                     : "cc", "memory");
    return r;
}

static void on_alarm(int signal)
{
    uint64_t n = __atomic_fetch_add(&handled, 1, __ATOMIC_SEQ_CST) + (1ull << 40) * (signal == SIGALRM);
    struct item item = { 3 * n + 99, ~n };
    if (tick(n, &item, 99) != n + SUM)
        _exit(3);
}

static void *run(void *arg)
{
    uint64_t thread = (uintptr_t)arg, count = calls;
    struct item item;
    for (uint64_t i = 0; i < count; i++) {
        item = (struct item){ 3 * i + thread, ~i };
        if (tick(i, bad && i % bad == bad - 1 ? (struct item *)0x7fff0000 : &item, thread) != i + SUM)
            _exit(2);
    }
    return 0;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    calls = argc > 2 ? strtoull(argv[2], 0, 0) : 1000;
    bad = argc > 3 ? strtoull(argv[3], 0, 0) : 0;
    double rate = argc > 4 ? atof(argv[4]) : 0;
    if (rate > 0) {
        struct sigaction action = { .sa_handler = on_alarm };
        struct itimerval timer = { { 0, 1e6 / rate }, { 0, 1e6 / rate } };
        sigaction(SIGALRM, &action, 0);
        setitimer(ITIMER_REAL, &timer, 0);
    }
    pthread_t others[64];
    double start = now();
    for (int t = 1; t < threads; t++)
        pthread_create(&others[t], 0, run, (void *)(uintptr_t)t);
    run(0);
    for (int t = 1; t < threads; t++)
        pthread_join(others[t], 0);
    signal(SIGALRM, SIG_IGN);
    printf("done threads=%d calls=%llu handled=%llu ns_per_call=%.1f\n", threads, (unsigned long long)calls,
           (unsigned long long)handled, (now() - start) / calls / threads);
    return 0;
}
