//go:build unix

package convert

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/test/gdbtest"
)

// executionTrace is one as gen-trace writes it, of two processors.
func executionTrace(t *testing.T) string {
	t.Helper()
	got := clitest.Run(t, "gen-trace", "-n", "2k", "--cpus", "2")
	if got.Status != console.StatusDone {
		t.Fatalf("%+v", got)
	}
	return got.Stdout
}

// TestConvertExecution writes an execution trace in every dialect, compressed and not, and comes back to the same bytes.
func TestConvertExecution(t *testing.T) {
	want := executionTrace(t)
	folder := t.TempDir()
	plain, back := filepath.Join(folder, "run.log"), filepath.Join(folder, "back.trace")
	clitest.Put(t, plain, []byte(want))
	for _, name := range []string{"run.jsonl", "run.ndjson.gz", "run.json.zst", "run.log.gz", "run.trace.zst", "run"} {
		path := filepath.Join(folder, "out-"+name)
		for _, step := range [][]string{{plain, path}, {path, back}} {
			if got := clitest.Run(t, append([]string{"convert"}, step...)...); got != (clitest.Outcome{}) {
				t.Fatalf("%v: %+v", step, got)
			}
		}
		if clitest.Content(t, back) != want {
			t.Errorf("by way of %s other bytes came back", name)
		}
	}
	if got := clitest.Run(t, "match", plain, filepath.Join(folder, "out-run.jsonl")); got.Status != console.StatusDone {
		t.Errorf("match of the trace and its JSON lines: %+v", got)
	}
}

// TestConvertCopies: a trace in a dialect that is read only can be compressed, and no other trace can be made one in it.
func TestConvertCopies(t *testing.T) {
	const log = "0x00000000: 00000297  auipc t0,0\nnothing that is known\n"
	folder := t.TempDir()
	plain, packed, back := filepath.Join(folder, "plain"), filepath.Join(folder, "out.log.zst"), filepath.Join(folder, "back")
	clitest.Put(t, plain, []byte(log))
	for _, step := range [][]string{{plain, packed, "--from", "qemu", "--to", "qemu"}, {packed, back, "--from", "qemu", "--to", "qemu"}} {
		if got := clitest.Run(t, append([]string{"convert"}, step...)...); got != (clitest.Outcome{}) {
			t.Fatalf("%v: %+v", step, got)
		}
	}
	if got := clitest.Content(t, back); got != log {
		t.Errorf("the copy is %q", got)
	}
	clitest.Put(t, plain, []byte(executionTrace(t)))
	got := clitest.Run(t, "convert", plain, packed, "--to", "qemu")
	if got.Status != console.StatusFailure || !strings.Contains(got.Stderr, "qemu is read only") {
		t.Errorf("another trace: %+v", got)
	}
}

// TestConvertExecutionPipes: standard input and named pipes may hold any dialect, and standard output is written as --to says.
func TestConvertExecutionPipes(t *testing.T) {
	want := executionTrace(t)
	for _, to := range []string{"json", "jsonl.gz", "matcher", "log.zst"} {
		got := clitest.RunWith(t, clitest.Feed(t, []byte(want)), "convert", "-", "-", "--to", to)
		if got.Status != console.StatusDone || got.Stderr != "" {
			t.Errorf("%s: exit status %d, %s", to, got.Status, got.Stderr)
		}
		back := clitest.RunWith(t, clitest.Feed(t, []byte(got.Stdout)), "convert", "--to=matcher", "-", "-")
		if back.Status != console.StatusDone || back.Stdout != want {
			t.Errorf("%s back: exit status %d, %d bytes, %s", to, back.Status, len(back.Stdout), back.Stderr)
		}
	}
}

