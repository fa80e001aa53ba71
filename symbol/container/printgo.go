package container

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"

	"tracewell/arch"
	"tracewell/symbol/ctype"
)

// Go's values are written on one line as Delve writes them: a structure, array, slice, map or interface behind its type, which what
// lies in arrays, slices and maps does not repeat (Printer.Untyped). What a pointer points to is not collected, so it is written as
// Delve writes a pointer that it does not follow. Beyond Delve, channels have their elements, and times and durations are as Go
// prints them.

// golang writes a value of Go; it is false for one that is written as in other languages.
func (s *Shapes) golang(p ctype.Printer, dst []byte, v ctype.Value, depth int) ([]byte, bool) {
	t := v.Type
	shape := s.Of(t, ctype.Go)
	typed := !p.Untyped
	p.Untyped = false
	switch {
	case s.Raw || shape != nil && (p.Memory == nil || len(v.Holes) > 0):
		return dst, false
	case shape != nil:
		return shape.golang(p, dst, shape.Read(v, p.Order, p.Memory), typed, depth), true
	case t.Kind == ctype.Record:
		return structure(p, dst, v, typed, depth), true
	case t.Kind == ctype.Array && t.Elem.Size > 0:
		return array(p, dst, v, typed, depth), true
	case len(v.Holes) > 0:
		return dst, false
	case t.Kind == ctype.Integer && t.Name == "time.Duration":
		return append(dst, time.Duration(integer(p, v)).String()...), true
	case t.Kind == ctype.Integer && t.Char && t.Size == 1: // GDB would add the letter
		return strconv.AppendInt(dst, int64(integer(p, v)), 10), true
	case t.Kind == ctype.Pointer && t.Size == 8:
		return pointerOf(p, dst, v, typed), true
	case t.Kind == ctype.Float:
		return real(p, dst, v), true
	case t.Kind == ctype.Complex:
		dst = append(real(p, append(dst, '('), v.Part(t.Elem, 0)), " + "...)
		return append(real(p, dst, v.Part(t.Elem, t.Elem.Size)), "i)"...), true
	}
	return dst, false
}

// integer is a value that is one.
func integer(p ctype.Printer, v ctype.Value) uint64 {
	return v.Type.Extend(arch.Uint(v.Bytes, p.Order))
}

// real writes a floating-point number.
func real(p ctype.Printer, dst []byte, v ctype.Value) []byte {
	bits := arch.Uint(v.Bytes, p.Order)
	if v.Type.Size == 4 {
		return strconv.AppendFloat(dst, float64(math.Float32frombits(uint32(bits))), 'f', -1, 32)
	}
	return strconv.AppendFloat(dst, math.Float64frombits(bits), 'f', -1, 64)
}

// titled writes a type if it is to be written.
func titled(dst []byte, name string, typed bool) []byte {
	if !typed {
		return dst
	}
	return append(append(dst, name...), ' ')
}

func structure(p ctype.Printer, dst []byte, v ctype.Value, typed bool, depth int) []byte {
	dst = append(titled(dst, v.Type.Name, typed), '{')
	for i, f := range v.Type.Fields() {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(append(dst, f.Name...), ": "...)
		dst = p.AppendWithin(dst, v.Part(f.Type, f.Offset), depth+1)
	}
	return append(dst, '}')
}

func array(p ctype.Printer, dst []byte, v ctype.Value, typed bool, depth int) []byte {
	t := v.Type
	p.Untyped = true
	count := t.Size / t.Elem.Size
	dst = append(titled(dst, "["+strconv.Itoa(count)+"]"+goName(t.Elem, 0), typed), '[')
	for i := range min(count, mostShown) {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = p.AppendWithin(dst, v.Part(t.Elem, i*t.Elem.Size), depth+1)
	}
	return append(unshown(dst, count), ']')
}

// unshown says how many elements are not written.
func unshown(dst []byte, count int) []byte {
	if count <= mostShown {
		return dst
	}
	return append(strconv.AppendInt(append(dst, ", ...+"...), int64(count-mostShown), 10), " more"...)
}

// pointerOf writes a pointer by its type and address.
func pointerOf(p ctype.Printer, dst []byte, v ctype.Value, typed bool) []byte {
	name, at := goName(v.Type, 0), arch.Addr(integer(p, v))
	switch {
	case v.Type.Elem.Strip() == ctype.Void:
		name = "unsafe.Pointer"
	case at == 0 && typed:
		return append(append(dst, name...), " nil"...)
	case at == 0:
		return append(dst, "*nil"...)
	case strings.Contains(name, "/"):
		name = `("` + name + `")`
	default:
		name = "(" + name + ")"
	}
	return append(append(append(append(dst, name...), '('), at.String()...), ')')
}

