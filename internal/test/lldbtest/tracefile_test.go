package lldbtest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
)

// recorded has the queue traced, in push and pop, and returns the trace file.
func recorded(t *testing.T, program *testprog.Program) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.tf")
	record := exec.CommandContext(t.Context(), gdbtest.Binary(t), "record", "-o", path, "--backtrace",
		"--at", "queue.c:push", "--collect", "$regs, *item, *q, pushes", "--at", "queue.c:pop", "--collect", "$regs, *q", program.Path, "6")
	gdbtest.Isolate(record)
	if out, err := record.CombinedOutput(); err != nil {
		t.Fatalf("record: %v\n%s", err, out)
	}
	return path
}

// replay serves a recording.
func replay(t *testing.T, path string, flags ...string) *gdbtest.Server {
	t.Helper()
	return gdbtest.Start(t, gdbtest.Config{
		Server: []string{gdbtest.Binary(t), "replay"}, Flags: append(append([]string{path}, flags...), "--listen"), Comm: ":0",
	})
}

// uncached has LLDB read just what it needs of a recording. Otherwise it reads lines of 512 bytes, and where only a part of one is known
// the cache of LLDB 14 writes outside of its buffers.
const uncached = "settings set target.process.disable-memory-cache true\n"

// TestTraceFile goes through the frames of a trace file with both debuggers, and compares what they show in each: the place, the
// stack, registers, variables, memory.
func TestTraceFile(t *testing.T) {
	program := testprog.Build(t, "queue", testprog.Variant{})
	path := recorded(t, program)
	const frameCount = 12 // six of push, six of pop
	registers := strings.Fields("rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r12 r15 rip fs_base")
	const variables, memory = "frame variable q->length q->highest", "memory read --size 8 --count 1 --format x &q->length"
	registersOf := "register read " + strings.Join(registers, " ")
	look := "thread backtrace\n" + variables + "\n" + registersOf + "\n" + memory + "\n"
	lldbScript := uncached + "gdb-remote " + address(replay(t, path)) + "\n" + strings.Repeat(look+"continue\n", frameCount) + "detach\n"
	o := Run(t, program.Path, lldbScript)
	gdbScript := "target remote " + replay(t, path).Address + "\n"
	for n := range frameCount {
		gdbScript += fmt.Sprintf("tfind %d\n-- stack%[1]d --\nbt -frame-arguments none\n-- variables%[1]d --\n"+
			"printf \"q->length = %%d\\nq->highest = %%d\\n\", q->length, q->highest\n-- memory%[1]d --\n"+
			"printf \"0x%%016lx\\n\", *(long *) &q->length\n-- registers%[1]d --\n%s", n, gdbRegisters(registers...))
	}
	g := gdbtest.Run(t, program.Path, gdbScript+"-- end --\nkill\n")
	var functions []string
	for n := range frameCount {
		section := func(name string) string { return g.Section(t, fmt.Sprint(name, n)) }
		stack := frames(o.Of(t, "thread backtrace", n))
		whole := frames(section("stack"))
		stack = stack[:min(len(stack), len(whole))] // LLDB does not end at main
		if diff := cmp.Diff(whole, stack); diff != "" || len(stack) < 2 {
			t.Fatalf("frame %d, the stack (-GDB +LLDB):\n%s", n, diff)
		}
		functions = append(functions, strings.Fields(stack[0])[1])
		read := values(o.Of(t, variables, n))
		if diff := cmp.Diff(values(section("variables")), read); diff != "" || len(read) != 2 {
			t.Errorf("frame %d, variables (-GDB +LLDB):\n%s", n, diff)
		}
		held := values(o.Of(t, registersOf, n))
		sameRegisters(t, values(section("registers")), held, held, len(registers))
		contains(t, "memory", o.Of(t, memory, n), ": "+section("memory"))
		number := fmt.Sprintf("trace frame %d, tracepoint ", n)
		contains(t, "a frame", o.Of(t, "thread backtrace", n), "stop reason = "+number)
	}
	contains(t, "the end", o.Of(t, "continue", frameCount-1), "stop reason = no later frame; this is trace frame 11")
	slices.Sort(functions)
	if functions = slices.Compact(functions); len(functions) != 2 {
		t.Errorf("all frames are in %v", functions)
	}
}

// TestTraceFileBreakpoints has LLDB choose frames: by breakpoints, with conditions, by tfind, and by where replay has it begin.
func TestTraceFileBreakpoints(t *testing.T) {
	program := testprog.Build(t, "queue", testprog.Variant{})
	path := recorded(t, program)
	const item, at = "frame variable item->number", "process plugin packet monitor tfind"
	o := Run(t, program.Path, uncached+"gdb-remote "+address(replay(t, path, "--frame", "3"))+`
		thread backtrace --count 1
		`+at+`
		`+at+` start
		continue
		breakpoint set --name push
		continue
		`+item+`
		breakpoint modify --condition "item->number > 4" 1
		continue
		`+item+`
		breakpoint delete --force
		`+at+` 2
		continue
		next
		`+at+` end
		stepi
		`+at+` tracepoint 9
		`+at+` 12
		`+at+` nowhere
		breakpoint set --name work
	`)
	contains(t, "--frame", o.Of(t, "thread backtrace --count 1", 0), "trace frame 3, ")
	contains(t, "tfind", o.Of(t, at, 0), "This is trace frame 3, tracepoint ")
	contains(t, "tfind start", o.Of(t, at+" start", 0), "The next continue stops at trace frame 0, tracepoint 1.")
	contains(t, "continue", o.Of(t, "continue", 0), "trace frame 0, tracepoint 1")
	contains(t, "a breakpoint", o.Of(t, "continue", 1), "stop reason = breakpoint 1.1", "`push(")
	contains(t, "at a breakpoint", o.Of(t, item, 0), "= 2")
	contains(t, "a condition", o.Of(t, item, 1), "= 5")
	contains(t, "tfind 2", o.Of(t, "continue", 3), "trace frame 2, ")
	contains(t, "next", o.Of(t, "next", 0), "trace frame 3, ")
	contains(t, "stepi", o.Of(t, "stepi", 0), "trace frame 11, ")
	contains(t, "no frame", o.Of(t, at+" tracepoint 9", 0), "there is no later frame of tracepoint 9")
	contains(t, "no frame", o.Of(t, at+" 12", 0), "There is no trace frame 12: the file has 12.")
	contains(t, "no frame", o.Of(t, at+" nowhere", 0), `"nowhere" is no frame: want its number, start, end, or tracepoint`)
	contains(t, "where no frame is", o.All, "warning: failed to set breakpoint site at ")
}
