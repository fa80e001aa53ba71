//go:build linux && amd64

package dap_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	protocol "github.com/google/go-dap"

	"tracewell/dap"
	"tracewell/internal/sys"
	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
	"tracewell/record/local"
	"tracewell/tfile"
)

// here records processes of this machine.
func here() dap.Config {
	return dap.Config{Record: local.Open, Terminate: func(pid int) error { return sys.Kill(pid, sys.SIGTERM) }}
}

// built is a program of package testprog, and the path of its source.
func built(t testing.TB, name string, v testprog.Variant) (program *testprog.Program, source string) {
	t.Helper()
	program = testprog.Build(t, name, v)
	return program, program.Source
}

// logged gathers lines of log points, and what the program itself prints, until an event of a kind.
func logged[E protocol.EventMessage](c *client) (lines, printed []string, at E) {
	c.t.Helper()
	at = event[E](c)
	var text strings.Builder
	for _, m := range c.events {
		if e, ok := m.(*protocol.OutputEvent); ok && e.Body.Category == "stdout" {
			if e.Body.Source != nil {
				lines = append(lines, strings.TrimSuffix(e.Body.Output, "\n"))
			} else {
				text.WriteString(e.Body.Output)
			}
		}
	}
	return lines, strings.Split(text.String(), "\n"), at
}

