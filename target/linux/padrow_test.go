//go:build linux && amd64

package linux_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/internal/test/testprog"
	"tracewell/target"
	"tracewell/target/linux"
	"tracewell/trace"
	"tracewell/trace/compiled"
)

// neighbours are the locations of that program, each too close to the one before it for a jump of its own, in order.
var neighbours = []string{"row_a", "row_b", "row_c", "row_d", "side_a", "side_b"}

// street is a run of tracepoints on neighbours. A thread's hits of one location come in order.
type street struct {
	*run
	mu     sync.Mutex // pads and traps are counted by different goroutines
	at     map[string]arch.Addr
	byAddr map[arch.Addr]string
	on     map[string]bool
	hits   map[string]int64
	late   map[string]bool // the next hit may be any later one, since nothing was collected for a while
	next   map[string]uint64
	wrong  []string

	trapped int // hits of traps
}

// newStreet is a street in a program of one thread, or of several whose order is not looked at.
func newStreet(r *run, path string) *street {
	s := &street{run: r, at: map[string]arch.Addr{}, byAddr: map[arch.Addr]string{}, on: map[string]bool{}, hits: map[string]int64{},
		late: map[string]bool{}}
	for _, name := range neighbours {
		s.at[name] = symbol(r.t, path, name)
		s.byAddr[s.at[name]] = name
	}
	return s
}

// take holds frames to what they must be.
func (s *street) take(deposits []target.Deposit) target.Verdict {
	for _, d := range deposits {
		if d.Err != nil || d.Frames == nil {
			s.wrong = append(s.wrong, fmt.Sprintf("%+v", d))
			continue
		}
		const block, rdi, rip = 7, 5, 16 // behind the frame's header and the letter
		for frame := range slices.Chunk(d.Frames, len(d.Frames)/d.Hits) {
			s.hit(d.Key.Addr, binary.LittleEndian.Uint64(frame[block+8*rip:]), binary.LittleEndian.Uint64(frame[block+8*rdi:]))
		}
	}
	return target.Continue
}

// hit counts the hit of a location in call i.
func (s *street) hit(at arch.Addr, pc, i uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := s.byAddr[at]
	if pc != uint64(at) {
		s.wrong = append(s.wrong, fmt.Sprintf("%s: pc %#x", name, pc))
	}
	s.hits[name]++
	if s.next == nil || i >= 1<<40 {
		return
	}
	step := uint64(1)
	if name == "side_a" {
		step = 2
	}
	if want := s.next[name]; i != want && !(s.late[name] && i > want) {
		s.wrong = append(s.wrong, fmt.Sprintf("%s: call %d, want %d", name, i, want))
	}
	s.late[name] = false
	s.next[name] = i + step
}

// Hit implements target.Handler, for locations that are traps for a time.
func (s *street) Hit(at arch.Addr, snapshot target.Snapshot) target.Verdict {
	i, err := snapshot.Register(5)
	s.hit(at, uint64(snapshot.PC()), i)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || !s.on[s.byAddr[at]] {
		s.wrong = append(s.wrong, fmt.Sprintf("a hit at %s, %v", at, err))
	}
	s.trapped++
	return target.Continue
}

func (s *street) Stepped(target.Snapshot) target.Verdict { return target.Continue }
func (s *street) ThreadGone(int64) target.Verdict        { return target.Continue }

// begin begins a run.
func (s *street) begin() target.Collector {
	c := s.target.Collector()
	s.target.SetHandler(s)
	var locations []arch.Addr
	for _, name := range neighbours {
		locations = append(locations, s.at[name])
	}
	c.Begin(target.Run{Builtins: builtins, Locations: locations, RegisterBlock: placesInBlock * 8, MaxFrame: 1 << 20, Deposit: s.take})
	return c
}

// offload prepares a tracepoint at a location.
func (s *street) offload(name string) error {
	tp, err := compiled.Compile(&trace.Tracepoint{Number: trace.Number(1 + slices.Index(neighbours, name)), Addr: s.at[name], Enabled: true,
		Actions: []trace.Action{{Kind: trace.CollectRegisters, Mask: []byte{0xff}}}})
	s.must(err)
	s.on[name] = true
	return s.target.Collector().Offload(s.pid, tp)
}

