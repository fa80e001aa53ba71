/* blocked ROUNDS: a thread reads a byte from a pipe ROUNDS times, by a system call instruction of its own (site_read); each
 * time the main thread writes the byte only after it has called step() a hundred times. Whoever stops the one thread while
 * the other is in its system call waits for ever. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__asm__(".text\n .globl raw_read, site_read\n .type raw_read, @function\n"
#ifdef __aarch64__
        "raw_read: mov x8, 63\n site_read: svc 0\n ret\n .size raw_read, . - raw_read\n");
#elif defined __riscv
        "raw_read: li a7, 63\n site_read: ecall\n ret\n .size raw_read, . - raw_read\n");
#else
        "raw_read: xor %eax, %eax\n site_read: syscall\n ret\n .size raw_read, . - raw_read\n");
#endif
long raw_read(int fd, void *buffer, unsigned long size);

static int ends[2];
static long rounds, wrong;

__attribute__((noipa)) long step(long n)
{
    return n * n + 1; /* mark: step-line */
}

static void *read_all(void *argument)
{
    (void)argument;
    for (long round = 0; round < rounds; round++) {
        unsigned char byte = 0;
        wrong += raw_read(ends[0], &byte, 1) != 1 || byte != (unsigned char)(round + 1);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t reader;
    long bad = 0;

    rounds = argc > 1 ? atol(argv[1]) : 10;
    if (pipe(ends) != 0)
        return 2;
    pthread_create(&reader, NULL, read_all, NULL);
    for (long round = 0; round < rounds; round++) {
        for (long n = 0; n < 100; n++)
            bad += step(n) != n * n + 1;
        unsigned char byte = round + 1;
        bad += write(ends[1], &byte, 1) != 1;
    }
    pthread_join(reader, NULL);
    printf("done wrong=%ld rounds=%ld\n", wrong + bad, rounds);
    return 0;
}
