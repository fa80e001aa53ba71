//go:build linux && amd64

package record

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/printing"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
	"tracewell/view/wire"
)

// TestRecordStatus: the status of the program is handed on, as a shell does.
func TestRecordStatus(t *testing.T) {
	shell := testtool.Path(t, "sh")
	program := testprog.Build(t, "queue", testprog.Variant{}).Path
	for script, want := range map[string]int{
		"exec " + program + " 3": 0, "exit 7": 7, "kill -TERM $$": 128 + int(syscall.SIGTERM), "kill -SEGV $$": 128 + int(syscall.SIGSEGV),
	} {
		got, _ := clitest.RecordInto(t, "-q", "--pending", "--at", "push", "--", shell, "-c", script)
		if got.Status != want {
			t.Errorf("%s: status %d, want %d; it printed\n%s", script, got.Status, want, got.Stderr)
		}
	}
}

// TestRecordFiltered: a program that may filter its system calls has pads nevertheless, which record the thread's id by no call. Only
// to compare that is left to the tracer.
func TestRecordFiltered(t *testing.T) {
	program := testprog.Build(t, "filtered", testprog.Variant{NoPIE: true}).Path
	for _, c := range []struct {
		options []string
		how     string
	}{{nil, "pad"}, {[]string{"--if", "$tid != 0"}, "trap"}} {
		got, _ := clitest.RecordInto(t, append(c.options, "--explain", "--at", "step", "--", program, "10")...)
		if !strings.Contains(got.Stderr, "<step+0>: "+c.how) || !strings.Contains(got.Stderr, "\n10 frames") {
			t.Errorf("%q: want a %s, and 10 frames\n%s", c.options, c.how, got.Stderr)
		}
	}
}

// TestRecordPrints holds lines that are printed to what the program itself prints.
func TestRecordPrints(t *testing.T) {
	p := testprog.Build(t, "queue", testprog.Variant{})
	at := fmt.Sprintf("queue.c:%d", p.Line(t, "pushed"))
	got, path := clitest.RecordInto(t, "-q", "--at", at, "--collect", "*item, q->length, pushes",
		"--format", "push number={item->number} length={q->length} pushes={pushes} {/x item->number}", "--", p.Path, "40")
	var printed []string
	for line := range strings.Lines(got.Stdout) {
		if strings.HasPrefix(line, "push ") && strings.Contains(line, "0x") {
			printed = append(printed, strings.TrimSpace(line))
		}
	}
	var want []string
	for _, r := range testprog.OfKind(testprog.Records(got.Stdout), "push") {
		if r.Fields["label"] != "" {
			want = append(want, fmt.Sprintf("push number=%d length=%d pushes=%d %#x",
				r.Int(t, "number"), r.Int(t, "length"), r.Int(t, "pushes"), r.Int(t, "number")))
		}
	}
	if diff := cmp.Diff(want, printed); diff != "" || len(want) != 40 {
		t.Errorf("%d lines (-program +record)\n%s%s", len(want), diff, got.Stderr)
	}
	// What was printed is in the file, and show shows it the same.
	shown := clitest.Run(t, "show", path, "--exec", p.Path, "--json")
	if n := strings.Count(shown.Stdout, "\n"); n != 40 || strings.Count(shown.Stdout, `"number":`) != 40 {
		t.Errorf("show prints %d lines:\n%.3000s%s", n, shown.Stdout, shown.Stderr)
	}
}

// TestRecordLong: a line with several values cuts a long one, as the table of show does; what asks for the value has all of it.
func TestRecordLong(t *testing.T) {
	p := testprog.Build(t, "collects", testprog.Variant{})
	at := fmt.Sprintf("collects.c:%d", p.Line(t, "collect"))
	got, path := clitest.RecordInto(t, "-q", "--at", at, "--collect", "matrix@8", "--frames", "1", "--format", "|{values}|{matrix@8}|", "--", p.Path)
	parts := strings.Split(got.Stdout, "|")
	if len(parts) != 4 {
		t.Fatalf("it printed %s%s", got.Stdout, got.Stderr)
	}
	whole := parts[2]
	short := string([]rune(whole)[:printing.ShownCharacters-1]) + "…"
	if want := "matrix@8 = " + short; parts[1] != want {
		t.Errorf("{values} is %s\nwant %s", parts[1], want)
	}
	for want, args := range map[string][]string{
		"matrix@8=" + short + "\n":   {"show", path, "--exec", p.Path},
		"matrix@8 = " + whole + "\n": {"show", path, "--exec", p.Path, "--full"},
	} {
		if shown := clitest.Run(t, args...); !strings.Contains(shown.Stdout, want) {
			t.Errorf("%q prints\n%s%s\nwithout %s", args, shown.Stdout, shown.Stderr, want)
		}
	}
}

