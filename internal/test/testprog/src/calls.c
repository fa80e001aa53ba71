/* Calls of work() that measure themselves, by CLOCK_MONOTONIC, in two threads. Each calls itself to some depth; of every other round the
 * innermost leaves by longjmp, so that none of its calls returns. Usage: calls
 * Prints for each call that returned "call id=N parent=N tid=N outer=N inner=N result=N": nanoseconds from before the call to after it, and
 * from its first statement to its last; and "left id=N" for each that did not. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { rounds = 6, depth = 3 };

struct call { int id, left; long inner; jmp_buf *way_out; };

static long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static int measure(int id, int parent, int left, jmp_buf *way_out);

__attribute__((noinline)) int work(struct call *c, int id)
{
    long begin = now();
    int result = id;
    if (c->left > 1)
        result += measure(id + 1, id, c->left - 1, c->way_out);
    else if (c->way_out)
        longjmp(*c->way_out, 1);
    c->inner = now() - begin;
    return result;
}

static int measure(int id, int parent, int left, jmp_buf *way_out)
{
    struct call c = { id, left, 0, way_out };
    long begin = now();
    int result = work(&c, id);
    long outer = now() - begin;
    printf("call id=%d parent=%d tid=%ld outer=%ld inner=%ld result=%d\n", id, parent, syscall(SYS_gettid), outer, c.inner, result);
    return result;
}

static void *run(void *first)
{
    for (volatile int round = 0; round < rounds; round++) {
        jmp_buf way_out;
        int id = *(int *)first + round * depth;
        if (round % 2 == 0)
            measure(id, 0, depth, 0);
        else if (setjmp(way_out) == 0)
            measure(id, 0, depth, &way_out);
        else
            for (int i = 0; i < depth; i++)
                printf("left id=%d\n", *(int *)first + round * depth + i);
    }
    return 0;
}

int main(void)
{
    int mine = 100, other = 200;
    pthread_t thread;
    pthread_create(&thread, 0, run, &other);
    run(&mine);
    return pthread_join(thread, 0);
}
