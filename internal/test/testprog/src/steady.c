/* steady THREADS RATE [wild=N] [SIGNALS]: threads that together call tick RATE times a second, and check what it returns. If RATE is
   0 there is no pause; if it is "asked", each thread makes one call for a line on standard input. For each line main waits for five
   more calls, or for those of all threads, and prints "right" or "wrong"; at the end of the input it prints "THREADS threads: right"
   or "... wrong" and exits with status 0 or 1.
   With "wild=N" one in N calls hands tick a pointer to nothing, which it does not follow. With SIGNALS a timer sends each thread as
   many signals a second, whose handler takes 20 microseconds, and the program ends after the first of them at the earliest. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_long calls, handled;
static atomic_int wrong, over, asked;
static long pause_us;
static int when_asked, wild, signals;

__attribute__((noinline)) long tick(long i, const char *text)
{
    (void)text;
    long twice = 2 * i; /* mark: tick */
    return twice + 1;
}

static void handler(int signal)
{
    (void)signal;
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 20000);
    handled++;
}

static void send_signals(void)
{
    timer_t timer;
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN };
    struct timespec every = { .tv_nsec = 1000000000 / signals };
    struct itimerspec times = { every, every };
    event._sigev_un._tid = syscall(SYS_gettid);
    signal(SIGRTMIN, handler);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &times, NULL) != 0)
        wrong = 1;
}

static void *work(void *arg)
{
    long i = (long)arg;
    if (signals > 0)
        send_signals();
    if (pause_us > 0)
        usleep(random() % pause_us);
    for (int answered = 0; !over; answered++) {
        while (when_asked && answered == asked)
            usleep(1000);
        if (tick(i, wild > 0 && i % wild == 0 ? (const char *)0x10000 : "steady") != 2 * i + 1)
            wrong = 1;
        i++;
        calls++;
        if (pause_us > 0)
            usleep(pause_us);
    }
    return 0;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 1, rate = argc > 2 ? atoi(argv[2]) : 10;
    when_asked = argc > 2 && strcmp(argv[2], "asked") == 0;
    for (int i = 3; i < argc; i++)
        if (strncmp(argv[i], "wild=", 5) == 0)
            wild = atoi(argv[i] + 5);
        else
            signals = atoi(argv[i]);
    pause_us = rate > 0 ? 1000000L * threads / rate : 0;
    pthread_t *all = calloc(threads, sizeof *all);
    for (long i = 0; i < threads; i++)
        pthread_create(&all[i], 0, work, (void *)i);
    setvbuf(stdout, 0, _IOLBF, 0);
    for (int c; (c = getchar()) != EOF;) {
        if (c != '\n')
            continue;
        long until = calls + (when_asked ? threads : 5);
        asked++;
        while (calls < until)
            usleep(500);
        puts(wrong ? "wrong" : "right");
    }
    while (signals > 0 && handled == 0 && !wrong)
        usleep(500);
    over = 1;
    /* A thread may sleep for long: nobody waits for it. */
    printf("%d threads: %s\n", threads, wrong ? "wrong" : "right");
    return wrong;
}
