package live

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/needs"
	"tracewell/internal/test/testprog"
)

// onTarget has GDB leave conditions and dprintf to the server.
const onTarget = `
	set breakpoint condition-evaluation target
	set dprintf-style agent
`

// watched puts the packets of a command into a section.
func watched(section, command string) string {
	return "\n-- " + section + " --\nset debug remote on\n" + command + "\nset debug remote off\n"
}

// TestConditionOnTarget stops at the right one of many calls, and GDB hears of no other. Where GDB evaluates the condition it
// stops at every one.
func TestConditionOnTarget(t *testing.T) {
	t.Parallel()
	const onServer, inGDB = 15000, 300
	program := testprog.Build(t, "spin", testprog.Variant{NoPIE: true})
	condition := func(call int) string { return fmt.Sprintf("break *tick_mov if $rdi == %d", call) }
	s := debug(t, program, []string{"20000"}, toMain+onTarget+condition(onServer)+watched("server", "continue")+`
		print $rdi
		info breakpoints
		delete
		set breakpoint condition-evaluation host
		`+condition(onServer+inGDB)+watched("gdb", "continue")+`
		print $rdi
		delete
		continue
	`)
	contains(t, s.output, "server", fmt.Sprintf("= %d\n", onServer), "(target evals)", "already hit 1 time")
	contains(t, s.output, "gdb", fmt.Sprintf("= %d\n", onServer+inGDB))
	sameCalls(t, s, 20000)
	stops := func(section string) int { return strings.Count(s.output.Section(t, section), "Packet received: T05") }
	if n := stops("server"); n != 1 {
		t.Errorf("%d stops while the server evaluates the condition, want 1", n)
	}
	if n := stops("gdb"); n < inGDB {
		t.Errorf("%d stops while GDB evaluates the condition, want %d at least", n, inGDB)
	}
}

// TestConditionInPad has a pad evaluate conditions in each kind of place, while GDB steps, has other breakpoints in the way, traces
// at the same address and takes it all away. It prints what it prints where each hit is a trap.
func TestConditionInPad(t *testing.T) {
	t.Parallel()
	for site, length := range map[string]int{"mov": 7, "push": 1} {
		for _, variant := range []testprog.Variant{{}, {NoPIE: true}} {
			t.Run(variant.String()+" "+site, func(t *testing.T) {
				t.Parallel()
				program := testprog.Build(t, "spin", variant)
				at := strings.NewReplacer("TICK", "tick_"+site, "NEXT", fmt.Sprintf("(tick_%s + %d)", site, length))
				script := at.Replace(toMain + onTarget + conditionsAtTick)
				traps := debugWith(t, []string{"--no-pads"}, program, []string{"4000", site}, script)
				pads := debugWith(t, nil, program, []string{"4000", site}, script)
				sameCalls(t, pads, 4000)
				for _, section := range []string{"session", "end"} {
					if diff := cmp.Diff(traps.output.Section(t, section), pads.output.Section(t, section)); diff != "" {
						t.Errorf("with pads GDB printed (-traps +pads):\n%s", diff)
					}
				}
				contains(t, pads.output, "session", "call 1000", "call 1500", "call 2000", "call 2500")
				contains(t, pads.output, "status", "Collected 5 trace frames")
				contains(t, pads.output, "end", "call 3000", "already hit 2 times")
			})
		}
	}
}

// conditionsAtTick stops in some of the calls of TICK.
const conditionsAtTick = `
	-- session --
	break *TICK if $rdi == 2000
	break *TICK if $rdi == 3000 || $rdi == 1000
	continue
	printf "call %d\n", $rdi
	x/8i TICK
	info registers
	stepi
	stepi
	tbreak *NEXT if $rdi == 1500
	continue
	printf "call %d\n", $rdi
	continue
	printf "call %d\n", $rdi
	trace *TICK if $rdi % 100 == 50
	actions
		collect $rdi, $rsp
	end
	tstart
	break *TICK if $rdi == 2500
	continue
	printf "call %d\n", $rdi
	tstop
	-- status --
	tstatus
	-- end --
	delete 6
	continue
	printf "call %d\n", $rdi
	x/8i TICK
	info breakpoints
	-- rest --
	delete
	continue
`

