/* execs COUNT HOW: calls step() COUNT times, replaces itself by this program anew while two other threads go on calling it,
 * and calls it COUNT times again. HOW is leader or thread: who calls execve. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *own_count;

__attribute__((noipa)) long step(long n)
{
    return n * 3 + 1; /* mark: step-line */
}

static long steps(long count)
{
    long wrong = 0;
    for (long n = 0; n < count; n++)
        wrong += step(n) != 3 * n + 1;
    return wrong;
}

static void *run(void *argument)
{
    (void)argument;
    while (steps(100) == 0)
        ;
    abort();
}

static void *replace(void *argument)
{
    (void)argument;
    char *const arguments[] = { "execs", own_count, "again", NULL };
    execv("/proc/self/exe", arguments);
    abort();
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 10;
    const char *how = argc > 2 ? argv[2] : "leader";
    pthread_t other;

    own_count = argc > 1 ? argv[1] : "10";
    long wrong = steps(count);
    if (strcmp(how, "again") == 0) {
        printf("done wrong=%ld calls=%ld\n", wrong, count);
        return wrong != 0;
    }
    if (wrong != 0)
        return 1;
    pthread_create(&other, NULL, run, NULL);
    pthread_create(&other, NULL, run, NULL);
    steps(1000);
    if (strcmp(how, "leader") == 0)
        replace(NULL);
    pthread_create(&other, NULL, replace, NULL);
    pthread_join(other, NULL);
    return 3;
}
