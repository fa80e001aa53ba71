package unwind

import (
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/symbol"
	"tracewell/tdesc"
)

// Frame is one active call, or the code that returns from a signal handler.
type Frame struct {
	PC      arch.Addr // where it goes on: behind the call, but for the innermost frame and one that a signal interrupted
	Code    arch.Addr // an address within the instruction that it is at, which the call's function and line belong to
	CFA     arch.Addr // the caller's stack pointer before the call, 0 if it is not known
	Signal  bool      // the kernel's way back from a signal handler: the next frame is the code that was interrupted
	Guessed bool      // found by the frame pointer: there may be others between it and the one before

	registers []register // by DWARF's numbers
}

// register is the value of a register in a frame, or why it is not known.
type register struct {
	value   uint64
	missing error
}

// Register is the value that a register had in the frame, by DWARF's number; false if it is not known.
func (f *Frame) Register(n int) (value uint64, ok bool) {
	if n < 0 || n >= len(f.registers) {
		return 0, false
	}
	return f.registers[n].value, f.registers[n].missing == nil
}

// Memory is the memory that was collected.
type Memory interface {
	// ReadMemory copies memory from addr on to p, as far as it is known without a gap, and returns how many bytes that is.
	ReadMemory(addr arch.Addr, p []byte) int
}

// ErrOutermost is why a complete backtrace ends.
var ErrOutermost = errors.New("outermost frame")

// MissingError says that a backtrace would go on through memory that was not collected.
type MissingError struct{ Addr arch.Addr }

// Error implements error.
func (e *MissingError) Error() string { return fmt.Sprintf("memory at %v was not collected", e.Addr) }

// What ends a backtrace early, or leaves a register without a value.
var (
	errUncollected = errors.New("was not collected")
	errLost        = errors.New("is not saved by the function")
	errInner       = errors.New("the next frame would lie below this one")
	errDeep        = fmt.Errorf("there are more than %d frames", deepest)
)

// deepest bounds the number of frames. A frame on a stack takes two words, of which the longest block of a trace file has 4096.
const deepest = 1 << 13

// Unwinder unwinds stacks of one program, whose files must not change meanwhile. It belongs to one goroutine.
type Unwinder struct {
	program    *symbol.Program
	isa        *arch.ISA
	slots      []*tdesc.Slot // by DWARF's numbers, nil for a register that the target lacks or that is wider than a number
	pc, sp, fp int           // the roles' numbers among them, -1 for none
	machine    ax.Machine
	known      map[arch.Addr]description // by Frame.Code
}

// New returns an Unwinder for a program whose registers are laid out so. The program's file says what machine it is for.
func New(program *symbol.Program, layout *tdesc.Layout) *Unwinder {
	file := program.Main().File()
	isa := layout.ISA(file.Arch(), file.Arch().Name, file.Order())
	u := &Unwinder{program: program, isa: isa, pc: -1, sp: -1, fp: -1, known: make(map[arch.Addr]description)}
	for n, name := range isa.Machine.DWARF {
		slot := layout.ByName(name)
		if slot != nil && slot.Size > 8 {
			slot = nil
		}
		u.slots = append(u.slots, slot)
		if slot == nil {
			continue
		}
		switch slot.Reg.Num {
		case isa.PC:
			u.pc = n
		case isa.SP:
			u.sp = n
		case isa.FP:
			u.fp = n
		}
	}
	return u
}

// Stack returns the frames, the innermost first, and why there are no more: ErrOutermost, a *MissingError, or another error. The pc
// is that of the innermost frame; the registers are a prefix of the g packet, in the target's byte order.
func (u *Unwinder) Stack(pc arch.Addr, registers []byte, memory Memory) ([]Frame, error) {
	at := Frame{PC: pc, Code: pc, registers: make([]register, len(u.slots))}
	for n, slot := range u.slots {
		at.registers[n].missing = errUncollected
		if slot == nil {
			continue
		}
		if b, ok := slot.Bytes(registers); ok {
			at.registers[n] = register{value: arch.Uint(b, u.isa.Order)}
		}
	}
	var frames []Frame
	for len(frames) < deepest {
		caller, err := u.caller(&at, memory)
		if n := len(frames); n > 0 && err == nil {
			switch callee := &frames[n-1]; {
			case callee.Signal || at.Signal: // a handler may run on a stack of its own
			case at.CFA == callee.CFA && at.PC == callee.PC:
				return frames, errInner
			case at.CFA < callee.CFA: // equal are those of a function without a frame of its own and its caller
				err = errInner
			}
		}
		frames = append(frames, at)
		if err != nil {
			return frames, err
		}
		at = caller
	}
	return frames, errDeep
}
