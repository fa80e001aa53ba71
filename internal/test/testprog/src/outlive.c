/* outlive leader|clone|last: something in the program's memory goes on without its first thread, and calls step() ten times.
 *
 * leader: the first thread ends, another of the process goes on.
 * clone: a task that shares nothing but memory, no thread of the process; the first thread waits for it.
 * last: the same, but the first thread ends, and with it its process.
 *
 * Prints the number of calls. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long calls;
static pthread_t first;
static pid_t parent;
static char stack[1 << 16] __attribute__((aligned(16)));

__attribute__((noipa)) void step(long n)
{
    calls = n + 1; /* mark: step-line */
}

static void *thread(void *unused)
{
    pthread_join(first, NULL);
    usleep(1000); /* its last words are written, but it has yet to end */
    for (int i = 0; i < 10; i++)
        step(i);
    printf("done calls=%ld\n", calls);
    return unused;
}

static int clone_main(void *unused)
{
    while (unused && getppid() == parent)
        sched_yield();
    for (int i = 0; i < 10; i++)
        step(i);
    if (unused)
        printf("done calls=%ld\n", calls), fflush(stdout);
    syscall(SYS_exit, 0);
    return 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int last = strcmp(how, "last") == 0;

    first = pthread_self();
    parent = getpid();
    if (strcmp(how, "leader") == 0) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
        pthread_exit(NULL);
    }
    int child = clone(clone_main, stack + sizeof stack, CLONE_VM | CLONE_FILES, last ? &parent : NULL);
    if (last)
        syscall(SYS_exit, 0);
    if (waitpid(child, NULL, __WCLONE) == child)
        printf("done calls=%ld\n", calls);
    return 0;
}
