package emulate

import (
	"bytes"
	"strings"

	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/arch/effect"
)

// x86Registers are the names of the registers of amd64.UserRegs that it works on, by their indexes there, and behind them what
// decides about the mode. A process is shown without those.
var x86Registers = strings.Fields("r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi - - - eflags rsp cr4 efer")

// Indexes of what decides about the mode, and its bits.
const (
	control  = amd64.RSP + 1
	features = amd64.RSP + 2

	enforced = 1 << 23 // of control: calls, returns and the targets of branches are checked (CET)
	long     = 1 << 10 // of features: the mode of 64 bits, or of 32 within that
)

// endbr64 is the instruction at targets of branches.
var endbr64 = []byte{0xf3, 0x0f, 0x1e, 0xfa}

// mostDecoded is how many instructions are kept.
const mostDecoded = 256

// x86 is the emulator of x86-64. It keeps what it has decoded.
type x86 struct {
	system  bool // the registers of the system are shown, which say what mode it is in
	decoded map[uint64]*amd64.Instruction
	step    *effect.Step
	before  amd64.UserRegs
	after   amd64.UserRegs
}

func newX86(has func(register string) bool) *Processor {
	x := &x86{system: has("efer") && has("cr4"), decoded: make(map[uint64]*amd64.Instruction)}
	list := append([]string(nil), x86Registers...)
	for i, name := range list {
		if !has(name) {
			list[i] = ""
		}
	}
	const longest = 15
	return &Processor{list, longest, x.emulate}
}

// emulate is Processor.emulate.
func (x *x86) emulate(s *effect.Step, code []byte, pc uint64, own bool) bool {
	in := x.decoded[pc]
	if in == nil || !bytes.HasPrefix(code, in.Code()) {
		var err error
		if in, err = amd64.Decode(code, arch.Addr(pc)); err != nil {
			return false
		}
		if len(x.decoded) == mostDecoded {
			clear(x.decoded)
		}
		x.decoded[pc] = in
	}
	if !in.CanEmulate() || !x.knowsMode(s, pc, own) || x.isChecked(in) && (!x.system || s.Get(control)&enforced != 0) {
		return false
	}
	for i := range control {
		if x86Registers[i] != "-" {
			x.before[i] = s.Get(i)
		}
	}
	x.step, x.after = s, x.before
	if !in.Emulate(&x.after, x) {
		return false
	}
	s.Next = x.after[amd64.RIP]
	x.after[amd64.RIP] = 0
	for i, v := range x.after {
		if v != x.before[i] {
			s.Set(i, v)
		}
	}
	return true
}

// knowsMode reports whether it is certain that the processor is in the mode of 64 bits. A system may be in others at addresses of
// 32 bits; there, code of a program of 64 bits settles it.
func (x *x86) knowsMode(s *effect.Step, pc uint64, own bool) bool {
	return !x.system || s.Get(features)&long != 0 && (own || pc>>32 != 0)
}

// isChecked reports whether an instruction may have an effect on the stack of return addresses, or on what may be branched to next,
// which registers do not show.
func (x *x86) isChecked(in *amd64.Instruction) bool {
	code := in.Code()
	indirect := in.Flow() == amd64.FlowJump && bytes.IndexByte(code, 0xff) >= 0 && code[0]&0xf0 != 0x70
	return in.WritesShadowStack() || indirect || bytes.HasPrefix(code, endbr64)
}

// ReadUint64 implements amd64.Memory. Of the addresses of operands it is not known whether they count from the stack pointer.
func (x *x86) ReadUint64(addr arch.Addr) (uint64, bool) {
	v := x.step.Load(uint64(addr), 8, uint64(addr) == x.before[amd64.RSP])
	return v, x.step.OK()
}

// WriteUint64 implements amd64.Memory.
func (x *x86) WriteUint64(addr arch.Addr, v uint64) bool {
	x.step.Store(uint64(addr), 8, v, uint64(addr) == x.before[amd64.RSP]-8)
	return x.step.OK()
}
