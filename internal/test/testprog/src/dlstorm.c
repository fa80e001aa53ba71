/* dlstorm ALPHA BETA THREADS ROUNDS: the first thread, and when it is through THREADS more together, each load the libraries alphalib
 * and betalib in turn, call alpha_work or beta_work in them with the numbers from 0 to 4, and unload them, ROUNDS times in all. As
 * they are of one size, each comes to where the other was: the first thread sees to that. Prints how often each was called and
 * whether what it returned was wrong, and at how many places the libraries were. The first thread is number THREADS. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef long work_function(long thread, long number);

static const char *path[2];
static const char *name[2] = { "alpha_work", "beta_work" };
static long rounds;
static struct { long calls[2], wrong; } by[64];
static void *place[2][64];

static void note(int which, void *at)
{
    for (int i = 0; i < 64; i++)
        if (place[which][i] == at || __sync_bool_compare_and_swap(&place[which][i], NULL, at))
            return;
}

static void *run(void *argument)
{
    long thread = (long)argument;
    for (long round = 0; round < rounds; round++) {
        int which = (round + thread) % 2;
        void *library = dlopen(path[which], RTLD_NOW);
        work_function *work = library ? (work_function *)dlsym(library, name[which]) : NULL;
        if (work == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            exit(1);
        }
        note(which, work);
        for (long n = 0; n < 5; n++, by[thread].calls[which]++)
            by[thread].wrong += work(thread, n) != (which ? thread * 1000 - n : thread * 100 + n);
        dlclose(library);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[63];
    long n = argc > 3 ? atol(argv[3]) : 2, calls[2] = { 0 }, wrong = 0;
    int places[2] = { 0 }, shared = 0;

    path[0] = argc > 1 ? argv[1] : "";
    path[1] = argc > 2 ? argv[2] : "";
    rounds = argc > 4 ? atol(argv[4]) : 10;
    run((void *)n);
    for (long i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    for (long i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    for (long i = 0; i <= n; i++) {
        calls[0] += by[i].calls[0];
        calls[1] += by[i].calls[1];
        wrong += by[i].wrong;
    }
    for (int i = 0; i < 64; i++) {
        places[0] += place[0][i] != NULL;
        places[1] += place[1][i] != NULL;
        for (int k = 0; k < 64; k++)
            shared += place[0][i] && place[0][i] == place[1][k];
    }
    printf("done wrong=%ld alpha=%ld beta=%ld places=%d,%d shared=%d\n", wrong, calls[0], calls[1], places[0], places[1], shared);
    return wrong != 0;
}
