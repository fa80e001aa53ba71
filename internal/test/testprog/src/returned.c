/* returned SLICES CALLS: what it costs the program that a tracer is told of returns. In each slice it calls two functions CALLS times each,
 * of which bare is left alone and traced is for the tracer. For each slice it prints the nanoseconds of processor time that a call of
 * each took, loop included, and the wall time of one of traced:
 *
 *     slice bare=1.21 traced=68.70 wall=84.10 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct pair { long a, b; };

__attribute__((noinline)) struct pair bare(long n) { return (struct pair){ n, 2 * n }; }
__attribute__((noinline)) struct pair traced(long n) { return (struct pair){ n, 3 * n }; }

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

int main(int argc, char **argv)
{
    long slices = argc > 1 ? atol(argv[1]) : 1, calls = argc > 2 ? atol(argv[2]) : 1000, wrong = 0;
    for (long n = 0; n < slices; n++) {
        double start = now(CLOCK_THREAD_CPUTIME_ID);
        for (long i = 0; i < calls; i++)
            wrong += bare(i).b != 2 * i;
        double middle = now(CLOCK_THREAD_CPUTIME_ID), began = now(CLOCK_MONOTONIC);
        for (long i = 0; i < calls; i++)
            wrong += traced(i).b != 3 * i;
        double wall = now(CLOCK_MONOTONIC) - began, end = now(CLOCK_THREAD_CPUTIME_ID);
        printf("slice bare=%.3f traced=%.3f wall=%.3f\n", (middle - start) / calls, (end - middle) / calls, wall / calls);
    }
    printf("done wrong=%ld\n", wrong);
    return 0;
}
