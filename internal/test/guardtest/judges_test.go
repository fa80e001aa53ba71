//go:build linux && amd64

package guardtest

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"testing"
	"time"

	"tracewell/ax"
	"tracewell/internal/sys"
	"tracewell/target"
	"tracewell/target/linux"
	"tracewell/tracepoint"
)

// judgeTracer names, in the environment, what this program is to do as a tracer whose breakpoints have pads, until it is killed: the
// process, a file for what it has come to, and the addresses.
const judgeTracer = "GUARDTEST_JUDGES"

// breakByPads attaches to a process and inserts breakpoints at all addresses, with a condition that is false or, in every other
// process, with a command that prints. It takes them out and puts them back all the time.
func breakByPads(order []string) error {
	pid, words, addrs, err := readOrder(order)
	if err != nil {
		return err
	}
	t, err := linux.New(linux.Streams{})
	if err != nil {
		return err
	}
	t.UsePads(linux.Pads{Vain: 1})
	id, err := t.Attach(pid)
	if err != nil {
		return err
	}
	engine := tracepoint.New(tracepoint.Layout{Order: t.ISA().Order, Print: func(string) { words[wordFrames]++ }})
	inVain, err1 := ax.Assemble("reg 7\nref64\nconst8 1\nequal\nend")
	prints, err2 := ax.Assemble("reg 5\nconst8 0\nconst8 0\nprintf 1 `%d`\nend")
	if err1 != nil || err2 != nil {
		return fmt.Errorf("%w, %w", err1, err2)
	}
	var list []target.Breakpoint
	for _, addr := range addrs {
		conditions, commands := [][]byte{inVain}, [][]byte(nil)
		if pid%2 == 1 {
			conditions, commands = nil, [][]byte{prints}
		}
		agent, err := engine.CompileBreakpoint(addr, conditions, commands)
		if err != nil {
			return err
		}
		b := target.Breakpoint{Addr: addr, Length: 1, Check: agent.Hit, Agent: &agent.Breakpoint, Print: agent.Print}
		if err := t.InsertBreakpoint(id, b); err != nil {
			return err
		}
		list = append(list, b)
	}
	if err := t.Resume([]target.Action{{Thread: target.ThreadID{PID: target.All, TID: target.All}}}); err != nil {
		return err
	}
	time.Sleep(100 * time.Millisecond) // in which all get their pads
	for round := 0; ; round++ {
		for _, b := range list {
			if rand.IntN(2) == 0 {
				continue
			}
			if round%2 == 0 {
				err = t.RemoveBreakpoint(id, b)
			} else {
				err = t.InsertBreakpoint(id, b)
			}
			if err != nil {
				return err
			}
		}
		words[wordChanges]++
		time.Sleep(rand.N(4 * time.Millisecond))
	}
}

// TestKilledJudges kills tracers whose breakpoints have pads, at random moments once the first has. The program goes on and computes
// what it should, and mend puts its code back.
func TestKilledJudges(t *testing.T) {
	l := newLab(t)
	addresses := l.instructions("tick", "work")[:1]
	mender, err := linux.New(linux.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	defer mender.Close()
	var tally padTally
	for i := range max(6, *padKills/4) {
		threads := 1 + i%3
		s := l.run(threads, "0")
		tracer, progress := l.judge(s, addresses)
		l.await("the breakpoints have pads", func() bool { return l.jumps(s, addresses) || sys.HasEnded(tracer.Process.Pid) })
		time.Sleep(rand.N(20 * time.Millisecond))
		l.killTracer(tracer)
		if i%2 == 0 {
			l.mend(mender, s, &tally)
		}
		if printed, err := s.finish(); err != nil || printed != l.rightAnswer(threads) {
			t.Errorf("the program printed %q and ended with %v", printed, err)
		}
		t.Logf("%d changes, %d lines", l.progress(progress, wordChanges), l.progress(progress, wordFrames))
	}
}

// jumps reports whether there is a jump at each of the addresses.
func (l *lab) jumps(s *subject, addresses []uint64) bool {
	mem, err := sys.OpenMemory(s.Process.Pid)
	if err != nil {
		return false
	}
	defer mem.Close()
	for _, addr := range addresses {
		var b [1]byte
		if mem.ReadAt(b[:], int64(addr)); b[0] != 0xe9 && b[0] != 0xeb {
			return false
		}
	}
	return true
}

// judge starts a tracer whose breakpoints have pads.
func (l *lab) judge(s *subject, addresses []uint64) (tracer *exec.Cmd, progress string) {
	return l.begin(judgeTracer, s, addresses)
}
