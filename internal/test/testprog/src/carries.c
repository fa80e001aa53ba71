/* carries ROUNDS: adds with adcx, an instruction of which not every decoder knows (a register and a variable of the program are
 * its operands), and prints each sum. Needs a processor that has ADX. */
#include <stdio.h>
#include <stdlib.h>

static unsigned long step = 7;

__attribute__((noipa)) unsigned long by_register(unsigned long sum, unsigned long number)
{
    __asm__ volatile("clc\n\t.globl at_register\nat_register: adcx %1, %0" : "+a"(sum) : "r"(number) : "cc");
    return sum;
}

__attribute__((noipa)) unsigned long by_memory(unsigned long sum)
{
    __asm__ volatile("stc\n\t.globl at_memory\nat_memory: adcx %1, %0" : "+a"(sum) : "m"(step) : "cc");
    return sum;
}

int main(int argc, char **argv)
{
    unsigned long sum = 0;
    for (int round = 1; argc == 2 && round <= atoi(argv[1]); round++) {
        printf("register sum=%lu\n", sum);
        sum = by_register(sum, (unsigned long)round * 1000);
        printf("memory sum=%lu\n", sum);
        sum = by_memory(sum);
        if (sum != (unsigned long)round * (round + 1) / 2 * 1000 + (unsigned long)round * 8)
            return 1;
    }
    printf("done sum=%lu\n", sum);
    return 0;
}
