/* strict COUNT FILTER: calls tick() COUNT times, installs a seccomp filter if FILTER is 1, which kills the process for any system call
 * but write, exit_group and rt_sigreturn, calls tick() COUNT times more, and prints how many calls were wrong. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

long strict_base = 30;

__asm__(".text\n .globl tick\n .type tick, @function\n"
        "tick: mov strict_base(%rip), %rax\n add %rdi, %rax\n ret\n .size tick, . - tick\n");
long tick(long n);

static int filter(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof code / sizeof code[0], code };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 10, wrong = 0;

    puts("begins");
    fflush(stdout); /* now there is a buffer, so that nothing but write is needed any more */
    for (long n = 0; n < 2 * count; n++) {
        if (n == count && argc > 2 && atoi(argv[2]) && filter() != 0) {
            perror("seccomp");
            return 2;
        }
        wrong += tick(n) != n + 30;
    }
    printf("done wrong=%ld\n", wrong);
    fflush(stdout);
    return 0;
}
