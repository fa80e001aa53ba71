// native runs a few instructions on the processor for the tests of packages amd64 and jump.
//
// Each line of standard input is one case:
//
//	r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi rip eflags rsp address=code...
//
// numbers and code in hexadecimal. Each code is put at its address, all around it is int3, and the case starts with these
// registers. Addresses outside CODE are mapped while the case runs. For each case one line of output says how it ended:
//
//	trapno r15 … rsp xmm [address=word]…
//
// with the number of the exception (3 is int3, whose rip is that of the int3 itself), the registers, a hash of the vector
// and x87 state, and the 8-byte words of the data region that changed. The regions, known to the tests as well:
//
//	CODE  int3 everywhere; can be read and run
//	DATA  word i is the address CODE + 0x1000 + i*16
//
// Registers are loaded and saved by the kernel: the program interrupts itself, and the signal handler exchanges the context
// that it returns to. So there is no register that the program itself needs while the case runs.

#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#define CODE 0x10000000UL
#define CODE_SIZE 0x200000UL
#define DATA 0x20000000UL
#define DATA_SIZE 0x4000UL
#define REGISTERS 18
#define MAX_CODE 256
#define MAX_PARTS 8
#define PAGE 0x1000UL

// FX_SIZE is the legacy part of the floating-point state; the XSAVE header with its bit map of components follows it.
#define FX_SIZE 512
#define FX_POINTERS 8 // offset of the x87 instruction and data pointers, which tell where an instruction ran
#define FX_POINTERS_END 24
#define FX_XMM 160
#define FX_SOFTWARE 464 // the kernel's magic number, and behind it the size of the whole
#define FX_SIZE_MAX 0x10000

static const int order[REGISTERS] = {
	REG_R15, REG_R14, REG_R13, REG_R12, REG_RBP, REG_RBX, REG_R11, REG_R10, REG_R9,
	REG_R8,  REG_RAX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RIP, REG_EFL, REG_RSP,
};
enum { RIP_AT = 15 };

static uint64_t registers[REGISTERS];
static long long trapno;
static uint64_t vector_hash;
static volatile int running;
static gregset_t own_registers;
static unsigned char own_fp[FX_SIZE_MAX];
static uint64_t pristine[DATA_SIZE / 8];
static unsigned char *code_writable; // the code region, elsewhere

static void die(const char *what) {
	perror(what);
	exit(2);
}

static void begin_case(ucontext_t *context) {
	unsigned char *fp = (unsigned char *)context->uc_mcontext.fpregs;
	uint32_t size;
	memcpy(&size, fp + FX_SOFTWARE + 4, sizeof size);
	if (size > FX_SIZE_MAX)
		abort();
	memcpy(own_registers, context->uc_mcontext.gregs, sizeof own_registers);
	memcpy(own_fp, fp, size);
	for (int i = 0; i < REGISTERS; i++)
		context->uc_mcontext.gregs[order[i]] = (long long)registers[i];
	for (int i = 0; i < 256; i++)
		fp[FX_XMM + i] = (unsigned char)(i * 37);
	uint64_t x87_and_sse = 3;
	memcpy(fp + FX_SIZE, &x87_and_sse, sizeof x87_and_sse);
}

