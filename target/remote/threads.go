package remote

import (
	"encoding/xml"
	"fmt"
	"slices"

	"tracewell/rsp"
	"tracewell/rsp/client"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/target"
)

// threadOf is ours for a thread-id of the stub's. A number of 0, which stands for any thread, is what OpenOCD calls its only one.
func (t *Target) threadOf(id rsp.Thread) target.ThreadID {
	pid, tid := onlyProcess, id.TID
	if id.Multiprocess {
		pid = id.PID
	}
	if pid <= 0 {
		pid = onlyProcess
	}
	if tid <= 0 {
		tid = only.TID
	}
	return target.ThreadID{PID: pid, TID: tid}
}

// wire is the stub's for a thread of ours, which may hold All.
func (t *Target) wire(id target.ThreadID) rsp.Thread {
	if !t.tagged {
		return rsp.Thread{TID: id.TID}
	}
	return rsp.Thread{PID: id.PID, TID: id.TID, Multiprocess: true}
}

// listThreads asks for the threads. A stub that has no list has one thread.
func (t *Target) listThreads() error {
	ids, err := t.listed()
	if client.IsLost(err) {
		return t.check(err)
	}
	if err != nil && t.c.Features().Has(request.ReadThreads.Name()) {
		ids, err = t.threadsDocument()
		if client.IsLost(err) {
			return t.check(err)
		}
	}
	t.plain = false
	var list []target.ThreadID
	for _, id := range ids {
		list = append(list, t.threadOf(id))
	}
	if err == nil && len(ids) == 1 && ids[0].TID <= 0 {
		list = nil
	}
	if len(list) == 0 {
		current, err := ask(&t.link, client.Ask(request.CurrentThread, request.None{}, reply.Current))
		if client.IsLost(err) {
			return err
		}
		if t.plain = err != nil || current.TID <= 0; t.plain {
			list = []target.ThreadID{only}
		} else {
			list = []target.ThreadID{t.threadOf(current)}
		}
	}
	t.setThreads(list)
	return nil
}

// listed reads the list of threads. A part in which none is new ends it: there are stubs that begin again.
func (t *Target) listed() (list []rsp.Thread, err error) {
	seen := make(map[rsp.Thread]bool)
	f := request.FirstThreads
	for range mostParts {
		text, err := client.Query(t.c, f, request.None{})
		if err != nil || text == "l" {
			return list, err
		}
		part, err := reply.Threads.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		before := len(list)
		for _, id := range part {
			if !seen[id] {
				list, seen[id] = append(list, id), true
			}
		}
		if len(list) == before {
			return list, nil
		}
		f = request.MoreThreads
	}
	return nil, fmt.Errorf("%s: the stub's list has no end", f.Name())
}

// mostParts is how many packets a list may take: with more, a stub has lost its way.
const mostParts = 1 << 20

// mostThreads is how many bytes the list of threads may have as a document.
const mostThreads = 4 << 20

// threadsDocument reads the list as XML (GDB manual, Thread List Format).
func (t *Target) threadsDocument() (ids []rsp.Thread, err error) {
	text, err := t.c.Transfer("threads", "", mostThreads)
	if err != nil {
		return nil, err
	}
	var doc struct {
		Threads []struct {
			ID string `xml:"id,attr"`
		} `xml:"thread"`
	}
	if err := xml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	for _, th := range doc.Threads {
		s := rsp.NewScanner(th.ID)
		id := s.Thread()
		if err := s.End(); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// setThreads keeps the list, which Threads reads from other goroutines.
func (t *Target) setThreads(list []target.ThreadID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.threads = list
}

// Threads implements target.Target: they are those of the last stop that the client was told of.
func (t *Target) Threads() []target.ThreadID {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.threads)
}

// Thread implements target.Target.
func (t *Target) Thread(id target.ThreadID) (th target.Thread, err error) {
	th = target.Thread{ID: id, Core: -1}
	if !slices.Contains(t.Threads(), id) {
		return th, target.ErrNoThread
	}
	err = t.do(func() error {
		if t.plain {
			return nil
		}
		name, err := ask(&t.link, client.Ask(request.ThreadName, t.wire(id), reply.Text))
		if client.IsLost(err) {
			return err
		}
		th.Name = name // a stub without the packet has no names
		return nil
	})
	return th, err
}

// present is the error of a thread that there is not.
func (t *Target) present(id target.ThreadID) error {
	switch {
	case t.lost() != nil:
		return t.lost()
	case t.ended:
		return target.ErrNoProcess
	case !slices.Contains(t.threads, id) && id != t.current:
		return target.ErrNoThread
	}
	return nil
}

// choose selects a thread for registers and memory.
func (t *Target) choose(id target.ThreadID) error {
	if t.plain || t.selected == id {
		return nil
	}
	// A stub with one thread may refuse to choose, as Valgrind does while it runs none.
	if err := command(&t.link, request.SelectThread, request.Selection{For: 'g', Thread: t.wire(id)}); err != nil {
		if client.IsLost(err) || len(t.threads) > 1 {
			return err
		}
	}
	t.selected = id
	return nil
}
