/* overflow ROUNDS: runs over the end of its stack ROUNDS times and comes back from the handler of SIGSEGV. The recursion is
 * descend(), a push and a call; in even rounds the call (site_call) meets the end of the stack, in odd ones the push.
 * "wrong" counts faults whose pc is another or whose address is not below the limit. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <ucontext.h>

enum { LIMIT = 96 << 10 };

__asm__(".text\n .globl descend, site_call\n .type descend, @function\n"
        "descend: push %rbp\n site_call: call descend\n pop %rbp\n ret\n .size descend, . - descend\n"
        ".type descend_shifted, @function\n"
        "descend_shifted: push %rax\n jmp descend\n .size descend_shifted, . - descend_shifted\n");
void descend(void);
void descend_shifted(void);
extern const char site_call[];

static sigjmp_buf back;
static volatile long faults_at_push, faults_at_call, wrong;

static void on_fault(int signal, siginfo_t *info, void *context)
{
    const ucontext_t *at = context;
    greg_t pc = at->uc_mcontext.gregs[REG_RIP], sp = at->uc_mcontext.gregs[REG_RSP];
    faults_at_push += pc == (greg_t)descend;
    faults_at_call += pc == (greg_t)site_call;
    wrong += signal != SIGSEGV || (pc != (greg_t)descend && pc != (greg_t)site_call) || (greg_t)info->si_addr != sp - 8;
    siglongjmp(back, 1);
}

int main(int argc, char **argv)
{
    volatile long rounds = argc > 1 ? atol(argv[1]) : 2;
    struct rlimit limit = { LIMIT, LIMIT };
    stack_t other = { .ss_sp = malloc(1 << 18), .ss_size = 1 << 18 };
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };

    setrlimit(RLIMIT_STACK, &limit);
    sigaltstack(&other, NULL);
    sigaction(SIGSEGV, &action, NULL);
    for (volatile long round = 0; round < rounds; round++)
        if (sigsetjmp(back, 1) == 0)
            (round % 2 ? descend_shifted : descend)();
    printf("done wrong=%ld push=%ld call=%ld\n", wrong, faults_at_push, faults_at_call);
    return 0;
}
