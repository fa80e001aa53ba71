/* manythreads THREADS CALLS [AT_ONCE]: THREADS threads, at most AT_ONCE (8) of them alive at a time, each call step() CALLS
 * times and end. Threads come and go all the while. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 64 };

struct job {
    long number, calls, sum;
};

__attribute__((noipa)) long step(long thread, long call)
{
    long result = thread * 1000 + call; /* mark: step-line */
    return result;
}

static void *run(void *argument)
{
    struct job *job = argument;
    for (long call = 0; call < job->calls; call++)
        job->sum += step(job->number, call);
    return NULL;
}

int main(int argc, char **argv)
{
    long threads = argc > 1 ? atol(argv[1]) : 20;
    long calls = argc > 2 ? atol(argv[2]) : 100;
    long at_once = argc > 3 ? atol(argv[3]) : 8;
    pthread_t handles[MOST];
    struct job jobs[MOST];
    long sum = 0, started = 0, joined = 0;

    if (at_once < 1 || at_once > MOST)
        at_once = MOST;
    while (joined < threads) {
        for (; started < threads && started - joined < at_once; started++) {
            struct job *job = &jobs[started % at_once];
            *job = (struct job){ started, calls, 0 };
            pthread_create(&handles[started % at_once], NULL, run, job);
        }
        pthread_join(handles[joined % at_once], NULL);
        sum += jobs[joined++ % at_once].sum;
    }
    printf("done threads=%ld calls=%ld sum=%ld\n", threads, threads * calls, sum);
    return 0;
}
