/* A program for the bare LM3S6965 that has its debugger write lines (Arm semihosting, SYS_WRITE0), one before each call of step. */
#include <stdint.h>

extern char stack[];
void _start(void);

__attribute__((section(".text.start"), used)) static const void *const vectors[2] = {stack, (void *)_start};

uint32_t calls; /* of step */

__attribute__((noinline)) static void say(const char *text)
{
	register uint32_t operation __asm__("r0") = 4;
	register const char *argument __asm__("r1") = text;
	__asm__ volatile("bkpt 0xab" : "+r"(operation) : "r"(argument) : "memory");
}

__attribute__((noinline)) void step(uint32_t i)
{
	__asm__ volatile("nop" : : "r"(i) : "memory");
}

__attribute__((noinline)) void done(void)
{
	for (;;)
		__asm__ volatile("wfi");
}

void _start(void)
{
	for (calls = 0; calls < 5;) {
		say("said by the firmware\n");
		step(calls++);
	}
	done();
}
