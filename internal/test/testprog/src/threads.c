/* threads COUNT: two workers call work() and account() COUNT times each.
 *
 * work() depends only on the worker and the round, so that its lines can be matched with frames in any order.
 * account() runs with the lock held and prints before it lets go, so that its lines are in the order of its calls. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct totals {
    long calls;
    long sum;
    int last[4];
    const char *name;
};

struct worker {
    int id;
    long rounds;
    int values[4];
};

struct totals totals = { 0, 0, { 0 }, "totals" };
const struct { int scale, offset; } settings = { 7, -3 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noipa)) long work(struct worker *worker, long round, const int *values)
{
    long sum = 0;
    for (int i = 0; i < 4; i++)
        sum += values[i] * (long)settings.scale;
    long result = sum + settings.offset * round;
    printf("work worker=%d round=%ld values=%d,%d,%d,%d sum=%ld result=%ld\n", worker->id, round, /* mark: work-line */
           values[0], values[1], values[2], values[3], sum, result);
    return result;
}

__attribute__((noipa)) void account(int worker, long round, long result)
{
    totals.calls++;
    totals.sum += result;
    totals.last[totals.calls % 4] = (int)result;
    printf("account worker=%d round=%ld result=%ld calls=%ld sum=%ld last=%d,%d,%d,%d\n", worker, round, /* mark: account-line */
           result, totals.calls, totals.sum, totals.last[0], totals.last[1], totals.last[2], totals.last[3]);
}

static void *run(void *argument)
{
    struct worker *worker = argument;
    for (long round = 0; round < worker->rounds; round++) {
        for (int i = 0; i < 4; i++)
            worker->values[i] = worker->id * 1000 + (int)round * 4 + i;
        long result = work(worker, round, worker->values);
        pthread_mutex_lock(&lock);
        account(worker->id, round, result);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 10;
    struct worker workers[2] = { { 1, count, { 0 } }, { 2, count, { 0 } } };
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, run, &workers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("done calls=%ld sum=%ld\n", totals.calls, totals.sum);
    return 0;
}
