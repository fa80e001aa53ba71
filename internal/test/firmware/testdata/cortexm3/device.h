/* The synchronous serial port (PL022) of the LM3S6965, in loop-back: what is written to it is what the next read takes out of
 * its FIFO. */
#define SSI(n) (*(volatile uint32_t *)(0x40008000 + (n)))

static uint8_t device_prepare(uint32_t number)
{
	if (number == 0) {
		SSI(0x00) = 0x07;  /* CR0: frames of 8 bits */
		SSI(0x04) = 0x03;  /* CR1: on, loop-back */
	}
	SSI(0x08) = (number ^ 0x5a) & 0xff;
	return number ^ 0x5a;
}

static uint8_t device_read(void) { return SSI(0x08); }

static void rest(void)
{
	for (;;)
		__asm__ volatile("wfi");
}