// sameCalls checks that spin made its calls and each did what it should.
func sameCalls(t *testing.T, s *session, calls int64) {
	t.Helper()
	done := testprog.Records(strings.Join(s.finished(t, "done"), "\n"))
	if len(done) != 1 || done[0].Int(t, "calls") != calls || done[0].Int(t, "wrong") != 0 {
		t.Errorf("the program printed %v", done)
	}
}

// TestConditionsAtOnePlace has several breakpoints on one line, of both kinds, and a tracepoint: each counts its own.
func TestConditionsAtOnePlace(t *testing.T) {
	needs.DebugRegisters(t)
	t.Parallel()
	s := debug(t, queue(t), []string{"24"}, toMain+onTarget+tracePushes+`
		tstart
		break {mark: pushed} if item->number == 5
		break {mark: pushed} if item->number % 9 == 0
		hbreak {mark: pushed} if pushes == 12
		-- stops --
		continue
		printf "stop number=%d\n", item->number
		continue
		printf "stop number=%d\n", item->number
		continue
		printf "stop number=%d\n", item->number
		continue
		printf "stop number=%d\n", item->number
		-- breakpoints --
		info breakpoints
		-- rest --
		delete 3 4 5
		break exit
		continue
		tstop
		-- frames --
	`+walk(retellPush)+toEnd)
	sameLines(t, "stops", []string{"stop number=5", "stop number=9", "stop number=12", "stop number=18"},
		lines(s.output.Section(t, "stops"), "stop"))
	contains(t, s.output, "breakpoints", "already hit 1 time", "already hit 2 times")
	sameLines(t, "frames", s.finished(t, "push"), lines(s.output.Section(t, "frames"), "push"))
}

// TestConditionFails stops where a condition cannot be evaluated, and GDB says why.
func TestConditionFails(t *testing.T) {
	t.Parallel()
	s := debug(t, queue(t), []string{"9"}, toMain+onTarget+`
		break {mark: pushed} if 10 / (item->number - 4) == 100
		-- stop --
		continue
		printf "stop number=%d\n", item->number
		-- rest --
		delete
		continue
	`)
	contains(t, s.output, "stop", "Error in testing breakpoint condition", "Division by zero", "stop number=4")
	s.server.Wait(t)
}

// TestConditionOverVariable reads a trace state variable that a tracepoint counts in.
func TestConditionOverVariable(t *testing.T) {
	t.Parallel()
	s := debug(t, queue(t), []string{"20"}, toMain+onTarget+`
		tvariable $seen = 0
		trace push
		actions
		teval $seen = $seen + 1
		end
		tstart
		break pop if $seen == 7
		-- stop --
		continue
		printf "stop pushes=%ld\n", pushes
		-- rest --
		delete
		continue
	`)
	contains(t, s.output, "stop", "stop pushes=7")
}

// TestConditionOnWatchpoint watches a counter for a value.
func TestConditionOnWatchpoint(t *testing.T) {
	needs.DebugRegisters(t)
	t.Parallel()
	s := debug(t, queue(t), []string{"20"}, toMain+onTarget+`
		watch pushes if pushes == 8
		-- stop --
		continue
		printf "stop pushes=%ld\n", pushes
		-- rest --
		delete
		continue
	`)
	contains(t, s.output, "stop", "Hardware watchpoint 2: pushes", "stop pushes=8")
	s.server.Wait(t)
}

// dprintfPush has the server print what the program prints at the same place. GDB cannot compile the name of an array.
const dprintfPush = `dprintf {mark: pushed},"agent number=%d label=%s length=%d highest=%d pushes=%ld\n", ` +
	`item->number, &item->label[0], q->length, q->highest, pushes`

