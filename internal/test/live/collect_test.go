package live

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
)

// TestUnreadableMemory collects from addresses that are nowhere, and across the end of the stack, which is always at the same place
// without randomisation. Nothing may be made up for what cannot be read, and what comes after it must be there; gdbserver shows
// what its buffer held before.
func TestUnreadableMemory(t *testing.T) {
	t.Parallel()
	const bytes = `
		printf "bytes "
		output/x *(unsigned char (*)[16]) 0x7fffffffeff0
		echo \n
	`
	s := debug(t, queue(t), []string{"6"}, toMain+`
		-- live --
	`+bytes+`
		trace {mark: pushed}
		actions
		collect *(int *) 0, $args
		collect *item->next
		collect *(unsigned char (*)[48]) 0x7fffffffeff0
		collect *item, *(long *) 0xfffffffffffffff0, *q
		collect/s (char *) 8
		collect pushes
		end
	`+toExit+walk(retellPush+bytes+`
		printf "null "
		output *(int *) 0
		echo \n
		printf "next "
		output *item->next
		echo \n
		printf "behind "
		output/x *(unsigned char (*)[8]) 0x7ffffffff000
		echo \n
		printf "highest "
		output *(long *) 0xfffffffffffffff0
		echo \n
	`)+`
		tsave {FILE}
	`+toEnd)
	text := s.output.Section(t, "frames")
	sameLines(t, "what was collected besides", s.finished(t, "push"), lines(text, "push"))
	for kind, want := range map[string]string{
		"bytes":   lines(s.output.Section(t, "live"), "bytes")[0],
		"null":    "null <unavailable>",
		"next":    "next <unavailable>",
		"behind":  "behind <unavailable>",
		"highest": "highest <unavailable>",
	} {
		sameLines(t, kind, slices.Repeat([]string{want}, 6), lines(text, kind))
	}
}

// TestStrings collects as much of a string as there is, or as its limit allows.
func TestStrings(t *testing.T) {
	t.Parallel()
	s := debug(t, queue(t), []string{"120"}, toMain+`
		trace {mark: pushed}
		actions
		collect item, item->number
		collect/s (char *) item + 12
		end
		trace {mark: popped}
		actions
		collect item, item->number
		collect/s4 (char *) item + 12
		end
	`+toExit+walk(`
		if $tracepoint == 2
		printf "push number=%d label=%s\n", item->number, item->label
		else
		printf "pop number=%d label=%c%c%c%c\n", item->number, item->label[0], item->label[1], item->label[2], item->label[3]
		end
		printf "beyond "
		output item->weight
		echo \n
	`)+toEnd)
	var want []string
	for _, line := range s.finished(t, "push") {
		label, _, _ := strings.Cut(line, " length=")
		want = append(want, label)
	}
	text := s.output.Section(t, "frames")
	sameLines(t, "whole strings", want, lines(text, "push"))
	want = want[:0]
	for _, r := range testprog.OfKind(testprog.Records(s.server.Stdout()), "pop") {
		want = append(want, "pop number="+r.Fields["number"]+" label=item")
	}
	sameLines(t, "limited strings", want, lines(text, "pop"))
	for _, line := range lines(text, "beyond") {
		if line != "beyond <unavailable>" {
			t.Fatalf("what lies behind a string is %q", line)
		}
	}
}

// TestReturnAddressAndTimestamp collects what GDB and the server provide themselves.
func TestReturnAddressAndTimestamp(t *testing.T) {
	t.Parallel()
	before := time.Now()
	s := debug(t, queue(t), []string{"20"}, toMain+`
		set default-collect $regs
		trace work
		actions
		collect $_ret, $trace_timestamp
		end
		-- caller --
		disassemble take
	`+toExit+walk(`
		printf "return 0x%lx\n", *(long *) ($rbp + 8)
		printf "time %ld\n", $trace_timestamp
	`)+`
		-- dump --
		tfind 7
		tdump
	`+toEnd)
	took := time.Since(before).Microseconds()
	text := s.output.Section(t, "frames")
	call := regexp.MustCompile(`call .*<work>\n\s+(0x0*)([0-9a-f]+)`).FindStringSubmatch(s.output.Section(t, "caller"))
	if call == nil {
		t.Fatalf("take does not call work:\n%s", s.output.Section(t, "caller"))
	}
	returns := lines(text, "return")
	if len(returns) != 20 {
		t.Errorf("%d frames", len(returns))
	}
	for _, line := range returns {
		if line != "return 0x"+call[2] {
			t.Errorf("work returns to %s, want %s", line, call[2])
		}
	}
	var times []int64
	for _, line := range lines(text, "time") {
		at, err := strconv.ParseInt(strings.TrimPrefix(line, "time "), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		times = append(times, at)
	}
	for i := 1; i < len(times); i++ {
		if times[i] < times[i-1] {
			t.Errorf("frame %d is from %d, the one before from %d", i, times[i], times[i-1])
		}
	}
	if len(times) == 0 || times[0] <= 0 || times[len(times)-1]-times[0] > took {
		t.Errorf("times %v in a run of %d microseconds", times, took)
	}
	contains(t, s.output, "dump", "$trace_timestamp = ", "rip ")
}

var started = regexp.MustCompile(`Trace started at (\d+)\.(\d{6}) secs, stopped (\d+)\.(\d{6}) secs later\.`)

// TestTimesAndNotes looks at what the run says of itself, live and in the file. gdbserver's times count from the boot of the
// machine.
func TestTimesAndNotes(t *testing.T) {
	t.Parallel()
	before := time.Now()
	s := debug(t, queue(t), []string{"5"}, toMain+`
		set trace-user Ada L.
		set trace-notes tracing: the "queue"; 100%
		set trace-stop-notes not said
	`+tracePushes+`
		tstart
		break exit
		continue
		tstop seen enough; it works
		-- status --
		tstatus
		tsave {FILE}
	`+toEnd)
	after := time.Now()
	saved := s.reopen(t, "-- status --\ntstatus\n")
	for _, output := range []*gdbtest.Output{s.output, saved} {
		contains(t, output, "status", "Trace user is Ada L..", `Trace notes: tracing: the "queue"; 100%.`,
			"Trace stopped by a tstop command (seen enough; it works).", "Collected 5 trace frames.")
		match := started.FindStringSubmatch(output.Section(t, "status"))
		if match == nil {
			t.Fatalf("no times in\n%s", output.Section(t, "status"))
		}
		start := moment(t, match[1], match[2])
		stop := start.Add(moment(t, match[3], match[4]).Sub(time.Unix(0, 0)))
		if start.Before(before.Truncate(time.Microsecond)) || stop.Before(start) || stop.After(after) {
			t.Errorf("the run was from %v to %v, the session from %v to %v", start, stop, before, after)
		}
	}
}

// moment is a time that GDB prints as seconds and microseconds.
func moment(t *testing.T, seconds, micros string) time.Time {
	t.Helper()
	d, err := time.ParseDuration(fmt.Sprintf("%s.%ss", seconds, micros))
	if err != nil {
		t.Fatal(err)
	}
	return time.Unix(0, 0).Add(d)
}
