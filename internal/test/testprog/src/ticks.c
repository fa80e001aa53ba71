/*
 * ticks: calls tick about every ten milliseconds, for ten minutes at most; with an argument, that many times and without a rest.
 *
 *     ticks [ROUNDS]
 *
 * It prints before the first call
 *
 *     ready
 *
 * and with an argument for each call the time of day right before it, in microseconds since 1970:
 *
 *     tick count=N before=MICROSECONDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

struct moment { long count; long before; };

static volatile long ticks;
static volatile double weights;

void tick(struct moment *now)
{
    ticks += now->count;
    ticks -= now->count;
    ticks++;
}

/* If it is optimised its argument is in a floating-point register and nowhere else. */
__attribute__((noinline)) void weigh(double half)
{
    weights = weights + half;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 60000;
    puts("ready");
    fflush(stdout);
    for (long i = 1; i <= rounds; i++) {
        struct timeval t;
        gettimeofday(&t, NULL);
        struct moment now = { i, t.tv_sec * 1000000L + t.tv_usec };
        if (argc > 1) {
            printf("tick count=%ld before=%ld\n", now.count, now.before);
            fflush(stdout);
        } else
            usleep(10000);
        tick(&now);
        weigh(i / 2.0);
    }
    return 0;
}
