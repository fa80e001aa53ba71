package tracepoint

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/target"
	"tracewell/trace"
)

// TestBlocks collects from one thread: what is in the frame, and in which order.
func TestBlocks(t *testing.T) {
	memory := []stretch{
		{0xff, []byte{0}},
		{0x100, []byte{1, 2, 3, 4, 5, 6, 7, 8}},
		{0x200, []byte("one\x00two\x00")},
		{0x300, []byte("cut")},
	}
	const registers = " R 000100000000000044000000000000001000000000000000"
	relative := func(base arch.Reg, offset uint64) trace.Action {
		return trace.Action{Kind: trace.CollectMemory, Base: base, Offset: offset, Length: 2}
	}
	expr := func(text string) trace.Action {
		return collectExpression(t, strings.ReplaceAll(text, "; ", "\n")+"\nend")
	}
	for _, test := range []struct {
		name    string
		actions []trace.Action
		want    string
	}{
		{"nothing", nil, "1:"},
		{"static trace data, away from a marker", []trace.Action{{Kind: trace.CollectStatic}}, "1:"},
		{"registers, once, with the pc of the thread", []trace.Action{collectRegisters, collectRegisters}, "1:" + registers},
		{"memory", []trace.Action{collectMemory(0x102, 3)}, "1: M 0x102 030405"},
		{"readable prefix", []trace.Action{collectMemory(0x106, 4)}, "1: M 0x106 0708"},
		{"unreadable", []trace.Action{collectMemory(0x90, 0x20), collectMemory(0x100, 1)}, "1: M 0x100 01"},
		{"no bytes", []trace.Action{collectMemory(0x100, 0)}, "1:"},
		{"relative to a register", []trace.Action{relative(0, 1)}, "1: M 0x101 0203"},
		{"below a register", []trace.Action{relative(0, math.MaxUint64)}, "1: M 0xff 00"},
		{"the same twice", []trace.Action{collectMemory(0x100, 1), collectMemory(0x100, 2)}, "1: M 0x100 01 M 0x100 0102"},
		{"string", []trace.Action{expr("const16 0x200; const8 8; tracenz")}, "1: M 0x200 6f6e6500"},
		{"string to its limit", []trace.Action{expr("const16 0x200; const8 3; tracenz")}, "1: M 0x200 6f6e65"},
		{"string without limit", []trace.Action{expr("const16 0x204; const8 1; ext 1; tracenz")}, "1: M 0x204 74776f00"},
		{"string cut by a hole", []trace.Action{expr("const16 0x300; const8 9; tracenz")}, "1: M 0x300 637574"},
		{"string unreadable", []trace.Action{expr("const8 0; const8 9; tracenz"), collectMemory(0x100, 1)}, "1: M 0x100 01"},
		{"order of execution", []trace.Action{
			collectMemory(0x100, 1), expr("const8 5; setv 2; tracev 2; const16 0x101; trace_quick 1; tracev 2"),
			collectRegisters, expr("getv 2; const8 1; add; setv 2; tracev 2"), collectMemory(0x102, 1),
		}, "1: M 0x100 01 V 2=5 M 0x101 02 V 2=5" + registers + " V 2=6 M 0x102 03"},
		{"value of a register and memory", []trace.Action{expr("reg 0; ref16; setv 2; tracev 2; reg 1; setv 2; tracev 2")},
			"1: V 2=513 V 2=68"},
		{"every width", []trace.Action{
			expr("reg 0; ref8; setv 2; tracev 2"),
			expr("reg 0; ref32; setv 2; tracev 2"),
			expr("reg 0; ref64; setv 2; tracev 2"),
		}, fmt.Sprintf("1: V 2=1 V 2=%d V 2=%d", 0x04030201, 0x0807060504030201)},
		{"unknown variable reads 0", []trace.Action{expr("getv 7; setv 2; tracev 2")}, "1: V 2=0"},
		{"unknown variable is recorded as 0", []trace.Action{expr("tracev 7")}, "1: V 7=0"},
		{"unknown variable that is set", []trace.Action{expr("const8 9; setv 7; tracev 7; getv 7; setv 2; tracev 2")},
			"1: V 7=9 V 2=9"},
		{"who", []trace.Action{expr("tracev 8; tracev 9; getv 9; const8 1; add; setv 2; tracev 2")},
			"1: V 8=100 V 9=4711 V 2=4712"},
		{"who cannot be set", []trace.Action{expr("const8 1; setv 9; tracev 9")}, "1: V 9=4711"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			r.must(r.DefineVariable(trace.Variable{Number: 2, Initial: -1, Name: "v"}))
			r.must(r.DefineVariable(trace.Variable{Number: 8, Name: "pid"}))
			r.must(r.DefineVariable(trace.Variable{Number: 9, Name: "tid"}))
			r.start(tracepointAt(1, 0x10, test.actions...))
			f := &fakeThread{id: 4711, pc: 0x10, registers: [registerCount]uint64{0x100, 0x44, 0xbad}, memory: memory}
			r.hit(f)
			r.wantFrames(test.want)
			if f.batches > 1 {
				t.Errorf("%d batches of reads for one frame", f.batches)
			}
			if s := r.Status(); !s.Running {
				t.Errorf("the run ended: %s %s", s.Reason, s.Description)
			}
		})
	}
}