// TestConvertHeader: a dialect that has a header gets it once, in front of all records.
func TestConvertHeader(t *testing.T) {
	in := clitest.Feed(t, []byte("core   0: 3 0x00001000 (0x00000297) x5  0x00001000\ncore   0: 3 0x00001004 (0x02028593)\n"))
	const want = "VERSION 0 4\nVENDOR Tracewell 0 1\nHART 0 RET 0x00001000 0x00000297 MODE 0x3 X 5 0x00001000\n" +
		"HART 0 RET 0x00001004 0x02028593 MODE 0x3\n"
	if got := clitest.RunWith(t, in, "convert", "-", "-", "--to", "rvvi"); got.Stdout != want || got.Stderr != "" {
		t.Errorf("%+v", got)
	}
}

// TestConvertLeads: a dialect in which effects stand in front of the next instruction gets them so.
func TestConvertLeads(t *testing.T) {
	in := clitest.Feed(t, []byte("core   0: 3 0x00001000 (0x00000297) x5  0x00001000\ncore   0: 3 0x00001004 (0x02028593) x11 0x00001020\n"+
		"hello\ncore   0: 3 0x00001008 (0xf1402573)\n"))
	const want = "rip=0x00001000\nx5=0x00001000,rip=0x00001004\nhello\nx11=0x00001020,rip=0x00001008\n"
	if got := clitest.RunWith(t, in, "convert", "-", "-", "--to", "tenet"); got.Stdout != want {
		t.Errorf("%+v", got)
	}
}

