/* A library for dlstorm.c. Its function begins where the one of betalib does, with other instructions. */
__asm__(".text\n .balign 4096\n .globl alpha_work\n .type alpha_work, @function\n"
        "alpha_work: push %rbx\n mov %rsi, %rbx\n imul $100, %rdi, %rax\n add %rbx, %rax\n pop %rbx\n ret\n"
        " .size alpha_work, . - alpha_work\n .balign 4096\n");
