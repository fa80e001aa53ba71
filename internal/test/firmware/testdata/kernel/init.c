/* The only process of a Linux in QEMU, for tests that trace its kernel: it calls umask(0), umask(1), ... for ever, so each hit of
 * that function has the next number. It reads the kernel's symbols beforehand; the test fetches them out of its memory, since
 * Debian's System.map is empty and the kernel has no driver of a device that would be quick enough. */

/* Knobs, as in core.c. */
#define KNOB __attribute__((section(".data"))) volatile unsigned
KNOB wanted = 1;                 /* read the symbols */
KNOB pauses = 1000;              /* turns of an empty loop between two calls */

char symbols[16 << 20];          /* /proc/kallsyms */
volatile long length;            /* of symbols */
volatile long calls;             /* of umask that have returned */

static long call_kernel(long number, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	__asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8) : "rcx", "r11", "memory");
	return number;
}

enum { READ = 0, WRITE = 1, OPEN = 2, UMASK = 95, MOUNT = 165 };

static void say(const char *text, long n) { call_kernel(WRITE, 1, (long)text, n, 0, 0); }

/* All of the file that fits. */
static long read_file(const char *name, char *to, long room)
{
	long n, all = 0, fd = call_kernel(OPEN, (long)name, 0, 0, 0, 0);
	while ((n = call_kernel(READ, fd, (long)(to + all), room - all, 0, 0)) > 0)
		all += n;
	return all;
}

__attribute__((noreturn)) void _start(void)
{
	if (wanted) {
		call_kernel(MOUNT, (long)"proc", (long)"/proc", (long)"proc", 0, 0);
		length = read_file("/proc/kallsyms", symbols, sizeof symbols);
	}
	say("init is ready\n", 14);
	for (;;) {
		call_kernel(UMASK, calls, 0, 0, 0, 0);
		calls++;
		for (unsigned k = pauses; k > 0; k--)
			__asm__ volatile("");
	}
}