// TestRegistersGone: a thread that has none left costs the R block and nothing else.
func TestRegistersGone(t *testing.T) {
	r := newRig(t)
	r.start(tracepointAt(1, 0x10, collectRegisters, collectMemory(0x100, 1)))
	r.hit(&fakeThread{pc: 0x10, gone: true, memory: []stretch{{0x100, []byte{1}}}})
	r.wantFrames("1: M 0x100 01")
}

// TestPCSize: the pc of the block is that of the snapshot in each size that there is.
func TestPCSize(t *testing.T) {
	for size, want := range map[int]uint64{0: 0xbbbbbbbbbbbbbbbb, 4: 0xbbbbbbbb00000010, 8: 0x10} {
		layout := testLayout()
		layout.PCSize = size
		r := newRig(t)
		r.Engine = New(layout)
		r.Handler = r.NewHandler()
		r.start(tracepointAt(1, 0x10, collectRegisters))
		r.hit(&fakeThread{pc: 0x10, registers: [registerCount]uint64{2: 0xbbbbbbbbbbbbbbbb}})
		f, _ := r.Frame(0)
		if got := binary.LittleEndian.Uint64(f.Bytes()[7+16:]); got != want {
			t.Errorf("size %d: %#x, want %#x", size, got, want)
		}
	}
}

// TestLongBlocks: a range of memory of more than 65535 bytes is several blocks, and a string of any length is read whole.
func TestLongBlocks(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 150_000)
	r := newRig(t)
	r.start(
		tracepointAt(1, 0x10, collectMemory(0x1000, 131_071)),
		tracepointAt(2, 0x10, collectExpression(t, "const16 0x1000\n const8 1\n ext 1\n tracenz\n end"), collectMemory(0x1000, 1)))
	r.hit(&fakeThread{pc: 0x10, memory: []stretch{{0x1000, append(long, 0, 1, 2, 3)}}})

	block := func(addr arch.Addr, n int) string { return fmt.Sprintf(" M %s %x", addr, long[:n]) }
	r.wantFrames(
		"1:"+block(0x1000, 65535)+block(0x10fff, 65535)+block(0x20ffe, 1),
		"2:"+block(0x1000, 65535)+block(0x10fff, 65535)+block(0x20ffe, 150_000-2*65535)+"00"+block(0x1000, 1))
}

// TestStringEndsAtChunk: a string is read by chunks, and may end with the first byte of one or the last.
func TestStringEndsAtChunk(t *testing.T) {
	for _, length := range []int{0, 1, stringChunk - 2, stringChunk - 1, stringChunk, stringChunk + 1, 2*stringChunk - 1, 2 * stringChunk} {
		text := append(bytes.Repeat([]byte("x"), length), 0)
		r := newRig(t)
		r.start(tracepointAt(1, 0x10, collectExpression(t, "const16 0x1000\n const16 5000\n tracenz\n end")))
		r.hit(&fakeThread{pc: 0x10, memory: []stretch{{0x1000, append(slices.Clone(text), bytes.Repeat([]byte("behind"), 100)...)}}})
		r.wantFrames(fmt.Sprintf("1: M 0x1000 %x", text))
	}
}