// agentLines are the lines of push as dprintfPush prints them.
func agentLines(pushes []string) (all []string) {
	for _, line := range pushes {
		all = append(all, strings.Replace(line, "push", "agent", 1))
	}
	return all
}

// TestAgentDprintf prints at every push, beside breakpoints elsewhere and steps onto the place.
func TestAgentDprintf(t *testing.T) {
	t.Parallel()
	s := debug(t, queue(t), []string{"12"}, toMain+onTarget+dprintfPush+`
		dprintf {mark: popped},"form %c|%5d|%-5u|%#o|%lld|%p|%%|%.4s\n", 65, q->length, q->length, q->length, pops, 0, &item->label[0]
		break push if item->number == 6
		continue
		next 7
		delete 4
		continue
	`)
	sameLines(t, "dprintf", agentLines(s.finished(t, "push")), lines(s.server.Stdout(), "agent"))
	var want []string
	for _, r := range testprog.OfKind(testprog.Records(s.server.Stdout()), "pop") {
		length := r.Int(t, "length")
		want = append(want, fmt.Sprintf("form A|%5d|%-5d|%#o|%d|(nil)|%%|item", length, length, length, r.Int(t, "pops")))
	}
	sameLines(t, "dprintf of every form", want, lines(s.server.Stdout(), "form"))
}

// TestAgentDprintfInPad prints at thousands of calls, some of which stop: what is printed, and what GDB says, is what traps make.
func TestAgentDprintfInPad(t *testing.T) {
	t.Parallel()
	program := testprog.Build(t, "spin", testprog.Variant{NoPIE: true})
	const calls = "8000"
	script := toMain + onTarget + `
		dprintf *tick_mov,"agent %5d|%-6x|%s|%c\n", $rdi, $rsi, $rsi, 65 + $rdi % 26
		dprintf *tick_mov + 7,"inner %d\n", $rdi
		condition 3 $rdi % 100 == 1
		-- stops --
		break *tick_mov if $rdi == 3000
		continue
		info breakpoints
		stepi
		stepi
		delete 4
		-- rest --
		continue
	`
	traps := debugWith(t, []string{"--no-pads"}, program, []string{calls, "mov"}, script)
	pads := debugWith(t, nil, program, []string{calls, "mov"}, script)
	sameCalls(t, pads, 8000)
	for _, kind := range []string{"agent", "inner"} {
		sameLines(t, kind, lines(traps.server.Stdout(), kind), lines(pads.server.Stdout(), kind))
	}
	sameLines(t, "stops", strings.Split(traps.output.Section(t, "stops"), "\n"), strings.Split(pads.output.Section(t, "stops"), "\n"))
}

// TestAgentDprintfCondition prints where the condition holds. gdbserver 13.1 prints always.
func TestAgentDprintfCondition(t *testing.T) {
	t.Parallel()
	s := debug(t, queue(t), []string{"12"}, toMain+onTarget+dprintfPush+`
		condition 2 item->number % 4 == 0
		continue
	`)
	var want []string
	for i, line := range agentLines(s.finished(t, "push")) {
		if (i+1)%4 == 0 {
			want = append(want, line)
		}
	}
	sameLines(t, "dprintf", want, lines(s.server.Stdout(), "agent"))
}

// TestAgentDprintfWithoutClient detaches from a program with a dprintf in it. GDB leaves it in if disconnected-dprintf says so
// and breakpoints stay inserted while the program is stopped.
func TestAgentDprintfWithoutClient(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		setting string
		goesOn  bool
	}{{"on", true}, {"off", false}} {
		t.Run(c.setting, func(t *testing.T) {
			t.Parallel()
			s := debug(t, queue(t), []string{"12"}, toMain+onTarget+`
				set breakpoint always-inserted on
				set disconnected-dprintf `+c.setting+"\n"+dprintfPush+`
				break push if item->number == 5
				continue
				detach
			`)
			want := agentLines(s.printed(t, "push", 12))
			if !c.goesOn {
				want = want[:4]
			}
			sameLines(t, "dprintf", want, lines(s.server.Stdout(), "agent"))
		})
	}
}
