package ctf

import (
	"fmt"
	"slices"

	"tracewell/tfile"
	"tracewell/trace"
)

// stopReasons are the reasons by the numbers that GDB gives them.
var stopReasons = []trace.StopReason{
	trace.ReasonUnknown, trace.ReasonNotRun, trace.ReasonStop, trace.ReasonFull,
	trace.ReasonDisconnected, trace.ReasonPassCount, trace.ReasonError,
}

// The types of tracepoint by the numbers that GDB 7.7 to 13.1 give them.
const (
	typeTracepoint = 27 + iota
	typeFast
	typeStatic
)

// definitions adds what GDB writes of a header: status, variables and tracepoints. There is always a status, even one that
// tells nothing.
func (p *packetBuilder) definitions(h *tfile.Header) {
	st := h.Status
	if st == nil {
		st = &untold
	}
	p.status(st)
	for _, v := range h.Variables {
		p.event(eventTSVDef, 8)
		p.u64(uint64(v.Initial))
		p.u32(uint32(v.Number))
		p.flag(v.Builtin)
		p.text(v.Name)
	}
	for i := range h.Tracepoints {
		p.tracepoint(&h.Tracepoints[i])
	}
}

func (p *packetBuilder) status(st *trace.Status) {
	p.event(eventStatus, 4)
	p.u32(uint32(max(slices.Index(stopReasons, st.Reason), 0)))
	p.i32(int64(st.Tracepoint))
	p.i32(st.Frames)
	p.i32(st.Created)
	p.i32(st.Free)
	p.i32(st.Size)
	p.flag(st.Disconnected)
	p.flag(st.Circular)
}

func (p *packetBuilder) tracepoint(t *trace.Tracepoint) {
	p.event(eventTPDef, 8)
	p.u64(uint64(t.Addr))
	p.u64(t.Usage)
	p.i32(int64(t.Number))
	p.flag(t.Enabled)
	p.count(t.Step)
	p.count(t.Pass)
	p.count(t.Hits)
	p.u32(tracepointType(t))
	p.text(fmt.Sprintf("%x", t.Condition))
	p.texts(actionTexts(t.Actions))
	p.texts(actionTexts(t.StepActions))
	p.text(t.Source.At)
	p.text(t.Source.Cond)
	p.texts(t.Source.Commands)
}

func tracepointType(t *trace.Tracepoint) uint32 {
	switch {
	case t.Static:
		return typeStatic
	case t.Fast:
		return typeFast
	}
	return typeTracepoint
}

func actionTexts(actions []trace.Action) []string {
	texts := make([]string, len(actions))
	for i, a := range actions {
		texts[i] = string(a.AppendText(nil))
	}
	return texts
}
