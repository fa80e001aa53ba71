package replay

import (
	"context"
	"fmt"
	"slices"

	"tracewell/arch"
	"tracewell/internal/routine"
	"tracewell/itrace"
	"tracewell/itrace/index"
	"tracewell/target"
)

// breakpoint is what tells a breakpoint from all others.
type breakpoint struct {
	kind   target.BreakKind
	addr   arch.Addr
	length int
}

// Breakpoints implements target.Groups.
func (t *ExecutionTarget) Breakpoints() target.Breakpoints { return t }

// InsertBreakpoint implements target.Breakpoints. Of software and hardware there is none here: both are the same.
func (t *ExecutionTarget) InsertBreakpoint(_ target.ThreadID, b target.Breakpoint) error {
	if b.Kind >= target.WriteWatch && b.Length <= 0 {
		return fmt.Errorf("a watchpoint of %d bytes", b.Length)
	}
	t.breaks[breakpoint{b.Kind, b.Addr, b.Length}] = b
	return nil
}

// RemoveBreakpoint implements target.Breakpoints.
func (t *ExecutionTarget) RemoveBreakpoint(_ target.ThreadID, b target.Breakpoint) error {
	delete(t.breaks, breakpoint{b.Kind, b.Addr, b.Length})
	return nil
}

// stop is what can end a run.
type stop struct {
	index.Want
	at     *target.Breakpoint // nil for the end of a step
	reason target.Reason
}

// stops lists what breakpoints look for.
func (t *ExecutionTarget) stops() (stops []stop) {
	for _, b := range t.breaks {
		size := uint64(max(b.Length, 1))
		read := index.Want{What: index.Read, Addr: uint64(b.Addr), Size: size}
		write := index.Want{What: index.Write, Addr: uint64(b.Addr), Size: size}
		switch b.Kind {
		case target.Software:
			stops = append(stops, stop{index.Want{What: index.Execution, Addr: uint64(b.Addr), Size: 1}, &b, target.ReasonSwBreak})
		case target.Hardware:
			stops = append(stops, stop{index.Want{What: index.Execution, Addr: uint64(b.Addr), Size: 1}, &b, target.ReasonHwBreak})
		case target.WriteWatch:
			stops = append(stops, stop{write, &b, target.ReasonWatch})
		case target.ReadWatch:
			stops = append(stops, stop{read, &b, target.ReasonReadWatch})
		case target.AccessWatch:
			stops = append(stops, stop{read, &b, target.ReasonAccessWatch}, stop{write, &b, target.ReasonAccessWatch})
		}
	}
	return stops
}

// Runner implements target.Groups.
func (t *ExecutionTarget) Runner() target.Runner { return t }

// Reverser implements target.Groups.
func (t *ExecutionTarget) Reverser() target.Reverser { return t }

// Events implements target.Runner.
func (t *ExecutionTarget) Events() <-chan target.Event { return t.events }

// Resume implements target.Runner. Whatever threads are told to run, time goes on for all; but those that are not told to meet no
// breakpoints, as clients do not expect to hear of them.
func (t *ExecutionTarget) Resume(actions []target.Action) error { return t.resume(actions, t.forwards) }

// ResumeBackwards implements target.Reverser.
func (t *ExecutionTarget) ResumeBackwards(actions []target.Action) error {
	return t.resume(actions, t.backwards)
}

func (t *ExecutionTarget) resume(actions []target.Action, way func(*run, target.Action) (target.Event, error)) error {
	if len(t.Threads()) == 0 {
		return target.ErrNoProcess
	}
	if len(actions) == 0 {
		return fmt.Errorf("nothing to resume")
	}
	if t.err != nil {
		return t.err
	}
	action := actions[0]
	for _, a := range actions {
		if a.Verb != target.Go {
			action = a
			break
		}
	}
	if action.Thread.TID == target.All {
		action.Thread = t.Threads()[0]
	}
	ctx, cancel := context.WithCancel(context.Background())
	if !t.begin(cancel) {
		cancel()
		return target.ErrRunning
	}
	routine.Go(func() {
		ev, err := way(t.newRun(ctx, actions), action)
		switch {
		case ctx.Err() != nil && err != nil:
			ev = t.interrupted(t.position)
		case err != nil:
			t.fail(err)
			ev = target.Event{Thread: action.Thread, Signal: target.SignalTrap}
		}
		cancel()
		t.begin(nil)
		t.events <- ev
	})
	return nil
}

// begin takes note of what ends a run, of none for nil, and reports whether there may be one.
func (t *ExecutionTarget) begin(cancel context.CancelFunc) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cancel != nil && cancel != nil {
		return false
	}
	t.cancel = cancel
	return true
}

// Interrupt implements target.Runner.
func (t *ExecutionTarget) Interrupt() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cancel != nil {
		t.cancel()
	}
	return nil
}

// run is a resumption in one direction.
type run struct {
	t     *ExecutionTarget
	ctx   context.Context
	meets func(cpu int32) bool // which threads meet breakpoints
	stops []stop
	wants []index.Want // of the stops
}

