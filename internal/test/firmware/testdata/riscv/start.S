# QEMU's reset vector jumps here in machine mode, on every hart. The file has zeros for .bss, which QEMU writes.
	.section .text.start, "ax"
	.globl _start
_start:
	csrr a0, mhartid
	la sp, stacks
	addi t0, a0, 1
	slli t0, t0, 12
	add sp, sp, t0
	j work

	.bss
	.balign 16
stacks:
	.space 2 * 4096
