/* probes LIBRARY ROUNDS: passes static tracepoints (sys/sdt.h) that have semaphores, and calls a library's function with one
 * that has none. The library is loaded while the program runs. It prints what the arguments of the probes were, and how far the
 * semaphores are raised. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#define SEMAPHORE(name) unsigned short name __attribute__((section(".probes")))
SEMAPHORE(demo_item_semaphore);
SEMAPHORE(demo_kinds_semaphore);
SEMAPHORE(demo_bare_semaphore);

struct item {
    int number;
    long weight;
};

static const char *labels[] = { "even", "odd" };

__attribute__((noipa)) void pass(struct item *item, const char *label)
{
    STAP_PROBE3(demo, item, item->number, item->weight, label);
    printf("item arg0=%d arg1=%ld arg2=%p\n", item->number, item->weight, (const void *)label);
}

__attribute__((noipa)) void kinds(int round)
{
    signed char tiny = (signed char)-round;
    unsigned char small = (unsigned char)(200 + round);
    short narrow = (short)(-300 - round);
    unsigned short port = (unsigned short)(60000 + round);
    unsigned int count = 4000000000u + (unsigned int)round;
    unsigned long whole = 0xfeedface00000000ul + (unsigned long)round;
    STAP_PROBE7(demo, kinds, tiny, small, narrow, port, count, whole, 12);
    printf("kinds arg0=%d arg1=%u arg2=%d arg3=%u arg4=%u arg5=0x%lx arg6=12\n", tiny, small, narrow, port, count, whole);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    void *library = dlopen(argv[1], RTLD_NOW);
    int (*advance)(int, double) = library ? (int (*)(int, double))dlsym(library, "advance") : NULL;
    if (advance == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    int total = 0; /* mark: loaded */
    for (int round = 1; round <= atoi(argv[2]); round++) {
        struct item item = { round, -1000L * round };
        STAP_PROBE(demo, bare);
        pass(&item, labels[round % 2]);
        kinds(round);
        total = advance(round, round / 4.0);
        printf("raised round=%d item=%d kinds=%d bare=%d\n", round, demo_item_semaphore, demo_kinds_semaphore,
               demo_bare_semaphore);
    }
    printf("done total=%d\n", total);
    return 0;
}
