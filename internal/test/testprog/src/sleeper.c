/* sleeper INTERVAL_US [stdin]: calls tick() every INTERVAL_US microseconds until SIGTERM or SIGUSR1 comes, standard input
 * ends (only with the word stdin), or ten minutes are over. Prints a line when it is ready and one when it ends. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

volatile sig_atomic_t ending;
volatile long ticks;

__attribute__((noipa)) long tick(long n)
{
    ticks = n + 1; /* mark: tick-line */
    return ticks;
}

static void on_signal(int signal)
{
    ending = signal;
}

static int input_ended(void)
{
    struct pollfd input = { STDIN_FILENO, POLLIN, 0 };
    char byte;
    return poll(&input, 1, 0) > 0 && read(STDIN_FILENO, &byte, 1) <= 0;
}

int main(int argc, char **argv)
{
    long interval = argc > 1 ? atol(argv[1]) : 1000;
    int watching = argc > 2 && strcmp(argv[2], "stdin") == 0;
    struct timespec nap = { interval / 1000000, interval % 1000000 * 1000 };
    time_t end = time(NULL) + 600;

    signal(SIGTERM, on_signal);
    signal(SIGUSR1, on_signal);
    printf("ready pid=%d\n", (int)getpid());
    fflush(stdout);
    for (long n = 0; !ending && time(NULL) < end && !(watching && input_ended()); n++) {
        tick(n);
        nanosleep(&nap, NULL);
    }
    printf("done ticks=%ld signal=%d\n", ticks, (int)ending);
    return 0;
}
