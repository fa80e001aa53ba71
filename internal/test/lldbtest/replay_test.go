package lldbtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/gdbtest"
	"tracewell/itrace/generate"
)

// TestReplay goes through an execution trace with both debuggers, and compares what they show at the same stops: the place, variables,
// registers, memory. It is of a machine with the other byte order than this.
func TestReplay(t *testing.T) {
	trace, program := generated(t)
	replay := func() *gdbtest.Server {
		return gdbtest.Start(t, gdbtest.Config{
			Server: []string{gdbtest.Binary(t), "replay"}, Flags: []string{trace, "--exec", program, "--index", "memory", "--listen"}, Comm: ":0",
		})
	}
	registers := strings.Fields("r2 r8 r9 r16 r17 r18 r29 r31 pc")
	registersOf := "register read " + strings.Join(registers, " ")
	look := "\nthread backtrace --count 1\nframe variable seed\n" + registersOf + "\nmemory read --size 4 --count 1 --format x &numbers[3]\n"
	o := Run(t, program, uncached+"gdb-remote "+address(replay())+`
		breakpoint set --name mix
		continue
		continue `+look+`
		breakpoint delete --force
		stepi
		stepi `+look+`
		watchpoint set expression --size 4 -- &sum
		continue
		watchpoint delete --force
		continue
		register read r4 f0
		detach
	`)
	gdbLook := func(stop int) string {
		script := fmt.Sprintf(`
			-- place%d --
			bt -frame-arguments none 1
			-- seed%[1]d --
			printf "seed = %%u\n", seed
			-- memory%[1]d --
			printf "0x%%08x\n", numbers[3]
			-- registers%[1]d --
		`, stop)
		for _, name := range registers {
			script += fmt.Sprintf("printf \"%s = 0x%%08x\\n\", $%s\n", name, name)
		}
		return script
	}
	g := gdbtest.RunMultiarch(t, fmt.Sprintf(`
		file %s
		target remote %s
		break mix
		continue
		continue
		%s
		delete
		stepi
		stepi
		%s
		kill
	`, program, replay().Address, gdbLook(0), gdbLook(1)))
	for stop, pc := range []string{"0x800080c4", "0x800080cc"} {
		section := func(name string) string { return g.Section(t, fmt.Sprint(name, stop)) }
		if diff := cmp.Diff(frames(section("place")), frames(o.Of(t, "thread backtrace --count 1", stop))); diff != "" {
			t.Errorf("stop %d, the place (-GDB +LLDB):\n%s", stop, diff)
		}
		if diff := cmp.Diff(values(section("seed")), values(o.Of(t, "frame variable seed", stop))); diff != "" {
			t.Errorf("stop %d, variables (-GDB +LLDB):\n%s", stop, diff)
		}
		read := values(o.Of(t, registersOf, stop))
		if diff := cmp.Diff(values(section("registers")), read); diff != "" || read["pc"] != pc {
			t.Errorf("stop %d, registers (-GDB +LLDB):\n%s", stop, diff)
		}
		contains(t, "memory", o.Of(t, "memory read --size 4 --count 1 --format x &numbers[3]", stop), ": "+section("memory"))
	}
	contains(t, "a watchpoint", o.Of(t, "continue", 2), "stop reason = watchpoint 1", "prog.c:21")
	contains(t, "the end", o.Of(t, "continue", 3), "stop reason = signal SIGTRAP")
	contains(t, "registers that nobody knows", o.Of(t, "register read r4 f0", 0), "r4 = 0x", "= error: unavailable")
}

// generated writes an execution trace and its program.
func generated(t *testing.T) (trace, program string) {
	t.Helper()
	folder := t.TempDir()
	trace, program = filepath.Join(folder, "run.log"), filepath.Join(folder, "prog.elf")
	source := filepath.Join(folder, "prog.c")
	if err := os.WriteFile(source, []byte(generate.Source()), 0o600); err != nil {
		t.Fatal(err)
	}
	elf, err := os.Create(program)
	if err != nil {
		t.Fatal(err)
	}
	defer elf.Close()
	if err := generate.WriteELF(elf, source); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(trace)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if _, err := generate.Write(log, generate.Options{Instructions: 20_000}); err != nil {
		t.Fatal(err)
	}
	return trace, program
}
