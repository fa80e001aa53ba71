package jsonl

import (
	"encoding/binary"
	"strconv"
	"strings"
	"unicode/utf8"

	"tracewell/internal/jsontext"
	"tracewell/itrace"
)

// Append appends the object of a record without a line feed.
func Append(dst []byte, r *itrace.Record) []byte {
	switch r.Kind {
	case itrace.Instruction:
		dst = append(dst, `{"kind":"instruction","time":`...)
		dst = appendInstruction(appendOrigin(dst, r), r)
	case itrace.Memory:
		dst = append(dst, `{"kind":"memory","time":`...)
		dst = appendMemory(appendOrigin(dst, r), r)
	case itrace.Register:
		dst = append(dst, `{"kind":"register","time":`...)
		dst = appendRegister(appendOrigin(dst, r), r)
	case itrace.RegisterRead:
		dst = append(dst, `{"kind":"register-read","time":`...)
		dst = appendRegister(appendOrigin(dst, r), r)
	case itrace.Event:
		dst = append(dst, `{"kind":"event","time":`...)
		dst = appendEvent(appendOrigin(dst, r), r)
	case itrace.Remark:
		dst = appendString(append(dst, `{"remark":`...), r.Text)
	default:
		dst = appendString(append(dst, `{"unknown":`...), r.Text)
	}
	return append(dst, '}')
}

// appendOrigin appends when and where something happened, beginning with the value of time.
func appendOrigin(dst []byte, r *itrace.Record) []byte {
	dst = strconv.AppendUint(dst, r.Time, 10)
	dst = appendTold(dst, `,"scale":`, r.Scale)
	dst = strconv.AppendInt(append(dst, `,"cpu":`...), int64(r.CPU), 10)
	dst = appendNumber(dst, `,"cycle":`, r.Cycle)
	return appendNumber(dst, `,"back":`, uint64(r.Back))
}

// appendNumber appends a member unless it is 0.
func appendNumber(dst []byte, key string, n uint64) []byte {
	if n == 0 {
		return dst
	}
	return strconv.AppendUint(append(dst, key...), n, 10)
}

// appendTrue appends a member that is true, unless it is not.
func appendTrue(dst []byte, key string, is bool) []byte {
	if !is {
		return dst
	}
	return append(append(dst, key...), "true"...)
}

// appendPhysical appends the physical address, if it is told.
func appendPhysical(dst []byte, r *itrace.Record) []byte {
	if !r.HasPhys {
		return dst
	}
	dst = strconv.AppendUint(append(dst, `,"physical":"0x`...), r.Phys, 16)
	return append(dst, '"')
}

func appendRegister(dst []byte, r *itrace.Record) []byte {
	dst = appendString(append(dst, `,"name":`...), r.Name)
	dst = appendDigits(append(dst, `,"value":`...), r.Digits)
	if r.Part {
		dst = strconv.AppendUint(append(dst, `,"high":`...), uint64(r.High), 10)
		dst = strconv.AppendUint(append(dst, `,"low":`...), uint64(r.Low), 10)
	}
	if r.Shaped {
		dst = appendTold(dst, `,"shape":`, r.Mode)
	}
	if r.Numbered {
		dst = strconv.AppendUint(append(dst, `,"number":`...), uint64(r.Number), 10)
	}
	return appendTrue(appendTrue(dst, `,"system":`, r.System), `,"zero":`, r.Zero)
}

func appendEvent(dst []byte, r *itrace.Record) []byte {
	dst = appendString(append(dst, `,"event":`...), []byte(r.Event.String()))
	dst = appendTold(dst, `,"name":`, r.Name)
	for _, digits := range [...]struct {
		key   string
		value []byte
	}{{`,"address":`, r.AddrDigits}, {`,"value":`, r.Digits}, {`,"detail":`, r.Detail}} {
		if len(digits.value) > 0 {
			dst = appendDigits(append(dst, digits.key...), digits.value)
		}
	}
	return appendTold(dst, `,"mode":`, r.Mode)
}

