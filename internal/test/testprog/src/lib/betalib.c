/* A library for dlstorm.c. Its function begins where the one of alphalib does, with other instructions. */
__asm__(".text\n .balign 4096\n .globl beta_work\n .type beta_work, @function\n"
        "beta_work: imul $1000, %rdi, %rax\n sub %rsi, %rax\n nop\n nop\n ret\n"
        " .size beta_work, . - beta_work\n .balign 4096\n");
