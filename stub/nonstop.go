package stub

import (
	"errors"
	"maps"
	"slices"

	"tracewell/rsp"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/target"
)

// nonStop is what a server knows in non-stop mode, in which threads stop and go on one by one (GDB manual, Remote Non-Stop).
//
// The target does not say which threads run, so stops does: a thread is in it from the event that stopped it to the
// resumption. The client takes events one after another: the first of the queue has been sent, as a notification or as the
// answer to ?, and vStopped acknowledges it and fetches the next. A thread in the queue is stopped without the client's
// knowledge, so what it says of all threads is not meant for this one.
type nonStop struct {
	stops map[target.ThreadID]target.Event
	going map[target.ThreadID]target.Action // what running threads were told, as far as the client told them
	queue []target.Event
	begun bool           // the queue is the answer to ?, and the client has not acknowledged it
	later []target.Event // to be notified when it has
}

// errNoNonStop refuses the mode.
var errNoNonStop = errors.New("there is no non-stop mode")

// chooseNonStop is QNonStop.
func (x *session) chooseNonStop(on bool) error {
	// GDB sends QNonStop:0 as it connects, also to a server that is in all-stop mode.
	if on == (x.nonStop != nil) {
		return nil
	}
	if on {
		return x.beginNonStop()
	}
	_, err := x.endNonStop()
	return err
}

// beginNonStop goes over to non-stop mode. What runs, because a trace run went on without a client, does so afterwards. Of a
// process that the server was started to attach to only the leader stays stopped, as with gdbserver 13.1, since nobody
// has asked for more.
func (s *Server) beginNonStop() error {
	ran := s.running
	if err := s.halt(); err != nil {
		return err
	}
	// The target changes its mode only while everything is stopped.
	if err := s.target.Runner().SetNonStop(true); err != nil {
		if ran && s.alive() {
			err = errors.Join(err, s.resume(everyThread))
		}
		if errors.Is(err, target.ErrUnsupported) {
			err = errNoNonStop
		}
		return err
	}
	n := &nonStop{stops: make(map[target.ThreadID]target.Event), going: make(map[target.ThreadID]target.Action)}
	s.nonStop = n
	last := s.lastStop()
	var again []target.Action
	for _, id := range s.target.Threads() {
		// Stopped without a reason of its own: reported with signal 0.
		n.stops[id] = target.Event{Thread: id}
		if id == last.Thread {
			n.stops[id] = last
		}
		seized := s.last == nil && s.attached[id.PID] && id.TID != id.PID
		if seized || ran && (id != last.Thread || last.Signal == target.SignalInt) {
			again = append(again, target.Action{Thread: id})
		}
	}
	return s.resumeAlone(again)
}

// endNonStop returns to all-stop mode, if it is not the mode already, and reports whether any thread ran. What happened last
// is noted, but no client hears of it.
func (s *Server) endNonStop() (ran bool, err error) {
	n := s.nonStop
	if n == nil {
		return false, nil
	}
	for _, id := range s.target.Threads() {
		if _, stopped := n.stops[id]; !stopped {
			ran = true
		}
	}
	if err := s.target.Runner().SetNonStop(false); err != nil {
		return ran, err
	}
	last := s.lastStop()
	if _, stopped := n.stops[last.Thread]; !stopped && stops(last) {
		s.last = &target.Event{Thread: last.Thread}
	}
	for {
		select {
		case ev := <-s.target.Runner().Events():
			// An event of a process that the client has detached from or killed is of no interest to the next. A child
			// of whose fork it was not told is the next one's from the beginning.
			if !s.knows(ev) {
				continue
			}
			s.learn(ev)
			if ends(ev) {
				s.last = &ev
			}
		default:
			s.nonStop = nil
			return ran, nil
		}
	}
}

// knows reports whether an event is of a process that the server still has: one may come that happened before its end.
func (s *Server) knows(ev target.Event) bool {
	_, known := s.attached[ev.Thread.PID]
	return known || ev.Kind == target.NoneResumed
}

// resumeAlone lets stopped threads go on; each action is for one.
func (s *Server) resumeAlone(actions []target.Action) error {
	if len(actions) == 0 {
		return nil
	}
	s.debug.resumed(actions)
	if err := s.target.Runner().Resume(actions); err != nil {
		return err
	}
	s.parts(actions)
	for _, a := range actions {
		// What is repeated when an event passes is the verb and the range; the signal was delivered.
		a.Signal = target.SignalNone
		delete(s.nonStop.stops, a.Thread)
		s.nonStop.going[a.Thread] = a
	}
	return nil
}

// obey does what vCont says in non-stop mode: for each thread the first order that names it, for those that are so already
// nothing. That there is no such thread any more is no error: its end is on its way to the client.
func (x *session) obey(orders []order) error {
	threads := x.target.Threads()
	clear(x.documents)
	// GDB sends vCont;c for all while stops are on their way to it; a thread whose stop it has not seen must stay stopped,
	// or the event would be of a thread that runs.
	waiting := x.nonStop.waiting()
	var actions []target.Action
	for _, id := range threads {
		i := slices.IndexFunc(orders, func(o order) bool { return o.Thread.Covers(id) })
		_, stopped := x.nonStop.stops[id]
		// As the manual has it, the leftmost action that matches a thread counts.
		if i < 0 || orders[i].stop || !stopped || waiting[id] {
			continue
		}
		a := orders[i].Action
		// The order may name all threads of a process; the target gets one action for each.
		a.Thread = id
		actions = append(actions, a)
	}
	if err := x.resumeAlone(actions); err != nil {
		return err
	}
	return x.stopThreads(orders, threads)
}

