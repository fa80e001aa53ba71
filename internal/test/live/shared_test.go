package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestBreakpointAtTracepoint has a breakpoint and a tracepoint on one instruction, put there in either order. Each hit is one
// frame and one stop, and removing the breakpoint leaves the tracepoint.
func TestBreakpointAtTracepoint(t *testing.T) {
	t.Parallel()
	const breakpoint = "break {mark: pushed}\n"
	for _, c := range []struct{ name, define, breakpoint string }{
		{"breakpoint-first", breakpoint + tracePushes, "2"},
		{"tracepoint-first", tracePushes + breakpoint, "3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := debug(t, queue(t), []string{"12"}, toMain+c.define+`
				tstart
				-- stops --
				continue
				printf "at %d\n", item->number
				continue
				printf "at %d\n", item->number
				stepi
				stepi
				nexti
				continue
				printf "at %d\n", item->number
				delete `+c.breakpoint+`
				break push if item->number == 8
				continue
				break {mark: pushed}
				continue
				printf "at %d\n", item->number
				continue
				printf "at %d\n", item->number
				delete 4 5
				break exit
				continue
				tstop
				-- frames --
			`+walk(retellPush)+toEnd)
			sameLines(t, "stops", []string{"at 1", "at 2", "at 3", "at 8", "at 9"}, lines(s.output.Section(t, "stops"), "at"))
			sameLines(t, "frames", s.finished(t, "push"), lines(s.output.Section(t, "frames"), "push"))
		})
	}
}

// TestTracepointWhereStopped starts a run with a tracepoint at the very instruction that the program is stopped at. As in gdbserver
// that is no hit, since the thread has come there before the run began; the program goes on from there all the same.
func TestTracepointWhereStopped(t *testing.T) {
	t.Parallel()
	s := debug(t, queue(t), []string{"6"}, toMain+`
		tbreak {mark: pushed}
		continue
	`+tracePushes+toExit+walk(retellPush)+toEnd)
	sameLines(t, "frames", s.finished(t, "push")[1:], lines(s.output.Section(t, "frames"), "push"))
}

// TestStepOntoTracepoints steps through a function with a tracepoint on each instruction, which is a hit however the thread has
// come there, and then lets a call run through.
func TestStepOntoTracepoints(t *testing.T) {
	t.Parallel()
	const steps = 12
	s := debug(t, queue(t), []string{"2"}, toMain+`
		break *push
		continue
		delete
		python
		here = gdb.selected_frame()
		for i in here.architecture().disassemble(here.pc(), count=`+fmt.Sprint(steps)+`):
		  gdb.execute('trace *%d' % i['addr'])
		end
		tstart
		-- stepped --
		`+strings.Repeat("printf \"at %lu\\n\", $pc\nstepi\n", steps)+`
		-- run --
		break exit
		continue
		tstop
		-- frames --
	`+walk(`printf "at %lu\n", $pc`)+toEnd)
	stepped := lines(s.output.Section(t, "stepped"), "at")
	// The thread stood on the first when the run began.
	sameLines(t, "frames", slices.Concat(stepped[1:], stepped), lines(s.output.Section(t, "frames"), "at"))
	contains(t, s.output, "rest", "exited normally")
}
