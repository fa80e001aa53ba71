package tfiletest

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/internal/test/gdbtest"
	"tracewell/tdesc"
	"tracewell/tdesc/machine"
	"tracewell/tfile"
	"tracewell/trace"
)

// machines are those for which files are written: both byte orders, addresses of 32 and 64 bits, register blocks from 68 bytes
// to nearly 11 kB.
var machines = []struct {
	shape string
	order arch.ByteOrder
}{
	{"i386", binary.LittleEndian},
	{"i386-avx512", binary.LittleEndian},
	{"amd64-avx512-tiles", binary.LittleEndian},
	{"x32-avx", binary.LittleEndian},
	{"arm-neon", binary.LittleEndian},
	{"arm", binary.BigEndian},
	{"aarch64-sve2048", binary.LittleEndian},
	{"aarch64", binary.BigEndian},
	{"riscv32-e", binary.LittleEndian},
	{"riscv64-d", binary.LittleEndian},
	{"mips", binary.BigEndian},
	{"mips", binary.LittleEndian},
	{"power", binary.LittleEndian},
	{"power64", binary.BigEndian},
	{"s390", binary.BigEndian},
	{"s390x-gs", binary.BigEndian},
}

// TestMachines writes a file for each and has GDB show all that was written. It takes a GDB each, since one does not open a
// second file with other registers.
func TestMachines(t *testing.T) {
	for _, m := range machines {
		t.Run(fmt.Sprint(m.shape, "/", m.order), func(t *testing.T) {
			t.Parallel()
			w := newWritten(t, target(t, m.shape), m.order)
			w.compare(t)
		})
	}
}

// target describes a machine; one with tiles has those of AMX too.
func target(t *testing.T, name string) *tdesc.Target {
	t.Helper()
	name, tiles := strings.CutSuffix(name, "-tiles")
	shapes := machine.Shapes()
	i := slices.IndexFunc(shapes, func(s machine.Shape) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("no machine %q", name)
	}
	d := shapes[i].Target()
	if tiles {
		addTiles(d)
	}
	return d
}

// addTiles adds the eight tiles of 1 kB of a processor with AMX and their configuration, for which GDB 13.1 has no feature.
func addTiles(d *tdesc.Target) {
	f := &tdesc.Feature{Name: "org.tracewell.tiles", Types: []tdesc.Type{
		tdesc.Vector{ID: "config", Elem: "uint8", Count: 64},
		tdesc.Vector{ID: "tile", Elem: "uint8", Count: 1024},
	}}
	add := func(name, typ string, bits int) {
		f.Registers = append(f.Registers, &tdesc.Register{
			Name: name, Bits: bits, Num: arch.Reg(1000 + len(f.Registers)), Type: typ, SaveRestore: true,
		})
	}
	add("tilecfg", "config", 8*64)
	for n := range 8 {
		add(fmt.Sprint("tmm", n), "tile", 8*1024)
	}
	d.Features = append(d.Features, f)
}

// written is a trace file and what was put into it.
type written struct {
	header tfile.Header
	layout *tdesc.Layout
	block  []byte // of registers, of the frames that have any
	frames []collected
	data   []byte
}

// site is where the tracepoint is, and the pc of frame 0.
const site = 0x1000

func newWritten(t *testing.T, target *tdesc.Target, order arch.ByteOrder) *written {
	t.Helper()
	layout, err := target.Layout()
	if err != nil {
		t.Fatal(err)
	}
	w := &written{layout: layout, block: make([]byte, layout.Size)}
	for i := range w.block {
		w.block[i] = byte(i * 7)
	}
	for _, name := range []string{"rip", "eip", "pc", "pswa"} {
		if slot := layout.ByName(name); slot != nil {
			putUint(w.block[slot.Offset:][:slot.Size], site, order)
		}
	}
	w.header = tfile.Header{
		Order:        order,
		RegisterSize: len(w.block),
		Description:  string(target.XML()),
		Status:       &trace.Status{Reason: trace.ReasonStop, Frames: 4, Created: 5, Free: 0x100, Size: 0x10000, User: "ada"},
		Variables:    []trace.Variable{{Number: 2, Initial: math.MinInt64, Name: "least"}, {Number: 3, Initial: 7, Name: "most"}},
		Tracepoints: []trace.Tracepoint{{Number: 1, Addr: site, Enabled: true, Actions: []trace.Action{
			{Kind: trace.CollectRegisters, Mask: []byte{1}},
		}, Source: trace.Source{At: fmt.Sprintf("*%#x", site), Commands: []string{
			"collect $regs", "collect $most", "collect *(unsigned char *) 0x2000",
		}}}},
	}
	w.addFrames(t)
	return w
}

// putUint fills b with a number.
func putUint(b []byte, n uint64, order arch.ByteOrder) {
	wide := make([]byte, 8)
	order.PutUint64(wide, n)
	if order == arch.ByteOrder(binary.BigEndian) {
		wide = wide[8-min(len(b), 8):]
	}
	copy(b, wide)
}

// needsRegisters reports whether GDB 13.1 needs registers in every frame: without any it does not select a frame of an Arm or
// of an s390, and aborts in one of a MIPS.
func (w *written) needsRegisters() bool {
	return slices.ContainsFunc([]string{"cpsr", "pswa", "badvaddr"}, func(name string) bool {
		return w.layout.ByName(name) != nil && w.layout.ByName("x0") == nil
	})
}