func appendInstruction(dst []byte, r *itrace.Record) []byte {
	dst = strconv.AppendUint(append(dst, `,"id":`...), r.ID, 10)
	if r.Skipped {
		dst = append(dst, `,"skipped":true`...)
	}
	dst = appendDigits(append(dst, `,"address":`...), r.AddrDigits)
	if len(r.Digits) > 0 {
		dst = appendDigits(append(dst, `,"opcode":`...), r.Digits)
	}
	dst = appendPhysical(appendTrue(dst, `,"trapped":`, r.Trapped), r)
	if r.Scope != 0 {
		dst = appendString(append(dst, `,"tells":`...), []byte(strings.Join(r.Scope.Names(), " ")))
	}
	dst = appendLetter(dst, `,"state":`, r.State)
	dst = appendTold(dst, `,"mode":`, r.Mode)
	dst = appendTold(dst, `,"security":`, r.Security)
	return appendTold(dst, `,"disasm":`, r.Disasm)
}

func appendMemory(dst []byte, r *itrace.Record) []byte {
	access := `,"access":"read"`
	if r.Write {
		access = `,"access":"write"`
	}
	dst = appendTrue(append(dst, access...), `,"partial":`, r.Size == 0 || len(r.Digits) == 0)
	dst = appendNumber(dst, `,"size":`, uint64(r.Size))
	dst = appendLetter(dst, `,"privilege":`, r.Privilege)
	dst = appendDigits(append(dst, `,"address":`...), r.AddrDigits)
	if len(r.Digits) > 0 {
		dst = appendDigits(append(dst, `,"data":`...), r.Digits)
	}
	dst = appendPhysical(dst, r)
	if r.Placed {
		dst = appendTold(appendTold(dst, `,"device":`, r.Name), `,"security":`, r.Security)
	}
	return dst
}

// appendTold appends a member unless the record does not tell it.
func appendTold(dst []byte, key string, value []byte) []byte {
	if len(value) == 0 {
		return dst
	}
	return appendString(append(dst, key...), value)
}

// appendLetter does so for one of a single character.
func appendLetter(dst []byte, key string, letter byte) []byte {
	if letter == 0 {
		return dst
	}
	return appendString(append(dst, key...), []byte{letter})
}

// appendDigits appends a row of digits, known or not, which need no escape.
func appendDigits(dst, digits []byte) []byte {
	dst = append(append(dst, `"0x`...), digits...)
	return append(dst, '"')
}

func appendString(dst, s []byte) []byte {
	dst = append(dst, '"')
	for {
		plain := plainLength(s)
		dst = append(dst, s[:plain]...)
		if s = s[plain:]; len(s) == 0 {
			return append(dst, '"')
		}
		if r, size := utf8.DecodeRune(s); r >= utf8.RuneSelf && size > 1 {
			if jsontext.Escaped(r) {
				dst = jsontext.AppendEscape(dst, r)
			} else {
				dst = append(dst, s[:size]...)
			}
			s = s[size:]
			continue
		}
		dst = appendEscaped(dst, s[0])
		s = s[1:]
	}
}

// plainLength is how many bytes at the beginning of s stand for themselves in a string of JSON: those of ASCII without control
// characters, quotation marks and backslashes.
func plainLength(s []byte) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	at := 0
	for ; at+8 <= len(s); at += 8 {
		x := binary.LittleEndian.Uint64(s[at:])
		quote, backslash, del := x^ones*'"', x^ones*'\\', x^ones*0x7f
		// Bit 7 of a byte is set where subtracting borrows: it was below 0x20, or 0. What borrows on has such a byte before it.
		if (x|(x-ones*' ')|(quote-ones)|(backslash-ones)|(del-ones))&high != 0 {
			break
		}
	}
	for at < len(s) && s[at] >= ' ' && s[at] < 0x7f && s[at] != '"' && s[at] != '\\' {
		at++
	}
	return at
}

// rawBytes is what \u has for a byte that is not UTF-8, without its value.
const rawBytes = 0xdc00

// appendEscaped appends a byte that does not stand for itself.
func appendEscaped(dst []byte, c byte) []byte {
	const digits = "0123456789abcdef"
	switch {
	case c == '"' || c == '\\':
		return append(dst, '\\', c)
	case c == '\t':
		return append(dst, `\t`...)
	case c < utf8.RuneSelf:
		return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
	}
	return append(dst, '\\', 'u', 'd', 'c', digits[c>>4], digits[c&15])
}
