package remote

import (
	"errors"

	"tracewell/arch"
	"tracewell/rsp/client"
	"tracewell/target"
)

// snapshot is a stopped thread, as a handler or the condition of a breakpoint sees it. What it reads stays known until the thread
// goes on.
type snapshot struct {
	t   *Target
	id  target.ThreadID
	odd error // a reply made no sense, so that none that follow can be relied on
}

var _ target.Snapshot = (*snapshot)(nil)

func (t *Target) snapshot(id target.ThreadID) *snapshot {
	t.snap = snapshot{t: t, id: id}
	return &t.snap
}

// Thread implements target.Snapshot. The number is told apart among the threads of the one process that there is.
func (s *snapshot) Thread() int64 { return int64(s.id.TID) }

// ID implements target.Snapshot.
func (s *snapshot) ID() target.ThreadID { return s.id }

// PC implements target.Snapshot.
func (s *snapshot) PC() arch.Addr {
	pc, _ := s.t.pc(s.id) // which was known before anybody was called
	return pc
}

// Register implements target.Snapshot.
func (s *snapshot) Register(r arch.Reg) (uint64, error) {
	if s.odd != nil {
		return 0, s.odd
	}
	v, err := s.t.value(s.id, r)
	s.note(err)
	return v, err
}

// note keeps the error of a reply that no stub sends for a reason: frames that lack what such a reply should have had say so
// nowhere.
func (s *snapshot) note(err error) {
	if s.odd == nil && isNonsense(err) {
		s.odd = err
	}
}

// isNonsense reports whether an error is that of a reply which cannot be understood. Errors that came in place of a stop can.
func isNonsense(err error) bool {
	if err == nil { // which most are
		return false
	}
	var e *client.ReplyError
	return errors.As(err, &e) && e.Reply != "" && e.Reply[0] != 'E'
}

// Registers implements target.Snapshot.
func (s *snapshot) Registers(block []byte) error {
	if err := s.t.fetch(s.id); err != nil {
		if s.odd == nil {
			s.odd = err // whatever it is: a stopped thread has registers
		}
		return err
	}
	copy(block, s.t.state.block)
	return nil
}

// ReadMemory implements target.Snapshot.
func (s *snapshot) ReadMemory(addr arch.Addr, p []byte) int {
	if s.Err() != nil {
		return 0
	}
	n, err := s.t.read(s.id, addr, p)
	s.note(err)
	return n
}

// ReadBatch implements target.Snapshot. Where the stub bears it all ranges are asked for at once.
func (s *snapshot) ReadBatch(reads []target.Read) {
	if s.t.profile.Ahead && s.t.readAhead(s.id, reads) {
		return
	}
	for i := range reads {
		reads[i].N = s.ReadMemory(reads[i].Addr, reads[i].Dst)
	}
}

// Err implements target.Snapshot.
func (s *snapshot) Err() error {
	if err := s.t.lost(); err != nil {
		return err
	}
	return s.odd
}

// readAhead asks for several ranges in one write, and reports whether all of them were there.
func (t *Target) readAhead(id target.ThreadID, reads []target.Read) bool {
	if len(reads) < 2 || t.choose(id) != nil {
		return false
	}
	batch := t.c.Batch()
	results := make([]*client.Result[[]byte], len(reads))
	for i, r := range reads {
		if len(r.Dst) == 0 || 2*len(r.Dst)+4 > t.c.PacketSize() {
			return false
		}
		results[i] = client.Add(batch, client.Memory(r.Addr, len(r.Dst)))
	}
	if t.check(batch.Run()) != nil {
		return false
	}
	for i, r := range results {
		if r.Err != nil || len(r.Value) < len(reads[i].Dst) {
			return false
		}
		reads[i].N = copy(reads[i].Dst, r.Value)
		t.hide(reads[i].Addr, reads[i].Dst)
	}
	return true
}

// arrive does what is due as a thread meets a place: the hit, and then what breakpoints of the client's are there. Unless one of
// those stops it the thread goes on past the place.
func (t *Target) arrive(id target.ThreadID, p *place) {
	if p.location {
		if t.hit(id, p); t.going == nil {
			return
		}
	}
	if t.chooses(id, p) {
		t.tell(target.Event{Kind: target.Stopped, Thread: id, Signal: target.SignalTrap, Reason: reasonOf(p)})
		return
	}
	if err := t.lost(); err != nil {
		t.lose(err)
		return
	}
	t.standing[id] = p.addr
}

// hit has the handler make its frame.
func (t *Target) hit(id target.ThreadID, p *place) {
	if t.handler == nil || t.backwards {
		return
	}
	if t.collector != nil { // whose frames come first
		if t.collector.drain(); !p.location {
			return
		}
	}
	t.costs.begin(t.stopped)
	t.obey(id, t.handler.Hit(p.called, t.snapshot(id)))
}

// obey does what a verdict asks for.
func (t *Target) obey(id target.ThreadID, v target.Verdict) {
	if v&target.Step != 0 {
		t.stepping[id] = true
	}
	if v&target.Halt != 0 {
		t.uninstallAll()
		if t.collector != nil {
			t.collector.halt()
		}
	} else if t.collector != nil {
		t.collector.pass()
	}
	if err := t.lost(); err != nil {
		t.lose(err)
	}
}

