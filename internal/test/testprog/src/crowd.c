/* crowd THREADS CALLS: THREADS (at most 4096) threads wait while the first one calls tick() CALLS times, whose instruction at
 * the label site_stepped, a system call, a tracer can only execute in place. ready() is called when all threads are there. The
 * threads end when standard input does. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 4096, STACK = 64 << 10 };

__asm__(".text\n .p2align 4\n .globl tick\n .type tick, @function\n"
#ifdef __aarch64__
        "tick: mov x9, x0\n mov x8, 173\n .globl site_stepped\n site_stepped: svc 0\n add x0, x0, x9\n ret\n" /* getppid */
#elif defined __riscv
        "tick: mv t0, a0\n li a7, 173\n .globl site_stepped\n site_stepped: ecall\n add a0, a0, t0\n ret\n" /* getppid */
#else
        "tick: mov $110, %eax\n .globl site_stepped\n site_stepped: syscall\n add %rdi, %rax\n ret\n" /* getppid */
#endif
        ".size tick, . - tick\n");
long tick(long n);

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_t handles[MOST];

static void *run(void *argument)
{
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return argument;
}

__attribute__((noipa)) void ready(void)
{
}

int main(int argc, char **argv)
{
    long threads = argc > 1 ? atol(argv[1]) : 10;
    long calls = argc > 2 ? atol(argv[2]) : 10;
    long wrong = 0;
    pthread_attr_t small;
    char byte;

    if (threads > MOST)
        threads = MOST;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK);
    pthread_mutex_lock(&gate);
    for (long i = 0; i < threads; i++)
        wrong += pthread_create(&handles[i], &small, run, NULL) != 0;
    ready();
    for (long n = 0; n < calls; n++)
        wrong += tick(n) <= n;
    printf("called wrong=%ld calls=%ld\n", wrong, calls);
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) == 1)
        continue;
    pthread_mutex_unlock(&gate);
    for (long i = 0; i < threads; i++)
        wrong += pthread_join(handles[i], NULL) != 0;
    printf("done wrong=%ld threads=%ld\n", wrong, threads);
    return wrong != 0;
}