// TestRecordJSON: with --print --json there is an object a frame, and one at the end that says what came of the run.
func TestRecordJSON(t *testing.T) {
	p := testprog.Build(t, "queue", testprog.Variant{})
	got, path := clitest.RecordInto(t, "-q", "--pending", "--at", "push", "--at", "nowhere", "--collect", "item->number", "--print", "--json", "--", p.Path, "3")
	var objects []string
	for line := range strings.Lines(got.Stdout) {
		if strings.HasPrefix(line, "{") {
			objects = append(objects, line)
		}
	}
	if len(objects) != 4 {
		t.Fatalf("%d objects:\n%s%s", len(objects), got.Stdout, got.Stderr)
	}
	var frame struct {
		Frame     int
		Collected map[string]any
	}
	if err := json.Unmarshal([]byte(objects[2]), &frame); err != nil || frame.Frame != 2 || frame.Collected["item->number"] != 3.0 {
		t.Errorf("%v in %s", err, objects[2])
	}
	var end wire.Run
	if err := json.Unmarshal([]byte(objects[3]), &end); err != nil {
		t.Fatal(err)
	}
	zero := 0
	want := wire.Run{
		File: path, End: "program-ended", Frames: 3, Bytes: end.Bytes, Seconds: end.Seconds, Program: &wire.Program{PID: end.Program.PID, Status: &zero},
		Tracepoints: []wire.Point{
			{Number: 1, At: "push", Locations: end.Tracepoints[0].Locations, Hits: 3, Frames: 3, Bytes: uint64(end.Bytes)},
			{Number: 2, At: "nowhere", Pending: true, Locations: []wire.Location{}},
		},
	}
	if diff := cmp.Diff(want, end); diff != "" || end.Bytes == 0 || len(end.Tracepoints[0].Locations) != 1 {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if !regexp.MustCompile(`tracepoint 2: nowhere was nowhere`).MatchString(got.Stderr) {
		t.Errorf("nothing is said of what was not found:\n%s", got.Stderr)
	}
}

// TestRecordReaderLeaves: who has read enough lines ends the run by going away, which is no error. The program is asked to end,
// and its own last line has no reader either.
func TestRecordReaderLeaves(t *testing.T) {
	p := testprog.Build(t, "sleeper", testprog.Variant{})
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	path := filepath.Join(t.TempDir(), "run.tf")
	status := make(chan int)
	go func() {
		defer writer.Close()
		status <- clitest.CommandLine([]string{"record", "-q", "-o", path, "--at", "tick", "--collect", "n", "--print", "--", p.Path, "1000"}, console.Streams{In: null, Out: writer, Err: null})
	}()
	lines := bufio.NewScanner(reader)
	for lines.Scan() && !strings.Contains(lines.Text(), " tick n = ") {
	}
	reader.Close()
	select {
	case got := <-status:
		if got != 0 && got != 128+int(syscall.SIGPIPE) {
			t.Errorf("status %d", got)
		}
	case <-time.After(time.Minute):
		t.Error("the run goes on")
	}
}

// TestRecordTerminal: a program that has the terminal gets ^C, and the run ends with it.
func TestRecordTerminal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.tf")
	s := clitest.OnPTY(t, nil, "record", "-o", path, "--pending", "--at", "main", "--", testtool.Path(t, "sleep"), "100")
	s.Screen.Shows(t, "Recording ")
	io.WriteString(s.Typist, "\x03")
	if got := s.Status(t); got != 128+int(syscall.SIGINT) {
		t.Errorf("status %d", got)
	}
	s.Screen.Shows(t, "the program was killed by signal 2 (interrupt)")
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

// TestRecordAttached: ^C ends a run over a process that ran before, which goes on.
func TestRecordAttached(t *testing.T) {
	busy := testtool.Command(t, "sleep", "100")
	if err := busy.Start(); err != nil {
		t.Fatal(err)
	}
	defer busy.Process.Kill()
	path := filepath.Join(t.TempDir(), "run.tf")
	s := clitest.OnPTY(t, []string{"NO_COLOR=1"}, "record", "-o", path, "--at", "nanosleep", "--collect", "$rip", "--pid", fmt.Sprint(busy.Process.Pid))
	s.Screen.Shows(t, "per s  frames")
	io.WriteString(s.Typist, "\x03")
	if got := s.Status(t); got != 0 {
		t.Errorf("status %d", got)
	}
	s.Screen.Shows(t, "in "+path+": interrupted")
	if err := busy.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the process is gone: %v", err)
	}
}

