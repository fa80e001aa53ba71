package live

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"tracewell/internal/test/testprog"
)

// untraced runs the program by itself and returns what it prints; how it ends is of no concern.
func untraced(program *testprog.Program, args ...string) string {
	output, _ := exec.Command(program.Path, args...).Output()
	return string(output)
}

// stepFrames prints each frame of step in dies.c and exits.c, collected at the line that prints.
var stepFrames = walk(`printf "step call=%ld sum=%ld\n", call, sum`)

// TestFramesOutliveProcess lets a traced program end in several ways. Its frames must be there while a signal is about to end
// it, and when it is gone: GDB has no place for registers then, but it can save the run, which must be whole. The connection
// is extended-remote, or GDB would close it with the program's end.
func TestFramesOutliveProcess(t *testing.T) {
	t.Parallel()
	for _, ending := range []struct {
		program, how string
		end          string // the command that ends the program, which a signal has stopped before unless it is empty
		says         string
	}{
		{"dies", "segv", "continue", "Program terminated with signal SIGSEGV"},
		{"dies", "abort", "continue", "Program terminated with signal SIGABRT"},
		{"dies", "trap", "signal SIGTRAP", "Program terminated with signal SIGTRAP"},
		{"dies", "kill", "", "Program terminated with signal SIGKILL"},
		{"exits", "itself", "", "exited with code 07"},
	} {
		t.Run(ending.program+"-"+ending.how, func(t *testing.T) {
			t.Parallel()
			script := "target extended-remote {SERVER}" + inMain + `
				trace {mark: step-line}
				actions
				collect $regs, $args, sum
				end
				tstart
				continue
				tstop
			`
			if ending.end != "" {
				script += "-- alive --" + stepFrames + "tfind none\n-- end --\n" + ending.end
			}
			s := debug(t, testprog.Build(t, ending.program, testprog.Variant{NoPIE: true}), []string{"7", ending.how}, script+`
				-- gone --
				info threads
				tstatus
				info tvariables
				info tracepoints
				? tfind 0
				tfind none
				tsave {FILE}
			`)
			var want []string
			for call, sum := 0, 0; call < 7; call++ {
				if sum += call * 3; ending.program == "exits" {
					sum = (call + 1) * (call + 2) / 2
				}
				want = append(want, fmt.Sprintf("step call=%d sum=%d", call, sum))
			}
			sameLines(t, "the program's lines", want, s.printed(t, "step", len(want)))
			if !strings.Contains(s.output.All, ending.says) {
				t.Errorf("GDB does not say %q:\n%s", ending.says, s.output.All)
			}
			contains(t, s.output, "gone", "No threads.", "Trace stopped by a tstop command", "Collected 7 trace frames.",
				"tracepoint already hit 7 times")
			if ending.end != "" {
				sameLines(t, "frames before the end", want, lines(s.output.Section(t, "alive"), "step"))
			}
			saved := s.reopen(t, "-- frames --"+stepFrames+"-- one --\ntfind 3\ntdump\n")
			sameLines(t, "saved frames", want, lines(saved.Section(t, "frames"), "step"))
			contains(t, saved, "one", "call = 3", "sum = ", "rip ")
		})
	}
}

// TestForks traces a program that starts others in every way there is. None of them may meet a breakpoint of the parent's, and
// the parent's frames go on.
func TestForks(t *testing.T) {
	t.Parallel()
	program := testprog.Build(t, "forks", testprog.Variant{})
	args := []string{"5", "6"}
	s := debug(t, program, args, toMain+`
		trace {mark: step-line}
		actions
		collect $regs, $args
		end
		trace *step
		tstart
		break exit
		continue
		tstop
		-- frames --
		`+walk(`
		if $tracepoint == 2
		printf "step process=%d round=%ld\n", process, round
		else
		printf "entry\n"
		end
		`)+`
		-- rest --
		tfind none
		delete
		continue
	`)
	s.server.Wait(t)
	if want, got := untraced(program, args...), s.server.Stdout(); want != got {
		t.Errorf("the program printed\n%s\nand without a tracer\n%s", got, want)
	}
	var want []string
	for round := range 6 {
		want = append(want, fmt.Sprintf("step process=0 round=%d", round))
	}
	text := s.output.Section(t, "frames")
	sameLines(t, "frames", slices.Concat(want, want), lines(text, "step"))
	if entries := strings.Count(text, "entry\n"); entries != 12 {
		t.Errorf("%d frames of the second tracepoint", entries)
	}
}
