//go:build linux && amd64

package linux_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/internal/test/testprog"
	"tracewell/target"
	"tracewell/target/linux"
	"tracewell/trace"
	"tracewell/tracepoint"
)

// judged makes a breakpoint with conditions, and counts the calls of its Check.
func (r *run) judged(at arch.Addr, calls *int, conditions ...string) target.Breakpoint {
	r.t.Helper()
	var codes [][]byte
	for _, c := range conditions {
		code, err := ax.Assemble(c)
		r.must(err)
		codes = append(codes, code)
	}
	agent, err := r.engine.CompileBreakpoint(at, codes, nil)
	r.must(err)
	check := func(s target.Snapshot) bool { *calls++; return agent.Hit(s) }
	return target.Breakpoint{Addr: at, Length: 1, Check: check, Agent: &agent.Breakpoint}
}

// isCall is a condition that holds in one call of a function.
func isCall(call int) string { return fmt.Sprintf("reg %d\nconst32 %d\nequal\nend", rdi, call) }

// launchJudging is launchPads with pads for breakpoints after few hits.
func launchJudging(t testing.TB, vain int, program string, args ...string) *run {
	r := launch(t, program, args...)
	r.target.UsePads(linux.Pads{Vain: vain})
	return r
}

// unrandomised is where the kernel loads a position-independent program whose addresses are not to be random.
const unrandomised = 0x555555554000

// register is the value of a register of a stopped thread.
func (r *run) register(id target.ThreadID, n arch.Reg) uint64 {
	r.t.Helper()
	layout, err := r.target.Description().Layout()
	r.must(err)
	block := r.block()
	r.must(r.target.ReadRegisters(id, block))
	return binary.LittleEndian.Uint64(block[layout.ByNumber(n).Offset:])
}

// TestJudged stops at the right ones of many calls, and Check is asked about no others once there is a pad.
func TestJudged(t *testing.T) {
	for _, variant := range []testprog.Variant{{}, {NoPIE: true}, {NoPIE: true, Static: true}} {
		for _, site := range []string{"mov", "push", "nop", "nop5"} {
			t.Run(variant.String()+" "+site, func(t *testing.T) {
				t.Parallel()
				p := testprog.Build(t, "spin", variant)
				const vain = 10
				r := launchJudging(t, vain, p.Path, "3000", site)
				at := symbol(t, p.Path, "tick_"+site)
				if !variant.NoPIE {
					at += unrandomised
				}
				calls := 0
				b := r.judged(at, &calls, isCall(2000), isCall(2001))
				r.insert(b)
				for i := range 2 {
					// GDB takes all breakpoints out at each stop, and puts them back.
					for range 3 {
						r.remove(b)
						r.insert(b)
					}
					ev := r.resume(0)
					if ev.Reason != target.ReasonSwBreak || r.pc(ev.Thread) != at || r.register(ev.Thread, rdi) != uint64(2000+i) {
						t.Fatalf("%+v at %s in call %d", ev, r.pc(ev.Thread), r.register(ev.Thread, rdi))
					}
				}
				if calls != vain+2 {
					t.Errorf("%d calls of Check, want %d", calls, vain+2)
				}
				if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 || calls != vain+2 {
					t.Errorf("%+v after %d calls of Check", ev, calls)
				}
			})
		}
	}
}

// inVain is a condition that is false, though it has to look at memory for that.
const inVain = "reg 7\nref64\nconst8 1\nequal\nend"

