package itrace

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
)

// Kind says what a Record tells of.
type Kind uint8

// The kinds of record.
const (
	Unknown      Kind = iota // nothing that the dialect knows
	Instruction              // an instruction was executed, or skipped because its condition did not hold
	Memory                   // memory was read or written
	Register                 // a register was written
	RegisterRead             // a register was read
	Event                    // an exception, an interrupt, a change of privilege, a reset
	Remark                   // understood, and of no meaning for what was executed: a header, a comment, the name of a function
)

// String gives the kind as one word.
func (k Kind) String() string {
	return [...]string{"unknown", "instruction", "memory", "register", "register read", "event", "remark"}[k]
}

// Record is one thing that a trace tells. Which fields mean something follows from the kind; the others may hold anything, but for
// those of Extra, which are zero where nothing is told. Bytes are as they stand in the trace and views of it: digits in their
// case and width, words as written.
//
// Effects (Memory, Register, RegisterRead) follow their instruction, whatever the order of lines: a decoder whose producer writes
// them in front of it waits for the instruction. Effects that come later than other instructions say so by Back.
type Record struct {
	Kind   Kind
	Line   int64  // counted from 1
	Offset int64  // of the line in the input, in bytes
	Text   []byte // the line without its end; of one longer than Reader.MaxLine its beginning. Of several lines the one that tells it

	Time  uint64 // since the beginning of the trace, also where the producer writes differences
	Scale []byte // of Time: clk, ns, …; empty if the line has none
	CPU   int32  // which processor; that of the latest instruction where a line does not say

	Addr       uint64 // Instruction: the pc. Memory: of the first byte
	AddrDigits []byte // Event: of the instruction that it came before or of, empty if not told

	// Digits of what was executed, accessed or written, the most significant first: the opcode, the data or the value. Other
	// characters than hexadecimal digits stand for digits that the writer did not know (see Wild). Empty if not told.
	Digits []byte
	Value  uint64 // of Digits, those that are not known as 0; of more than 16 significant ones the last 16
	Wild   bool   // some of Digits are not known

	Skipped  bool   // Instruction: its condition did not hold
	ID       uint64 // Instruction: number that the writer gave it
	State    byte   // Instruction: of the instruction set, as A, T or X; 0 if not told
	Mode     []byte // Instruction: of the processor, such as svc. Event: the mode from here on. Register: of a vector, if Shaped
	Security []byte // Instruction: ns or s. Memory: of the physical address, if Placed. Empty if not told
	Disasm   []byte // Instruction: the instruction in words

	Write     bool   // Memory: written, not read
	Size      uint32 // Memory: bytes accessed, as the line says; 0 if not told
	Privilege byte   // Memory: a letter behind the size, in the dialect's meaning; 0 for none

	// Name is as written: of a register; of the cause of an event; of the device that memory is in, if Placed.
	Name []byte

	Problem *SyntaxError // Unknown: why

	Extra
}

// Extra is what few dialects tell. Its zero value says nothing.
type Extra struct {
	Scope   Scope  // Instruction: what the trace tells of it
	Back    uint32 // effects: of the instruction so many of the processor before the latest
	Cycle   uint64 // counted by the processor, where Time is something else
	Phys    uint64 // Instruction, Memory: the physical address, if HasPhys
	HasPhys bool
	Trapped bool // Instruction: it began and had an exception, so that it was not completed
	System  bool // Register, RegisterRead: of control and status, not of those that programs compute in
	Zero    bool // Register: it reads as zero whatever is written
	// Number is that of a control and status register, if Numbered.
	Numbered bool
	Number   uint16
	Shaped   bool // Register: Mode tells the shape of a vector
	Placed   bool // Memory: Name, Security or both are told
	// High and Low are the bits of a register that are told where Part says that it is not all of it.
	Part      bool
	High, Low uint16

	Event  EventKind
	Detail []byte // Event: digits of a further value, such as the address of a fault
}

// EventKind is a kind of event.
type EventKind uint8

// The kinds of event.
const (
	OtherEvent EventKind = iota
	Exception            // of an instruction, or asked for by it
	Interrupt            // from outside
	ModeChange           // of privilege
	Reset
)

// String gives the kind as one word.
func (k EventKind) String() string {
	return [...]string{"other", "exception", "interrupt", "mode", "reset"}[k]
}

// Scope says what a trace tells of an instruction, by how that departs from what is usual: opcode, mode, all writes of registers,
// and all accesses to memory with their data. What is told of one instruction may not be of the next: a log can be told to begin
// with something at any time.
type Scope uint16

// What may not be told, and what may be told besides.
const (
	NoOpcode     Scope  = 1 << iota
	NoMode              // neither mode nor state
	NoRegisters         // writes of registers
	NoSystem            // of those of control and status
	NoLoads             // reads of memory
	NoLoaded            // their addresses alone
	NoStores            // writes of memory
	NoStored            // their addresses alone
	OnlyChanges         // of writes of registers those of the value that was there already are not told
	TellsReads          // of registers
	TellsEvents         // exceptions, interrupts and the like
	TellsTrapped        // an instruction that had an exception is a record, and marked
	Gaps                // instructions may have been executed behind this one that the trace lacks
	scopeBits    = iota // how many there are

	lacking = TellsReads - 1 // those that say that less is told

	// FlowOnly is the scope of a trace of addresses and nothing else.
	FlowOnly = NoOpcode | NoMode | NoEffects
	// NoEffects is that of one that tells no effects.
	NoEffects = NoRegisters | NoSystem | NoLoads | NoLoaded | NoStores | NoStored
)

// Common is what two traces both tell.
func (s Scope) Common(o Scope) Scope { return (s|o)&lacking | s&o&^lacking }

// Lacks reports whether a trace does not tell some of what the flags are about.
func (s Scope) Lacks(flags Scope) bool { return (s&lacking|^s&^lacking)&flags != 0 }

// scopeNames are the words for what is told, lowest bit first.
var scopeNames = [scopeBits]string{"opcode", "mode", "registers", "system", "loads", "load-data", "stores", "store-data",
	"all-writes", "reads", "events", "trapped", "gaps"}

// Names lists in words what is told, in a fixed order.
func (s Scope) Names() (names []string) {
	for i, name := range scopeNames {
		if bit := Scope(1 << i); (s&bit != 0) == (bit&lacking == 0) {
			names = append(names, name)
		}
	}
	return names
}

// ScopeOf is the scope whose Names are these words.
func ScopeOf(names []string) (s Scope, ok bool) {
	s = lacking
	for _, name := range names {
		i := slices.Index(scopeNames[:], name)
		if i < 0 {
			return 0, false
		}
		s ^= 1 << i
	}
	return s, true
}

// AppendName appends the name of a register, with the bits that are told where these are not all of it: V0<127:64>.
func (r *Record) AppendName(dst []byte) []byte {
	dst = append(dst, r.Name...)
	if !r.Part {
		return dst
	}
	dst = strconv.AppendUint(append(dst, '<'), uint64(r.High), 10)
	dst = strconv.AppendUint(append(dst, ':'), uint64(r.Low), 10)
	return append(dst, '>')
}

// Clone returns a record that stays valid.
func (r *Record) Clone() Record {
	c := *r
	for _, field := range []*[]byte{
		&c.Text, &c.Scale, &c.AddrDigits, &c.Digits, &c.Mode, &c.Security, &c.Disasm, &c.Name, &c.Detail,
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
