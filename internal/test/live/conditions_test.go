package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tracewell/internal/test/testprog"
)

// retellPush and its kin have GDB print, from what a frame collected, the lines of queue.c.
const (
	retellPush = `printf "push number=%d label=%s length=%d highest=%d pushes=%ld\n", ` +
		`item->number, item->label, q->length, q->highest, pushes`
	retellWorked = `printf "work number=%d factor=%d digits=%ld result=%ld\n", item->number, factor, digits, result`
)

// tracePushes collects at tracepoint 2 what retellPush needs.
const tracePushes = `
	trace {mark: pushed}
	actions
	collect $args, *item, *q, pushes
	end
`

// queue is the single-threaded program that most runs need.
func queue(t *testing.T) *testprog.Program {
	t.Helper()
	return testprog.Build(t, "queue", testprog.Variant{NoPIE: true})
}

// TestConditionError divides by zero in a condition at the fourth hit: the run ends there and then, with the error's text and
// the tracepoint, and the program goes on. gdbserver never tells of it.
func TestConditionError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, condition, says string
		frames                int
	}{
		{"division", "100 / (item->number - 4) != 1000", "divide by zero", 3},
		{"memory", "item->number != 6 || *(int *) item->next != 0", "invalid memory access", 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := debug(t, queue(t), []string{"9"}, toMain+tracePushes+`
				condition 2 `+c.condition+toExit+walk(retellPush)+`
				tsave {FILE}
			`+toEnd)
			contains(t, s.output, "status", "Trace stopped by an error ("+c.says, ", tracepoint 2).")
			printed := s.finished(t, "push")
			if len(printed) != 9 {
				t.Errorf("the program pushed %d times", len(printed))
			}
			sameLines(t, "frames before the error", printed[:c.frames], lines(s.output.Section(t, "frames"), "push"))
			contains(t, s.reopen(t, "-- status --\ntstatus\n"), "status", "Trace stopped by an error ("+c.says)
		})
	}
}

// TestActionError has an action follow a null pointer to find what to collect. That is an error of the expression, which ends
// the run like one in a condition; the frame keeps what it has.
func TestActionError(t *testing.T) {
	t.Parallel()
	s := debug(t, queue(t), []string{"9"}, toMain+`
		trace {mark: pushed}
		actions
		collect $args, *item, *q, pushes
		collect *item->next->next
		end
	`+toExit+walk(retellPush)+toEnd)
	contains(t, s.output, "status", "Trace stopped by an error (invalid memory access", ", tracepoint 2).")
	sameLines(t, "frames", s.finished(t, "push")[:1], lines(s.output.Section(t, "frames"), "push"))
}

// TestCompoundConditions compiles what C offers in conditions over locals, arguments, globals and memory behind pointers. The
// program's own lines say which hits are true.
func TestCompoundConditions(t *testing.T) {
	t.Parallel()
	conditions := []struct {
		text  string
		holds func(number, factor, digits, result int64) bool
	}{
		{"item->number > 3 && factor != 2", func(n, f, _, _ int64) bool { return n > 3 && f != 2 }},
		{"digits == 2 || digits == 5 && factor", func(_, f, d, _ int64) bool { return d == 2 || d == 5 && f != 0 }},
		{"!(item->number & 1) && result >= 10", func(n, _, _, r int64) bool { return n&1 == 0 && r >= 10 }},
		{"*((char *) item + 17) == 49 || pushes < 0", func(n, _, _, _ int64) bool { return n == 1 || 10 <= n && n < 20 }},
		{"result % 7 - 3 < 0 && -result < -20", func(_, _, _, r int64) bool { return r%7-3 < 0 && -r < -20 }},
		{"(char) (item->number * 100) < 0", func(n, _, _, _ int64) bool { return int8(n*100) < 0 }},
		{"$rip != 0 && sizeof (*item) == 32 && factor > 2", func(_, f, _, _ int64) bool { return f > 2 }},
	}
	script := toMain
	body := ""
	for i, c := range conditions {
		script += "trace {mark: worked}\nactions\ncollect $args, $locals, *item\nend\n"
		script += fmt.Sprintf("condition %d %s\n", i+2, c.text)
		body += fmt.Sprintf("if $tracepoint == %d\nprintf \"tp%[1]d \"\n", i+2) + retellWorked + "\nend\n"
	}
	s := debug(t, queue(t), []string{"24"}, script+toExit+walk(body)+toEnd)
	printed := s.finished(t, "work")
	for i, c := range conditions {
		var want []string
		for _, r := range testprog.Records(strings.Join(printed, "\n")) {
			if c.holds(r.Int(t, "number"), r.Int(t, "factor"), r.Int(t, "digits"), r.Int(t, "result")) {
				want = append(want, fmt.Sprintf("tp%d work number=%d factor=%d digits=%d result=%d", i+2,
					r.Int(t, "number"), r.Int(t, "factor"), r.Int(t, "digits"), r.Int(t, "result")))
			}
		}
		if len(want) == len(printed) {
			t.Errorf("%s is always true", c.text)
		}
		sameLines(t, c.text, want, lines(s.output.Section(t, "frames"), fmt.Sprintf("tp%d", i+2)))
	}
}

