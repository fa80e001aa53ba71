package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
)

// TestManyThreads traces threads that come and go all the while, with steps. Every call that the condition picks has its frame,
// each followed somewhere by its steps, and none is there twice.
func TestManyThreads(t *testing.T) {
	t.Parallel()
	s := debug(t, testprog.Build(t, "manythreads", testprog.Variant{}), []string{"40", "100"}, toMain+`
		trace {mark: step-line}
		condition 2 call % 20 == 7
		actions
		collect $regs, $args
		while-stepping 2
		collect $regs, $args, $locals
		end
		end
		tstart
		break exit
		continue
		tstop
		-- frames --
		tfind start
		set $at = $pc
		while $trace_frame != -1
		if $pc == $at
		printf "hit %ld %ld\n", thread, call
		else
		printf "step %ld %ld\n", thread, call
		end
		tfind
		end
	`+toEnd)
	var hits, steps []string
	for thread := range 40 {
		for call := 7; call < 100; call += 20 {
			hits = append(hits, fmt.Sprint("hit ", thread, " ", call))
			steps = append(steps, fmt.Sprint("step ", thread, " ", call), fmt.Sprint("step ", thread, " ", call))
		}
	}
	text := s.output.Section(t, "frames")
	sameLines(t, "hits", sorted(hits), sorted(lines(text, "hit")))
	sameLines(t, "steps", sorted(steps), sorted(lines(text, "step")))
	sameLines(t, "the program's result", []string{"done threads=40 calls=4000 sum=78198000"}, s.finished(t, "done"))
}

func sorted(all []string) []string {
	slices.Sort(all)
	return all
}

// TestEveryInstruction has a tracepoint on each of the instructions of insns.c, and once more with steps. The program checks all
// of its results and must print what it does untraced; each site must have as many frames as calls.
func TestEveryInstruction(t *testing.T) {
	t.Parallel()
	const calls = 5
	program := testprog.Build(t, "insns", testprog.Variant{})
	plain := untraced(program, fmt.Sprint(calls))
	for _, steps := range []string{"", "while-stepping 1\ncollect $regs\nend\n"} {
		t.Run(fmt.Sprint("steps-", steps != ""), func(t *testing.T) {
			t.Parallel()
			var define strings.Builder
			var want []string
			for _, r := range testprog.OfKind(testprog.Records(plain), "insn") {
				if steps != "" && r.Fields["name"] == "rep_movs" {
					continue // a step is one of its repetitions, and ends where it began
				}
				fmt.Fprintf(&define, "trace *site_%s\nactions\ncollect $regs\n%send\n", r.Fields["name"], steps)
				for range calls {
					want = append(want, "site "+r.Fields["name"])
				}
			}
			s := debug(t, program, []string{fmt.Sprint(calls)}, toMain+define.String()+`
				tstart
				break exit
				continue
				tstop
				-- frames --
				python
				names = {int(gdb.parse_and_eval('(long) &site_' + n)): n for n in '`+names(want)+`'.split()}
				gdb.execute('tfind start', to_string=True)
				while int(gdb.parse_and_eval('$trace_frame')) != -1:
				  pc = int(gdb.parse_and_eval('(long) $rip'))
				  print('site ' + names[pc] if pc in names else 'other')
				  gdb.execute('tfind', to_string=True)
				end
			`+toEnd)
			sameLines(t, "frames", want, lines(s.output.Section(t, "frames"), "site"))
			if s.server.Wait(t); s.server.Stdout() != plain {
				t.Errorf("the program printed\n%s\nand untraced\n%s", s.server.Stdout(), plain)
			}
		})
	}
}

// names are the words behind "site ".
func names(sites []string) string {
	return strings.ReplaceAll(strings.Join(slices.Compact(slices.Clone(sites)), " "), "site ", "")
}

// TestDisconnectedTracing detaches from a run that is to go on without GDB. A second GDB finds it running, and its own definitions
// in it.
func TestDisconnectedTracing(t *testing.T) {
	t.Parallel()
	const define = `
		tvariable $count = 0
		trace tick
		actions
		collect n
		teval $count += 1
		end
	`
	s := debug(t, testprog.Build(t, "sleeper", testprog.Variant{}), []string{"500"}, toMain+define+`
		set disconnected-tracing on
		tstart
		-- detach --
		detach
	`)
	contains(t, s.output, "detach", "detached")
	second := gdbtest.Run(t, s.program.Path, s.expand(t, `
		shell sleep 0.2
		target remote {SERVER}
		-- status --
		tstatus
		tstop
		-- tracepoints --
		tstatus
		info tracepoints
		info tvariables
		-- frames --
		`+walk(`printf "tick n=%ld\n", n`)+`
		tfind none
		print ticks
		kill
	`))
	contains(t, second, "status", "Trace is running on the target.", "Trace will continue if GDB disconnects.")
	contains(t, second, "tracepoints", "collect n", "teval $count += 1")
	ticks := lines(second.Section(t, "frames"), "tick")
	var want []string
	for n := range ticks {
		want = append(want, fmt.Sprint("tick n=", n))
	}
	sameLines(t, "frames", want, ticks)
	for name, got := range map[string]int64{
		"ticks":  number(t, second, "frames", `\$1 = (\d+)`),
		"$count": number(t, second, "tracepoints", `\$count +0 +(\d+)`),
		"hits":   number(t, second, "tracepoints", `already hit (\d+) times`),
	} {
		if got < int64(len(ticks))-1 || got > int64(len(ticks)) {
			t.Errorf("%s: %d, and there are %d frames", name, got, len(ticks))
		}
	}
}
