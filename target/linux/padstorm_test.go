//go:build linux && amd64

package linux_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/internal/sys"
	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
	"tracewell/target"
	"tracewell/tfile"
	"tracewell/trace"
	"tracewell/trace/compiled"
)

// Programs that know what each frame must hold: padded (internal/test/testprog/src). A ledger takes their frames and looks at each,
// in place of an engine, so that a run may have any number.

// The R blocks of these tests are the general registers and the pc, which is the last.
const placesInBlock = 17

// arguments are the places in R blocks of the three arguments of tick: GDB's numbers of their registers.
type arguments struct{ i, item, thread int }

var (
	inC  = arguments{5, 4, 3}
	inGo = arguments{0, 1, 2}
)

// ledger holds the frames of a run of padded against what its threads must have done.
type ledger struct {
	t    testing.TB
	at   arch.Addr
	args arguments
	bad  uint64
	step uint64 // from a frame of a thread to its next
	late bool   // the first frame of a thread is of any call

	mu     sync.Mutex
	next   map[uint64]uint64 // by thread
	frames int
	empty  int // frames without memory
	wrong  int
}

// handlerThread is what padded passes as the thread in its signal handler.
const handlerThread = 99

func (l *ledger) take(deposits []target.Deposit) target.Verdict {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range singles(deposits) {
		if why := l.check(d); why != "" {
			if l.wrong++; l.wrong < 10 {
				l.t.Errorf("frame %d: %s", l.frames, why)
			}
		}
		l.frames++
	}
	return target.Continue
}

// singles makes a deposit of each hit.
func singles(deposits []target.Deposit) (list []target.Deposit) {
	for _, d := range deposits {
		if d.Hits < 2 {
			list = append(list, d)
			continue
		}
		for frame := range slices.Chunk(d.Frames, len(d.Frames)/d.Hits) {
			list = append(list, target.Deposit{Key: d.Key, Frames: frame, Hits: 1})
		}
	}
	return list
}

// frames that there are so far.
func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.frames
}

func (l *ledger) check(d target.Deposit) string {
	if d.Err != nil || d.Frames == nil {
		return fmt.Sprintf("%+v", d)
	}
	// The frame is read as any reader of trace files reads it.
	f, err := tfile.ParseFrame(d.Frames, binary.LittleEndian, placesInBlock*8)
	if err != nil {
		return err.Error()
	}
	registers := f.Registers()
	reg := func(place int) uint64 { return binary.LittleEndian.Uint64(registers[8*place:]) }
	i, thread := reg(l.args.i), reg(l.args.thread)
	if pc := arch.Addr(reg(placesInBlock - 1)); pc != l.at {
		return fmt.Sprintf("pc %s", pc)
	}
	next, known := l.next[thread]
	if !known && l.late || thread == handlerThread { // handlers in two threads may be in either order
		next = i
	}
	l.next[thread] = i + l.step
	if i != next {
		return fmt.Sprintf("call %d of thread %d, want %d", i, thread, next)
	}
	var item [16]byte
	// Memory that is not there has no block in the frame, and takes nothing from the others.
	n := f.ReadMemory(arch.Addr(reg(l.args.item)), item[:])
	if l.bad > 0 && i%l.bad == l.bad-1 && thread != handlerThread {
		l.empty++
		if n != 0 {
			return fmt.Sprintf("%d bytes from nowhere", n)
		}
		return ""
	}
	a, b := binary.LittleEndian.Uint64(item[:]), binary.LittleEndian.Uint64(item[8:])
	if n != 16 || a != 3*i+thread || b != ^i {
		return fmt.Sprintf("%d bytes %x of call %d of thread %d", n, item, i, thread)
	}
	return ""
}

// offload has the Collector of the target collect registers and 16 bytes at the second argument, in a run of its own, and returns
// what it was handed.
func (r *run) offload(at arch.Addr, take func([]target.Deposit) target.Verdict, change func(*trace.Tracepoint)) *compiled.Tracepoint {
	r.t.Helper()
	tp := trace.Tracepoint{Number: 1, Addr: at, Enabled: true, Actions: []trace.Action{
		{Kind: trace.CollectRegisters, Mask: []byte{0xff}}, {Kind: trace.CollectMemory, Base: 4, Length: 16},
	}}
	change(&tp)
	c, err := compiled.Compile(&tp)
	r.must(err)
	collector := r.target.Collector()
	collector.Begin(target.Run{Builtins: builtins, RegisterBlock: placesInBlock * 8, MaxFrame: 1 << 20, Deposit: take})
	r.must(collector.Offload(r.pid, c))
	refused, err := collector.Apply()
	r.must(err)
	if len(refused) > 0 {
		r.t.Fatal(refused[0].Err)
	}
	return c
}

