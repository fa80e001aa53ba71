package tracepoint

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/trace"
)

// The worker is the world of the expressions that it evaluates. Its methods that record are in worker.go, those by which an
// expression learns something are here.
var _ ax.Env = (*worker)(nil)

// Register is part of ax.Env.
func (w *worker) Register(r arch.Reg) (uint64, error) { return w.snapshot.Register(r) }

// Ref is part of ax.Env.
func (w *worker) Ref(addr arch.Addr, size int) (uint64, error) {
	b := w.word[:size]
	if n := w.snapshot.ReadMemory(addr, b); n < size {
		return 0, fmt.Errorf("%d of them readable", n)
	}
	order := w.engine.layout.Order
	switch size {
	case 1:
		return uint64(b[0]), nil
	case 2:
		return uint64(order.Uint16(b)), nil
	case 4:
		return uint64(order.Uint32(b)), nil
	default:
		return order.Uint64(b), nil
	}
}

// Variable is part of ax.Env.
func (w *worker) Variable(n uint16) int64 {
	if v, ok := w.identity(trace.VariableNumber(n)); ok {
		return v
	}
	v, _ := w.engine.Variable(trace.VariableNumber(n))
	return v
}

// identity is the value of a built-in variable that tells who made the hit.
func (w *worker) identity(n trace.VariableNumber) (int64, bool) {
	switch (*w.engine.builtins.Load())[n] {
	case trace.ProcessID:
		return int64(w.snapshot.ID().PID), true
	case trace.ThreadID:
		return int64(w.snapshot.ID().TID), true
	}
	return 0, false
}

// SetVariable is part of ax.Env.
func (w *worker) SetVariable(n uint16, v int64) { w.engine.setVariable(trace.VariableNumber(n), v) }

// Printf is part of ax.Env. The function and channel that the user set are not looked at, as in gdbserver.
func (w *worker) Printf(_, _ uint64, format string, args []int64) error {
	text, err := ax.FormatPrintf(format, args, w.printedString)
	if err == nil {
		w.engine.print(text)
	}
	return err
}

// print hands on what an expression prints.
func (e *Engine) print(text string) {
	if e.layout.Print != nil {
		e.layout.Print(text)
	}
}

// printedString is an ax.StringReader.
func (w *worker) printedString(addr arch.Addr, wide bool, limit int) (string, error) {
	unit := 1
	if wide {
		unit = 4
	}
	var text []byte
	var chunk [stringChunk]byte
	for left := limit * unit; left > 0; {
		wanted := chunk[:min(left, len(chunk))]
		n := w.snapshot.ReadMemory(addr, wanted)
		for b := wanted[:n]; len(b) >= unit; b = b[unit:] {
			character := rune(b[0])
			if wide {
				character = rune(w.engine.layout.Order.Uint32(b))
				text = utf8.AppendRune(text, character)
			} else {
				text = append(text, b[0])
			}
			if character == 0 {
				return string(text[:len(text)-1]), nil
			}
		}
		if n < len(wanted) {
			return "", errors.New("cannot be read up to its end")
		}
		addr, left = addr+arch.Addr(n), left-n
	}
	return string(text), nil
}
