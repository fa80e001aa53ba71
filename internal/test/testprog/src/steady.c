/* steady THREADS RATE: threads that together call tick RATE times a second, and check what it returns. If RATE is 0 there is no
   pause; if it is "asked", each thread makes one call for a line on standard input. For each line main waits for five more
   calls, or for those of all threads, and prints "right" or "wrong"; at the end of the input it prints "THREADS threads: right" or
   "... wrong" and exits with status 0 or 1. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_long calls;
static atomic_int wrong, over, asked;
static long pause_us;
static int when_asked;

__attribute__((noinline)) long tick(long i)
{
    long twice = 2 * i; /* mark: tick */
    return twice + 1;
}

static void *work(void *arg)
{
    long i = (long)arg;
    if (pause_us > 0)
        usleep(random() % pause_us);
    for (int answered = 0; !over; answered++) {
        while (when_asked && answered == asked)
            usleep(1000);
        if (tick(i) != 2 * i + 1)
            wrong = 1;
        i++;
        calls++;
        if (pause_us > 0)
            usleep(pause_us);
    }
    return 0;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 1, rate = argc > 2 ? atoi(argv[2]) : 10;
    when_asked = argc > 2 && strcmp(argv[2], "asked") == 0;
    pause_us = rate > 0 ? 1000000L * threads / rate : 0;
    pthread_t *all = calloc(threads, sizeof *all);
    for (long i = 0; i < threads; i++)
        pthread_create(&all[i], 0, work, (void *)i);
    setvbuf(stdout, 0, _IOLBF, 0);
    for (int c; (c = getchar()) != EOF;) {
        if (c != '\n')
            continue;
        long until = calls + (when_asked ? threads : 5);
        asked++;
        while (calls < until)
            usleep(500);
        puts(wrong ? "wrong" : "right");
    }
    over = 1;
    /* A thread may sleep for long: nobody waits for it. */
    printf("%d threads: %s\n", threads, wrong ? "wrong" : "right");
    return wrong;
}
