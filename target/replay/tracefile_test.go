package replay

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/target"
	"tracewell/target/fake"
	"tracewell/tfile"
	"tracewell/trace"
)

// made is a frame to write.
type made struct {
	tracepoint trace.Number
	pc         arch.Addr // 0 for a frame without registers
	static     bool      // it has static trace data
}

// toyFile writes a trace file of the toy machine: tracepoint 1 at one place, 2 at two, 3 with while-stepping.
func toyFile(t testing.TB, frames ...made) []byte {
	t.Helper()
	layout, err := fake.ToyDescription().Layout()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := tfile.NewWriter(&out, tfile.Header{
		Order: binary.LittleEndian, RegisterSize: layout.Size, Description: string(fake.ToyDescription().XML()),
		Status:    &trace.Status{Running: true, Reason: trace.ReasonNotRun, Frames: 2, Created: 9, Free: 1, Size: 2},
		Variables: []trace.Variable{{Number: 3, Name: "c"}, {Number: 2, Name: "b"}},
		Tracepoints: []trace.Tracepoint{
			{Number: 1, Addr: 0x1000, Enabled: true, Hits: 4, Usage: 40}, {Number: 3, Addr: 0x3000, Enabled: true, Step: 2},
			{Number: 2, Addr: 0x2000, Enabled: true}, {Number: 2, Addr: 0x2100, Enabled: true},
		},
	}, tfile.KeepStatic())
	if err != nil {
		t.Fatal(err)
	}
	b := tfile.Builder{Order: binary.LittleEndian}
	for i, f := range frames {
		b.Begin(nil, f.tracepoint)
		if f.static {
			b.AppendStatic([]byte("static"))
		}
		if f.pc != 0 {
			block := b.Registers(layout.Size)
			clear(block)
			binary.LittleEndian.PutUint64(block[24:], uint64(f.pc))
		}
		b.AppendMemory(0x8000, []byte{byte(i)})
		if f.static {
			b.AppendStatic([]byte("more"))
		}
		if err := w.WriteFrame(b.Finish()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func openToy(t testing.TB, frames ...made) *TraceFile {
	t.Helper()
	content, err := tfile.OpenBytes(toyFile(t, frames...))
	if err != nil {
		t.Fatal(err)
	}
	f, _, err := NewTraceFile(content, TraceFileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// some are frames of which all is known, one of the place is known by its tracepoint, and of two it is not.
var some = []made{
	{tracepoint: 1, pc: 0x1000}, {tracepoint: 2, pc: 0x2100}, {tracepoint: 1}, {tracepoint: 2}, {tracepoint: 3},
	{tracepoint: 3, pc: 0x3004}, {tracepoint: 1, pc: 0x1000, static: true},
}

func TestFrames(t *testing.T) {
	f := openToy(t, some...)
	type told struct {
		pc                arch.Addr
		unplaced, stepped bool
	}
	var got []told
	for i := range some {
		frame, ok, err := f.Frame(i)
		if !ok || err != nil || frame.Number != i || frame.Tracepoint() != some[i].tracepoint {
			t.Fatalf("frame %d is %v of %v, %v, %v", i, frame.Number, frame.Tracepoint(), ok, err)
		}
		got = append(got, told{frame.PC, frame.Unplaced, frame.Stepped})
	}
	want := []told{{pc: 0x1000}, {pc: 0x2100}, {pc: 0x1000}, {unplaced: true}, {unplaced: true}, {pc: 0x3004, stepped: true}, {pc: 0x1000}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(told{})); diff != "" {
		t.Error(diff)
	}
	for _, n := range []int{-1, len(some)} {
		if _, ok, err := f.Frame(n); ok || err != nil {
			t.Errorf("frame %d: %v, %v", n, ok, err)
		}
	}
}

func TestFind(t *testing.T) {
	for _, test := range []struct {
		name  string
		query tfile.Query
		want  []int
	}{
		{"tracepoint", tfile.Query{Kind: tfile.ByTracepoint, Tracepoint: 2}, []int{1, 3}},
		{"no tracepoint", tfile.Query{Kind: tfile.ByTracepoint, Tracepoint: 4}, nil},
		{"pc", tfile.Query{Kind: tfile.ByPC, Low: 0x1000}, []int{0, 2, 6}},
		{"range", tfile.Query{Kind: tfile.ByRange, Low: 0x1000, High: 0x2100}, []int{0, 1, 2, 6}},
		{"outside", tfile.Query{Kind: tfile.ByOutside, Low: 0x1000, High: 0x2100}, []int{5}},
	} {
		f, foreign := openToy(t, some...), openToy(t, some...)
		foreign.file = nil                                       // as that of a Content that is no file
		for _, f := range []*TraceFile{f, f, foreign, foreign} { // of each the second finds all places known
			var got []int
			for from := 0; ; {
				n, ok, err := f.Find(test.query, from)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break
				}
				got, from = append(got, n), n+1
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.name, diff)
			}
		}
		if n, ok, _ := f.Find(test.query, -3); ok != (len(test.want) > 0) || ok && n != test.want[0] {
			t.Errorf("%s: from before the first frame %d, %v", test.name, n, ok)
		}
	}
}

// counting counts the frames that are read of a Content.
type counting struct {
	tfile.Content
	read *int
	fail error
}

func (c counting) ReadFrame(i int, buf []byte) (tfile.Frame, error) {
	*c.read++
	if c.fail != nil {
		return tfile.Frame{}, c.fail
	}
	return c.Content.ReadFrame(i, buf)
}

// TestSearchesReadOnce counts what searches read.
func TestSearchesReadOnce(t *testing.T) {
	f := openToy(t, some...)
	read := 0
	f.content, f.file = counting{f.content, &read, nil}, nil
	find := func(q tfile.Query, from, want, reads int) {
		t.Helper()
		n, ok, err := f.Find(q, from)
		if err != nil || ok != (want >= 0) || ok && n != want {
			t.Errorf("%v from %d found %d, %v, %v", q, from, n, ok, err)
		}
		if read != reads {
			t.Errorf("%v from %d: %d frames were read, expected %d", q, from, read, reads)
		}
	}
	find(tfile.Query{Kind: tfile.ByTracepoint, Tracepoint: 3}, 0, 4, 0)
	find(tfile.Query{Kind: tfile.ByPC, Low: 0x2100}, 0, 1, 2)
	find(tfile.Query{Kind: tfile.ByPC, Low: 0x2100}, 2, -1, 7)
	find(tfile.Query{Kind: tfile.ByOutside, Low: 0, High: 0x3000}, 0, 5, 7)
}

func TestReadingFails(t *testing.T) {
	f := openToy(t, some...)
	broken := errors.New("broken")
	f.view.Content = counting{f.view.Content, new(int), broken}
	f.content, f.file = f.view.Content, nil
	if _, _, err := f.Frame(0); !errors.Is(err, broken) {
		t.Errorf("Frame: %v", err)
	}
	if _, _, err := f.Find(tfile.Query{Kind: tfile.ByPC}, 0); !errors.Is(err, broken) {
		t.Errorf("Find: %v", err)
	}
	if _, err := f.ReadBuffer(0, make([]byte, 8)); !errors.Is(err, broken) {
		t.Errorf("ReadBuffer: %v", err)
	}
	if err := f.Save(io.Discard, ""); !errors.Is(err, broken) {
		t.Errorf("Save: %v", err)
	}
}

// TestDefinitions are in the order in which GDB numbers them as they were, and the run of a file is over.
func TestDefinitions(t *testing.T) {
	f := openToy(t, some...)
	var keys []trace.Key
	for _, tp := range f.Tracepoints() {
		keys = append(keys, tp.Key())
	}
	want := []trace.Key{{Number: 3, Addr: 0x3000}, {Number: 2, Addr: 0x2100}, {Number: 2, Addr: 0x2000}, {Number: 1, Addr: 0x1000}}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Error(diff)
	}
	if v := f.Variables(); len(v) != 2 || v[0].Name != "b" {
		t.Errorf("variables are %v", v)
	}
	status := trace.Status{Reason: trace.ReasonUnknown, Frames: int64(len(some)), Created: 9, Free: 1, Size: 2}
	if diff := cmp.Diff(status, f.Status()); diff != "" {
		t.Error(diff)
	}
	if hits, usage, ok := f.Hits(trace.Key{Number: 1, Addr: 0x1000}); hits != 4 || usage != 40 || !ok {
		t.Errorf("hits are %d, usage %d, %v", hits, usage, ok)
	}
	if _, _, ok := f.Hits(trace.Key{Number: 1, Addr: 0x2000}); ok {
		t.Error("there are hits of a tracepoint that is not there")
	}
}

// TestReadBuffer reads the frames in pieces of every size, and from every place.
func TestReadBuffer(t *testing.T) {
	f := openToy(t, some...)
	plainFrames := slices.Clone(some)
	plainFrames[6].static = false
	var want []byte
	without := openToy(t, plainFrames...)
	for i := range some {
		frame, _, _ := without.Frame(i)
		want = append(want, frame.Bytes()...)
	}
	for _, size := range []int{1, 7, 64, 1000} {
		var got []byte
		for {
			b := make([]byte, size)
			n, err := f.ReadBuffer(int64(len(got)), b)
			got = append(got, b[:n]...)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(want, got) {
			t.Errorf("in pieces of %d: %x, expected %x", size, got, want)
		}
	}
	for _, offset := range []int{len(want) - 1, 5, 70, 69, 0} {
		b := make([]byte, 9)
		n, err := f.ReadBuffer(int64(offset), b)
		if err != nil || !bytes.Equal(b[:n], want[offset:min(offset+9, len(want))]) {
			t.Errorf("at %d: %x, %v", offset, b[:n], err)
		}
	}
	if _, err := f.ReadBuffer(int64(len(want))+1, make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("behind the end: %v", err)
	}
}

// TestSave saves a file that is the same when it is saved again.
func TestSave(t *testing.T) {
	var first, second bytes.Buffer
	f := openToy(t, some...)
	if err := f.Save(&first, f.header.Description); err != nil {
		t.Fatal(err)
	}
	content, err := tfile.OpenBytes(first.Bytes())
	if err != nil || content.NumFrames() != len(some) || len(content.Findings()) > 0 {
		t.Fatalf("%d frames, %v, %v", content.NumFrames(), content.Findings(), err)
	}
	again, warnings, err := NewTraceFile(content, TraceFileOptions{})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%v, %v", warnings, err)
	}
	if err := again.Save(&second, again.header.Description); err != nil {
		t.Fatal(err)
	}
	if first.String() != second.String() {
		t.Errorf("saved again it is\n%q and not\n%q", second.String(), first.String())
	}
}

// TestNotDescribed needs a description where the file has none.
func TestNotDescribed(t *testing.T) {
	content, err := tfile.OpenBytes([]byte(tfile.Magic + "R 24\ntp T1:1000:E:0:0\n\n\x00\x00\x00\x00"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := NewTraceFile(content, TraceFileOptions{}); err == nil || !strings.Contains(err.Error(), "target description") {
		t.Errorf("without a description: %v", err)
	}
	f, warnings, err := NewTraceFile(content, TraceFileOptions{Description: fake.ToyDescription()})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("with one: %v, %v", warnings, err)
	}
	if got := string(f.Target().Description().XML()); got != string(fake.ToyDescription().XML()) {
		t.Errorf("described as %s", got)
	}
}

// TestUndisturbed tries to change a target, and lets it go: the next client finds it as it was.
func TestUndisturbed(t *testing.T) {
	f := openToy(t, some...)
	one := f.Target()
	id := one.Threads()[0]
	for name, err := range map[string]error{
		"registers": one.WriteRegisters(id, make([]byte, 36)), "memory": one.WriteMemory(id, 0x8000, []byte{1}),
		"resume": one.Resume([]target.Action{{Thread: id}}),
	} {
		if err == nil {
			t.Errorf("%s can be changed", name)
		}
	}
	if err := one.Detach(id.PID); err != nil || len(one.Threads()) != 0 {
		t.Errorf("detached: %v, %v", one.Threads(), err)
	}
	if _, err := one.Thread(id); !errors.Is(err, target.ErrNoThread) {
		t.Errorf("the thread that is gone: %v", err)
	}
	if len(f.Target().Threads()) != 1 {
		t.Error("the next client finds no thread")
	}
}

// TestOutsideFrames knows the pc only, and without a program nothing of memory.
func TestOutsideFrames(t *testing.T) {
	one := openToy(t, some...).Target()
	block, known := make([]byte, 36), make([]bool, 36)
	if err := errors.Join(one.ReadRegisters(only, block), one.AvailableRegisters(only, known)); err != nil {
		t.Fatal(err)
	}
	for i := range known {
		if known[i] != (i >= 24 && i < 32) || block[i] != 0 {
			t.Errorf("byte %d is %d, known %v", i, block[i], known[i])
		}
	}
	if n, err := one.ReadMemory(only, 0x1000, make([]byte, 4)); n != 0 || err == nil {
		t.Errorf("memory: %d, %v", n, err)
	}
	if one.Auxv() != nil || one.ExecFile() != nil || one.Files() != nil {
		t.Error("without a program there is something of it")
	}
}

// TestProgram serves what of a program cannot change, and of all files the program's.
func TestProgram(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	content, err := tfile.OpenBytes(toyFile(t, some...))
	if err != nil {
		t.Fatal(err)
	}
	f, _, err := NewTraceFile(content, TraceFileOptions{Program: self})
	if err != nil {
		t.Fatal(err)
	}
	f.program.place(0)
	one := f.Target()
	code := make([]byte, 16)
	if n, err := one.ReadMemory(only, f.program.start(), code); n != len(code) || err != nil {
		t.Fatalf("code at the entry: %d, %v", n, err)
	}
	if !one.ReadOnly().ReadOnly(only, f.program.start(), len(code)) {
		t.Error("code can change")
	}
	if data := f.program.elf.Section(".data"); data != nil && one.ReadOnly().ReadOnly(only, arch.Addr(data.Addr), 1) {
		t.Error("data cannot change")
	}
	vector, err := one.Auxv().ReadAuxv(0)
	if err != nil || len(vector) != 48 || binary.LittleEndian.Uint64(vector[8:]) != uint64(f.program.start()) {
		t.Errorf("the auxiliary vector is %x, %v", vector, err)
	}
	path, err := one.ExecFile().ReadExecFile(1)
	if err != nil || path != f.program.path || !filepath.IsAbs(path) {
		t.Errorf("the program is %q, %v", path, err)
	}
	files := one.Files()
	opened, err := files.Open(0, path, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	magic := make([]byte, 4)
	if _, err := opened.ReadAt(magic, 0); err != nil || string(magic) != "\x7fELF" {
		t.Errorf("it begins with %q, %v", magic, err)
	}
	if stat, err := opened.Stat(); err != nil || stat.Size == 0 {
		t.Errorf("it is %+v, %v", stat, err)
	}
	_, elsewhere := files.Open(0, "/etc/passwd", os.O_RDONLY, 0)
	_, writing := files.Open(0, path, os.O_RDWR, 0)
	_, written := opened.WriteAt([]byte{0}, 0)
	for name, got := range map[string]struct{ err, want error }{
		"another": {elsewhere, target.ENOENT}, "writing": {writing, target.EROFS}, "written": {written, target.EROFS},
		"unlink": {files.Unlink(0, path), target.EROFS},
	} {
		if !errors.Is(got.err, got.want) {
			t.Errorf("%s: %v, expected %v", name, got.err, got.want)
		}
	}
}