// TestJudgedWithTracepoint has a tracepoint come to the place of a breakpoint's pad, or into its jump, and go again: both see what
// they should, and the breakpoint has its pad back in the end.
func TestJudgedWithTracepoint(t *testing.T) {
	p := testprog.Build(t, "spin", fixed)
	for _, offset := range []arch.Addr{0, 1} { // push is one byte
		t.Run(fmt.Sprint(offset), func(t *testing.T) {
			t.Parallel()
			r := launchJudging(t, 5, p.Path, "400", "push")
			at := symbol(t, p.Path, "tick_push")
			calls := 0
			r.insert(r.judged(at, &calls, isCall(100), isCall(200), isCall(300)))
			r.resume(0)
			if calls != 6 {
				t.Fatalf("%d calls of Check before the tracepoint", calls)
			}
			r.trace(1, at+offset)
			r.must(r.engine.Start(r.target, r.pid))
			if ev := r.resume(0); ev.Reason != target.ReasonSwBreak || r.register(ev.Thread, rdi) != 200 || r.hits() != 100 {
				t.Errorf("%+v in call %d after %d hits", ev, r.register(ev.Thread, rdi), r.hits())
			}
			r.must(r.engine.Stop(trace.ReasonStop, ""))
			calls = 0
			if ev := r.resume(0); ev.Reason != target.ReasonSwBreak || r.register(ev.Thread, rdi) != 300 || calls > 80 {
				t.Errorf("%+v in call %d after %d calls of Check", ev, r.register(ev.Thread, rdi), calls)
			}
			if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 {
				t.Errorf("%+v, want exit with status 0", ev)
			}
		})
	}
}

// TestJudgedSteps steps a thread through whole calls: each step is one instruction of the program, arriving at the breakpoint is
// a hit of it, and a breakpoint inside its jump is met.
func TestJudgedSteps(t *testing.T) {
	p := testprog.Build(t, "spin", fixed)
	r := launchJudging(t, 5, p.Path, "300", "push")
	at := symbol(t, p.Path, "tick_push")
	calls := 0
	b := r.judged(at, &calls, isCall(100), isCall(102))
	r.insert(b)
	id := r.resume(0).Thread
	var pcs []arch.Addr
	for range 1000 {
		ev := r.do(target.Action{Thread: id, Verb: target.StepOne})
		pc := r.pc(id)
		pcs = append(pcs, pc)
		want := target.ReasonNone
		if pc == at && r.register(id, rdi) == 102 {
			want = target.ReasonSwBreak
		}
		if ev.Reason != want {
			t.Fatalf("%+v at %s", ev, pc)
		}
		if want != target.ReasonNone {
			break
		}
	}
	inner := target.Breakpoint{Addr: at + 1, Length: 1}
	r.insert(inner)
	for i := range 5 {
		if ev := r.resume(0); ev.Reason != target.ReasonSwBreak || r.pc(id) != at+1 || r.register(id, rdi) != uint64(102+i) {
			t.Fatalf("%+v at %s in call %d", ev, r.pc(id), r.register(id, rdi))
		}
	}
	// A thread that is sent to the breakpoint, and is to step from there, has its hit.
	r.remove(inner)
	calls = 0
	if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 || calls != 0 {
		t.Errorf("%+v after %d calls of Check", ev, calls)
	}
	t.Logf("%d steps", len(pcs))
}

// TestJudgedFails stops where a condition cannot be evaluated.
func TestJudgedFails(t *testing.T) {
	p := testprog.Build(t, "spin", fixed)
	for _, condition := range []string{
		fmt.Sprintf("const8 1\nreg %d\nconst8 100\nsub\ndiv_signed\nconst16 999\nequal\nend", rdi),
		// The address is 0, or none, in the hundredth call.
		fmt.Sprintf("reg %d\nconst8 100\nequal\nif_goto bad\nconst8 0\nend\nbad: const8 4\nref64\nend", rdi),
		fmt.Sprintf("reg %d\nconst8 100\nequal\nif_goto bad\nconst8 0\nend\nbad: const32 0x7fffffff\nref64\nend", rdi),
	} {
		r := launchJudging(t, 5, p.Path, "200", "mov")
		calls := 0
		r.insert(r.judged(symbol(t, p.Path, "tick_mov"), &calls, condition))
		if ev := r.resume(0); ev.Reason != target.ReasonSwBreak || r.register(ev.Thread, rdi) != 100 || calls != 6 {
			t.Errorf("%s: %+v in call %d after %d calls of Check", condition, ev, r.register(ev.Thread, rdi), calls)
		}
		if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 {
			t.Errorf("%s: %+v, want exit with status 0", condition, ev)
		}
	}
}

