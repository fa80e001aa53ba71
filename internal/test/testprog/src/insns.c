/* insns COUNT: calls functions that differ in the instruction at a place, COUNT times each, and checks every result.
 *
 * Each function insn_NAME takes a number in rdi and returns one in rax; the global label site_NAME in it marks the instruction
 * of that name, where a tracepoint goes. It is the first one of the function except where it cannot be (leave, pop, ret).
 * The lines "insn name= calls= wrong= sum=" are the same whether the program is traced or not. */
#include <stdio.h>
#include <stdlib.h>

typedef long function(long n);

/* INSN defines insn_NAME; CODE has to define site_NAME itself where that is not the beginning. The functions keep the stack,
 * rbx, rbp and r12 to r15 as they are. Jumps and calls go to local labels that NAME makes unique. */
#define MIDDLE(name, code) \
    __asm__(".text\n .p2align 4\n .globl insn_" #name ", site_" #name "\n .type insn_" #name ", @function\n" \
            "insn_" #name ":\n" code "\n .size insn_" #name ", . - insn_" #name "\n"); \
    function insn_##name;
#define INSN(name, code) MIDDLE(name, "site_" #name ":\n" code)

__asm__(".data\n .p2align 4\n"
        "insn_words: .quad 1000, 2000, 3000, 4000\n"
        "insn_vector: .quad 0x1111, 0x2222\n"
        "insn_counter: .quad 0\n"
        "insn_pointer: .quad insn_add_seven\n"
        "insn_targets: .quad insn_target_0, insn_target_1\n"
        "insn_source: .ascii \"0123456789abcdef\"\n"
        "insn_copy: .zero 16\n"
        ".text\n"
        ".type insn_add_seven, @function\n"
        "insn_add_seven: lea 7(%rdi), %rax\n ret\n"
        "insn_target_0: mov $100, %eax\n add %rdi, %rax\n ret\n"
        "insn_target_1: mov $200, %eax\n add %rdi, %rax\n ret\n");

/* Stack and frame. */
INSN(push, "push %rbp\n mov %rsp, %rbp\n lea 1(%rdi), %rax\n pop %rbp\n ret")
INSN(push_r12, "push %r12\n mov %rdi, %r12\n lea 2(%r12), %rax\n pop %r12\n ret")
INSN(push_imm, "push $-5\n pop %rax\n add %rdi, %rax\n ret")
INSN(push_mem, "push insn_words(%rip)\n pop %rax\n add %rdi, %rax\n ret")
INSN(push_rsp, "push %rsp\n pop %rax\n sub %rsp, %rax\n add %rdi, %rax\n ret")
MIDDLE(pop, "push %rdi\n site_pop: pop %rax\n add $3, %rax\n ret")
MIDDLE(leave, "push %rbp\n mov %rsp, %rbp\n sub $32, %rsp\n mov %rdi, -8(%rbp)\n mov -8(%rbp), %rax\n site_leave: leave\n ret")
INSN(sub_rsp, "sub $40, %rsp\n mov %rdi, 8(%rsp)\n mov 8(%rsp), %rax\n add $40, %rsp\n ret")
INSN(sub_rsp_long, "sub $0x208, %rsp\n mov %rdi, (%rsp)\n mov (%rsp), %rax\n add $0x208, %rsp\n ret")
INSN(enter, "enter $16, $0\n mov %rdi, %rax\n leave\n ret")
INSN(pushf, "pushfq\n pop %rdx\n test $0x100, %edx\n mov $1, %eax\n je 1f\n mov $50, %eax\n 1: add %rdi, %rax\n ret")

/* Nothing at all. */
INSN(nop, "nop\n lea 4(%rdi), %rax\n ret")
INSN(nop5, ".byte 0x0f, 0x1f, 0x44, 0, 0\n lea 5(%rdi), %rax\n ret")
INSN(nop10, ".byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n lea 6(%rdi), %rax\n ret")
INSN(endbr64, "endbr64\n lea 7(%rdi), %rax\n ret")
INSN(pause, "pause\n lea 8(%rdi), %rax\n ret")

/* Moves and arithmetic on registers and memory. */
INSN(mov_reg, "mov %rdi, %rax\n ret")
INSN(mov_reg32, "mov %edi, %eax\n ret")
INSN(mov_imm, "mov $9, %eax\n add %rdi, %rax\n ret")
INSN(mov_imm_signed, "mov $-9, %rax\n add %rdi, %rax\n ret")
INSN(movabs, "movabs $0x123456789, %rax\n add %rdi, %rax\n ret")
INSN(mov_load, "mov insn_words+8(%rip), %rax\n add %rdi, %rax\n ret")
INSN(mov_store, "mov %rdi, insn_counter(%rip)\n mov insn_counter(%rip), %rax\n ret")
INSN(mov_store_imm, "movq $77, insn_counter(%rip)\n mov insn_counter(%rip), %rax\n add %rdi, %rax\n ret")
INSN(movzx, "movzbl %dil, %eax\n ret")
INSN(lea, "lea insn_words(%rip), %rax\n mov 16(%rax), %rax\n add %rdi, %rax\n ret")
INSN(lea_sib, "lea 10(%rdi,%rdi,2), %rax\n ret")
INSN(add, "add $11, %rdi\n mov %rdi, %rax\n ret")
INSN(add_mem, "addq $1, insn_counter(%rip)\n mov %rdi, %rax\n ret")
INSN(lock_xadd, "lock xadd %rdi, insn_counter(%rip)\n mov $12, %eax\n ret")
INSN(xor, "xor %eax, %eax\n add %rdi, %rax\n ret")
INSN(test, "test $1, %dil\n mov $0, %eax\n setne %al\n ret")
INSN(cmp_mem, "cmpq $1000, insn_words(%rip)\n mov $0, %eax\n sete %al\n add %rdi, %rax\n ret")
INSN(cmp_reg_mem, "cmp insn_words(%rip), %rdi\n mov $0, %eax\n setl %al\n ret")
INSN(imul, "imul insn_words(%rip), %rdi\n mov %rdi, %rax\n ret")
INSN(rep_movs, "rep movsb\n jmp insn_rep_movs_end\n")
INSN(cpuid, "cpuid\n mov %rdi, %rax\n mov %r8, %rbx\n ret")

/* Control flow. */
INSN(jmp_short, "jmp 1f\n mov $99, %eax\n ret\n 1: lea 13(%rdi), %rax\n ret")
INSN(jmp_near, ".byte 0xe9\n .long 1f - 2f\n 2: mov $99, %eax\n ret\n 1: lea 14(%rdi), %rax\n ret")
INSN(jmp_mem, "jmp *insn_pointer(%rip)")
INSN(jcc_short, "je 1f\n lea 15(%rdi), %rax\n ret\n 1: lea 16(%rdi), %rax\n ret")
INSN(jcc_near, ".byte 0x0f, 0x84\n .long 1f - 2f\n 2: lea 17(%rdi), %rax\n ret\n 1: lea 18(%rdi), %rax\n ret")
INSN(jrcxz, "jrcxz 1f\n lea 19(%rdi), %rax\n ret\n 1: lea 20(%rdi), %rax\n ret")
INSN(loop, "loop 1f\n lea 21(%rdi), %rax\n ret\n 1: lea 22(%rdi), %rax\n ret")
INSN(call, "call insn_add_seven\n ret")
INSN(call_mem, "call *insn_pointer(%rip)\n ret")
INSN(call_reg, "call *%rdx\n ret")
INSN(call_stack, "call *-8(%rsp)\n ret")
INSN(jmp_reg, "jmp *%rdx")
INSN(jmp_table, "jmp *(%rdx,%rcx,8)")
MIDDLE(ret, "mov %rdi, %rax\n site_ret: ret")
INSN(only_ret, "ret")
MIDDLE(ret_imm, "push %rdi\n call insn_ret_imm_inner\n ret\n"
       "insn_ret_imm_inner: mov 8(%rsp), %rax\n site_ret_imm: ret $8")

/* The kernel. */
MIDDLE(syscall, "mov $39, %eax\n site_syscall: syscall\n test %rax, %rax\n mov $0, %eax\n setle %al\n ret")

/* Vectors. */
INSN(movaps, "movaps insn_vector(%rip), %xmm0\n movq %xmm0, %rax\n add %rdi, %rax\n ret")
INSN(movq_xmm, "movq %rdi, %xmm1\n movq %xmm1, %rax\n ret")
INSN(paddq, "paddq insn_vector(%rip), %xmm0\n movq %xmm0, %rax\n ret")
INSN(cvtsi2sd, "cvtsi2sd %rdi, %xmm0\n addsd %xmm0, %xmm0\n cvttsd2si %xmm0, %rax\n ret")

/* What some of them find in registers besides rdi: the wrappers put it there, so that the sites stay first. */
__asm__(".text\n"
        "insn_rep_movs_end: lea insn_copy(%rip), %rax\n movzbl 15(%rax), %eax\n movb $0, insn_copy+15(%rip)\n ret\n"
        "wrap_rep_movs: lea insn_source(%rip), %rsi\n lea insn_copy(%rip), %rdi\n mov $16, %ecx\n cld\n jmp insn_rep_movs\n"
        "wrap_cpuid: mov %rbx, %r8\n xor %eax, %eax\n xor %ecx, %ecx\n jmp insn_cpuid\n"
        "wrap_jcc_short: test $1, %dil\n jmp insn_jcc_short\n"
        "wrap_jcc_near: test $1, %dil\n jmp insn_jcc_near\n"
        "wrap_jrcxz: mov %rdi, %rcx\n and $1, %ecx\n jmp insn_jrcxz\n"
        "wrap_loop: mov %rdi, %rcx\n and $1, %ecx\n inc %ecx\n jmp insn_loop\n"
        "wrap_call_reg: lea insn_add_seven(%rip), %rdx\n jmp insn_call_reg\n"
        "wrap_call_stack: lea insn_add_seven(%rip), %rdx\n mov %rdx, -8(%rsp)\n jmp insn_call_stack\n"
        "wrap_jmp_reg: lea insn_add_seven(%rip), %rdx\n jmp insn_jmp_reg\n"
        "wrap_jmp_table: lea insn_targets(%rip), %rdx\n mov %edi, %ecx\n and $1, %ecx\n jmp insn_jmp_table\n"
        "wrap_only_ret: mov %rdi, %rax\n jmp insn_only_ret\n"
        "wrap_paddq: movq %rdi, %xmm0\n jmp insn_paddq\n");
function wrap_rep_movs, wrap_cpuid, wrap_jcc_short, wrap_jcc_near, wrap_jrcxz, wrap_loop, wrap_call_reg, wrap_call_stack,
    wrap_jmp_reg, wrap_jmp_table, wrap_only_ret, wrap_paddq;

/* wanted = scale*n + offset, where n is the number passed, or its lowest bits where mask says so; odd is added for odd n. */
static const struct {
    const char *name;
    function *call;
    long scale, mask, offset, odd;
} insns[] = {
#define FULL(name, ...) { #name, insn_##name, __VA_ARGS__ }
#define WRAP(name, ...) { #name, wrap_##name, __VA_ARGS__ }
    FULL(push, 1, -1, 1, 0), FULL(push_r12, 1, -1, 2, 0), FULL(push_imm, 1, -1, -5, 0), FULL(push_mem, 1, -1, 1000, 0),
    FULL(push_rsp, 1, -1, 0, 0), FULL(pop, 1, -1, 3, 0), FULL(leave, 1, -1, 0, 0), FULL(sub_rsp, 1, -1, 0, 0),
    FULL(sub_rsp_long, 1, -1, 0, 0), FULL(enter, 1, -1, 0, 0), FULL(pushf, 1, -1, 1, 0),
    FULL(nop, 1, -1, 4, 0), FULL(nop5, 1, -1, 5, 0), FULL(nop10, 1, -1, 6, 0), FULL(endbr64, 1, -1, 7, 0), FULL(pause, 1, -1, 8, 0),
    FULL(mov_reg, 1, -1, 0, 0), FULL(mov_reg32, 1, -1, 0, 0), FULL(mov_imm, 1, -1, 9, 0), FULL(mov_imm_signed, 1, -1, -9, 0),
    FULL(movabs, 1, -1, 0x123456789, 0), FULL(mov_load, 1, -1, 2000, 0), FULL(mov_store, 1, -1, 0, 0),
    FULL(mov_store_imm, 1, -1, 77, 0), FULL(movzx, 1, 255, 0, 0), FULL(lea, 1, -1, 3000, 0), FULL(lea_sib, 3, -1, 10, 0),
    FULL(add, 1, -1, 11, 0), FULL(add_mem, 1, -1, 0, 0), FULL(lock_xadd, 0, -1, 12, 0), FULL(xor, 1, -1, 0, 0),
    FULL(test, 0, -1, 0, 1), FULL(cmp_mem, 1, -1, 1, 0), FULL(cmp_reg_mem, 0, -1, 1, 0), FULL(imul, 1000, -1, 0, 0),
    WRAP(rep_movs, 0, -1, 'f', 0), WRAP(cpuid, 1, -1, 0, 0),
    FULL(jmp_short, 1, -1, 13, 0), FULL(jmp_near, 1, -1, 14, 0), FULL(jmp_mem, 1, -1, 7, 0), WRAP(jcc_short, 1, -1, 16, -1),
    WRAP(jcc_near, 1, -1, 18, -1), WRAP(jrcxz, 1, -1, 20, -1), WRAP(loop, 1, -1, 21, 1), FULL(call, 1, -1, 7, 0),
    FULL(call_mem, 1, -1, 7, 0), WRAP(call_reg, 1, -1, 7, 0), WRAP(call_stack, 1, -1, 7, 0), WRAP(jmp_reg, 1, -1, 7, 0),
    WRAP(jmp_table, 1, -1, 100, 100), FULL(ret, 1, -1, 0, 0), WRAP(only_ret, 1, -1, 0, 0), FULL(ret_imm, 1, -1, 0, 0),
    FULL(syscall, 0, -1, 0, 0),
    FULL(movaps, 1, -1, 0x1111, 0), FULL(movq_xmm, 1, -1, 0, 0), WRAP(paddq, 1, -1, 0x1111, 0), FULL(cvtsi2sd, 2, -1, 0, 0),
};

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 10;
    long kinds = 0, all_wrong = 0, checksum = 0;

    for (unsigned i = 0; i < sizeof insns / sizeof insns[0]; i++, kinds++) {
        long wrong = 0, sum = 0;
        for (long n = 0; n < count; n++) {
            long got = insns[i].call(n % 900);
            long wanted = insns[i].scale * (n % 900 & insns[i].mask) + insns[i].offset + (n % 900 & 1) * insns[i].odd;
            wrong += got != wanted;
            sum += got;
        }
        printf("insn name=%s calls=%ld wrong=%ld sum=%ld\n", insns[i].name, count, wrong, sum);
        all_wrong += wrong;
        checksum = checksum * 31 + sum;
    }
    printf("done kinds=%ld wrong=%ld checksum=%lx\n", kinds, all_wrong, checksum);
    return all_wrong != 0;
}