func (s *street) recall(name string) {
	s.target.Collector().Recall(s.pid, s.at[name])
	delete(s.on, name)
}

func (s *street) apply() {
	s.t.Helper()
	refused, err := s.target.Collector().Apply()
	s.must(err)
	for _, r := range refused {
		s.t.Errorf("%s is refused: %v", s.byAddr[r.Addr], r.Err)
	}
}

func (s *street) explain(name string) string { return s.target.Collector().Explain(s.pid, s.at[name]) }

// judge reports what was wrong.
func (s *street) judge() {
	s.t.Helper()
	for i, wrong := range s.wrong {
		if i == 5 {
			s.t.Fatalf("%d more", len(s.wrong)-i)
		}
		s.t.Error(wrong)
	}
}

// TestPadRow has tracepoints on instructions next to one another, in threads that signals interrupt, while children that do not count run
// through them: each hit makes a frame, whichever way the thread came.
func TestPadRow(t *testing.T) {
	p := testprog.Build(t, "neighbours", fixed)
	const threads, calls = 2, 30_000
	for _, order := range []string{"forwards", "backwards"} {
		t.Run(order, func(t *testing.T) {
			r := launchPads(t, p.Path, fmt.Sprint(threads), fmt.Sprint(calls), "1000", "40")
			s := newStreet(r, p.Path)
			s.begin()
			names := slices.Clone(neighbours)
			if order == "backwards" {
				slices.Reverse(names)
			}
			refused := map[string]bool{}
			for _, name := range names {
				if err := s.offload(name); err != nil {
					t.Logf("%s: %v", name, err)
					refused[name] = true
				}
			}
			s.apply()
			if order == "forwards" {
				for name, want := range map[string]string{"row_a": "pad, by overlap", "row_b": "pad, by the overlap at " + s.at["row_a"].String(),
					"row_d": "pad, by overlap", "side_a": "pad, by unclean overlap", "side_b": "pad, by the unclean overlap at " +
						s.at["side_a"].String()} {
					if how := s.explain(name); how != want && name != "row_d" {
						t.Errorf("%s is collected by %q, want %q", name, how, want)
					}
				}
				if len(refused) > 0 {
					t.Errorf("refused: %v", refused)
				}
			}
			ev := r.quietly()
			if ev.Kind == target.Stopped {
				t.Fatalf("%+v at %s; row_a is %s, side_a %s", ev, r.pc(ev.Thread), s.at["row_a"], s.at["side_a"])
			}
			out := r.output()
			done := testprog.OfKind(testprog.Records(out), "done")
			if ev.Kind != target.Exited || ev.Code != 0 || len(done) != 1 {
				t.Fatalf("%+v; the program printed %q", ev, out)
			}
			handled := done[0].Int(t, "handled")
			all := threads*calls + handled
			even := threads*calls/2 + (handled+1)/2
			for _, name := range neighbours {
				want := all
				if name == "side_a" {
					want = even
				}
				if refused[name] {
					want = 0
				}
				if s.hits[name] != want {
					t.Errorf("%s has %d hits, want %d", name, s.hits[name], want)
				}
			}
			s.judge()
		})
	}
}

// quietly runs the program to its end, without its children.
func (r *run) quietly() target.Event {
	r.t.Helper()
	r.target.PassSignals([]target.Signal{14, 20})
	return r.resume(0)
}