func (t *ExecutionTarget) newRun(ctx context.Context, actions []target.Action) *run {
	r := &run{t: t, ctx: ctx, stops: t.stops()}
	r.meets = func(cpu int32) bool {
		return slices.ContainsFunc(actions, func(a target.Action) bool { return a.Thread.Covers(threadOf(cpu)) })
	}
	for _, s := range r.stops {
		r.wants = append(r.wants, s.Want)
	}
	return r
}

// forwards goes on until something stops it, or to the end.
func (t *ExecutionTarget) forwards(r *run, a target.Action) (target.Event, error) {
	from, limit := t.position, t.trace.Instructions
	passed := !a.Anew
	if a.Verb != target.Go {
		found, err := t.trace.Next(r.ctx, t.position, []index.Want{{What: index.Turn, CPU: cpuOf(a.Thread)}})
		if err != nil {
			return target.Event{}, err
		}
		if found == nil {
			t.move(limit)
			return t.end(a.Thread, target.ReasonEnd), nil
		}
		passed, limit = true, found.Instruction+1
		if a.Verb == target.StepRange {
			found, err = t.trace.Next(r.ctx, limit, []index.Want{{What: index.Leave, CPU: cpuOf(a.Thread), Addr: uint64(a.Start),
				Size: uint64(a.End - a.Start)}})
			if err != nil {
				return target.Event{}, err
			}
			if limit = t.trace.Instructions; found != nil {
				limit = found.Instruction
			}
		}
	}
	for at := from; ; {
		ev, next, err := r.forward(at, limit, passed)
		if err != nil || next < 0 {
			return ev, err
		}
		if r.ctx.Err() != nil {
			return t.interrupted(at), nil
		}
		if passed = false; next >= limit {
			t.move(limit)
			if limit == t.trace.Instructions && !t.stands(a) {
				return t.end(a.Thread, target.ReasonEnd), nil
			}
			return target.Event{Thread: a.Thread, Signal: target.SignalTrap}, nil
		}
		at = next
	}
}

// stands reports whether a step ends at the end of the trace because it is one of an instruction, and not for the lack of more.
func (t *ExecutionTarget) stands(a target.Action) bool { return a.Verb == target.StepOne }

// forward looks for a stop between two positions. Without one next is the position where to look on; after one it is -1.
func (r *run) forward(at, limit int64, passed bool) (ev target.Event, next int64, err error) {
	if len(r.wants) == 0 {
		return ev, limit, nil
	}
	found, err := r.t.trace.Next(r.ctx, at, r.wants)
	if err != nil {
		return ev, 0, err
	}
	if found == nil || found.Instruction >= limit {
		return ev, limit, nil
	}
	n := max(found.Instruction, 0)
	if r.stops[found.Want].What == index.Execution && !(passed && n == at) {
		if ev, ok := r.breakpoint(n); ok {
			return ev, -1, nil
		}
	}
	ev, ok, err := r.effects(n, n)
	if err != nil || ok {
		return ev, -1, err
	}
	return ev, n + 1, nil
}

// breakpoint stops in front of an instruction if a breakpoint there wants it.
func (r *run) breakpoint(n int64) (target.Event, bool) {
	it, err := r.t.trace.Instruction(n)
	if err != nil {
		return target.Event{}, false
	}
	before := r.t.position
	r.t.move(n)
	for i, s := range r.stops {
		if s.What == index.Execution && r.t.trace.Meets(it, &r.wants[i]) && r.agrees(s.at, it.CPU) {
			return target.Event{Thread: threadOf(it.CPU), Signal: target.SignalTrap, Reason: s.reason}, true
		}
	}
	r.t.move(before)
	return target.Event{}, false
}

// effects stops at a position, in front of or behind an instruction, if a watchpoint wants it for something that the instruction
// does. It is the one to which the instruction is still to be done, or undone: so the hardware of all these architectures has it,
// and so GDB takes it, which then steps and compares what is watched with what it was.
func (r *run) effects(n, position int64) (target.Event, bool, error) {
	items, err := r.t.trace.Effects(n)
	if err != nil {
		return target.Event{}, false, err
	}
	before := r.t.position
	for k := range items {
		it := &items[k]
		for i, s := range r.stops {
			if it.Kind != itrace.Memory || s.at == nil || !r.t.trace.Meets(it, &r.wants[i]) {
				continue
			}
			r.t.move(position)
			if r.agrees(s.at, it.CPU) {
				return target.Event{Thread: threadOf(it.CPU), Signal: target.SignalTrap, Reason: s.reason, Addr: s.at.Addr}, true, nil
			}
		}
	}
	r.t.move(before)
	return target.Event{}, false, nil
}

// agrees asks a breakpoint whether a thread is to stop.
func (r *run) agrees(b *target.Breakpoint, cpu int32) bool {
	return r.meets(cpu) && (b.Check == nil || b.Check(snapshot{r.t, threadOf(cpu)}))
}

