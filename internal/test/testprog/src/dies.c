/* dies CALLS HOW: calls step() CALLS times and then dies; HOW is segv (a write to address 0), kill (SIGKILL to itself),
 * abort, or trap (a breakpoint instruction of its own). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

long sum;

__attribute__((noipa)) long step(long call)
{
    sum += call * 3;
    printf("step call=%ld sum=%ld\n", call, sum); /* mark: step-line */
    fflush(stdout);
    return sum;
}

__attribute__((noipa)) static void die(const char *how, volatile int *nowhere)
{
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "trap") == 0)
#ifdef __aarch64__
        __asm__ volatile("brk #0");
#elif defined __riscv
        __asm__ volatile("ebreak");
#else
        __asm__ volatile("int3");
#endif
    *nowhere = 1; /* mark: segv-line */
}

int main(int argc, char **argv)
{
    long calls = argc > 1 ? atol(argv[1]) : 10;

    for (long call = 0; call < calls; call++)
        step(call);
    die(argc > 2 ? argv[2] : "segv", NULL);
    return 0;
}
