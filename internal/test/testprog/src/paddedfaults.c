/* paddedfaults MODE: has a handler for SIGSEGV, or ignores it (MODE "ignored"), or blocks all signals (MODE "blocked"), and calls
 * tick(i, address, 0) where nothing is at the address. Prints whether the action is still the program's. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void on_fault(int signal)
{
    (void)signal;
    _exit(3);
}

__attribute__((noipa)) uint64_t tick(uint64_t i, void *p, uint64_t thread)
{
    uint64_t r;
    __asm__ volatile(".globl tick_site\n tick_site: movq $42, %%rax" : "=a"(r) : "D"(i), "S"(p), "d"(thread));
    return r + i;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    struct sigaction action = { .sa_handler = strcmp(mode, "ignored") ? on_fault : SIG_IGN }, now;
    long wrong = 0;
    sigset_t all;

    sigaction(SIGSEGV, &action, NULL);
    sigfillset(&all);
    if (strcmp(mode, "blocked") == 0)
        sigprocmask(SIG_SETMASK, &all, NULL);
    tick(0, &wrong, 1); /* mark: ready */
    for (int i = 0; i < 100; i++)
        wrong += tick(i, (void *)0x7fff0000, 0) != 42 + (uint64_t)i;
    sigaction(SIGSEGV, NULL, &now);
    printf("done wrong=%ld kept=%d\n", wrong, now.sa_handler == action.sa_handler);
    return 0;
}
