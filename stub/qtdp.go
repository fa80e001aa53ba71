package stub

import (
	"fmt"
	"strings"

	"tracewell/arch"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/trace"
	"tracewell/tracepoint"
)

// defineTracepoint is QTDP.
func (x *session) defineTracepoint(d request.Definition) error {
	return x.install(d.Tracepoint.Addr, func() error { return x.engine.Define(d.Tracepoint, d.More) })
}

// shortestFast is qTMinFTPILen. GDB refuses an "ftrace" at an instruction that is shorter, before the server has heard of it.
func (x *session) shortestFast(request.None) (uint64, error) { return 1, nil }

// addActions is QTDP with a hyphen before the number.
func (x *session) addActions(p trace.ActionPacket) error {
	return x.engine.AddActions(p.Key, p.Stepping, p.Actions, p.More)
}

// addSource is QTDPsrc.
func (x *session) addSource(piece trace.SourcePiece) error {
	if piece.Type == trace.SourceAt && strings.HasPrefix(strings.TrimPrefix(piece.Text, "-qualified "), markerOption) {
		piece.Text = fmt.Sprintf("*%v", piece.Key.Addr)
		// The text that replaces it comes in one part.
		piece.Start, piece.Total = 0, len(piece.Text)
	}
	return x.engine.AddSource(piece)
}

// markerOption is how GDB (up to 18 at least) begins the location of a tracepoint that was set at a marker by its id; GDB 13
// puts another option before it. It cannot read that back: a GDB that connects to the run, or opens a file of it, stops with
// an error. So it is given the address instead.
const markerOption = "-m "

// enableTracepoint is QTEnable, disableTracepoint QTDisable.
func (x *session) enableTracepoint(key trace.Key) error  { return x.enable(key, true) }
func (x *session) disableTracepoint(key trace.Key) error { return x.enable(key, false) }

func (x *session) enable(key trace.Key, on bool) error {
	return x.engine.Enable(x.resolveKey(key), on)
}

// resolveKey finds the tracepoint that a client means by a number that is not the server's: GDB, up to 18 at least, sends its
// own number in QTEnable, QTDisable and qTP, which differs after it took tracepoints over from a stub and had to renumber them.
// The address then says which one is meant, if it has one only.
func (x *session) resolveKey(key trace.Key) trace.Key {
	key.Addr = x.plainAddress(key.Addr)
	// A key that is known wins: two tracepoints may share an address.
	if _, _, known := x.recorded.Hits(key); !known {
		if only, ok := x.onlyAt(key.Addr); ok {
			key = only
		}
	}
	return key
}

// onlyAt finds the tracepoint of an address that has exactly one.
func (x *session) onlyAt(addr arch.Addr) (key trace.Key, ok bool) {
	for _, t := range x.recorded.Tracepoints() {
		if t.Addr != addr {
			continue
		}
		if ok {
			return trace.Key{}, false
		}
		key, ok = t.Key(), true
	}
	return key, ok
}

// firstPiece is qTfP. GDB reads its replies until it is told l, and knows no errors among them. It is not told that
// tracepoints are static: GDB 13.1 crashes as it makes one.
func (x *session) firstPiece(request.None) ([]byte, error) {
	x.pieces = list{}
	for _, t := range x.recorded.Tracepoints() {
		t.Static, t.Addr = false, x.signedAddress(t.Addr)
		// They are listed as they are now: definitions that change before the last qTsP do not mix with these.
		x.pieces.items = append(x.pieces.items, t.Pieces()...)
	}
	return x.pieces.advance(), nil
}

// morePieces is qTsP.
func (x *session) morePieces(request.None) ([]byte, error) { return x.pieces.advance(), nil }

// tracepointCounts is qTP.
func (x *session) tracepointCounts(key trace.Key) (reply.Counts, error) {
	key = x.resolveKey(key)
	hits, usage, ok := x.recorded.Hits(key)
	if !ok {
		return reply.Counts{}, errNoTracepoint(key)
	}
	return reply.Counts{Hits: hits, Usage: usage}, nil
}

// readOnlyRanges is QTro. Its ends are exclusive.
func (x *session) readOnlyRanges(list []request.Range) error {
	ranges := make([]tracepoint.Range, len(list))
	for i, r := range list {
		ranges[i] = tracepoint.Range(r)
	}
	x.engine.SetReadOnly(ranges)
	return nil
}
