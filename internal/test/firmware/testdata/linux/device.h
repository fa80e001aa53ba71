/* The program as a process of Linux, without a library. There is no device, only a variable; in the end the process writes what it has
 * kept to its standard output. */
static volatile uint8_t device;

static uint8_t device_prepare(uint32_t number) { return device = number ^ 0x5a; }

static uint8_t device_read(void)
{
	uint8_t value = device;
	device = 0;
	return value;
}

/* In start.S: a system call. */
long call_kernel(long number, long a, long b, long c);

#if defined(__x86_64__)
enum { WRITE = 1, EXIT = 60 };
#elif defined(__arm__)
enum { WRITE = 4, EXIT = 1 };
#else
enum { WRITE = 64, EXIT = 93 };
#endif

extern struct kept kept;

static void rest(void)
{
	long length = call_kernel(WRITE, 1, (long)&kept, sizeof kept);
	for (;;)
		call_kernel(EXIT, length != sizeof kept, 0, 0);
}
