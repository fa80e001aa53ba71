/* generations LINES [stdin]: LINES lines of threads, in each of which a thread makes the next one, calls step() and ends. They
 * go on for a tenth of a second or, with the word stdin, until standard input ends; two minutes of processor time are the most. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static volatile long calls, ending;

__attribute__((noipa)) void step(void)
{
    __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED); /* mark: step-line */
}

static pthread_attr_t detached;

static void *live(void *unused)
{
    pthread_t next;
    while (!ending && pthread_create(&next, &detached, live, NULL) != 0)
        usleep(100);
    step();
    return unused;
}

int main(int argc, char **argv)
{
    long lines = argc > 1 ? atol(argv[1]) : 1;
    struct rlimit most = { 120, 120 };
    char byte;

    setrlimit(RLIMIT_CPU, &most);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&detached, 1 << 16);
    for (long i = 0; i < lines; i++)
        live(NULL);
    if (argc > 2)
        while (read(STDIN_FILENO, &byte, 1) > 0)
            ;
    else
        usleep(100000);
    ending = 1;
    printf("done lines=%ld\n", lines);
    return 0;
}
