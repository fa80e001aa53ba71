package show

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/test/gdbtest"
	"tracewell/tfile"
)

func TestShowJSON(t *testing.T) {
	got := clitest.Run(t, "show", clitest.Basic, "--json")
	frames := clitest.Objects(t, got.Stdout)
	if got.Status != console.StatusDone || len(frames) != 85 {
		t.Fatalf("exit status %d, %d frames", got.Status, len(frames))
	}
	for i, frame := range frames {
		if frame.Frame != i || frame.Memory == nil || frame.Variables == nil || frame.Collected == nil {
			t.Errorf("line %d lacks something: %+v", i, frame)
		}
		if frame.PC != frame.Registers["rip"] || len(frame.Registers) != 149 {
			t.Errorf("frame %d: pc %s, %d registers", i, frame.PC, len(frame.Registers))
		}
	}
	// What GDB printed of frame 0 when it was recorded.
	if q := frames[0].Memory[4]; q.Address != "0x404080" || q.Bytes != "a052400000000000a05240000000000001000000000000000000000000000000" {
		t.Errorf("q is %+v", q)
	}
	if frames[0].Variables["hits"] != 1 {
		t.Errorf("variables: %v", frames[0].Variables)
	}
}

// TestShowCut cuts a file at many places. Every whole frame before the cut is printed, then where the rest should be.
func TestShowCut(t *testing.T) {
	whole := []byte(clitest.Content(t, clitest.Basic))
	path := filepath.Join(t.TempDir(), "cut.tf")
	cuts := []int{8, 100, 17_000, len(whole) - 5, len(whole) - 4, len(whole) - 3} // the end marker has four bytes, of which two are needed
	for at := 18_000; at < len(whole); at += 20_011 {
		cuts = append(cuts, at)
	}
	for _, cut := range cuts {
		f, err := tfile.OpenBytes(whole[:cut])
		if err == nil {
			t.Fatalf("cut at %d: no error", cut)
		}
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		got := clitest.Run(t, "show", path, "--json")
		if frames := clitest.Objects(t, got.Stdout); len(frames) != f.NumFrames() {
			t.Errorf("cut at %d: %d frames, want %d", cut, len(frames), f.NumFrames())
		}
		if got.Status != console.StatusFailure || !strings.Contains(got.Stderr, "offset ") || !strings.Contains(got.Stderr, path) {
			t.Errorf("cut at %d: exit status %d, message %q", cut, got.Status, got.Stderr)
		}
	}
}

// TestShowReadsStandardInput also from a pipe, in which nothing can be looked up.
// TestShowCountLimits: what limits the frames that are printed limits their number.
func TestShowCountLimits(t *testing.T) {
	for _, test := range []struct{ option, n, want string }{
		{"--last", "3", "3"}, {"--limit", "3", "3"}, {"--last", "1000000", "85"}, {"--limit", "1000000", "85"},
	} {
		if got := clitest.Run(t, "show", clitest.Basic, "--count", test.option, test.n); got.Stdout != test.want+"\n" || got.Status != console.StatusDone {
			t.Errorf("%s %s: %+v, want %s", test.option, test.n, got, test.want)
		}
	}
}

func TestShowReadsStandardInput(t *testing.T) {
	want := clitest.Run(t, "show", clitest.Basic).Stdout
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		io.WriteString(w, clitest.Content(t, clitest.Basic))
		w.Close()
	}()
	if got := clitest.RunWith(t, r, "show", "-"); got.Stdout != want || got.Status != console.StatusDone {
		t.Errorf("exit status %d, %d bytes, want %d; %s", got.Status, len(got.Stdout), len(want), got.Stderr)
	}
}

