// Package arm64 takes one A64 instruction out of the stream, as package arch/amd64 does for x86-64: it gives the instruction its
// effect on a register file, or copies it elsewhere so that the copy has the effect of the original. The sources are the Arm
// Architecture Reference Manual for A-profile (DDI 0487) and the layout of NT_PRSTATUS in the kernel.
//
// All instructions have four bytes, so a length is never in doubt. What matters is which of them depend on where they are, and
// that is decided by a table of encodings (places). All others run anywhere: the architecture has the pc as an operand in few
// classes only, and classes that are not allocated yet are left in place.
//
// Two things are new for a tracer that comes from x86-64:
//
//   - A load-exclusive and its store-exclusive belong together. An exception in between, and so a trap, makes the store fail, and
//     the program tries again, for ever. Exclusive finds such sequences.
//   - PSTATE.BTYPE says that an indirect branch has led here, where on guarded pages only certain instructions may stand. The
//     breakpoint instruction is exempt, and the displaced instruction is executed elsewhere, so whoever moves the pc clears BTYPE
//     (UserRegs.SetPC). A program that branches to another instruction than such a pad faults without a breakpoint there, and goes
//     on with one.
//
// The package is pure computation.
package arm64

import (
	"encoding/binary"
	"fmt"
	"sync"

	"tracewell/arch"
	"tracewell/arch/a64"
	"tracewell/arch/effect"
)

// ISA is AArch64 as a debugger sees it. The registers are numbered as in GDB's org.gnu.gdb.aarch64.core feature.
var ISA = &arch.ISA{
	Machine:  arch.ByName("aarch64"),
	Name:     arch.ByName("aarch64").Architectures[0],
	Order:    arch.ByName("aarch64").Order,
	AddrSize: arch.ByName("aarch64").AddrSize,
	PC:       32,
	SP:       31,
	FP:       29,
}

// Length is how many bytes every instruction has.
const Length = 4

// UserRegs are the registers of NT_PRSTATUS (struct user_pt_regs): x0 to x30, sp, pc, pstate.
type UserRegs [34]uint64

// Indexes of the registers with a role.
const (
	FP     = 29
	LR     = 30
	SP     = 31
	PC     = 32
	PState = 33
)

// Bits of pstate.
const (
	branchType   = 3 << 10 // BTYPE
	softwareStep = 1 << 21 // SS
)

// SetPC moves the pc, to an instruction that no branch has led to.
func (r *UserRegs) SetPC(pc arch.Addr) {
	r[PC] = uint64(pc)
	r[PState] &^= branchType
}

// Memory is the memory of the thread whose registers Emulate works on.
//
// An access must fail, without effect, where the program's own would fault.
type Memory interface {
	// Read fills b with what is at addr.
	Read(addr arch.Addr, b []byte) bool
	// Write writes all of b, or nothing.
	Write(addr arch.Addr, b []byte) bool
}

// Flow is what an instruction does with control.
type Flow uint8

// The kinds of flow.
const (
	FlowNext    Flow = iota // on to the next instruction, unless it faults
	FlowJump                // elsewhere, always or under a condition
	FlowCall                // elsewhere, and the address of the next instruction goes to x30
	FlowReturn              // to an address in a register
	FlowSyscall             // into the kernel, by way of a system call
)

// Reason is what keeps an instruction from running anywhere but in its place.
type Reason uint8

// The reasons.
const (
	Relocatable     Reason = iota // nothing does
	RelativeBranch                // its target counts from where it is
	RelativeAddress               // so does its operand
	LinksAddress                  // a call: the return address would be the copy's
	EntersKernel                  // the kernel sees the pc, and may rewind it
	Traps                         // a debugger or handler is told the pc
	Succession                    // one of several that the kernel takes for neighbours (FEAT_MOPS)
	Transaction                   // begins one
	Unallocated                   // the architecture has no such instruction yet
)

var reasonTexts = [...]string{
	Relocatable:     "",
	RelativeBranch:  "its branch target counts from its own address",
	RelativeAddress: "its operand counts from its own address",
	LinksAddress:    "it saves the address behind it",
	EntersKernel:    "it enters the kernel",
	Traps:           "it raises an exception that tells its address",
	Succession:      "it has to be executed between its neighbours",
	Transaction:     "it begins a transaction",
	Unallocated:     "it is no instruction that this version supports",
}