// TestLogPoints prints values of a program that runs, which prints the same by itself.
func TestLogPoints(t *testing.T) {
	for _, v := range []testprog.Variant{{}, {NoPIE: true, Static: true}, {Optimised: true}} {
		t.Run(v.String(), func(t *testing.T) {
			program, source := built(t, "queue", v)
			c := connect(t, here())
			c.start("launch", map[string]any{"program": program.Path, "args": []string{"20"}, "env": map[string]any{"X": "1", "HOME": nil}})
			got := c.breakAt(source,
				protocol.SourceBreakpoint{Line: program.Line(t, "pushed"),
					LogMessage: `push number={item->number} label={item->label} length={q->length} \{x\}`},
				protocol.SourceBreakpoint{Line: program.Line(t, "pushed"), LogMessage: "odd {item->number}",
					Condition: "item->number % 2 == 1", HitCondition: "> 2"},
				protocol.SourceBreakpoint{Line: program.Line(t, "pushed"), LogMessage: "{nothing}"},
				protocol.SourceBreakpoint{Line: program.Line(t, "pushed"), Condition: "number +"})
			for i, verified := range []bool{true, true, false, false} {
				if got[i].Verified != verified || (got[i].Message == "") != verified {
					t.Errorf("breakpoint %d: %+v", i, got[i])
				}
			}
			ask[*protocol.ConfigurationDoneResponse](c, "configurationDone", nil)
			exited := event[*protocol.ExitedEvent](c)
			lines, printed, _ := logged[*protocol.TerminatedEvent](c)
			if exited.Body.ExitCode != 0 {
				t.Errorf("%+v", exited.Body)
			}
			var want []string
			for _, r := range testprog.Records(strings.Join(printed, "\n")) {
				if r.Kind != "push" {
					continue
				}
				number := r.Int(t, "number")
				want = append(want, fmt.Sprintf("push number=%d label=%s length=%d {x}", number, r.Fields["label"], r.Int(t, "length")))
				if number%2 == 1 && number > 4 {
					want = append(want, fmt.Sprintf("odd %d", number))
				}
			}
			if len(want) != 28 || !slices.Equal(lines, want) {
				t.Errorf("log points printed\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
			}
			c.leave(nil)
		})
	}
}

// TestPrintsAtEnd has a program print more than a pipe holds until it ends: all of it is told ahead of the end.
func TestPrintsAtEnd(t *testing.T) {
	const numbers = 100_000
	c := connect(t, here())
	c.start("launch", map[string]any{"program": testtool.Path(t, "seq"), "args": []string{strconv.Itoa(numbers)}})
	ask[*protocol.ConfigurationDoneResponse](c, "configurationDone", nil)
	_, printed, _ := logged[*protocol.TerminatedEvent](c)
	if n := len(printed) - 1; n != numbers || printed[max(n-1, 0)] != strconv.Itoa(numbers) {
		t.Errorf("%d lines are told, of %d", n, numbers)
	}
	c.leave(nil)
}

// TestPrintsOfOrphan has a program leave a process behind that has its streams: the end is told all the same.
func TestPrintsOfOrphan(t *testing.T) {
	c := connect(t, here())
	c.start("launch", map[string]any{"program": testtool.Path(t, "sh"), "args": []string{"-c", "sleep 300 & echo $!"}})
	ask[*protocol.ConfigurationDoneResponse](c, "configurationDone", nil)
	_, printed, _ := logged[*protocol.TerminatedEvent](c)
	pid, err := strconv.Atoi(printed[0])
	if err != nil {
		t.Fatalf("%q, %v", printed, err)
	}
	sys.Kill(pid, sys.SIGKILL)
	c.leave(nil)
}

// TestSnapshots has breakpoints that do not stop the program, and looks at what they have collected when it has ended.
func TestSnapshots(t *testing.T) {
	program, source := built(t, "queue", testprog.Variant{})
	output := filepath.Join(t.TempDir(), "run.tf")
	c := connect(t, here())
	c.start("launch", map[string]any{"program": program.Path, "args": []string{"5"}, "output": output, "stopOnEntry": true})
	c.breakAt(source, protocol.SourceBreakpoint{Line: program.Line(t, "worked")})
	ask[*protocol.ConfigurationDoneResponse](c, "configurationDone", nil)
	if at := event[*protocol.StoppedEvent](c); at.Body.Reason != "entry" {
		t.Errorf("%+v", at.Body)
	}
	c.refused("stackTrace", map[string]any{"threadId": 1})
	// A breakpoint that is set at the entry is there from the beginning.
	set := ask[*protocol.SetFunctionBreakpointsResponse](c, "setFunctionBreakpoints", map[string]any{"breakpoints": []any{
		map[string]any{"name": "pop"}, map[string]any{"name": "malloc_of_no_library"}}}).Body.Breakpoints
	if !set[0].Verified || set[1].Verified {
		t.Errorf("%+v", set)
	}
	c.answer(c.send("continue", map[string]any{"threadId": 1}))
	exited := event[*protocol.ExitedEvent](c)
	stopped := event[*protocol.StoppedEvent](c)
	if exited.Body.ExitCode != 0 || stopped.Body.Reason != "pause" || len(stopped.Body.HitBreakpointIds) != 1 {
		t.Errorf("%+v %+v", exited.Body, stopped.Body)
	}
	stack := c.stack()
	var names []string
	for _, f := range stack[:3] {
		names = append(names, f.Name)
	}
	if !slices.Equal(names, []string{"work", "take", "main"}) || stack[0].Line != program.Line(t, "worked") {
		t.Errorf("%+v", stack)
	}
	if got := c.evaluate("digits * 2"); got != strconv.Itoa(2*5) { // of the fifth item
		t.Error(got)
	}
	locals := c.scopes(stack[0].Id)["Locals"]
	if v := c.variable(locals.VariablesReference, "digits"); v.Value != "5" || v.Type != "long" {
		t.Errorf("%+v", v)
	}
	// Locals of a caller are in the piece of the stack.
	callers := c.scopes(stack[1].Id)["Locals"]
	if v := c.variable(callers.VariablesReference, "factor"); v.Value != "1" {
		t.Errorf("%+v", v)
	}
	if at := c.move("stepBack"); at.Reason != "step" {
		t.Errorf("%+v", at)
	}
	if !strings.HasPrefix(c.place(), "pop:") {
		t.Error(c.place())
	}
	list := ask[*framesResponse](c, "tracewell/frames", nil).Body
	if list.Total != 10 || len(list.Frames) != 10 || !strings.Contains(list.Frames[0].Place, "pop (queue.c:") {
		t.Errorf("%+v", list)
	}
	if got := c.console("hits"); !strings.Contains(got, "5 hits") {
		t.Error(got)
	}
	c.answer(c.send("continue", map[string]any{"threadId": 1}))
	event[*protocol.TerminatedEvent](c)
	c.leave(nil)
	// All of it is in the trace file, which is a recording as any other.
	k := connect(t, dap.Config{})
	k.open(map[string]any{"trace": output, "program": program.Path})
	if name := k.threads()[0].Name; !strings.Contains(name, "frame 0 of 10") {
		t.Error(name)
	}
}

// TestRestartTraceFile goes back to the first frame, with other breakpoints than before.
func TestRestartTraceFile(t *testing.T) {
	program, source := built(t, "queue", testprog.Variant{})
	output := filepath.Join(t.TempDir(), "run.tf")
	c := connect(t, here())
	c.start("launch", map[string]any{"program": program.Path, "args": []string{"9"}, "output": output, "stopOnExit": false})
	pushed := program.Line(t, "pushed")
	c.breakAt(source, protocol.SourceBreakpoint{Line: pushed})
	ask[*protocol.ConfigurationDoneResponse](c, "configurationDone", nil)
	event[*protocol.TerminatedEvent](c)
	c.leave(nil)

	k := connect(t, dap.Config{})
	k.open(map[string]any{"trace": output})
	ask[*protocol.SetExceptionBreakpointsResponse](k, "setExceptionBreakpoints", map[string]any{"filters": []string{}})
	for _, condition := range []string{"item->number == 7", "item->number == 4"} {
		k.breakAt(source, protocol.SourceBreakpoint{Line: pushed, Condition: condition})
		if k.move("continue"); !strings.HasSuffix(condition, k.evaluate("item->number")) {
			t.Errorf("%s: stopped at %s", condition, k.evaluate("item->number"))
		}
		k.move("restart")
		if name := k.threads()[0].Name; !strings.Contains(name, "frame 0 of 9") || k.evaluate("item->number") != "1" {
			t.Errorf("%s after restart", name)
		}
	}
}

// TestTraceFile looks at a trace file.
func TestTraceFile(t *testing.T) {
	program, source := built(t, "queue", testprog.Variant{})
	output := filepath.Join(t.TempDir(), "run.tf")
	c := connect(t, here())
	c.start("launch", map[string]any{"program": program.Path, "args": []string{"30"}, "output": output, "stopOnExit": false})
	pushed := program.Line(t, "pushed")
	c.breakAt(source, protocol.SourceBreakpoint{Line: pushed}, protocol.SourceBreakpoint{Line: program.Line(t, "worked"), LogMessage: "{result}"})
	ask[*protocol.ConfigurationDoneResponse](c, "configurationDone", nil)
	event[*protocol.TerminatedEvent](c)
	c.leave(nil)

	k := connect(t, dap.Config{})
	k.open(map[string]any{"trace": output})
	if stack := k.stack(); stack[0].Name != "push" || stack[1].Name != "main" {
		t.Errorf("%+v", stack)
	}
	k.move("next")
	if !strings.HasPrefix(k.place(), "work:") {
		t.Error(k.place())
	}
	collected := k.scopes(k.stack()[0].Id)["Collected"]
	if v := k.variable(collected.VariablesReference, "result"); v.Value != k.evaluate("result") {
		t.Errorf("%+v", v)
	}
	if at := k.move("stepBack"); at.Reason != "step" || k.evaluate("item->number") != "1" {
		t.Errorf("%+v, %s", at, k.evaluate("item->number"))
	}
	got := k.breakAt(source, protocol.SourceBreakpoint{Line: pushed, Condition: "item->number > 20", HitCondition: "==3"},
		protocol.SourceBreakpoint{Line: 1}, protocol.SourceBreakpoint{Line: pushed, Condition: "none"})
	if !got[0].Verified || got[1].Verified || got[2].Verified {
		t.Errorf("%+v", got)
	}
	if at := k.move("continue"); at.Reason != "breakpoint" || k.evaluate("item->number") != "23" || k.evaluate("item->label[5]") != "50 '2'" {
		t.Errorf("%+v at %s", at, k.evaluate("item->number"))
	}
	k.breakAt(source)
	if at := k.move("continue"); at.Description != "at the last frame" {
		t.Errorf("%+v", at)
	}
	if at := k.move("next"); at.Description != "at the last frame" {
		t.Errorf("%+v", at)
	}
	k.breakAt(source, protocol.SourceBreakpoint{Line: pushed, Condition: "item->number == 7"})
	if at := k.move("reverseContinue"); at.Reason != "breakpoint" || k.evaluate("*item.label@1") == "" {
		t.Errorf("%+v", at)
	}
	answer := k.answer(k.send("evaluate", map[string]any{"expression": "find item->number == 9", "context": "repl"}))
	event[*protocol.StoppedEvent](k)
	if !answer.GetResponse().Success || k.evaluate("item->number") != "9" {
		t.Errorf("%+v at %s", answer, k.evaluate("item->number"))
	}
	if got := k.console("find-back item->number == 1000"); got != "no frame there" {
		t.Error(got)
	}
	k.refused("evaluate", map[string]any{"expression": "find", "context": "repl"})
	if got := k.console("tracepoints"); !strings.Contains(got, "30 frames") {
		t.Error(got)
	}
	targets := ask[*protocol.GotoTargetsResponse](k, "gotoTargets", map[string]any{"source": map[string]any{"path": source}, "line": pushed}).Body.Targets
	if len(targets) == 0 {
		t.Fatal("no targets")
	}
	k.move("goto", map[string]any{"threadId": 1, "targetId": targets[0].Id})
	some := ask[*framesResponse](k, "tracewell/frames", map[string]any{"where": "item->number >= 28", "count": 2}).Body
	if len(some.Frames) != 2 || some.Next == 0 || some.Total != 60 {
		t.Errorf("%+v", some)
	}
	words := ask[*protocol.CompletionsResponse](k, "completions", map[string]any{"text": "ite", "column": 4, "frameId": k.stack()[0].Id}).Body.Targets
	if len(words) == 0 || words[0].Label != "item" {
		t.Errorf("%+v", words)
	}
	// What is shown of a variable can be asked for by the expression that comes with it.
	locals := k.scopes(k.stack()[0].Id)["Locals"]
	item := k.variable(locals.VariablesReference, "item")
	for _, v := range k.unfold(item.VariablesReference) {
		if got := k.evaluate(v.EvaluateName); got != v.Value {
			t.Errorf("%s is %s, and %s as a variable", v.EvaluateName, got, v.Value)
		}
	}
}

// TestChange changes breakpoints while the program runs.
func TestChange(t *testing.T) {
	twoHits := regexp.MustCompile(`breakpoint at.* ([2-9]|\d\d+) hits,`)
	program, source := built(t, "ticks", testprog.Variant{})
	c := connect(t, here())
	c.start("launch", map[string]any{"program": program.Path})
	ask[*protocol.ConfigurationDoneResponse](c, "configurationDone", nil)
	event[*protocol.ProcessEvent](c)
	if why := c.refused("pause", map[string]any{"threadId": 1}); !strings.Contains(why, "no breakpoint was hit") {
		t.Error(why)
	}
	set := func(function string, list ...protocol.SourceBreakpoint) {
		t.Helper()
		for _, b := range c.breakAt(source, list...) {
			if !b.Verified {
				t.Errorf("%+v", b)
			}
		}
	}
	line := lineOfTick(t, program)
	// next waits for a line of the log that begins in a way.
	next := func(prefix string) string {
		t.Helper()
		for {
			if e := event[*protocol.OutputEvent](c); strings.HasPrefix(e.Body.Output, prefix) {
				return strings.TrimSpace(strings.TrimPrefix(e.Body.Output, prefix))
			}
		}
	}
	set("tick", protocol.SourceBreakpoint{Line: line, LogMessage: "first {now->count}"})
	first, _ := strconv.Atoi(next("first "))
	set("tick", protocol.SourceBreakpoint{Line: line, LogMessage: "first {now->count}"},
		protocol.SourceBreakpoint{Line: line + 1, LogMessage: "second {now->count}", HitCondition: "% 3"})
	second, _ := strconv.Atoi(next("second "))
	if first <= 0 || second <= first {
		t.Errorf("%d, then %d", first, second)
	}
	set("tick", protocol.SourceBreakpoint{Line: line + 1})
	ask[*protocol.ThreadsResponse](c, "threads", nil)
	// Two hits are waited for: in front of the first there may be one of the breakpoints before, in the same call.
	for deadline := time.Now().Add(deadline); !twoHits.MatchString(c.console("hits")); {
		if time.Now().After(deadline) {
			t.Fatal(c.console("hits"))
		}
	}
	c.events = nil
	at := c.move("pause", map[string]any{"threadId": 1})
	if at.Reason != "pause" || !strings.HasPrefix(c.place(), "tick:") {
		t.Errorf("%+v at %s", at, c.place())
	}
	now, _ := strconv.Atoi(c.evaluate("now->count"))
	c.move("stepBack")
	if before, _ := strconv.Atoi(c.evaluate("now->count")); before >= now {
		t.Errorf("%d, and before %d", now, before)
	}
	c.answer(c.send("continue", map[string]any{"threadId": 1}))
	c.refused("next", map[string]any{"threadId": 1})
	c.refused("restart", "x") // what is no object
	c.events = nil
	if m := c.answer(c.send("restart", nil)); !m.GetResponse().Success {
		t.Errorf("%+v", m)
	}
	event[*protocol.ProcessEvent](c)
	c.leave(nil)
}

// TestRegistersAfterChange sets breakpoints while the program runs, where a variable is in a floating-point register: they collect
// what those do that were set before.
func TestRegistersAfterChange(t *testing.T) {
	program, source := built(t, "ticks", testprog.Variant{Optimised: true})
	c := connect(t, here())
	c.start("launch", map[string]any{"program": program.Path})
	ask[*protocol.ConfigurationDoneResponse](c, "configurationDone", nil)
	event[*protocol.ProcessEvent](c)
	line := lineOf(t, program.Source, "weights = weights + half;")
	if got := c.breakAt(source, protocol.SourceBreakpoint{Line: line, LogMessage: "half={half}"}); !got[0].Verified {
		t.Errorf("%+v", got)
	}
	// halves holds a value against those that the program passes: 0.5, 1, 1.5 and so on.
	halves := func(text string) float64 {
		t.Helper()
		half, err := strconv.ParseFloat(text, 64)
		if err != nil || half <= 0 || half*2 != float64(int(half*2)) {
			t.Errorf("half is %q, %v", text, err)
		}
		return half
	}
	var last float64
	for n := 0; n < 3; {
		if text, ok := strings.CutPrefix(strings.TrimSpace(event[*protocol.OutputEvent](c).Body.Output), "half="); ok {
			half := halves(text)
			if n > 0 && half != last+0.5 {
				t.Errorf("%v after %v", half, last)
			}
			last = half
			n++
		}
	}
	c.breakAt(source, protocol.SourceBreakpoint{Line: line})
	for deadline := time.Now().Add(deadline); !strings.Contains(c.console("hits"), "breakpoint at") ||
		strings.Contains(c.console("hits"), " 0 hits,"); {
		if time.Now().After(deadline) {
			t.Fatal(c.console("hits"))
		}
	}
	c.events = nil
	c.move("pause", map[string]any{"threadId": 1})
	shown := c.variable(c.scopes(c.stack()[0].Id)["Locals"].VariablesReference, "half").Value
	if got := halves(c.evaluate("half")); got < last || halves(shown) != got {
		t.Errorf("half is %v, as a local %s, and was %v before", got, shown, last)
	}
	c.leave(nil)
}

// lineOfTick is the first line of the function tick that has code.
func lineOfTick(t testing.TB, program *testprog.Program) int {
	t.Helper()
	return lineOf(t, program.Source, "ticks += now->count;")
}

// begun is a program that runs by itself, in a process group of its own.
func begun(t testing.TB, path string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(path, args...)
	sys.OwnGroup(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		sys.KillGroup(cmd)
		cmd.Wait()
	})
	return cmd
}

