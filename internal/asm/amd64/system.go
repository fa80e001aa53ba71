package asm

// Lahf copies the flags SF, ZF, AF, PF and CF into ah, in the places that they have in the low byte of the flags register.
func (a *Assembler) Lahf() { a.Bytes(0x9f) }

// Sahf copies them back.
func (a *Assembler) Sahf() { a.Bytes(0x9e) }

// Pushf pushes the flags register.
func (a *Assembler) Pushf() { a.Bytes(0x9c) }

// Popf pops the flags register.
func (a *Assembler) Popf() { a.Bytes(0x9d) }

// Cld clears the direction flag.
func (a *Assembler) Cld() { a.Bytes(0xfc) }

// RepMovs copies RCX units of w bytes from RSI to RDI, in the direction of the direction flag. All three registers change. A fault
// leaves them at the unit that faulted.
func (a *Assembler) RepMovs(w Width) { a.repeat(w, 0xa4) }

// RepStos stores RCX units of the low w bytes of RAX from RDI on, in the direction of the direction flag.
func (a *Assembler) RepStos(w Width) { a.repeat(w, 0xaa) }

// repeat appends a string instruction with the prefix that has RCX count.
func (a *Assembler) repeat(w Width, forBytes byte) {
	a.general(w)
	if w == 2 {
		a.Bytes(0x66)
	}
	a.Bytes(0xf3)
	if w == 8 {
		a.Bytes(rexEmpty | rexW)
	}
	a.code = append(a.code, sized(w, "", forBytes)...)
}

// Rdtsc loads the time stamp counter into EDX:EAX and clears the upper halves.
func (a *Assembler) Rdtsc() { a.Bytes(0x0f, 0x31) }

// Rdtscp is Rdtsc that waits for earlier loads, and loads the kernel's word for processor and node into ECX.
func (a *Assembler) Rdtscp() { a.Bytes(0x0f, 0x01, 0xf9) }

// Rdpid loads the kernel's word for processor and node. It needs a processor that has RDPID.
func (a *Assembler) Rdpid(dst Reg) {
	a.encode(plain{width: 4, prefix: 0xf3, opcode: "\x0f\xc7", field: 7, rm: dst})
}

// Rdfsbase loads the base of FS, w bytes of it, 4 or 8. It raises #UD where the kernel does not permit it: see HWCAP2.
func (a *Assembler) Rdfsbase(w Width, dst Reg) {
	a.encode(plain{width: w, prefix: 0xf3, opcode: "\x0f\xae", rm: dst})
}

// Rdgsbase loads the base of GS, w bytes of it, 4 or 8. It raises #UD where the kernel does not permit it: see HWCAP2.
func (a *Assembler) Rdgsbase(w Width, dst Reg) {
	a.encode(plain{width: w, prefix: 0xf3, opcode: "\x0f\xae", field: 1, rm: dst})
}

// Syscall calls the kernel. RCX and R11 are lost.
func (a *Assembler) Syscall() { a.Bytes(0x0f, 0x05) }

// Pause tells the processor that a loop waits for another one.
func (a *Assembler) Pause() { a.Bytes(0xf3, 0x90) }

// Int3 raises SIGTRAP.
func (a *Assembler) Int3() { a.Bytes(0xcc) }

// Ud2 raises SIGILL.
func (a *Assembler) Ud2() { a.Bytes(0x0f, 0x0b) }

// Lfence waits until all earlier instructions have completed.
func (a *Assembler) Lfence() { a.Bytes(0x0f, 0xae, 0xe8) }

// Mfence waits until all earlier loads and stores are visible.
func (a *Assembler) Mfence() { a.Bytes(0x0f, 0xae, 0xf0) }

// nops are the forms that Intel recommends, by length.
var nops = [...]string{
	1: "\x90",
	2: "\x66\x90",
	3: "\x0f\x1f\x00",
	4: "\x0f\x1f\x40\x00",
	5: "\x0f\x1f\x44\x00\x00",
	6: "\x66\x0f\x1f\x44\x00\x00",
	7: "\x0f\x1f\x80\x00\x00\x00\x00",
	8: "\x0f\x1f\x84\x00\x00\x00\x00\x00",
	9: "\x66\x0f\x1f\x84\x00\x00\x00\x00\x00",
}

// Nop appends n bytes that do nothing, in as few instructions as there can be.
func (a *Assembler) Nop(n int) {
	for n > 0 {
		k := min(n, len(nops)-1)
		a.code = append(a.code, nops[k]...)
		n -= k
	}
}
