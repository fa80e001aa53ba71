/* residents INTERVAL_US THREADS: each of THREADS threads calls tick() every INTERVAL_US microseconds, with its number, that of the
 * call and the time of the day in nanoseconds, until standard input ends. Prints a line when it is ready, one for each thread with
 * how many calls it has made, and one with all. Two minutes are the most that it takes. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64 };

static volatile int ending;
static long interval = 1000, calls[MOST];

__attribute__((noipa)) long tick(long thread, long n, long now)
{
    return thread + n + now;
}

static void *run(void *argument)
{
    long thread = (long)argument;
    struct timespec nap = { interval / 1000000, interval % 1000000 * 1000 }, now;

    while (!ending) {
        clock_gettime(CLOCK_REALTIME, &now);
        tick(thread, calls[thread]++, now.tv_sec * 1000000000 + now.tv_nsec);
        nanosleep(&nap, NULL);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    long threads = argc > 2 ? atol(argv[2]) : 1, sum = 0;
    pthread_t started[MOST];
    char byte;

    if (argc > 1)
        interval = atol(argv[1]);
    if (threads > MOST)
        return 2;
    alarm(120);
    for (long i = 0; i < threads; i++)
        pthread_create(&started[i], NULL, run, (void *)i);
    printf("ready pid=%d\n", (int)getpid());
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    ending = 1;
    for (long i = 0; i < threads; i++) {
        pthread_join(started[i], NULL);
        printf("thread number=%ld calls=%ld\n", i, calls[i]);
        sum += calls[i];
    }
    printf("done threads=%ld calls=%ld\n", threads, sum);
    return 0;
}
