/* leaves COUNT HOW: COUNT threads, one after the other, come to the system call at leave_here, which does not return: thread ends
 * the thread that makes it. Behind them one more makes it: process ends the process with status 7, exec has the thread replace it
 * by this program anew, which ends with status 5. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

long raw_call(long number, const void *first, const void *second, const void *third);

__asm__(".globl raw_call, leave_here\n"
        ".type raw_call, @function\n"
        ".type leave_here, @function\n"
        "raw_call: mov %rdi, %rax\n"
        "          mov %rsi, %rdi\n"
        "          mov %rdx, %rsi\n"
        "          mov %rcx, %rdx\n"
        "leave_here: syscall\n"
        "          ret\n");

static void *thread(void *argument)
{
    (void)argument;
    raw_call(SYS_exit, NULL, NULL, NULL);
    abort();
}

static void *process(void *argument)
{
    char *const arguments[] = { "leaves", "0", "again", NULL }, *const environment[] = { NULL };

    if (strcmp(argument, "exec") == 0)
        raw_call(SYS_execve, "/proc/self/exe", arguments, environment);
    raw_call(SYS_exit_group, (void *)7, NULL, NULL);
    abort();
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 10;
    char *how = argc > 2 ? argv[2] : "process";
    pthread_t other;

    if (strcmp(how, "again") == 0)
        return 5;
    while (count-- > 0)
        if (pthread_create(&other, NULL, thread, NULL) != 0 || pthread_join(other, NULL) != 0)
            return 1;
    pthread_create(&other, NULL, process, how);
    pthread_join(other, NULL);
    return 3;
}
