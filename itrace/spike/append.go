package spike

import (
	"bytes"
	"strconv"

	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
)

// Append appends an instruction with its effects as a line of -l, if there is a disassembly, and a commit line, unless it had an
// exception or its line cannot be read. Effects are in Spike's order: registers, loads, stores. What Spike's log has no words for
// is left out: reads of registers, data of loads, registers of other processors.
func Append(dst []byte, records []itrace.Record) []byte {
	if len(records) == 0 {
		return dst
	}
	i := &records[0]
	committed := i.Kind == itrace.Instruction && !i.Trapped && !isUnread(records)
	if i.Kind == itrace.Instruction {
		dst = appendInstruction(dst, i, committed)
	}
	if committed {
		for _, wanted := range [...]func(*itrace.Record) bool{isRegister, isLoad, isStore} {
			for k := range records[1:] {
				if r := &records[1+k]; wanted(r) && writes(r) {
					dst = appendEffect(dst, r)
				}
			}
		}
		dst = append(dst, '\n')
	}
	for k := range records {
		switch r := &records[k]; r.Kind {
		case itrace.Event:
			dst = appendEvent(dst, r)
		case itrace.Unknown:
			dst = append(append(dst, r.Text...), '\n')
		}
	}
	return dst
}

// isUnread reports whether the commit line of an instruction is among the records as one that cannot be read to its end: it is
// written as it stands.
func isUnread(records []itrace.Record) bool {
	i := &records[0]
	for k := range records {
		r := &records[k]
		if r.Kind != itrace.Unknown {
			continue
		}
		_, rest, found := bytes.Cut(r.Text, i.AddrDigits)
		if rest, ok := bytes.CutPrefix(rest, []byte(" (0x")); found && ok && bytes.HasPrefix(rest, i.Digits) {
			return true
		}
	}
	return false
}

func isRegister(r *itrace.Record) bool { return r.Kind == itrace.Register }
func isLoad(r *itrace.Record) bool     { return r.Kind == itrace.Memory && !r.Write }
func isStore(r *itrace.Record) bool    { return r.Kind == itrace.Memory && r.Write }

// writes reports whether the log has words for a record.
func writes(r *itrace.Record) bool {
	switch r.Kind {
	case itrace.Register:
		_, known := riscv.Number(r.Name)
		return !r.Part && !r.Wild && len(r.Digits) > 0 && (known && !r.Zero || r.System && r.Numbered)
	case itrace.Memory:
		return !r.Write || len(r.Digits) > 0 && !r.Wild
	case itrace.Event:
		return r.Event == itrace.Exception || r.Event == itrace.Interrupt
	case itrace.RegisterRead:
		return false
	}
	return true
}

// appendHart appends "core   0: ".
func appendHart(dst []byte, hart int32) []byte {
	const width = 4
	number := strconv.AppendInt(nil, int64(hart), 10)
	dst = append(dst, core...)
	for range width - len(number) {
		dst = append(dst, ' ')
	}
	return append(append(dst, number...), ": "...)
}

// appendPadded appends digits with zeros before them, in lower case.
func appendPadded(dst, digits []byte, width int) []byte {
	for range width - len(digits) {
		dst = append(dst, '0')
	}
	start := len(dst)
	dst = append(dst, digits...)
	for i, c := range dst[start:] {
		if c >= 'A' && c <= 'F' {
			dst[start+i] = c | 0x20
		}
	}
	return dst
}

// appendInstruction appends the line of -l, if there is a disassembly or an exception, and of the commit line what is in front of
// effects.
func appendInstruction(dst []byte, i *itrace.Record, committed bool) []byte {
	const stepOpcode = 8
	if len(i.Disasm) > 0 || i.Trapped {
		dst = append(appendHart(dst, i.CPU), "0x"...)
		dst = append(appendPadded(dst, i.AddrDigits, 0), " (0x"...)
		dst = append(appendPadded(dst, i.Digits, stepOpcode), ") "...)
		dst = append(append(dst, i.Disasm...), '\n')
	}
	if !committed {
		return dst
	}
	dst = append(appendHart(dst, i.CPU), '0'+riscv.ModeNumber(i.Mode), ' ', '0', 'x')
	dst = append(appendPadded(dst, i.AddrDigits, 0), " (0x"...)
	return append(appendPadded(dst, opcode(i), 0), ')')
}

// opcode is the digits of an opcode as a commit line has them: 4 of a compressed instruction, unless they say more.
func opcode(i *itrace.Record) []byte {
	const short, long = 4, 8
	switch {
	case i.Wild || len(i.Digits) == 0:
		return []byte("0")
	case i.Value&3 != 3 && len(i.Digits) > short && itrace.DigitsFit(i.Digits, short/2):
		return i.Digits[len(i.Digits)-short:]
	case i.Value&3 == 3 && len(i.Digits) < long:
		return append(bytes.Repeat([]byte{'0'}, long-len(i.Digits)), i.Digits...)
	}
	return i.Digits
}

// nameWidth is that of the longest name of a register, to which the others are padded.
const nameWidth = 3

func appendEffect(dst []byte, r *itrace.Record) []byte {
	dst = append(dst, ' ')
	if r.Kind == itrace.Memory {
		dst = appendPadded(append(dst, memory...), r.AddrDigits, 0)
		if !r.Write {
			return dst
		}
		return appendPadded(append(dst, " 0x"...), r.Digits, 2*int(r.Size))
	}
	if r.System {
		dst = strconv.AppendUint(append(dst, 'c'), uint64(r.Number), 10)
		dst = append(append(dst, '_'), r.Name...)
	} else {
		n, _ := riscv.Number(r.Name)
		if r.Shaped {
			dst = append(append(dst, r.Mode...), ' ')
		}
		start := len(dst)
		dst = strconv.AppendUint(append(dst, n.Class), uint64(n.Number), 10)
		for len(dst)-start < nameWidth {
			dst = append(dst, ' ')
		}
	}
	return appendPadded(append(dst, " 0x"...), r.Digits, 0)
}

func appendEvent(dst []byte, r *itrace.Record) []byte {
	if !writes(r) {
		return dst
	}
	dst = append(append(appendHart(dst, r.CPU), exception...), r.Name...)
	dst = append(appendPadded(append(dst, epc...), r.AddrDigits, 1), '\n')
	if len(r.Detail) > 0 {
		dst = append(appendHart(dst, r.CPU), "          tval 0x"...)
		dst = append(appendPadded(dst, r.Detail, 0), '\n')
	}
	return dst
}
