/* padcost SLICES CALLS [THREADS]: what a tracepoint costs the program. In each slice every thread calls three functions CALLS times
 * each, one function behind the other. All three do the same: tick_bare is left alone, tick_hand has a jump to a pad written by hand
 * below, and tick_traced is for a tracer. For each slice it prints the nanoseconds of processor time that a call of each took, loop
 * included, and the wall time that one of tick_traced took, of all threads together:
 *
 *     slice calls=1000000 threads=1 bare=1.21 hand=25.30 traced=18.70 wall=24.10
 *
 * The pad by hand saves all general registers and the flags, and calls a function that copies them, the pc and 16 bytes into a ring
 * of 16 MiB, waiting for nobody. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define RING (16u << 20)
#define SLOT 256
#define FIRST ".byte 0x48, 0xc7, 0xc0, 42, 0, 0, 0\n" /* mov $42, %rax */
#define BODY "lea (%rdi,%rsi), %rax\n ret\n"
#define TICK(name) \
    __asm__(".text\n .balign 64\n .globl tick_" #name "\n .type tick_" #name ", @function\n" \
            "tick_" #name ":\n" FIRST BODY ".size tick_" #name ", . - tick_" #name "\n"); \
    long tick_##name(long i, char *buf);

/* The page of tick_hand is made writable, so it has no other function. */
__asm__(".text\n .balign 4096\n");
TICK(hand)
__asm__(".text\n .balign 4096\n");
TICK(bare)
TICK(traced)

char buffer[16] __attribute__((aligned(64))) = "0123456789abcde";

static unsigned char *ring;
static struct { uint64_t head; } reserved __attribute__((aligned(64)));
void pad(void);

/* hand collects 17 words at the stack pointer, the pc, and the buffer. */
__attribute__((target("general-regs-only"), used)) void hand(uint64_t *saved)
{
    uint64_t at = __atomic_fetch_add(&reserved.head, SLOT, __ATOMIC_RELAXED) & (RING - 1);
    uint64_t *slot = (uint64_t *)(ring + at);
    for (int i = 0; i < 17; i++)
        slot[i] = saved[i];
    slot[17] = (uint64_t)tick_hand;
    slot[18] = ((uint64_t *)buffer)[0];
    slot[19] = ((uint64_t *)buffer)[1];
}

__asm__(".text\n pad:\n lea -128(%rsp), %rsp\n pushfq\n push %rax\n push %rcx\n push %rdx\n push %rbx\n push %rbp\n push %rsi\n"
        " push %rdi\n push %r8\n push %r9\n push %r10\n push %r11\n push %r12\n push %r13\n push %r14\n push %r15\n"
        " mov %rsp, %rdi\n mov %rsp, %rbp\n and $-16, %rsp\n cld\n call hand\n mov %rbp, %rsp\n pop %r15\n pop %r14\n pop %r13\n"
        " pop %r12\n pop %r11\n pop %r10\n pop %r9\n pop %r8\n pop %rdi\n pop %rsi\n pop %rbp\n pop %rbx\n pop %rdx\n pop %rcx\n"
        " pop %rax\n popfq\n lea 128(%rsp), %rsp\n" FIRST " jmp tick_hand + 7\n");

static void patch(void)
{
    unsigned char *site = (unsigned char *)tick_hand;
    ring = mmap(0, RING, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (ring == MAP_FAILED || mprotect(site, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        exit(2);
    site[0] = 0xe9; /* jmp */
    *(int32_t *)(site + 1) = (int32_t)((unsigned char *)pad - (site + 5));
}

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static long slices, calls, threads;
static pthread_barrier_t barrier;
static long wrong;

static void spin(long (*tick)(long i, char *buf))
{
    long bad = 0;
    for (long n = 0; n < calls; n++)
        bad += tick(n, buffer) != n + (long)buffer;
    __atomic_fetch_add(&wrong, bad, __ATOMIC_RELAXED);
}

/* phase has every thread spin, and tells how long a call took by a clock. */
static void phase(long (*tick)(long i, char *buf), double *cpu, double *wall)
{
    pthread_barrier_wait(&barrier);
    double start = now(CLOCK_PROCESS_CPUTIME_ID), began = now(CLOCK_MONOTONIC);
    spin(tick);
    pthread_barrier_wait(&barrier);
    *wall = (now(CLOCK_MONOTONIC) - began) / (calls * threads);
    *cpu = (now(CLOCK_PROCESS_CPUTIME_ID) - start) / (calls * threads);
}

static void *work(void *first)
{
    for (long n = 0; n < slices; n++) {
        double bare, by_hand, traced, wall;
        phase(tick_bare, &bare, &wall);
        phase(tick_hand, &by_hand, &wall);
        phase(tick_traced, &traced, &wall);
        if (first)
            printf("slice calls=%ld threads=%ld bare=%.3f hand=%.3f traced=%.3f wall=%.3f\n", calls, threads, bare, by_hand, traced, wall);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    slices = argc > 1 ? atol(argv[1]) : 1;
    calls = argc > 2 ? atol(argv[2]) : 1000;
    threads = argc > 3 ? atol(argv[3]) : 1;
    if (slices < 1 || calls < 1 || threads < 1)
        return 2;
    pthread_barrier_init(&barrier, NULL, threads);
    patch();
    for (long n = 1; n < threads; n++) {
        pthread_t id;
        if (pthread_create(&id, NULL, work, NULL) != 0)
            return 2;
    }
    work(&slices);
    printf("done wrong=%ld\n", wrong);
    return wrong != 0;
}
