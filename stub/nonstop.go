package stub

import (
	"slices"

	"tracewell/rsp"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/runcontrol"
	"tracewell/target"
)

// notices is what a session has told its client of stops in non-stop mode, in which threads stop and go on one by one (GDB manual,
// Remote Non-Stop).
//
// The client takes events one after another: the first of the queue has been sent, as a notification or as the
// answer to ?, and vStopped acknowledges it and fetches the next. A thread in the queue is stopped without the client's
// knowledge, so what it says of all threads is not meant for this one.
type notices struct {
	queue []target.Event
	begun bool           // the queue is the answer to ?, and the client has not acknowledged it
	later []target.Event // to be notified when it has
}

// chooseNonStop is QNonStop.
func (x *session) chooseNonStop(on bool) error {
	// GDB sends QNonStop:0 as it connects, also to a server that is in all-stop mode.
	if on == x.debuggee.NonStop() {
		return nil
	}
	if on {
		return x.debuggee.BeginNonStop()
	}
	_, err := x.debuggee.EndNonStop()
	if err == nil {
		x.notices = notices{}
	}
	return err
}

// obey does what vCont says in non-stop mode: for each thread the first order that names it, for those that are so already
// nothing. That there is no such thread any more is no error: its end is on its way to the client.
func (x *session) obey(orders []order) error {
	threads := x.target.Threads()
	clear(x.documents)
	// GDB sends vCont;c for all while stops are on their way to it; a thread whose stop it has not seen must stay stopped,
	// or the event would be of a thread that runs.
	waiting := x.notices.waiting()
	var actions []target.Action
	for _, id := range threads {
		i := slices.IndexFunc(orders, func(o order) bool { return o.Thread.Covers(id) })
		_, stopped := x.debuggee.Stopped(id)
		// As the manual has it, the leftmost action that matches a thread counts.
		if i < 0 || orders[i].stop || !stopped || waiting[id] {
			continue
		}
		a := orders[i].Action
		// The order may name all threads of a process; the target gets one action for each.
		a.Thread = id
		actions = append(actions, a)
	}
	if err := x.debuggee.ResumeAlone(actions); err != nil {
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
	if !x.debuggee.Knows(ev) {
		return
	}
	if runcontrol.Ends(ev) {
		// Before the event is queued: stops of its threads that wait in the queue are void.
		x.drop(ev.Thread.PID)
	}
	x.debuggee.Learn(ev)
	if ev.Kind == target.Execed { // of the process's threads this one is left
		x.notices.drop(ev.Thread.PID)
	}
	x.debuggee.Note(ev)
	// If it cannot go on, the client has to be told after all.
	if x.passes(ev) && x.debuggee.GoOnAlone(ev) == nil {
		return
	}
	if runcontrol.Stops(ev) {
		x.debuggee.SetLast(ev)
	}
	x.tell(ev)
}

// tell queues an event for the client, and notifies it when there is none before that.
func (x *session) tell(ev target.Event) {
	n := &x.notices
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
	n := &x.notices
	if !x.debuggee.NonStop() {
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
	n := &x.notices
	last := x.debuggee.LastStop()
	var events []target.Event
	for _, id := range x.target.Threads() {
		ev, stopped := x.debuggee.Stopped(id)
		switch {
		// First, since GDB selects the thread of the first reply.
		case stopped && id == last.Thread:
			events = slices.Insert(events, 0, ev)
		case stopped:
			events = append(events, ev)
		}
	}
	events = append(events, slices.DeleteFunc(n.untold(), runcontrol.Stops)...)
	n.queue, n.later, n.begun = nil, nil, false
	if len(events) == 0 {
		return replyOK
	}
	n.queue, n.later, n.begun = events[:1:1], events[1:], true
	return x.stopReply(events[0])
}

// untold lists the events that the client has not acknowledged.
func (n *notices) untold() []target.Event { return slices.Concat(n.queue, n.later) }

// drop forgets the stops of a process. The first event of the queue stays: the client has it, and will acknowledge it.
func (n *notices) drop(pid int) {
	if len(n.queue) > 1 {
		// Ends of processes stay in the queue: they are the only word that the client gets of them.
		rest := slices.DeleteFunc(n.queue[1:], func(ev target.Event) bool { return runcontrol.Stops(ev) && ev.Thread.PID == pid })
		n.queue = n.queue[:1+len(rest)]
	}
	n.later = slices.DeleteFunc(n.later, func(ev target.Event) bool { return runcontrol.Stops(ev) && ev.Thread.PID == pid })
}

// waiting is the set of the threads with events that the client does not know yet, and of the children in these.
func (n *notices) waiting() map[target.ThreadID]bool {
	set := make(map[target.ThreadID]bool)
	for _, ev := range n.untold() {
		if runcontrol.Stops(ev) {
			set[ev.Thread] = true
			set[ev.Child] = true
		}
	}
	return set
}
