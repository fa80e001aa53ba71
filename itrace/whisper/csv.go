package whisper

import (
	"bytes"
	"math"

	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
	"tracewell/itrace/internal/scan"
)

const header = "pc, inst, modified regs"

// The columns of CSV.
const (
	inPC = iota
	inOpcode
	inRegisters
	inSources
	inMemory
	inClass
	inPrivilege
	inTrap
	inText
	inHart
	columns
	fewestColumns = inText + 1 // old versions have no hart
)

// modes are the words for privilege.
var modes = struct{ m, s, u, d, vs, vu []byte }{
	[]byte("M"), []byte("S"), []byte("U"), []byte("D"), []byte("VS"), []byte("VU"),
}

// modeOf is the word for a privilege by that of CSV, nil for any other.
func modeOf(word []byte) []byte {
	switch string(word) {
	case "m":
		return modes.m
	case "s":
		return modes.s
	case "u":
		return modes.u
	case "d":
		return modes.d
	case "vs":
		return modes.vs
	case "vu":
		return modes.vu
	}
	return nil
}

// row reads a row of CSV.
func row(b *itrace.Batch, line []byte) *itrace.SyntaxError {
	var f [columns][]byte
	n := 0
	for at := 0; n < columns && at <= len(line); n++ {
		end := scan.FieldEnd(line, at, ',')
		f[n] = line[at:end]
		at = end + 1
	}
	pcDigits, pa, hasPA := scan.Cut(f[inPC], ':')
	pc, ok := scan.ParseHex(pcDigits)
	phys, physOK := scan.ParseHex(pa)
	opcode, opcodeOK := scan.ParseHex(f[inOpcode])
	hart, hartOK := scan.ParseHex(f[inHart])
	switch {
	case !ok || hasPA && !physOK:
		return itrace.Mismatch(line, 0, `"#" and a number, or an address in hexadecimal and a comma`)
	case !opcodeOK:
		return mismatch(line, f[inOpcode], "an opcode in hexadecimal and a comma")
	case n < fewestColumns:
		return itrace.Mismatch(line, len(line), "a comma, and columns up to the disassembly")
	case len(f[inHart]) > 0 && (!hartOK || hart > math.MaxInt32):
		return mismatch(line, f[inHart], "the number of a hart in hexadecimal")
	}
	cpu := int32(hart)
	cause := f[inTrap]
	if isInterrupt(cause) {
		interrupt(b, cpu, pc, pcDigits, cause)
		return nil
	}
	i := b.Add(itrace.Instruction)
	i.CPU, i.Addr, i.AddrDigits, i.Phys, i.HasPhys, i.Value, i.Digits = cpu, pc, pcDigits, phys, hasPA, opcode, f[inOpcode]
	i.Disasm, i.Mode, i.Trapped = f[inText], modeOf(f[inPrivilege]), len(cause) > 0
	i.Scope = tells
	if len(i.Mode) == 0 {
		i.Scope |= itrace.NoMode
	}
	if i.Trapped || bytes.Contains(f[inRegisters], []byte("ff=")) { // of flags only what was set is told
		i.Scope |= itrace.NoSystem
	}
	if i.Trapped {
		exception(b, cpu, pc, pcDigits, cause)
	}
	if problem := registers(b, line, f[inRegisters], cpu); problem != nil {
		return problem
	}
	if len(cause) > 0 {
		return nil
	}
	return accesses(b, line, f[inMemory], cpu, opcode, accessSize(opcode, f[inText]))
}

// isInterrupt reports whether the highest bit of a cause is set.
func isInterrupt(cause []byte) bool {
	const narrow, wide = 8, 16 // digits
	return (len(cause) == narrow || len(cause) == wide) && cause[0] >= '8'
}

// mismatch points at a part of a line.
func mismatch(line, part []byte, expected string) *itrace.SyntaxError {
	return itrace.Mismatch(line, cap(line)-cap(part), expected)
}

// registers reads "x5=1000;c768=1800".
func registers(b *itrace.Batch, line, field []byte, cpu int32) *itrace.SyntaxError {
	for len(field) > 0 {
		one, after, _ := scan.Cut(field, ';')
		name, digits, _ := scan.Cut(one, '=')
		value, wild, ok := scan.ParseDigits(digits)
		if !ok || wild {
			return mismatch(line, field, `a register, "=" and a value in hexadecimal`)
		}
		n, known := riscv.Number(name)
		switch {
		case known:
			x := b.Add(itrace.Register)
			x.CPU, x.Name, x.Value, x.Digits = cpu, name, value, digits
			x.Zero = n == riscv.Register{Class: 'x'}
		case string(name) == "ff" || string(name) == "pc":
		default:
			number, isNumber := itrace.ParseDecimal(bytes.TrimPrefix(name, []byte{'c'}))
			if name == nil || !isNumber || name[0] != 'c' {
				return mismatch(line, field, `a register, "=" and a value in hexadecimal`)
			}
			system(b, cpu, number, value, digits)
		}
		field = after
	}
	return nil
}

// accesses reads "80001000:81001000=7".
func accesses(b *itrace.Batch, line, field []byte, cpu int32, opcode uint64, size uint32) *itrace.SyntaxError {
	atomic := riscv.IsAtomic(opcode)
	for len(field) > 0 {
		one, after, _ := scan.Cut(field, ';')
		where, digits, store := scan.Cut(one, '=')
		va, pa, hasPA := scan.Cut(bytes.TrimSuffix(where, []byte{'m'}), ':')
		addr, ok := scan.ParseHex(va)
		phys, physOK := scan.ParseHex(pa)
		value, wild, dataOK := scan.ParseDigits(digits)
		if !ok || hasPA && !physOK || store && (!dataOK || wild) {
			return mismatch(line, field, `an address in hexadecimal, and behind "=" data`)
		}
		if masked := bytes.HasSuffix(where, []byte{'m'}); !masked {
			if store && atomic {
				access(b, cpu, size, addr, va, phys, hasPA)
			}
			m := access(b, cpu, size, addr, va, phys, hasPA)
			m.Write, m.Value, m.Digits = store, value, digits
		}
		field = after
	}
	return nil
}

func access(b *itrace.Batch, cpu int32, size uint32, addr uint64, digits []byte, phys uint64, hasPA bool) *itrace.Record {
	m := b.Add(itrace.Memory)
	m.CPU, m.Addr, m.AddrDigits, m.Phys, m.HasPhys, m.Size = cpu, addr, digits, phys, hasPA, size
	return m
}
