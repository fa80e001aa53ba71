/* Where the kernel enters the process, and its system calls. */
	.text
	.globl _start, call_kernel
	.type _start, %function
	.type call_kernel, %function

#if defined(__x86_64__)
_start:
	xorl %ebp, %ebp
	xorl %edi, %edi
	pushq $0
	jmp work
call_kernel:
	movq %rdi, %rax
	movq %rsi, %rdi
	movq %rdx, %rsi
	movq %rcx, %rdx
	syscall
	ret

#elif defined(__aarch64__)
_start:
	mov x29, xzr
	mov x30, xzr
	mov w0, wzr
	b work
call_kernel:
	mov x8, x0
	mov x0, x1
	mov x1, x2
	mov x2, x3
	svc #0
	ret

#elif defined(__arm__)
	.arm
_start:
	mov r0, #0
	mov lr, #0
	b work
call_kernel:
	push {r7, lr}
	mov r7, r0
	mov r0, r1
	mov r1, r2
	mov r2, r3
	svc #0
	pop {r7, pc}

#elif defined(__riscv)
_start:
	li a0, 0
	li ra, 0
	j work
call_kernel:
	mv a7, a0
	mv a0, a1
	mv a1, a2
	mv a2, a3
	ecall
	ret
#endif
