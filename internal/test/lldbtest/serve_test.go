package lldbtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
)

// remote is a server that listens on a port: LLDB 14 connects to nothing else.
func remote(t *testing.T, flags []string, command ...string) *gdbtest.Server {
	t.Helper()
	return gdbtest.Start(t, gdbtest.Config{Flags: flags, Comm: ":0", Command: command})
}

// address is that of a server. LLDB wants the one of localhost that the server listens on.
func address(s *gdbtest.Server) string {
	return strings.Replace(s.Address, "localhost", "127.0.0.1", 1)
}

// contains holds what a command printed against texts that it has to have.
func contains(t *testing.T, what, got string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(got, text) {
			t.Errorf("%s: LLDB does not print %q:\n%s", what, text, got)
		}
	}
}

var value = regexp.MustCompile(`(?m)^\s*(?:\([^)]*\) )?(\S+) += (\S+)`)

// values reads lines of "NAME = VALUE", as both debuggers print them: LLDB with a type in front and a symbol behind.
func values(text string) map[string]string {
	all := make(map[string]string)
	for _, match := range value.FindAllStringSubmatch(text, -1) {
		all[match[1]] = match[2]
	}
	return all
}

var frame = regexp.MustCompile(`(?m)#([0-9]+):? .*?([a-z_]+) ?\(.*at \S*?([a-z-]+\.c:[0-9]+)`)

// frames reads a stack of either debugger: the functions of the program and their lines.
func frames(text string) (list []string) {
	for _, match := range frame.FindAllStringSubmatch(text, -1) {
		list = append(list, strings.Join(match[1:], " "))
	}
	return list
}

// gdbRegisters has GDB print registers as LLDB does.
func gdbRegisters(names ...string) (script string) {
	for _, name := range names {
		script += fmt.Sprintf("printf \"%s = 0x%%016lx\\n\", $%s\n", name, name)
	}
	return script
}

// TestServe goes through a program with LLDB, and compares with what GDB shows at the same stop: variables, registers, the stack.
func TestServe(t *testing.T) {
	program := testprog.Build(t, "queue", testprog.Variant{})
	server := remote(t, nil, program.Path, "6")
	registers := strings.Fields("rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r12 r15 rip fs_base")
	registersOf := "register read " + strings.Join(registers, " ")
	const call = "expression -- ((long (*)(const struct item *, int))work)(item, 3)"
	o := Run(t, program.Path, "gdb-remote "+address(server)+`
		breakpoint set --name push
		continue
		continue
		image list
		thread backtrace --count 2
		frame variable item->number item->weight q->length
		`+registersOf+`
		memory region $pc
		memory region $sp
		expression -- pushes + 1
		`+call+`
		expression -- int $several[4] = {1, 2, 3, 4}; $several[2]
		thread backtrace --count 2
		`+registersOf+`
		finish
		next
		step
		stepi
		breakpoint delete --force
		expression -- pending.highest = 70
		detach
	`)
	g := gdbtest.Run(t, program.Path, fmt.Sprintf(`
		target remote %s
		break push
		continue
		continue
		-- stack --
		bt -frame-arguments none
		-- variables --
		printf "item->number = %%d\nitem->weight = %%g\nq->length = %%d\n", item->number, item->weight, q->length
		-- registers --
		%s
		-- call --
		print ((long (*)(const struct item *, int))work)(item, 3)
		kill
	`, remote(t, nil, program.Path, "6").Address, gdbRegisters(registers...)))

	// The programs are at the same addresses, which nothing randomises; what is above the stack is not all the same.
	stack := frames(g.Section(t, "stack"))
	stack = stack[:min(len(stack), 2)]
	lldb := frames(o.Of(t, "thread backtrace --count 2", 0))
	if diff := cmp.Diff(stack, lldb); diff != "" || len(lldb) != 2 {
		t.Errorf("the stack (-GDB +LLDB):\n%s", diff)
	}
	variables := values(o.Of(t, "frame variable item->number item->weight q->length", 0))
	if diff := cmp.Diff(values(g.Section(t, "variables")), variables); diff != "" || len(variables) != 3 {
		t.Errorf("variables (-GDB +LLDB):\n%s", diff)
	}
	sameRegisters(t, values(g.Section(t, "registers")), values(o.Of(t, registersOf, 0)), values(o.Of(t, registersOf, 1)), len(registers))
	contains(t, "images", o.Of(t, "image list", 0), "0x0000555555554000 "+program.Path, "[vdso]", "libc.so.6", "ld-linux")
	contains(t, "code", o.Of(t, "memory region $pc", 0), "r-x "+program.Path)
	contains(t, "stack", o.Of(t, "memory region $sp", 0), "rw- [stack]")
	contains(t, "an expression", o.Of(t, "expression -- pushes + 1", 0), "= 2")
	result, _, _ := strings.Cut(strings.TrimPrefix(g.Section(t, "call"), "$1 = "), "\n")
	contains(t, "a call", o.Of(t, call, 0), "(long) $", "= "+result)
	contains(t, "variables of its own", o.Of(t, "expression -- int $several[4] = {1, 2, 3, 4}; $several[2]", 0), "= 3")
	contains(t, "finish", o.Of(t, "finish", 0), "stop reason = step out", "queue`main")
	contains(t, "stepi", o.Of(t, "stepi", 0), "stop reason = instruction step into")
	if code := server.Wait(t); code != 0 {
		t.Errorf("the server ends with status %d", code)
	}
	contains(t, "the program", server.Stdout(), "done pushes=6", "highest=70")
}

