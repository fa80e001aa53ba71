/* spin COUNT [mov|push|nop|nop5]: calls a tick function COUNT times and prints what a call costs. The four functions do the
 * same and differ in their first instruction, which is where a probe goes: tick_mov begins with a mov of 7 bytes, tick_push
 * with one byte that is easily emulated, tick_nop and tick_nop5 with a nop of 1 and of 5 bytes; on AArch64 and RISC-V tick_mov with an
 * instruction that is not emulated, tick_push with the usual beginning of functions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

char buffer[16] = "0123456789abcde";

#ifdef __aarch64__
#define BODY "add x0, x0, x1\n ret\n"
#elif defined __riscv
#define BODY "add a0, a0, a1\n ret\n"
#else
#define BODY "lea (%rdi,%rsi), %rax\n ret\n"
#endif
#define TICK(name, first) \
    __asm__(".text\n .globl tick_" #name "\n .type tick_" #name ", @function\n" \
            "tick_" #name ":\n" first BODY ".size tick_" #name ", . - tick_" #name "\n"); \
    long tick_##name(long i, char *buf);

#ifdef __aarch64__
TICK(mov, "fmov d0, x0\n")                           /* which no tracer emulates */
TICK(push, "stp x29, x30, [sp, -16]!\n ldp x29, x30, [sp], 16\n")
TICK(nop, "nop\n")
TICK(nop5, "nop\n")
#elif defined __riscv
TICK(mov, "fmv.d.x fa0, a0\n")                      /* which no tracer emulates */
TICK(push, "addi sp, sp, -16\n addi sp, sp, 16\n")
TICK(nop, "nop\n")
TICK(nop5, "nop\n")
#else
TICK(mov, ".byte 0x48, 0xc7, 0xc0, 42, 0, 0, 0\n")   /* mov $42, %rax */
TICK(push, "push %rbp\n pop %rbp\n")
TICK(nop, "nop\n")
TICK(nop5, ".byte 0x0f, 0x1f, 0x44, 0, 0\n")         /* nopl 0(%rax,%rax) */
#endif

static const struct {
    const char *name;
    long (*tick)(long i, char *buf);
} sites[] = { { "mov", tick_mov }, { "push", tick_push }, { "nop", tick_nop }, { "nop5", tick_nop5 } };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

/* spun is called after the last call. */
__attribute__((noipa)) void spun(void)
{
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 1000;
    const char *name = argc > 2 ? argv[2] : "mov";

    for (unsigned i = 0; i < sizeof sites / sizeof sites[0]; i++) {
        if (strcmp(name, sites[i].name) != 0)
            continue;
        long wrong = 0;
        double start = now();
        for (long n = 0; n < count; n++)
            wrong += sites[i].tick(n, buffer) != n + (long)buffer;
        double elapsed = now() - start;
        spun();
        printf("done site=%s calls=%ld wrong=%ld ns=%.0f ns_per_call=%.1f\n", name, count, wrong, elapsed, elapsed / count);
        return wrong != 0;
    }
    fprintf(stderr, "spin: no site called %s\n", name);
    return 2;
}