// String gives the reason in words, nothing for Relocatable.
func (r Reason) String() string { return reasonTexts[r] }

// place is a class of encodings: those whose bits under mask are value.
type place struct {
	mask, value uint32
	flow        Flow
	reason      Reason
}

// places are the encodings that do not simply pass on to the next instruction, or that do not survive copying. The first that
// matches counts.
var places = []place{
	{0xfc000000, 0x14000000, FlowJump, RelativeBranch},    // b
	{0xfc000000, 0x94000000, FlowCall, LinksAddress},      // bl
	{0xff000000, 0x54000000, FlowJump, RelativeBranch},    // b.cond, bc.cond
	{0xff000000, 0x55000000, FlowReturn, RelativeAddress}, // retaasppc, retabsppc: the pc is a part of the signature
	{0x7c000000, 0x34000000, FlowJump, RelativeBranch},    // cbz, cbnz, tbz, tbnz
	{0x7c000000, 0x74000000, FlowJump, RelativeBranch},    // cb<cond>
	{0xfffffc1f, 0xd61f0000, FlowJump, Relocatable},       // br
	{0xfffff800, 0xd61f0800, FlowJump, Relocatable},       // braaz, brabz
	{0xfffff800, 0xd71f0800, FlowJump, Relocatable},       // braa, brab
	{0xfffffc1f, 0xd63f0000, FlowCall, LinksAddress},      // blr
	{0xfffff800, 0xd63f0800, FlowCall, LinksAddress},      // blraaz, blrabz
	{0xfffff800, 0xd73f0800, FlowCall, LinksAddress},      // blraa, blrab
	{0xfffffc1f, 0xd65f0000, FlowReturn, Relocatable},     // ret
	{0xfffffbff, 0xd65f0bff, FlowReturn, Relocatable},     // retaa, retab
	{0xfe000000, 0xd6000000, FlowJump, Unallocated},       // eret, drps and others
	{0xffe0001f, 0xd4000001, FlowSyscall, EntersKernel},   // svc
	{0xff000000, 0xd4000000, FlowNext, Traps},             // brk, hlt, hvc, smc, tcancel
	{0xffffffe0, 0xd5233060, FlowNext, Transaction},       // tstart
	{0x1f000000, 0x10000000, FlowNext, RelativeAddress},   // adr, adrp
	{0x3b000000, 0x18000000, FlowNext, RelativeAddress},   // ldr (literal), prfm (literal)
	{0x3b200c00, 0x19000400, FlowNext, Succession},        // cpyp, cpym, cpye, setp, setm, sete
	{0x9e000000, 0x80000000, FlowNext, Relocatable},       // SME
	{0x1e000000, 0x00000000, FlowNext, Traps},             // udf
	{0x1a000000, 0x02000000, FlowNext, Unallocated},
	{0xff000000, 0xd5000000, FlowNext, Relocatable}, // hints, barriers, system registers
	{0x1c000000, 0x14000000, FlowJump, Unallocated}, // what else there may be of branches
}

// Instruction is one instruction at one address. It never changes and may be shared between threads.
type Instruction struct {
	at      arch.Addr
	word    uint32
	code    [Length]byte
	flow    Flow
	reason  Reason
	emulate bool
}

// DecodeError says that bytes are no whole instruction.
type DecodeError struct {
	At   arch.Addr
	Code []byte
}

// Error names the address and the bytes.
func (e *DecodeError) Error() string {
	return fmt.Sprintf("decode the instruction at %v, bytes % x: it has %d bytes", e.At, e.Code, Length)
}

// Decode takes apart the instruction that code begins with and that runs at address at. The error is a *DecodeError. Code is not
// kept.
//
// Traps that are in memory must be out of code: a brk decodes as what it is.
func Decode(code []byte, at arch.Addr) (*Instruction, error) {
	if len(code) < Length || at%Length != 0 {
		return nil, &DecodeError{at, append([]byte(nil), code[:min(len(code), Length)]...)}
	}
	in := &Instruction{at: at, word: binary.LittleEndian.Uint32(code)}
	copy(in.code[:], code)
	for _, p := range places {
		if in.word&p.mask == p.value {
			in.flow, in.reason = p.flow, p.reason
			break
		}
	}
	in.emulate = in.isIndirect() || in.tryOut()
	return in, nil
}

