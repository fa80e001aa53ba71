package tracepoint

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/trace"
)

// codes assembles expressions, whose lines may be divided by semicolons.
func codes(t *testing.T, texts ...string) (list [][]byte) {
	for _, text := range texts {
		list = append(list, expression(t, strings.ReplaceAll(text, "; ", "\n")))
	}
	return list
}

// printing makes an engine that appends what is printed to lines.
func printing(lines *[]string) *Engine {
	layout := testLayout()
	layout.Print = func(text string) { *lines = append(*lines, text) }
	return New(layout)
}

const (
	never  = "const8 0; end"
	always = "const8 7; end"
	fails  = "const8 1; const8 0; div_signed; end"
)

// TestBreakpointStops: one condition that holds or fails is enough, and commands take the place of the stop.
func TestBreakpointStops(t *testing.T) {
	hello := "const8 0; const8 0; printf 0 `hello`; end"
	for _, test := range []struct {
		about                string
		conditions, commands []string
		stop                 bool
		printed              []string
	}{
		{"nothing asked", nil, nil, true, nil},
		{"false", []string{never}, nil, false, nil},
		{"true", []string{always}, nil, true, nil},
		{"an empty stack", []string{"end"}, nil, true, nil},
		{"failing", []string{fails}, nil, true, nil},
		{"false and true", []string{never, never, always}, nil, true, nil},
		{"false and failing", []string{never, fails}, nil, true, nil},
		{"a command", nil, []string{hello}, false, []string{"hello"}},
		{"two commands", []string{always}, []string{hello, hello}, false, []string{"hello", "hello"}},
		{"a command of a hit that does not count", []string{never}, []string{hello}, false, nil},
		{"a command behind one that fails", nil, []string{fails, hello}, false,
			[]string{"Breakpoint at 0x10: divide by zero: div_signed at offset 4\n", "hello"}},
	} {
		var printed []string
		r, err := printing(&printed).CompileBreakpoint(0x10, codes(t, test.conditions...), codes(t, test.commands...))
		if err != nil {
			t.Fatal(err)
		}
		if stop := r.Hit(&fakeThread{pc: 0x10}); stop != test.stop {
			t.Errorf("%s: stop %v, want %v", test.about, stop, test.stop)
		}
		if diff := cmp.Diff(test.printed, printed); diff != "" {
			t.Errorf("%s: printed (-want +got):\n%s", test.about, diff)
		}
	}
}

// TestBreakpointRefused: what can be known to fail is refused at once.
func TestBreakpointRefused(t *testing.T) {
	e := New(testLayout())
	for _, test := range []struct {
		conditions, commands [][]byte
		want                 string
	}{
		{[][]byte{{}}, nil, "condition 1 of the breakpoint at 0x10: empty expression"},
		{codes(t, never), [][]byte{{0xff}}, "command 1 of the breakpoint at 0x10: unrecognized opcode: 0xff at offset 0"},
		{nil, codes(t, never, "const8 0; const8 0; const8 0; printf 1 `%n`; end"), "command 2 of the breakpoint at 0x10: " +
			"printf failed: printf at offset 6: printf format \"%n\": conversion \"%n\": 'n' is not one of d i u o x X c s p"},
	} {
		if _, err := e.CompileBreakpoint(0x10, test.conditions, test.commands); err == nil || err.Error() != test.want {
			t.Errorf("error %v, want %s", err, test.want)
		}
	}
}

// TestBreakpointWorld: conditions see the thread and the variables of tracepoints, which a condition may count in.
func TestBreakpointWorld(t *testing.T) {
	e := New(testLayout())
	if err := e.DefineVariable(trace.Variable{Number: 5, Initial: 40, Name: "count"}); err != nil {
		t.Fatal(err)
	}
	r, err := e.CompileBreakpoint(0x10, codes(t, `
		getv 5
		reg 1
		ref32
		add
		setv 5
		const8 43
		equal
		end`), nil)
	if err != nil {
		t.Fatal(err)
	}
	thread := &fakeThread{pc: 0x10, memory: []stretch{{0x100, []byte{1, 0, 0, 0}}}}
	thread.registers[1] = 0x100
	for hit, want := range []bool{false, false, true, false} {
		if stop := r.Hit(thread); stop != want {
			t.Errorf("hit %d: stop %v", hit, stop)
		}
	}
	if v, _ := e.Variable(5); v != 44 {
		t.Errorf("the variable is %d, want 44", v)
	}
}

// TestBreakpointWideString prints a string of wchar_t that lies in more than one chunk.
func TestBreakpointWideString(t *testing.T) {
	var printed []string
	memory := make([]byte, 4*(stringChunk+2))
	want := ""
	for i := 0; i <= stringChunk; i++ {
		testLayout().Order.PutUint32(memory[4*i:], uint32('a'+i%26))
		want += string(rune('a' + i%26))
	}
	r, err := printing(&printed).CompileBreakpoint(0x10, nil, codes(t, "const16 0x100; const8 0; const8 0; printf 1 `%ls`; end"))
	if err != nil {
		t.Fatal(err)
	}
	r.Hit(&fakeThread{pc: 0x10, memory: []stretch{{0x100, memory}}})
	if diff := cmp.Diff([]string{want}, printed); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
}

// TestBreakpointAllocatesNothing is about hits that do not count, which may be very many.
func TestBreakpointAllocatesNothing(t *testing.T) {
	e := New(testLayout())
	r, err := e.CompileBreakpoint(0x10, codes(t, never, "reg 1; ref32; const8 2; equal; end", "getv 5; end"), nil)
	if err != nil {
		t.Fatal(err)
	}
	thread := &fakeThread{pc: 0x10, memory: []stretch{{0x100, []byte{1, 0, 0, 0}}}}
	thread.registers[1] = 0x100
	var stops int
	if n := testing.AllocsPerRun(100, func() {
		if r.Hit(thread) {
			stops++
		}
	}); n != 0 || stops != 0 {
		t.Errorf("%v allocations a hit, %d stops", n, stops)
	}
}
