package tfiletest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/gdbtest"
	"tracewell/tdesc/machine"
	"tracewell/tfile"
	"tracewell/trace"
)

// headerAMD64 is for files with frames of tracepoint 1, which is at site.
func headerAMD64(t *testing.T) tfile.Header {
	t.Helper()
	d := machine.LinuxAMD64.Target()
	layout, err := d.Layout()
	if err != nil {
		t.Fatal(err)
	}
	return tfile.Header{
		Order:        binary.LittleEndian,
		RegisterSize: layout.Size,
		Description:  string(d.XML()),
		Status:       &trace.Status{Reason: trace.ReasonStop, Frames: 2, Created: 2, Size: 1 << 30},
		Tracepoints:  []trace.Tracepoint{at(1)},
	}
}

// at is a tracepoint at an address of its own, site for the first.
func at(n trace.Number) trace.Tracepoint {
	addr := arch.Addr(site + 16*(n-1))
	return trace.Tracepoint{Number: n, Addr: addr, Enabled: true, Source: trace.Source{At: "*" + addr.String()}}
}

// TestLongFrame writes a frame of 100 MB and a short one behind it, and reads both, as GDB does.
func TestLongFrame(t *testing.T) {
	const size = 100_000_000
	const base = 0x10000000
	path := filepath.Join(t.TempDir(), "long.tf")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := tfile.NewWriter(f, headerAMD64(t))
	if err != nil {
		t.Fatal(err)
	}
	b := tfile.Builder{Order: binary.LittleEndian}
	b.Begin(make([]byte, 0, size+size/1000), 1)
	for at := 0; at < size; {
		memory := b.Memory(arch.Addr(base+at), size-at)
		for i := range memory {
			memory[i] = byte((at + i) >> 12)
		}
		at += len(memory)
	}
	long := b.Finish()
	short := tfile.Builder{Order: binary.LittleEndian}
	short.Begin(nil, 1)
	short.AppendMemory(base, []byte("short"))
	for _, frame := range [][]byte{long, short.Finish()} {
		if err := w.WriteFrame(frame); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	readLongFrame(t, f, long, base+size)
	const last = (size - 1) >> 12 & 0xff
	output := gdbtest.Run(t, "", fmt.Sprintf(`
		target tfile %s
		-- long --
		tfind 0
		x/1xb %#x
		x/1xb %#x
		x/1xb %#x
		-- short --
		tfind 1
		x/s %#x
	`, path, base+65535, base+size-1, base+size, base))
	for section, wanted := range map[string][]string{
		"long":  {"Found trace frame 0", ":\t0x0f\n", fmt.Sprintf(":\t%#02x\n", last), ":\t<unavailable>"},
		"short": {"Found trace frame 1", `"short"`},
	} {
		for _, want := range wanted {
			if text := output.Section(t, section); !strings.Contains(text, want) {
				t.Errorf("GDB does not print %q of the %s frame:\n%s", want, section, text)
			}
		}
	}
}

// readLongFrame reads the first frame back, into the bytes of itself so that there are no 100 MB more, and the end of its
// memory.
func readLongFrame(t *testing.T, f *os.File, frame []byte, end arch.Addr) {
	t.Helper()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		t.Fatal(err)
	}
	file, err := tfile.Open(f, size)
	if err != nil {
		t.Fatal(err)
	}
	head := bytes.Clone(frame[:100])
	clear(frame)
	long, err := file.ReadFrame(0, frame)
	if err != nil || file.NumFrames() != 2 || !bytes.Equal(head, long.Bytes()[:100]) {
		t.Fatalf("%d frames, %v", file.NumFrames(), err)
	}
	if err := long.Check(); err != nil {
		t.Error(err)
	}
	memory := make([]byte, 70000)
	from := end - 69999
	if n := long.ReadMemory(from, memory); n != 69999 {
		t.Errorf("%d bytes of memory from %v on, not 69999", n, from)
	}
	for i, c := range memory[:69999] {
		if want := byte((int(from) - 0x10000000 + i) >> 12); c != want {
			t.Fatalf("memory at %v is %#x, not %#x", from+arch.Addr(i), c, want)
		}
	}
}

