//go:build linux

package robust

import (
	"fmt"
	"testing"

	"tracewell/internal/test/testprog"
)

// settle waits for the end of everything and looks at what came of it.
func (st *storm) settle() {
	st.Helper()
	if st.procs[st.lodger.pid()] {
		st.release(st.lodger.pid())
	}
	if st.traced {
		st.wantHits(1, st.at("step"), stormCalls)
		st.wantHits(2, st.at("add_base"), stormCalls)
	}
	if st.watch && st.stops != stormCalls {
		st.Errorf("%d stops at the breakpoint, want %d", st.stops, stormCalls)
	}
	st.rightEnds()
}

// rightEnds waits for the ends of the programs that were not killed, and of the server.
func (st *storm) rightEnds() {
	st.Helper()
	st.lodger.leave()
	if err := st.lodger.Wait(); err != nil {
		st.Errorf("the process that was only visited: %v", err)
	}
	if !st.gone {
		st.await("the root's last line", func() bool { return len(st.lines("children")) > 0 })
		killed := 0
		for _, child := range testprog.OfKind(testprog.Records(st.server.Stdout()), "child") {
			if killed++; child.Fields["status"] != "0x9" {
				st.Errorf("%v has died, but was not killed", child.Fields)
			}
		}
		if wrong := st.lines("children")[0].Int(st, "wrong"); wrong != int64(killed) || killed < st.killed || killed > st.killed+st.last {
			st.Errorf("%d wrong results, and %d children killed, want %d", wrong, killed, st.killed)
		}
	}
	if st.extra >= 0 {
		st.await("the last lines of the programs that were started", func() bool { return len(st.lines("calls")) == st.extra })
	}
	if !st.over {
		st.server.Signal(st, terminate)
	}
	if code := st.server.Wait(st.T); code != 0 {
		st.Errorf("exit status %d, want 0", code)
	}
	st.noneLeft()
	st.soundServer()
}

// lines are the last lines of programs that have a certain field.
func (st *storm) lines(field string) (found []testprog.Record) {
	for _, line := range testprog.OfKind(testprog.Records(st.server.Stdout()), "done") {
		if line.Fields[field] != "" {
			found = append(found, line)
		}
	}
	return found
}

// TestStorm deals with processes that come and go all the time, until all are gone.
func TestStorm(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("all-stop/", seed), func(t *testing.T) {
			t.Parallel()
			st := newStorm(t, seed, false)
			st.allStop(-1)
			st.settle()
		})
		t.Run(fmt.Sprint("non-stop/", seed), func(t *testing.T) {
			t.Parallel()
			st := newStorm(t, seed, true)
			st.threadByThread(-1)
			st.settle()
		})
	}
}

// stormEnds are the ways in which a client may leave in the middle of it.
var stormEnds = []struct {
	name string
	how  func(st *storm)
}{
	{"SIGTERM", func(st *storm) {
		st.server.Signal(st, terminate)
		st.allGone()
	}},
	{"k", func(st *storm) {
		if st.procs[st.lodger.pid()] {
			st.release(st.lodger.pid())
		}
		st.tell("k")
		st.allGone()
		st.server.Signal(st, terminate)
	}},
	{"monitor exit", func(st *storm) {
		st.tell("qRcmd,%x", "exit")
		st.allGone()
	}},
	{"hang up", func(st *storm) {
		st.hangUp()
		st.nonStop, st.traced, st.watch = false, false, false
		st.introduce(st.dial())
		st.exchange("?")
		clear(st.procs)
		for _, thread := range st.list() {
			st.procs[processOf(thread)] = true
		}
		st.stray, st.events, st.heard = nil, nil, nil
		st.allStop(-1)
		if st.procs[st.lodger.pid()] {
			st.release(st.lodger.pid())
		}
		st.server.Signal(st, terminate)
	}},
}

// allGone takes note that the programs under trace are ended. Those of them that run by themselves end as they should.
func (st *storm) allGone() {
	st.gone = st.gone || st.procs[st.pid]
	st.last, st.extra = stormThreads*stormRounds, -1
}

// TestStormLeft has clients leave while processes come and go. Nothing that is to go on dies of it, and nothing else is left.
func TestStormLeft(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		for _, end := range stormEnds {
			for _, nonStop := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%d/non-stop=%v", end.name, seed, nonStop), func(t *testing.T) {
					t.Parallel()
					st := newStorm(t, 100+seed, nonStop)
					if steps := st.random.IntN(60); nonStop {
						st.threadByThread(5 * steps)
					} else {
						st.allStop(steps)
					}
					st.over = true
					end.how(st)
					st.rightEnds()
				})
			}
		}
	}
}
