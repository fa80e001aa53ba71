/* A boot sector: a call, accesses of several widths, a string instruction; then protected mode. It ends QEMU, where that has
   -device isa-debug-exit,iobase=0xf4, with status 41. */
.code16
.globl _start
_start: ljmp $0x7c0, $1f-_start+0
1: mov %cs, %ax
 mov %ax, %ds
 mov $0x9000, %ax
 mov %ax, %ss
 mov $0x100, %sp
 mov $3, %cx
 xor %ax, %ax
2: add %cx, %ax
 push %ax
 call 3f
 pop %bx
 loop 2b
 mov %ax, (0x1f0)
 lock incw (0x1f0)
 mov $0x1f0, %si
 mov $0x300, %di
 push %ds
 pop %es
 mov $3, %cx
 rep movsb
 mov %ax, %dx
 pushfl
 cli
 lgdtl gdtr-_start
 mov %cr0, %eax
 or $1, %al
 mov %eax, %cr0
 ljmpl $8, $0x7c00+prot-_start
3: mov %ax, %dx
 ret
.code32
prot: mov $16, %ax
 mov %ax, %ds
 mov %ax, %ss
 mov $0x9f000, %esp
 mov %cr4, %eax
 or $0x200, %eax
 mov %eax, %cr4
 movups (0x7c00), %xmm0
 paddb %xmm0, %xmm0
 movups %xmm0, (0x8000)
 movq %xmm0, (0x8010)
 incl (0x8000)
 cmpl $5, (0x8004)
 call f
 mov $20, %al
 out %al, $0xf4
 hlt
f: push %ebp
 mov %esp, %ebp
 xchg %eax, (0x8008)
 leave
 ret
.align 8
gdt: .quad 0, 0x00cf9a000000ffff, 0x00cf92000000ffff
gdtr: .word 23
 .long 0x7c00+gdt-_start
.org 510
.word 0xaa55
