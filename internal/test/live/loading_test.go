package live

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
)

// TestStartBeforeLibraries starts a run at the program's very first instruction, before the dynamic linker has moved or loaded
// anything. GDB 13.1 defines the tracepoints again whenever a library comes, and gives up when it is told that they are known.
func TestStartBeforeLibraries(t *testing.T) {
	t.Parallel()
	for _, v := range testprog.Linkages {
		t.Run(v.String(), func(t *testing.T) {
			t.Parallel()
			s := debug(t, testprog.Build(t, "queue", v), []string{"7"}, `
				target remote {SERVER}
				trace {mark: pushed}
				actions
				collect $args, *item, *q, pushes
				end
				tstart
				break main
				continue
				break exit
				continue
				tstop
				-- frames --
			`+walk(retellPush)+toEnd)
			sameLines(t, "frames", s.finished(t, "push"), lines(s.output.Section(t, "frames"), "push"))
		})
	}
}

// TestChangeBeforeLibraries changes condition and actions of a tracepoint in a run that has begun. GDB 13.1 sends the
// definition as it is then when the first library comes, and gives the continue up if that is refused.
func TestChangeBeforeLibraries(t *testing.T) {
	t.Parallel()
	s := debug(t, queue(t), []string{"7"}, `
		target remote {SERVER}
		trace {mark: pushed} if item->number > 2
		actions
		collect pushes
		end
		tstart
		condition 1 item->number > 4
		actions 1
		collect $args, *item, *q, pushes
		end
		break main
		continue
		break exit
		continue
		tstop
		-- frames --
	`+walk(retellPush)+toEnd)
	sameLines(t, "frames", s.finished(t, "push")[4:], lines(s.output.Section(t, "frames"), "push"))
}

// TestExec follows a program that replaces itself, and traces what it has become.
func TestExec(t *testing.T) {
	t.Parallel()
	program := queue(t)
	shell, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	server := gdbtest.Serve(t, shell, "-c", "exec "+program.Path+" 6")
	s := &session{program: program, server: server}
	s.output = gdbtest.Run(t, shell, s.expand(t, `
		target remote {SERVER}
		catch exec
		-- exec --
		continue
		break main
		continue
		delete
	`+tracePushes+toExit+walk(retellPush)+toEnd))
	contains(t, s.output, "exec", "Catchpoint 1 (exec'd "+program.Path+")")
	sameLines(t, "frames", s.finished(t, "push"), lines(s.output.Section(t, "frames"), "push"))
}

// fingerprint prints a hash of memory, which Python reads through GDB.
func fingerprint(from string, length int) string {
	return fmt.Sprintf(`
		python
		import hashlib
		where = int(gdb.parse_and_eval('(unsigned long) %s'))
		memory = bytes(gdb.selected_inferior().read_memory(where, %d))
		print('memory %%#x %%s' %% (where, hashlib.sha256(memory).hexdigest()))
		end
	`, from, length)
}

// TestLargeMemory collects more than fits into one memory block of a trace file. The second GDB does not have the program,
// whose code this is, so that it can only come from the frame.
func TestLargeMemory(t *testing.T) {
	t.Parallel()
	const where, length = "0x401000", 200_000
	s := debug(t, testprog.Build(t, "queue", testprog.Variant{NoPIE: true, Static: true}), []string{"3"}, toMain+`
		-- live --
		`+fingerprint(where, length)+`
		trace {mark: pushed}
		actions
		collect pushes
		collect *(unsigned char (*)[`+fmt.Sprint(length)+`]) `+where+`
		collect pending
		end
	`+toExit+walk(`printf "push %ld %d\n", pushes, pending.highest`)+`
		tsave {FILE}
		tsave -ctf {FILE}.ctf
	`+toEnd)
	sameLines(t, "what was collected besides", []string{"push 1 1", "push 2 1", "push 3 1"},
		lines(s.output.Section(t, "frames"), "push"))
	saved := gdbtest.Run(t, "", s.expand(t, `
		target tfile {FILE}
		-- saved --
	`+strings.Repeat("tfind\n"+fingerprint(where, length), 3)))
	live := lines(s.output.Section(t, "live"), "memory")
	sameLines(t, "memory in the file", slices.Repeat(live, 3), lines(saved.Section(t, "saved"), "memory"))
	if stat, err := os.Stat(filepath.Join(s.file+".ctf", "datastream")); err != nil || stat.Size() < 3*length {
		t.Errorf("GDB's CTF form: %v, %v", stat, err)
	}
}

// TestVariableInCondition has a state variable count the hits that a condition lets through.
func TestVariableInCondition(t *testing.T) {
	t.Parallel()
	s := debug(t, queue(t), []string{"20"}, toMain+`
		tvariable $left = 5
		trace {mark: pushed}
		condition 2 $left > 0 && item->number > 3
		actions
		collect $args, *item, *q, pushes, $left
		teval $left -= 1
		end
	`+toExit+walk(retellPush+"\nprintf \"left %d\\n\", $left")+`
		-- variables --
		tfind none
		info tvariables
	`+toEnd)
	text := s.output.Section(t, "frames")
	sameLines(t, "frames", s.finished(t, "push")[3:8], lines(text, "push"))
	sameLines(t, "$left", []string{"left 5", "left 4", "left 3", "left 2", "left 1"}, lines(text, "left"))
	if left := number(t, s.output, "variables", `\$left +5 +(-?\d+)`); left != 0 {
		t.Errorf("$left is %d", left)
	}
}
