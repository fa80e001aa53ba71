/* traps landing|exclusive|sleep COUNT: code in which a tracer's trap may do harm. landing calls a function COUNT times through a
 * pointer; its code is at LANDING on a page that only takes branches to instructions for that (bti c), where the processor has
 * such pages. exclusive adds to a number COUNT times, with an exclusive load and store, and with instructions between them; where
 * there are none the addition is atomic. sleep sleeps for COUNT milliseconds by the system call itself. All print what has come of
 * it. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LANDING 0x10000000

static long number;

__attribute__((noipa)) void add_exclusive(long *to)
{
#if defined __aarch64__
    long was, next;
    int failed;
    __asm__ volatile(".globl exclusive_load, exclusive_between, exclusive_store, exclusive_end\n"
                     "1: exclusive_load: ldaxr %0, [%3]\n exclusive_between: add %1, %0, 1\n"
                     "exclusive_store: stlxr %w2, %1, [%3]\n cbnz %w2, 1b\n exclusive_end: nop\n"
                     : "=&r"(was), "=&r"(next), "=&r"(failed) : "r"(to) : "memory");
#elif defined __riscv
    long was, next;
    __asm__ volatile(".globl exclusive_load, exclusive_between, exclusive_store, exclusive_end\n"
                     "1: exclusive_load: lr.d %0, (%2)\n exclusive_between: addi %1, %0, 1\n"
                     "exclusive_store: sc.d %1, %1, (%2)\n bnez %1, 1b\n exclusive_end: nop\n"
                     : "=&r"(was), "=&r"(next) : "r"(to) : "memory");
#else
    __atomic_fetch_add(to, 1, __ATOMIC_SEQ_CST);
#endif
}

static long (*land(void))(long)
{
#ifdef __aarch64__
    /* bti c; fmov d0, x0, which no tracer emulates; add x0, x0, 1; ret */
    static const unsigned code[] = { 0xd503245f, 0x9e670000, 0x91000400, 0xd65f03c0 };
    const int guarded = 0x10; /* PROT_BTI */
#else
    static const unsigned char code[] = { 0 };
    const int guarded = 0;
#endif
    void *at = mmap((void *)LANDING, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (at == MAP_FAILED)
        exit(2);
    memcpy(at, code, sizeof code);
    __builtin___clear_cache((char *)at, (char *)at + sizeof code);
    if (mprotect(at, 4096, PROT_READ | PROT_EXEC | guarded) != 0 && mprotect(at, 4096, PROT_READ | PROT_EXEC) != 0)
        exit(2);
    return (long (*)(long))at;
}

__attribute__((noipa)) void ready(void)
{
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "exclusive";
    long count = argc > 2 ? atol(argv[2]) : 10;

    if (strcmp(what, "landing") == 0) {
        long (*function)(long) = land();
        long wrong = 0;
        ready();
        for (long n = 0; n < count; n++)
#ifdef __aarch64__
            wrong += function(n) != n + 1;
#else
            wrong += function == NULL;
#endif
        printf("done wrong=%ld\n", wrong);
        return wrong != 0;
    }
    if (strcmp(what, "sleep") == 0) {
        struct timespec time = { count / 1000, count % 1000 * 1000000 }, from, to;
        ready();
        clock_gettime(CLOCK_MONOTONIC, &from);
        long result = syscall(SYS_nanosleep, &time, NULL);
        clock_gettime(CLOCK_MONOTONIC, &to);
        long slept = (to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000;
        printf("done result=%ld slept=%ld\n", result, slept);
        return result != 0;
    }
    ready();
    for (long n = 0; n < count; n++)
        add_exclusive(&number);
    printf("done number=%ld\n", number);
    return 0;
}
