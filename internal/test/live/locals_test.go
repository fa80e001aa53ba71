package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tracewell/internal/test/testprog"
)

// eachThread runs a command in the program's three threads, which GDB numbers from 2, with N in place of their number.
func eachThread(command string) string {
	var script strings.Builder
	for n := 1; n <= 3; n++ {
		fmt.Fprintf(&script, "thread %d\n%s\n", n+1, strings.ReplaceAll(command, "N", fmt.Sprint(n)))
	}
	return script.String()
}

// retellLocal prints the line that locals.c prints for a thread.
var retellLocal = eachThread(`printf "local thread=N counter=%ld at=%#lx\n", counter, &counter`)

// TestThreadLocals looks at the variables that each thread has of its own, in each kind of executable.
func TestThreadLocals(t *testing.T) {
	t.Parallel()
	for _, v := range testprog.Linkages {
		t.Run(v.String(), func(t *testing.T) {
			t.Parallel()
			s := debug(t, testprog.Build(t, "locals", v), nil, toMain+`
				-- main --
				print counter
				print before
				break meet
				continue
				-- threads --
				`+retellLocal+`
				-- set --
				thread 3
				set var before = 4711
				print before
				thread 4
				print before
				print (long) &buffer % 64
				-- rest --
				delete
				continue
			`)
			contains(t, s.output, "main", "$1 = 100", "$2 = 77")
			contains(t, s.output, "set", "$3 = 4711", "$4 = 80", "$5 = 0")
			sameThreadLines(t, s, "local")
		})
	}
}

// TestThreadLocalsOfLibraries looks at the variables of libraries that were loaded when two of the threads were running
// already. One library has them in every thread from then on; of the other a thread has none until it uses one.
func TestThreadLocalsOfLibraries(t *testing.T) {
	t.Parallel()
	lazy := testprog.Build(t, "lazylocal", testprog.Variant{Library: true})
	fixed := testprog.Build(t, "fixedlocal", testprog.Variant{Library: true})
	const line = `printf "loaded thread=N library=%d value=%d at=%#lx\n", `
	s := debug(t, testprog.Build(t, "locals", testprog.Variant{}), []string{lazy.Path, fixed.Path}, toMain+`
		break meet
		continue
		-- threads --
		`+retellLocal+`
		thread 3
		`+strings.ReplaceAll(line, "N", "2")+`0, lazy, &lazy
		`+strings.ReplaceAll(line, "N", "2")+`1, fixed, &fixed
		thread 4
		`+strings.ReplaceAll(line, "N", "3")+`0, lazy, &lazy
		`+strings.ReplaceAll(line, "N", "3")+`1, fixed, &fixed
		-- unused --
		thread 2
		print fixed
		? print lazy
		thread 1
		print fixed
		? print lazy
		-- handles --
		python
		inferior = gdb.selected_inferior()
		for n in range(4):
		  thread = inferior.thread_from_handle(gdb.parse_and_eval('threads[%d]' % n))
		  handle = int(gdb.parse_and_eval('(unsigned long) threads[%d]' % n))
		  print('handle %d %s' % (thread.num, handle == int.from_bytes(thread.handle(), 'little')))
		end
		-- rest --
		delete
		continue
	`)
	sameThreadLines(t, s, "local")
	sameThreadLines(t, s, "loaded")
	unused := s.output.Section(t, "unused")
	if strings.Count(unused, " = 7") != 2 || strings.Count(unused, "error: Cannot find thread-local storage") != 2 {
		t.Errorf("in threads that have not used the libraries:\n%s", unused)
	}
	sameLines(t, "handles", []string{"handle 1 True", "handle 2 True", "handle 3 True", "handle 4 True"},
		lines(s.output.Section(t, "handles"), "handle"))
}

// sameThreadLines compares the lines of a kind that the program printed, in whatever order its threads ran, with those that
// GDB printed in the section "threads".
func sameThreadLines(t *testing.T, s *session, kind string) {
	t.Helper()
	printed, read := s.finished(t, kind), lines(s.output.Section(t, "threads"), kind)
	slices.Sort(printed)
	slices.Sort(read)
	sameLines(t, kind, printed, read)
}
