/* shares COUNT: a child that runs in the memory of its parent, which does not wait for it as after a vfork, calls step() COUNT
 * times; so does the parent at the same time. "wrong" counts results of step() and statuses of the child that are not what they
 * have to be. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

static char stack[1 << 16] __attribute__((aligned(16)));
static long count;

__attribute__((noipa)) long step(long n)
{
    return n * 2 + 1;
}

static int steps(void *argument)
{
    int wrong = 0;
    (void)argument;
    for (long n = 0; n < count; n++)
        wrong += step(n) != n * 2 + 1;
    return wrong != 0;
}

int main(int argc, char **argv)
{
    int status = -1, wrong = 0;
    count = argc > 1 ? atol(argv[1]) : 10;
    pid_t child = clone(steps, stack + sizeof stack, CLONE_VM | CLONE_FILES | SIGCHLD, NULL);
    wrong += steps(NULL);
    wrong += waitpid(child, &status, 0) != child || status != 0;
    printf("done calls=%ld wrong=%d\n", count, wrong);
    return wrong != 0;
}
