package live

import (
	"fmt"
	"strings"
	"testing"

	"tracewell/internal/test/testprog"
)

// TestLinkages has the essential session with each kind of executable. GDB must know the program's symbols and its libraries'
// wherever the kernel has put them, in the frames too, and must be able to disassemble there although nothing was collected
// of the code.
func TestLinkages(t *testing.T) {
	t.Parallel()
	for _, v := range testprog.Linkages {
		t.Run(v.String(), func(t *testing.T) {
			t.Parallel()
			linkage(t, v)
		})
	}
}

func linkage(t *testing.T, v testprog.Variant) {
	s := debug(t, testprog.Build(t, "threads", v), []string{"8"}, "-- connect --\n"+toMain+`
		-- libraries --
		info sharedlibrary
		-- code --
		info line work
		x/i $_
		-- trace --
		trace work
		actions
		collect $regs, $args, *worker, *values@4
		end
		condition 2 round >= 3 && worker->id == 2
		trace *work
		actions
		collect $regs
		end
		tstart
		break exit
		continue
		-- stack --
		backtrace
		tstop
		-- frames --
		tfind start
		while $trace_frame != -1
		if $tracepoint == 2
		printf "work worker=%d round=%ld values=%d,%d,%d,%d\n", worker->id, round, values[0], values[1], values[2], values[3]
		else
		printf "code "
		x/i $pc
		end
		printf "rip %lu\n", $rip
		printf "symbol "
		info symbol $pc
		tfind
		end
		-- rest --
		tsave {FILE}
		tfind none
		delete
		continue
	`)
	text := s.output.Section(t, "frames")
	var want []string
	for _, line := range having(s.finished(t, "work"), "worker=2")[3:] {
		work, _, _ := strings.Cut(line, " sum=")
		want = append(want, work)
	}
	sameLines(t, "frames", want, lines(text, "work"))

	_, instruction, _ := strings.Cut(s.output.Section(t, "code"), ":\t")
	for _, line := range lines(text, "code") {
		if _, got, _ := strings.Cut(line, ":\t"); got != instruction {
			t.Errorf("the code at work is %q, in a frame it is %q", instruction, got)
		}
	}
	if symbols := lines(text, "symbol"); len(symbols) != 16+len(want) {
		t.Errorf("%d frames have %d symbols", 16+len(want), len(symbols))
	}
	for _, symbol := range lines(text, "symbol") {
		if !strings.HasPrefix(symbol, "symbol work ") {
			t.Errorf("a frame is at %q", symbol)
		}
	}
	// That GDB reads files through the connection is as with gdbserver; it has nothing else to complain of.
	const slow = "warning: File transfers from remote targets can be slow"
	if text := s.output.Section(t, "connect"); strings.Contains(strings.Replace(text, slow, "", 1), "warning:") {
		t.Errorf("GDB warns:\n%s", text)
	}
	contains(t, s.output, "stack", "exit (")
	if !v.Static {
		contains(t, s.output, "libraries", "libc.so.6", "Yes")
		lacks(t, s.output, "libraries", "No  ")
	}
	// GDB does not know where a PIE was when its trace file was written, so only addresses are compared.
	saved := s.reopen(t, "-- frames --"+walk(`printf "rip %lu\n", $rip`))
	sameLines(t, "saved frames", lines(text, "rip"), lines(saved.Section(t, "frames"), "rip"))
}

// TestLibraryFunction traces printf in the C library, which the program calls for each of its lines.
func TestLibraryFunction(t *testing.T) {
	t.Parallel()
	s := debug(t, testprog.Build(t, "queue", testprog.Variant{}), []string{"9"}, toMain+`
		trace printf
		actions
		collect $regs
		collect/s (char *) $rdi
		end
	`+toExit+walk(`printf "line %c%c%c\n", ((char *) $rdi)[0], ((char *) $rdi)[1], ((char *) $rdi)[2]`)+toEnd)
	s.server.Wait(t)
	var want []string
	for line := range strings.Lines(s.server.Stdout()) {
		want = append(want, "line "+line[:3])
	}
	sameLines(t, "frames", want, lines(s.output.Section(t, "frames"), "line"))
}

// TestOptimised traces a program as it is released: arguments are in registers, and function entries are what the compiler
// made of them.
func TestOptimised(t *testing.T) {
	t.Parallel()
	s := debug(t, testprog.Build(t, "threads", testprog.Variant{Optimised: true}), []string{"8"}, toMain+`
		trace *work
		actions
		collect $regs, *worker, *values@4
		end
		tstart
		break exit
		continue
		tstop
		-- frames --
		`+walk(`printf "work worker=%d round=%ld values=%d,%d,%d,%d\n", `+
		`worker->id, round, values[0], values[1], values[2], values[3]`)+`
		-- rest --
		tfind none
		delete
		continue
	`)
	for id := 1; id <= 2; id++ {
		worker := fmt.Sprint("worker=", id)
		var want []string
		for _, line := range having(s.finished(t, "work"), worker) {
			work, _, _ := strings.Cut(line, " sum=")
			want = append(want, work)
		}
		sameLines(t, worker, want, having(lines(s.output.Section(t, "frames"), "work"), worker))
	}
}
