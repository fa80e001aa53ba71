package live

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"tracewell/internal/test/testprog"
)

// TestSteps goes through a function in every way that GDB has. The program's own line tells what the function returned.
func TestSteps(t *testing.T) {
	t.Parallel()
	s := debug(t, queue(t), []string{"14"}, toMain+`
		break work if item->number == 13
		continue
		-- next --
		next
		-- arguments --
		info args
		print item->label
		up
		info frame
		down
		-- stepi --
		printf "from %lu\n", $pc
		stepi
		printf "to %lu\n", $pc
		nexti
		-- until --
		until {number: worked}
		info locals
		-- finish --
		finish
		-- step --
		tbreak pop
		continue
		step
		step
		-- advance --
		advance {mark: popped}
		delete
		-- rest --
		continue
	`)
	var result string
	for _, r := range testprog.Records(strings.Join(s.finished(t, "work"), "\n")) {
		if r.Fields["number"] == "13" {
			result = r.Fields["result"]
		}
	}
	contains(t, s.output, "arguments", "factor = 1", `"item-13`)
	contains(t, s.output, "until", "digits = 4", "result = "+result)
	contains(t, s.output, "finish", "in take (", "Value returned is $2 = "+result)
	contains(t, s.output, "step", "if (item == NULL)", "q->head = item->next")
	contains(t, s.output, "advance", "pop (q=")
	contains(t, s.output, "rest", "exited normally")
	stepi := s.output.Section(t, "stepi")
	if from, to := lines(stepi, "from"), lines(stepi, "to"); len(from) != 1 || len(to) != 1 || from[0][5:] == to[0][3:] {
		t.Errorf("stepi did not step:\n%s", stepi)
	}
}

// TestWatch has GDB watch a variable by stepping, which goes on over breakpoints, tracepoints and calls into the C library.
func TestWatch(t *testing.T) {
	t.Parallel()
	s := debug(t, queue(t), []string{"2"}, toMain+`
		trace {mark: pushed}
		actions
		collect $args, *item, *q, pushes
		end
		break push
		tstart
		continue
		set can-use-hw-watchpoints 0
		-- watch --
		watch pushes
		continue
		delete 3
		continue
		-- end --
		tstop
		delete
		continue
	`)
	contains(t, s.output, "watch", "Watchpoint 4: pushes", "Old value = 0", "New value = 1", "Old value = 1", "New value = 2")
	lacks(t, s.output, "watch", "Hardware")
	if pushes := s.finished(t, "push"); len(pushes) != 2 {
		t.Errorf("pushes: %v", pushes)
	}
}

// interruptGDB has GDB get a SIGINT, as from Ctrl-C, some time after it has let the program go on.
const interruptGDB = `
	python
	import os, signal, threading
	def resumed(event):
	  gdb.events.cont.disconnect(resumed)
	  threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
	gdb.events.cont.connect(resumed)
	end
	continue
`

