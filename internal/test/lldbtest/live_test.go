//go:build linux

package lldbtest

import (
	"strings"
	"testing"

	"tracewell/internal/sys"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
	"tracewell/internal/trial"
)

// TestExec follows a process with several threads through an exec: LLDB has to read the new program and place its breakpoints anew.
func TestExec(t *testing.T) {
	program := testprog.Build(t, "execs", testprog.Variant{})
	server := remote(t, nil, program.Path, "3", "leader")
	o := Run(t, program.Path, "gdb-remote "+address(server)+`
		breakpoint set --name replace
		continue
		thread list
		breakpoint delete --force
		breakpoint set --name main
		continue
		continue
		frame variable argc
		breakpoint delete --force
		breakpoint set --name step --condition "n == 2"
		continue
		frame variable n
		breakpoint delete --force
		continue
	`)
	if n := strings.Count(o.Of(t, "thread list", 0), "tid = "); n != 3 {
		t.Errorf("LLDB lists %d threads before the exec", n)
	}
	contains(t, "exec", o.Of(t, "continue", 1), "stop reason = exec")
	contains(t, "the new program", o.Of(t, "continue", 2), "`main(argc=3", "stop reason = breakpoint 2.1")
	contains(t, "a condition", o.Of(t, "frame variable n", 0), "= 2")
	contains(t, "the end", o.Of(t, "continue", 4), "exited with status = 0")
	contains(t, "the program", server.Stdout(), "done wrong=0 calls=3")
}

// TestFork has LLDB go on with a child, which calls functions for it, and leave the parent to itself.
func TestFork(t *testing.T) {
	program := testprog.Build(t, "forks", testprog.Variant{})
	server := remote(t, nil, program.Path, "1", "3")
	const call = "expression -- step(7, 2)"
	o := Run(t, program.Path, "settings set target.process.follow-fork-mode child\ngdb-remote "+address(server)+`
		breakpoint set --name step --condition "process == 1 && round == 1"
		continue
		frame variable process round
		`+call+`
		thread backtrace --count 2
		breakpoint delete --force
		expression -- round = 2
		continue
	`)
	read := values(o.Of(t, "frame variable process round", 0))
	if read["process"] != "1" || read["round"] != "1" {
		t.Errorf("variables of the child are %v", read)
	}
	contains(t, "a call", o.Of(t, call, 0), "= 704")
	contains(t, "the stack", o.Of(t, "thread backtrace --count 2", 0), "`step(", "`steps(")
	// The child finds that a sum is another than it should be.
	contains(t, "the end", o.Of(t, "continue", 1), "exited with status = 99")
}

// stoppedAt is an LLDB that has let a program run to a function.
func stoppedAt(t *testing.T, program *testprog.Program, server *gdbtest.Server, function string) *Session {
	t.Helper()
	s := Start(t, program.Path)
	s.Say(t, "gdb-remote "+address(server))
	s.Await(t, "stop reason = signal SIGTRAP") // LLDB goes on with what it is told before it knows of the stop
	s.Say(t, "breakpoint set --name "+function)
	s.Await(t, "Breakpoint 1:")
	s.Say(t, "continue")
	s.Await(t, "stop reason = breakpoint 1.1")
	return s
}

// TestKilled kills LLDB while the program stands at a breakpoint: it stays there, without the breakpoint, for the next.
func TestKilled(t *testing.T) {
	program := testprog.Build(t, "queue", testprog.Variant{})
	server := remote(t, nil, program.Path, "6")
	stoppedAt(t, program, server, "push").Kill(t)
	if err := sys.Kill(server.InferiorPID(t), 0); err != nil {
		t.Errorf("the program is gone with LLDB: %v", err)
	}
	o := Run(t, program.Path, "gdb-remote "+address(server)+"\nthread backtrace --count 1\nframe variable item->number\ncontinue")
	contains(t, "where the program stands", o.Of(t, "thread backtrace --count 1", 0), "`push(")
	contains(t, "variables", o.Of(t, "frame variable item->number", 0), "= 1")
	contains(t, "the end", o.Of(t, "continue", 0), "exited with status = 0")
	contains(t, "the program", server.Stdout(), "done pushes=6")
}

// TestWatch stops at a write, or says that it cannot, where the machine's debug registers stop no program.
func TestWatch(t *testing.T) {
	program := testprog.Build(t, "queue", testprog.Variant{})
	server := remote(t, nil, program.Path, "3")
	s := stoppedAt(t, program, server, "main")
	s.Say(t, "watchpoint set variable pushes")
	if told := s.Await(t, "atchpoint creat"); strings.Contains(told, "Watchpoint creation failed") {
		if r := trial.Machine(); r.Err == nil && r.DebugRegisters {
			t.Errorf("LLDB cannot set a watchpoint:\n%s", told)
		}
	} else {
		s.Say(t, "continue")
		s.Await(t, "stop reason = watchpoint 1", "old value: 0", "new value: 1")
		s.Say(t, "watchpoint delete --force")
	}
	s.Say(t, "detach")
	s.Await(t, "detached")
	if code := server.Wait(t); code != 0 || !strings.Contains(server.Stdout(), "done pushes=3") {
		t.Errorf("the server ends with status %d, and the program printed\n%s", code, server.Stdout())
	}
}
