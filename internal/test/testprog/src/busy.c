/* busy THREADS: THREADS threads call tick() as fast as they can and check every result, while the first sends each of them
 * numbered real-time signals, several at a time, whose handlers check that none is missing, comes twice or out of order. It
 * goes on until standard input ends; each byte there is answered by a line that tells the progress. "wrong" counts results
 * that a tracer has spoilt, "disorder" signals that are not the next, "other" signals that nobody has sent. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 256, BURST = 5 };

struct worker {
    pthread_t thread;
    atomic_long sent, received;
} workers[MOST];

static __thread struct worker *self;
static atomic_long calls, wrong, disorder, other, started;
static atomic_int ending; /* 1: no more signals are sent; 2: the threads end */

__attribute__((noipa)) long tick(long a, long b)
{
    return a * 3 + b; /* mark: tick-line */
}

static void numbered(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    if (self == NULL || info->si_code != SI_QUEUE || info->si_value.sival_int != self->received)
        disorder++;
    if (self != NULL)
        self->received++;
}

static void unexpected(int signal)
{
    (void)signal;
    other++;
}

static void *run(void *argument)
{
    self = argument;
    started++;
    long done = 0;
    while (ending < 2) {
        for (long i = 0; i < 100; i++, done++)
            wrong += tick(i, done) != i * 3 + done;
        usleep(200);
    }
    calls += done;
    return NULL;
}

static void send(struct worker *to)
{
    if (to->sent - to->received > 50)
        return;
    for (int i = 0; i < BURST; i++) {
        union sigval value = { .sival_int = (int)to->sent };
        if (pthread_sigqueue(to->thread, SIGRTMIN + 3, value) != 0)
            return;
        to->sent++;
    }
}

static void report(const char *what, int threads)
{
    long sent = 0, received = 0;
    for (int i = 0; i < threads; i++)
        sent += workers[i].sent, received += workers[i].received;
    printf("%s threads=%d wrong=%ld disorder=%ld other=%ld lost=%ld calls=%ld signals=%ld\n", what, threads, (long)wrong,
           (long)disorder, (long)other, sent - received, (long)calls, sent);
    fflush(stdout);
}

static int threads;

static void *command(void *argument)
{
    char byte;
    (void)argument;
    while (read(0, &byte, 1) == 1)
        report("progress", threads);
    ending = 1;
    return NULL;
}

int main(int argc, char **argv)
{
    struct sigaction action = { .sa_sigaction = numbered, .sa_flags = SA_SIGINFO | SA_RESTART };
    pthread_t commands;

    threads = argc > 1 ? atoi(argv[1]) : 50;
    if (threads < 1 || threads > MOST)
        threads = MOST;
    sigaction(SIGRTMIN + 3, &action, NULL);
    for (int signal = 1; signal < SIGRTMIN; signal++)
        if (signal != SIGCHLD && signal != SIGCONT && signal != SIGKILL && signal != SIGSTOP && signal != SIGTERM && signal != SIGSEGV)
            sigaction(signal, &(struct sigaction){ .sa_handler = unexpected }, NULL);
    for (int i = 0; i < threads; i++)
        pthread_create(&workers[i].thread, NULL, run, &workers[i]);
    while (started < threads)
        usleep(100);
    pthread_create(&commands, NULL, command, NULL);
    for (int i = 0; !ending; i = (i + 1) % threads) {
        send(&workers[i]);
        usleep(100);
    }
    for (int i = 0; i < threads; i++)
        for (int patience = 0; workers[i].received < workers[i].sent && patience < 5000; patience++)
            usleep(1000);
    ending = 2;
    for (int i = 0; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    report("done", threads);
    return wrong || disorder || other;
}
