package tfile

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/gdbtest"
	"tracewell/trace"
)

func save(t *testing.T, data []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "trace.tf")
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// show is a script that opens a trace file.
func show(file string, commands ...string) string {
	return "target tfile " + file + "\n" + strings.Join(commands, "\n")
}

// TestGDBReadsWhatIsWritten builds a file from nothing and lets GDB show it.
func TestGDBReadsWhatIsWritten(t *testing.T) {
	recorded := openTestdata(t, "queue-basic.tf").Header()
	h := Header{
		Order:        binary.LittleEndian,
		RegisterSize: recorded.RegisterSize,
		Description:  recorded.Description,
		Status: &trace.Status{Reason: trace.ReasonError, Description: "divide by zero", Tracepoint: 2,
			Frames: 2, Created: 3, Free: 500, Size: 1000, Circular: true, User: "ada", Notes: "a note"},
		Variables: []trace.Variable{{Number: 5, Initial: -9, Name: "count"}},
		Tracepoints: []trace.Tracepoint{
			{Number: 2, Addr: 0x401131, Enabled: true, Pass: 4,
				Actions: []trace.Action{{Kind: trace.CollectRegisters, Mask: []byte{0xff}}},
				Source:  trace.Source{At: "*0x401131", Commands: []string{"collect $regs"}}, Hits: 17, Usage: 4096},
		},
	}
	b := Builder{Order: h.Order}
	b.Begin(nil, 2)
	registers := b.Registers(h.RegisterSize)
	clear(registers)
	binary.LittleEndian.PutUint64(registers, 0xfeedface)
	binary.LittleEndian.PutUint64(registers[ripOffset:], 0x401131)
	b.AppendMemory(0x404020, []byte("seen by GDB\x00"))
	b.Variable(5, -1234567890123)
	first := len(b.Finish())
	b.Begin(b.Finish(), 2)
	frames := b.Finish()

	file := save(t, write(t, h, frames[:first], frames[first:]))
	out := gdbtest.Run(t, "", show(file, "tstatus", "info tracepoints", "tfind 0", "print $rip", "print/x $rax",
		"x/s 0x404020", "print $count", "tfind 1", "tfind 2")).All
	for _, want := range []string{
		"Trace stopped by an error (divide by zero, tracepoint 2)",
		"Buffer contains 2 trace frames (of 3 created total)",
		"Trace buffer is circular",
		"Trace user is ada",
		"Trace notes: a note",
		"tracepoint already hit 17 times",
		"trace buffer usage 4096 bytes",
		"pass count 4",
		"collect $regs",
		"Found trace frame 0",
		"0x401131",
		"0xfeedface",
		`"seen by GDB"`,
		"= -1234567890123",
		"Found trace frame 1",
		"No trace frame found", // frame 2: GDB came to the end marker
	} {
		if !strings.Contains(out, want) {
			t.Errorf("GDB did not print %q", want)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

// TestGDBReadsARewrittenFile lets GDB show all of a file of its own and the same file written anew.
func TestGDBReadsARewrittenFile(t *testing.T) {
	f := openTestdata(t, "queue-basic.tf")
	var frames [][]byte
	for i := range f.NumFrames() {
		frames = append(frames, frameOf(t, f, i).Bytes())
	}
	commands := []string{"tstatus", "info tvariables", "info tracepoints"}
	for i := range frames {
		commands = append(commands, fmt.Sprintf("tfind %d", i), "info registers rip rax rsp eflags", "info tvariables")
	}
	original := gdbtest.Run(t, "", show("testdata/queue-basic.tf", commands...)).All
	rewritten := gdbtest.Run(t, "", show(save(t, write(t, f.Header(), frames...)), commands...)).All
	if n := strings.Count(original, "Found trace frame"); n != len(frames) {
		t.Errorf("GDB found %d of %d frames of its own file:\n%s", n, len(frames), original)
	}
	if diff := cmp.Diff(original, rewritten); diff != "" {
		t.Errorf("what GDB prints (-own file +rewritten):\n%s", diff)
	}
}
