// QEMU jumps here at EL1, without an MMU. The file has zeros for .bss, which QEMU writes.
	.section .text.start, "ax"
	.globl _start
_start:
	adrp x0, stack
	add x0, x0, :lo12:stack
	mov sp, x0
	mov x29, xzr
	mov x30, xzr
	mov w0, wzr
	b work

	.bss
	.balign 16
	.space 4096
stack:
