package ax

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"tracewell/arch"
)

// FuzzDecode feeds Decode any bytes. What it accepts must survive the text form and be what its instructions say.
func FuzzDecode(f *testing.F) {
	addPrograms(f)
	f.Fuzz(func(t *testing.T, code []byte) {
		p, err := Decode(code)
		if err != nil {
			return
		}
		text := p.String()
		again, err := Assemble(text)
		if err != nil {
			t.Fatalf("% x: its disassembly does not assemble: %v\n%s", code, err, text)
		}
		if !bytes.Equal(again, code) {
			t.Fatalf("% x: assembled again as % x\n%s", code, again, text)
		}
		var encoded []byte
		for in := range p.Instructions() {
			if encoded, err = in.Append(encoded); err != nil {
				t.Fatalf("% x: %v: %v", code, in, err)
			}
		}
		if !bytes.Equal(encoded, code) {
			t.Fatalf("% x: its instructions encode to % x", code, encoded)
		}
	})
}

// FuzzAssemble feeds Assemble any text. What it accepts must decode, and its disassembly mean the same.
func FuzzAssemble(f *testing.F) {
	f.Add("   0  const8 1\n   2  if_goto 6\n   5  end\n   6  goto 0\n")
	f.Add("# loop\nagain: reg 0x6 # rbp\n dup\n if_goto again\n printf 1 `%d\\n`\n end")
	f.Add("printf 0 \"\\x00\\n`\"\nend")
	f.Add("7 goto 0x7")
	f.Fuzz(func(t *testing.T, text string) {
		code, err := Assemble(text)
		if err != nil {
			return
		}
		p, err := Decode(code)
		if err != nil {
			t.Fatalf("%q: assembled as % x, which does not decode: %v", text, code, err)
		}
		again, err := Assemble(p.String())
		if err != nil || !bytes.Equal(again, code) {
			t.Fatalf("%q: % x, then % x, %v\n%s", text, code, again, err, p)
		}
	})
}

// hostile is an Env whose answers come from the fuzzer and that does what it may: it fails and it spoils its arguments. It
// counts how often it is called.
type hostile struct {
	answers []byte
	calls   int
}

var errHostile = errors.New("hostile")

// next makes a value of the next three answers; the others repeat it.
func (h *hostile) next() uint64 {
	var v uint64
	for range 3 {
		var b byte
		if len(h.answers) > 0 {
			b = h.answers[h.calls%len(h.answers)]
		}
		v = v<<29 ^ uint64(int64(int8(b)))
		h.calls++
	}
	return v
}

// answer fails now and then.
func (h *hostile) answer() (uint64, error) {
	if v := h.next(); v%61 != 7 {
		return v, nil
	}
	return 0, errHostile
}

func (h *hostile) Register(arch.Reg) (uint64, error)     { return h.answer() }
func (h *hostile) Ref(arch.Addr, int) (uint64, error)    { return h.answer() }
func (h *hostile) Variable(uint16) int64                 { return int64(h.next()) }
func (h *hostile) SetVariable(uint16, int64)             {}
func (h *hostile) TraceVariable(uint16)                  {}
func (h *hostile) TraceMemory(_ arch.Addr, size uint64)  { mustNotBeZero(size) }
func (h *hostile) TraceString(_ arch.Addr, limit uint64) { mustNotBeZero(limit) }

func (h *hostile) Printf(_, _ uint64, _ string, args []int64) error {
	for i := range args {
		args[i] = -1
	}
	_ = append(args, -1, -1, -1) // must not reach live cells
	return nil
}

func mustNotBeZero(size uint64) {
	if size == 0 {
		panic("told to record nothing")
	}
}

// FuzzRun runs any program in any world. It must end, agree with the reference, and fail only as its requirements foretell.
func FuzzRun(f *testing.F) {
	addPrograms(f)
	f.Fuzz(func(t *testing.T, code []byte) {
		p, err := Decode(code)
		if err != nil {
			return
		}
		const budget = 500
		m, env := Machine{Budget: budget}, &hostile{answers: code}
		got, err := m.Value(p, env)
		if limit := 3 * (len(code) + budget); env.calls > limit {
			t.Fatalf("the world was asked %d times, at most %d were due\n%s", env.calls, limit, p)
		}
		if !errors.Is(err, ErrStepLimit) {
			r := reference{code: code, env: &hostile{answers: code}}
			want, ok, gaveUp := r.result(len(code) + budget)
			if gaveUp || ok != (err == nil) || ok && got != want {
				t.Fatalf("the Machine says %d, %v; the reference %d, %v, gave up %v\n%s", got, err, want, ok, gaveUp, p)
			}
		}
		foretold := p.Requirements().Flaws
		if len(foretold) > 0 {
			return
		}
		for _, kind := range []error{ErrStackUnderflow, ErrStackOverflow, ErrUnhandledOp} {
			if errors.Is(err, kind) {
				t.Fatalf("without flaws, and yet: %v\n%s", err, p)
			}
		}
	})
}

// FuzzFormatPrintf feeds FormatPrintf any format. With the count of arguments that it asks for it must not fail for want of
// them.
func FuzzFormatPrintf(f *testing.F) {
	f.Add("%-+ #08.3lld %s\\n%%", int64(-1), int64(0x1000))
	f.Add(`\x25c%p\101`, int64(0), int64(1))
	f.Add("%#.0o%.0x%hhX", int64(0), int64(255))
	f.Add("%-5.4ls%lc", int64(1), int64(0x20ac))
	f.Fuzz(func(t *testing.T, format string, a, b int64) {
		read := func(_ arch.Addr, wide bool, limit int) (string, error) {
			if wide {
				return strings.Repeat("€", min(limit, 2)), nil
			}
			return "text"[:min(limit, 4)], nil
		}
		for _, args := range [][]int64{{}, {a}, {a, b}} {
			text, err := FormatPrintf(format, args, read)
			if limit := len(format) + len(args)*(maxPadding+64); err == nil && len(text) > limit {
				t.Fatalf("%q with %d: %d bytes", format, args, len(text))
			}
		}
	})
}

// addPrograms gives a fuzzer GDB's samples and one of each opcode.
func addPrograms(f *testing.F) {
	for _, sample := range samples {
		f.Add(mustHex(sample.code))
	}
	for _, row := range encodings {
		f.Add(append(mustHex("2203 2205 2207"+row.code), byte(OpEnd)))
	}
	f.Add(mustHex("220a 2201 03 28 20 0002 27")) // a loop
}