// storm runs padded and holds its frames to what they must be.
func storm(t *testing.T, path string, l *ledger, threads, calls, rate int, condition string) {
	r := launchPads(t, path, strconv.Itoa(threads), strconv.Itoa(calls), strconv.Itoa(int(l.bad)), strconv.Itoa(rate))
	r.target.PassSignals([]target.Signal{14, 16}) // of the timer, and of Go's preemption
	step := l.step
	l.t, l.next = t, make(map[uint64]uint64)
	for i := range threads {
		l.next[uint64(i)] = step - 1
	}
	r.offload(l.at, l.take, func(tp *trace.Tracepoint) {
		tp.Actions[1].Base = arch.Reg(l.args.item)
		if condition != "" {
			code, err := ax.Assemble(condition)
			r.must(err)
			tp.Condition = code
		}
	})
	// The program prints how often its handler has called, so that the number of frames is known to the last one.
	start := time.Now()
	ev := r.resume(0)
	elapsed := time.Since(start)
	if ev.Kind == target.Stopped {
		t.Fatalf("%+v, want the end", ev)
	}
	out := r.output()
	if ev.Kind != target.Exited || ev.Code != 0 {
		t.Errorf("%+v, want exit with status 0; the program printed %q", ev, out)
	}
	done := testprog.OfKind(testprog.Records(out), "done")
	if len(done) != 1 {
		t.Fatalf("the program printed %q", out)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	handled := int(done[0].Int(t, "handled"))
	if step > 1 { // which of the handler's calls the condition holds for is nobody's business
		handled = l.frames - threads*calls/int(step)
	}
	if want := threads*calls/int(step) + handled; l.frames != want || l.wrong > 0 {
		t.Errorf("%d frames, want %d, %d of them wrong", l.frames, want, l.wrong)
	}
	t.Logf("%d frames, %d empty, %d by handlers, %.0f ns wall a call; %s", l.frames, l.empty, handled,
		float64(elapsed.Nanoseconds())/float64(threads*calls), out)
}

func TestStorm(t *testing.T) {
	for _, test := range []struct {
		name                      string
		variant                   testprog.Variant
		threads, calls, bad, rate int
		condition                 string
		step                      uint64
	}{
		{name: "one thread", variant: fixed, threads: 1, calls: 1_000_000, step: 1},
		{name: "four threads", variant: fixed, threads: 4, calls: 300_000, step: 1},
		{name: "signals", variant: fixed, threads: 2, calls: 500_000, rate: 2000, step: 1},
		{name: "static", variant: testprog.Variant{NoPIE: true, Static: true}, threads: 4, calls: 200_000, rate: 500, step: 1},
		{name: "faults", variant: fixed, threads: 2, calls: 20_000, bad: 10, rate: 500, step: 1},
		{name: "condition", variant: fixed, threads: 4, calls: 1_000_000, step: 8, condition: "reg 5\nconst8 7\nbit_and\nconst8 7\nequal\nend"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := testprog.Build(t, "padded", test.variant).Path
			l := &ledger{at: symbol(t, path, "tick_site"), args: inC, bad: uint64(test.bad), step: test.step}
			storm(t, path, l, test.threads, test.calls, test.rate, test.condition)
		})
	}
}

// TestStormLanguages has programs whose threads have small stacks that move, with a signal handler of their own (Go), or leaves that
// keep data below the stack pointer (Rust).
func TestStormLanguages(t *testing.T) {
	for _, test := range []struct {
		name, source, symbol, tool string
		flags                      []string
		args                       arguments
	}{
		{"go", "padded.go", "main.tick", "go", []string{"build", "-o"}, inGo},
		{"rust", "padded.rs", "tick", "rustc", []string{"-O", "--edition=2021", "-Crelocation-model=static", "-o"}, inC},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "padded")
			build := testtool.Command(t, test.tool, append(test.flags, path, "testdata/"+test.source)...)
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			storm(t, path, &ledger{at: symbol(t, path, test.symbol), args: test.args, step: 1}, 4, 150_000, 0, "")
		})
	}
}

// builtins are the built-in variables by the numbers that these tests give them.
var builtins = map[trace.VariableNumber]trace.VariableNumber{trace.Timestamp: trace.Timestamp, 2: trace.ThreadID, 3: trace.ProcessID}