// TestInterrupt stops a program that never stops by itself, with a run going on and without.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	s := debug(t, testprog.Build(t, "sleeper", testprog.Variant{}), []string{"500"}, toMain+`
		trace tick
		actions
		collect n, ticks
		end
		tstart
		-- first --
		`+interruptGDB+`
		tstop
		-- frames --
		`+walk(`printf "tick n=%ld ticks=%ld\n", n, ticks`)+`
		tfind none
		print ticks
		-- second --
		`+interruptGDB+`
		-- kill --
		kill
	`)
	contains(t, s.output, "first", "received signal SIGINT")
	contains(t, s.output, "second", "received signal SIGINT")
	contains(t, s.output, "kill", "killed")
	text := s.output.Section(t, "frames")
	ticks := lines(text, "tick")
	var want []string
	for n := range ticks {
		want = append(want, fmt.Sprintf("tick n=%d ticks=%d", n, n))
	}
	sameLines(t, "frames", want, ticks)
	// The interruption may come between the hit and the instruction that counts.
	if counted := int(number(t, s.output, "frames", `\$1 = (\d+)`)); counted != len(ticks) && counted != len(ticks)-1 {
		t.Errorf("%d frames of %d ticks", len(ticks), counted)
	}
	s.server.Wait(t)
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", s.server.InferiorPID(t))); err == nil {
		t.Error("the program is still there")
	}
}

// TestSignals runs a program that gets signals from a timer, with tracepoints in the code that they interrupt and in their
// handler, in the ways that GDB can treat a signal. Where GDB is told of each, they must leave the program time to get on, and it must
// not be through before they come.
func TestSignals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		handling        string
		interval        string // in microseconds
		stops, delivers bool
	}{
		{"nostop noprint pass", "500", false, true},
		{"nostop print pass", "10000", false, true},
		{"stop print pass", "10000", true, true},
		{"stop print nopass", "10000", true, false},
	} {
		t.Run(strings.ReplaceAll(c.handling, " ", "-"), func(t *testing.T) {
			t.Parallel()
			script := toMain + "handle SIGALRM " + c.handling + `
				trace signals.c:step
				condition 2 a % 50000 == 0
				actions
				collect a, b
				end
				trace handled_step
				tstart
				break exit
				-- stops --
			`
			if c.stops {
				script += strings.Repeat("continue\n", 3) + "handle SIGALRM nostop noprint\n"
			}
			s := debug(t, testprog.Build(t, "signals", testprog.Variant{}), []string{"5000000", c.interval}, script+`
				continue
				tstop
				-- frames --
				tfind start
				while $trace_frame != -1
				if $tracepoint == 2
				printf "step a=%ld b=%ld\n", a, b
				else
				printf "handled n=%d\n", $trace_frame
				end
				tfind
				end
			`+toEnd)
			if got := strings.Count(s.output.Section(t, "stops"), "received signal SIGALRM"); c.stops && got != 3 || c.handling == "nostop noprint pass" && got != 0 {
				t.Errorf("%d signals reported:\n%s", got, s.output.Section(t, "stops"))
			}
			done := testprog.Records(s.finished(t, "done")[0])[0]
			if done.Fields["calls"] != "5000000" || done.Fields["wrong"] != "0" || done.Fields["handled_wrong"] != "0" {
				t.Errorf("the program printed %v", done)
			}
			handled := lines(s.output.Section(t, "frames"), "handled")
			if want := int(done.Int(t, "handled")); len(handled) != want || (want > 0) != c.delivers {
				t.Errorf("%d signals were handled, %d of them traced", want, len(handled))
			}
			var want []string
			for a := 0; a < 5000000; a += 50000 {
				want = append(want, fmt.Sprintf("step a=%d b=%d", a, a&0xffff))
			}
			sameLines(t, "frames", want, lines(s.output.Section(t, "frames"), "step"))
		})
	}
}

// TestThreads looks at all threads while one is stopped.
func TestThreads(t *testing.T) {
	t.Parallel()
	// There are enough rounds for the other worker to be still there.
	s := debug(t, testprog.Build(t, "threads", testprog.Variant{}), []string{"400"}, toMain+`
		break account if worker == 2 && round == 3
		-- stop --
		continue
		-- threads --
		info threads
		-- stacks --
		thread apply all backtrace
		-- first --
		thread 1
		backtrace
		-- back --
		thread apply 2 3 -s frame function run
		delete
		-- rest --
		continue
	`)
	contains(t, s.output, "stop", "hit Breakpoint 2, account (worker=2, round=3, result=")
	if threads := regexp.MustCompile(`(?m)^[* ] +\d+ +Thread \d+\.\d+ "threads"`).
		FindAllString(s.output.Section(t, "threads"), -1); len(threads) != 3 {
		t.Errorf("threads:\n%s", s.output.Section(t, "threads"))
	}
	contains(t, s.output, "stacks", "account (worker=2, round=3", "in run (argument=", "in main (argc=2")
	contains(t, s.output, "first", "in main (argc=2")
	contains(t, s.output, "rest", "exited normally")
	if accounts := s.finished(t, "account"); len(accounts) != 800 {
		t.Errorf("%d calls of account", len(accounts))
	}
}