// TestCrowd writes thousands of tracepoints and variables, and lines as long as GDB takes them.
func TestCrowd(t *testing.T) {
	const tracepoints, variables = 2000, 1500
	h := headerAMD64(t)
	h.Tracepoints = nil
	for n := trace.Number(tracepoints); n > 0; n-- { // GDB keeps numbers that descend
		h.Tracepoints = append(h.Tracepoints, at(n))
	}
	for n := range variables {
		number := trace.VariableNumber(n + 2)
		h.Variables = append(h.Variables, trace.Variable{Number: number, Initial: int64(-n), Name: fmt.Sprint("v", n)})
	}
	name := strings.Repeat("v", longest("tsv 2:0:0:"))
	notes := strings.Repeat("n", longest("status "+h.Status.String()+";notes:"))
	command := collectOf(longest("tp Z1:1000:cmd:0:1e9:"))
	h.Variables[0].Name, h.Status.Notes = name, notes
	h.Tracepoints[tracepoints-1].Source.Commands = []string{command}

	var out bytes.Buffer
	w, err := tfile.NewWriter(&out, h)
	if err != nil {
		t.Fatal(err)
	}
	b := tfile.Builder{Order: h.Order}
	for n := range trace.Number(tracepoints) {
		b.Begin(nil, n+1)
		b.Variable(trace.VariableNumber(n%variables+2), int64(n))
		if err := w.WriteFrame(b.Finish()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	longLines(t, out.Bytes())
	output := gdbtest.Run(t, "", "target tfile "+save(t, out.Bytes())+`
		-- frames --
		tfind 1999
		print $v499
		tfind 0
		tfind tracepoint 2
		print $v1
		tfind none
		-- tell --
	`+tell)
	crowdTold(t, output, name, notes, command)
}

// longest is how many bytes fit in hexadecimal into a line that begins with head.
func longest(head string) int { return (tfile.MaxLine - len(head)) / 2 }

// collectOf is an action of so many bytes.
func collectOf(length int) string {
	list := strings.Repeat("$v1, ", length/5-2) + "$v1"
	return "collect" + strings.Repeat(" ", length-len("collect")-len(list)) + list
}

// longLines looks whether the lines are as long as they can be.
func longLines(t *testing.T, data []byte) {
	t.Helper()
	definitions, _, _ := bytes.Cut(data, []byte("\n\n"))
	long := 0
	for line := range bytes.Lines(definitions) {
		if len(line)-1 >= tfile.MaxLine-1 {
			long++
		}
	}
	if long != 3 {
		t.Errorf("%d long lines", long)
	}
}

// crowdTold looks at what GDB tells of TestCrowd.
func crowdTold(t *testing.T, output *gdbtest.Output, name, notes, command string) {
	t.Helper()
	frames, told := output.Section(t, "frames"), output.Section(t, "tell")
	for _, want := range []string{
		"Found trace frame 1999, tracepoint 2000\n$1 = 1999\n",
		"Found trace frame 0, tracepoint 1\nFound trace frame 1, tracepoint 2\n$2 = 1",
	} {
		if !strings.Contains(frames, want) {
			t.Errorf("GDB does not print %q:\n%s", want, frames)
		}
	}
	for _, want := range []string{
		"\n$" + name + " ", "\n$v1499 ", "\nTrace notes: " + notes + ".\n", "\n        " + command + "\n", "\n2000 ",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("GDB does not print %q", want)
		}
	}
	if n := strings.Count(told, " tracepoint "); n != 2000 {
		t.Errorf("GDB lists %d tracepoints", n)
	}
	if strings.Contains(output.All, "arning") {
		t.Error("GDB warns")
	}
	if t.Failed() {
		t.Logf("GDB printed\n%.2000s", output.All)
	}
}
