package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
)

// A collection is what a tracepoint at the line of push that prints takes into each frame, and how a frame is told again.
var (
	withRegisters = collection{"$regs, $args, *item, *q, pushes", retellPush}
	globalsOnly   = collection{"pending.length, pending.highest, pushes",
		`printf "push length=%d highest=%d pushes=%ld\n", pending.length, pending.highest, pushes`}
)

type collection struct{ collect, retell string }

// define sets tracepoint 2 and a buffer.
func (c collection) define(size int) string {
	return fmt.Sprintf("set trace-buffer-size %d\ntrace {mark: pushed}\nactions\ncollect %s\nend\n", size, c.collect)
}

// retold turns the program's lines into those that the frames are told in.
func (c collection) retold(printed []string) []string {
	if c == withRegisters {
		return printed
	}
	var all []string
	for _, line := range printed {
		_, rest, _ := strings.Cut(line, "length=")
		all = append(all, "push length="+rest)
	}
	return all
}

// TestFullBuffer fills a linear buffer. The run ends with the first frame that does not fit, and no frame is cut or empty;
// gdbserver runs on with empty ones.
func TestFullBuffer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size int
		collection
	}{
		"registers":    {20000, withRegisters},
		"small-frames": {1777, globalsOnly},
		"no-room":      {150, withRegisters},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := debug(t, queue(t), []string{"90"},
				toMain+c.define(c.size)+toExit+walk(c.retell)+"tsave {FILE}\n"+toEnd)
			printed, got := c.retold(s.finished(t, "push")), lines(s.output.Section(t, "frames"), "push")
			if len(printed) != 90 || len(got) >= 90 || len(got) == 0 && name != "no-room" {
				t.Fatalf("%d frames for %d calls", len(got), len(printed))
			}
			contains(t, s.output, "status", "Trace stopped because the buffer was full.",
				fmt.Sprintf("Collected %d trace frame", len(got)), fmt.Sprintf(" bytes of %d bytes free", c.size))
			if name == "no-room" {
				return
			}
			sameLines(t, "frames", printed[:len(got)], got)
			saved := s.reopen(t, "-- frames --"+walk(c.retell)+"-- status --\ntstatus\n")
			sameLines(t, "saved frames", got, lines(saved.Section(t, "frames"), "push"))
			contains(t, saved, "status", "Trace stopped because the buffer was full.")

			used := c.size - int(number(t, s.output, "status", `has (\d+) bytes`))
			whole := used / len(got)
			if left := c.size - used; left >= whole+6 { // 6 are kept for the end marker
				t.Errorf("%d frames of %d bytes; the next would have fitted into the %d that are left", len(got), whole, left)
			}
		})
	}
}

// TestCircularBuffer wraps a circular buffer many times. What is left are the newest frames, whole and in order, for tfind and
// in the saved file; gdbserver's file is damaged, if it survives the saving at all.
func TestCircularBuffer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		size int
		collection
	}{
		{10000, withRegisters}, {15000, withRegisters}, {17003, withRegisters},
		{300, globalsOnly}, {1001, globalsOnly}, {1024, globalsOnly},
	} {
		t.Run(fmt.Sprint(c.size), func(t *testing.T) {
			t.Parallel()
			s := debug(t, queue(t), []string{"90"},
				toMain+c.define(c.size)+"set circular-trace-buffer on\n"+toExit+walk(c.retell)+"tsave {FILE}\n"+toEnd)
			printed, got := c.retold(s.finished(t, "push")), lines(s.output.Section(t, "frames"), "push")
			if len(got) < 2 || len(got) >= len(printed) {
				t.Fatalf("%d frames for %d calls", len(got), len(printed))
			}
			sameLines(t, "frames", printed[len(printed)-len(got):], got)
			saved := s.reopen(t, "-- frames --"+walk(c.retell)+"-- status --\ntstatus\n")
			sameLines(t, "saved frames", got, lines(saved.Section(t, "frames"), "push"))
			for _, output := range []*gdbtest.Output{s.output, saved} {
				contains(t, output, "status", "Trace stopped by a tstop command", "Trace buffer is circular.",
					fmt.Sprintf("Buffer contains %d trace frames (of %d created total).", len(got), len(printed)))
			}
			contains(t, s.output, "tracepoints", "tracepoint already hit 90 times")
		})
	}
}

// TestSecondRun starts a run again: the frames of the first are gone, counters and state variables begin anew, and what was
// changed in between holds.
func TestSecondRun(t *testing.T) {
	t.Parallel()
	s := debug(t, queue(t), []string{"10"}, toMain+`
		tvariable $count = 100
		trace {mark: pushed}
		actions
		collect $args, *item, *q, pushes
		teval $count += item->number
		collect $count
		end
		break push if item->number == 5
		tstart
		continue
		tstop
		-- first --
	`+walk(retellPush+"\nprintf \"count %d\\n\", $count")+`
		-- first counts --
		tfind none
		tstatus
		info tracepoints
		info tvariables
		condition 2 item->number != 7
		trace {mark: worked}
		actions
		collect $locals, $args, *item
		end
	`+toExit+walk("if $tracepoint == 2\n"+retellPush+"\nprintf \"count %d\\n\", $count\nelse\n"+retellWorked+"\nend")+`
		-- counts --
		tfind none
		info tvariables
	`+toEnd)
	pushes := s.finished(t, "push")
	first, second := s.output.Section(t, "first"), s.output.Section(t, "frames")
	sameLines(t, "first run", pushes[:4], lines(first, "push"))
	sameLines(t, "$count of the first run", []string{"count 101", "count 103", "count 106", "count 110"}, lines(first, "count"))
	contains(t, s.output, "first counts", "tracepoint already hit 4 times")
	sameLines(t, "second run", slices.Concat(pushes[4:6], pushes[7:]), lines(second, "push"))
	sameLines(t, "$count of the second run",
		[]string{"count 105", "count 111", "count 119", "count 128", "count 138"}, lines(second, "count"))
	sameLines(t, "the added tracepoint", s.finished(t, "work")[3:], lines(second, "work"))
	contains(t, s.output, "tracepoints", "tracepoint already hit 5 times", "tracepoint already hit 7 times")
	if count := number(t, s.output, "counts", `\$count +100 +(\d+)`); count != 138 {
		t.Errorf("$count is %d", count)
	}
}
