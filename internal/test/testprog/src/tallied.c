/* tallied ROUNDS: calls visit() ROUNDS times with a kind, a name and a size, and prints what a tracer is to find: for each kind and
 * name how often, the sum and the extremes of the sizes, and how many sizes there are in each power of two; for sizes below 0 and
 * for 0 the power is -1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { PLAIN, URGENT, LOST, KINDS };
enum { NAMES = 3, POWERS = 64 };

static const char *const kinds[] = { "PLAIN", "URGENT", "LOST" };

__attribute__((noipa)) void visit(enum kind kind, const char *name, long size)
{
    (void)kind, (void)name, (void)size; /* mark: visited */
}

struct figures {
    long hits, sum, least, most, powers[1 + POWERS];
};

static void note(struct figures *f, long size)
{
    int power = -1;
    f->least = f->hits == 0 || size < f->least ? size : f->least;
    f->most = f->hits == 0 || size > f->most ? size : f->most;
    f->hits++;
    f->sum += size;
    if (size > 0)
        for (power = 0; size >> power > 1;)
            power++;
    f->powers[1 + power]++;
}

int main(int argc, char **argv)
{
    static struct figures figures[KINDS][NAMES];
    static char names[NAMES][2][8]; /* equal names at different addresses */
    long rounds = argc > 1 ? atol(argv[1]) : 100;
    unsigned long state = 1;

    for (int i = 0; i < NAMES; i++)
        for (int j = 0; j < 2; j++)
            snprintf(names[i][j], sizeof names[i][j], "name %c", 'a' + i);
    for (long i = 0; i < rounds; i++) {
        state = state * 6364136223846793005 + 1442695040888963407;
        enum kind kind = (state >> 33) % 10 < 6 ? PLAIN : (state >> 33) % 10 < 9 ? URGENT : LOST;
        int name = (state >> 45) % NAMES;
        long size = (long)(state >> 2) >> (state >> 58);
        if (state >> 50 & 1)
            size = -(size & 0xff);
        visit(kind, names[name][i & 1], size);
        note(&figures[kind][name], size);
    }
    for (int k = 0; k < KINDS; k++)
        for (int n = 0; n < NAMES; n++) {
            struct figures *f = &figures[k][n];
            if (f->hits == 0)
                continue;
            printf("group kind=%s name=%c hits=%ld sum=%ld least=%ld most=%ld\n", kinds[k], 'a' + n, f->hits, f->sum, f->least, f->most);
            for (int p = -1; p < POWERS; p++)
                if (f->powers[1 + p] > 0)
                    printf("bucket kind=%s name=%c power=%d hits=%ld\n", kinds[k], 'a' + n, p, f->powers[1 + p]);
        }
    return 0;
}
