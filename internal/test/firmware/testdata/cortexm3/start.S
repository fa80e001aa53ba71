@ The vector table, and the start: .data is copied out of flash. QEMU has zeros in RAM after a reset of the whole machine only, so
@ .bss is cleared, too.
	.syntax unified
	.thumb
	.section .text.start, "a"
	.word stack
	.word _start
	.rept 14
	.word fault
	.endr

	.text
	.globl _start
	.thumb_func
	.type _start, %function
_start:
	ldr r0, =data_from
	ldr r1, =data_start
	ldr r2, =data_end
1:	cmp r1, r2
	itt lo
	ldrlo r3, [r0], #4
	strlo r3, [r1], #4
	blo 1b
	ldr r1, =bss_start
	ldr r2, =bss_end
	movs r3, #0
2:	cmp r1, r2
	it lo
	strlo r3, [r1], #4
	blo 2b
	movs r0, #0
	ldr r1, =work
	bx r1

	.thumb_func
	.type fault, %function
fault:
	b fault
