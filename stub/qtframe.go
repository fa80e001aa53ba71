package stub

import (
	"encoding/xml"
	"errors"
	"fmt"
	"math"

	"tracewell/arch"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/tdesc"
	"tracewell/tfile"
	"tracewell/trace"
)

// selectFrame is QTFrame. A query that finds nothing leaves the selection as it was. The run may go on meanwhile.
func (x *session) selectFrame(q request.FrameQuery) (reply.Selection, error) {
	if kind, ok := frameQueries[q.By]; ok {
		// GDB sends "tfind tracepoint -1" as ffffffff, which is the number of none.
		query := tfile.Query{
			Kind: kind, Tracepoint: trace.Number(int32(q.Number)), Low: x.plainAddress(q.Low), High: x.plainAddress(q.High),
		}
		n, ok, err := x.recorded.Find(query, x.nextFrame())
		if err != nil || !ok {
			return reply.Selection{}, err
		}
		return x.enterFrame(n)
	}
	switch {
	case uint32(q.Number) == request.LeaveFrames: // of as many bits as the client has
		return x.leaveFrames()
	case q.Number > math.MaxInt32:
		return reply.Selection{}, nil
	}
	return x.enterFrame(int(q.Number))
}

// errNoFrame refuses to tell of a frame when none is selected.
var errNoFrame = errors.New("no traceframe is selected")

// frameQueries are the forms of QTFrame that search, onwards from the selected frame.
var frameQueries = map[request.FrameKey]tfile.QueryKind{
	request.ByPC: tfile.ByPC, request.ByTracepoint: tfile.ByTracepoint, request.ByRange: tfile.ByRange,
	request.ByOutside: tfile.ByOutside,
}

// nextFrame is where a search begins.
func (x *session) nextFrame() int {
	if x.frame == nil {
		return 0
	}
	return x.frame.Number + 1
}

// leaveFrames goes back to the program.
func (x *session) leaveFrames() (reply.Selection, error) {
	x.frame = nil
	clear(x.documents)
	return reply.Selection{Live: true}, nil
}

// errFramesOnly refuses a frame to GDB when there is no program. GDB 13 shows no registers then, and its tdump is an internal
// error that ends it.
var errFramesOnly = errors.New(
	"the program is gone and GDB shows no frames without one; start one to look at them, or tsave them")

// errFramesLeft refuses one of a recording that the client has left.
var errFramesLeft = errors.New("this client has let the recording go; connect again to look at frames")

// enterFrame selects frame n.
func (x *session) enterFrame(n int) (reply.Selection, error) {
	// The frame is a copy: a circular buffer may drop it while the client looks at it.
	frame, ok, err := x.recorded.Frame(n)
	if err != nil || !ok {
		return reply.Selection{}, err
	}
	switch {
	// A client that is not in extended mode leaves when the program ends, and looks at frames as long as it stays.
	case x.debuggee.Alive() || !x.extended:
	case x.engine == nil:
		return reply.Selection{}, errFramesLeft
	default:
		return reply.Selection{}, errFramesOnly
	}
	x.frame = &frame
	clear(x.documents)
	return reply.Selection{Found: true, Number: n, Tracepoint: int(frame.Tracepoint())}, nil
}

// frameRegisters is the register block of the selected frame. Without collected registers the pc is mostly known all the same.
func (x *session) frameRegisters(layout *tdesc.Layout) reply.Block {
	b := reply.Block{Bytes: make([]byte, layout.Size), Available: make([]bool, layout.Size)}
	// A tracer that collected fewer registers than the description has leaves the rest unavailable.
	known := b.Part(0, copy(b.Bytes, x.frame.Registers()))
	if slot := layout.ByNumber(x.target.ISA().PC); len(known.Bytes) == 0 && slot != nil && !x.frame.Unplaced {
		known = b.Part(slot.Offset, slot.Size)
		arch.PutAddr(known.Bytes, x.target.ISA().Order, x.frame.PC)
	}
	for i := range known.Available {
		known.Available[i] = true
	}
	return b
}

// readFrameMemory reads what the selected frame holds of b from addr on, up to the first hole. If it does not hold the first
// byte, memory that cannot have changed since is read from the program: what the client declared (QTro), and every
// mapping that the program cannot write to. GDB tells the ranges of the main program at the addresses of its file, so
// without the latter there would be no disassembly in a frame of a position-independent program or of a library.
func (x *session) readFrameMemory(addr arch.Addr, b []byte) (int, error) {
	// Read as the client has the address, and then as a 32-bit machine with signed addresses has it in its frames.
	if n := x.frame.ReadMemory(addr, b); n > 0 || len(b) == 0 {
		return n, nil
	}
	if n := x.frame.ReadMemory(x.signedAddress(addr), b); n > 0 {
		return n, nil
	}
	if !x.unchanging(addr, len(b)) {
		return 0, fmt.Errorf("the frame holds no memory at %v", addr)
	}
	return x.readLiveMemory(addr, b)
}

// unchanging reports whether all n bytes at addr are now what they were at every frame.
func (x *session) unchanging(addr arch.Addr, n int) bool {
	// QTro comes with each tstart, and the engine keeps it for its run; a recording has no engine.
	if x.engine != nil && x.engine.ReadOnly(addr, uint64(n)) {
		return true
	}
	id, err := x.thread()
	// The target asks the kernel: /proc/PID/maps shows which mappings are writable.
	readOnly := x.target.ReadOnly()
	return err == nil && readOnly != nil && readOnly.ReadOnly(id, addr, n)
}

// frameElement is the document of qXfer:traceframe-info, see the GDB manual, Traceframe Info Format. It cannot tell that
// registers were collected.
type frameElement struct {
	XMLName xml.Name `xml:"traceframe-info"`
	Blocks  []any
}

type memoryElement struct {
	XMLName xml.Name `xml:"memory"`
	Start   string   `xml:"start,attr"`
	Length  string   `xml:"length,attr"`
}

type variableElement struct {
	XMLName xml.Name `xml:"tvar"`
	ID      int      `xml:"id,attr"`
}

// frameDocument is qXfer:traceframe-info:read.
func (x *session) frameDocument(annex string) ([]byte, error) {
	if annex != "" {
		return nil, errNoAnnex(annex)
	}
	if x.frame == nil {
		return nil, errNoFrame
	}
	var doc frameElement
	// Blocks stay in the order of the frame, one element each: GDB looks for memory in all of them.
	for b := range x.frame.Blocks() {
		switch b.Kind {
		case tfile.BlockMemory:
			start := x.signedAddress(x.plainAddress(b.Addr))
			doc.Blocks = append(doc.Blocks, memoryElement{Start: start.String(), Length: fmt.Sprintf("%#x", len(b.Bytes))})
		case tfile.BlockVariable:
			doc.Blocks = append(doc.Blocks, variableElement{ID: int(b.Number)})
		}
	}
	return marshal(doc)
}