// TestPadRowChanges recalls and offloads neighbours at random while the program runs, has breakpoints among them inserted and
// removed, and steps. No hit of what is offloaded is missing or made twice.
func TestPadRowChanges(t *testing.T) {
	p := testprog.Build(t, "neighbours", fixed)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	r := launchPads(t, p.Path, "1", "1000000000", "0", "0")
	s := newStreet(r, p.Path)
	s.next = map[string]uint64{}
	for _, name := range neighbours {
		s.late[name] = true
	}
	s.begin()
	inserted := map[string]bool{}
	counted := func() int {
		n := 0
		for _, hits := range s.hits {
			n += int(hits)
		}
		return n
	}
	// How far the program gets in a round depends on the machine and on how many breakpoints are in its way.
	enough := func() bool { return counted() >= 1000 && s.trapped >= 100 }
	for round := 0; round < 150 || !enough(); round++ {
		if round == 10_000 {
			t.Fatalf("too few hits: %d, %d of them of traps", counted(), s.trapped)
		}
		for range 1 + rng.IntN(3) {
			name := neighbours[rng.IntN(len(neighbours))]
			switch b := (target.Breakpoint{Addr: s.at[name], Length: 1}); rng.IntN(9) {
			case 0, 1, 2, 3:
				if !s.on[name] {
					s.late[name] = true
					if err := s.offload(name); err != nil {
						s.recall(name)
					}
				}
			case 4, 5:
				s.recall(name)
			case 6:
				if !inserted[name] {
					r.insert(b)
					inserted[name] = true
				}
			default:
				if inserted[name] {
					r.remove(b)
					delete(inserted, name)
				}
			}
		}
		s.apply()
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
		for range rng.IntN(4) {
			s.move(rng, inserted)
		}
	}
	s.judge()
	t.Logf("%d hits, %d of them of traps: %v", counted(), s.trapped, s.hits)
}

// move has the program run for a moment, to a breakpoint, or some steps.
func (s *street) move(rng *rand.Rand, inserted map[string]bool) {
	s.t.Helper()
	if rng.IntN(2) == 0 {
		for range 1 + rng.IntN(20) {
			ids := s.target.Threads()
			ev := s.do(target.Action{Thread: ids[len(ids)-1], Verb: target.StepOne})
			if ev.Kind != target.Stopped {
				s.t.Fatalf("a step ends in %+v", ev)
			}
		}
		return
	}
	s.must(s.target.Resume([]target.Action{{Thread: everything}}))
	if len(inserted) == 0 {
		time.Sleep(time.Millisecond)
		s.must(s.target.Interrupt())
	}
	if ev := s.run.next(); ev.Kind != target.Stopped || ev.Signal != target.SignalTrap && ev.Signal != target.SignalInt {
		s.t.Fatalf("%+v, want a stop", ev)
	}
}

// TestPadRowAttached attaches to a program: there is no jump where a branch is not known.
func TestPadRowAttached(t *testing.T) {
	p := testprog.Build(t, "neighbours", fixed)
	cmd := exec.Command(p.Path, "1", "1000000000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	time.Sleep(20 * time.Millisecond)
	tg, err := linux.New(linux.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	tg.UsePads(linux.Pads{})
	r := &run{t: t, target: tg, pid: cmd.Process.Pid}
	_, err = tg.Attach(r.pid)
	r.must(err)
	s := newStreet(r, p.Path)
	s.begin()
	if err := s.offload("side_a"); err == nil || !strings.Contains(err.Error(), "the program was attached to") {
		t.Error(err)
	}
	r.must(s.offload("row_a"))
	r.must(s.offload("row_b"))
	s.apply()
	if how := s.explain("row_b"); how != "pad, by the overlap at "+s.at["row_a"].String() {
		t.Errorf("row_b is collected by %q", how)
	}
	r.must(tg.Detach(r.pid))
}

// TestTrapBeforeTrampoline: the last instruction of a function has a trap, right before the trampoline in the padding that a short jump
// leads to. Who stops there behind the trap is not on the way to the pad.
func TestTrapBeforeTrampoline(t *testing.T) {
	p := testprog.Build(t, "hops", fixed)
	r := launchPads(t, p.Path, "100")
	jump, end := symbol(t, p.Path, "hop_jump"), symbol(t, p.Path, "hop_end")
	r.trace(1, jump)
	r.trace(2, end)
	r.must(r.engine.Start(r.target, r.pid))
	explain := r.target.Collector().Explain
	if got, trap := explain(r.pid, jump), explain(r.pid, end); got != "pad, by short jump" || trap != "" {
		t.Fatalf("hop_jump: %q, hop_end: %q", got, trap)
	}
	if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 {
		t.Errorf("%+v, output %q", ev, r.output())
	}
	if jumps, ends := r.count(1), r.count(2); jumps != 99 || ends != 100 {
		t.Errorf("%d and %d hits, want 99 and 100", jumps, ends)
	}
}
