package view

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/internal/demo"
	"tracewell/symbol"
	"tracewell/tdesc"
	"tracewell/tfile"
	"tracewell/trace"
)

// toy is a description with registers of several sizes: r0, the pc and a wide one, 4, 8 and 16 bytes.
func toy() *tdesc.Target {
	return &tdesc.Target{Version: "1.0", Architecture: "toy", Features: []*tdesc.Feature{{
		Name: "org.tracewell.toy",
		Registers: []*tdesc.Register{
			{Name: "r0", Bits: 32, Num: 0, Type: "int32"},
			{Name: "pc", Bits: 64, Num: 1, Type: "code_ptr"},
			{Name: "w", Bits: 128, Num: 2, Type: "uint128"},
		},
	}}}
}

const toyBlock = 4 + 8 + 16

// file makes a trace file in memory. Each function adds the blocks of one frame.
func file(t testing.TB, h tfile.Header, frames ...func(*tfile.Builder)) *tfile.File {
	t.Helper()
	var out bytes.Buffer
	w, err := tfile.NewWriter(&out, h, tfile.KeepStatic(), tfile.KeepDamaged())
	if err != nil {
		t.Fatal(err)
	}
	for _, fill := range frames {
		b := tfile.Builder{Order: h.Order}
		b.Begin(nil, 1)
		fill(&b)
		if err := w.WriteFrame(b.Finish()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := tfile.OpenBytes(out.Bytes(), tfile.WithOrder(h.Order))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func toyHeader(order arch.ByteOrder) tfile.Header {
	return tfile.Header{
		Order:        order,
		RegisterSize: toyBlock,
		Description:  strings.TrimSpace(string(toy().XML())),
		Variables:    []trace.Variable{{Number: 2, Name: "hits"}, {Number: 3, Name: "hits"}, {Number: 4, Name: `q"t`}},
		Tracepoints:  []trace.Tracepoint{{Number: 1, Addr: 0x1000, Enabled: true, Source: trace.Source{At: "a.c:1"}}},
	}
}

// registers adds a block with r0 = 0x80000001, the pc, and w = 1.
func registers(b *tfile.Builder, pc uint64) {
	block := b.Registers(toyBlock)
	clear(block)
	b.Order.PutUint32(block, 0x80000001)
	b.Order.PutUint64(block[4:], pc)
	low := 12
	if b.Order.String() == binary.BigEndian.String() {
		low += 8
	}
	b.Order.PutUint64(block[low:], 1)
}

func newView(t testing.TB, f *tfile.File, program *symbol.Program) *View {
	t.Helper()
	v, warnings := New(f, program)
	if len(warnings) > 0 {
		t.Fatalf("warnings: %q", warnings)
	}
	return v
}

func object(t testing.TB, v *View, i int) string {
	t.Helper()
	frame, err := v.Frame(i, nil)
	if err != nil {
		t.Fatal(err)
	}
	text := v.AppendJSON(nil, frame)
	if !json.Valid(text) {
		t.Errorf("frame %d is no JSON: %s", i, text)
	}
	return string(text)
}

func TestJSON(t *testing.T) {
	for _, order := range []arch.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		t.Run(order.String(), func(t *testing.T) {
			v := newView(t, file(t, toyHeader(order),
				func(b *tfile.Builder) {
					registers(b, 0x1000)
					order.PutUint32(b.Memory(0x2000, 4), 7)
					copy(b.Memory(0x3000, 3), "abc")
					b.Variable(2, -1)
					b.Variable(3, 5)
					b.Variable(4, 6)
					b.Variable(2, 1<<40)
				},
				func(*tfile.Builder) {},
				func(b *tfile.Builder) { b.AppendStatic([]byte("xy")) },
			), nil)
			memory := `"memory":[{"address":"0x2000","bytes":"07000000","value":"0x7"},{"address":"0x3000","bytes":"616263"}]`
			if order.String() == binary.BigEndian.String() {
				memory = strings.Replace(memory, "07000000", "00000007", 1)
			}
			for i, want := range []string{
				`{"frame":0,"tracepoint":1,"source":"a.c:1","pc":"0x1000",` +
					`"registers":{"r0":"0x80000001","pc":"0x1000","w":"0x00000000000000000000000000000001"},` +
					memory + `,"variables":{"hits":1099511627776,"3":5,"q\"t":6}}`,
				`{"frame":1,"tracepoint":1,"source":"a.c:1","pc":"0x1000","registers":{},"memory":[],"variables":{}}`,
				`{"frame":2,"tracepoint":1,"source":"a.c:1","pc":"0x1000","registers":{},"memory":[],"variables":{},"static":"7879"}`,
			} {
				if diff := cmp.Diff(want, object(t, v, i)); diff != "" {
					t.Errorf("frame %d (-want +got):\n%s", i, diff)
				}
			}
		})
	}
}

func TestSelect(t *testing.T) {
	f := file(t, toyHeader(binary.LittleEndian), func(b *tfile.Builder) { registers(b, 0x1000) })
	v := newView(t, f, nil)
	if err := v.Select([]string{"pc", "r0", "pc"}); err != nil {
		t.Fatal(err)
	}
	if got, want := object(t, v, 0), `"registers":{"pc":"0x1000","r0":"0x80000001"}`; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s in it", got, want)
	}
	if slots := v.Registers(); len(slots) != 2 || slots[0].Reg.Name != "pc" {
		t.Errorf("%d registers are selected", len(slots))
	}
	if err := v.Select([]string{"x9"}); err == nil || !strings.Contains(err.Error(), `"x9"`) {
		t.Errorf("an unknown register gave error %v", err)
	}
}

// TestWithoutDescription: registers have no names then, and the pc is that of the tracepoint.
func TestWithoutDescription(t *testing.T) {
	for name, description := range map[string]string{"none": "", "broken": "<target><no"} {
		t.Run(name, func(t *testing.T) {
			h := toyHeader(binary.LittleEndian)
			h.Description = description
			v, warnings := New(file(t, h, func(b *tfile.Builder) { registers(b, 0x1234) }), nil)
			if wanted := description != ""; wanted != (len(warnings) == 1) {
				t.Errorf("warnings: %q", warnings)
			}
			got := object(t, v, 0)
			if want := `"pc":"0x1000","registerBytes":"0100008034120000`; !strings.Contains(got, want) {
				t.Errorf("got %s, want %s in it", got, want)
			}
			if err := v.Select([]string{"pc"}); err == nil {
				t.Error("a register was selected")
			}
			if columns, err := v.Columns(4); err != nil || columns.Registers != nil {
				t.Errorf("columns %+v, error %v", columns, err)
			}
		})
	}
}

// TestPC goes through what is known of the pc and of steps by the definitions.
func TestPC(t *testing.T) {
	const nowhere = "none"
	location := func(addr arch.Addr, step uint64) trace.Tracepoint {
		return trace.Tracepoint{Number: 1, Addr: addr, Step: step}
	}
	withRegisters := func(b *tfile.Builder) { registers(b, 0x1004) }
	without := func(*tfile.Builder) {}
	for _, test := range []struct {
		name        string
		tracepoints []trace.Tracepoint
		frame       func(*tfile.Builder)
		pc          string
		stepped     bool
		definition  string
	}{
		{"registers", []trace.Tracepoint{location(0x1000, 0)}, withRegisters, "0x1004", false, "0x1000"},
		{"a step", []trace.Tracepoint{location(0x1000, 3)}, withRegisters, "0x1004", true, "0x1000"},
		{"at the tracepoint", []trace.Tracepoint{location(0x1004, 3)}, withRegisters, "0x1004", false, "0x1004"},
		{"the second location", []trace.Tracepoint{location(0x1000, 3), location(0x1004, 3)}, withRegisters, "0x1004", false, "0x1004"},
		{"no registers", []trace.Tracepoint{location(0x1000, 0)}, without, "0x1000", false, "0x1000"},
		{"no registers, two locations", []trace.Tracepoint{location(0x1000, 0), location(0x1004, 0)}, without, nowhere, false, "0x1000"},
		{"no registers, while-stepping", []trace.Tracepoint{location(0x1000, 3)}, without, nowhere, false, "0x1000"},
		{"not defined", nil, without, nowhere, false, nowhere},
		{"not defined, registers", nil, withRegisters, "0x1004", false, nowhere},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := toyHeader(binary.LittleEndian)
			h.Tracepoints = test.tracepoints
			v := newView(t, file(t, h, test.frame), nil)
			frame, err := v.Frame(0, nil)
			if err != nil {
				t.Fatal(err)
			}
			pc, definition := nowhere, nowhere
			if frame.HasPC {
				pc = frame.PC.String()
			}
			if d := v.Definition(frame); d != nil {
				definition = d.Addr.String()
			}
			if pc != test.pc || v.Stepped(frame) != test.stepped || definition != test.definition {
				t.Errorf("pc %s, stepped %v, of the tracepoint at %s; want %s, %v, %s",
					pc, v.Stepped(frame), definition, test.pc, test.stepped, test.definition)
			}
		})
	}
}