// TestJudgedChanges has the conditions change, and the code: the pad of the ones before is asked no more.
func TestJudgedChanges(t *testing.T) {
	p := testprog.Build(t, "spin", fixed)
	r := launchJudging(t, 5, p.Path, "3000", "mov")
	at := symbol(t, p.Path, "tick_mov")
	calls, other := 0, 0
	r.insert(r.judged(at, &calls, isCall(1000)))
	r.resume(0)
	b := r.judged(at, &other, isCall(2000))
	r.insert(b) // GDB sends no z before it
	ev := r.resume(0)
	if ev.Reason != target.ReasonSwBreak || r.register(ev.Thread, rdi) != 2000 || calls != 6 || other != 6 {
		t.Errorf("%+v in call %d after %d and %d calls of Check", ev, r.register(ev.Thread, rdi), calls, other)
	}
	// Memory reads show the program's own code, which a write changes under the jump.
	var code [16]byte
	if _, err := r.target.ReadMemory(ev.Thread, at, code[:]); err != nil || code[0] == 0xe9 || code[0] == 0xcc {
		t.Errorf("the code reads % x, %v", code, err)
	}
	r.must(r.target.WriteMemory(ev.Thread, at, code[:]))
	r.remove(b)
	r.insert(r.judged(at, &other, isCall(2500)))
	if ev := r.resume(0); ev.Reason != target.ReasonSwBreak || r.register(ev.Thread, rdi) != 2500 || other != 12 {
		t.Errorf("%+v in call %d after %d calls of Check", ev, r.register(ev.Thread, rdi), other)
	}
	r.must(r.target.Detach(r.pid))
	if out := r.output(); !strings.Contains(out, "wrong=0") {
		t.Errorf("the program printed %q", out)
	}
}

// TestJudgedThreads has four threads run through a pad while others stop and signals come.
func TestJudgedThreads(t *testing.T) {
	p := testprog.Build(t, "threads", fixed)
	r := launchJudging(t, 5, p.Path, "20000")
	calls := 0
	b := r.judged(symbol(t, p.Path, "work"), &calls, inVain)
	r.insert(b)
	for range 50 {
		time.AfterFunc(2*time.Millisecond, func() { r.target.Interrupt() })
		ev := r.resume(0)
		if ev.Kind != target.Stopped {
			t.Logf("%+v", ev)
			return
		}
		if ev.Signal != target.SignalInt {
			t.Fatalf("%+v", ev)
		}
		r.remove(b)
		r.insert(b)
	}
	r.remove(b)
	if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 || calls > 20 {
		t.Errorf("%+v after %d calls of Check", ev, calls)
	}
}

// printing makes a breakpoint with commands, whose lines are appended to list under mu.
func (r *run) printing(at arch.Addr, calls *int, condition string, lines *printedLines, commands ...string) target.Breakpoint {
	r.t.Helper()
	engine := tracepoint.New(tracepoint.Layout{Order: r.target.ISA().Order, Print: lines.add})
	code := func(text string) []byte {
		b, err := ax.Assemble(text)
		r.must(err)
		return b
	}
	var conditions, list [][]byte
	if condition != "" {
		conditions = append(conditions, code(condition))
	}
	for _, c := range commands {
		list = append(list, code(c))
	}
	agent, err := engine.CompileBreakpoint(at, conditions, list)
	r.must(err)
	check := func(s target.Snapshot) bool { *calls++; return agent.Hit(s) }
	return target.Breakpoint{Addr: at, Length: 1, Check: check, Agent: &agent.Breakpoint, Print: agent.Print}
}

// printedLines is what was printed, by any goroutine.
type printedLines struct {
	mu   sync.Mutex
	list []string
}

func (p *printedLines) add(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, text)
}

func (p *printedLines) all() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.list)
}

