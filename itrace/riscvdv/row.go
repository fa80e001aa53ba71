package riscvdv

import (
	"bytes"

	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
	"tracewell/itrace/internal/scan"
)

// fields are those of a line, without quotation marks.
type fields [mostColumns][]byte

// row is what a row tells.
type row struct {
	known      bool // it could be read
	pc, opcode uint64
	pcDigits   []byte
	digits     []byte // of the opcode
	mode       []byte
	text       []byte // of the disassembly
	registers  []byte // NAME:HEX;…
	register   []byte // of one of which name and value have columns of their own
	value      []byte
	system     []byte
}

// row reads a row up to what the instruction wrote. One that has not the columns of the header may have the usual ones, where
// files of several ages have been joined.
func (d *decoder) row(line []byte, r *row) *itrace.SyntaxError {
	f := &d.fields
	r.known = false
	n, problem := split(line, f)
	if problem != nil {
		return problem
	}
	if problem = r.read(line, f, d.columns[:min(n, len(d.columns))]); problem != nil {
		if r.read(line, f, usual[:min(n, len(usual))]) == nil {
			return nil
		}
	}
	return problem
}

// read reads a row by what the columns are.
func (r *row) read(line []byte, f *fields, columns []column) *itrace.SyntaxError {
	*r = row{}
	for i, c := range columns {
		field := f[i]
		ok := true
		switch c {
		case isPC:
			r.pc, ok = scan.ParseHex(field)
			r.pcDigits = field
		case isBinary:
			r.opcode, ok = scan.ParseHex(field)
			r.digits = field
		case isRegisters:
			r.registers = field
		case isRegister:
			r.register = field
		case isValue:
			r.value = field
		case isSystem:
			r.system = field
		case isText:
			r.text = field
		case isMode:
			if r.mode = field; len(field) == 1 && riscv.Mode(field[0]-'0') != nil {
				r.mode = riscv.Mode(field[0] - '0')
			}
			ok = len(field) == 0 || isWord(field)
		}
		if !ok {
			return mismatch(line, field, expected[c])
		}
	}
	if len(r.pcDigits) == 0 || len(r.digits) == 0 {
		return itrace.Mismatch(line, len(line), "a comma, and columns for the address and the opcode")
	}
	r.known = true
	return nil
}

// expected is what a column has to hold.
var expected = [...]string{isPC: "an address in hexadecimal", isBinary: "an opcode in hexadecimal", isMode: "a mode"}

// isWord reports whether there is something, and no blank in it.
func isWord(field []byte) bool { return len(field) > 0 && itrace.WordEnd(field, 0) == len(field) }

// split finds the fields of a line, and says how many there are.
func split(line []byte, f *fields) (n int, problem *itrace.SyntaxError) {
	for at := 0; n < mostColumns; n++ {
		if at < len(line) && line[at] == '"' {
			end := bytes.IndexByte(line[at+1:], '"')
			if end < 0 {
				return 0, itrace.Mismatch(line, at, "a field that ends with a quotation mark")
			}
			f[n] = line[at+1 : at+1+end]
			if at += end + 2; at < len(line) && line[at] != ',' {
				return 0, itrace.Mismatch(line, at, "a comma or the end of the line")
			}
		} else {
			end := scan.FieldEnd(line, at, ',')
			f[n] = line[at:end]
			at = end
		}
		if at == len(line) {
			return n + 1, nil
		}
		at++
	}
	return n, nil
}

// The opcodes of instructions that may lead elsewhere than to the next.
const (
	opBranch = 0x63
	opJALR   = 0x67
	opJAL    = 0x6f
	opSystem = 0x73
)

// writesNothing reports whether a row is of an instruction that wrote no register, and for which there would be no row if there
// were rows only of those that do.
func (r *row) writesNothing() bool {
	return len(r.registers) == 0 && len(r.register) == 0 && r.opcode&0x7f != opSystem
}

// lacks reports whether instructions are missing between a row and one of an address. Where rows are of all instructions none are:
// what is at another address then is the handler of an exception or interrupt.
func (r *row) lacks(next uint64, full bool) bool {
	if !r.known || full {
		return false
	}
	length := uint64(4)
	if r.opcode&3 != 3 {
		length = 2
	}
	if next == r.pc+length {
		return false
	}
	if length == 2 {
		return !r.jumpsCompressed()
	}
	switch r.opcode & 0x7f {
	case opBranch, opJALR, opSystem:
		return false
	case opJAL:
		return next != r.pc+jumpOffset(r.opcode)
	}
	return true
}

// jumpsCompressed reports whether an instruction of 16 bits may lead elsewhere: c.j, c.jal of 32 bits, c.beqz and c.bnez in the
// second quadrant, c.jr, c.jalr and c.ebreak in the third.
func (r *row) jumpsCompressed() bool {
	const link, jump, branchZero, branchNotZero, register = 1, 5, 6, 7, 4
	funct3 := r.opcode >> 13 & 7
	switch r.opcode & 3 {
	case 1:
		return funct3 == link && len(r.pcDigits) <= 8 || funct3 == jump || funct3 == branchZero || funct3 == branchNotZero
	case 2:
		return funct3 == register && r.opcode>>2&0x1f == 0
	}
	return false
}

// jumpOffset is how far a jal leads, as a number that wraps.
func jumpOffset(opcode uint64) uint64 {
	offset := opcode>>21&0x3ff<<1 | opcode>>20&1<<11 | opcode>>12&0xff<<12
	if opcode>>31&1 != 0 {
		offset -= 1 << 20
	}
	return offset
}
