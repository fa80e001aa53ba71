//go:build linux

package linux_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/internal/routine"
	"tracewell/internal/test/testprog"
	"tracewell/target"
	"tracewell/target/linux"
	"tracewell/trace"
	"tracewell/tracepoint"
)

// doomed is in the environment of a test binary that is to trace a process and panic: where, the process, and the address of a
// tracepoint.
const doomed = "TRACEWELL_TEST_DOOMED"

// TestMain is that tracer if it is asked to be, or the guard of what tests attach to.
func TestMain(m *testing.M) {
	linux.RunIfGuard()
	if order := os.Getenv(doomed); order != "" {
		routine.Go(func() { panicAttached(order) })
		select {}
	}
	os.Exit(m.Run())
}

// bomb takes frames, and may panic at the hundredth.
type bomb struct {
	frames int
	armed  bool
	enough chan bool
}

// Take implements tracepoint.Sink.
func (b *bomb) Take([]byte, int) error {
	if b.frames++; b.frames == 100 {
		b.enough <- true
		if b.armed {
			panic("planted")
		}
	}
	return nil
}

// panicAttached traces a process until somebody panics.
func panicAttached(order string) {
	var where string
	var pid int
	var addr arch.Addr
	fmt.Sscan(order, &where, &pid, &addr)
	t, err := linux.New(linux.Streams{})
	if err == nil {
		_, err = t.Attach(pid)
	}
	if err != nil {
		panic(err)
	}
	sink := &bomb{armed: where == "hit", enough: make(chan bool, 1)}
	layout, err := t.Description().Layout()
	if err != nil {
		panic(err)
	}
	engine := tracepoint.New(tracepoint.Layout{
		Order: t.ISA().Order, RegisterBlock: layout.Size, PCOffset: layout.ByNumber(t.ISA().PC).Offset, Sink: sink, SinkOnly: true,
	})
	t.SetHandler(engine.NewHandler())
	err = engine.Define(trace.Tracepoint{Number: 1, Addr: addr, Enabled: true}, false)
	if err == nil {
		err = engine.Start(t, pid)
	}
	if err == nil && where == "check" {
		err = t.InsertBreakpoint(target.ThreadID{PID: pid, TID: pid}, target.Breakpoint{
			Kind: target.Software, Addr: addr, Check: func(target.Snapshot) bool { panic("planted") },
		})
	}
	if err != nil {
		panic(err)
	}
	var all []target.Signal
	for n := range target.Signal(150) {
		all = append(all, n)
	}
	t.PassSignals(all)
	t.Resume([]target.Action{{Thread: target.ThreadID{PID: target.All, TID: target.All}}})
	<-sink.enough
	if where == "goroutine" {
		panic("planted")
	}
	select {}
}

// TestPanicAttached: a panic, of the tracer or any other goroutine, ends the process with a dump, and the one that it was
// attached to lives on without a trace.
func TestPanicAttached(t *testing.T) {
	p := testprog.Build(t, "busy", testprog.Variant{NoPIE: true})
	addr := symbol(t, p.Path, "tick")
	for _, where := range []string{"hit", "check", "goroutine"} {
		t.Run(where, func(t *testing.T) {
			busy := exec.Command(p.Path, "8")
			in, err1 := busy.StdinPipe()
			out, err2 := busy.StdoutPipe()
			if err := errors.Join(err1, err2, busy.Start()); err != nil {
				t.Fatal(err)
			}
			defer busy.Wait()
			defer busy.Process.Kill()
			lines := bufio.NewReader(out)
			fmt.Fprintln(in)
			if _, err := lines.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			maps := executableMaps(t, busy.Process.Pid)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			tracer := exec.CommandContext(ctx, os.Args[0])
			tracer.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %d", doomed, where, busy.Process.Pid, addr))
			var dump bytes.Buffer
			tracer.Stderr = &dump
			var exit *exec.ExitError
			if err := tracer.Run(); !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(dump.String(), "panic: planted") {
				t.Errorf("the tracer ended with %v:\n%s", err, dump.String())
			}
			fmt.Fprintln(in)
			line, err := lines.ReadString('\n')
			if err != nil || !strings.Contains(line, "wrong=0 disorder=0 other=0") {
				t.Errorf("the process prints %q, %v", line, err)
			}
			if after := executableMaps(t, busy.Process.Pid); after != maps {
				t.Errorf("executable mappings were\n%s\nand are\n%s", maps, after)
			}
		})
	}
}

// executableMaps are the mappings of a process that it can execute.
func executableMaps(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	var found strings.Builder
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); strings.Contains(fields[1], "x") {
			found.WriteString(line)
		}
	}
	return found.String()
}
