/* renames: two threads that name themselves now and then, and tell each time what they are called.
 * Between a new name and the next call there is some time, and likewise after the last call under a name. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

__attribute__((noinline)) void named(const char *name, int round) { __asm__ volatile("" ::"r"(name), "r"(round)); }

static void rounds(const char *const *names)
{
    for (int i = 0; names[i]; i++) {
        prctl(PR_SET_NAME, names[i]);
        usleep(300000);
        for (int n = 0; n < 5; n++) {
            named(names[i], n);
            usleep(2000);
        }
        usleep(300000);
    }
}

static void *second(void *unused)
{
    static const char *const names[] = { "a--b <x> %", "worker/1", NULL };
    rounds(names);
    return unused;
}

int main(void)
{
    static const char *const names[] = { "first", "then", "first", NULL };
    pthread_t thread;
    named("renames", 0);
    pthread_create(&thread, NULL, second, NULL);
    rounds(names);
    pthread_join(thread, NULL);
    return 0;
}