// addFrames writes the file: a frame with everything, and without registers one with more memory than a block can hold, an
// empty one, and one in which memory overlaps and a variable has two values.
func (w *written) addFrames(t *testing.T) {
	t.Helper()
	var out bytes.Buffer
	file, err := tfile.NewWriter(&out, w.header)
	if err != nil {
		t.Fatal(err)
	}
	b := tfile.Builder{Order: w.header.Order}
	add := func(fill func(), want collected) {
		b.Begin(nil, 1)
		if len(w.frames) == 0 || w.needsRegisters() {
			copy(b.Registers(len(w.block)), w.block)
		}
		fill()
		if err := file.WriteFrame(b.Finish()); err != nil {
			t.Fatal(err)
		}
		want.Tracepoint = 1
		w.frames = append(w.frames, want)
	}
	long := bytes.Repeat([]byte("65541"), 65540/4)[:tfile.MaxBlock+5]
	add(func() {
		b.AppendMemory(0x2000, []byte("memory"))
		b.Variable(2, math.MinInt64)
		b.Variable(3, math.MaxInt64)
	}, collected{Memory: []string{"0x2000: " + hex.EncodeToString([]byte("memory"))},
		Variables: []string{"least = -9223372036854775808", "most = 9223372036854775807"}})
	add(func() { b.AppendMemory(0x20000, long) }, collected{Memory: []string{"0x20000: " + hex.EncodeToString(long)}})
	add(func() {}, collected{})
	add(func() {
		b.AppendMemory(0x2000, []byte("first block"))
		b.AppendMemory(0x2006, []byte("the second one"))
		b.Variable(3, 1)
		b.Variable(3, -1)
	}, collected{Memory: []string{"0x2000: " + hex.EncodeToString([]byte("first blockecond one"))},
		Variables: []string{"most = -1"}})
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	w.data = out.Bytes()
}

// compare has GDB and tfile tell what was written.
func (w *written) compare(t *testing.T) {
	endian := "little"
	if w.header.Order == arch.ByteOrder(binary.BigEndian) {
		endian = "big"
	}
	var script strings.Builder
	fmt.Fprintf(&script, "-- endian --\n? set endian %s\n", endian)
	script.WriteString(openScript(save(t, w.data), len(w.frames), 1))
	script.WriteString("-- values --\ntfind 0\n")
	scalars := w.scalars()
	for _, s := range scalars {
		fmt.Fprintf(&script, "? p/x $%s\n", s.Reg.Name)
	}
	script.WriteString("-- tell --\n? tdump\nx/8xb 0x2000\ntstatus\ninfo tvariables\ninfo tracepoints\n")
	output := gdbtest.RunMultiarch(t, script.String())
	w.compareFrames(t, output)
	w.compareScalars(t, scalars, strings.Split(output.Section(t, "values"), "\n")[1:])
	if i := strings.Index(strings.ToLower(output.All), "warning"); i >= 0 {
		t.Errorf("GDB warns: %.200s", output.All[i:])
	}
	told := output.Section(t, "tell")
	for _, text := range []string{
		"Data collected at tracepoint 1, trace frame 0:", "$most = 9223372036854775807",
		"Trace stopped by a tstop command", "Buffer contains 4 trace frames (of 5 created total)", "Trace user is ada",
	} {
		if !strings.Contains(told, text) {
			t.Errorf("GDB does not print %q:\n%s", text, told)
		}
	}
}

// compareScalars holds what GDB printed of registers against their bytes. It prints void for those that it does not name.
func (w *written) compareScalars(t *testing.T, scalars []*tdesc.Slot, printed []string) {
	t.Helper()
	compared := 0
	for i, s := range scalars {
		_, got, _ := strings.Cut(printed[i], " = ")
		if got == "void" {
			continue
		}
		compared++
		b, _ := s.Bytes(w.block)
		if want := fmt.Sprintf("%#x", uintOf(b, w.header.Order)); got != want {
			t.Errorf("GDB shows %s as %s, it is %s", s.Reg.Name, got, want)
		}
	}
	if compared < 4 {
		t.Errorf("GDB showed %d registers", compared)
	}
}

// compareFrames holds what was written against what tfile reads, and that against what GDB shows.
func (w *written) compareFrames(t *testing.T, output *gdbtest.Output) {
	t.Helper()
	f, err := tfile.OpenBytes(w.data)
	if err != nil {
		t.Fatal(err)
	}
	if f.Header().Order != w.header.Order || len(f.Findings()) > 0 {
		t.Errorf("read as %v-endian, with findings %v", f.Header().Order, f.Findings())
	}
	compareFile(t, f, output, 1)
	for i, want := range w.frames {
		frame, err := f.Frame(i)
		if err != nil {
			t.Fatal(err)
		}
		want.Registers = map[string]string{}
		if diff := gocmp.Diff(want, toldByFrame(frame, w.header, w.layout, nil)); diff != "" {
			t.Errorf("frame %d (-written +read):\n%s", i, diff)
		}
		if got := frame.Registers(); got != nil && !bytes.Equal(got, w.block) {
			t.Errorf("registers are %x", got)
		}
	}
}

// scalars are the registers that are whole numbers of up to 8 bytes and whole in the block.
func (w *written) scalars() []*tdesc.Slot {
	var all []*tdesc.Slot
	for i := range w.layout.Slots {
		s := &w.layout.Slots[i]
		b, whole := s.Bytes(w.block)
		if whole && len(b) <= 8 && (strings.Contains(s.Reg.Type, "int") || strings.HasSuffix(s.Reg.Type, "_ptr")) {
			all = append(all, s)
		}
	}
	return all
}

func uintOf(b []byte, order arch.ByteOrder) (n uint64) {
	b = slices.Clone(b)
	if order == arch.ByteOrder(binary.LittleEndian) {
		slices.Reverse(b)
	}
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return n
}