// stopThreads asks threads to stop. An order that no resumption precedes holds as it is, for threads that are born
// meanwhile, too.
func (x *session) stopThreads(orders []order, threads []target.ThreadID) error {
	for i, o := range orders {
		if !o.stop {
			continue
		}
		before := orders[:i]
		if !slices.ContainsFunc(before, func(o order) bool { return !o.stop }) {
			if err := x.target.Runner().Stop(o.Thread); err != nil {
				return err
			}
			continue
		}
		for _, id := range threads {
			other := slices.ContainsFunc(before, func(b order) bool { return b.Thread.Covers(id) })
			if other || !o.Thread.Covers(id) {
				continue
			}
			if err := x.target.Runner().Stop(id); err != nil {
				return err
			}
		}
	}
	return nil
}

// stoppedAlone takes an event in non-stop mode.
func (x *session) stoppedAlone(ev target.Event) {
	n := x.nonStop
	if !x.knows(ev) {
		return
	}
	if ends(ev) {
		// Before the event is queued: stops of its threads that wait in the queue are void.
		x.drop(ev.Thread.PID)
	}
	x.learn(ev)
	n.note(ev)
	// If it cannot go on, the client has to be told after all.
	if x.passes(ev) && x.goOnAlone(ev) == nil {
		return
	}
	if stops(ev) {
		x.last = &ev
	}
	x.tell(ev)
}

// goOnAlone lets a thread go on after an event as it did before, with its signal.
func (s *Server) goOnAlone(ev target.Event) error {
	again := s.nonStop.going[ev.Thread]
	again.Thread, again.Signal = ev.Thread, ev.Signal
	return s.resumeAlone([]target.Action{again})
}

// tell queues an event for the client, and notifies it when there is none before that.
func (x *session) tell(ev target.Event) {
	n := x.nonStop
	// Nothing is notified until the client has acknowledged the answer to ?: both sequences are fetched by vStopped.
	if n.begun {
		n.later = append(n.later, ev)
		return
	}
	n.queue = append(n.queue, ev)
	// One notification is under way at a time; vStopped fetches the others, and a lost notification would be sent again by
	// nobody.
	if len(n.queue) == 1 {
		stop := append([]byte(reply.Notification), x.stopReply(ev)...)
		x.debug.sent(stop)
		x.out = rsp.AppendNotification(x.out, stop)
	}
}

// nextStop is vStopped.
func (x *session) nextStop(request.None) ([]byte, error) {
	n := x.nonStop
	if n == nil {
		return replyOK, nil
	}
	if len(n.queue) > 1 {
		n.queue = n.queue[1:]
		return x.stopReply(n.queue[0]), nil
	}
	later := n.later
	n.queue, n.later, n.begun = nil, nil, false
	// The OK ends the sequence. What happened meanwhile begins the next, and so comes behind it.
	x.send(replyOK)
	for _, ev := range later {
		x.tell(ev)
	}
	return nil, errLater
}

// firstStop is ? in non-stop mode: the sequence begins anew, with all threads that are stopped, whether the client has been
// told or not. What it has not been told of otherwise stays in the queue. The first is answered and the others are notified after
// it has been taken, although the answer might have brought them all: GDB 13.1 fails an assertion when it finds more than one
// stop there as it connects.
func (x *session) firstStop() []byte {
	n := x.nonStop
	last := x.lastStop()
	var events []target.Event
	for _, id := range x.target.Threads() {
		ev, stopped := n.stops[id]
		switch {
		// First, since GDB selects the thread of the first reply.
		case stopped && id == last.Thread:
			events = slices.Insert(events, 0, ev)
		case stopped:
			events = append(events, ev)
		}
	}
	events = append(events, slices.DeleteFunc(n.untold(), stops)...)
	n.queue, n.later, n.begun = nil, nil, false
	if len(events) == 0 {
		return replyOK
	}
	n.queue, n.later, n.begun = events[:1:1], events[1:], true
	return x.stopReply(events[0])
}

// untold lists the events that the client has not acknowledged.
func (n *nonStop) untold() []target.Event { return slices.Concat(n.queue, n.later) }

// note keeps up which threads are stopped.
func (n *nonStop) note(ev target.Event) {
	id := ev.Thread
	switch {
	case ev.Kind == target.ThreadExited:
		delete(n.stops, id)
		delete(n.going, id)
		return
	case !stops(ev):
		return
	case ev.Kind == target.Execed: // of the process's threads this one is left
		n.drop(id.PID)
	case ev.Kind == target.Forked, ev.Kind == target.Vforked:
		// The child is stopped as well until the client resumes it or detaches from it.
		n.stops[ev.Child] = target.Event{Thread: ev.Child}
	}
	n.stops[id] = ev
}

// drop forgets the threads of a process. The first event of the queue stays: the client has it, and will acknowledge it.
func (n *nonStop) drop(pid int) {
	maps.DeleteFunc(n.stops, func(id target.ThreadID, _ target.Event) bool { return id.PID == pid })
	maps.DeleteFunc(n.going, func(id target.ThreadID, _ target.Action) bool { return id.PID == pid })
	if len(n.queue) > 1 {
		// Ends of processes stay in the queue: they are the only word that the client gets of them.
		rest := slices.DeleteFunc(n.queue[1:], func(ev target.Event) bool { return stops(ev) && ev.Thread.PID == pid })
		n.queue = n.queue[:1+len(rest)]
	}
	n.later = slices.DeleteFunc(n.later, func(ev target.Event) bool { return stops(ev) && ev.Thread.PID == pid })
}

// waiting is the set of the threads with events that the client does not know yet, and of the children in these.
func (n *nonStop) waiting() map[target.ThreadID]bool {
	set := make(map[target.ThreadID]bool)
	for _, ev := range n.untold() {
		if stops(ev) {
			set[ev.Thread] = true
			set[ev.Child] = true
		}
	}
	return set
}
