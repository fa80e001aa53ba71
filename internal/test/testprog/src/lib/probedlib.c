/* probedlib: a shared library with a static tracepoint (sys/sdt.h) that has no semaphore. */
#include <stdio.h>
#include <sys/sdt.h>

static int total;

__attribute__((noipa)) int advance(int step, double ratio)
{
    total += step;
    STAP_PROBE3(library, advance, step, ratio, &total);
    printf("advance arg0=%d arg1=%g arg2=%p\n", step, ratio, (void *)&total);
    return total;
}
