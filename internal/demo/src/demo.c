/* The program that "tracewell demo" traces: a small works where jobs arrive in bursts and are handled a few at a time.
 *
 * Question a trace answers: what do the jobs look like that had to wait in a long queue? Nothing in the program says so,
 * it prints one line at its end.
 *
 * It is freestanding: no C library, two system calls, everything computed from a fixed seed. It runs for about 0.4 s. */

enum { ROUNDS = 96, PER_ROUND = 6, BURST = 14, RING = 64, KINDS = 4, ROUND_NS = 4000000 };

struct job {
    unsigned id;       /* counts from 1 */
    unsigned kind;     /* 0 to KINDS-1 */
    unsigned size;     /* rounds of hashing it takes */
    unsigned checksum; /* the result, 0 before */
};

struct queue {
    unsigned long depth; /* jobs that wait */
    unsigned long head;  /* jobs ever taken */
    unsigned long tail;  /* jobs ever put */
    struct job ring[RING];
};

struct queue queue;
unsigned long handled[KINDS]; /* jobs done, by kind */
unsigned long checksum;       /* over all jobs */
unsigned long deepest;        /* largest depth seen */

static unsigned seed = 2463534242u;

/* Marsaglia's xorshift: the same sequence on every machine. */
static unsigned next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed;
}

static long system_call(long number, long a, long b, long c)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}

static void nap(long nanoseconds)
{
    struct { long seconds, nanoseconds; } time = { 0, nanoseconds };
    system_call(35, (long)&time, 0, 0); /* nanosleep */
}

/* put adds a job to the queue; one that finds it full is turned away. */
__attribute__((noinline)) static void put(struct queue *q, unsigned id)
{
    if (q->depth == RING)
        return;
    struct job *job = &q->ring[q->tail++ % RING];
    job->id = id;
    job->kind = next_random() % KINDS;
    job->size = 10 + next_random() % 90;
    job->checksum = 0;
    q->depth++;
    if (q->depth > deepest)
        deepest = q->depth;
}

/* handle does one job: FNV-1a over its own description, as often as its size says. */
__attribute__((noinline)) unsigned handle(struct queue *q, struct job *job)
{
    unsigned hash = 2166136261u;
    for (unsigned i = 0; i < job->size; i++)
        hash = (hash ^ (job->id + job->kind + i)) * 16777619u;
    job->checksum = hash;
    handled[job->kind]++;
    q->head++;
    q->depth--;
    return hash;
}

static char line[160];
static unsigned long length;

static void text(const char *s)
{
    while (*s)
        line[length++] = *s++;
}

static void number(unsigned long n, unsigned base)
{
    char digits[20];
    int count = 0;
    do
        digits[count++] = "0123456789abcdef"[n % base];
    while ((n /= base) != 0);
    while (count > 0)
        line[length++] = digits[--count];
}

static void summary(void)
{
    text("demo: ");
    number(queue.head, 10);
    text(" jobs handled, longest queue ");
    number(deepest, 10);
    text(", checksum 0x");
    number(checksum, 16);
    text("\n");
    system_call(1, 1, (long)line, (long)length); /* write */
}

/* The kernel enters here with the stack aligned and nothing to return to. */
__attribute__((force_align_arg_pointer)) void _start(void)
{
    unsigned id = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (unsigned burst = next_random() % BURST; burst > 0; burst--)
            put(&queue, ++id);
        for (int i = 0; i < PER_ROUND && queue.depth > 0; i++)
            checksum = checksum * 31 + handle(&queue, &queue.ring[queue.head % RING]);
        nap(ROUND_NS);
    }
    summary();
    system_call(231, 0, 0, 0); /* exit_group */
    __builtin_unreachable();
}
