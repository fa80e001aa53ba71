/* relay RUNNERS CALLS: RUNNERS (at most 256) threads run at any time, until standard input ends. Each calls its own place, one
 * of the functions of 16 bytes from relay_places on, CALLS times, rests for a moment, starts another that goes on at that
 * place, and ends. The instructions of a place begin at the offsets 0, 1, 8 and 11. "even" and "odd" are the calls of the
 * places with such numbers. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 256, SIZE = 16 };

long relay_base = 500;

__asm__(".text\n .p2align 4\n .globl relay_places\n relay_places:\n"
        ".rept 256\n .p2align 4\n push %rbp\n mov relay_base(%rip), %rax\n add %rdi, %rax\n pop %rbp\n ret\n .endr\n");
extern const char relay_places[];

typedef long place(long n);

struct runner {
    place *place;
    long threads, calls, wrong; /* of all that ran for it, one after another */
};

static struct runner runners[MOST];
static long calls;
static volatile int ending;
static sem_t ended;

static void *run(void *argument);

static int start(struct runner *runner)
{
    pthread_t handle;
    if (pthread_create(&handle, NULL, run, runner) != 0)
        return 0;
    pthread_detach(handle);
    return 1;
}

static void *run(void *argument)
{
    struct runner *runner = argument;
    runner->threads++;
    for (long n = 0; n < calls; n++) {
        runner->wrong += runner->place(n) != n + 500;
        runner->calls++;
    }
    usleep(20000); /* or the threads whose places are not traced leave the others little time */
    if (!ending && start(runner))
        return NULL;
    runner->wrong += !ending;
    sem_post(&ended);
    return NULL;
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 10;
    long threads = 0, wrong = 0, total[2] = { 0, 0 };
    char byte;

    if (count < 1 || count > MOST)
        count = MOST;
    calls = argc > 2 ? atol(argv[2]) : 10;
    sem_init(&ended, 0, 0);
    for (long i = 0; i < count; i++) {
        runners[i].place = (place *)(relay_places + i * SIZE);
        wrong += !start(&runners[i]);
    }
    while (read(STDIN_FILENO, &byte, 1) == 1)
        continue;
    ending = 1;
    for (long i = 0; i < count; i++) {
        while (sem_wait(&ended) != 0)
            continue;
    }
    for (long i = 0; i < count; i++) {
        threads += runners[i].threads;
        wrong += runners[i].wrong;
        total[i % 2] += runners[i].calls;
    }
    printf("done wrong=%ld threads=%ld even=%ld odd=%ld\n", wrong, threads, total[0], total[1]);
    return wrong != 0;
}
