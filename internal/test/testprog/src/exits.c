/* exits CALLS: one thread calls step() CALLS times and then ends the process with status 7 while three others are in the
 * midst of calling other_step(). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

long sum;

__attribute__((noipa)) long step(long call)
{
    sum += call + 1;
    printf("step call=%ld sum=%ld\n", call, sum); /* mark: step-line */
    return sum;
}

__attribute__((noipa)) void other_step(volatile long *count)
{
    ++*count;
}

static void *others(void *argument)
{
    volatile long count = 0;
    (void)argument;
    for (;;)
        other_step(&count);
    return NULL;
}

int main(int argc, char **argv)
{
    long calls = argc > 1 ? atol(argv[1]) : 10;
    pthread_t thread;

    for (int i = 0; i < 3; i++)
        pthread_create(&thread, NULL, others, NULL);
    for (long call = 0; call < calls; call++)
        step(call);
    fflush(stdout);
    exit(7);
}
