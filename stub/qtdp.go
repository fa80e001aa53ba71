package stub

import (
	"fmt"
	"math"
	"strings"

	"tracewell/arch"
	"tracewell/rsp"
	"tracewell/trace"
	"tracewell/tracepoint"
)

// defineTracepoint is QTDP.
func (x *session) defineTracepoint(args string) ([]byte, error) {
	t, more, err := trace.ParseQTDP(args)
	if err != nil {
		return nil, err
	}
	return x.install(t.Addr, func() ([]byte, error) { return replyOK, x.engine.Define(t, more) })
}

// addActions is QTDP with a hyphen before the number.
func (x *session) addActions(args string) ([]byte, error) {
	key, stepping, actions, more, err := trace.ParseQTDPActions(args)
	if err != nil {
		return nil, err
	}
	return replyOK, x.engine.AddActions(key, stepping, actions, more)
}

// addSource is QTDPsrc.
func (x *session) addSource(args string) ([]byte, error) {
	piece, err := trace.ParseQTDPSource(args)
	if err != nil {
		return nil, err
	}
	if piece.Type == trace.SourceAt && strings.HasPrefix(strings.TrimPrefix(piece.Text, "-qualified "), markerOption) {
		piece.Text = fmt.Sprintf("*%v", piece.Key.Addr)
		piece.Start, piece.Total = 0, len(piece.Text)
	}
	return replyOK, x.engine.AddSource(piece)
}

// markerOption is how GDB (up to 18 at least) begins the location of a tracepoint that was set at a marker by its id; GDB 13
// puts another option before it. It cannot read that back: a GDB that connects to the run, or opens a file of it, stops with
// an error. So it is given the address instead.
const markerOption = "-m "

// parseKey reads NUMBER:ADDRESS.
func parseKey(args string) (trace.Key, error) {
	in := rsp.NewScanner(args)
	number := trace.Number(in.HexUpTo(math.MaxInt32))
	in.Literal(':')
	addr := arch.Addr(in.HexField())
	return trace.Key{Number: number, Addr: addr}, in.End()
}

// enableTracepoint is QTEnable, disableTracepoint QTDisable.
func (x *session) enableTracepoint(args string) ([]byte, error)  { return x.enable(args, true) }
func (x *session) disableTracepoint(args string) ([]byte, error) { return x.enable(args, false) }

func (x *session) enable(args string, on bool) ([]byte, error) {
	key, err := x.resolveKey(args)
	if err != nil {
		return nil, err
	}
	return replyOK, x.engine.Enable(key, on)
}

// resolveKey reads NUMBER:ADDRESS of a tracepoint that is there, and resolves a number that is not the server's: GDB, up to 18
// at least, sends its own number in QTEnable, QTDisable and qTP, which differs after it took tracepoints over from a stub and
// had to renumber them. The address then says which one is meant, if it has one only.
func (x *session) resolveKey(args string) (trace.Key, error) {
	key, err := parseKey(args)
	if err != nil {
		return key, err
	}
	key.Addr = x.plainAddress(key.Addr)
	if _, _, known := x.recorded.Hits(key); !known {
		if only, ok := x.onlyAt(key.Addr); ok {
			key = only
		}
	}
	return key, nil
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
func (x *session) firstPiece(string) ([]byte, error) {
	x.pieces = list{}
	for _, t := range x.recorded.Tracepoints() {
		t.Static, t.Addr = false, x.signedAddress(t.Addr)
		x.pieces.items = append(x.pieces.items, t.Pieces()...)
	}
	return x.pieces.advance(), nil
}

// morePieces is qTsP.
func (x *session) morePieces(string) ([]byte, error) { return x.pieces.advance(), nil }

// tracepointCounts is qTP.
func (x *session) tracepointCounts(args string) ([]byte, error) {
	key, err := x.resolveKey(args)
	if err != nil {
		return nil, err
	}
	hits, usage, ok := x.recorded.Hits(key)
	if !ok {
		return nil, errNoTracepoint(key)
	}
	reply := rsp.AppendHex([]byte{'V'}, hits)
	return rsp.AppendHex(append(reply, ':'), usage), nil
}

// readOnlyRanges is QTro. Its ends are exclusive.
func (x *session) readOnlyRanges(args string) ([]byte, error) {
	var ranges []tracepoint.Range
	for in := rsp.NewScanner(args); !in.Done(); {
		start := in.HexField()
		in.Literal(',')
		end := in.HexField()
		if !in.Done() {
			in.Literal(':')
		}
		if err := in.Err(); err != nil {
			return nil, err
		}
		ranges = append(ranges, tracepoint.Range{Start: arch.Addr(start), End: arch.Addr(end)})
	}
	x.engine.SetReadOnly(ranges)
	return replyOK, nil
}
