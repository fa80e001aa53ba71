/* hammer THREADS [INTERVAL_US]: THREADS threads call tick_emulated(), tick_slot() and tick_stepped() as fast as they can and
 * check every result, until standard input ends. The three begin with, or at the label site_stepped hold, an instruction that
 * a tracer can emulate, one that it can execute elsewhere (its operand is relative to the pc) and a system call. With an
 * interval a timer sends SIGALRM to the threads. Each byte on standard input is answered by a line that tells the progress.
 * Two minutes of processor time are the most that it takes, whatever a test has done to it. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

enum { MOST = 256 };

#define FUNCTION(name, code) \
    __asm__(".text\n .p2align 4\n .globl " #name "\n .type " #name ", @function\n" \
            #name ":\n" code "\n .size " #name ", . - " #name "\n"); \
    long name(long n);

long hammer_base = 1000;

#ifdef __aarch64__
FUNCTION(tick_emulated, "stp x29, x30, [sp, -16]!\n mov x29, sp\n add x0, x0, 1\n ldp x29, x30, [sp], 16\n ret")
FUNCTION(tick_slot, "fmov d0, x0\n adrp x1, hammer_base\n ldr x1, [x1, :lo12:hammer_base]\n add x0, x0, x1\n ret")
FUNCTION(tick_stepped, "mov x9, x0\n mov x8, 173\n .globl site_stepped\n site_stepped: svc 0\n add x0, x0, x9\n ret") /* getppid */
#elif defined __riscv
FUNCTION(tick_emulated, "addi sp, sp, -16\n sd s0, (sp)\n addi a0, a0, 1\n ld s0, (sp)\n addi sp, sp, 16\n ret")
FUNCTION(tick_slot, "fmv.d.x fa0, a0\n lla a1, hammer_base\n ld a1, (a1)\n add a0, a0, a1\n ret")
FUNCTION(tick_stepped, "mv t0, a0\n li a7, 173\n .globl site_stepped\n site_stepped: ecall\n add a0, a0, t0\n ret") /* getppid */
#else
FUNCTION(tick_emulated, "push %rbp\n mov %rsp, %rbp\n lea 1(%rdi), %rax\n pop %rbp\n ret")
FUNCTION(tick_slot, "mov hammer_base(%rip), %rax\n add %rdi, %rax\n ret")
FUNCTION(tick_stepped, "mov $110, %eax\n .globl site_stepped\n site_stepped: syscall\n add %rdi, %rax\n ret") /* getppid */
#endif

static volatile int ending;
static volatile long handled;

struct worker {
    volatile long calls, wrong;
};

static struct worker workers[MOST];

static void *run(void *argument)
{
    struct worker *worker = argument;
    long n = 0;
    for (; !ending; n++) {
        long emulated = tick_emulated(n), slot = tick_slot(n), stepped = 0;
        if (n % 64 == 0)
            stepped = tick_stepped(n) < n;
        worker->wrong += emulated != n + 1 || slot != n + 1000 || stepped;
        worker->calls = n + 1;
    }
    return NULL;
}

static void on_alarm(int signal)
{
    handled += signal == SIGALRM;
}

static void report(const char *what, long threads)
{
    long calls = 0, wrong = 0;
    for (long i = 0; i < threads; i++) {
        calls += workers[i].calls;
        wrong += workers[i].wrong;
    }
    printf("%s wrong=%ld calls=%ld handled=%ld\n", what, wrong, calls, handled);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    long threads = argc > 1 ? atol(argv[1]) : 4;
    long interval = argc > 2 ? atol(argv[2]) : 0;
    struct itimerval every = { { 0, interval }, { 0, interval } };
    struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
    pthread_t handles[MOST];
    struct rlimit most = { 120, 120 };
    sigset_t alarms;
    char byte;

    if (threads > MOST)
        threads = MOST;
    setrlimit(RLIMIT_CPU, &most);
    sigaction(SIGALRM, &action, NULL);
    for (long i = 0; i < threads; i++)
        pthread_create(&handles[i], NULL, run, &workers[i]);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL); /* the workers are to have them */
    setitimer(ITIMER_REAL, &every, NULL);
    report("ready", threads);
    while (read(STDIN_FILENO, &byte, 1) == 1)
        report("progress", threads);
    ending = 1;
    for (long i = 0; i < threads; i++)
        pthread_join(handles[i], NULL);
    report("done", threads);
    return 0;
}