// Len is the length in bytes.
func (in *Instruction) Len() int { return Length }

// Code returns the bytes of the instruction. The caller must not change them.
func (in *Instruction) Code() []byte { return in.code[:] }

// Flow says where the instruction passes control.
func (in *Instruction) Flow() Flow { return in.flow }

// Reason says what keeps the instruction from running anywhere but in its place.
func (in *Instruction) Reason() Reason { return in.reason }

// CanEmulate tells whether Emulate supports the instruction.
func (in *Instruction) CanEmulate() bool { return in.emulate }

// CanRelocate tells whether Relocate can make a copy, given a slot near enough.
func (in *Instruction) CanRelocate() bool { return in.reason == Relocatable }

// WritesShadowStack tells whether the instruction pushes or pops a return address where there is a guarded control stack, which
// Emulate leaves alone. A return may still run from a slot.
func (in *Instruction) WritesShadowStack() bool { return in.flow == FlowCall || in.flow == FlowReturn }

// isIndirect reports whether the instruction is br or blr, which package a64 leaves out since they set BTYPE. A branch that leaves
// it clear may lead to any instruction, so here they are as simple as others.
func (in *Instruction) isIndirect() bool {
	return in.word&^(31<<5) == 0xd61f0000 || in.word&^(31<<5) == 0xd63f0000
}

// thread is a thread as package effect sees it, without BTYPE and the bit of single steps.
type thread struct {
	r *UserRegs
	m Memory
	// far notes an access by another base than sp and the pc. Such addresses may be tagged, and a processor that checks tags faults
	// where no access of a tracer does.
	far  bool
	step effect.Step
}

// threads are there to be used again: they are given to package effect as interfaces, which would allocate one for each hit.
var threads = sync.Pool{New: func() any { return new(thread) }}

// Register implements effect.Thread.
func (t *thread) Register(n int) (uint64, bool) {
	if n == a64.Status {
		return t.r[PState] &^ (branchType | softwareStep), true
	}
	return t.r[n], true
}

// Load implements effect.Thread.
func (t *thread) Load(addr uint64, p []byte, near bool) bool {
	if !near {
		t.far = true
		return false
	}
	return t.m == nil || t.m.Read(arch.Addr(addr), p)
}

// tryOut reports whether an emulation of the instruction is known, by one on registers that are all aligned.
func (in *Instruction) tryOut() bool {
	if in.reason == Traps || in.reason == Unallocated {
		return false
	}
	var r UserRegs
	for i := range PC {
		r[i] = 1 << 12
	}
	t := threads.Get().(*thread)
	defer threads.Put(t)
	return t.run(in, &r, nil)
}

// run has the step be the effects of an instruction, and reports whether they are known.
func (t *thread) run(in *Instruction, r *UserRegs, m Memory) bool {
	t.r, t.m, t.far = r, m, false
	s := &t.step
	s.Begin(t)
	return a64.Emulate(s, in.code[:], uint64(in.at)) && !t.far && (len(s.Stored) == 0 || s.Near)
}

// Emulate gives the instruction its effect on r and m and leaves in r[PC] the address where the thread goes on. What r[PC] held
// before does not matter.
//
// It returns false, with r and m untouched, if the instruction has no emulation, or where it would fault.
func (in *Instruction) Emulate(r *UserRegs, m Memory) bool {
	if in.isIndirect() {
		return in.branch(r)
	}
	t := threads.Get().(*thread)
	defer threads.Put(t)
	s := &t.step
	if !t.run(in, r, m) || len(s.Stored) > 0 && !m.Write(arch.Addr(s.Addr), s.Stored) {
		return false
	}
	for _, w := range s.Registers {
		if w.Register == a64.Status {
			r[PState] = w.Value | r[PState]&softwareStep
			continue
		}
		r[w.Register] = w.Value
	}
	r.SetPC(arch.Addr(s.Next))
	return true
}

// branch is br and blr.
func (in *Instruction) branch(r *UserRegs) bool {
	n := in.word >> 5 & 31
	to := r[n]
	if n == SP { // zero, in this place
		to = 0
	}
	if to%Length != 0 {
		return false
	}
	if in.flow == FlowCall {
		r[LR] = uint64(in.at) + Length
	}
	r.SetPC(arch.Addr(to))
	return true
}
