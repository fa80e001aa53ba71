package tenet

import (
	"tracewell/itrace"
)

// Append appends the effects of an instruction and the pc of the next as a line. Lines that are none are appended as they are,
// unless something of them can be read: that has been written.
func Append(dst []byte, records []itrace.Record) []byte {
	for i := range records {
		if r := &records[i]; r.Kind == itrace.Unknown && !readable(r.Text) {
			dst = append(append(dst, r.Text...), '\n')
		}
	}
	if len(records) == 0 {
		return dst
	}
	next := &records[len(records)-1]
	if next.Kind != itrace.Instruction || !writes(next) {
		return dst
	}
	for i := range records {
		if r := &records[i]; writes(r) {
			switch r.Kind {
			case itrace.Register:
				dst = append(append(append(dst, r.Name...), "=0x"...), r.Digits...)
				dst = append(dst, ',')
			case itrace.Memory:
				dst = append(appendAccess(dst, r), ',')
			}
		}
	}
	dst = append(append(append(dst, written...), "=0x"...), next.AddrDigits...)
	return append(dst, '\n')
}

// reading is the dialect as far as readable needs it, behind a line with a pc.
var reading = &itrace.Dialect{New: func(itrace.Settings) itrace.Decoder { return &decoder{pc: []byte{'0'}} }}

// readable reports whether something of a line is a record.
func readable(text []byte) bool {
	for _, r := range reading.Decode(text) {
		if r.Kind != itrace.Unknown {
			return true
		}
	}
	return false
}

// writes reports whether there is an entry for a record.
func writes(r *itrace.Record) bool {
	switch r.Kind {
	case itrace.Instruction:
		return r.CPU == 0
	case itrace.Register:
		return r.CPU == 0 && !r.Part && !r.Wild && len(r.Digits) > 0 && isName(r.Name) && kindOf(r.Name) == isRegister
	case itrace.Memory:
		return r.CPU == 0 && !r.Wild && len(r.Digits) > 0 && r.Size > 0 && r.Size <= mostBytes
	case itrace.RegisterRead, itrace.Event:
		return false
	}
	return true
}

// mostBytes is how many an access that is written may have.
const mostBytes = 1 << 16

// appendAccess appends an access with its bytes in the order of memory.
func appendAccess(dst []byte, r *itrace.Record) []byte {
	word := "mr=0x"
	if r.Write {
		word = "mw=0x"
	}
	dst = append(append(append(dst, word...), r.AddrDigits...), ':')
	for n := range int(r.Size) {
		high, low := byte('0'), byte('0')
		if at := len(r.Digits) - 1 - 2*n; at >= 0 {
			if low = r.Digits[at]; at > 0 {
				high = r.Digits[at-1]
			}
		}
		dst = append(dst, high, low)
	}
	return dst
}
