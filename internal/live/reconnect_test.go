package live

import (
	"fmt"
	"testing"

	"tracewell/internal/testprog"
)

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