// TestJudgedPrints has a pad print at each call, whether or not a condition holds, and the lines are there, in order, when the
// program stops or ends.
func TestJudgedPrints(t *testing.T) {
	const command = "reg 5\nconst8 0\nconst8 0\nprintf 1 `call %d\\n`\nend"
	p := testprog.Build(t, "spin", fixed)
	const calls, vain = 5000, 5
	for _, test := range []struct {
		about     string
		condition string
		commands  []string
		prints    func(call int) []string
		checks    int
	}{
		{"always", "", []string{command}, func(call int) []string { return []string{fmt.Sprintf("call %d\n", call)} }, vain},
		{"sometimes", fmt.Sprintf("reg %d\nconst8 7\nbit_and\nconst8 3\nequal\nend", rdi),
			[]string{"const8 0\nconst8 0\nprintf 0 `here `\nend", command}, func(call int) []string {
				if call&7 != 3 {
					return nil
				}
				return []string{"here ", fmt.Sprintf("call %d\n", call)}
			}, vain},
		// The second command fails in each hundredth call, and that is told between what the others print.
		{"failing", "", []string{command, "const8 1\nreg 5\nconst8 100\nrem_unsigned\nrem_unsigned\npop\nend", command},
			func(call int) []string {
				line := fmt.Sprintf("call %d\n", call)
				if call%100 == 0 {
					return []string{line, "Breakpoint at AT: divide by zero: rem_unsigned at offset 8\n", line}
				}
				return []string{line, line}
			}, vain + calls/100 - 1},
	} {
		t.Run(test.about, func(t *testing.T) {
			t.Parallel()
			r := launchJudging(t, vain, p.Path, fmt.Sprint(calls), "mov")
			at := symbol(t, p.Path, "tick_mov")
			var lines printedLines
			checks, stops := 0, 0
			r.insert(r.printing(at, &checks, test.condition, &lines, test.commands...))
			r.insert(r.judged(symbol(t, p.Path, "tick_mov")+7, &stops, isCall(1234), isCall(4321)))
			var want []string
			call := 0
			upTo := func(last int) {
				t.Helper()
				for ; call <= last; call++ {
					for _, line := range test.prints(call) {
						want = append(want, strings.ReplaceAll(line, "AT", at.String()))
					}
				}
				if got := lines.all(); !slices.Equal(got, want) {
					t.Fatalf("after call %d: %d lines, want %d; the last ones are %q, want %q", last, len(got), len(want),
						got[max(0, len(got)-3):], want[max(0, len(want)-3):])
				}
			}
			for _, last := range []int{1234, 4321} {
				if ev := r.resume(0); ev.Reason != target.ReasonSwBreak || r.register(ev.Thread, rdi) != uint64(last) {
					t.Fatalf("%+v", ev)
				}
				upTo(last)
			}
			if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 {
				t.Errorf("%+v", ev)
			}
			upTo(calls - 1)
			if checks != test.checks {
				t.Errorf("%d calls of Check, want %d", checks, test.checks)
			}
		})
	}
}

// sequences checks lines of a thread and a number: the numbers of each thread are all there, from 0 and in order.
func sequences(t *testing.T, lines []string) (counts map[uint64]uint64) {
	t.Helper()
	counts = make(map[uint64]uint64)
	wrong := 0
	for _, line := range lines {
		var thread, i uint64
		if _, err := fmt.Sscanf(line, "%d %d\n", &thread, &i); err != nil || i&(1<<40-1) != counts[thread] && thread != 99 {
			if wrong++; wrong < 10 {
				t.Errorf("line %q after %d", line, counts[thread])
			}
		}
		counts[thread]++
	}
	return counts
}

// printsCall has a line printed of the thread and the number of a call of padded.
const printsCall = "reg 5\nreg 3\nconst8 0\nconst8 0\nprintf 2 `%ld %ld\\n`\nend"

