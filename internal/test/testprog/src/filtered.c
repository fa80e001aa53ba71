/* filtered COUNT: installs a seccomp filter that kills the process when it calls mmap or munmap, and calls step() COUNT times.
 * ready() is called before the filter is there and filtered() after. step() begins with an instruction that a tracer
 * cannot easily emulate. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

long filtered_base = 30;

__asm__(".text\n .globl step\n .type step, @function\n"
#ifdef __aarch64__
        "step: fmov d0, x0\n adrp x1, filtered_base\n ldr x1, [x1, :lo12:filtered_base]\n add x0, x0, x1\n ret\n"
        ".size step, . - step\n");
#elif defined __riscv
        "step: fmv.d.x fa0, a0\n lla a1, filtered_base\n ld a1, (a1)\n add a0, a0, a1\n ret\n .size step, . - step\n");
#else
        "step: mov filtered_base(%rip), %rax\n add %rdi, %rax\n ret\n .size step, . - step\n");
#endif
long step(long n);

__attribute__((noipa)) void ready(void)
{
    puts("ready");
    fflush(stdout);
}

__attribute__((noipa)) void filtered(void)
{
    puts("filtered");
    fflush(stdout);
}

static int filter(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_munmap, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = { sizeof code / sizeof code[0], code };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 10;
    long wrong = 0;

    ready();
    if (filter() != 0) {
        perror("seccomp");
        return 2;
    }
    filtered();
    for (long n = 0; n < count; n++)
        wrong += step(n) != n + 30;
    printf("done wrong=%ld calls=%ld\n", wrong, count);
    return 0;
}
