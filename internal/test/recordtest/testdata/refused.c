/* Functions whose returns cannot be recorded. */
#include <stdio.h>
#include <stdlib.h>

static inline __attribute__((always_inline)) int copied(int n) { return n * 3 + 1; }
static inline __attribute__((always_inline)) int folded(int n) { return n * 5 + 1; }
__attribute__((noinline)) int user(int n) { return copied(n) + copied(n + 1); }
__attribute__((noinline, noreturn)) void ends(int n) { exit(n); }

static int first(int n) { return n + 1; }
static int (*choose(void))(int) { return first; }
int chosen(int n) __attribute__((ifunc("choose")));

/* A jump that nothing describes, data behind the code, a branch into the middle of an instruction, a function without a size. */
asm(".text\n"
    ".globl computed\n.type computed, @function\ncomputed: lea endless(%rip), %rax\njmp *%rax\n.size computed, .-computed\n"
    ".globl mixed\n.type mixed, @function\nmixed: ret\n.byte 6, 6\n.size mixed, .-mixed\n"
    ".globl into\n.type into, @function\ninto: jmp 1f+1\n1: .byte 0xb8, 0xc3, 0, 0, 0\nret\n.size into, .-into\n"
    ".globl endless\n.type endless, @function\nendless: mov $1, %eax\nret\n");
int computed(void), mixed(void), into(void), endless(void);

int main(int argc, char **argv)
{
	mixed();
	into();
	puts("it runs");
	ends(user(argc) + folded(4) + chosen(argc) + endless() + computed());
}
