package generate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Fault is something that is not as the program has it.
type Fault struct {
	Kind FaultKind
	// At is the instruction, counted from 0 over the instructions of the processor, at which it is planted, or before which.
	// One that the fault cannot befall, as a wrong register value one that writes none, is passed over for the next.
	At  int64
	CPU int32
	N   int // how much of it, for some kinds; 0 for what is usual
}

// FaultKind is a kind of fault.
type FaultKind string

// The kinds of fault.
const (
	FaultValue     FaultKind = "value"     // a register record with a wrong value; the processor is right
	FaultState     FaultKind = "state"     // a register that gets a wrong value, with which the processor goes on
	FaultStore     FaultKind = "store"     // a store's record with wrong data
	FaultAddress   FaultKind = "address"   // a store's record with a wrong address
	FaultOpcode    FaultKind = "opcode"    // an instruction record with a wrong opcode
	FaultMode      FaultKind = "mode"      // an instruction record with another mode
	FaultSkipped   FaultKind = "skipped"   // IS in place of IT
	FaultDrop      FaultKind = "drop"      // N instructions, one as a rule, without any records
	FaultInsert    FaultKind = "insert"    // N instructions, one as a rule, that the program does not have
	FaultLate      FaultKind = "late"      // the effects of an instruction behind the next N instructions, 2 as a rule
	FaultReorder   FaultKind = "reorder"   // the effects of an instruction in the opposite order, in their place
	FaultInterrupt FaultKind = "interrupt" // a handler that runs before it
	FaultPoll      FaultKind = "poll"      // a device that is busy N times longer, 3 as a rule
	FaultTruncate  FaultKind = "truncate"  // the trace ends before it
	FaultGarbage   FaultKind = "garbage"   // a line before it that is no record
)

// FaultKinds returns all kinds with what they do.
func FaultKinds() (kinds []FaultKind, texts []string) {
	for _, k := range kindTable {
		kinds, texts = append(kinds, k.name), append(texts, k.text)
	}
	return kinds, texts
}

// kind returns what there is to know of the fault's kind, nil if there is no such one.
func (f Fault) kind() *faultKind {
	i := slices.IndexFunc(kindTable, func(k faultKind) bool { return k.name == f.Kind })
	if i < 0 {
		return nil
	}
	return &kindTable[i]
}

// UnmarshalText implements encoding.TextUnmarshaler for KIND@INSTRUCTION[.CPU][:N].
func (f *Fault) UnmarshalText(text []byte) error {
	kind, rest, ok := strings.Cut(string(text), "@")
	place, count, counted := strings.Cut(rest, ":")
	at, cpu, several := strings.Cut(place, ".")
	*f = Fault{Kind: FaultKind(kind)}
	var errs [3]error
	f.At, errs[0] = strconv.ParseInt(at, 10, 64)
	if several {
		var n int64
		n, errs[1] = strconv.ParseInt(cpu, 10, 32)
		f.CPU = int32(n)
	}
	if counted {
		f.N, errs[2] = strconv.Atoi(count)
	}
	if !ok || errs != [3]error{} || f.At < 0 || f.CPU < 0 || counted && f.N < 1 {
		return fmt.Errorf("%q is no fault: want KIND@INSTRUCTION, KIND@INSTRUCTION.CPU or either with :N", text)
	}
	if f.kind() == nil {
		return fmt.Errorf("%q is no fault: there is no kind %q", text, kind)
	}
	return nil
}

// String gives the fault as UnmarshalText reads it.
func (f Fault) String() string {
	s := fmt.Sprintf("%s@%d", f.Kind, f.At)
	if f.CPU != 0 {
		s += fmt.Sprintf(".%d", f.CPU)
	}
	if f.N != 0 {
		s += fmt.Sprintf(":%d", f.N)
	}
	return s
}

// count is N, or what is usual.
func (f Fault) count(usual int) int {
	if f.N == 0 {
		return usual
	}
	return f.N
}

// Outcome is what "gen-trace --planted" writes.
type Outcome struct {
	Planted []PlantedFault `json:"planted"`
	Missed  []string       `json:"missed,omitempty"` // faults behind the end of the trace, as on the command line
}

// PlantedFault is a fault in the trace, and where it is.
type PlantedFault struct {
	Fault       string `json:"fault"`          // as on the command line
	CPU         int32  `json:"cpu"`            // processor
	Instruction int64  `json:"instruction"`    // of its processor, from 0
	Line        int64  `json:"line"`           // of the trace, from 1
	PC          string `json:"pc"`             // of the instruction, in hexadecimal after 0x
	What        string `json:"what,omitempty"` // the register or address concerned; absent without one
}

// Describe returns the fault as "gen-trace --planted" writes it.
func (p Planted) Describe() PlantedFault {
	return PlantedFault{p.Fault.String(), p.Fault.CPU, p.Instruction, p.Line, fmt.Sprintf("0x%x", p.PC), p.What}
}

// Planted says what has become of a fault.
type Planted struct {
	Fault       Fault
	Instruction int64  // of its processor, from 0, at which it was planted, or before which
	Line        int64  // of the trace, from 1, that is the first to be different
	PC          uint32 // of the instruction
	What        string // the register or address concerned, if any
}
