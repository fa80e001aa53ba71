package query

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"tracewell/itrace/index"
)

// Position reads a position as users write it: 1200 or #1200 is that in front of instruction 1200, :300 that of line 300 of the
// trace, @5000 that of the first instruction at this time or later, begin and end those of the range. Anything else is a place in
// code (see Code), and means the first time that it is executed, at or behind another position.
func (t *Trace) Position(ctx context.Context, text string, behind int64) (int64, error) {
	switch text {
	case "begin":
		return t.From, nil
	case "end":
		return t.To, nil
	case "":
		return 0, fmt.Errorf("an empty position: %s", positions)
	}
	kind, digits := text[0], strings.TrimLeft(text[:1], "#:@")+text[1:]
	n, err := strconv.ParseUint(digits, 10, 63)
	switch {
	case err != nil && (kind == '#' || kind == ':' || kind == '@'):
		return 0, fmt.Errorf("%q is no position: %s", text, positions)
	case err != nil:
		return t.firstAt(ctx, text, behind)
	case kind == ':' && (n == 0 || int64(n) > t.Lines):
		return 0, fmt.Errorf("there is no line %d: the trace has %d", n, t.Lines)
	case kind == ':':
		return t.AtLine(int64(n))
	case kind == '@' && t.LastTime == 0:
		return 0, &Untold{"times"}
	case kind == '@':
		return t.AtTime(n)
	case int64(n) > t.Instructions:
		return 0, fmt.Errorf("there is no instruction %d: the last is %d", n, t.Instructions-1)
	}
	return int64(n), nil
}

// positions are the forms of a position, for messages.
const positions = "want the number of an instruction as 1200, a line of the trace as :300, a time as @5000, a place in code, " +
	"begin or end"

// firstAt is the position at which a place in code is executed first, at or behind another.
func (t *Trace) firstAt(ctx context.Context, text string, behind int64) (int64, error) {
	code, err := t.Code(text)
	if err != nil {
		return 0, err
	}
	position := int64(-1)
	err = t.Each(ctx, behind, t.Instructions, code.wants(), func(f index.Found) bool {
		if !t.concerns(f.Item) {
			return true
		}
		position = f.Instruction
		return false
	})
	if err == nil && position < 0 {
		err = fmt.Errorf("%s is not executed from %s on", text, positionName(behind))
	}
	return position, err
}

// positionName is a position in words.
func positionName(n int64) string {
	if n <= 0 {
		return "the beginning"
	}
	return fmt.Sprintf("instruction %d", n)
}

// Code is a place in code, which may have several addresses: a line has one for each stretch of code that the compiler made of it.
type Code struct {
	Text  string // as it was written
	Addrs []uint64
}

// Code reads a place: an address as 0x80000000, or with names of the program a function, FUNCTION+BYTES, FILE:LINE or any other
// location that GDB's break takes. A function is its first instruction, not what follows its prologue.
func (t *Trace) Code(text string) (Code, error) {
	if addr, ok := hexadecimal(text); ok {
		return Code{text, []uint64{addr}}, nil
	}
	if t.Program == nil {
		return Code{}, fmt.Errorf("%q is no address as 0x80000000; for symbols and lines name the program by --exec", text)
	}
	locations, err := t.Program.Locate("*" + text)
	if err != nil {
		locations, err = t.Program.Locate(text)
	}
	if err != nil {
		// What is written in assembly may have symbols that are no functions.
		if addr, _, unnamed := t.address(text); unnamed == nil {
			return Code{text, []uint64{addr}}, nil
		}
		return Code{}, err
	}
	code := Code{Text: text}
	for _, l := range locations {
		code.Addrs = append(code.Addrs, uint64(l.Addr))
	}
	return code, nil
}

// wants is what to look for.
func (c Code) wants() (wants []index.Want) {
	for _, addr := range c.Addrs {
		wants = append(wants, index.Want{What: index.Execution, Addr: addr, Size: 1})
	}
	return wants
}

// hexadecimal reads an address, which has 0x in front.
func hexadecimal(text string) (uint64, bool) {
	digits, ok := strings.CutPrefix(strings.ToLower(text), "0x")
	n, err := strconv.ParseUint(digits, 16, 64)
	return n, ok && err == nil
}

// Object is a register or a range of memory.
type Object struct {
	Text  string   // as it was written
	Names []uint32 // of a register, in the trace: several if it is written in parts; nil for memory
	Addr  uint64
	Size  uint64 // of memory in bytes, at least 1
}

// IsRegister reports whether the object is a register.
func (o *Object) IsRegister() bool { return o.Names != nil }

// Object reads a register, by any of its names, or memory: an address, a range of them as LOW..HIGH with both ends included, or
// ADDRESS,BYTES; with names of the program a variable, and VARIABLE+BYTES for an address. A register is meant where a variable has
// the same name, unless there is & in front.
func (t *Trace) Object(text string) (Object, error) {
	if !strings.HasPrefix(text, "&") {
		slot, names := t.Execution.Named(t.Trace, text)
		if slot != nil && len(names) == 0 {
			return Object{}, &Untold{"register " + text}
		}
		if len(names) > 0 {
			return Object{Text: text, Names: names}, nil
		}
	}
	if len(t.Names) == 0 && t.Program == nil && !strings.HasPrefix(strings.TrimPrefix(text, "&"), "0x") {
		return Object{}, &Untold{"registers"}
	}
	low, high, isRange := strings.Cut(text, "..")
	start, count, isCount := strings.Cut(text, ",")
	o := Object{Text: text}
	var err error
	switch {
	case isRange:
		var last uint64
		if o.Addr, _, err = t.address(low); err == nil {
			last, _, err = t.address(high)
		}
		// All of memory is a byte more than a size can say, of which nobody will miss the last.
		if o.Size = max(last-o.Addr, last-o.Addr+1); err == nil && last < o.Addr {
			err = fmt.Errorf("%s is no range: it ends before it begins", text)
		}
	case isCount:
		if o.Addr, _, err = t.address(start); err == nil {
			o.Size, err = strconv.ParseUint(count, 0, 63)
		}
		if err == nil && o.Size == 0 {
			err = fmt.Errorf("%s is no range: it has no bytes", text)
		}
	default:
		o.Addr, o.Size, err = t.address(text)
	}
	return o, err
}

// address reads an address or the name of a variable, and returns how many bytes that has: 1 of an address.
func (t *Trace) address(text string) (addr, size uint64, err error) {
	text = strings.TrimPrefix(text, "&")
	if addr, ok := hexadecimal(text); ok {
		return addr, 1, nil
	}
	name, offset, isSum := strings.Cut(text, "+")
	if t.Program == nil {
		return 0, 0, fmt.Errorf("%q is neither a register of the trace nor an address as 0x1000; for variables name the program "+
			"by --exec", text)
	}
	if s, ok := t.Program.Symbol(name); ok {
		addr, size = uint64(s.Addr), max(s.Size, 1)
	} else if addr, size, ok = t.labelsOf().named(name); !ok {
		return 0, 0, fmt.Errorf("%q is neither a register of the trace nor a symbol of the program", name)
	}
	if !isSum {
		return addr, size, nil
	}
	n, err := strconv.ParseUint(offset, 0, 63)
	if err != nil {
		return 0, 0, fmt.Errorf("%q: the offset is no number", text)
	}
	return addr + n, 1, nil
}
