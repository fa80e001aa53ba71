package rvvi

import (
	"bytes"
	"strconv"

	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
)

// Append appends an instruction with its effects as a line of version 0.4, and lines that are none as they are.
func Append(dst []byte, records []itrace.Record) []byte {
	if len(records) == 0 {
		return dst
	}
	start := len(dst)
	i := &records[0]
	dst = strconv.AppendInt(append(dst, "HART "...), int64(i.CPU), 10)
	empty := len(dst)
	both := false // the instruction loads and stores
	if i.Kind == itrace.Instruction {
		load, store := riscv.Accesses(i.Value)
		both = load && store
		dst = appendInstruction(dst, i)
	}
	var latest access
	for k := range records {
		r := &records[k]
		if !writes(r) || r.CPU != i.CPU {
			continue
		}
		switch r.Kind {
		case itrace.Register:
			dst = appendRegister(dst, r)
		case itrace.Memory:
			a := access{r.Addr, r.Size, true}
			if both && a == latest || i.Kind != itrace.Instruction && r.Write {
				continue
			}
			latest = a
			dst = appendAccess(dst, 'D', uint64(r.Size), r)
		case itrace.Event:
			dst = appendName(append(dst, " NET "...), r.Name)
			dst = append(append(dst, " 0x"...), r.Digits...)
		}
	}
	if len(dst) == empty {
		dst = dst[:start]
	} else {
		dst = append(dst, '\n')
	}
	for k := range records {
		if r := &records[k]; r.Kind == itrace.Unknown {
			dst = appendUnknown(dst, r.Text)
		}
	}
	return dst
}

// reading is the dialect as far as appendUnknown needs it.
var reading = &itrace.Dialect{New: func(itrace.Settings) itrace.Decoder { return &decoder{} }}

// appendUnknown appends a line that is no record, without a token by which it would go on in the next line. Nothing is appended if
// some of it can be read: that has been written, or would be read as what it was not.
func appendUnknown(dst, text []byte) []byte {
	for len(text) > 0 && (text[len(text)-1] <= ' ' || text[len(text)-1] == '\\') {
		text = text[:len(text)-1]
	}
	if len(text) == 0 {
		return dst
	}
	for _, r := range reading.Decode(text) {
		if r.Kind != itrace.Unknown {
			return dst
		}
	}
	return append(append(dst, text...), '\n')
}

// writes reports whether there is an element for a record.
func writes(r *itrace.Record) bool {
	switch r.Kind {
	case itrace.Register:
		if r.Part || len(r.Digits) == 0 {
			return false
		}
		if r.System {
			_, known := systemNumber(r)
			return known
		}
		_, known := riscv.Number(r.Name)
		return known
	case itrace.Event:
		return r.Event == itrace.OtherEvent && len(r.Digits) > 0 && len(r.Name) > 0 && isName(r.Name)
	case itrace.RegisterRead:
		return false
	}
	return true
}

// systemNumber is the number of a control and status register, by its name if the record does not tell it.
func systemNumber(r *itrace.Record) (uint16, bool) {
	if r.Numbered {
		return r.Number, riscv.SystemName(uint64(r.Number)) != nil
	}
	return riscv.SystemNumber(r.Name)
}

// isName reports whether a text can stand between quotation marks.
func isName(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c == '"' || c == '\'' || c == '\\' {
			return false
		}
	}
	return true
}

func appendName(dst, name []byte) []byte {
	if bytes.IndexByte(name, ' ') < 0 {
		return append(dst, name...)
	}
	return append(append(append(dst, '"'), name...), '"')
}

// appendInstruction appends ORDER, RET or TRAP, the disassembly, the mode and the fetch.
func appendInstruction(dst []byte, i *itrace.Record) []byte {
	if i.ID > 0 {
		dst = strconv.AppendUint(append(dst, " ORDER "...), i.ID, 10)
	}
	word := " RET 0x"
	if i.Trapped {
		word = " TRAP 0x"
	}
	dst = append(append(append(append(dst, word...), i.AddrDigits...), " 0x"...), opcode(i)...)
	if len(i.Disasm) > 0 && isComment(i.Disasm) {
		dst = append(append(append(dst, " '"...), i.Disasm...), '\'')
	}
	dst = appendMode(dst, i.Mode)
	if i.HasPhys {
		size := uint64(2)
		if i.Value&3 == 3 {
			size = 4
		}
		dst = appendAccess(dst, 'I', size, i)
	}
	return dst
}

// isComment reports whether a text can stand between apostrophes.
func isComment(text []byte) bool {
	for _, c := range text {
		if c == '\'' || c < ' ' && c != '\t' {
			return false
		}
	}
	return true
}

// opcode is the digits of an opcode: 4 of a compressed instruction, and a zero where it is not told.
func opcode(i *itrace.Record) []byte {
	const short = 4
	switch {
	case len(i.Digits) == 0:
		return []byte{'0'}
	case !i.Wild && i.Value&3 != 3 && len(i.Digits) > short:
		return i.Digits[len(i.Digits)-short:]
	}
	return i.Digits
}

// appendMode appends what tells a mode, if it is one of RISC-V.
func appendMode(dst, mode []byte) []byte {
	if bytes.Equal(mode, inDebug) {
		return append(dst, " DM 0x1"...)
	}
	virtual := ""
	for privilege := range inVirtual {
		if bytes.Equal(mode, inVirtual[privilege]) {
			mode, virtual = riscv.Mode(byte(privilege)), " VIRT 1"
		}
	}
	n := riscv.ModeNumber(mode)
	if !bytes.Equal(riscv.Mode(n), mode) {
		return dst
	}
	return append(strconv.AppendInt(append(dst, " MODE 0x"...), int64(n), 16), virtual...)
}

func appendRegister(dst []byte, r *itrace.Record) []byte {
	if r.System {
		n, _ := systemNumber(r)
		dst = strconv.AppendUint(append(dst, " C 0x"...), uint64(n), 16)
	} else {
		n, _ := riscv.Number(r.Name)
		dst = append(dst, ' ', n.Class&^0x20, ' ')
		dst = strconv.AppendUint(dst, uint64(n.Number), 10)
	}
	return append(append(dst, " 0x"...), r.Digits...)
}

// appendAccess appends a MEM. An address is both virtual and physical unless the record tells that as well.
func appendAccess(dst []byte, kind byte, size uint64, r *itrace.Record) []byte {
	dst = append(append(dst, " MEM "...), kind, ' ')
	dst = append(append(strconv.AppendUint(dst, size, 10), " 0x"...), r.AddrDigits...)
	physical := r.Addr
	if r.HasPhys {
		physical = r.Phys
	}
	return append(strconv.AppendUint(append(dst, " 0x"...), physical, 16), " 0"...)
}
