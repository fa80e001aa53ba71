package jit

import asm "tracewell/internal/asm/amd64"

// Place is where a register of the program or a trace state variable is. The zero value is nowhere.
type Place struct {
	kind  placeKind
	reg   asm.Reg
	disp  int32
	value int64
	mem   asm.Mem
	width asm.Width
	emit  func(dst asm.Reg)
}

type placeKind uint8

const (
	nowhere placeKind = iota
	known
	sum
	stored
	computed
)

// In is a register that holds the value.
func In(r asm.Reg) Place { return Sum(r, 0) }

// Sum is a register that holds the value less disp: for the stack pointer of the program RSP, once something was pushed.
func Sum(r asm.Reg, disp int32) Place { return Place{kind: sum, reg: r, disp: disp} }

// Stored is memory that holds w bytes of the value, zero-extended from there. It can be read without a fault. Its registers must
// be none that the expression changes.
func Stored(w asm.Width, m asm.Mem) Place { return Place{kind: stored, width: w, mem: m} }

// Known is a value that does not change, as the pc of a tracepoint.
func Known(v int64) Place { return Place{kind: known, value: v} }

// Computed is a value that code puts into a register when it is wanted. The code may change that register and the flags, and no
// other register.
func Computed(emit func(dst asm.Reg)) Place { return Place{kind: computed, emit: emit} }
