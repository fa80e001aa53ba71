/* prefork WORKERS CALLS MODE: starts WORKERS children, each of which calls handle(worker, i) for i from 0 to CALLS - 1, while this
 * process does the same as worker 0, and waits for them. The modes:
 *   plain   nothing else
 *   nested  each worker is the child of a child, which calls as well
 *   borrow  each worker is a child by vfork, which calls once, while a second thread of this process calls without a pause
 *   exec    each worker executes this program anew
 *   kill    workers call for ever, and are killed
 *   orphan  this process ends before its workers begin
 *   asked   this process waits for a line of input before it starts workers, and for the end of the input before it ends them
 * Each process prints how often it has called: "worker number=N pid=PID calls=CALLS wrong=W", those that are killed nothing. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noipa)) long handle(long worker, long i)
{
    return 3 * worker + i;
}

static long wrong, made;
static atomic_int over;
static pid_t first;

static void call(long worker, long calls)
{
    for (long i = 0; i != calls && !over; i++, made++) {
        wrong += handle(worker, i) != 3 * worker + i;
        if (calls < 0 && i % 64 == 63)
            usleep(20);
    }
}

static void report(long worker)
{
    char line[128];
    int n = snprintf(line, sizeof line, "worker number=%ld pid=%d calls=%ld wrong=%ld\n", worker, getpid(), made, wrong);
    if (write(1, line, n) != n)
        _exit(3);
}

static void enough(int unused)
{
    (void)unused;
    over = 1;
}

static void *aside(void *unused)
{
    for (long i = 0; !over; i++)
        wrong += handle(99, i) != 297 + i;
    return unused;
}

static void work(long worker, long calls, const char *mode, char **argv)
{
    if (!strcmp(mode, "nested") && fork() == 0)
        worker += 1000;
    if (!strcmp(mode, "exec")) {
        char number[16], *again[] = { argv[0], number, argv[2], "again", NULL };
        snprintf(number, sizeof number, "%ld", worker);
        execv("/proc/self/exe", again);
        _exit(4);
    }
    while (!strcmp(mode, "orphan") && getppid() == first)
        usleep(1000);
    made = wrong = 0;
    call(worker, strcmp(mode, "kill") && strcmp(mode, "asked") ? calls : -1);
    report(worker);
    while (wait(NULL) > 0)
        ;
    _exit(wrong != 0);
}

int main(int argc, char **argv)
{
    long workers = argc > 1 ? atol(argv[1]) : 1, calls = argc > 2 ? atol(argv[2]) : 10;
    const char *mode = argc > 3 ? argv[3] : "plain";
    pid_t children[1000];
    pthread_t thread;
    int status;

    first = getpid();
    if (!strcmp(mode, "again"))
        work(workers, calls, "", argv);
    if (!strcmp(mode, "asked")) {
        signal(SIGTERM, enough);
        while (getchar() != '\n' && !feof(stdin))
            ;
    }
    if (!strcmp(mode, "borrow"))
        pthread_create(&thread, NULL, aside, NULL);
    for (long w = 1; w <= workers; w++) {
        if (!strcmp(mode, "borrow")) {
            if ((children[w] = vfork()) == 0)
                _exit(handle(w, 0) != 3 * w);
        } else if ((children[w] = fork()) == 0) {
            work(w, calls, mode, argv);
        }
    }
    call(0, calls);
    while (!strcmp(mode, "asked") && getchar() != EOF)
        ;
    over = 1;
    if (!strcmp(mode, "borrow"))
        pthread_join(thread, NULL);
    report(0);
    if (!strcmp(mode, "orphan"))
        _exit(wrong != 0);
    for (long w = 1; w <= workers; w++) {
        if (!strcmp(mode, "kill"))
            kill(children[w], SIGKILL);
        else if (!strcmp(mode, "asked"))
            kill(children[w], SIGTERM);
        waitpid(children[w], &status, 0);
        wrong += strcmp(mode, "kill") ? status != 0 : !WIFSIGNALED(status);
    }
    printf("done wrong=%ld\n", wrong);
    return wrong != 0;
}
