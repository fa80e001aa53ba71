/* sealed CALLS: calls sealed_add CALLS times. Its page is shared memory by then that was sealed by mprotect: not even a debugger can
 * write it, as it can any other code. What had been in the page before, breakpoints included, stays there for good. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

__attribute__((noipa)) void ready(void) { } /* in front of the page */

__attribute__((noipa, aligned(PAGE))) long sealed_add(long a, long b) { return a + b; }

static void seal(void)
{
    void *page = (void *)((uintptr_t)sealed_add & -(uintptr_t)PAGE);
    void *shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        abort();
    memcpy(shared, page, PAGE);
    if (mprotect(shared, PAGE, PROT_READ | PROT_EXEC) != 0 || mremap(shared, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, page) != page)
        abort();
}

int main(int argc, char **argv)
{
    long calls = argc > 1 ? atol(argv[1]) : 3, sum = 0;
    seal();
    ready();
    for (long i = 0; i < calls; i++)
        sum = sealed_add(sum, i);
    printf("done calls=%ld sum=%ld\n", calls, sum);
    return 0;
}
