package printing

import (
	"io"
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/trace"
)

func TestActionText(t *testing.T) {
	traced, err := input.OpenTrace(clitest.Basic, "", console.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	defer traced.Close()
	view := traced.View
	for _, test := range []struct {
		action trace.Action
		want   string
	}{
		{trace.Action{Kind: trace.CollectRegisters, Mask: []byte{1, 0, 0x81}}, "rax, rsp, rip"},
		{trace.Action{Kind: trace.CollectRegisters, Mask: []byte{0xff, 0xff}}, "16 registers"},
		{trace.Action{Kind: trace.CollectRegisters, Mask: []byte{0}}, "no register"},
		{trace.Action{Kind: trace.CollectRegisters, Mask: append([]byte{1}, make([]byte, 100)...)}, "register 800"},
		{trace.Action{Kind: trace.CollectMemory, Base: trace.Absolute, Offset: 0x404030, Length: 1}, "1 byte at 0x404030"},
		{trace.Action{Kind: trace.CollectMemory, Base: 7, Length: 8}, "8 bytes at rsp"},
		{trace.Action{Kind: trace.CollectMemory, Base: 6, Offset: ^uint64(0) - 15, Length: 1 << 63}, "9223372036854775808 bytes at rbp-16"},
		{trace.Action{Kind: trace.CollectExpression, Code: []byte{0x26, 0, 6, 0x20, 0, 7, 0x28, 0x29, 0x27}},
			"expression reg 6; if_goto 7; dup; 7: pop; end"},
		{trace.Action{Kind: trace.CollectExpression, Code: []byte{0xff}}, "expression ff (unrecognized opcode: 0xff at offset 0)"},
		{trace.Action{Kind: trace.CollectStatic}, "data of the static marker"},
	} {
		if got := view.ActionText(test.action); got != test.want {
			t.Errorf("%v is %q, want %q", test.action, got, test.want)
		}
	}
}

func TestCommandLines(t *testing.T) {
	got := commandLines([]string{"collect x", "while-stepping 3", "collect y", "end", "teval $n = 1"})
	if want := []string{"collect x", "while-stepping 3", "  collect y", "end", "teval $n = 1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestValues(t *testing.T) {
	traced, err := input.OpenTrace(clitest.Basic, clitest.BasicProgram, console.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	defer traced.Close()
	for _, test := range []struct {
		memory string
		want   string
	}{
		{"\x28\x00\x00\x00", "40"},
		{"\xff\xff\xff\xff", "0xffffffff"},
		{"\xff", "255"},
		{"\x00\x80\x00\x00\x00\x00\x00\x00", "32768"},
		{"\x80\x40\x40\x00\x00\x00\x00\x00", "0x404080 <q>"},
		{"abc", "{61 62 63}"},
		{"0123456789", "{30 31 32 33 34 35 36 37 …10}"},
		{"", "{}"},
	} {
		if got := string(AppendValue(nil, traced.View, []byte(test.memory))); got != test.want {
			t.Errorf("%q is %s, want %s", test.memory, got, test.want)
		}
	}
	for addr, want := range map[arch.Addr]string{0x404080: "q", 0x404088: "q+8", 0x10: "0x10"} {
		if got := string(appendPlace(nil, traced.View, addr)); got != want {
			t.Errorf("%v is %s, want %s", addr, got, want)
		}
	}
}

// TestRegisterColumns: the narrower the terminal, the fewer registers a table has.
func TestRegisterColumns(t *testing.T) {
	for width, want := range map[int]int{0: 4, 1: 0, 80: 0, 100: 2, 120: 3, 200: 6, 1000: 6} {
		if got := registersFor(width, false); got != want {
			t.Errorf("%d registers in %d columns, want %d", got, width, want)
		}
	}
	if got := registersFor(100, true); got != 1 {
		t.Errorf("%d registers in 100 columns with symbols, want 1", got)
	}
}

// TestRowsAllocateNothing also where a frame has registers, variables and much memory.
func TestRowsAllocateNothing(t *testing.T) {
	traced, err := input.OpenTrace(clitest.Basic, "", console.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	defer traced.Close()
	table, err := NewFrameTable(&console.Output{Writer: clitest.NewWriter(io.Discard)}, traced.View, nil)
	if err != nil {
		t.Fatal(err)
	}
	frame, err := traced.View.Frame(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 { // rows that settle the widths are kept
		table.Add(frame)
	}
	if cost := testing.AllocsPerRun(100, func() { table.Add(frame) }); cost != 0 {
		t.Errorf("%v allocations a row, want none", cost)
	}
}

// TestNarrow prints a table for a terminal: no row is wider.
func TestNarrow(t *testing.T) {
	traced, err := input.OpenTrace(clitest.Basic, clitest.BasicProgram, console.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	defer traced.Close()
	var printed strings.Builder
	out := &console.Output{Width: 100}
	out.Writer = clitest.NewWriter(&printed)
	table, err := NewFrameTable(out, traced.View, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := EachFrame(traced.View, 0, 85, table.Add); err != nil {
		t.Fatal(err)
	}
	table.Rows.Flush()
	out.Flush()
	lines := strings.Split(strings.TrimSuffix(printed.String(), "\n"), "\n")
	for _, line := range lines {
		if n := len([]rune(line)); n > 100 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	if len(lines) != 86 || !strings.HasPrefix(lines[0], "frame  tp  source       pc                       rdi       $hits  collected") {
		t.Errorf("%d lines, the first is %q", len(lines), lines[0])
	}
}
