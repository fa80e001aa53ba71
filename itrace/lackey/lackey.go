// Package lackey is what Valgrind's tool lackey writes with --trace-mem=yes, of whatever processor Valgrind runs on, a line for
// each instruction and for each access to memory behind it:
//
//	"I  " ADDR "," SIZE | " L " ADDR "," SIZE | " S " ADDR "," SIZE | " M " ADDR "," SIZE
//
//	I  00401010,5
//	 S 00402248,8
//
// ADDR is hexadecimal in lower case, eight digits or more, and SIZE decimal, in bytes: of the instruction, or of the access. L is a
// load, S a store, and M both, one behind the other, at the same place. Neither opcodes nor data are told, nor are registers.
// Whether accesses are told is known, since the option asks for both.
//
// What Valgrind says of itself, and the program's output if it goes to the same place, stand between: lines that begin with "==" or
// "--" and the number of a process, or with "###", are remarks. All threads of the program are one processor, as Valgrind runs one
// at a time and does not say which.
package lackey

import (
	"bytes"
	"math"

	"tracewell/itrace"
	"tracewell/itrace/internal/scan"
)

// Dialect is the dialect of lackey.
var Dialect = &itrace.Dialect{
	Name:  "lackey",
	Title: "Valgrind's lackey",
	New:   func(itrace.Settings) itrace.Decoder { return itrace.EachLine(reader{}) },
	Why:   func([]byte) string { return "lines of I, L, S or M with an address and a size" },
}

// scope is what lackey tells of every instruction.
const scope = itrace.NoOpcode | itrace.NoMode | itrace.NoRegisters | itrace.NoSystem | itrace.NoLoaded | itrace.NoStored

// reader reads lines, none of which depends on another.
type reader struct{ itrace.Stateless }

// Line implements itrace.LineReader.
func (reader) Line(b *itrace.Batch, line []byte) *itrace.SyntaxError {
	if isRemark(line) {
		b.Add(itrace.Remark)
		return nil
	}
	l := scan.Line{Text: line}
	letter := byte('I')
	if !l.Accept("I  ") {
		l.Expect(" ", "I, L, S or M in its column")
		if letter = l.Peek(); letter != 'L' && letter != 'S' && letter != 'M' {
			l.Fail(l.At, "L, S or M")
		}
		l.At++
		l.Expect(" ", "a blank")
	}
	addr, digits := l.Address("", "an address")
	l.Expect(",", "a comma and a size")
	start := l.At
	size := l.Decimal("a size in bytes")
	if size > math.MaxUint32 {
		l.Fail(start, "a size in bytes")
	}
	if !l.Done() {
		l.Fail(l.At, "the end of the line")
	}
	if l.Problem != nil {
		return l.Problem
	}
	if letter == 'I' {
		r := b.Add(itrace.Instruction)
		r.Addr, r.AddrDigits, r.Scope = addr, digits, scope
		return nil
	}
	if letter != 'S' {
		access(b, addr, digits, uint32(size), false)
	}
	if letter != 'L' {
		access(b, addr, digits, uint32(size), true)
	}
	return nil
}

// access adds an access to memory.
func access(b *itrace.Batch, addr uint64, digits []byte, size uint32, write bool) {
	m := b.Add(itrace.Memory)
	m.Addr, m.AddrDigits, m.Size, m.Write = addr, digits, size, write
}

// isRemark reports whether a line begins as "==16025==" or "--16025--", which Valgrind puts in front of what it says, or as what
// its reader of debugging information says.
func isRemark(line []byte) bool {
	if bytes.HasPrefix(line, []byte("### ")) {
		return true
	}
	if len(line) < 5 || line[0] != '=' && line[0] != '-' || line[1] != line[0] {
		return false
	}
	at := 2
	for at < len(line) && line[at]-'0' <= 9 {
		at++
	}
	return at > 2 && at+1 < len(line) && line[at] == line[0] && line[at+1] == line[0]
}
