package riscvdv

import (
	"bytes"
	"strconv"

	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
)

// Append appends an instruction with its effects as a row. What there is no column for is left out. A row that cannot be read to
// its end is appended as it stands.
func Append(dst []byte, records []itrace.Record) []byte {
	if len(records) > 0 && records[0].Kind == itrace.Instruction && !isUnread(records) {
		dst = appendRow(dst, &records[0], records[1:])
	}
	for i := range records {
		if r := &records[i]; r.Kind == itrace.Unknown {
			dst = append(append(dst, r.Text...), '\n')
		}
	}
	return dst
}

// isUnread reports whether one of the effects of an instruction is the rest of its row, which cannot be read.
func isUnread(records []itrace.Record) bool {
	for k := range records {
		r := &records[k]
		if r.Kind != itrace.Unknown {
			continue
		}
		d, is := decoder{columns: usual}, row{}
		if problem := d.row(r.Text, &is); problem == nil && is.pc == records[0].Addr && is.opcode == records[0].Value {
			return true
		}
	}
	return false
}

// writes reports whether there is a column for a record.
func writes(r *itrace.Record) bool {
	switch r.Kind {
	case itrace.Instruction:
		return len(r.Digits) > 0 && !r.Wild
	case itrace.Register:
		if r.Part || r.Wild || len(r.Digits) == 0 || len(r.Name) == 0 || bytes.ContainsAny(r.Name, ",;:\"\n") {
			return false
		}
		_, known := riscv.Number(r.Name)
		return known || r.System
	case itrace.Unknown:
		return true
	}
	return false
}

func appendRow(dst []byte, i *itrace.Record, effects []itrace.Record) []byte {
	dst = append(lower(dst, i.AddrDigits), ",,"...)
	dst = appendRegisters(dst, effects, false)
	dst = append(dst, ',')
	dst = appendRegisters(dst, effects, true)
	dst = append(dst, ',')
	if len(i.Digits) == 0 || i.Wild {
		dst = append(dst, '0')
	} else {
		dst = lower(dst, i.Digits)
	}
	dst = append(dst, ',')
	if len(i.Mode) > 0 {
		dst = append(dst, '0'+riscv.ModeNumber(i.Mode))
	}
	dst = append(dst, ',')
	if len(i.Disasm) > 0 {
		dst = append(dst, '"')
		for _, c := range i.Disasm {
			if c == '"' { // which riscv-dv's scripts write nowhere
				c = '\''
			}
			dst = append(dst, c)
		}
		dst = append(dst, '"')
	}
	return append(dst, ",,\n"...)
}

// appendRegisters appends what was written to registers, of control and status or the others.
func appendRegisters(dst []byte, effects []itrace.Record, system bool) []byte {
	start := len(dst)
	for k := range effects {
		r := &effects[k]
		if r.Kind != itrace.Register || r.System != system || !writes(r) {
			continue
		}
		if len(dst) > start {
			dst = append(dst, ';')
		}
		switch number, known := riscv.Number(r.Name); {
		case system && r.Numbered:
			dst = strconv.AppendUint(append(dst, 'c'), uint64(r.Number), 10)
			dst = append(append(dst, '_'), r.Name...)
		case known && !system:
			dst = append(dst, riscv.ConventionName(number)...)
		default:
			dst = append(dst, r.Name...)
		}
		dst = lower(append(dst, ':'), r.Digits)
	}
	return dst
}

// lower appends digits in lower case.
func lower(dst, digits []byte) []byte {
	start := len(dst)
	dst = append(dst, digits...)
	for i, c := range dst[start:] {
		if c >= 'A' && c <= 'F' {
			dst[start+i] = c | 0x20
		}
	}
	return dst
}
