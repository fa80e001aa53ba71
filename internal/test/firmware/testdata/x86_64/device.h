/* The first serial port (16550), in loop-back: what is written to it is what the next read takes out of its FIFO. It has I/O
 * ports, so reading memory does not disturb it. */
static void out(uint16_t port, uint8_t value) { __asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port)); }

static uint8_t device_prepare(uint32_t number)
{
	if (number == 0) {
		out(0x3fa, 0x07);  /* FCR: FIFOs on, and empty */
		out(0x3fc, 0x10);  /* MCR: loop-back */
	}
	out(0x3f8, number ^ 0x5a);
	return number ^ 0x5a;
}

static uint8_t device_read(void)
{
	uint8_t value;
	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"((uint16_t)0x3f8));
	return value;
}

static void rest(void)
{
	for (;;)
		__asm__ volatile("cli; hlt");
}
