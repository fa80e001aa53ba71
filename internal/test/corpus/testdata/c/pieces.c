/* A second file of the program, which has names in common with the first. */
#include "store.h"

static int counter = 1000;
int pieces_total;

static inline int scale(int value, int by)
{
    int scaled = value * by;
    counter += scaled & 3; /* @scale */
    return scaled + counter;
}

int pieces_split(unsigned long value, unsigned char *out, int n)
{
    int made = 0;
    do {
        unsigned char low = value & 0x7f;
        value >>= 7;
        if (value)
            low |= 0x80;
        out[made++] = low; /* @split */
    } while (value && made < n);
    pieces_total += scale(made, 3);
    return made;
}

struct point pieces_move(struct point p, int dx, int dy)
{
    struct point moved = {p.x + dx, p.y + dy};
    if (moved.x > 10)
        moved.x = scale(moved.x, -1);
    return moved; /* @move */
}

/* The value of n is needed no more behind the call. */
long pieces_mix(long n, const int *table)
{
    long a = n * 3;
    long b = table[n & 3];
    long mixed = a ^ b;
    mixed += scale((int)mixed, 2); /* @mix */
    return mixed;
}