// TestAttach traces a process that runs, and lets it go, or ends it.
func TestAttach(t *testing.T) {
	program, source := built(t, "ticks", testprog.Variant{})
	for _, terminates := range []bool{false, true} {
		cmd := begun(t, program.Path)
		c := connect(t, here())
		pid := any(cmd.Process.Pid)
		if terminates { // as editors send it that have a list of processes
			pid = strconv.Itoa(cmd.Process.Pid)
		}
		c.start("attach", map[string]any{"pid": pid})
		c.breakAt(source, protocol.SourceBreakpoint{Line: lineOfTick(t, program), LogMessage: "tick {now->count}"})
		ask[*protocol.ConfigurationDoneResponse](c, "configurationDone", nil)
		for !strings.HasPrefix(event[*protocol.OutputEvent](c).Body.Output, "tick ") {
		}
		if terminates {
			c.leave(map[string]any{"terminateDebuggee": true})
			if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "terminated") {
				t.Error(err)
			}
			continue
		}
		c.leave(nil)
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		if err != nil || !strings.Contains(string(status), "TracerPid:\t0") {
			t.Errorf("%v\n%s", err, status)
		}
	}
	c := connect(t, here())
	ask[*protocol.InitializeResponse](c, "initialize", nil)
	c.refused("attach", map[string]any{"pid": 1 << 30})
	c.refused("attach", map[string]any{"pid": -1})
}