// TestStormVariable counts the calls in a trace state variable, whose value is recorded with each eighth. Threads that hold the lock
// are stopped by signals, and led on until they have given it back.
func TestStormVariable(t *testing.T) {
	p := testprog.Build(t, "padded", fixed)
	const threads, calls = 3, 100_000
	r := launchPads(t, p.Path, strconv.Itoa(threads), strconv.Itoa(calls), "0", "2000")
	r.target.PassSignals([]target.Signal{14})
	var frames, wrong int64
	take := func(deposits []target.Deposit) target.Verdict {
		for _, d := range singles(deposits) {
			frames++
			f, err := tfile.ParseFrame(d.Frames, binary.LittleEndian, placesInBlock*8)
			if v, ok := f.Variable(9); err != nil || !ok || v != 8*frames {
				if wrong++; wrong < 10 {
					t.Errorf("frame %d has the value %d, %v", frames, v, err)
				}
			}
		}
		return target.Continue
	}
	condition, err1 := ax.Assemble("getv 9\nconst8 1\nadd\nsetv 9\nconst8 7\nbit_and\nlog_not\nend")
	record, err2 := ax.Assemble("tracev 9\nend")
	r.must(errors.Join(err1, err2))
	r.offload(symbol(t, p.Path, "tick_site"), take, func(tp *trace.Tracepoint) {
		tp.Condition = condition
		tp.Actions = append(tp.Actions, trace.Action{Kind: trace.CollectExpression, Code: record})
	})
	if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 {
		t.Errorf("%+v, want exit with status 0", ev)
	}
	done := testprog.OfKind(testprog.Records(r.output()), "done")
	if v, _ := r.target.Collector().Variables().Variable(9); len(done) != 1 || v != threads*calls+done[0].Int(t, "handled") || v/8 != frames {
		t.Errorf("the variable is %d after %d frames; %v", v, frames, done)
	}
}

// TestStormVariableInTraps has threads set the same variable in pads and in traps at a time, with signals that take them out of the
// pads. No increment is lost.
func TestStormVariableInTraps(t *testing.T) {
	p := testprog.Build(t, "padded", fixed)
	const threads, calls = 3, 15_000
	r := launchPads(t, p.Path, strconv.Itoa(threads), strconv.Itoa(calls), "0", "1000")
	r.target.PassSignals([]target.Signal{14})
	increment, err := ax.Assemble("getv 9\nconst8 1\nadd\nsetv 9\nconst8 0\nend")
	r.must(err)
	inPad := func(tp *trace.Tracepoint) { tp.Condition = increment }
	inTrap := func(tp *trace.Tracepoint) { tp.Condition, tp.Step = increment, 1 } // no pad steps
	r.trace(1, symbol(t, p.Path, "tick_site"), inPad)
	r.trace(2, symbol(t, p.Path, "tick"), inTrap)
	r.must(r.engine.Start(r.target, r.pid))
	for _, e := range r.engine.Explain() {
		if strings.HasPrefix(e.String(), "pad") != (e.Key.Number == 1) {
			t.Errorf("tracepoint %d: %s", e.Key.Number, e)
		}
	}
	if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 {
		t.Errorf("%+v, want exit with status 0", ev)
	}
	done := testprog.OfKind(testprog.Records(r.output()), "done")
	if v, _ := r.target.Collector().Variables().Variable(9); len(done) != 1 || v != 2*(threads*calls+done[0].Int(t, "handled")) {
		t.Errorf("the variable is %d; %v", v, done)
	}
}

// TestPadsDrop has a reader too slow for what threads do, which do not wait for it. Each hit is a frame or is counted as lost.
func TestPadsDrop(t *testing.T) {
	p := testprog.Build(t, "padded", fixed)
	const threads, calls = 2, 1_000_000
	r := launchPads(t, p.Path, strconv.Itoa(threads), strconv.Itoa(calls), "0", "0")
	var frames, lost int64
	take := func(deposits []target.Deposit) target.Verdict {
		time.Sleep(time.Millisecond)
		for _, d := range deposits {
			frames, lost = frames+int64(d.Hits), lost+d.Lost
		}
		return target.Continue
	}
	tp, err := compiled.Compile(&trace.Tracepoint{Number: 1, Addr: symbol(t, p.Path, "tick_site"), Enabled: true,
		Actions: []trace.Action{{Kind: trace.CollectRegisters, Mask: []byte{0xff}}}})
	r.must(err)
	collector := r.target.Collector()
	collector.Begin(target.Run{Builtins: builtins, RegisterBlock: placesInBlock * 8, MaxFrame: 1 << 20, Deposit: take,
		WhenFull: target.DropFrame})
	r.must(collector.Offload(r.pid, tp))
	if refused, err := collector.Apply(); err != nil || len(refused) > 0 {
		t.Fatal(refused, err)
	}
	if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 {
		t.Errorf("%+v, want exit with status 0", ev)
	}
	if tallies := collector.Tallies(nil); lost == 0 || frames+lost != threads*calls || tallies[0].Lost != lost {
		t.Errorf("%d frames and %d lost, want %d in all; %+v", frames, lost, threads*calls, tallies)
	}
}

