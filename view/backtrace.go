package view

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"tracewell/arch"
	"tracewell/internal/text"
	"tracewell/symbol"
	"tracewell/symbol/unwind"
)

// Backtrace is the calls that were active when a frame was made, as far as the registers and the stack in it tell.
type Backtrace struct {
	Calls []Call // the innermost first; none if the frame has no stack
	End   error  // why there are no more; nil if the last is the outermost function of its thread
}

// Call is an active call: what is known of the place where it goes on. Its file and line are those of the call that it waits for.
type Call struct {
	symbol.Location      // Addr is the pc; an inlined call has that of the function that it is in
	Signal          bool // the kernel called a signal handler here
	Guessed         bool // it was found by the frame pointer: there may be calls between it and the one before
}

// GDB's words for what has no name.
const (
	unknown  = "??"
	bySignal = "<signal handler called>"
)

// Module is the name of the file that has the code, without its folder; "" for code outside of all files.
func (c *Call) Module() string {
	if c.Object == nil {
		return ""
	}
	return filepath.Base(c.Object.Path())
}

// Place is the source line as "queue.c:12"; without debug information the module, and if not even the function is known the address
// in its file, "server+0x4aef8".
func (c *Call) Place() string {
	switch {
	case c.File != "":
		return fmt.Sprintf("%s:%d", filepath.Base(c.File), c.Line)
	case c.Object == nil:
		return unknown
	case c.Function == "":
		return c.Module() + "+" + (c.Addr - c.Object.Bias()).String()
	}
	return c.Module()
}

// String is "push (queue.c:12)", with "??" for what is not known, as in GDB.
func (c *Call) String() string {
	switch {
	case c.Signal:
		return bySignal
	case c.Function == "":
		return unknown + " (" + c.Place() + ")"
	}
	return c.Function + " (" + c.Place() + ")"
}

// CutOff stands for the calls that a backtrace lacks at its outer end.
const CutOff = "[truncated]"

// AppendText appends a backtrace on one line, the innermost call first: "push (queue.c:12) ← main (queue.c:31)". One that is cut
// off ends in CutOff.
func (b *Backtrace) AppendText(dst []byte) []byte {
	for i := range b.Calls {
		if i > 0 {
			dst = append(dst, callerMark...)
		}
		dst = append(dst, b.Calls[i].String()...)
	}
	if b.End == nil {
		return dst
	}
	if len(b.Calls) > 0 {
		dst = append(dst, callerMark...)
	}
	return append(dst, CutOff...)
}

// Folded is a backtrace as programs for flame graphs read it, "main;push": the outermost call first, without lines and addresses,
// which would make many narrow towers of one function.
func (b *Backtrace) Folded() string {
	var names []string
	if b.End != nil {
		names = append(names, CutOff)
	}
	for i := len(b.Calls) - 1; i >= 0; i-- { // what is between two semicolons is a call
		names = append(names, text.Visible(strings.ReplaceAll(b.Calls[i].Name(), ";", ":")))
	}
	return strings.Join(names, ";")
}

// Name is the function of a call; code without a name goes by its module, in brackets as perf has it.
func (c *Call) Name() string {
	switch {
	case c.Signal:
		return bySignal
	case c.Function != "":
		return c.Function
	case c.Object != nil:
		return "[" + c.Module() + "]"
	}
	return "[unknown]"
}

// callerMark stands between a call and its caller.
const callerMark = " ← "

// unwinding is what a Reader has learnt of the program's code for backtraces.
type unwinding struct {
	*unwind.Unwinder
	calls map[arch.Addr][]symbol.Location // by unwind.Frame.Code
}

// mostPlaces bounds how many addresses an unwinding keeps the calls of: a damaged stack can lead anywhere.
const mostPlaces = 1 << 14

// at returns the calls of a frame. Looking them up takes far longer than unwinding, and stacks of one program have few different.
func (u *unwinding) at(program *symbol.Program, code arch.Addr) []symbol.Location {
	calls, known := u.calls[code]
	if !known {
		if len(u.calls) == mostPlaces {
			clear(u.calls)
		}
		calls = program.Calls(code)
		u.calls[code] = calls
	}
	return calls
}

// Backtrace unwinds the stack in the frame. There are no calls without symbols, where the pc is not known, and where the stack was
// not asked for and nothing else in the frame leads to a caller.
func (r *Reader) Backtrace() Backtrace {
	v, f := r.view, r.frame
	if v.Symbols == nil || v.Layout == nil || !f.HasPC {
		return Backtrace{}
	}
	if r.unwinding.Unwinder == nil {
		r.unwinding = unwinding{unwind.New(v.Symbols, v.Layout), make(map[arch.Addr][]symbol.Location)}
	}
	frames, end := r.unwinding.Stack(f.PC, r.registers, f)
	if len(frames) < 2 && !r.collection.stack {
		return Backtrace{}
	}
	if errors.Is(end, unwind.ErrOutermost) {
		end = nil
	}
	b := Backtrace{End: end}
	for _, frame := range frames {
		for _, at := range r.unwinding.at(v.Symbols, frame.Code) {
			at.Addr = frame.PC
			b.Calls = append(b.Calls, Call{at, frame.Signal, frame.Guessed})
		}
	}
	return b
}

// CollectsStacks reports whether some tracepoint collects the stack for backtraces.
func (v *View) CollectsStacks() bool {
	for _, c := range v.collected().of {
		if c.stack {
			return true
		}
	}
	return false
}