// TestConvertNamedPipe: a trace file, compressed or not, may come from a pipe that has been looked into for an execution trace.
func TestConvertNamedPipe(t *testing.T) {
	want := clitest.Content(t, clitest.Basic)
	folder := t.TempDir()
	pipe, out := filepath.Join(folder, "pipe"), filepath.Join(folder, "out.tf")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"run.tf", "run.tf.gz", "run.tf.zst"} {
		packed := clitest.Content(t, clitest.Pack(t, name, []byte(want)))
		go os.WriteFile(pipe, []byte(packed), 0o600)
		if got := clitest.Run(t, "convert", pipe, out); got != (clitest.Outcome{}) || clitest.Content(t, out) != want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestConvertExecutionBad: lines that are no records are kept, counted and shown, and are a failure unless they are allowed.
func TestConvertExecutionBad(t *testing.T) {
	const bad = "garbage \"\xff\x01\"\n"
	want := bad + executionTrace(t) + strings.Repeat(bad, 6)
	folder := t.TempDir()
	in, out, back := filepath.Join(folder, "in.log"), filepath.Join(folder, "out.jsonl"), filepath.Join(folder, "back.log")
	clitest.Put(t, in, []byte(want))
	got := clitest.Run(t, "convert", in, out)
	if got.Status != console.StatusFailure || !strings.HasPrefix(got.Stderr, "tracewell: "+in+
		": 7 lines are no records of ISPRAS Trace Matcher, and kept\n  line 1, column 1: found \"garbage\", expected a time\n") ||
		strings.Count(got.Stderr, "\n") != 6 {
		t.Errorf("%+v", got)
	}
	if got := clitest.Run(t, "convert", out, back, "--max-bad", "6"); got.Status != console.StatusFailure || clitest.Content(t, back) != want {
		t.Errorf("--max-bad 6: %+v", got)
	}
	if got := clitest.Run(t, "convert", out, back, "--max-bad", "7"); got.Status != console.StatusDone || !strings.Contains(got.Stderr, "7 lines") {
		t.Errorf("--max-bad 7: %+v", got)
	}
}

// TestConvertExecutionLong: of a line of megabytes the beginning is kept, and that is told.
func TestConvertExecutionLong(t *testing.T) {
	in := strings.Repeat("x", 3<<20) + "\n1 clk R r8 1\n"
	got := clitest.RunWith(t, clitest.Feed(t, []byte(in)), "convert", "-", "-", "--from=matcher", "--to=matcher", "--max-bad=1")
	if got.Status != console.StatusDone || !strings.Contains(got.Stderr, "standard input: of 1 line longer than 1048576 bytes only the beginning is kept\n") ||
		got.Stdout != in[2<<20:] {
		t.Errorf("exit status %d, %d bytes, %s", got.Status, len(got.Stdout), got.Stderr)
	}
}

// TestConvertExecutionDamaged: of a compressed trace that is cut off what came out is kept.
func TestConvertExecutionDamaged(t *testing.T) {
	trace := executionTrace(t)
	folder := t.TempDir()
	in, out := filepath.Join(folder, "in.gz"), filepath.Join(folder, "out.log")
	packed := clitest.Content(t, clitest.Pack(t, "run.gz", []byte(trace)))
	clitest.Put(t, in, []byte(packed[:len(packed)/2]))
	got := clitest.Run(t, "convert", in, out, "--max-bad=1")
	if got.Status != console.StatusFailure || !strings.Contains(got.Stderr, "tracewell: "+in+": gzip data is cut off behind ") {
		t.Errorf("%+v", got)
	}
	if kept := strings.TrimSuffix(clitest.Content(t, out), "\n"); len(kept) < 1000 || !strings.HasPrefix(trace, kept) {
		t.Errorf("%d bytes are kept", len(kept))
	}
}

// TestConvertExecutionMisplaced: a text cannot tell that an effect is of another processor than the instruction before it.
func TestConvertExecutionMisplaced(t *testing.T) {
	const in = `{"kind":"instruction","address":"0x0","opcode":"0x0"}` + "\n" +
		`{"kind":"register","cpu":1,"name":"r8","value":"0x1"}` + "\n"
	got := clitest.RunWith(t, clitest.Feed(t, []byte(in)), "convert", "-", "-", "--to", "matcher")
	want := clitest.Outcome{Stdout: "0 clk 0 IT (0) 0 0 A svc :\n0 clk R r8 1\n",
		Stderr: "tracewell: standard output: 1 record is of another processor than the instruction before, which ISPRAS Trace Matcher cannot tell\n",
		Status: console.StatusFailure}
	if got != want {
		t.Errorf("%+v", got)
	}
	if got := clitest.RunWith(t, clitest.Feed(t, []byte(in)), "convert", "-", "-", "--to", "json"); got.Status != console.StatusDone {
		t.Errorf("to JSON: %+v", got)
	}
}

// TestConvertFamilies refuses what goes from one kind of trace to the other, and leaves no file.
func TestConvertFamilies(t *testing.T) {
	trace, tf := executionTrace(t), clitest.Content(t, clitest.Basic)
	folder := t.TempDir()
	t.Chdir(folder)
	clitest.Put(t, "x.log", []byte(trace))
	clitest.Put(t, "run.tf", []byte(tf))
	clitest.Put(t, "wide.log", []byte("\xff\xfe1\x00 \x00"))
	clitest.Put(t, "diary", []byte("Dear diary\n"))
	clitest.Put(t, "empty", nil)
	os.Mkdir("folder", 0o700)
	before := clitest.Listing(t, folder)
	for _, test := range []struct{ args, want string }{
		{"run.tf y.log", "y.log: matcher is a format of execution traces, and what is read is a trace file, of frames"},
		{"run.tf - --to matcher", "--to: matcher is a format of execution traces, and what is read is a trace file"},
		{"x.log y.tf", "y.tf: tf is a format of trace files, of frames, and what is read is an execution trace, which can be written as matcher, json, "},
		{"x.log y --to csv.gz", "--to: csv is a format of trace files"},
		{"x.log y/", "y/: ctf is a format of trace files"},
		{"x.log folder", "folder: ctf is a format of trace files"},
		{"run.tf x.log y.tf", "run.tf and x.log cannot be put together: one is an execution trace, the other is none"},
		{"x.log run.tf y.jsonl", "x.log and run.tf cannot be put together"},
		{"x.log x.log y.jsonl", "x.log and x.log are execution traces, which are converted one at a time"},
		{"x.log x.log", "x.log is read, too: write to another file"},
		{"x.log y.jsonl --frames 1:2", "--frames is for trace files, of frames, and x.log is an execution trace"},
		{"x.log y.jsonl --where 1", "--where is for trace files"},
		{"x.log y.jsonl --by-time", "--by-time is for trace files"},
		{"x.log y.jsonl -r rip", "--registers is for trace files"},
		{"x.log y.jsonl --from csv", "--from: csv is written only; what can be read is tf, txt or ctf for trace files, matcher, json, "},
		{"run.tf y.tf --max-bad 3", "--max-bad is for execution traces, and run.tf is none"},
		{"run.tf y.tf --from tf --max-bad 3", "--max-bad is for execution traces, and run.tf is none"},
		{"wide.log y.log", "wide.log is UTF-16, as some programs of Windows write it"},
		{"wide.log y.jsonl", "wide.log: not a trace file: offset 0: found"},
		{"diary y.log", "diary is in no known dialect of execution traces (matcher, json, "},
		{"diary y.jsonl", `diary: not a trace file: offset 0: found "Dear dia", expected "\x7fTRACE0\n"; nor is diary an execution trace: it is in no`},
		{"empty y.log", "empty is empty"},
		{"missing y.log", "missing: no such file or directory"},
	} {
		got := clitest.Run(t, append([]string{"convert"}, strings.Fields(test.args)...)...)
		if got.Status != console.StatusFailure || got.Stdout != "" || !strings.HasPrefix(got.Stderr, "tracewell: "+test.want) {
			t.Errorf("convert %s: %+v\nwant %s", test.args, got, test.want)
		}
		if after := clitest.Listing(t, folder); !slices.Equal(after, before) {
			t.Fatalf("convert %s: left %v", test.args, after)
		}
	}
	if got := clitest.Run(t, "convert", "diary", "-", "--from=matcher", "--to=json", "--max-bad=1"); got.Stdout != "{\"unknown\":\"Dear diary\"}\n" {
		t.Errorf("what the user says is a trace: %+v", got)
	}
}

// TestConvertFollows: a line that was written to a pipe is converted before the next one comes, and the end comes after Ctrl-C,
// when nothing of a file is left.
func TestConvertFollows(t *testing.T) {
	in, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	status := make(chan int)
	go func() {
		status <- clitest.CommandLine([]string{"convert", "-", "-", "--to=json"}, console.Streams{In: in, Out: out, Err: os.Stderr})
	}()
	lines := bufio.NewReader(read)
	for _, value := range []string{"1", "2"} {
		write.WriteString("1 clk R r0 " + value + "\n")
		if line, _ := lines.ReadString('\n'); !strings.HasSuffix(line, `"value":"0x`+value+`"}`+"\n") {
			t.Errorf("got %s", line)
		}
	}
	write.Close()
	if s := <-status; s != console.StatusDone {
		t.Errorf("exit status %d", s)
	}
}

// TestConvertExecutionInterrupted presses Ctrl-C while the next line is waited for.
func TestConvertExecutionInterrupted(t *testing.T) {
	folder := t.TempDir()
	before := clitest.Listing(t, folder)
	in, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	cmd := exec.Command(gdbtest.Binary(t), "convert", "-", filepath.Join(folder, "out.jsonl.gz"))
	cmd.Stdin = in
	var messages strings.Builder
	cmd.Stderr = &messages
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.WriteString(strings.Repeat("1 clk R r0 0\n", 100_000)) // more than a pipe holds: it has been read to nearly the end
	cmd.Process.Signal(os.Interrupt)
	cmd.Wait()
	if cmd.ProcessState.ExitCode() != console.StatusFailure || !strings.Contains(messages.String(), "interrupted") {
		t.Errorf("exit status %d, %s", cmd.ProcessState.ExitCode(), &messages)
	}
	if after := clitest.Listing(t, folder); !slices.Equal(after, before) {
		t.Errorf("left %v", after)
	}
}
