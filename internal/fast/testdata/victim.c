/* victim FILE SIZE: memory for pads to run in. What the test shares with it is in FILE: a control area of SIZE bytes, and a ring. There
 * are places for code, a stack and data besides. The test puts everything there and sets the registers; main only has to get to its
 * breakpoint instruction. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

static void map(unsigned long addr, unsigned long size, int protection, int fd, long offset)
{
	int flags = MAP_FIXED | (fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED);
	if (mmap((void *)addr, size, protection, flags, fd, offset) == MAP_FAILED)
		exit(3);
}

int main(int argc, char **argv)
{
	int fd = argc > 2 ? open(argv[1], O_RDWR) : -1;
	if (fd < 0)
		return 2;
	long control = atol(argv[2]);
	map(0x20000000, control, PROT_READ | PROT_WRITE, fd, 0);
	map(0x30000000, 0x20000, PROT_READ | PROT_WRITE, fd, control);
	map(0x10000000, 0x20000, PROT_READ | PROT_EXEC, -1, 0);
	map(0x40000000, 0x10000, PROT_READ | PROT_WRITE, -1, 0);
	map(0x50000000, 0x2000, PROT_READ | PROT_WRITE, -1, 0);
	__asm__ volatile("int3");
	return 0;
}
