package live

import (
	"strings"
	"testing"

	"tracewell/internal/test/testprog"
)

// TestForeignInstructions traces instructions that the server does not know and GDB copies for it: one at the start of the
// run, and one during it, whose operand is relative to the pc. GDB 13.1 makes a wrong copy of the latter, which must not be
// used. The program checks its sums.
func TestForeignInstructions(t *testing.T) {
	t.Parallel()
	s := debug(t, testprog.Build(t, "carries", testprog.Variant{}), []string{"50"}, toMain+`
		trace *at_register
		actions
		collect $rax
		end
		set debug remote on
		-- start --
		tstart
		-- middle --
		set debug remote off
		tbreak by_memory
		continue
		set debug remote on
		-- install --
		trace *at_memory
		-- frames --
		set debug remote off
		break exit
		continue
		tstop
	`+walk(`
		if $_streq($trace_func, "by_register")
		printf "register sum=%lu\n", $rax
		else
		printf "memory at=%d\n", $trace_frame
		end
	`)+`
		-- again --
		set debug remote on
		tstart
		tstop
		set debug remote off
	`+toEnd)
	for _, section := range []string{"start", "install"} {
		contains(t, s.output, section, "Packet received: qRelocInsn:", "Sending packet: $qRelocInsn:")
	}
	if n := strings.Count(s.output.Section(t, "again"), "received: qRelocInsn:"); n != 1 {
		t.Errorf("GDB was asked %d times, once for the instruction of which there is no copy", n)
	}
	contains(t, s.output, "rest", "exited normally")
	text := s.output.Section(t, "frames")
	sameLines(t, "register", s.finished(t, "register"), lines(text, "register"))
	if hits := lines(text, "memory"); len(hits) != 50 { // installed as soon as it was there, and so without actions
		t.Errorf("%d hits of the other instruction, not 50", len(hits))
	}
}

// TestForeignInstructionsOfNobody: a GDB that makes no copies leaves the instructions to be stepped.
func TestForeignInstructionsOfNobody(t *testing.T) {
	t.Parallel()
	s := debug(t, testprog.Build(t, "carries", testprog.Variant{}), []string{"5"}, `
		set may-write-memory off
	`+toMain+`
		trace *at_register
		actions
		collect $rax
		end
		tstart
		break exit
		continue
		tstop
		-- frames --
	`+walk(`printf "register sum=%lu\n", $rax`)+toEnd)
	sameLines(t, "frames", s.finished(t, "register"), lines(s.output.Section(t, "frames"), "register"))
	contains(t, s.output, "rest", "exited normally")
	if strings.Contains(s.output.All, "qRelocInsn") {
		t.Errorf("GDB complains:\n%s", s.output.All)
	}
}
