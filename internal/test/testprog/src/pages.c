/* pages HOW ROUNDS: calls a function ROUNDS times whose code does not stay what, or where, it was. HOW is
 *
 *   rewrite   written anew before every call, with another result each time
 *   unmap     unmapped, mapped again at the same address and written before every call; unmapped in the end
 *   protect   made unwritable, executable only, and writable again, in turns
 *   dlclose   in a library (cbrt of libm) that is loaded before every call and unloaded after it
 *
 * ready() is called with the address of the code once it is there. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

typedef long function(long n);

static unsigned char *const place = (void *)0x70000000;

/* lea ADD(%rdi), %rax; ret. Or, for odd numbers: mov %rdi, %rax; add $ADD, %rax; ret. */
static void write_code(int number)
{
    const unsigned char even[] = { 0x48, 0x8d, 0x47, 2, 0xc3 };
    const unsigned char odd[] = { 0x48, 0x89, 0xf8, 0x48, 0x83, 0xc0, 3, 0xc3 };
    if (number % 2)
        memcpy(place, odd, sizeof odd);
    else
        memcpy(place, even, sizeof even);
}

static void map_code(void)
{
    void *got = mmap(place, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (got != place)
        abort();
}

__attribute__((noipa)) void ready(const void *code)
{
    printf("ready code=%p\n", code);
    fflush(stdout);
}

/* Before the round'th call. */
static void change(const char *how, long round)
{
    if (strcmp(how, "rewrite") == 0) {
        write_code(round);
    } else if (strcmp(how, "unmap") == 0) {
        munmap(place, PAGE);
        map_code();
        write_code(round);
    } else {
        const int protections[] = { PROT_READ | PROT_EXEC, PROT_EXEC, PROT_READ | PROT_WRITE | PROT_EXEC };
        if (mprotect(place, PAGE, protections[round % 3]) != 0)
            abort();
    }
}

static long run_place(const char *how, long rounds)
{
    long wrong = 0;
    map_code();
    write_code(0);
    ready(place);
    wrong += ((function *)place)(5) != 7;
    for (long round = 1; round < rounds; round++) {
        change(how, round);
        long add = strcmp(how, "protect") != 0 && round % 2 ? 3 : 2;
        wrong += ((function *)place)(round) != round + add;
    }
    if (strcmp(how, "unmap") == 0)
        munmap(place, PAGE);
    return wrong;
}

static long run_library(long rounds)
{
    long wrong = 0;
    for (long round = 0; round < rounds; round++) {
        void *library = dlopen("libm.so.6", RTLD_NOW);
        double (*cube_root)(double) = library ? (double (*)(double))dlsym(library, "cbrt") : NULL;
        if (!cube_root)
            abort();
        if (round == 0)
            ready((void *)cube_root);
        wrong += (long)(cube_root(27) + 0.5) != 3;
        dlclose(library);
    }
    return wrong;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "rewrite";
    long rounds = argc > 2 ? atol(argv[2]) : 10;
    long wrong = strcmp(how, "dlclose") == 0 ? run_library(rounds) : run_place(how, rounds);

    ready(NULL);
    printf("done wrong=%ld rounds=%ld\n", wrong, rounds);
    return wrong != 0;
}
