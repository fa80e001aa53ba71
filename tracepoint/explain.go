package tracepoint

import (
	"tracewell/arch"
	"tracewell/trace"
)

// Explanation says how the hits of a tracepoint are collected.
type Explanation struct {
	Key   trace.Key
	Place Place
	// Text is the Collector's for what is collected Elsewhere, such as "pad, jump"; for what is collected Here it says why the
	// Collector refused the tracepoint, or is empty where the target has none.
	Text string
}

// String is a few words, the same for a Collector's text and for traps.
func (e Explanation) String() string {
	switch {
	case e.Place == Nowhere:
		return "not installed"
	case e.Place == Elsewhere:
		return e.Text
	case e.Text != "":
		return "trap: " + e.Text
	}
	return "trap"
}

// Explain says how the hits of each tracepoint are collected in the run that is on, in the order of Tracepoints. Outside a run all
// are Nowhere: what can be done at an address is found out anew at each start.
func (e *Engine) Explain() []Explanation {
	e.control.Lock()
	defer e.control.Unlock()
	texts := make(map[arch.Addr]string)
	e.state.Lock()
	elsewhere := e.locationsIn(Elsewhere)
	e.state.Unlock()
	for _, l := range elsewhere {
		texts[l.addr] = e.collector.Explain(e.pid, l.addr) // with state not held, as in every call of a target
	}
	e.state.Lock()
	defer e.state.Unlock()
	list := make([]Explanation, len(e.definitions))
	for i, d := range e.definitions {
		list[i] = Explanation{Key: d.Key(), Place: d.location.where}
		switch {
		case d.location.where == Elsewhere:
			list[i].Text = texts[d.Addr]
		case d.location.where == Here && d.refusal != nil:
			list[i].Text = d.refusal.Error()
		}
		if !d.active() {
			list[i].Place, list[i].Text = Nowhere, ""
		}
	}
	return list
}
