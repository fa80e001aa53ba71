package expr

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/internal/test/exprtest"
	"tracewell/symbol/container"
	"tracewell/symbol/ctype"
	"tracewell/trace"
)

// nested is a record around another one, so many times.
func nested(inner *ctype.Type, times int) *ctype.Type {
	for i := range times {
		inner = ctype.RecordOf(fmt.Sprintf("Outer%d", i), inner.Size, ctype.Field{Name: "inner", Type: inner})
	}
	return inner
}

// sizes are the lengths of the ranges that an expression's actions collect, in order.
func sizes(t *testing.T, s Scope, p *exprtest.Process, text string) string {
	t.Helper()
	c, err := Collect(text, s, container.Limits{})
	if err != nil {
		return firstLine(err)
	}
	p.Collect(t, Actions(c))
	return p.Summary(c.Registers)
}

// TestStatics: the static members of a class are collected once, and no deeper within members than GDB's output is read.
func TestStatics(t *testing.T) {
	s, p := anywhere()
	s.language = ctype.CPlusPlus
	counted := ctype.RecordOf("Derived", 4, ctype.Field{Name: "own", Type: intType}, ctype.Field{Name: "shared", Type: intType, Static: true})
	s.objects["two"] = inMemory(0x1000, ctype.RecordOf("Two", 8, ctype.Field{Name: "a", Type: counted}, ctype.Field{Name: "b", Offset: 4, Type: counted}))
	s.objects["near"] = inMemory(0x1000, nested(counted, deepestStatic))
	s.objects["far"] = inMemory(0x1000, nested(counted, deepestStatic+1))
	for text, want := range map[string]string{"two": "8 4", "near": "4 4", "far": "4"} {
		if got := sizes(t, s, p, text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestDeepContent: the elements of a slice are collected in members down to the same depth.
func TestDeepContent(t *testing.T) {
	s, p := anywhere()
	s.language = ctype.Rust
	p.Store(0x1050, "0010000000000000 0300000000000000") // of the integers 1, -1 and 0
	slice := ctype.RecordOf("&[i32]", 16, ctype.Field{Name: "data_ptr", Type: ctype.PointerTo(intType, 8)},
		ctype.Field{Name: "length", Offset: 8, Type: ctype.Int(8, false)})
	s.objects["near"] = inMemory(0x1050, nested(slice, deepestStatic))
	s.objects["far"] = inMemory(0x1050, nested(slice, deepestStatic+1))
	for text, want := range map[string]string{"near": "16 8 8 12", "far": "16"} {
		if got := sizes(t, s, p, text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestStrings: with /s a pointer to characters and a long array of them mean their text, and nothing else does.
func TestStrings(t *testing.T) {
	s, p := anywhere()
	char := &ctype.Type{Kind: ctype.Integer, Name: "char", Size: 1, Signed: true, Char: true}
	p.Store(0x5000, "61626300646566")
	p.Store(0x5008, "0050000000000000")
	s.objects["text"] = inMemory(0x5008, ctype.PointerTo(char, 8))
	s.objects["held"] = Object{Type: ctype.PointerTo(char, 8), Place: Register{3, 0, 8}}
	p.Registers[3] = 0x5000
	s.objects["line"] = inMemory(0x5000, ctype.ArrayOf(char, 7))
	s.objects["numbers"] = Object{Type: ctype.PointerTo(intType, 8), Place: Register{3, 0, 8}}
	for text, want := range map[string]string{
		"/s text":    "8 4",
		"/s2 text":   "8 2",
		"text":       "8",
		"/s held":    "registers 3; 4",
		"/s6 line":   "4",
		"/s7 line":   "7",
		"/s numbers": "registers 3",
		"/s local":   "4",
	} {
		if got := sizes(t, s, p, text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for text, end := range map[string]int{"/s0 text": 3, "/s9999999999 text": 12, "/x text": 2, "/s80text": 8, " /s0 text": 4} {
		_, err := Collect(text, s, container.Limits{})
		var wrong *Error
		start := len(text) - len(strings.TrimLeft(text, " "))
		if !errors.As(err, &wrong) || wrong.Start != start || wrong.End != end && !strings.HasPrefix(text, " ") || !strings.Contains(wrong.Problem, "is no option") {
			t.Errorf("%s: %#v, want an error from %d to %d", text, err, start, end)
		}
	}
}

// TestNoPieces: of a value of which no piece is anywhere nothing can be collected.
func TestNoPieces(t *testing.T) {
	s, p := anywhere()
	s.objects["lost"] = Object{Type: intType, Place: Pieces{{nil, 16, 0}, {Absent{"optimized out"}, 16, 0}}}
	if got := sizes(t, s, p, "lost"); got != "error: lost: optimized out" {
		t.Error(got)
	}
}

// fixedContext has registers in the byte order of the target, and nothing else.
type fixedContext map[arch.Reg]string

func (f fixedContext) Register(r arch.Reg) ([]byte, error) { return hex.DecodeString(f[r]) }

func (fixedContext) Memory(arch.Addr, int) ([]byte, error) { return nil, errors.New("no memory") }

func (fixedContext) Variable(trace.VariableNumber) (int64, error) { return 0, nil }

// TestPiecesOfBits puts values together from pieces that neither begin nor end at bytes, in both byte orders, and reads a bit-field
// of one. The bits wanted were worked out by hand.
func TestPiecesOfBits(t *testing.T) {
	for _, test := range []struct {
		order      arch.ByteOrder
		registers  fixedContext
		value, bit string
	}{
		{binary.BigEndian, fixedContext{0: "12345678", 1: "cafebabe"}, "567ebabe", "0000000b"},
		{binary.LittleEndian, fixedContext{0: "78563412", 1: "bebafeca"}, "67e5abeb", "06000000"},
	} {
		s, _ := anywhere()
		s.order = test.order
		bitty := ctype.RecordOf("struct bitty", 4, ctype.Field{Name: "bit", Type: ctype.Int(4, false), Bits: 4, Shift: 4, Offset: 0},
			ctype.Field{Name: "rest", Type: ctype.Int(4, false), Bits: 24, Shift: 0, Offset: 1})
		s.objects["bitty"] = Object{Type: bitty, Place: Pieces{{Register{0, 0, 4}, 12, 4}, {Register{1, 0, 4}, 20, 0}}}
		e, err := Compile("bitty", s)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := e.Bytes(test.registers); err != nil || hex.EncodeToString(b) != test.value {
			t.Errorf("%v: %x (%v), want %s", test.order, b, err, test.value)
		}
	}
}

// TestLocateBits: a bit-field is found without holes, and is one hole where a part of it was optimized out.
func TestLocateBits(t *testing.T) {
	s, p := anywhere()
	flags := ctype.RecordOf("struct flags", 4, ctype.Field{Name: "low", Type: ctype.Int(4, false), Bits: 3},
		ctype.Field{Name: "high", Type: ctype.Int(4, true), Bits: 5, Shift: 3})
	p.Store(0x5000, "8d000000")
	s.objects["flags"] = inMemory(0x5000, flags)
	s.objects["lost"] = Object{Type: flags, Place: Pieces{{nil, 8, 0}, {Memory{fixedAt(0x5001)}, 24, 0}}}
	for text, want := range map[string]string{
		"flags.low":  "05000000",
		"flags.high": "f1ffffff", // 10001, with a sign
	} {
		e, err := Compile(text, s)
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Locate(exprtest.Context{Process: p})
		if err != nil || len(r.Holes) > 0 || hex.EncodeToString(r.Bytes) != want {
			t.Errorf("%s: %+v (%v), want %s", text, r, err, want)
		}
	}
	if e, err := Compile("lost.low", s); err == nil {
		r, err := e.Locate(exprtest.Context{Process: p})
		if err != nil || len(r.Holes) != 1 || r.Holes[0].To != 4 || !bytes.Equal(r.Bytes, make([]byte, 4)) {
			t.Errorf("lost.low: %+v (%v), want one hole of 4 bytes", r, err)
		}
	}
}

// TestNoLength: without what its length is computed of an array has no value, rather than an empty one.
func TestNoLength(t *testing.T) {
	s, p := anywhere()
	p.Variables = map[uint16]int64{}
	s.objects["away"] = Object{Type: ctype.Int(8, true), Place: Memory{fixedAt(0x9000)}}
	e, err := Compile("local@away", s)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := e.Value(exprtest.Context{Process: p}); err == nil {
		t.Errorf("the value is %+v", v)
	}
}

// TestShortCode: where the difference of pointers is not divided, nothing of a division is in the code.
func TestShortCode(t *testing.T) {
	s, _ := anywhere()
	s.objects["bytes"] = Object{Type: ctype.PointerTo(ctype.Int(1, false), 8), Place: Register{1, 0, 8}}
	code, err := Condition("bytes - bytes", s)
	if err != nil {
		t.Fatal(err)
	}
	program, err := ax.Decode(code)
	if err != nil {
		t.Fatal(err)
	}
	for in := range program.Instructions() {
		if in.Op == ax.OpDivSigned {
			t.Errorf("% x divides by 1", code)
		}
	}
}
