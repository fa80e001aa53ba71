//go:build linux

package linux

import (
	"bytes"
	"encoding/binary"
	"errors"

	"tracewell/arch"
	"tracewell/arch/effect"
	"tracewell/arch/riscv"
	"tracewell/internal/fast"
	"tracewell/internal/sys"
	"tracewell/target"
	"tracewell/target/linux/internal/patch"
)

// rv64 is 64-bit RISC-V Linux, of processors with compressed instructions. The kernel cannot step, and has no debug registers.
type rv64 struct{}

var host machine = rv64{}

// The sizes of the machine.
const (
	numRegisters      = 32
	numDebugRegisters = 0
	maxInstruction    = riscv.SequenceMost
	bufferSize        = 2 * maxInstruction
	maxCopy           = maxInstruction
	maxSequence       = riscv.SequenceMost
	canStep           = false

	// reach is how far a buffer may lie from its instruction: a copy that cannot jump back ends in a breakpoint.
	reach = 1<<31 - 1<<28

	// userEnd is where the addresses of programs end that do not ask for higher ones.
	userEnd arch.Addr = 1 << 47
)

// The registers of NT_PRSTATUS have the pc where the processor has its zero.
const (
	rvPC = 0
	rvSP = 2
	rvTP = 4
	rvA0 = 10
	rvA7 = 17
)

// rvISA is the machine as programs of Linux have it. The numbers are those of GDB's org.gnu.gdb.riscv.cpu.
var rvISA = &arch.ISA{
	Machine:  arch.RISCV64,
	Name:     arch.RISCV64.Architectures[0],
	Order:    arch.RISCV64.Order,
	AddrSize: arch.RISCV64.AddrSize,
	PC:       32,
	SP:       2,
	FP:       8,
}

func (rv64) isa() *arch.ISA { return rvISA }

// breakpoint implements machine: the short one fits over any instruction.
func (rv64) breakpoint() []byte { return riscv.Breakpoint }

// rvInstruction is an instruction of arch/riscv.
type rvInstruction struct{ *riscv.Instruction }

func (rv64) decode(code []byte, at arch.Addr) (instruction, error) {
	in, err := riscv.Decode(code, uint64(at), true)
	if err != nil {
		return nil, err
	}
	return rvInstruction{in}, nil
}

// relocated implements machine. Nothing is copied by clients: GDB does not for this machine.
func (m rv64) relocated(code []byte, at arch.Addr) instruction {
	in, _ := riscv.Decode(code, uint64(at), true)
	return rvInstruction{in}
}

func (rv64) isCopy(original, moved []byte, _ int64) bool { return bytes.Equal(original, moved) }

func (in rvInstruction) CanRelocate() bool       { return in.CanCopy() }
func (in rvInstruction) WritesShadowStack() bool { return false }
func (in rvInstruction) isSyscall() bool         { return in.IsSyscall() }

func (in rvInstruction) Relocate(to arch.Addr) (code []byte, resume int, ok bool) {
	code, exits := in.Copy(uint64(to), false)
	return code, exits[0].Offset, true
}

// JumpBack is that of a copy that a client has made: there are none.
func (in rvInstruction) JumpBack(arch.Addr) []byte { return riscv.Breakpoint }

// points implements copied.
func (in rvInstruction) points(at arch.Addr) (points []patch.Point) {
	inner := []int{0}
	if s := in.Exclusive(); s != nil {
		inner = s.Offsets()
	}
	for _, offset := range inner {
		points = append(points, patch.Point{Offset: offset, PC: at + arch.Addr(offset)})
	}
	_, exits := in.Copy(0, true)
	for _, e := range exits {
		points = append(points, patch.Point{Offset: e.Offset, PC: arch.Addr(e.PC)})
	}
	return points
}

// stepCode implements steppable.
func (in rvInstruction) stepCode(to, at arch.Addr) (code []byte, points []patch.Point) {
	code, _ = in.Copy(uint64(to), true)
	return code, in.points(at)
}

// rvThread is a stopped thread as emulated instructions see it. They access nothing but the stack, which no other thread uses:
// the kernel copies a word byte by byte, so another thread could see half of it.
type rvThread struct {
	regs *registers
	mem  *stack
}

// Register implements effect.Thread.
func (t *rvThread) Register(n int) (uint64, bool) { return t.regs[n], n != 0 }

// Load implements effect.Thread.
func (t *rvThread) Load(addr uint64, p []byte, near bool) bool {
	word := t.mem.word[:len(p)]
	ok := near && t.mem.fill(t.mem.tid, addr, word)
	copy(p, word)
	return ok
}

func (in rvInstruction) emulate(r *registers, m *stack) bool {
	var s effect.Step
	if !in.Emulate(&s, &rvThread{r, m}) {
		return false
	}
	if len(s.Stored) > 0 && (!s.Near || !m.Write(arch.Addr(s.Addr), s.Stored)) {
		return false
	}
	for _, w := range s.Registers {
		r[w.Register] = w.Value
	}
	r[rvPC] = s.Next
	return true
}

// General registers.

func (rv64) fetch(tid int, r *registers) error { return sys.GetRegs(tid, (*[32]uint64)(r)) }
func (rv64) flush(tid int, r *registers) error { return sys.SetRegs(tid, (*[32]uint64)(r)) }

func (rv64) fetchPC(tid int) (arch.Addr, error) {
	pc, err := sys.PC(tid)
	return arch.Addr(pc), err
}

func (rv64) flushPC(tid int, pc arch.Addr) error { return sys.SetPC(tid, uint64(pc)) }

