/* A program that calls step over and over, and keeps what a tracer should see in it. It has no library, and runs on the bare
 * machine; see the folders beside this file. */
#include "core.h"
#include "device.h"

/* Knobs: their values are patched in the executable's file, so they have to be there even if they are 0; a debugger may write them. */
#define KNOB __attribute__((section(".data"))) volatile uint32_t
KNOB limit = 1000;               /* calls of step by each hart, then done; 0 for ever */
KNOB pauses = 0;                 /* turns of an empty loop between two calls */

struct kept kept;
struct point points[HARTS];
uint32_t counter;                /* calls of step that hart 0 has begun */
int32_t table[8] = {3, -1, 4, -1, 5, -9, 2, -6};
const char *const names[4] = {"north", "east", "south", "west"};
const char version[] = "firmware 1";

/* What the traced function does: locals in registers and in memory, a loop, globals, a device. */
__attribute__((noinline)) int step(int i, struct point *p)
{
	struct call *call = &kept.rings[p->hart][(uint32_t)i % RING];
	int32_t squares[4];
	if (p->hart == 0)
		counter++;
	for (int k = 0; k < 4; k++)
		squares[k] = (p->y + k) * (p->y + k);
	uint32_t device = p->hart == 0 ? device_read() : 0;
	int32_t product = i * p->x;
	__asm__("" : "+r"(product)); /* a value of its own: clang loses track of a product on x86 */
	/* All variables but call have a place here: squares in memory, the others in registers. */
	__asm__ volatile("nop" : : "r"(i), "r"(p), "r"(product), "r"(device), "r"(squares) : "memory"); /* mark: middle */
	call->device = device;
	call->product = product;
	return product + squares[i & 3] + table[i & 7];
}

/* Where a hart is when it has made its calls. */
__attribute__((noinline)) void done(uint32_t hart)
{
	__asm__ volatile("nop" : : "r"(hart) : "memory");
}

/* One word more in a digest: FNV-1a, by words. */
static uint32_t mix(uint32_t digest, int32_t word)
{
	return (digest ^ (uint32_t)word) * 16777619u;
}

/* The work of a hart, which begins in start.S. */
__attribute__((noreturn)) void work(uint32_t hart)
{
	struct point *p = &points[hart];
	struct tally *tally = &kept.tallies[hart];
	p->hart = hart;
	for (uint32_t n = 0; limit == 0 || n < limit; n++) {
		struct call *call = &kept.rings[hart][n % RING];
		uint8_t due = hart == 0 ? device_prepare(n) : 0;
		p->x = (int32_t)(n * 2654435761u) >> 16;
		p->y = (int32_t)(hart * 1000 + n % 100) - 50;
		p->name = names[n % 4];
		call->number = n;
		call->hart = hart;
		call->i = (int32_t)n;
		call->x = p->x;
		call->y = p->y;
		call->point = (uintptr_t)p;
		call->name = (uintptr_t)p->name;
		call->result = step((int32_t)n, p);
		tally->misreads += call->device != due;
		tally->digest = mix(mix(mix(mix(tally->digest, call->i), call->x), call->y), call->product); /* mark: tally */
		tally->calls = n + 1;
		for (uint32_t k = pauses; k > 0; k--)
			__asm__ volatile("");
	}
	tally->done = 1;
	done(hart);
	rest();
}
