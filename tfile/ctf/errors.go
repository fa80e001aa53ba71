package ctf

import (
	"errors"
	"fmt"

	"tracewell/tfile"
)

// MetadataError says where metadata stop being understood.
type MetadataError struct {
	Line     int // counted from 1
	Found    string
	Expected string
}

// Error gives the line, what was found and what was expected.
func (e *MetadataError) Error() string {
	return fmt.Sprintf("CTF metadata: line %d: found %s, expected %s", e.Line, e.Found, e.Expected)
}

// The kinds of *tfile.FormatError that the stream can be wrong in. Offsets are in the stream.
var (
	// ErrTruncated: the stream ends within a packet. A size that damage made too large looks the same.
	ErrTruncated = errors.New("premature end of the CTF stream")
	// ErrDamaged: a packet is not as the metadata declare it.
	ErrDamaged = errors.New("damaged CTF packet")
)

// RuleEvent is broken by an event that defines something in a way that cannot be understood.
var RuleEvent = &tfile.Rule{Name: "malformed-event", Severity: tfile.Misreads,
	Advice: "convert the trace anew: what the event defines is lost"}