// TestRecordForGDB: a file with expressions that GDB cannot collect itself opens in GDB all the same, which shows the rest, and
// show knows all of them by name.
func TestRecordForGDB(t *testing.T) {
	p := testprog.Build(t, "locals", testprog.Variant{NoPIE: true})
	got, path := clitest.RecordInto(t, "-q", "--at", "meet", "--collect", "$pc, counter, library_count, $ax, before + 1", "--step", "1:$sp, counter", "--", p.Path)
	if got.Status != 0 {
		t.Fatal(got.Stderr)
	}
	out := gdbtest.Run(t, p.Path, "target tfile "+path+"\n-- dump --\ntfind 0\ntdump\n-- step --\ntfind 1\ntdump\n")
	if dump := out.Section(t, "dump"); !strings.Contains(dump, "library_count = 0") || !strings.Contains(dump, "$rip = ") {
		t.Errorf("GDB shows\n%s", dump)
	}
	if dump := out.Section(t, "step"); !strings.Contains(dump, "$rsp = ") {
		t.Errorf("GDB shows\n%s", dump)
	}
	shown := clitest.Run(t, "show", path, "--exec", p.Path, "--frame", "0")
	for _, want := range []string{"\ncounter = 100\n", "\nlibrary_count = 0\n", "\nbefore + 1 = 78\n"} {
		if !strings.Contains(shown.Stdout, want) {
			t.Errorf("show lacks %q in\n%s", want, shown.Stdout)
		}
	}
}

// TestRecordFullDisk: a limit to the size of files is met as a full disk is. What there is room for is in the file, which is whole,
// and the run says how much that is.
func TestRecordFullDisk(t *testing.T) {
	binary := gdbtest.Binary(t)
	program := testprog.Build(t, "queue", testprog.Variant{}).Path
	for name, options := range map[string]string{"streamed": "", "buffered": "--buffer 8M"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			command := fmt.Sprintf("ulimit -f 200; exec %s record --at push --collect '$regs' %s -o run.tf -- %s 500", binary, options, program)
			cmd := testtool.Command(t, "sh", "-c", command)
			cmd.Dir = dir
			printed, err := cmd.CombinedOutput()
			if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != console.StatusFailure {
				t.Fatalf("%v:\n%s", err, printed)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
				t.Errorf("files %q", left)
			}
			file := filepath.Join(dir, "run.tf")
			if got := clitest.Run(t, "check", file); got.Status != console.StatusDone {
				t.Errorf("check: %s", got.Stdout)
			}
			var described struct{ Frames int }
			if err := json.Unmarshal([]byte(clitest.Run(t, "info", file, "--json").Stdout), &described); err != nil || described.Frames == 0 {
				t.Errorf("%d frames, %v", described.Frames, err)
			}
			for _, want := range []string{fmt.Sprintf("%d frames, ", described.Frames), "file too large", "push "} {
				if !strings.Contains(string(printed), want) {
					t.Errorf("no %q in\n%s", want, printed)
				}
			}
		})
	}
}

// TestCheckOfARecording: a recording says where its program was loaded, be it anywhere, and breaks no rule.
func TestCheckOfARecording(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		program := testprog.Build(t, "queue", testprog.Variant{NoPIE: fixed}).Path
		recorded, path := clitest.RecordInto(t, "-q", "--at", "push", "--collect", "$args", "--", program, "5")
		if recorded.Status != console.StatusDone {
			t.Fatal(recorded.Stderr)
		}
		for _, args := range [][]string{{"check", path}, {"check", path, "--exec", program}} {
			if got := clitest.Run(t, args...); got.Status != console.StatusDone {
				t.Errorf("linked to a fixed address %v: status %d\n%s", fixed, got.Status, got.Stdout)
			}
		}
	}
}
