package stub

import (
	"encoding/xml"
	"fmt"
	"slices"

	"tracewell/rsp"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/target"
)

// thread is the thread that a packet is about: the selected one, or else the first.
func (x *session) thread() (target.ThreadID, error) {
	if x.general != (target.ThreadID{}) {
		return x.general, nil
	}
	threads := x.target.Threads()
	if len(threads) == 0 {
		return target.ThreadID{}, target.ErrNoProcess
	}
	// The leader of the first process, as long as that lives.
	return threads[0], nil
}

// resolve finds the live thread that a thread-id as in packets stands for. Zero numbers may be any, -1 all.
func (x *session) resolve(pid, tid int) (target.ThreadID, error) {
	threads := x.known()
	if len(threads) == 0 {
		return target.ThreadID{}, target.ErrNoProcess
	}
	wild := target.ThreadID{PID: orAll(pid), TID: orAll(tid)}
	// The process of a thread-id without one is any: thread numbers are unique in a system.
	if i := slices.IndexFunc(threads, wild.Covers); i >= 0 {
		return threads[i], nil
	}
	return target.ThreadID{}, target.ErrNoThread
}

// known lists the threads of the processes that the session has heard of. In non-stop mode the child of a fork may be there
// whose event is still to come: GDB would take it for a new program of its own if it saw it before that.
func (x *session) known() []target.ThreadID {
	return slices.DeleteFunc(x.target.Threads(), func(id target.ThreadID) bool {
		_, heard := x.debuggee.Attached(id.PID)
		return !heard
	})
}

// orAll reads the number for "any" as the one for "all".
func orAll(n int) int {
	if n == rsp.AnyThread {
		return target.All
	}
	return n
}

// idOf is a thread-id in the form that the client understands.
func (x *session) idOf(id target.ThreadID) *rsp.Thread {
	if !x.client.Has(request.Multiprocess) {
		return &rsp.Thread{TID: id.TID}
	}
	return &rsp.Thread{PID: id.PID, TID: id.TID, Multiprocess: true}
}

// selectThread is H. Selecting any thread, or all, leaves the choice to the server; GDB does so before there is a process.
// As with gdbserver it stays with the thread that it has, if that lives: GDB asks for the current thread like this (qC)
// right after it has attached to a second process. For c and s all threads of one process can be meant.
func (x *session) selectThread(s request.Selection) error {
	selected, pid, tid := &x.general, s.PID, s.TID
	if s.For == 'c' {
		selected = &x.resuming
	}
	// Hg0, Hg-1, Hgp0.0 and Hc-1, as GDB sends them.
	if tid <= 0 && pid <= 0 {
		if _, err := x.resolve(selected.PID, selected.TID); err != nil || selected == &x.resuming {
			*selected = target.ThreadID{}
		}
		return nil
	}
	id, err := x.resolve(pid, tid)
	if err != nil {
		return err
	}
	*selected = id
	// Hcp1.-1: what resumes is all of the process.
	if selected == &x.resuming && tid == rsp.AllThreads {
		selected.TID = target.All
	}
	return nil
}

// threadAlive is T.
func (x *session) threadAlive(t rsp.Thread) error {
	if _, err := x.resolve(t.PID, t.TID); err != nil {
		return err
	}
	return nil
}

// currentThread is qC.
func (x *session) currentThread(request.None) (rsp.Thread, error) {
	id, err := x.thread()
	if err != nil {
		return rsp.Thread{}, err
	}
	return *x.idOf(id), nil
}

// firstThreads is qfThreadInfo: it makes the list, in packets of as many threads as fit.
func (x *session) firstThreads(request.None) ([]byte, error) {
	if x.withoutProcess() {
		return nil, target.ErrNoProcess
	}
	var all []rsp.Thread
	for _, id := range x.known() {
		all = append(all, *x.idOf(id))
	}
	x.threads = pages(reply.Threads, all, x.packetSize)
	return x.threads.advance(), nil
}

// moreThreads is qsThreadInfo.
func (x *session) moreThreads(request.None) ([]byte, error) { return x.threads.advance(), nil }

// threadExtra is qThreadExtraInfo.
func (x *session) threadExtra(t rsp.Thread) (string, error) {
	id, err := x.resolve(t.PID, t.TID)
	if err != nil {
		return "", err
	}
	th, err := x.target.Thread(id)
	// GDB shows it in "info threads" if it has no qXfer:threads.
	return th.Name, err
}

// askAttached is qAttached. Children count as their parents do.
func (x *session) askAttached(p request.MaybeProcess) (bool, error) {
	pid, err := x.chosenProcess(p)
	attached, _ := x.debuggee.Attached(pid)
	return attached, err
}

// chosenProcess is the process that a packet names, or that of the selected thread.
func (x *session) chosenProcess(p request.MaybeProcess) (int, error) {
	if !p.Given {
		id, err := x.thread()
		return id.PID, err
	}
	if !slices.Contains(x.debuggee.Processes(), p.PID) {
		return 0, target.ErrNoProcess
	}
	return p.PID, nil
}

// threadsElement and threadElement are the document of qXfer:threads, see the GDB manual, Thread List Format.
type threadsElement struct {
	XMLName xml.Name        `xml:"threads"`
	Threads []threadElement `xml:"thread"`
}

type threadElement struct {
	ID   string `xml:"id,attr"`
	Core string `xml:"core,attr,omitempty"`
	Name string `xml:"name,attr,omitempty"`
	// Handle is what the C library calls the thread.
	Handle string `xml:"handle,attr,omitempty"`
}

// threadsDocument is qXfer:threads:read.
func (x *session) threadsDocument(annex string) ([]byte, error) {
	if annex != "" {
		return nil, errNoAnnex(annex)
	}
	var doc threadsElement
	for _, id := range x.known() {
		th, err := x.target.Thread(id)
		if err != nil {
			continue // it has just ended
		}
		// The fields are optional one by one, and what is not known is left out.
		e := threadElement{ID: x.idOf(id).String(), Name: th.Name, Handle: x.threadHandle(id)}
		if th.Core >= 0 {
			e.Core = fmt.Sprint(th.Core)
		}
		doc.Threads = append(doc.Threads, e)
	}
	return marshal(doc)
}
