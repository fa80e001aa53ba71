/* repeated THREADS ROUNDS [kill]: each thread calls visit() ROUNDS times, and so does a forked child when the threads have ended, with an
 * item of some kind or none, and a size that is one of few for most kinds and any for one. Then it prints what a tracer is to find:
 * for each kind, or no item, how often and the sum of the sizes. With "kill" it ends by SIGKILL. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind { PLAIN, URGENT, VARIED, KINDS, NONE = KINDS };

struct item {
    enum kind kind;
    short weight;
};

__attribute__((noipa)) void visit(const struct item *item, long size)
{
    (void)item, (void)size; /* mark: visited */
}

static struct figures {
    long hits, sum;
} *figures; /* shared with the child */

static long rounds;

static void *work(void *seed)
{
    struct figures mine[KINDS + 1] = { 0 };
    unsigned long state = (unsigned long)seed;

    for (long i = 0; i < rounds; i++) {
        state = state * 6364136223846793005 + 1442695040888963407;
        /* Items lie at many addresses. */
        struct item items[64], *item = &items[(state >> 33) % 64];
        item->kind = (state >> 40) % 100 < 60 ? PLAIN : (state >> 40) % 100 < 99 ? URGENT : VARIED;
        long size = item->kind == VARIED ? (long)(state >> 20) : -3 + (long)((state >> 50) % 7);
        enum kind kind = item->kind;
        if ((state >> 60) % 5 == 0) {
            kind = NONE;
            size = 1;
        }
        visit(kind == NONE ? 0 : item, size);
        mine[kind].hits++;
        mine[kind].sum += size;
    }
    for (int k = 0; k <= NONE; k++) {
        __atomic_fetch_add(&figures[k].hits, mine[k].hits, __ATOMIC_RELAXED);
        __atomic_fetch_add(&figures[k].sum, mine[k].sum, __ATOMIC_RELAXED);
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const char *const names[] = { "PLAIN", "URGENT", "VARIED", "NONE" };
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t all[64];

    rounds = argc > 2 ? atol(argv[2]) : 100;
    figures = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (long i = 0; i < threads; i++)
        pthread_create(&all[i], 0, work, (void *)(i + 1));
    for (int i = 0; i < threads; i++)
        pthread_join(all[i], 0);
    if (fork() == 0) {
        work((void *)100L);
        _exit(0);
    }
    wait(0);
    for (int k = 0; k <= NONE; k++)
        printf("group kind=%s hits=%ld sum=%ld\n", names[k], figures[k].hits, figures[k].sum);
    fflush(stdout);
    if (argc > 3 && strcmp(argv[3], "kill") == 0)
        raise(SIGKILL);
    return 0;
}
