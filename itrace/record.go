package itrace

import (
	"bytes"
	"fmt"
	"slices"
)

// Kind says what a Record tells of.
type Kind uint8

// The kinds of record.
const (
	Unknown     Kind = iota // nothing that the dialect knows
	Instruction             // an instruction was executed, or skipped because its condition did not hold
	Memory                  // memory was read or written
	Register                // a register was written
)

// String gives the kind as one word.
func (k Kind) String() string { return [...]string{"unknown", "instruction", "memory", "register"}[k] }

// Record is one line of a trace, or one of several that a line is (see More). Which fields mean something follows from the kind;
// the others may hold anything. Bytes are as they stand in the line and views of it: digits in their case and width, words as
// written.
type Record struct {
	Kind   Kind
	Line   int64  // counted from 1
	Offset int64  // of the line in the input, in bytes
	Text   []byte // the line without its end; of one longer than Reader.MaxLine its beginning
	More   bool   // the next record is of the same line

	Time  uint64
	Scale []byte // of Time: clk, ns, …; empty if the line has none
	CPU   int32  // which processor; that of the latest instruction where a line does not say

	Addr       uint64 // Instruction: the pc. Memory: of the first byte
	AddrDigits []byte

	// Digits of what was executed, accessed or written, the most significant first: the opcode, the data or the value. Other
	// characters than hexadecimal digits stand for digits that the writer did not know (see Wild).
	Digits []byte
	Value  uint64 // of Digits, those that are not known as 0; of more than 16 significant ones the last 16
	Wild   bool   // some of Digits are not known

	Skipped  bool   // Instruction: its condition did not hold
	ID       uint64 // Instruction: number that the writer gave it
	State    byte   // Instruction: of the instruction set, as A, T or X; 0 if not told
	Mode     []byte // Instruction: of the processor, such as svc
	Security []byte // Instruction: ns or s; empty if not told
	Disasm   []byte // Instruction: the instruction in words

	Write     bool   // Memory: written, not read
	Size      uint32 // Memory: bytes accessed, as the line says
	Privilege byte   // Memory: a letter behind the size, in the dialect's meaning; 0 for none

	Name []byte // Register: as written

	Problem *SyntaxError // Unknown: why
}

// Clone returns a record that stays valid.
func (r *Record) Clone() Record {
	c := *r
	for _, field := range []*[]byte{
		&c.Text, &c.Scale, &c.AddrDigits, &c.Digits, &c.Mode, &c.Security, &c.Disasm, &c.Name,
	} {
		*field = slices.Clone(*field)
	}
	return c
}

// SyntaxError says what is wrong with a line.
type SyntaxError struct {
	Column   int // of the first byte that is not as expected, counted from 1
	Found    string
	Expected string
}

// Error gives column, what was found and what was expected.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("column %d: found %s, expected %s", e.Column, e.Found, e.Expected)
}

// foundBytes is how much of a line a SyntaxError quotes.
const foundBytes = 20

// Mismatch returns an error that points at text[at:], of which it quotes the first word.
func Mismatch(text []byte, at int, expected string) *SyntaxError {
	at = min(at, len(text))
	rest := text[at:]
	if len(rest) == 0 {
		return &SyntaxError{at + 1, "the end of the line", expected}
	}
	if end := bytes.IndexByte(rest[1:], ' '); end >= 0 {
		rest = rest[:end+1]
	}
	return &SyntaxError{at + 1, quoted(rest), expected}
}

// quoted is what messages show of a text.
func quoted(text []byte) string {
	if len(text) > foundBytes {
		return fmt.Sprintf("%q…", text[:foundBytes])
	}
	return fmt.Sprintf("%q", text)
}
