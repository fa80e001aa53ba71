# QEMU's loader finds the entry in the note (PVH boot protocol) and jumps there in protected mode without paging. The file has
# zeros for .bss, which QEMU writes.
	.section .note, "a", @note
	.long 4, 4, 18          # lengths of name and descriptor, XEN_ELFNOTE_PHYS32_ENTRY
	.asciz "Xen"
	.long _start

	.section .text.start, "ax"
	.code32
	.globl _start
_start:
	cli
	movl $stack, %esp
	movl $tables + 0x1000 + 3, tables    # the first 512 GiB, of which
	movl $0x83, tables + 0x1000          # the first GiB is one page, mapped to itself
	movl %cr4, %eax
	orl $0x20, %eax                      # PAE
	movl %eax, %cr4
	movl $tables, %eax
	movl %eax, %cr3
	movl $0xc0000080, %ecx               # EFER
	rdmsr
	orl $0x100, %eax                     # LME
	wrmsr
	movl %cr0, %eax
	orl $0x80000001, %eax                # paging, so that long mode is on
	movl %eax, %cr0
	lgdt descriptor
	ljmp $8, $long

	.code64
long:
	xorl %eax, %eax
	movl %eax, %ds
	movl %eax, %es
	movl %eax, %ss
	xorl %ebp, %ebp
	xorl %edi, %edi
	pushq $0                             # where work would return to
	jmp work

	.section .rodata, "a"
	.balign 8
gdt:	.quad 0, 0x00af9b000000ffff          # none; code of 64 bits
descriptor:
	.word . - gdt - 1
	.quad gdt

	.bss
	.balign 4096
tables:	.space 2 * 4096
	.space 4096
stack:
