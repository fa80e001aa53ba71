package replay_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/internal/test/gdbtest"
	"tracewell/tdesc"
	"tracewell/tdesc/machine"
	"tracewell/tfile"
	"tracewell/trace"
)

// machines are of both byte orders and both sizes of address.
var machines = []struct {
	shape string
	order arch.ByteOrder
}{
	{"mips", binary.BigEndian},
	{"power", binary.BigEndian},
	{"power64-vsx", binary.LittleEndian},
	{"s390x", binary.BigEndian},
	{"arm", binary.BigEndian},
	{"riscv32", binary.LittleEndian},
	{"i386", binary.LittleEndian},
}

// TestMachines writes a trace file for each machine and has GDB show all of it through replay, without any program.
func TestMachines(t *testing.T) {
	for _, m := range machines {
		t.Run(m.shape+"/"+arch.OrderName(m.order), func(t *testing.T) {
			t.Parallel()
			f := newForeign(t, m.shape, m.order)
			f.compare(t)
		})
	}
}

// foreign is a trace file of some machine.
type foreign struct {
	order  arch.ByteOrder
	layout *tdesc.Layout
	path   string
	frames []foreignFrame
}

// foreignFrame is what one of its frames holds.
type foreignFrame struct {
	tracepoint trace.Number
	pc         arch.Addr
	seed       byte // of the registers
	memory     string
	value      int64
}

// The places of the code, and of the memory that is collected.
const (
	first, second, third = 0x1000, 0x1100, 0x1200
	data                 = 0x2000
)

