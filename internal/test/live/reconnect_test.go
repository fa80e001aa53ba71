package live

import (
	"fmt"
	"testing"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
)

// TestRenumbered has a second GDB take a tracepoint over whose number it has given to a breakpoint of its own. GDB 13.1
// switches it, and asks for its hits at every tstatus, by the number that it has given it instead.
func TestRenumbered(t *testing.T) {
	t.Parallel()
	s := debug(t, testprog.Build(t, "sleeper", testprog.Variant{}), []string{"500"}, toMain+`
		trace tick
		actions
		collect n
		end
		set disconnected-tracing on
		tstart
		detach
	`)
	second := gdbtest.Run(t, s.program.Path, s.expand(t, `
		break on_signal
		break input_ended
		target remote {SERVER}
		break tick
		-- before --
		disable 3
		tstatus
		continue 3
		-- off --
		tstatus
		enable 3
		continue 4
		-- on --
		tstatus
		kill
	`))
	collected := func(section string) int64 { return number(t, second, section, `Collected (\d+) trace frames`) }
	if before, off, on := collected("before"), collected("off"), collected("on"); off != before || on < off+3 || on > off+4 {
		t.Errorf("%d frames, %d after three hits while disabled, %d after four while enabled", before, off, on)
	}
}

// TestFramesAfterTheEnd lets a traced program end under "target remote", which closes the connection, and connects again: the
// frames are there to walk, disassemble and save, and continuing tells how the program ended.
func TestFramesAfterTheEnd(t *testing.T) {
	t.Parallel()
	for _, ending := range []struct{ program, how, says string }{
		{"exits", "itself", "exited with code 07"},
		{"dies", "kill", "Program terminated with signal SIGKILL"},
	} {
		t.Run(ending.program, func(t *testing.T) {
			t.Parallel()
			s := debug(t, testprog.Build(t, ending.program, testprog.Variant{}), []string{"5", ending.how}, `
				target remote {SERVER}
				break main
				continue
				trace {mark: step-line}
				actions
				collect $regs, $args, sum
				end
				tstart
				continue
				-- again --
				target remote {SERVER}
				tstatus
				-- frames --`+stepFrames+`
				-- code --
				tfind 2
				x/2i $pc
				tfind none
				tsave {FILE}
				-- end --
				continue
			`)
			var want []string
			for call, sum := 0, 0; call < 5; call++ {
				if sum += call * 3; ending.program == "exits" {
					sum = (call + 1) * (call + 2) / 2
				}
				want = append(want, fmt.Sprintf("step call=%d sum=%d", call, sum))
			}
			contains(t, s.output, "again", "Trace stopped by a tstop command (the program", "Collected 5 trace frames.")
			sameLines(t, "frames after the end", want, lines(s.output.Section(t, "frames"), "step"))
			contains(t, s.output, "code", "=> 0x", "<step+")
			contains(t, s.output, "end", ending.says)
		})
	}
}
