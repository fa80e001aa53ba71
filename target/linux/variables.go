//go:build linux

package linux

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tracewell/internal/fast"
	"tracewell/internal/sys"
	"tracewell/target"
	"tracewell/trace"
	"tracewell/trace/compiled"
)

// variables holds the trace state variables of a run: by itself, or, as soon as there is one, in the arena of the program whose
// pads read and set them. Another program's pads cannot have them, so tracepoints there that use variables are traps, and so are
// all that set any from then on: one handler sees them one after the other.
type variables struct {
	mu     sync.Mutex
	values map[trace.VariableNumber]int64 // those that exist; the values are the arena's if there is one
	arena  *arena

	// divided says that tracepoints of several programs use the variables. Each that sets one is a trap then: no pad can hold the
	// lock of another program, and without it $n = $n + 1 would be lost now and then.
	divided atomic.Bool
}

// begin replaces all variables.
func (s *variables) begin(values []target.VariableValue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.divided.Store(false)
	s.values = make(map[trace.VariableNumber]int64)
	for _, v := range values {
		s.values[v.Number] = v.Value
		if s.arena != nil {
			s.arena.control.SetVariable(v.Number, v.Value)
		}
	}
}

// moveTo has an arena hold the values, unless one does already.
func (s *variables) moveTo(a *arena) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.arena != nil {
		return
	}
	s.arena = a
	for n, v := range s.values {
		a.control.SetVariable(n, v)
	}
}

// moveFrom takes the values back from an arena.
func (s *variables) moveFrom(a *arena) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.arena != a {
		return
	}
	for n := range s.values {
		s.values[n] = a.control.Variable(n)
	}
	s.arena = nil // the values stay for whoever asks after the end of the program
}

// handOver moves the values from one arena to another, whose pads go on with what those of the first did.
func (s *variables) handOver(from, to *arena) {
	s.moveFrom(from)
	s.moveTo(to)
}

// in reports whether an arena holds the values, or would.
func (s *variables) in(a *arena) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.arena == nil || s.arena == a
}

// mention makes variables that do not exist: a pad is about to use them.
func (s *variables) mention(numbers []uint16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range numbers {
		if _, ok := s.values[trace.VariableNumber(n)]; !ok {
			s.values[trace.VariableNumber(n)] = 0
		}
	}
}

// shared returns the arena that holds the values, nil if none does or there are none.
func (s *variables) shared() *arena {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.values) == 0 {
		return nil
	}
	return s.arena
}

// Variable implements target.VariableStore.
func (s *variables) Variable(n trace.VariableNumber) (int64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.values[n]
	if ok && s.arena != nil {
		v = s.arena.control.Variable(n)
	}
	return v, ok
}

// SetVariable implements target.VariableStore.
func (s *variables) SetVariable(n trace.VariableNumber, v int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[n] = v
	if s.arena != nil {
		s.arena.control.SetVariable(n, v)
	}
}

// AppendVariables implements target.VariableStore.
func (s *variables) AppendVariables(dst []target.VariableValue) []target.VariableValue {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range slices.Sorted(maps.Keys(s.values)) {
		v := s.values[n]
		if s.arena != nil {
			v = s.arena.control.Variable(n)
		}
		dst = append(dst, target.VariableValue{Number: n, Value: v})
	}
	return dst
}

// lockTries is how often a lock is tried before the tracer sleeps. A pad holds it for some ten nanoseconds, if its thread has a
// processor.
const lockTries = 1000

// lockVariables has pads that set trace state variables wait for a hit that stops a thread: its expressions read and set them as
// one, and its frame comes in the order of their values. It returns the arena to unlock, nil if no pad has the variables. A thread
// that has stopped in a pad gives the lock back when it is taken out; one that does not for a second is not waited for any longer.
func (t *Target) lockVariables() *arena {
	c := t.collector
	if c == nil {
		return nil
	}
	a := c.variables.shared()
	if a == nil {
		return nil
	}
	for end := time.Now().Add(depositPatience); ; {
		for range lockTries {
			if a.control.TryLock() {
				return a
			}
		}
		switch {
		case a.control.Abandoned() || time.Now().After(end):
			return nil
		case t.noteWaiting():
		default: // it may wait for room in the ring
			c.mu.Lock()
			c.drain(a)
			c.mu.Unlock()
			sys.Nap(shortestSleep)
		}
	}
}

// useVariables makes the trace state variables that a tracepoint names. They are in the memory of one program.
func (t *Target) useVariables(a *arena, tp *compiled.Tracepoint) error {
	var used []uint16
	for p := range tp.Programs() {
		used = append(used, p.Requirements().Variables...)
	}
	used = slices.DeleteFunc(used, func(n uint16) bool { return t.collector.run.Builtins[trace.VariableNumber(n)] != 0 })
	v := &t.collector.variables
	if len(used) > 0 && !v.in(a) {
		t.divideVariables()
		return errors.New("the trace state variables are in the memory of another program")
	}
	if v.divided.Load() && setsVariables(tp) {
		return errDivided
	}
	v.mention(used)
	return nil
}

var errDivided = errors.New("it sets trace state variables that another program uses")

// divideVariables has all sites be traps whose tracepoints set trace state variables.
func (t *Target) divideVariables() {
	if t.collector.variables.divided.Swap(true) {
		return
	}
	for _, p := range t.procs {
		if p.pads == nil {
			continue
		}
		for addr, site := range p.pads.sites {
			if site.sets() {
				p.warn(t.demote(p, addr, 1))
			}
		}
	}
}

// divided reports whether a site sets trace state variables that several programs use.
func (t *Target) divided(site *padSite) bool {
	return t.collector.variables.divided.Load() && site.sets()
}

// sets reports whether one of the tracepoints of a site sets a trace state variable.
func (s *padSite) sets() bool {
	return slices.ContainsFunc(s.list, func(tp fast.Tracepoint) bool { return setsVariables(tp.Tracepoint) })
}

// setsVariables reports whether an expression of a tracepoint sets a trace state variable.
func setsVariables(tp *compiled.Tracepoint) bool {
	for p := range tp.Programs() {
		if p.SetsVariables() {
			return true
		}
	}
	return false
}
