/* signals COUNT [INTERVAL_US]: calls step() COUNT times while a timer sends SIGALRM every INTERVAL_US microseconds (500), and
 * checks every result. The handler calls handled_step(), which may be traced too. "wrong" counts results that a signal or a
 * tracer has spoilt. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

volatile long handled, handled_wrong;

__attribute__((noipa)) long step(long a, long b)
{
    long product = 0;
    for (int bit = 0; bit < 16; bit++)
        if (b >> bit & 1)
            product += a << bit;
    return product; /* mark: step-line */
}

__attribute__((noipa)) long handled_step(long n)
{
    return n * 5 + 1;
}

static void on_alarm(int signal)
{
    if (handled_step(signal) != SIGALRM * 5 + 1)
        handled_wrong++;
    handled++;
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 100000;
    long interval = argc > 2 ? atol(argv[2]) : 500;
    struct itimerval every = { { 0, interval }, { 0, interval } }, never = { { 0, 0 }, { 0, 0 } };
    struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
    long calls = 0, wrong = 0;

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    for (long i = 0; i < count; i++, calls++)
        if (step(i, i & 0xffff) != i * (i & 0xffff))
            wrong++;
    setitimer(ITIMER_REAL, &never, NULL);
    printf("done calls=%ld wrong=%ld handled=%ld handled_wrong=%ld\n", calls, wrong, handled, handled_wrong);
    return 0;
}
