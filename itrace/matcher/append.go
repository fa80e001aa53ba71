package matcher

import (
	"strconv"

	"tracewell/itrace"
)

// Append appends the line of a record without a line feed, with one blank between fields. One of kind Unknown is appended as
// it stands.
func Append(dst []byte, r *itrace.Record) []byte {
	if r.Kind == itrace.Unknown {
		return append(dst, r.Text...)
	}
	dst = strconv.AppendUint(dst, r.Time, 10)
	dst = append(append(dst, ' '), r.Scale...)
	switch r.Kind {
	case itrace.Instruction:
		return appendInstruction(dst, r)
	case itrace.Memory:
		dst = append(dst, " M"...)
		dst = append(dst, "RW"[direction(r)])
		dst = strconv.AppendUint(dst, uint64(r.Size), 10)
		if r.Privilege != 0 {
			dst = append(dst, r.Privilege)
		}
		dst = append(append(dst, ' '), r.AddrDigits...)
	case itrace.Register:
		dst = append(append(dst, " R "...), r.Name...)
	}
	return append(append(dst, ' '), r.Digits...)
}

func direction(r *itrace.Record) int {
	if r.Write {
		return 1
	}
	return 0
}

func appendInstruction(dst []byte, r *itrace.Record) []byte {
	dst = strconv.AppendInt(append(dst, ' '), int64(r.CPU), 10)
	if r.Skipped {
		dst = append(dst, " IS ("...)
	} else {
		dst = append(dst, " IT ("...)
	}
	dst = append(strconv.AppendUint(dst, r.ID, 10), ") "...)
	dst = append(append(dst, r.AddrDigits...), ' ')
	dst = append(append(dst, r.Digits...), ' ')
	dst = append(append(dst, r.State, ' '), r.Mode...)
	if len(r.Security) > 0 {
		dst = append(append(dst, '_'), r.Security...)
	}
	dst = append(dst, " :"...)
	if len(r.Disasm) > 0 {
		dst = append(append(dst, ' '), r.Disasm...)
	}
	return dst
}
