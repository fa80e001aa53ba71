/* calls THREADS CALLS: each thread calls counted() and argued() CALLS times. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static long calls;

__attribute__((noipa)) void counted(long n) { (void)n; }
__attribute__((noipa)) void argued(long n) { (void)n; }

static void *run(void *ignored)
{
    for (long n = 1; n <= calls; n++) {
        counted(n);
        argued(n);
    }
    return ignored;
}

int main(int argc, char **argv)
{
    enum { MOST = 16 };
    pthread_t threads[MOST];
    int n = argc > 2 ? atoi(argv[1]) : 0;
    if (n < 1 || n > MOST)
        return 2;
    calls = atol(argv[2]);
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