// TestSteppingCondition counts the frames of a while-stepping tracepoint whose condition is mostly false: gdbserver steps all
// the same.
func TestSteppingCondition(t *testing.T) {
	t.Parallel()
	s := debug(t, queue(t), []string{"12"}, toMain+`
		trace {mark: pushed}
		actions
		collect $regs
		while-stepping 2
		collect $regs, *item
		end
		end
		condition 2 item->number % 5 == 0
	`+toExit+walk(`printf "frame n=%d\n", $trace_frame`)+toEnd)
	sameLines(t, "frames", frames(2*3), lines(s.output.Section(t, "frames"), "frame"))
	contains(t, s.output, "tracepoints", "tracepoint already hit 2 times")
}

// TestPassCount stops a run at a hit, with steps after the last of them. Only true hits count.
func TestPassCount(t *testing.T) {
	t.Parallel()
	s := debug(t, queue(t), []string{"40"}, toMain+tracePushes+`
		condition 2 item->number % 2 == 1
		passcount 12 2
		trace {mark: worked}
		actions
		collect $regs
		while-stepping 1
		collect $regs
		end
		end
		passcount 1000 3
	`+toExit+walk("if $tracepoint == 2\n"+retellPush+"\nend")+toEnd)
	contains(t, s.output, "status", "Trace stopped by tracepoint 2")
	contains(t, s.output, "tracepoints", "tracepoint already hit 12 times", "pass count 12")
	var want []string
	for i, line := range s.finished(t, "push") {
		if i%2 == 0 && len(want) < 12 {
			want = append(want, line)
		}
	}
	sameLines(t, "frames", want, lines(s.output.Section(t, "frames"), "push"))
}

// TestPassCountOfSteps has the pass count reached by a hit that steps: the steps still come.
func TestPassCountOfSteps(t *testing.T) {
	t.Parallel()
	s := debug(t, queue(t), []string{"9"}, toMain+`
		trace {mark: pushed}
		actions
		collect $regs
		while-stepping 2
		collect $regs
		end
		end
		passcount 3 2
	`+toExit+walk(`printf "frame n=%d\n", $trace_frame`)+toEnd)
	contains(t, s.output, "status", "Trace stopped by tracepoint 2")
	sameLines(t, "frames", frames(3*3), lines(s.output.Section(t, "frames"), "frame"))
}

// TestEnableWhileRunning switches a tracepoint off and on again, and defines another, while the run goes on.
func TestEnableWhileRunning(t *testing.T) {
	t.Parallel()
	s := debug(t, queue(t), []string{"10"}, toMain+tracePushes+`
		break push if item->number == 4
		break push if item->number == 7
		tstart
		continue
		disable 2
		continue
		enable 2
		trace {mark: worked}
		break exit
		continue
		tstop
		-- frames --
	`+walk("if $tracepoint == 2\n"+retellPush+"\nelse\nprintf \"later line=%d\\n\", $trace_line\nend")+toEnd)
	text := s.output.Section(t, "frames")
	pushes := s.finished(t, "push")
	sameLines(t, "frames", slices.Concat(pushes[:3], pushes[6:]), lines(text, "push"))
	// Four of the ten items were taken out before the seventh push. GDB sends a tracepoint off when it is defined, so that this
	// one has no actions.
	later := fmt.Sprintf("later line=%d", s.program.Line(t, "worked"))
	sameLines(t, "the later tracepoint", slices.Repeat([]string{later}, 6), lines(text, "later"))
}