// sameRegisters compares n registers as GDB reads them with those that LLDB reads, before and after a call of a function.
func sameRegisters(t *testing.T, gdb, before, after map[string]string, n int) {
	t.Helper()
	if len(before) != n {
		t.Errorf("LLDB reads %d registers of %d", len(before), n)
	}
	if diff := cmp.Diff(gdb, before); diff != "" {
		t.Errorf("registers (-GDB +LLDB):\n%s", diff)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("registers after a call of a function (-before +after):\n%s", diff)
	}
}

// TestThreads has LLDB stop in a thread, and show all of them.
func TestThreads(t *testing.T) {
	program := testprog.Build(t, "threads", testprog.Variant{})
	server := remote(t, nil, program.Path, "3")
	o := Run(t, program.Path, "gdb-remote "+address(server)+`
		breakpoint set --name account
		continue
		thread list
		thread backtrace all
		up
		frame variable worker->id round
		kill
	`)
	list := o.Of(t, "thread list", 0)
	contains(t, "thread list", list, "thread #1: tid = ", "stop reason = breakpoint 1.1", "name = 'threads'")
	if n := strings.Count(list, "tid = "); n < 2 || n > 3 {
		t.Errorf("LLDB lists %d threads:\n%s", n, list)
	}
	contains(t, "stacks", o.Of(t, "thread backtrace all", 0), "`account(", "`run(", "start_thread(", "`main(")
	contains(t, "variables", o.Of(t, "frame variable worker->id round", 0), "worker->id = ", "round = 0")
	if out := server.Stdout(); strings.Contains(out, "account") {
		t.Errorf("the program ran on:\n%s", out)
	}
}

// TestLaunchAndAttach has LLDB start programs, and attach to one that runs.
func TestLaunchAndAttach(t *testing.T) {
	program := testprog.Build(t, "queue", testprog.Variant{})
	server := remote(t, []string{"--multi"})
	printed := filepath.Join(t.TempDir(), "printed")
	s := Start(t, program.Path)
	s.connect(t, server)
	s.Say(t, "breakpoint set --name push")
	s.Await(t, "Breakpoint 1:")
	s.Say(t, "settings set target.env-vars MARK=there")
	s.Say(t, "process launch --stdout "+printed+" -- 3")
	s.Await(t, "stop reason = breakpoint 1.1")
	s.Say(t, "thread backtrace")
	s.Await(t, "main(argc=2")
	s.Say(t, `expression -- (char *)getenv("MARK")`)
	s.Await(t, `"there"`)
	s.Say(t, "breakpoint delete --force")
	s.Say(t, "continue")
	s.Await(t, "exited with status = 0")
	text, err := os.ReadFile(printed)
	if err != nil || !strings.Contains(string(text), "done pushes=3") || server.Stdout() != "" {
		t.Errorf("the program printed %q, %v, and to the server's standard output %q", text, err, server.Stdout())
	}
}

// connect has LLDB connect to a server without a program, and waits until it knows that it has: an attach ahead of that is carried out
// by a server of LLDB's own.
func (s *Session) connect(t *testing.T, server *gdbtest.Server) {
	t.Helper()
	s.Say(t, "process connect --plugin gdb-remote connect://"+address(server))
	for end := time.Now().Add(patience); time.Now().Before(end); {
		s.Say(t, "process status") // "unloaded" until then
		if _, missing := s.await(200*time.Millisecond, "Process 0 is running"); missing == "" {
			return
		}
	}
	t.Fatal("LLDB does not connect")
}

// TestInterrupt attaches to a program that sleeps in the kernel, and has it call a function, go on sleeping, and raise a signal, which
// LLDB knows by the number of GDB's protocol and not the kernel's.
func TestInterrupt(t *testing.T) {
	program := testprog.Build(t, "sleeper", testprog.Variant{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, program.Path, "50000")
	gdbtest.Isolate(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := Start(t, program.Path)
	s.connect(t, remote(t, []string{"--multi"}))
	s.Say(t, fmt.Sprintf("process attach --plugin gdb-remote --pid %d", cmd.Process.Pid))
	s.Await(t, "stop reason = ")
	for round := range 3 {
		s.Say(t, fmt.Sprintf("expression -- (int)tick(%d)", round+10))
		s.Await(t, fmt.Sprintf("(int) $%d = %d", round, round+11))
		s.Say(t, "continue")
		s.Await(t, "resuming")
		s.Say(t, "process interrupt")
		s.Await(t, "stop reason = signal SIGINT")
	}
	s.Say(t, "expression -- (int)raise(10)")
	s.Await(t, "signal SIGUSR1")
	s.Say(t, "detach")
	s.Await(t, "detached")
}

// TestRefused has LLDB be told why it cannot attach: nobody can trace the server but another process.
func TestRefused(t *testing.T) {
	server := remote(t, []string{"--multi"})
	// Without a program LLDB attaches by a server of its own.
	s := Start(t, testprog.Build(t, "queue", testprog.Variant{}).Path)
	s.connect(t, server)
	s.Say(t, fmt.Sprintf("process attach --plugin gdb-remote --pid %d", server.PID()))
	s.Await(t, fmt.Sprintf("error: attach failed: cannot attach to process %d: it is this server\n", server.PID()))
}
