/* A program without a library, for whatever processor it is compiled: a checksum, a sort and a recursion, over numbers that SEED
   decides, done REPEAT times. It ends with status 42, or another where something is wrong. */
#ifndef REPEAT
#define REPEAT 1
#endif
static unsigned char data[64];
unsigned results[3];

static unsigned checksum(const unsigned char *p, int n)
{
	unsigned sum = ~0u;
	while (n--) {
		sum ^= *p++;
		for (int i = 0; i < 8; i++)
			sum = sum >> 1 ^ (0xedb88320u & -(sum & 1));
	}
	return ~sum;
}

static void sort(unsigned char *p, int n)
{
	for (int i = 1; i < n; i++)
		for (int j = i; j > 0 && p[j - 1] > p[j]; j--) {
			unsigned char x = p[j];
			p[j] = p[j - 1];
			p[j - 1] = x;
		}
}

__attribute__((noinline)) unsigned fib(unsigned n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static long run(void)
{
	unsigned x = SEED;
	for (int i = 0; i < 24; i++) {
		x = x * 1103515245u + 12345;
		data[i] = x >> 16;
	}
	results[0] = checksum(data, 24);
	sort(data, 24);
	results[1] = checksum(data, 24);
	results[2] = fib(7);
	for (int i = 1; i < 24; i++)
		if (data[i - 1] > data[i])
			return 1;
	return results[2] == 13 ? 42 : 2;
}

void _start(void)
{
	long status = 0;
	for (int i = 0; i < REPEAT; i++)
		status = run();
#if defined __x86_64__
	__asm__ volatile ("syscall" :: "a"(60L), "D"(status));
#elif defined __aarch64__
	register long number __asm__("x8") = 93, argument __asm__("x0") = status;
	__asm__ volatile ("svc 0" :: "r"(number), "r"(argument));
#elif defined __arm__
	register long number __asm__("r7") = 1, argument __asm__("r0") = status;
	__asm__ volatile ("svc 0" :: "r"(number), "r"(argument));
#elif defined __riscv
	register long number __asm__("a7") = 93, argument __asm__("a0") = status;
	__asm__ volatile ("ecall" :: "r"(number), "r"(argument));
#elif defined __mips__
	register long number __asm__("$2") = 4001, argument __asm__("$4") = status;
	__asm__ volatile ("syscall" :: "r"(number), "r"(argument));
#endif
	for (;;)
		;
}