func TestSource(t *testing.T) {
	h := toyHeader(binary.LittleEndian)
	h.Tracepoints = append(h.Tracepoints, trace.Tracepoint{Number: 2, Addr: 0x2000})
	v := newView(t, file(t, h), nil)
	for n, want := range map[trace.Number]string{1: "a.c:1", 2: "*0x2000", 3: ""} {
		if got := v.Source(n); got != want {
			t.Errorf("tracepoint %d is at %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int32]string{2: "hits", 3: "3", 70000: "70000"} {
		if got := v.VariableName(n); got != want {
			t.Errorf("variable %d is called %q, want %q", n, got, want)
		}
	}
}

func TestDamagedFrame(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(testdata, "queue-fast.tf"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := tfile.OpenBytes(content)
	if err != nil {
		t.Fatal(err)
	}
	v := newView(t, f, nil)
	frame, err := v.Frame(0, nil)
	if err != nil || frame.Damaged == nil {
		t.Fatalf("frame is damaged by %v, error %v", frame.Damaged, err)
	}
	if got, want := object(t, v, 0), `"damaged":"damaged frame: offset 17989: `; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s in it", got, want)
	}
}

// relocatable makes the demo program one that can be loaded anywhere, as far as its header goes.
func relocatable(t *testing.T) *symbol.Program {
	t.Helper()
	program := demo.Program()
	const typeOffset, typeDyn = 16, 3
	program[typeOffset] = typeDyn
	return openProgram(t, program)
}

// openProgram makes a file of a program and opens it.
func openProgram(t testing.TB, content []byte) *symbol.Program {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return openPath(t, path)
}

func openPath(t testing.TB, path string) *symbol.Program {
	t.Helper()
	program, err := symbol.Open(path, symbol.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return program
}

func TestPlaced(t *testing.T) {
	handle, err := demo.Lookup(demo.Handle)
	if err != nil {
		t.Fatal(err)
	}
	const bias = 0x555555554000
	at := func(source string, addr arch.Addr) trace.Tracepoint {
		return trace.Tracepoint{Number: 1, Addr: addr, Source: trace.Source{At: source}}
	}
	for _, test := range []struct {
		name        string
		tracepoints []trace.Tracepoint
		want        string // of the address of handle with the bias
	}{
		{"a function", []trace.Tracepoint{at("demo.c:handle", handle.Addr+bias+4)}, "handle"},
		{"its first instruction", []trace.Tracepoint{at("*handle", handle.Addr+bias)}, "handle"},
		{"an instruction of it", []trace.Tracepoint{at("*handle+4", handle.Addr+bias+4)}, "handle"},
		{"another instruction of it", []trace.Tracepoint{at("*handle+4", handle.Addr+bias+5)}, ""},
		{"a line", []trace.Tracepoint{at("demo.c:72", handle.Addr+bias)}, "handle"},
		{"the first line of a function", []trace.Tracepoint{at("demo.c:72", handle.Addr+bias+4)}, "handle"},
		{"a line without code before it", []trace.Tracepoint{at("./demo.c:69", handle.Addr+bias)}, "handle"},
		{"another line", []trace.Tracepoint{at("demo.c:75", handle.Addr+bias)}, ""},
		{"a line of a library", []trace.Tracepoint{at("malloc.c:72", handle.Addr+bias)}, ""},
		{"a function and a line", []trace.Tracepoint{at("handle", handle.Addr+bias), at("demo.c:72", handle.Addr+bias)}, "handle"},
		{"a function and another line", []trace.Tracepoint{at("handle", handle.Addr+bias), at("demo.c:75", handle.Addr+bias)}, ""},
		{"no such function", []trace.Tracepoint{at("main", handle.Addr+bias)}, ""},
		{"an object", []trace.Tracepoint{at("queue", handle.Addr+bias)}, ""},
		{"beyond the function", []trace.Tracepoint{at("handle", handle.Addr+bias+arch.Addr(handle.Size))}, ""},
		{"two that agree", []trace.Tracepoint{at("handle", handle.Addr+bias+4), at("*handle", handle.Addr+bias)}, "handle"},
		{"two that do not", []trace.Tracepoint{at("handle", handle.Addr+bias), at("handle", handle.Addr+2*bias)}, ""},
		{"none", nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			symbols, err := placed(relocatable(t), test.tracepoints)
			got := ""
			if err == nil {
				got = symbols.Describe(handle.Addr + bias)
			}
			if got != test.want {
				t.Errorf("handle is %q, want %q (%v)", got, test.want, err)
			}
		})
	}
	fixed, err := placed(openProgram(t, demo.Program()), nil)
	if err != nil || fixed.Describe(handle.Addr) != "handle" {
		t.Errorf("a program at a fixed address was moved, error %v", err)
	}
}

// TestPlacedByLine has of a real file only the tracepoint on a line, which is optimised code.
func TestPlacedByLine(t *testing.T) {
	program := openPath(t, "../tfile/testdata/queue_pie")
	for _, tracepoint := range openFile(t, "queue-pie.tf").Header().Tracepoints {
		got, err := placed(program, []trace.Tracepoint{tracepoint})
		if err != nil {
			t.Fatal(err)
		}
		const page = 0x555555555000
		if s, ok := got.Symbol("push"); !ok || s.Addr != page+0x2d0 {
			t.Errorf("by %s, push is at %v", tracepoint.Source.At, s.Addr)
		}
		if v := (View{Symbols: got}); v.Line(page+0x2f1) != "queue.c:23" || v.Line(0x2f1) != "" {
			t.Errorf("by %s, push+33 is on %q", tracepoint.Source.At, v.Line(page+0x2f1))
		}
	}
}

func TestSymbols(t *testing.T) {
	queue, err := demo.Lookup(demo.Queue)
	if err != nil {
		t.Fatal(err)
	}
	v := newView(t, file(t, toyHeader(binary.LittleEndian), func(b *tfile.Builder) {
		registers(b, uint64(queue.Addr)+1)
		b.Memory(queue.Addr, 1)[0] = 9
	}), openProgram(t, demo.Program()))
	want := fmt.Sprintf(`"memory":[{"address":"%v","bytes":"09","value":"0x9","symbol":"queue"}]`, queue.Addr)
	if got := object(t, v, 0); !strings.Contains(got, want) || !strings.Contains(got, `"symbol":"queue+1","registers"`) {
		t.Errorf("got %s, want %s in it", got, want)
	}
}

// testdata has trace files that GDB 13.1 wrote.
const testdata = "../tfile/testdata"

// names are the registers of the columns, and the variables.
func (c Columns) names(v *View) string {
	var names []string
	for _, slot := range c.Registers {
		names = append(names, slot.Reg.Name)
	}
	for _, n := range c.Variables {
		names = append(names, "$"+v.VariableName(n))
	}
	return strings.Join(names, " ")
}

func TestColumns(t *testing.T) {
	for _, test := range []struct {
		file  string
		limit int
		want  string
	}{
		{"queue-basic.tf", 9, "rdi rsi rdx rcx rsp rbp $hits"},
		{"queue-basic.tf", 2, "rdi rsi $hits"},
		{"queue-fast.tf", 2, "rdi rsi"},
	} {
		f := openFile(t, test.file)
		v := newView(t, f, nil)
		columns, err := v.Columns(test.limit)
		if err != nil {
			t.Fatal(err)
		}
		if got := columns.names(v); got != test.want {
			t.Errorf("%s, at most %d: %s, want %s", test.file, test.limit, got, test.want)
		}
	}
}

// TestColumnsBySample has frames with more than the definitions say.
func TestColumnsBySample(t *testing.T) {
	h := toyHeader(binary.LittleEndian)
	v := newView(t, file(t, h, func(*tfile.Builder) {}, func(b *tfile.Builder) { b.Variable(9, 1); b.Variable(2, 1) }), nil)
	columns, err := v.Columns(4)
	if got := columns.names(v); err != nil || got != "$hits $9" {
		t.Errorf("got %s, error %v", got, err)
	}
}

func openFile(t testing.TB, name string) *tfile.File {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(testdata, name))
	if err != nil {
		t.Fatal(err)
	}
	f, err := tfile.OpenBytes(content)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestJSONAllocatesNothing(t *testing.T) {
	v := newView(t, openFile(t, "queue-basic.tf"), nil)
	line := make([]byte, 0, 1<<20)
	cost := testing.AllocsPerRun(100, func() {
		frame, err := v.Frame(0, nil)
		if err != nil {
			t.Fatal(err)
		}
		line = v.AppendJSON(line[:0], frame)
	})
	if cost != 0 {
		t.Errorf("%v allocations a frame, want none", cost)
	}
}

func BenchmarkJSON(b *testing.B) {
	f := openFile(b, "queue-basic.tf")
	for name, selected := range map[string][]string{"all registers": nil, "two registers": {"rip", "rsp"}} {
		b.Run(name, func(b *testing.B) {
			v := newView(b, f, nil)
			if selected != nil {
				if err := v.Select(selected); err != nil {
					b.Fatal(err)
				}
			}
			var line []byte
			for i := 0; b.Loop(); i++ {
				frame, err := v.Frame(i%f.NumFrames(), nil)
				if err != nil {
					b.Fatal(err)
				}
				line = v.AppendJSON(line[:0], frame)
				b.SetBytes(int64(len(frame.Bytes())))
				io.Discard.Write(line)
			}
		})
	}
}
