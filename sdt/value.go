package sdt

import (
	"encoding/binary"
	"math"
	"strconv"

	"tracewell/arch"
)

// Env is a thread at a probe.
type Env interface {
	// Register returns a register by its name in GDB's target descriptions, of a wider one the low eight bytes; false if
	// there is none.
	Register(name string) (uint64, bool)
	// ReadMemory reads the readable prefix of p at addr and returns its length.
	ReadMemory(addr arch.Addr, p []byte) int
}

// Evaluator finds the values of arguments. It holds what must be kept from one call to the next for none of them to allocate,
// so it is for one goroutine at a time. The zero value is ready to use.
type Evaluator struct {
	word [8]byte
}

// AppendText appends the arguments of a probe as "arg0=5 arg1=0x7ffe4410", numbered as GDB's $_probe_arg are. Signed integers
// and those of less than eight bytes are decimal; unsigned ones of eight bytes, which is what pointers are in a note, are
// hexadecimal. Instead of a value it is "?" where the memory or register could not be read, and the argument as the note has
// it, in angle brackets, where that cannot be understood. The bias is how far the object lies from where it was linked.
func (e *Evaluator) AppendText(dst []byte, arguments []Argument, env Env, bias arch.Addr) []byte {
	for i := range arguments {
		a := &arguments[i]
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, "arg"...)
		dst = strconv.AppendInt(dst, int64(i), 10)
		dst = append(dst, '=')
		if a.Err != nil {
			dst = append(dst, '<')
			dst = append(dst, a.Text...)
			dst = append(dst, '>')
			continue
		}
		v, ok := e.Value(a, env, bias)
		if !ok {
			dst = append(dst, '?')
			continue
		}
		dst = a.appendValue(dst, v)
	}
	return dst
}

// Value finds the bits of an argument that has no error, sign-extended to eight bytes if it is signed; false if they cannot be
// read.
func (e *Evaluator) Value(a *Argument, env Env, bias arch.Addr) (uint64, bool) {
	if !a.Linked {
		bias = 0
	}
	switch a.Place {
	case Constant:
		return a.extend(uint64(a.Displacement) + uint64(bias)), true
	case InRegister:
		v, ok := a.Register.value(env)
		return a.extend(v), ok
	}
	addr, ok := a.address(env, bias)
	if !ok || env.ReadMemory(addr, e.word[:a.Size]) < a.Size {
		return 0, false
	}
	clear(e.word[a.Size:])
	return a.extend(binary.LittleEndian.Uint64(e.word[:])), true
}

// address computes the address of an operand in memory.
func (a *Argument) address(env Env, bias arch.Addr) (arch.Addr, bool) {
	sum := uint64(a.Displacement) + uint64(bias)
	base, ok1 := a.Register.value(env)
	index, ok2 := a.Index.value(env)
	segment, ok3 := Register{Name: a.Segment, Size: 8}.value(env)
	sum += base + index*uint64(a.Scale) + segment
	return arch.Addr(sum), ok1 && ok2 && ok3
}

// value is the part of a register, zero-extended; 0 for none.
func (r Register) value(env Env) (uint64, bool) {
	if r.Name == "" {
		return 0, true
	}
	v, ok := env.Register(r.Name)
	return v >> r.Shift & (math.MaxUint64 >> (64 - 8*r.Size)), ok
}

// extend cuts v to the size of the argument and extends it to eight bytes.
func (a *Argument) extend(v uint64) uint64 {
	unused := 64 - 8*a.Size
	if a.Signed {
		return uint64(int64(v<<unused) >> unused)
	}
	return v << unused >> unused
}

func (a *Argument) appendValue(dst []byte, v uint64) []byte {
	switch {
	case a.Float && a.Size == 4:
		return strconv.AppendFloat(dst, float64(math.Float32frombits(uint32(v))), 'g', -1, 32)
	case a.Float:
		return strconv.AppendFloat(dst, math.Float64frombits(v), 'g', -1, 64)
	case a.Signed:
		return strconv.AppendInt(dst, int64(v), 10)
	case a.Size < 8:
		return strconv.AppendUint(dst, v, 10)
	}
	return strconv.AppendUint(append(dst, "0x"...), v, 16)
}