// golang writes a container of Go.
func (s *Shape) golang(p ctype.Printer, dst []byte, c Contents, typed bool, depth int) []byte {
	switch s.Form {
	case Text:
		return s.quoted(dst, c)
	case Interface:
		return s.within(p, dst, c, typed, depth)
	case Time:
		at, _ := s.Time(c, p)
		return append(at.AppendFormat(append(append(dst, s.Name...), '('), time.RFC3339Nano), ')')
	case Func:
		return s.function(p, dst, c)
	}
	if dst = titled(dst, s.Name, typed); c.Nil {
		if s.Form == Array && typed {
			dst = append(dst, "len: 0, cap: 0, "...)
		}
		return append(dst, "nil"...)
	}
	switch {
	case s.Form == Queue && len(c.Figures) == 1 && !c.Figures[0].Known:
		return append(dst, c.Rest...)
	case s.Form == Array && typed && c.Count >= 0:
		dst = append(strconv.AppendInt(append(dst, "len: "...), int64(c.Count), 10), ", "...)
		dst = append(s.owned(dst, c, ": "), ", "...)
	case s.Form == Queue:
		dst = append(strconv.AppendInt(dst, int64(c.Count), 10), '/')
		for _, f := range c.Figures {
			dst = append(f.append(dst), ' ')
		}
	}
	return s.golangElements(p, append(dst, '['), c, depth)
}

// golangElements writes the elements, and the bracket behind them.
func (s *Shape) golangElements(p ctype.Printer, dst []byte, c Contents, depth int) []byte {
	p.Untyped = true
	for i, e := range c.Elements[:min(len(c.Elements), mostShown)] {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		value := e.Value
		if s.Form == Map {
			var key ctype.Value
			key, value = Pair(e.Value)
			dst = append(p.AppendWithin(dst, key, depth+1), ": "...)
		}
		dst = p.AppendWithin(dst, value, depth+1)
	}
	if len(c.Elements) > mostShown {
		return append(unshown(dst, c.Count), ']')
	}
	if c.Rest != "" && len(c.Elements) > 0 {
		dst = append(dst, ", "...)
	}
	return append(append(dst, c.Rest...), ']')
}

// quoted writes a text as a literal of Go, and behind it why there is no more of it.
func (s *Shape) quoted(dst []byte, c Contents) []byte {
	b := make([]byte, 0, len(c.Elements))
	for _, e := range c.Elements {
		b = append(b, e.Value.Bytes...)
	}
	if c.Rest != "" && len(b) == 0 {
		return append(dst, s.Rest(c)...)
	}
	cut := len(b) > mostShown
	if cut {
		b = b[:mostShown]
	}
	if cut || c.Rest != "" {
		b = WholeRunes(b)
	}
	dst = strconv.AppendQuote(dst, string(b))
	if cut || c.Rest != "" {
		dst = append(dst, "..."...)
	}
	if cut {
		return dst
	}
	return append(dst, s.Rest(c)...)
}

// within writes an interface: its type, that of its value, and the value, which has its type unless that stands before it.
func (s *Shape) within(p ctype.Printer, dst []byte, c Contents, typed bool, depth int) []byte {
	if typed {
		dst = append(dst, s.Name...)
	}
	if len(c.Elements) == 0 {
		rest := cmp.Or(c.Rest, " nil")
		if !typed {
			rest = strings.TrimPrefix(rest, " ")
		}
		return append(dst, rest...)
	}
	e := c.Elements[0]
	if typed {
		dst = append(append(append(dst, '('), e.Name...), ") "...)
	}
	if strings.HasPrefix(e.Name, "*") {
		dst = append(dst, '*')
	}
	p.Untyped = typed
	return p.AppendWithin(dst, e.Value, depth+1)
}

// function writes the name of a func.
func (s *Shape) function(p ctype.Printer, dst []byte, c Contents) []byte {
	switch {
	case c.Nil:
		return append(dst, "nil"...)
	case len(c.Elements) == 0:
		return append(dst, notCollected("")...)
	}
	code := arch.Addr(p.Order.Uint64(c.Elements[0].Value.Bytes))
	if p.Symbol != nil {
		if name := p.Symbol(code); name != "" {
			return append(dst, name...)
		}
	}
	return append(dst, code.String()...)
}
