/* What the program is made of besides its start. device.h and start.S, in a folder for each machine, have the rest. */
#include <stdint.h>

#define HARTS 2
#define RING 256

/* A point is what step gets a pointer to; each hart has one. */
struct point {
	int32_t x, y;
	uint32_t hart;
	const char *name;
};

/* A call of step as the program knows it. The layout is the same on all machines, all of which are little-endian. */
struct call {
	uint32_t number, hart;
	int32_t i, x, y;         /* written before the call */
	int32_t product;         /* a local of step, written at its end */
	int32_t result;          /* written after the call */
	uint32_t device;         /* what step read from the device */
	uint64_t point, name;    /* addresses, written before the call */
};

struct tally {
	uint32_t calls;          /* that have returned */
	uint32_t digest;         /* of i, x, y and product of all these */
	uint32_t misreads;       /* calls in which the device had another byte than it should: somebody else has read it */
	uint32_t done;           /* 1 before done is called */
};

/* All that the program keeps: for each hart its last calls, call n at n % RING, and the count of all. */
struct kept {
	struct tally tallies[HARTS];
	struct call rings[HARTS][RING];
};

/* The byte that the device's next read will have, after what is needed to have it there. */
static uint8_t device_prepare(uint32_t number);

/* Reads the device: a byte that is gone after the read. */
static uint8_t device_read(void);

/* Never returns: the end of a hart's work. */
static void rest(void) __attribute__((noreturn));
