/* calls THREADS CALLS [EVERY]: each thread calls counted() and argued() CALLS times, and prints what it knew at every EVERY-th call. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct item {
    short kind;
    unsigned char bytes[4];
    double weight;
    unsigned low : 3, high : 13;
};

static long calls, every;
static __thread char *log;
static __thread size_t used, size;

/* known keeps a line about the statement that it is called in, which a tracepoint there has to agree with. */
__attribute__((noipa, format(printf, 2, 3))) static void known(int line, const char *format, ...)
{
    va_list args;
    if (size - used < 300 && !(log = realloc(log, size = size * 2 + 1000)))
        abort();
    used += sprintf(log + used, "known %d ", line);
    va_start(args, format);
    used += vsprintf(log + used, format, args);
    va_end(args);
    log[used++] = '\n';
}
#define KNOWN(...) known(__LINE__, __VA_ARGS__)

__attribute__((noipa)) void counted(long n) { (void)n; }
__attribute__((noipa)) void argued(long n) { (void)n; }

__attribute__((noipa)) static void tell(long thread, long n, struct item *item, float half)
{
    unsigned sum = 0;
    for (int i = 0; i < 4; i++) {
        sum = sum * 31 + item->bytes[i];
        KNOWN("%ld %ld %d %u", thread, n, i, sum);
    }
    KNOWN("%ld %d %d %.17g %u %u %.9g", thread, item->kind, item->bytes[3], item->weight, item->low, item->high, half);
}

static void *run(void *of)
{
    long thread = (long)of;
    for (long n = 1; n <= calls; n++) {
        counted(n);
        argued(n);
        if (every && n % every == 0) {
            struct item item = {-n, {n, n >> 8, thread, n * 7}, n / 3.0, n, n};
            tell(thread, n, &item, n * 0.5f);
        }
    }
    if (log)
        log[used] = '\0';
    return log;
}

int main(int argc, char **argv)
{
    enum { MOST = 16 };
    pthread_t threads[MOST];
    int n = argc > 2 ? atoi(argv[1]) : 0;
    if (n < 1 || n > MOST)
        return 2;
    calls = atol(argv[2]);
    every = argc > 3 ? atol(argv[3]) : 0;
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, run, (void *)(long)i);
    for (int i = 0; i < n; i++) {
        void *text;
        pthread_join(threads[i], &text);
        if (text)
            printf("thread %d\n%s", i, (char *)text);
    }
    puts("done");
    return 0;
}
