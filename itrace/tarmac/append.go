package tarmac

import (
	"strconv"

	"tracewell/itrace"
)

// Append appends the line of a record in the form of Fast Models, without a line feed. One of kind Unknown is appended as it
// stands.
func Append(dst []byte, r *itrace.Record) []byte {
	if r.Kind == itrace.Unknown {
		return append(dst, r.Text...)
	}
	if !writes(r) || r.Kind == itrace.Remark {
		return dst
	}
	dst = append(strconv.AppendUint(dst, r.Time, 10), ' ')
	dst = append(dst, units[max(1, unit(r.Scale))]...)
	if r.CPU != 0 {
		dst = strconv.AppendInt(append(dst, " cpu"...), int64(r.CPU), 10)
	}
	switch r.Kind {
	case itrace.Instruction:
		return appendInstruction(dst, r)
	case itrace.Memory:
		return appendMemory(dst, r)
	case itrace.Register:
		return append(append(r.AppendName(append(dst, " R "...)), ' '), r.Digits...)
	}
	dst = append(dst, " E "...)
	if len(r.AddrDigits) > 0 {
		dst = append(append(dst, r.AddrDigits...), ' ')
		return append(append(appendDigits(dst, r.Digits, opcodeDigits), ' '), r.Name...)
	}
	dst = append(dst, r.Name...)
	if len(r.Digits) > 0 {
		dst = append(append(dst, ' '), r.Digits...)
	}
	return dst
}

// opcodeDigits are those of an opcode or number that is not told.
const opcodeDigits = 8

// writes reports whether there is a line for a record.
func writes(r *itrace.Record) bool {
	switch r.Kind {
	case itrace.Memory:
		return r.Size > 0 && r.Size <= 64
	case itrace.Register:
		return len(r.Digits) > 0 && isWordOf(r.Name) && string(r.Name) != "DC" && string(r.Name) != "IC" &&
			string(r.Name) != "TLBI" && string(r.Name) != "AT"
	case itrace.Event:
		_, number := itrace.ParseHex(r.Name)
		told := len(r.AddrDigits) > 0 && r.Event == kindOf(r.Name)
		return isWordOf(r.Name) && (told || len(r.AddrDigits) == 0 && r.Event == itrace.OtherEvent && !number)
	case itrace.RegisterRead:
		return false
	}
	return true
}

// isWordOf reports whether a text is a word.
func isWordOf(text []byte) bool {
	for _, c := range text {
		if classes[c]&isWord == 0 {
			return false
		}
	}
	return len(text) > 0
}

// appendDigits appends digits, or so many that are not known where there are none.
func appendDigits(dst, digits []byte, width int) []byte {
	if len(digits) > 0 {
		return append(dst, digits...)
	}
	for range width {
		dst = append(dst, 'x')
	}
	return dst
}

// appendAddress appends an address, and the physical one behind it.
func appendAddress(dst []byte, r *itrace.Record) []byte {
	dst = append(append(dst, ' '), r.AddrDigits...)
	if !r.HasPhys {
		return dst
	}
	const width = 12 // that of Fast Models
	dst = append(dst, ':')
	for shift := 4 * (width - 1); shift > 0 && r.Phys>>shift == 0; shift -= 4 {
		dst = append(dst, '0')
	}
	return strconv.AppendUint(dst, r.Phys, 16)
}

func appendInstruction(dst []byte, r *itrace.Record) []byte {
	word := " IT ("
	if r.Skipped {
		word = " IS ("
	}
	dst = append(strconv.AppendUint(append(dst, word...), r.ID, 10), ')')
	dst = appendDigits(append(appendAddress(dst, r), ' '), r.Digits, opcodeDigits)
	state := r.State
	if state != 'T' && state != 'O' {
		state = 'A'
	}
	dst = append(dst, ' ', state, ' ')
	switch {
	case isWordOf(r.Mode):
		dst = append(dst, r.Mode...)
	default:
		dst = append(dst, "svc"...)
	}
	if string(r.Security) == "s" || string(r.Security) == "ns" {
		dst = append(append(dst, '_'), r.Security...)
	}
	dst = append(dst, " :"...)
	if len(r.Disasm) > 0 {
		dst = append(append(dst, ' '), r.Disasm...)
	}
	return dst
}

func appendMemory(dst []byte, r *itrace.Record) []byte {
	word := " MR"
	if r.Write {
		word = " MW"
	}
	dst = strconv.AppendUint(append(dst, word...), uint64(r.Size), 10)
	if r.Privilege == 'X' || r.Privilege == 'T' {
		dst = append(dst, r.Privilege)
	}
	dst = appendAddress(dst, r)
	if r.HasPhys && r.Placed && (string(r.Security) == "S" || string(r.Security) == "NS") {
		dst = append(append(dst, '_'), r.Security...)
	}
	const half = 16
	dst = append(dst, ' ')
	if len(r.Digits) == 2*half && r.Size == half {
		dst = append(append(dst, r.Digits[:half]...), ' ')
		return append(dst, r.Digits[half:]...)
	}
	return appendDigits(dst, r.Digits, 2*int(r.Size))
}
