//go:build linux && amd64

package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tracewell/internal/test/floor"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
	"tracewell/record"
	"tracewell/record/local"
	"tracewell/record/plan"
	"tracewell/target"
)

// method is how to trace some way. It is given calls of the traced function, enough for a sample of some tenths of a second.
type method struct {
	way   way
	calls int
	trace func(b *testing.B, program *testprog.Program, j job, calls string) (printed string)
}

// methods are all of them. What is measured here is the stop, so tracewell makes no pads.
func methods(b *testing.B) []method {
	return []method{
		{bareFloor, 5000, underFloor},
		{tracewell, 5000, underServer(nil, "--no-pads")},
		{recorder, 5000, underRecord},
		{gdbserver, 1500, underServer([]string{testtool.Path(b, "gdbserver")})},
	}
}

// reportLine is what the program prints in the end.
var reportLine = regexp.MustCompile(`^done site=(\w+) calls=(\d+) wrong=0 .*ns_per_call=([0-9.]+)\n$`)

// measure returns the nanoseconds that a call takes under trace.
func (m method) measure(b *testing.B, program *testprog.Program, j job) float64 {
	b.Helper()
	calls := strconv.Itoa(m.calls)
	printed := m.trace(b, program, j, calls)
	match := reportLine.FindStringSubmatch(printed)
	if match == nil || match[1] != j.site || match[2] != calls {
		b.Fatalf("%s, %s: the program printed %q", m.way, j.site, printed)
	}
	ns, err := strconv.ParseFloat(match[3], 64)
	if err != nil {
		b.Fatal(err)
	}
	return ns
}

// underFloor traces with nothing but ptrace. GDB's $regs includes the vector registers, so collecting them is part of the
// floor; no more than the general registers is needed for a condition.
func underFloor(b *testing.B, program *testprog.Program, j job, calls string) string {
	b.Helper()
	site, err := floor.Locate(program.Path, "tick_"+j.site, "buffer")
	if err != nil {
		b.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	hits, err := floor.Run(w, site, j.work == collects, program.Path, calls, j.site)
	w.Close()
	if err != nil {
		b.Fatal(err)
	}
	if strconv.Itoa(hits) != calls {
		b.Fatalf("%d hits of %s", hits, calls)
	}
	printed, err := io.ReadAll(r)
	if err != nil {
		b.Fatal(err)
	}
	return string(printed)
}

// script is given the server and what is to happen. The program has flushed its output when it arrives at _exit.
const script = `
	target remote %[1]s
	break main
	continue
	%[2]s
	break _exit
	continue
	-- status --
	tstatus
	kill
`

// traced begins a run with the trace buffer so large that all frames fit: no way is measured dropping them.
const traced = `
	set trace-buffer-size 67108864
	trace tick_%[1]s%[2]s
	actions
		collect $regs, buffer
	end
	tstart
`

// never is a condition that no call meets. Servers evaluate it, or each hit would take GDB a hundred times as long.
const never = " if $rdi == -1"

// commands are what is to happen at a site.
func (j job) commands() string {
	switch j.work {
	case breakpointFalse:
		return "break tick_" + j.site + never
	case conditionFalse:
		return fmt.Sprintf(traced, j.site, never)
	}
	return fmt.Sprintf(traced, j.site, "")
}

// underServer traces with GDB and a server, nil for tracewell serve.
func underServer(server []string, flags ...string) func(*testing.B, *testprog.Program, job, string) string {
	return func(b *testing.B, program *testprog.Program, j job, calls string) string {
		b.Helper()
		s := gdbtest.Start(b, gdbtest.Config{
			Server: server, Flags: flags, Comm: "localhost:0", Command: []string{program.Path, calls, j.site},
		})
		output := gdbtest.Run(b, program.Path, fmt.Sprintf(script, s.Address, j.commands()))
		s.Wait(b)
		want := map[work]string{
			collects:        "Collected " + calls + " trace frames.",
			conditionFalse:  "Collected 0 trace frames.",
			breakpointFalse: "No trace has been run on the target.",
		}[j.work]
		if status := output.Section(b, "status"); !strings.Contains(status, want) {
			b.Fatalf("after %s calls of %s GDB says\n%s\nwant %s", calls, j.site, status, want)
		}
		return s.Stdout()
	}
}

// underRecord traces without GDB, into a file.
func underRecord(b *testing.B, program *testprog.Program, j job, calls string) string {
	b.Helper()
	printed, err := os.Create(filepath.Join(b.TempDir(), "printed"))
	if err != nil {
		b.Fatal(err)
	}
	defer printed.Close()
	script := "trace tick_" + j.site
	if j.work == conditionFalse {
		script += never
	}
	var p plan.Plan
	if err := p.AddScript("bench", script+"\nactions\ncollect $regs, buffer\nend\n"); err != nil {
		b.Fatal(err)
	}
	s, err := local.Open(local.Config{
		Config:  record.Config{Plan: &p, Output: filepath.Join(b.TempDir(), "run.tf"), TrapsOnly: true},
		Program: target.Program{Path: program.Path, Args: []string{calls, j.site}},
		Streams: target.Streams{Out: printed},
	})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	result, err := s.Run(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	want := calls
	if j.work == conditionFalse {
		want = "0"
	}
	if frames := strconv.FormatInt(result.Feed.Frames, 10); frames != want {
		b.Fatalf("%s frames of %s calls of %s, want %s", frames, calls, j.site, want)
	}
	text, err := os.ReadFile(printed.Name())
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}
