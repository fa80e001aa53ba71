/* forkstorm THREADS ROUNDS HOW: THREADS threads start ROUNDS processes each, all at the same time, and call step() in between.
 * HOW is fork (the child calls step() and ends) or vfork (the child calls step() and executes this program anew, which
 * calls step() too). "wrong" counts results of step() and statuses of children that are not what they have to be; of the latter
 * each has a line of its own. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 16 };

long storm_base = 70;

/* Two places for tracepoints: step() begins with a push, and add_base() with an operand relative to the pc. */
__asm__(".text\n .globl add_base\n .type add_base, @function\n"
#ifdef __aarch64__
        "add_base: fmov d0, x0\n adrp x1, storm_base\n ldr x1, [x1, :lo12:storm_base]\n add x0, x0, x1\n ret\n"
        ".size add_base, . - add_base\n");
#elif defined __riscv
        "add_base: fmv.d.x fa0, a0\n lla a1, storm_base\n ld a1, (a1)\n add a0, a0, a1\n ret\n .size add_base, . - add_base\n");
#else
        "add_base: mov storm_base(%rip), %rax\n add %rdi, %rax\n ret\n .size add_base, . - add_base\n");
#endif
long add_base(long n);

__attribute__((noipa)) long step(long n)
{
    return add_base(n * 2);
}

static long rounds;
static int vforks;
static char *const again[] = { "forkstorm", "child", NULL };

static long child_status(long n)
{
    return step(n) == 2 * n + 70 ? 5 : 6;
}

static pid_t start(long n)
{
    pid_t pid;
    if (vforks) {
        pid = vfork();
        if (pid == 0) {
            if (step(n) == 2 * n + 70)
                execv("/proc/self/exe", again);
            _exit(7);
        }
        return pid;
    }
    pid = fork();
    if (pid == 0)
        _exit(child_status(n));
    return pid;
}

static void *run(void *argument)
{
    long *wrong = argument;
    for (long n = 0; n < rounds; n++) {
        int status = -1;
        *wrong += step(n) != 2 * n + 70;
        pid_t pid = start(n);
        pid_t ended = waitpid(pid, &status, 0);
        if (ended != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 5) {
            printf("child pid=%d ended=%d status=%#x\n", (int)pid, (int)ended, status);
            ++*wrong;
        }
        *wrong += step(-n) != -2 * n + 70;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return child_status(9);
    long threads = argc > 1 ? atol(argv[1]) : 2;
    rounds = argc > 2 ? atol(argv[2]) : 2;
    vforks = argc > 3 && strcmp(argv[3], "vfork") == 0;
    pthread_t handles[MOST];
    long wrong[MOST] = { 0 }, all_wrong = 0;

    if (threads > MOST)
        threads = MOST;
    for (long i = 0; i < threads; i++)
        pthread_create(&handles[i], NULL, run, &wrong[i]);
    for (long i = 0; i < threads; i++) {
        pthread_join(handles[i], NULL);
        all_wrong += wrong[i];
    }
    printf("done wrong=%ld children=%ld\n", all_wrong, threads * rounds);
    return all_wrong != 0;
}
