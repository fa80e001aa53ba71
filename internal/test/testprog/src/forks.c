/* forks CHILDREN COUNT: the parent calls step() COUNT times, forks CHILDREN children that each call it COUNT times, calls it
 * COUNT times more, and then starts other programs in every way there is. A child that still has a tracepoint's breakpoint
 * in its code dies of SIGTRAP, which its line shows. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

__attribute__((noipa)) long step(int process, long round)
{
    long result = process * 100 + round * round; /* mark: step-line */
    return result;
}

static long steps(int process, long count)
{
    long sum = 0;
    for (long round = 0; round < count; round++)
        sum += step(process, round);
    return sum;
}

static void report(const char *what, int number, int status)
{
    printf("%s number=%d exit=%d signal=%d\n", what, number, WIFEXITED(status) ? WEXITSTATUS(status) : -1,
           WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    fflush(stdout);
}

static void run_child(const char *what, int number, long count)
{
    pid_t pid = fork();
    int status = -1;
    if (pid == 0)
        _exit(steps(number, count) == number * 100L * count + (count - 1) * count * (2 * count - 1) / 6 ? number : 99);
    waitpid(pid, &status, 0);
    report(what, number, status);
}

static void run_others(void)
{
    char *const arguments[] = { "true", NULL };
    int status = -1;

    pid_t pid = vfork();
    if (pid == 0) {
        execv("/bin/true", arguments);
        _exit(98);
    }
    waitpid(pid, &status, 0);
    report("vfork", 0, status);

    if (posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, environ) == 0)
        waitpid(pid, &status, 0);
    report("spawn", 0, status);

    report("system", 0, system("exit 3"));
}

int main(int argc, char **argv)
{
    int children = argc > 1 ? atoi(argv[1]) : 3;
    long count = argc > 2 ? atol(argv[2]) : 10;

    long before = steps(0, count);
    for (int number = 1; number <= children; number++)
        run_child("child", number, count);
    long after = steps(0, count);
    run_others();
    printf("done calls=%ld before=%ld after=%ld\n", 2 * count, before, after);
    return 0;
}
