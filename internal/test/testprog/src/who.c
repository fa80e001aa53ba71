// A program whose threads and child say who they are. In the output, one line each in any order:
//
//	who pid=100 tid=101
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) void who(long process, long thread) {
    char line[64];
    // One write for a line, so that those of the child do not mix with the parent's.
    int n = snprintf(line, sizeof line, "who pid=%ld tid=%ld\n", process, thread);
    if (write(1, line, n) != n) {
        _exit(1);
    }
}

static void *run(void *unused) {
    for (int i = 0; i < 3; i++) {
        who(getpid(), syscall(SYS_gettid));
    }
    return unused;
}

static void both(void) {
    pthread_t other;
    pthread_create(&other, NULL, run, NULL);
    run(NULL);
    pthread_join(other, NULL);
}

int main(void) {
    pid_t child = fork();
    both();
    if (child > 0) {
        waitpid(child, NULL, 0);
    }
    return 0;
}
