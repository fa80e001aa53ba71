/* codes COUNT: calls three pieces of code COUNT times each, which are at fixed addresses: at 0x10000000 where it may also write, at
 * 0x20000000 in memory that is shared, at 0x30000000 where it has written before. Each adds 42 to its argument. mapped is called
 * when all are there. Prints how many results were wrong. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const unsigned char code[] = { 0x48, 0x8d, 0x47, 42, 0x0f, 0x1f, 0, 0xc3 }; /* lea 42(%rdi), %rax; nopl (%rax); ret */

static long (*map(unsigned long at, int shared, int protection))(long)
{
    void *p = mmap((void *)at, 4096, PROT_READ | PROT_WRITE, (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (p == MAP_FAILED)
        exit(3);
    memcpy(p, code, sizeof code);
    mprotect(p, 4096, protection);
    return (long (*)(long))p;
}

__attribute__((noipa)) void mapped(void)
{
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 10, wrong = 0;
    long (*codes[])(long) = {
        map(0x10000000, 0, PROT_READ | PROT_WRITE | PROT_EXEC),
        map(0x20000000, 1, PROT_READ | PROT_EXEC),
        map(0x30000000, 0, PROT_READ | PROT_EXEC),
    };

    mapped();
    for (long i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            wrong += codes[k](i) != i + 42;
    printf("done wrong=%ld calls=%ld\n", wrong, 3 * count);
    return wrong != 0;
}