// backwards undoes until something stops it, or to the beginning.
func (t *ExecutionTarget) backwards(r *run, a target.Action) (target.Event, error) {
	limit := int64(-1)
	if a.Verb != target.Go {
		found, err := t.trace.Previous(r.ctx, t.position, []index.Want{{What: index.Turn, CPU: cpuOf(a.Thread)}})
		if err != nil {
			return target.Event{}, err
		}
		if found != nil {
			limit = found.Instruction
		}
	}
	for at := t.position; ; {
		ev, next, err := r.backward(at, limit)
		if err != nil || next < 0 {
			return ev, err
		}
		if at = next; at <= max(limit, 0) {
			break
		}
		if r.ctx.Err() != nil {
			return t.interrupted(at), nil
		}
	}
	t.move(max(limit, 0))
	if limit < 0 {
		return t.end(a.Thread, target.ReasonBegin), nil
	}
	return target.Event{Thread: a.Thread, Signal: target.SignalTrap}, nil
}

// backward is forward in the other direction. What instructions from limit on have done counts, a breakpoint at limit does not.
func (r *run) backward(at, limit int64) (ev target.Event, next int64, err error) {
	floor := max(limit, 0)
	if len(r.wants) == 0 || at == 0 {
		return ev, floor, nil
	}
	found, err := r.t.trace.Previous(r.ctx, at, r.wants)
	if err != nil {
		return ev, 0, err
	}
	if found == nil || found.Instruction < floor {
		return ev, floor, nil
	}
	n := found.Instruction
	ev, ok, err := r.effects(n, n+1)
	if err != nil || ok {
		return ev, -1, err
	}
	if n > limit {
		if ev, ok := r.breakpoint(n); ok {
			return ev, -1, nil
		}
	}
	return ev, n, nil
}

// interrupted stops at a position because the client wants it.
func (t *ExecutionTarget) interrupted(position int64) target.Event {
	t.move(position)
	ev := target.Event{Thread: threadOf(t.trace.CPUs[0]), Signal: target.SignalInt}
	if it, err := t.trace.Instruction(min(position, t.trace.Instructions-1)); err == nil {
		ev.Thread = threadOf(it.CPU)
	}
	return ev
}

// end is the event at an end of the trace.
func (t *ExecutionTarget) end(id target.ThreadID, reason target.Reason) target.Event {
	return target.Event{Thread: id, Signal: target.SignalTrap, Reason: reason}
}

// Stop implements target.Runner. There is no non-stop mode.
func (t *ExecutionTarget) Stop(target.ThreadID) error { return target.ErrUnsupported }

// SetNonStop implements target.Runner: threads cannot stand at different positions.
func (t *ExecutionTarget) SetNonStop(on bool) error {
	if on {
		return target.ErrUnsupported
	}
	return nil
}

// SetReports implements target.Runner. Nothing of the kind happens.
func (t *ExecutionTarget) SetReports(target.Reports) {}

// Kill implements target.Runner.
func (t *ExecutionTarget) Kill(pid int) error { return t.Detach(pid) }

// Detach implements target.Runner: the client is done with it. The trace serves others.
func (t *ExecutionTarget) Detach(int) error {
	t.gone.Store(true)
	return t.Interrupt()
}

// snapshot is a thread for the conditions of breakpoints.
type snapshot struct {
	t  *ExecutionTarget
	id target.ThreadID
}

// Thread implements target.Snapshot.
func (s snapshot) Thread() int64 { return int64(s.id.TID) }

// ID implements target.Snapshot.
func (s snapshot) ID() target.ThreadID { return s.id }

// PC implements target.Snapshot.
func (s snapshot) PC() arch.Addr {
	if it, err := s.t.next(cpuOf(s.id)); err == nil && it != nil {
		return arch.Addr(it.Addr)
	}
	return 0
}

// Register implements target.Snapshot.
func (s snapshot) Register(n arch.Reg) (uint64, error) {
	state, err := s.t.state(s.id)
	if err != nil {
		return 0, err
	}
	slot := s.t.e.Layout.ByNumber(n)
	if slot == nil || slot.Size > 8 {
		return 0, fmt.Errorf("no register of up to 8 bytes has the number %d", n)
	}
	for i := slot.Offset; i < slot.Offset+slot.Size; i++ {
		if !state.known[i] {
			return 0, fmt.Errorf("nothing is known of register %s", slot.Reg.Name)
		}
	}
	return arch.Uint(state.block[slot.Offset:slot.Offset+slot.Size], s.t.e.isa.Order), nil
}

// Registers implements target.Snapshot.
func (s snapshot) Registers(block []byte) error { return s.t.ReadRegisters(s.id, block) }

// ReadMemory implements target.Snapshot.
func (s snapshot) ReadMemory(addr arch.Addr, p []byte) int {
	n, _ := s.t.ReadMemory(s.id, addr, p)
	return n
}

// ReadBatch implements target.Snapshot.
func (s snapshot) ReadBatch(reads []target.Read) {
	for i := range reads {
		reads[i].N = s.ReadMemory(reads[i].Addr, reads[i].Dst)
	}
}

// Err implements target.Snapshot: a file is not a connection.
func (s snapshot) Err() error { return nil }