// newForeign writes a file of two tracepoints, the second with a while-stepping that leads elsewhere.
func newForeign(t *testing.T, shape string, order arch.ByteOrder) *foreign {
	t.Helper()
	shapes := machine.Shapes()
	i := slices.IndexFunc(shapes, func(s machine.Shape) bool { return s.Name == shape })
	if i < 0 {
		t.Fatalf("no machine %q", shape)
	}
	description := shapes[i].Target()
	layout, err := description.Layout()
	if err != nil {
		t.Fatal(err)
	}
	f := &foreign{order: order, layout: layout, frames: []foreignFrame{
		{1, first, 7, "memory 0", 1},
		{2, second, 11, "memory 1", -1},
		{2, third, 13, "memory 2", 1 << 40},
		{2, third + 4, 17, "memory 3", 4},
		{1, first, 19, "memory 4", -5},
	}}
	collect := []trace.Action{{Kind: trace.CollectRegisters, Mask: []byte{1}}}
	source := func(addr string) trace.Source {
		return trace.Source{At: addr, Commands: []string{"collect $regs", "collect $count", "collect *(char (*)[8]) 0x2000"}}
	}
	stepping := trace.Tracepoint{Number: 2, Addr: second, Enabled: true, Step: 2, Pass: 9, Actions: collect,
		StepActions: collect, Source: source("*0x1100"), Hits: 1, Usage: 0x30}
	stepping.Source.Commands = append(stepping.Source.Commands, "while-stepping 2", "collect $regs", "end")
	var out bytes.Buffer
	w, err := tfile.NewWriter(&out, tfile.Header{
		Order: order, RegisterSize: layout.Size, Description: string(description.XML()),
		Status: &trace.Status{Reason: trace.ReasonStop, Description: "enough", Frames: 5, Created: 6, Free: 0x100, Size: 0x10000,
			StartTime: 1700000000000000, StopTime: 1700000001500000, User: "ada", Notes: "a board"},
		Variables: []trace.Variable{{Number: 2, Initial: 5, Name: "count"}},
		Tracepoints: []trace.Tracepoint{stepping,
			{Number: 1, Addr: first, Enabled: true, Actions: collect, Source: source("*0x1000"), Hits: 2, Usage: 0x20}},
	})
	if err != nil {
		t.Fatal(err)
	}
	b := tfile.Builder{Order: order}
	for _, frame := range f.frames {
		b.Begin(nil, frame.tracepoint)
		copy(b.Registers(layout.Size), f.block(frame))
		b.AppendMemory(data, []byte(frame.memory))
		b.Variable(2, frame.value)
		if err := w.WriteFrame(b.Finish()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f.path = filepath.Join(t.TempDir(), "run.tf")
	if err := os.WriteFile(f.path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return f
}

// block is the registers of a frame.
func (f *foreign) block(frame foreignFrame) []byte {
	block := make([]byte, f.layout.Size)
	for i := range block {
		block[i] = byte(i) * frame.seed
	}
	pc := f.layout.ProgramCounter()
	b := block[pc.Offset : pc.Offset+pc.Size]
	if pc.Size == 8 {
		f.order.PutUint64(b, uint64(frame.pc))
	} else {
		f.order.PutUint32(b, uint32(frame.pc))
	}
	return block
}

// scalars are the registers that are whole numbers of up to 8 bytes.
func (f *foreign) scalars() []*tdesc.Slot {
	var all []*tdesc.Slot
	for i := range f.layout.Slots {
		s := &f.layout.Slots[i]
		if s.Size <= 8 && (strings.Contains(s.Reg.Type, "int") || strings.HasSuffix(s.Reg.Type, "_ptr")) {
			all = append(all, s)
		}
	}
	return all
}

// searches are those that are made, and the frames that they find from the first on.
var searches = []struct {
	command string
	finds   []int
}{
	{"tracepoint 1", []int{0, 4}},
	{"tracepoint 2", []int{1, 2, 3}},
	{"pc 0x1200", []int{2}},
	{"pc 0x1000", []int{0, 4}},
	{"range 0x1100, 0x1200", []int{1, 2}},
	{"outside 0x1100, 0x1200", []int{0, 3, 4}},
}

// compare has GDB show the file.
func (f *foreign) compare(t *testing.T) {
	server := serveReplay(t, "--listen", f.path)
	var script strings.Builder
	fmt.Fprintf(&script, "set endian %s\ntarget remote %s\n", arch.OrderName(f.order), server.Address)
	for i := range f.frames {
		fmt.Fprintf(&script, "tfind %d\n-- frame %[1]d --\np/x $pc\np *(char (*)[8]) 0x2000\np $count\np *(char *) 0x2008\n", i)
		for _, s := range f.scalars() {
			fmt.Fprintf(&script, "? p/x $%s\n", s.Reg.Name)
		}
	}
	for _, s := range searches {
		fmt.Fprintf(&script, "tfind none\n-- %s --\ntfind %[1]s\nwhile $trace_frame != -1\n", s.command)
		fmt.Fprintf(&script, "printf \"found %%d\\n\", $trace_frame\ntfind %s\nend\n", s.command)
	}
	script.WriteString("tfind 4\n-- tell --\ntdump\ntstatus\ninfo tracepoints\ninfo tvariables\n-- end --\n")
	output := gdbtest.RunMultiarch(t, script.String())
	for i, frame := range f.frames {
		want := append([]string{
			fmt.Sprintf("%#x", uint64(frame.pc)), fmt.Sprintf("%q", frame.memory), fmt.Sprint(frame.value), "<unavailable>",
		}, f.values(frame)...)
		got := shown(output.Section(t, fmt.Sprint("frame ", i)))
		for i := range min(len(got), len(want)) {
			if got[i] == "void" { // GDB has the register under another name
				want[i] = got[i]
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("frame %d (-written +shown):\n%s", i, diff)
		}
	}
	for _, s := range searches {
		var want []string
		for _, n := range s.finds {
			want = append(want, fmt.Sprint("found ", n))
		}
		got := slices.DeleteFunc(strings.Split(output.Section(t, s.command), "\n"), func(line string) bool {
			return !strings.HasPrefix(line, "found ")
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("tfind %s (-written +found):\n%s", s.command, diff)
		}
	}
	f.compareTold(t, output.Section(t, "tell"))
}

// compareTold looks at what GDB says of the run.
func (f *foreign) compareTold(t *testing.T, told string) {
	t.Helper()
	for _, text := range []string{
		"Data collected at tracepoint 1, trace frame 4:", "$count = -5", `*(char (*)[8]) 0x2000 = "memory 4"`,
		"Trace stopped by a tstop command (enough)", "Buffer contains 5 trace frames (of 6 created total)",
		"Trace user is ada", "Trace notes: a board", "Trace started at 1700000000.000000 secs, stopped 1.500000 secs later",
		"hit 2 times", "trace buffer usage 48 bytes", "pass count 9", "while-stepping 2",
	} {
		if !strings.Contains(told, text) {
			t.Errorf("GDB does not print %q:\n%s", text, told)
		}
	}
}

// values are those of the scalar registers.
func (f *foreign) values(frame foreignFrame) []string {
	var all []string
	block := f.block(frame)
	for _, s := range f.scalars() {
		all = append(all, fmt.Sprintf("%#x", arch.Uint(block[s.Offset:s.Offset+s.Size], f.order)))
	}
	return all
}

// shown are the values that GDB printed.
func shown(section string) []string {
	var values []string
	for line := range strings.Lines(section) {
		if _, value, ok := strings.Cut(strings.TrimSpace(line), " = "); ok {
			values = append(values, value)
		}
	}
	return values
}

// serveReplay starts "tracewell replay". The arguments end with where to listen.
func serveReplay(t *testing.T, args ...string) *gdbtest.Server {
	t.Helper()
	last := len(args) - 1
	return gdbtest.Start(t, gdbtest.Config{
		Server: []string{gdbtest.Binary(t), "replay"},
		Flags:  append(slices.Clone(args[last:]), args[:last]...),
	})
}