// TestPadsKilledProgram kills a program whose threads are stopped in their pads all the time, some of them led on by single steps, as
// they hold the lock of the trace state variables. Its end is told, whatever the tracer waits for just then.
func TestPadsKilledProgram(t *testing.T) {
	p := testprog.Build(t, "padded", fixed)
	condition, err := ax.Assemble("getv 9\nconst8 1\nadd\nsetv 9\nconst8 0\nend")
	if err != nil {
		t.Fatal(err)
	}
	for range 40 {
		r := launchPads(t, p.Path, "3", "100000000", "0", "20000")
		r.quiet()
		r.target.PassSignals([]target.Signal{14})
		c := &counted{}
		r.offload(symbol(t, p.Path, "tick_site"), c.take, func(tp *trace.Tracepoint) { tp.Condition = condition })
		killer := time.AfterFunc(rand.N(10*time.Millisecond), func() { sys.Kill(r.pid, sys.SIGKILL) })
		if ev := r.resume(0); ev.Kind != target.Terminated || ev.Signal != target.SignalKill {
			t.Errorf("%+v, want the end by SIGKILL", ev)
		}
		killer.Stop()
		r.target.Close()
	}
}

// TestPadsKilledWhileArming kills a program while pads come and go in it. Whatever the tracer does just then fails, and the end is told.
func TestPadsKilledWhileArming(t *testing.T) {
	p := testprog.Build(t, "padded", fixed)
	for range 12 {
		r := launchPads(t, p.Path, "3", "100000000", "0", "2000")
		r.quiet()
		r.target.PassSignals([]target.Signal{14})
		c := &counted{}
		at := symbol(t, p.Path, "tick_site")
		killer := time.AfterFunc(rand.N(30*time.Millisecond), func() { sys.Kill(r.pid, sys.SIGKILL) })
		r.must(r.target.Resume([]target.Action{{Thread: everything}}))
		collector := r.target.Collector()
		tp, err := compiled.Compile(&trace.Tracepoint{Number: 1, Addr: at, Enabled: true,
			Actions: []trace.Action{{Kind: trace.CollectRegisters, Mask: []byte{0xff}}}})
		r.must(err)
		collector.Begin(target.Run{Builtins: builtins, RegisterBlock: placesInBlock * 8, MaxFrame: 1 << 20, Deposit: c.take})
		for ended := false; !ended; {
			collector.Offload(r.pid, tp)
			collector.Apply()
			collector.Recall(r.pid, at)
			collector.Apply()
			select {
			case ev := <-r.target.Events():
				if ended = true; ev.Kind != target.Terminated || ev.Signal != target.SignalKill {
					t.Errorf("%+v, want the end by SIGKILL", ev)
				}
			default:
			}
		}
		killer.Stop()
		r.target.Close()
	}
}

// TestPadFaultActions has pads read memory that is not there in programs that catch, ignore or block the signal of that: their
// action for it stays what it is.
func TestPadFaultActions(t *testing.T) {
	p := testprog.Build(t, "paddedfaults", fixed)
	for _, mode := range []string{"caught", "ignored", "blocked"} {
		t.Run(mode, func(t *testing.T) {
			r := launchPads(t, p.Path, mode)
			at := symbol(t, p.Path, "tick_site")
			r.insert(target.Breakpoint{Addr: at, Length: 1}) // the action is set when the arena is made
			r.resume(0)
			r.remove(target.Breakpoint{Addr: at, Length: 1})
			c := &counted{}
			r.offload(at, c.take, func(*trace.Tracepoint) {})
			ev := r.resume(0)
			done := testprog.OfKind(testprog.Records(r.output()), "done")
			if ev.Kind != target.Exited || len(done) != 1 || done[0].Int(t, "wrong") != 0 || done[0].Int(t, "kept") != 1 {
				t.Errorf("%+v, %v", ev, done)
			}
			if c.frames.Load() != 101 && c.frames.Load() != 100 || c.err != nil {
				t.Errorf("%d frames, want 100 and the one of the call that was under way; %v", c.frames.Load(), c.err)
			}
		})
	}
}