// TestEnds ends sessions in other ways: the client is gone, the program is killed, the client wants the program to go on.
func TestEnds(t *testing.T) {
	program, source := built(t, "ticks", testprog.Variant{})
	launched := func(t *testing.T) (c *client, pid int) {
		c = connect(t, here())
		c.start("launch", map[string]any{"program": program.Path})
		c.breakAt(source, protocol.SourceBreakpoint{Line: lineOfTick(t, program), LogMessage: "tick"})
		ask[*protocol.ConfigurationDoneResponse](c, "configurationDone", nil)
		pid = event[*protocol.ProcessEvent](c).Body.SystemProcessId
		for event[*protocol.OutputEvent](c).Body.Output != "tick\n" {
		}
		return c, pid
	}
	gone := func(pid int) bool { return sys.Kill(pid, 0) != nil }
	t.Run("client", func(t *testing.T) {
		c, pid := launched(t)
		c.conn.Close()
		<-c.served
		c.served <- nil
		if !gone(pid) {
			t.Error("the program goes on")
		}
	})
	t.Run("program", func(t *testing.T) {
		c, pid := launched(t)
		if err := sys.Kill(pid, sys.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if e := event[*protocol.ExitedEvent](c); e.Body.ExitCode != 128+9 {
			t.Errorf("%+v", e.Body)
		}
		event[*protocol.TerminatedEvent](c)
	})
	t.Run("terminate", func(t *testing.T) {
		c, _ := launched(t)
		c.answer(c.send("terminate", nil))
		if e := event[*protocol.ExitedEvent](c); e.Body.ExitCode != 128+15 {
			t.Errorf("%+v", e.Body)
		}
		event[*protocol.TerminatedEvent](c)
	})
	t.Run("goes on", func(t *testing.T) {
		c, pid := launched(t)
		c.leave(map[string]any{"terminateDebuggee": false})
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil || !strings.Contains(string(status), "TracerPid:\t0") {
			t.Errorf("%v\n%s", err, status)
		}
		sys.Kill(pid, sys.SIGKILL)
	})
	t.Run("no program", func(t *testing.T) {
		c := connect(t, here())
		ask[*protocol.InitializeResponse](c, "initialize", nil)
		for _, path := range []string{"/no/such/program", "/etc/passwd", "/tmp"} {
			c.refused("launch", map[string]any{"program": path})
		}
	})
	t.Run("cannot be executed", func(t *testing.T) {
		copied := filepath.Join(t.TempDir(), "program")
		content, err := os.ReadFile(program.Path)
		if err == nil {
			err = os.WriteFile(copied, content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		c := connect(t, here())
		c.start("launch", map[string]any{"program": copied})
		ask[*protocol.ConfigurationDoneResponse](c, "configurationDone", nil)
		event[*protocol.TerminatedEvent](c)
	})
}

// TestFlood has a log point be hit far more often than a console bears.
func TestFlood(t *testing.T) {
	program, source := built(t, "queue", testprog.Variant{})
	output := filepath.Join(t.TempDir(), "run.tf")
	c := connect(t, here())
	c.start("launch", map[string]any{"program": program.Path, "args": []string{"5000"}, "output": output})
	c.breakAt(source, protocol.SourceBreakpoint{Line: program.Line(t, "pushed"), LogMessage: "{item->number}"})
	ask[*protocol.ConfigurationDoneResponse](c, "configurationDone", nil)
	lines, _, _ := logged[*protocol.TerminatedEvent](c)
	left := 0
	for _, m := range c.events {
		if e, ok := m.(*protocol.OutputEvent); ok && strings.Contains(e.Body.Output, "more hits of log points") {
			n := 0
			fmt.Sscanf(strings.TrimPrefix(e.Body.Output, "… "), "%d", &n)
			left += n
		}
	}
	if len(lines) < 50 || len(lines)+left != 5000 {
		t.Errorf("%d lines, and %d left out", len(lines), left)
	}
	c.leave(nil)
	f, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	if run, err := tfile.OpenBytes(f); err != nil || run.NumFrames() != 5000 {
		t.Errorf("%v", err)
	}
}