// TestAbsurdSizes: what is asked for may be far more than the buffer holds, if only little of it can be read.
func TestAbsurdSizes(t *testing.T) {
	huge := collectMemory(0x100, math.MaxUint64)
	r := newRig(t)
	r.must(r.SetBufferSize(100))
	r.start(tracepointAt(1, 0x10, huge, huge, collectMemory(0x101, 99), huge))
	f := &fakeThread{pc: 0x10, memory: []stretch{{0x100, []byte{1, 2}}}}
	if v := r.hit(f); v != target.Continue {
		t.Errorf("verdict %d", v)
	}
	r.wantFrames("1: M 0x100 0102 M 0x100 0102 M 0x101 02 M 0x100 0102")
	if n := cap(r.Handler.(*worker).arena); n > 1000 {
		t.Errorf("an arena of %d bytes for a buffer of 100", n)
	}
}

// TestTooMuch: a frame that is larger than the buffer ends the run in every way that it can come about.
func TestTooMuch(t *testing.T) {
	memory := []stretch{{0x100, bytes.Repeat([]byte{1}, 5000)}}
	for name, actions := range map[string][]trace.Action{
		"one block":       {collectMemory(0x100, 5000)},
		"just too much":   {collectMemory(0x100, 84)},
		"several blocks":  {collectMemory(0x100, 50), collectMemory(0x100, 50), collectMemory(0x100, 50)},
		"string":          {collectExpression(t, "const16 0x100\n const16 5000\n tracenz\n end")},
		"strings":         {collectExpression(t, "const16 0x100\n dup\n dup\n const8 50\n tracenz\n const8 50\n tracenz\n end")},
		"many variables":  {collectExpression(t, strings.Repeat("tracev 1\n", 8)+"end")},
		"registers twice": {collectRegisters, collectMemory(0x100, 60)},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.must(r.SetBufferSize(100))
			r.start(tracepointAt(1, 0x10, actions...))
			if v := r.hit(&fakeThread{pc: 0x10, memory: memory}); v != target.Halt {
				t.Errorf("verdict %d, want Halt", v)
			}
			r.wantEnd(trace.ReasonFull, 0, "")
			r.wantFrames()
		})
	}
}

// TestTimestamp: microseconds of Unix time that do not go back within a run.
func TestTimestamp(t *testing.T) {
	r := newRig(t)
	r.start(tracepointAt(1, 0x10, collectExpression(t, "tracev 1\n end")))
	for _, seconds := range []int64{100, 50, 101} {
		r.clock = time.Unix(seconds, 0)
		r.hit(&fakeThread{pc: 0x10})
	}
	r.wantFrames("1: V 1=100000000", "1: V 1=100000000", "1: V 1=101000000")
	r.must(r.Stop(trace.ReasonStop, ""))
	r.clock = time.Unix(60, 0)
	r.must(r.Start(&r.target, 1))
	if v, ok := r.Variable(trace.Timestamp); v != 60_000_000 || !ok {
		t.Errorf("in the next run %d, %v", v, ok)
	}
}

// TestPrintf: what an expression prints goes to the layout's Print.
func TestPrintf(t *testing.T) {
	var printed []string
	layout := testLayout()
	layout.Print = func(text string) { printed = append(printed, text) }
	r := newRig(t)
	r.Engine = New(layout)
	r.Handler = r.NewHandler()
	r.start(tracepointAt(1, 0x10, collectExpression(t, `
		const16 0x100
		const8 42
		const8 0
		const8 0
		printf 2 "%d is %s\\n"
		end`)))
	r.hit(&fakeThread{pc: 0x10, memory: []stretch{{0x100, []byte("the answer\x00and more")}}})
	if diff := cmp.Diff([]string{"42 is the answer\n"}, printed); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
	endless := bytes.Repeat([]byte("x"), 2*ax.MaxString)
	if v := r.hit(&fakeThread{pc: 0x10, memory: []stretch{{0x100, endless}}}); v != target.Continue {
		t.Errorf("a string without end: verdict %d", v)
	}
	if got, want := len(printed[1]), len("42 is \n")+ax.MaxString; got != want {
		t.Errorf("%d bytes printed of a string without end, want %d", got, want)
	}
	if v := r.hit(&fakeThread{pc: 0x10, memory: []stretch{{0x100, []byte("cut")}}}); v != target.Halt {
		t.Errorf("a string that cannot be read: verdict %d, want Halt", v)
	}
}

func TestLayoutRefused(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a pc outside the register block was taken")
		}
	}()
	layout := testLayout()
	layout.PCOffset++
	New(layout)
}