static void end_case(ucontext_t *context) {
	unsigned char *fp = (unsigned char *)context->uc_mcontext.fpregs;
	uint32_t size;
	memcpy(&size, fp + FX_SOFTWARE + 4, sizeof size);
	for (int i = 0; i < REGISTERS; i++)
		registers[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
	trapno = context->uc_mcontext.gregs[REG_TRAPNO];
	if (trapno == 3)
		registers[RIP_AT]--;
	vector_hash = 14695981039346656037u;
	for (int i = 0; i < FX_SOFTWARE; i++)
		if (i < FX_POINTERS || i >= FX_POINTERS_END)
			vector_hash = (vector_hash ^ fp[i]) * 1099511628211u;
	memcpy(context->uc_mcontext.gregs, own_registers, sizeof own_registers);
	memcpy(fp, own_fp, size);
}

static void on_signal(int number, siginfo_t *siginfo, void *context) {
	(void)number;
	(void)siginfo;
	if (running)
		end_case(context);
	else
		begin_case(context);
	running = !running;
}

static void map_regions(void) {
	int fd = memfd_create("code", 0);
	if (fd < 0 || ftruncate(fd, CODE_SIZE) != 0)
		die("memfd for code");
	code_writable = mmap(NULL, CODE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	void *code = mmap((void *)CODE, CODE_SIZE, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
	if (code_writable == MAP_FAILED || code != (void *)CODE)
		die("map code");
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
	if (mmap((void *)DATA, DATA_SIZE, PROT_READ | PROT_WRITE, flags, -1, 0) != (void *)DATA)
		die("map data");
	memset(code_writable, 0xcc, CODE_SIZE);
	for (size_t i = 0; i < DATA_SIZE / 8; i++)
		pristine[i] = CODE + 0x1000 + i * 16;
	memcpy((void *)DATA, pristine, DATA_SIZE);
}

static void catch_signals(void) {
	static char stack[1 << 18];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
	if (sigaltstack(&alternate, NULL) != 0)
		die("sigaltstack");
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	int numbers[] = {SIGTRAP, SIGSEGV, SIGILL, SIGFPE, SIGBUS};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (sigaction(numbers[i], &action, NULL) != 0)
			die("sigaction");
}

static void report(void) {
	printf("%llx", trapno);
	for (int i = 0; i < REGISTERS; i++)
		printf(" %lx", registers[i]);
	printf(" %lx", vector_hash);
	uint64_t *data = (uint64_t *)DATA;
	for (size_t i = 0; i < DATA_SIZE / 8; i++)
		if (data[i] != pristine[i])
			printf(" %lx=%lx", DATA + i * 8, data[i]);
	printf("\n");
	memcpy(data, pristine, DATA_SIZE);
}

// part is the code at one address.
struct part {
	uintptr_t at;
	size_t size;
	unsigned char *bytes; // where it is writable
	void *mapped;         // pages of its own, or NULL
};

static struct part parts[MAX_PARTS];
static int part_count;

// place parses ADDRESS=CODE and puts the code there. It returns what follows in the line.
static char *place(char *p) {
	if (part_count == MAX_PARTS)
		abort();
	struct part *part = &parts[part_count++];
	*part = (struct part){.at = strtoul(p, &p, 16)};
	part->bytes = code_writable + (part->at - CODE);
	if (part->at < CODE || part->at >= CODE + CODE_SIZE - MAX_CODE) {
		int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
		void *page = (void *)(part->at & -PAGE);
		part->bytes = (unsigned char *)part->at;
		if (mmap(page, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, flags, -1, 0) != page)
			die("map a part");
		memset(page, 0xcc, 2 * PAGE);
		part->mapped = page;
	}
	p++;
	for (unsigned byte; part->size < MAX_CODE && *p > ' ' && sscanf(p, "%2x", &byte) == 1; p += 2)
		part->bytes[part->size++] = (unsigned char)byte;
	return p;
}

// clear takes all code away.
static void clear(void) {
	for (int i = 0; i < part_count; i++)
		if (!parts[i].mapped)
			memset(parts[i].bytes, 0xcc, parts[i].size);
		else if (munmap(parts[i].mapped, 2 * PAGE) != 0)
			die("unmap a part");
	part_count = 0;
}

int main(void) {
	static char line[8192];
	map_regions();
	catch_signals();
	while (fgets(line, sizeof line, stdin)) {
		char *p = line;
		for (int i = 0; i < REGISTERS; i++)
			registers[i] = strtoul(p, &p, 16);
		while (*p == ' ')
			p = place(p + 1);
		// A case that loops for ever ends the program. The time is the processor's own: there may be other work.
		setitimer(ITIMER_VIRTUAL, &(struct itimerval){.it_value.tv_sec = 10}, NULL);
		__asm__ volatile("int3" ::: "memory");
		clear();
		report();
	}
	return 0;
}