// chooses reports whether a breakpoint of the client's stops a thread at a place.
func (t *Target) chooses(id target.ThreadID, p *place) bool {
	stop := false
	for _, b := range []*target.Breakpoint{p.soft, p.hard} {
		// All are asked: commands of one are carried out though another stops.
		if b != nil && (b.Check == nil || b.Check(t.snapshot(id))) {
			stop = true
		}
	}
	return stop
}

// reasonOf is why a thread that a place stops has stopped.
func reasonOf(p *place) target.Reason {
	if p.soft == nil {
		return target.ReasonHwBreak
	}
	return target.ReasonSwBreak
}

// stepOff lets a thread execute the instruction of the place where it has had its hit, and nothing else run meanwhile.
func (t *Target) stepOff(id target.ThreadID, a *target.Action) {
	at := t.standing[id]
	p := t.places[at]
	inserted := p != nil && p.inserted
	own := a.Verb != target.Go // the client steps this thread itself
	if !inserted && !t.stepping[id] && !own {
		delete(t.standing, id)
		return
	}
	if inserted && !t.stepping[id] && !own && a.Signal == target.SignalNone && t.passesAt(id, at) {
		return
	}
	signal := a.Signal
	a.Signal = 0
	before, err := t.before(id, inserted && !p.written)
	if err != nil {
		t.refused(err)
		return
	}
	lifted := inserted && (t.profile.Step == StepLifted || p.written)
	if lifted {
		if err := t.lift(p); err != nil {
			t.refused(err)
			return
		}
	}
	stop, asked, err := t.stepOne(id, signal)
	who, ok := t.halted(stop, err)
	if !ok {
		return
	}
	if lifted {
		err = t.insert(p)
	}
	if err == nil && inserted && !lifted && who == id && isTrap(stop) {
		var again bool
		if again, err = t.learn(id, at, before, stop.Reason); again {
			return // the thread still stands there
		}
	}
	if err != nil {
		t.refused(err)
		return
	}
	if who != id || !isTrap(stop) || stop.Reason != "" && stop.Reason != "swbreak" {
		if pc, err := t.pc(id); err == nil && pc != at {
			delete(t.standing, id)
		}
		t.judge(who, stop, asked)
		return
	}
	t.stray = t.stray || asked
	if inserted && t.isEaten(id, at) {
		return // the thread still stands there
	}
	delete(t.standing, id)
	if t.stepping[id] {
		delete(t.stepping, id)
		t.obey(id, t.handler.Stepped(t.snapshot(id)))
		if t.going == nil {
			return
		}
	}
	if own {
		t.stepped(id)
		return
	}
	// Where the thread is now it may have to stop at once. A stub that sees to that itself spares the look.
	if t.stepping[id] || !t.profile.Meets {
		t.land(id, at)
	}
}

// mostEaten is how many steps in a row may execute nothing. An instruction that jumps to itself looks the same.
const mostEaten = 3

// isEaten reports whether a step has ended before it executed anything, so that the thread would meet its breakpoint once more and
// a frame be there twice. QEMU does that to one step in some hundreds of a Linux kernel, where an interrupt is due.
func (t *Target) isEaten(id target.ThreadID, at arch.Addr) bool {
	if !t.profile.Eats {
		return false
	}
	pc, err := t.pcAlone(id)
	if err != nil || pc != at || t.eaten == mostEaten {
		t.eaten = 0
		return false
	}
	t.eaten++
	return true
}

// land has a thread meet what is where it has come to by a step. One that is where it was, in a jump to itself, goes on with all
// others: it would be stepped for ever and keep them waiting.
func (t *Target) land(id target.ThreadID, from arch.Addr) {
	pc, err := t.pc(id)
	if err != nil {
		t.refused(err)
		return
	}
	if p := t.places[pc]; p != nil && (pc != from || t.stepping[id]) {
		t.arrive(id, p)
	} else if t.stepping[id] {
		t.standing[id] = pc // another step is due from here
	}
}

// before is the registers in front of a step of which it is not known whether it passes a breakpoint that is inserted.
func (t *Target) before(id target.ThreadID, inserted bool) ([]byte, error) {
	if !inserted || t.profile.Step != StepUnknown {
		return nil, nil
	}
	if err := t.fetch(id); err != nil {
		return nil, err
	}
	return append([]byte(nil), t.state.block...), nil
}

// learn concludes from a step at a breakpoint that is inserted whether it has passed that: not if the stub says that it has met one
// (gdbserver), nor if no register has changed. An instruction that jumps to itself looks the same, and is executed once more.
// again says that the step is still due. before is nil where the answer is known but for the first.
func (t *Target) learn(id target.ThreadID, at arch.Addr, before []byte, reason string) (again bool, err error) {
	if reason == "swbreak" {
		pc, err := t.pc(id)
		if err != nil {
			return false, err
		}
		if pc == at {
			t.profile.Step = StepLifted
			return true, nil
		}
	}
	if before == nil {
		return false, nil
	}
	if err := t.fetch(id); err != nil {
		return false, err
	}
	if string(before) == string(t.state.block) {
		t.profile.Step = StepLifted
		return true, nil
	}
	t.profile.Step = StepInPlace
	return false, nil
}
