/* neighbours THREADS CALLS [RATE [CHILDREN]]: each thread calls tick_row(i, 7 * i) and tick_side(i, 5) for i from 0 up to CALLS. The
 * instructions of these are shorter than a jump, and have labels: row_a to row_d follow one another, and side_b follows side_a. An even
 * i comes to side_b by way of side_a, an odd one by a jump through a register. RATE is how often a second a timer has a signal handler
 * call both, with i from 2^40 on. A thread more starts so many CHILDREN, by fork and vfork in turn, which call both once. The program
 * ends with status 1 if a call returns something wrong, and prints how many calls the handler has made. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

__asm__(".text\n .type tick_row, @function\n"
        "tick_row:\n"
        ".globl row_a\n row_a: push %rbp\n"
        ".globl row_b\n row_b: mov %rsp, %rbp\n"
        ".globl row_c\n row_c: push %rbx\n"
        ".globl row_d\n row_d: mov %rdi, %rbx\n"
        " lea 3(%rbx,%rsi), %rax\n pop %rbx\n pop %rbp\n ret\n"
        ".size tick_row, . - tick_row\n"
        ".type tick_side, @function\n"
        "tick_side: lea side_b(%rip), %rax\n lea side_a(%rip), %rcx\n mov $9, %edx\n test $1, %dil\n cmove %rcx, %rax\n jmp *%rax\n"
        ".globl side_a\n side_a: mov %rsi, %rdx\n"
        ".globl side_b\n side_b: mov %rdi, %rax\n"
        " add %rdx, %rax\n ret\n"
        ".size tick_side, . - tick_side\n");
long tick_row(long i, long n), tick_side(long i, long n);

static long calls, children, handled;
static volatile int wrong;

static void call(long i)
{
    if (tick_row(i, 7 * i) != 8 * i + 3 || tick_side(i, 5) != i + (i % 2 ? 9 : 5))
        wrong = 1;
}

static void on_alarm(int signal)
{
    call((1l << 40) + __atomic_fetch_add(&handled, 1, __ATOMIC_SEQ_CST) + 0 * signal);
}

static void *run(void *unused)
{
    for (long i = 0; i < calls; i++)
        call(i);
    return unused;
}

static void *breed(void *unused)
{
    for (volatile long i = 0; i < children; i++) {
        int status = -1;
        pid_t child = i % 2 ? vfork() : fork();
        if (child == 0) {
            call(i);
            _exit(wrong);
        }
        waitpid(child, &status, 0);
        if (status != 0)
            wrong = 1;
    }
    return unused;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    long rate = argc > 3 ? atol(argv[3]) : 0;
    pthread_t all[64], breeder;

    calls = argc > 2 ? atol(argv[2]) : 1000;
    children = argc > 4 ? atol(argv[4]) : 0;
    if (rate > 0) {
        struct itimerval every = { { 0, 1000000 / rate }, { 0, 1000000 / rate } };
        signal(SIGALRM, on_alarm);
        setitimer(ITIMER_REAL, &every, NULL);
    }
    pthread_create(&breeder, NULL, breed, NULL);
    for (int i = 0; i < threads; i++)
        pthread_create(&all[i], NULL, run, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(all[i], NULL);
    pthread_join(breeder, NULL);
    struct itimerval none = { { 0, 0 }, { 0, 0 } };
    setitimer(ITIMER_REAL, &none, NULL);
    printf("done threads=%d calls=%ld handled=%ld\n", threads, calls, handled);
    return wrong;
}
