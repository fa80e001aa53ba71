package tfile

import (
	"tracewell/arch"
	"tracewell/trace"
)

// Query says which frame is looked for.
type Query struct {
	Kind       QueryKind
	Tracepoint trace.Number // ByTracepoint
	Low, High  arch.Addr    // ByRange and ByOutside; ByPC looks at Low only
}

// QueryKind is a kind of search, as of a QTFrame packet.
type QueryKind uint8

// The kinds of search.
const (
	ByTracepoint QueryKind = iota // the frame is of the tracepoint
	ByPC                          // its pc is Low
	ByRange                       // its pc is from Low to High, both included
	ByOutside                     // its pc is not from Low to High
)

// Match reports whether q describes a frame of tracepoint n that was made at pc. The pc is that of the frame itself: GDB
// 13.1 takes the tracepoint's first address instead when it searches a trace file, and so finds frames of while-stepping and
// of tracepoints with several locations wrongly.
func (q Query) Match(n trace.Number, pc arch.Addr) bool {
	inside := q.Low <= pc && pc <= q.High
	switch q.Kind {
	case ByTracepoint:
		return n == q.Tracepoint
	case ByPC:
		return pc == q.Low
	case ByRange:
		return inside
	case ByOutside:
		return !inside
	}
	return false
}