// TestShowOtherFormats: a trace run shows the same frames in whatever format it is kept.
func TestShowOtherFormats(t *testing.T) {
	want := clitest.Run(t, "show", clitest.Basic, "--json", "--exec", clitest.BasicProgram).Stdout
	for _, name := range []string{"run.txt", "run.txt.gz", "run.tf.zst", "run/"} {
		path := filepath.Join(t.TempDir(), name)
		if name == "run/" {
			path += "/" // which Join takes away
		}
		if got := clitest.Run(t, "convert", clitest.Basic, path); got.Status != console.StatusDone {
			t.Fatalf("%s: exit status %d, %s", name, got.Status, got.Stderr)
		}
		if got := clitest.Run(t, "show", path, "--json", "--exec", clitest.BasicProgram); got.Status != console.StatusDone || got.Stdout != want || got.Stderr != "" {
			t.Errorf("%s: exit status %d, printed %d bytes, want %d; %s", name, got.Status, len(got.Stdout), len(want), got.Stderr)
		}
	}
}

// TestReadingOptions: what a file says wrongly, or cannot say any more, can be said on the command line.
func TestReadingOptions(t *testing.T) {
	whole := []byte(clitest.Content(t, clitest.Basic))
	const header = 29_677 // of frame 5
	damagedLength := bytes.Clone(whole)
	damagedLength[header+5] = 0x7f
	path := filepath.Join(t.TempDir(), "run.tf")
	for _, test := range []struct {
		content []byte
		args    []string
		status  int
		printed string
		message string
	}{
		{damagedLength, []string{"--count"}, console.StatusFailure, "5\n", "offset 29677"},
		{damagedLength, []string{"--count", "--recover"}, console.StatusDone, "84\n", "offset 29677"},
		{whole, []string{"--count", "--endian=little"}, console.StatusDone, "85\n", ""},
		{whole, []string{"--count", "--endian=big"}, console.StatusFailure, "0\n", "premature end"},
		{whole, []string{"--count", "--endian=middle"}, console.StatusFailure, "", `must be one of "auto","little","big"`},
		{whole, []string{"--count", "--register-size=-1"}, console.StatusFailure, "", "--register-size: -1 bytes"},
		{whole, []string{"--frames=0:0", "--register-size=100"}, console.StatusFailure, "(damaged)\n", "offset 17062"},
		{bytes.Replace(whole, []byte("R 974\n"), []byte("R 000\n"), 1), []string{"--where=n == 7", "--count", "--register-size=2420"},
			console.StatusDone, "1\n", "register-size"},
	} {
		if err := os.WriteFile(path, test.content, 0o600); err != nil {
			t.Fatal(err)
		}
		got := clitest.Run(t, append([]string{"show", path}, test.args...)...)
		if got.Status != test.status || !strings.HasSuffix(got.Stdout, test.printed) || !strings.Contains(got.Stderr, test.message) {
			t.Errorf("%q: exit status %d, printed %q, message %s", test.args, got.Status, got.Stdout, got.Stderr)
		}
	}
}

// TestClosedPipe: the reader of the output goes away after the first line, as head does. The binary is run because a
// closed standard output is a signal to a process.
func TestClosedPipe(t *testing.T) {
	for _, args := range [][]string{{"show", clitest.Basic, "--json"}, {"convert", clitest.Basic, "-", "--to", "txt"}} {
		cmd := exec.Command(gdbtest.Binary(t), args...)
		var messages bytes.Buffer
		cmd.Stderr = &messages
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, 100)); err != nil {
			t.Error(err)
		}
		out.Close()
		if err := cmd.Wait(); err != nil || messages.Len() > 0 {
			t.Errorf("%v: %v, message %q", args, err, &messages)
		}
	}
}

// TestFullDisk is a failure to write that is not a closed pipe.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	messages, err := os.Create(filepath.Join(t.TempDir(), "messages"))
	if err != nil {
		t.Fatal(err)
	}
	defer messages.Close()
	for _, args := range [][]string{{"show", clitest.Basic}, {"show", clitest.Basic, "--json"}, {"show", clitest.Basic, "--frame", "0"}, {"info", clitest.Basic}} {
		status := clitest.CommandLine(args, console.Streams{In: os.Stdin, Out: full, Err: messages})
		if status != console.StatusFailure {
			t.Errorf("%q: exit status %d", args, status)
		}
	}
	if got := clitest.Content(t, messages.Name()); !strings.Contains(got, "no space left on device") {
		t.Errorf("the message is %q", got)
	}
}

