package edit

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/internal/test/gdbtest"
	"tracewell/tfile"
	"tracewell/trace"
)

// ripOffset is where rip is in the register blocks of testdata/queue-basic.tf.
const ripOffset = 128

// experiment makes a file of one tracepoint, which collects the registers and variables. The frames have the values of the
// variables by their numbers.
func experiment(t *testing.T, addr arch.Addr, variables []trace.Variable, hits uint64, frames ...map[trace.VariableNumber]int64) *tfile.File {
	t.Helper()
	real, err := os.ReadFile("../testdata/queue-basic.tf")
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := tfile.OpenBytes(real)
	if err != nil {
		t.Fatal(err)
	}
	h := recorded.Header()
	h.Status = &trace.Status{Reason: trace.ReasonStop, Frames: int64(len(frames)), Created: int64(len(frames)), Free: 10, Size: 100}
	h.Variables = variables
	commands := []string{"collect $regs"}
	actions := []trace.Action{{Kind: trace.CollectRegisters, Mask: []byte{0xff}}}
	for _, v := range variables {
		commands = append(commands, "collect $"+v.Name)
		code := []byte{0x2c, 0, byte(v.Number), 0x2e, 0, byte(v.Number), 0x29, 0x27} // getv, tracev, pop, end
		actions = append(actions, trace.Action{Kind: trace.CollectExpression, Code: code})
	}
	h.Tracepoints = []trace.Tracepoint{{Number: 2, Addr: addr, Enabled: true, Actions: actions, Hits: hits,
		Source: trace.Source{At: "*" + addr.String(), Commands: commands}}}

	var file bytes.Buffer
	w, err := tfile.NewWriter(&file, h)
	if err != nil {
		t.Fatal(err)
	}
	b := tfile.Builder{Order: h.Order}
	for _, f := range frames {
		b.Begin(nil, 2)
		registers := b.Registers(h.RegisterSize)
		clear(registers)
		binary.LittleEndian.PutUint64(registers[ripOffset:], uint64(addr))
		for _, v := range variables {
			b.Variable(v.Number, f[v.Number])
		}
		if err := w.WriteFrame(b.Finish()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	made, err := tfile.OpenBytes(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// save writes a content to a file.
func save(t *testing.T, c tfile.Content) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "trace.tf")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := tfile.Write(file, c); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// shown is what GDB prints of a frame: the tracepoint's address and its variables by tdump.
var shown = regexp.MustCompile(`(?m)^(pc|\$\w+|Collected .*|\ttracepoint already hit.*) ?(?:= (.*))?$`)

// TestGDBReadsMerged merges two files in which the numbers mean other things, and has GDB show each frame by what its
// tracepoint collected.
func TestGDBReadsMerged(t *testing.T) {
	a := experiment(t, 0x401131, []trace.Variable{{Number: 5, Name: "count"}, {Number: 6, Name: "size"}}, 2,
		map[trace.VariableNumber]int64{5: 1, 6: 100}, map[trace.VariableNumber]int64{5: 2, 6: 200})
	b := experiment(t, 0x4011b5, []trace.Variable{{Number: 5, Name: "size"}, {Number: 6, Name: "other"}}, 1,
		map[trace.VariableNumber]int64{5: 300, 6: -3})
	c, changes, err := Merge(parts(a, b, a), ByFile, nil)
	if err != nil || len(changes) != 3 {
		t.Fatal(err, changes)
	}
	script := "target tfile " + save(t, c) + "\n-- status --\ntstatus\ninfo tracepoints\n"
	for i := range c.NumFrames() {
		script += fmt.Sprintf("-- %d --\ntfind %d\nprintf \"pc = %%#lx\\n\", $rip\ntdump\n", i, i)
	}
	out := gdbtest.Run(t, "", script)
	fromA := func(count int) []string {
		return []string{"pc = 0x401131", fmt.Sprintf("$count = %d", count), fmt.Sprintf("$size = %d", 100*count)}
	}
	fromB := []string{"pc = 0x4011b5", "$size = 300", "$other = -3"}
	for name, want := range map[string][]string{
		"status": {"Collected 5 trace frames.", "\ttracepoint already hit 4 times", "\ttracepoint already hit 1 time"},
		"0":      fromA(1), "1": fromA(2), "2": fromB, "3": fromA(1), "4": fromA(2),
	} {
		section := out.Section(t, name)
		if diff := cmp.Diff(want, shown.FindAllString(section, -1)); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", name, diff, section)
		}
	}
}

// TestGDBReadsCut: GDB shows of the frames that are left what it shows of them in the whole file.
func TestGDBReadsCut(t *testing.T) {
	const whole = "../testdata/queue-basic.tf"
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	file, err := tfile.OpenBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	var kept []int
	c, err := Select(file, Choice{First: 3, Tracepoints: []trace.Number{3}, Keep: func(i int, _ tfile.Frame) (bool, error) {
		kept = append(kept, i)
		return true, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	show := func(path string, frames []int) (texts []string) {
		script := "target tfile " + path + "\n"
		for i, n := range frames {
			script += fmt.Sprintf("-- %d --\ntfind %d\ninfo registers rip rdi\nx/4xb 0x404030\n", i, n)
		}
		out := gdbtest.Run(t, "", script)
		for i := range frames {
			_, values, _ := bytes.Cut([]byte(out.Section(t, fmt.Sprint(i))), []byte("rip "))
			texts = append(texts, string(values))
		}
		return texts
	}
	var numbers []int
	for i := range c.NumFrames() {
		numbers = append(numbers, i)
	}
	original, left := show(whole, kept), show(save(t, c), numbers)
	if len(kept) == 0 || slices.Contains(left, "") {
		t.Errorf("nothing was shown: %q", left)
	}
	if diff := cmp.Diff(original, left); diff != "" {
		t.Errorf("what GDB prints (-whole +cut):\n%s", diff)
	}
}
