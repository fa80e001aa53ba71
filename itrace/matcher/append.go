package matcher

import (
	"bytes"
	"strconv"

	"tracewell/itrace"
)

// Append appends the line of a record without a line feed, with one blank between fields. One of kind Unknown is appended as
// it stands. What the format wants and a record of another dialect does not tell is clk, A and svc, and digits that are not known.
// Of a record that the format has no line for it appends nothing.
func Append(dst []byte, r *itrace.Record) []byte {
	if r.Kind == itrace.Unknown {
		return append(dst, r.Text...)
	}
	if !writes(r) {
		return dst
	}
	dst = strconv.AppendUint(dst, r.Time, 10)
	dst = appendWord(dst, r.Scale, "clk")
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
		dst = r.AppendName(append(dst, " R "...))
	}
	return appendDigits(append(dst, ' '), r)
}

// writes reports whether the format has a line for a record.
func writes(r *itrace.Record) bool {
	switch r.Kind {
	case itrace.Memory:
		return r.Size > 0
	case itrace.RegisterRead, itrace.Event, itrace.Remark:
		return false
	}
	return true
}

// appendDigits appends the digits of a record, those that are not told as not known: all of an access, one of anything else.
func appendDigits(dst []byte, r *itrace.Record) []byte {
	switch {
	case len(r.Digits) > 0:
		return append(dst, r.Digits...)
	case r.Kind == itrace.Memory:
		return append(dst, bytes.Repeat([]byte{'x'}, 2*int(r.Size))...)
	}
	return append(dst, 'x')
}

// appendWord appends a blank and a word, or another if there is none.
func appendWord(dst, word []byte, other string) []byte {
	dst = append(dst, ' ')
	if len(word) == 0 {
		return append(dst, other...)
	}
	return append(dst, word...)
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
	dst = append(appendDigits(dst, r), ' ')
	state := r.State
	if state == 0 {
		state = 'A'
	}
	dst = appendWord(append(dst, state), r.Mode, "svc")
	if len(r.Security) > 0 {
		dst = append(append(dst, '_'), r.Security...)
	}
	dst = append(dst, " :"...)
	if len(r.Disasm) > 0 {
		dst = append(append(dst, ' '), r.Disasm...)
	}
	return dst
}