// TestWarnings: what is not as it should be is told, without an end.
func TestWarnings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "odd.tf")
	odd := "\x7fTRACE0\nR 8\n" + strings.Repeat("nonsense \x1b[31m\n", 30) + "\n\x00\x00\x00\x00"
	if err := os.WriteFile(path, []byte(odd), 0o600); err != nil {
		t.Fatal(err)
	}
	got := clitest.Run(t, "show", path)
	lines := strings.Count(got.Stderr, "\n")
	if got.Status != console.StatusDone || lines != console.WarningLimit+1 || strings.Contains(got.Stderr, "\x1b") {
		t.Errorf("exit status %d, %d lines: %s", got.Status, lines, got.Stderr)
	}
	if !strings.Contains(got.Stderr, "warning: offset 12: unknown-line") || !strings.Contains(got.Stderr, ": 20 more warnings\n") {
		t.Errorf("the message is %s", got.Stderr)
	}
}

// TestGDBAgrees holds the real GDB's idea of frames against show --json.
func TestGDBAgrees(t *testing.T) {
	frames := clitest.Objects(t, clitest.Run(t, "show", clitest.Basic, "--json").Stdout)
	var script strings.Builder
	script.WriteString("target tfile " + clitest.Absolute(t, clitest.Basic) + "\n")
	picked := []int{0, 3, 4, 7, 20, 84}
	for _, n := range picked {
		script.WriteString("-- " + strconv.Itoa(n) + " --\ntfind " + strconv.Itoa(n) + "\n")
		script.WriteString(`printf "%#lx %#lx %#lx %#x\n", $rip, $rsp, $rdi, $eflags` + "\n")
		block := frames[n].Memory[0]
		script.WriteString("x/" + strconv.Itoa(len(block.Bytes)/2) + "xb " + block.Address + "\n")
	}
	output := gdbtest.Run(t, clitest.Absolute(t, clitest.BasicProgram), script.String())
	for _, n := range picked {
		lines := strings.Split(output.Section(t, strconv.Itoa(n)), "\n")
		r := frames[n].Registers
		want := strings.Join([]string{r["rip"], r["rsp"], r["rdi"], r["eflags"]}, " ")
		if !slices.Contains(lines, want) {
			t.Errorf("frame %d: show has %s, GDB printed\n%s", n, want, strings.Join(lines, "\n"))
		}
		if got := clitest.Examined(lines); got != frames[n].Memory[0].Bytes {
			t.Errorf("frame %d: show has memory %s, GDB %s", n, frames[n].Memory[0].Bytes, got)
		}
	}
}

// TestInfoCut: what there is of a file is described, and where it ends is told in both forms.
func TestInfoCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cut.tf")
	if err := os.WriteFile(path, []byte(clitest.Content(t, clitest.Basic)[:30_000]), 0o600); err != nil {
		t.Fatal(err)
	}
	const where = "premature end of the trace file: offset 29677: found 317 bytes"
	got := clitest.Run(t, "info", path)
	if got.Status != console.StatusFailure || !strings.Contains(got.Stderr, where) || !strings.Contains(got.Stdout, "frames           5, of 2544 bytes on average\n") {
		t.Errorf("exit status %d, message %q, printed\n%s", got.Status, got.Stderr, got.Stdout)
	}
	got = clitest.Run(t, "info", path, "--json")
	var object struct {
		Frames int
		Error  string
	}
	err := json.Unmarshal([]byte(got.Stdout), &object)
	if err != nil || got.Status != console.StatusFailure || object.Frames != 5 || !strings.Contains(object.Error, where) {
		t.Errorf("exit status %d, object %+v, error %v", got.Status, object, err)
	}
}
