package tracepoint

import (
	"fmt"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/target"
	"tracewell/trace/compiled"
)

// BreakpointAgent holds the agent expressions of a breakpoint: conditions that decide whether a hit counts, and commands that
// run in place of a stop (GDB manual, "Packets", Z0). They share the trace state variables of tracepoints, and what they print
// goes where tracepoints print. What they record is in no frame.
type BreakpointAgent struct {
	engine *Engine
	compiled.Breakpoint
}

// CompileBreakpoint decodes the agent expressions of a breakpoint. The error says which of them cannot be decoded, or prints by a
// format that is none.
func (e *Engine) CompileBreakpoint(addr arch.Addr, conditions, commands [][]byte) (*BreakpointAgent, error) {
	r := &BreakpointAgent{engine: e, Breakpoint: compiled.Breakpoint{Addr: addr}}
	var err error
	if r.Conditions, err = decodeAll("condition", addr, conditions); err != nil {
		return nil, err
	}
	if r.Commands, err = decodeAll("command", addr, commands); err != nil {
		return nil, err
	}
	return r, nil
}

func decodeAll(what string, addr arch.Addr, codes [][]byte) ([]*ax.Program, error) {
	programs := make([]*ax.Program, len(codes))
	for i, code := range codes {
		p, err := ax.Decode(code)
		if err == nil {
			err = p.CheckPrintf()
		}
		if err != nil {
			return nil, fmt.Errorf("%s %d of the breakpoint at %s: %w", what, i+1, addr, err)
		}
		programs[i] = p
	}
	return programs, nil
}

// Print prints what commands have printed that were carried out elsewhere.
func (r *BreakpointAgent) Print(text string) { r.engine.print(text) }

// Hit is called by the target when a thread reaches the breakpoint, on the target's goroutine, and reports whether the
// thread is to stop there. A hit counts if there is no condition, or one of them holds or fails: a client that is told can
// find out why. One that counts runs the commands, if there are any, and then does not stop, since they are what the
// client wants instead.
//
// gdbserver 13.1 runs the commands even of hits that do not count. It takes no notice of a command that fails; here the
// error is printed, and the other commands have their turn.
func (r *BreakpointAgent) Hit(s target.Snapshot) (stop bool) {
	e := r.engine
	w := e.spare.Swap(nil)
	if w == nil {
		w = e.newWorker()
	}
	w.snapshot = s // the limit is 0: what is recorded is noted nowhere
	stop = r.stops(w)
	w.snapshot = nil
	e.spare.Store(w)
	return stop
}

// stops does what the agent is to do.
func (r *BreakpointAgent) stops(w *worker) bool {
	if !r.counts(w) {
		return false
	}
	for _, p := range r.Commands {
		w.clear()
		if err := w.run(p); err != nil {
			r.engine.print(fmt.Sprintf("Breakpoint at %s: %v\n", r.Addr, err))
		}
	}
	return len(r.Commands) == 0
}

// counts evaluates the conditions.
func (r *BreakpointAgent) counts(w *worker) bool {
	for _, p := range r.Conditions {
		w.clear()
		if v, err := w.value(p); err != nil || v != 0 {
			return true
		}
	}
	return len(r.Conditions) == 0
}