// TestJudgedStorm has four threads print at each call, with a handler of signals that calls, too, while the program is stopped again
// and again, and the breakpoint is taken out and put back.
func TestJudgedStorm(t *testing.T) {
	p := testprog.Build(t, "padded", fixed)
	const threads, calls = 4, 20_000
	r := launchJudging(t, 5, p.Path, fmt.Sprint(threads), fmt.Sprint(calls), "0", "1000")
	r.target.PassSignals([]target.Signal{14})
	var lines printedLines
	checks := 0
	b := r.printing(symbol(t, p.Path, "tick_site"), &checks, "", &lines, printsCall)
	r.insert(b)
	stops := 0
	for {
		interrupt := time.AfterFunc(3*time.Millisecond, func() { r.target.Interrupt() })
		ev := r.resume(0)
		interrupt.Stop()
		if ev.Kind == target.Exited && ev.Code == 0 {
			break
		}
		if ev.Kind != target.Stopped || ev.Signal != target.SignalInt {
			t.Fatalf("%+v", ev)
		}
		before := len(lines.all())
		if stops++; stops%2 == 0 {
			r.remove(b)
			r.insert(b)
		}
		if n := len(lines.all()); n != before {
			t.Errorf("%d lines came behind the event", n-before)
		}
	}
	done := testprog.OfKind(testprog.Records(r.output()), "done")
	counts := sequences(t, lines.all())
	for thread := range uint64(threads) {
		if counts[thread] != calls {
			t.Errorf("%d lines of thread %d", counts[thread], thread)
		}
	}
	if handled := done[0].Int(t, "handled"); counts[99] != uint64(handled) {
		t.Errorf("%d lines of the handler, want %d", counts[99], handled)
	}
	t.Logf("%d stops, %d calls of Check, %v", stops, checks, counts)
}

// TestJudgedChildren: of the program's children none prints, whatever memory it runs in.
func TestJudgedChildren(t *testing.T) {
	p := testprog.Build(t, "paddedchildren", fixed)
	r := launchJudging(t, 5, p.Path, "60")
	r.quiet()
	var lines printedLines
	checks := 0
	r.insert(r.printing(symbol(t, p.Path, "tick_site"), &checks, "", &lines, "const8 0\nconst8 0\nprintf 0 `call`\nend"))
	ev := r.resume(0)
	done := testprog.OfKind(testprog.Records(r.output()), "done")
	if ev.Kind != target.Exited || ev.Code != 0 || len(done) != 1 {
		t.Fatalf("%+v", ev)
	}
	if n, want := len(lines.all()), done[0].Int(t, "calls")+done[0].Int(t, "aside"); int64(n) != want {
		t.Errorf("%d lines, want %d", n, want)
	}
	t.Logf("%d calls of Check", checks)
}

// TestJudgedDetach lets a program go in whose pads threads print: what they have printed until then is there, and the program goes
// on as if nothing had been.
func TestJudgedDetach(t *testing.T) {
	p := testprog.Build(t, "padded", fixed)
	r := launchJudging(t, 5, p.Path, "4", "30000")
	var lines printedLines
	checks, others := 0, 0
	at := symbol(t, p.Path, "tick_site")
	r.insert(r.printing(at, &checks, "", &lines, printsCall))
	r.insert(r.judged(symbol(t, p.Path, "tick"), &others, inVain))
	time.AfterFunc(30*time.Millisecond, func() { r.target.Interrupt() })
	if ev := r.resume(0); ev.Kind != target.Stopped {
		t.Fatalf("%+v", ev)
	}
	r.must(r.target.Detach(r.pid))
	counts := sequences(t, lines.all())
	if out := r.output(); !strings.Contains(out, "done") {
		t.Errorf("the program printed %q", out)
	}
	t.Logf("%v", counts)
}

// BenchmarkReinsert takes a breakpoint with a condition out and puts it back, as GDB does at each stop: one that has a pad, and a trap.
func BenchmarkReinsert(b *testing.B) {
	p := testprog.Build(b, "spin", fixed)
	for _, vain := range []int{10, 1 << 30} {
		b.Run(fmt.Sprintf("after %d in vain", vain), func(b *testing.B) {
			r := launchJudging(b, vain, p.Path, "3000", "mov")
			calls := 0
			bp := r.judged(symbol(b, p.Path, "tick_mov"), &calls, isCall(2000))
			r.insert(bp)
			r.resume(0)
			for b.Loop() {
				r.remove(bp)
				r.insert(bp)
			}
		})
	}
}
