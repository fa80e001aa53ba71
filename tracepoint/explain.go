package tracepoint

import (
	"slices"

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

// Explain says how the hits of tracepoints are collected in the run that is on, in the order of Tracepoints: of those with the
// numbers, or of all if there are none. Outside a run all are Nowhere: what can be done at an address is found out anew at each
// start.
func (e *Engine) Explain(numbers ...trace.Number) []Explanation {
	e.control.Lock()
	defer e.control.Unlock()
	wanted := func(d *definition) bool { return len(numbers) == 0 || slices.Contains(numbers, d.Number) }
	texts := make(map[arch.Addr]string)
	e.state.Lock()
	for _, d := range e.definitions {
		if wanted(d) && d.location.where == Elsewhere {
			texts[d.Addr] = ""
		}
	}
	e.state.Unlock()
	for addr := range texts {
		texts[addr] = e.collector.Explain(e.pid, addr) // with state not held, as in every call of a target
	}
	e.state.Lock()
	defer e.state.Unlock()
	var list []Explanation
	for _, d := range e.definitions {
		if !wanted(d) {
			continue
		}
		explanation := Explanation{Key: d.Key(), Place: d.location.where}
		switch {
		case d.location.where == Elsewhere:
			explanation.Text = texts[d.Addr]
		case d.location.where == Here && d.refusal != nil:
			explanation.Text = d.refusal.Error()
		}
		if !d.active() {
			explanation.Place, explanation.Text = Nowhere, ""
		}
		list = append(list, explanation)
	}
	return list
}
