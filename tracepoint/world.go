package tracepoint

import (
	"errors"
	"fmt"
	"strings"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/trace"
)

// The collector is the world of the expressions that it performs. Its methods that record are in collect.go, those by which
// an expression learns something are here.
var _ ax.Env = (*collector)(nil)

// Register is part of ax.Env.
func (c *collector) Register(r arch.Reg) (uint64, error) { return c.snapshot.Register(r) }

// Ref is part of ax.Env.
func (c *collector) Ref(addr arch.Addr, size int) (uint64, error) {
	b := c.word[:size]
	if n := c.snapshot.ReadMemory(addr, b); n < size {
		return 0, fmt.Errorf("%d of them readable", n)
	}
	order := c.engine.layout.Order
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
func (c *collector) Variable(n uint16) int64 {
	v, _ := c.engine.variable(trace.VariableNumber(n))
	return v
}

// SetVariable is part of ax.Env.
func (c *collector) SetVariable(n uint16, v int64) { c.engine.setVariable(trace.VariableNumber(n), v) }

// maxPrinted is how long a string may be that an expression prints.
const maxPrinted = 4096

// Printf is part of ax.Env. The function and channel that the user set are not looked at, as in gdbserver.
func (c *collector) Printf(_, _ uint64, format string, args []int64) error {
	text, err := ax.FormatPrintf(format, args, c.printedString)
	if err == nil && c.engine.layout.Print != nil {
		c.engine.layout.Print(text)
	}
	return err
}

// printedString reads a string that ends in a zero byte.
func (c *collector) printedString(addr arch.Addr) (string, error) {
	var text strings.Builder
	var chunk [stringChunk]byte
	for text.Len() < maxPrinted {
		s, end := c.readString(addr+arch.Addr(text.Len()), chunk[:])
		text.Write(s)
		if whole, ok := strings.CutSuffix(text.String(), "\x00"); ok {
			return whole, nil
		}
		if end {
			return "", errors.New("cannot be read up to its end")
		}
	}
	return text.String(), nil
}
