/* hops COUNT: calls hop() COUNT times and checks what it returns. A jump at hop_jump, which is two bytes long, can only be a short one
 * into the padding behind hop_end, the last instruction: something branches to the instruction behind it, and the bytes there
 * would lead a long jump below address 0. */
#include <stdio.h>
#include <stdlib.h>

__asm__(".text\n .p2align 6\n .globl hop\n .type hop, @function\n"
        "hop: test %edi, %edi\n je 1f\n"
        ".globl hop_jump\n hop_jump: jmp 2f\n"
        "1: mov %rax, %r11\n"
        "2: lea 1(%rdi), %eax\n"
        ".globl hop_end\n hop_end: ret\n .size hop, . - hop\n .p2align 6\n");
long hop(long n);

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 10, wrong = 0;
    for (long n = 0; n < count; n++)
        wrong += hop(n) != n + 1;
    printf("done wrong=%ld calls=%ld\n", wrong, count);
    return wrong != 0;
}
