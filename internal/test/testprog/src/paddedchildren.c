/* paddedchildren ROUNDS: calls tick_site() a hundred times, then starts a child by fork, vfork or posix_spawn in turn, ROUNDS times
 * in all, while a second thread calls it without a pause. A forked child calls it a thousand times, one of vfork once, and one of
 * posix_spawn is this program with no rounds. Prints "wrong" and how often each thread has called. */
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__asm__(".text\n .globl tick_site\n .type tick_site, @function\n"
        "tick_site: mov $42, %rax\n add %rdi, %rax\n ret\n .size tick_site, . - tick_site\n");
long tick_site(long i);

extern char **environ;
static atomic_int over;
static long aside, wrong;

static void call(long n)
{
    for (long i = 0; i < n; i++)
        wrong += tick_site(i) != i + 42;
}

static void *run(void *unused)
{
    for (; !over; aside++)
        wrong += tick_site(-aside) != 42 - aside;
    return unused;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 0;
    char *again[] = { argv[0], "0", NULL };
    pthread_t thread;

    if (rounds == 0) {
        call(10);
        return wrong != 0;
    }
    pthread_create(&thread, NULL, run, NULL);
    for (int i = 0; i < rounds; i++) {
        int status = -1;
        pid_t child;
        call(100);
        if (i % 3 == 0) {
            if ((child = fork()) == 0) {
                wrong = 0;
                call(1000);
                _exit(wrong != 0);
            }
        } else if (i % 3 == 1) {
            if ((child = vfork()) == 0)
                _exit(tick_site(1) != 43);
        } else if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, again, environ) != 0) {
            return 2;
        }
        waitpid(child, &status, 0);
        wrong += status != 0;
    }
    over = 1;
    pthread_join(thread, NULL);
    printf("done wrong=%ld calls=%d aside=%ld\n", wrong, 100 * rounds, aside);
    return wrong != 0;
}
