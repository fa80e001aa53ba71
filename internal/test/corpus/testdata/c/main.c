/* Locals, arguments and globals of all kinds in C. It prints a check sum. */
#include "store.h"

#include <complex.h>
#include <stdio.h>
#include <string.h>

int pieces_split(unsigned long value, unsigned char *out, int n);
struct point pieces_move(struct point p, int dx, int dy);
long pieces_mix(long n, const int *table);

static long counter = 7;
volatile int ticks;
_Thread_local long own = 11;
char letter = 'Q';
wchar_t wide = L'\u00e9';
unsigned char raw[5] = {1, 2, 0xff, 0, 7};
char text[20] = "global text";
int grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
float ratio = 0.1f;
double precise = 3.141592653589793;
long double extended = 2.5L;
struct point *origin;
enum access rights = READ | EXECUTE;

static int integers(int round)
{
    signed char tiny = (signed char)(-100 - round);
    unsigned char byte = (unsigned char)(200 + round);
    short little = (short)(-30000 + round);
    unsigned short word = (unsigned short)(60000 + round);
    unsigned natural = 4000000000u + (unsigned)round;
    long long huge = -9000000000000000000LL + round;
    unsigned long long most = 18000000000000000000ULL + (unsigned)round;
    _Bool odd = round & 1;
    enum color shade = round & 1 ? BLUE : GREEN;
    __int128 vast = (__int128)huge * 1000;
    int total = tiny + byte + little + word; /* @integers */
    ticks += total + (int)(natural & 1) + odd + (int)shade + (int)(huge & 1) + (int)(most & 1) + (int)(vast & 1);
    return total;
}

static double reals(double x, float y)
{
    double half = x / 2;
    float sum = y + (float)half;
    double complex z = half + sum * I;
    long double big = (long double)x * 1e10L;
    counter += (long)creal(z); /* @reals */
    return half + sum + (double)big + cimag(z);
}

static int arrays(int n)
{
    int squares[8];
    char name[16];
    struct point corners[3] = {{1, 2}, {3, 4}, {n, -n}};
    const char *words[] = {"zero", "one", NULL};
    unsigned char bytes[10];
    int dynamic[n + 1];
    for (int i = 0; i < 8; i++)
        squares[i] = i * i;
    for (int i = 0; i <= n; i++)
        dynamic[i] = n - i;
    snprintf(name, sizeof name, "n=%d", n);
    int made = pieces_split(0x123456789abcUL << n, bytes, 10);
    int (*row)[3] = &grid[n & 1];
    int picked = squares[n & 7] + (*row)[1] + dynamic[0]; /* @arrays */
    return picked + made + corners[2].x + name[0] + (words[1] != NULL) + bytes[0];
}

static int records(struct store *s, int n)
{
    static struct item items[4];
    struct flags f = {.ready = 1, .mode = (unsigned)n & 7, .level = -n, .wide = 0x9876543210UL + (unsigned)n, .last = 1};
    struct packed_header header = {.kind = (uint8_t)n, .length = 0xdeadbeef, .check = 77};
    union word u = {.whole = 0x40490fdb};
    struct item *i = &items[n & 3];
    strcpy(i->name, "item-");
    i->name[5] = (char)('a' + n);
    i->weight = 50 - 10 * (n & 3);
    i->color = n & 1 ? RED : BLUE;
    i->at = pieces_move((struct point){n, 2 * n}, 3, 4);
    i->word = u;
    struct item **link = &i->next;
    store_add(s, i); /* @records */
    return f.level + (int)header.kind + (*link != NULL);
}

static int nested(int n)
{
    int outer = n;
    int shadow = 1;
    {
        int shadow = outer * 2;
        outer += shadow; /* @nested */
        {
            long shadow = outer;
            static short kept = 4;
            kept += (short)shadow;
            outer += kept; /* @deeper */
        }
    }
    return outer + shadow;
}

static long recurse(unsigned depth, const int *table)
{
    long here = depth * 10L;
    if (depth == 0)
        return pieces_mix(counter, table); /* @bottom */
    long below = recurse(depth - 1, table);
    return here + below; /* @unwind */
}

int main(int argc, char **argv)
{
    int table[4] = {9, 8, 7, 6};
    long sum = argc;
    struct item *found = NULL;
    struct point start = {-1, 1};
    origin = &start;
    for (int round = 0; round < 3; round++) {
        sum += integers(round);
        sum += (long)reals(round * 1.5 + 1, 0.25f);
        sum += arrays(round + 2);
        sum += records(&main_store, round);
        sum += nested(round);
        sum += recurse(2, table);
        own += round;
        sum += store_sum(&main_store, round + 1); /* @round */
    }
    sum += store_find(&main_store, "item-b", &found);
    sum += store_find(&main_store, "nothing", &found);
    printf("%ld %s\n", sum, argv[0] ? "done" : ""); /* @end */
    return 0;
}