func (rv64) pc(r *registers) arch.Addr                   { return arch.Addr(r[rvPC]) }
func (rv64) setPC(r *registers, pc arch.Addr)            { r[rvPC] = uint64(pc) }
func (rv64) sp(r *registers) arch.Addr                   { return arch.Addr(r[rvSP]) }
func (rv64) addSP(r *registers, n int)                   { r[rvSP] += uint64(n) }
func (rv64) threadPointer(_ int, r *registers) arch.Addr { return arch.Addr(r[rvTP]) }

// breakpointCode implements machine: TRAP_BRKPT.
func (rv64) breakpointCode() int32 { return 1 }

// exclusive implements machine.
func (rv64) exclusive(code []byte, before int, at arch.Addr) (first, last arch.Addr, found bool) {
	s := riscv.ExclusiveAround(code, uint64(at)-uint64(before), uint64(at), true)
	if s == nil {
		return 0, 0, false
	}
	return arch.Addr(s.From), arch.Addr(s.Store()), true
}

// There are no debug registers that the kernel lets tracers have.

func (rv64) watches(target.BreakKind) bool                                    { return false }
func (rv64) watchesInVain() bool                                              { return false }
func (rv64) loadDebug(int, *[numDebugRegisters]debugSlot) error               { return nil }
func (rv64) debugTriggers(int, *[numDebugRegisters]debugSlot) (uint64, error) { return 0, nil }
func (rv64) clearTriggers(int) error                                          { return nil }

func (rv64) triggersAgain(target.BreakKind) bool { return false }

// noPads implements machine.
func (rv64) noPads() error { return errors.New("there are no jump pads on RISC-V yet") }

func (rv64) leavePad(*fast.Pad, *registers, fast.Memory) (o fast.Outcome)     { return o }
func (rv64) faultInPad(*fast.Pad, *registers, fast.Memory, *fast.Reader) bool { return false }
func (rv64) padProcessor() (p fast.Processor)                                 { return p }
func (rv64) counter() uint64                                                  { return 0 }
func (rv64) threadNumberAt() uint64                                           { return 0 }

// callStubSize is the room that callStub takes at most.
const callStubSize = 160

// ecallInstruction is ecall.
var ecallInstruction = []byte{0x73, 0, 0, 0}

func (rv64) syscallCode() []byte { return ecallInstruction }

// setCall implements machine. The number is passed in a7, which the kernel leaves as it is, and the result is in a0.
func (m rv64) setCall(r *registers, from arch.Addr, number uint64, args []uint64) {
	m.setPC(r, from)
	r[rvA7] = number
	copy(r[rvA0:rvA7], args)
}

func (rv64) callResult(r *registers) uint64     { return r[rvA0] }
func (rv64) callNumber(_ int, r *registers) int { return int(int32(r[rvA7])) }

func (rv64) cancelCall(r *registers) {
	number := int64(noSyscall)
	r[rvA7] = uint64(number)
}

func (m rv64) rewindCall(r *registers) { m.setPC(r, m.pc(r)-arch.Addr(len(ecallInstruction))) }

// callStub implements machine. No jump goes anywhere without a register: t6 is lost to a thread whose tracer is killed while the
// thread makes a call for it.
func (m rv64) callStub(r *registers, blocked uint64, at arch.Addr) []byte {
	const auipc, addi, ld, jr = 0x17, 0x13, 0x3003, 0x67
	const a0, a1, a2, a3, a4, a5, a7, t6 = 10, 11, 12, 13, 14, 15, 17, 31
	li := func(register, value uint32) uint32 { return value<<20 | register<<7 | addi }
	data := []uint64{blocked}
	words := []uint32{
		ecallWord,
		li(a7, 135), // rt_sigprocmask
		li(a0, 2),   // SIG_SETMASK
		a1<<7 | auipc,
		(callData-3*4)<<20 | a1<<15 | a1<<7 | addi, // &blocked
		li(a2, 0),
		li(a3, 8),
		ecallWord,
		t6<<7 | auipc,
	}
	base := uint32(len(words)-1) * 4
	for _, register := range []uint32{a0, a1, a2, a3, a4, a5, a7, t6} {
		value := r[register]
		if register == t6 {
			value = uint64(m.pc(r))
		}
		words = append(words, (callData+uint32(len(data))*8-base)<<20|t6<<15|register<<7|ld)
		data = append(data, value)
	}
	words = append(words, t6<<15|jr)
	code := make([]byte, callData, callStubSize)
	for i, w := range words {
		binary.LittleEndian.PutUint32(code[i*4:], w)
	}
	for _, d := range data {
		code = binary.LittleEndian.AppendUint64(code, d)
	}
	return code
}

const (
	ecallWord = 0x73
	callData  = 80 // where the stub has its data
)

// hidesRestart implements machine.
func (rv64) hidesRestart(code []byte) bool { return bytes.Equal(code, ecallInstruction) }

func (rv64) renumber(r *registers, number int) { r[rvA7] = uint64(int64(number)) }

// correct implements machine: the registers that are put back are of a stop in front of the call.
func (rv64) correct(_, _ *registers) {}

// keep implements callKeeper: a system call discards the vectors of its thread.
func (rv64) keep(tid int) func() {
	state := make([]byte, vectorRoom)
	n, err := sys.GetRegSet(tid, sys.RegSetVector, state)
	if err != nil {
		return func() {}
	}
	return func() { sys.SetRegSet(tid, sys.RegSetVector, state[:n]) }
}
