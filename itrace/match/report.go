package match

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"tracewell/internal/jsontext"
)

// Verdict is the outcome of a comparison.
type Verdict string

// The verdicts.
const (
	Equal     Verdict = "equal"
	Different Verdict = "different"
	Failed    Verdict = "failed" // nothing could be compared, or not all that there is
)

// Class says in what two traces differ.
type Class string

// The classes of difference.
const (
	ClassPC          Class = "pc"          // another instruction follows
	ClassOpcode      Class = "opcode"      // another opcode at the same address
	ClassMode        Class = "mode"        // another mode, security or state of the processor
	ClassSkipped     Class = "skipped"     // executed on one side only
	ClassTrapped     Class = "trapped"     // it had an exception on one side only
	ClassEvent       Class = "event"       // another exception or interrupt, or one on one side only
	ClassRegister    Class = "register"    // another value in a register
	ClassMemory      Class = "memory"      // other data, or another address or size, of an access
	ClassMissing     Class = "missing"     // records that the other trace lacks
	ClassExtra       Class = "extra"       // records that the reference lacks
	ClassReordered   Class = "reordered"   // effects in an order that the window allows but their register or address does not
	ClassHandler     Class = "handler"     // an interrupt or exception was taken on one side only
	ClassLoop        Class = "loop"        // a loop went round more often on one side
	ClassTail        Class = "tail"        // one trace goes on where the other has ended
	ClassTime        Class = "time"        // of fields that are compared only when asked for
	ClassID          Class = "id"          //
	ClassDisassembly Class = "disassembly" //
)

// Position is a record in a trace.
type Position struct {
	File        string `json:"file"`
	Line        int64  `json:"line"`        // from 1
	Offset      int64  `json:"offset"`      // of the line, in bytes
	Instruction int64  `json:"instruction"` // instructions of the trace before it, or the number of its own, from 0
	Text        string `json:"text"`        // the line
}

// Difference is one difference, a root cause.
type Difference struct {
	Class     Class     `json:"class"`
	CPU       int32     `json:"cpu"`                 // processor
	Reference *Position `json:"reference,omitempty"` // nil for an effect or tail that only the other has; of a stretch that it
	Other     *Position `json:"other,omitempty"`     // lacks, where it goes on, nil if it has ended. Other likewise
	What      string    `json:"what,omitempty"`      // the register or address
	Expected  string    `json:"expected,omitempty"`  // of the reference, in hexadecimal; absent where there is none
	Got       string    `json:"got,omitempty"`       // of the other, likewise
	Records   int64     `json:"records,omitempty"`   // of a stretch: how many records
	Groups    int64     `json:"groups,omitempty"`    // and instructions
	Side      string    `json:"side,omitempty"`      // of a stretch that one trace alone has: "reference" or "other"
	Note      string    `json:"note,omitempty"`      // what the stretch seems to be, in words
	Context   *Context  `json:"context,omitempty"`   // absent of a difference beyond those that are listed in full
}

// Consequence is a difference that follows from others.
type Consequence struct {
	// The last root cause that is not behind it, as an index of the differences. Which ones it follows from is not known: a value may
	// have been wrong for long.
	Root int `json:"root"`
	Difference
}

// Context is what surrounds a difference.
type Context struct {
	Reference []Position `json:"reference"` // the last lines before it, some of it, and some behind it, of each side
	Other     []Position `json:"other"`
	Registers []Value    `json:"registers"` // before the instruction
}

// Value is a register on both sides.
type Value struct {
	Register        string    `json:"register"`
	Reference       string    `json:"reference,omitempty"`       // in hexadecimal; empty for one never seen
	Other           string    `json:"other,omitempty"`           // likewise
	Differs         bool      `json:"differs,omitempty"`         // the sides differ
	ReferenceWriter *Position `json:"referenceWriter,omitempty"` // the instruction that wrote it last; absent if none was seen
	OtherWriter     *Position `json:"otherWriter,omitempty"`     // likewise
}

// Counts counts records.
type Counts struct {
	Instructions int64 `json:"instructions"` // records
	Registers    int64 `json:"registers"`    // records
	Memory       int64 `json:"memory"`       // records
}

// Trace sums up one of the traces.
type Trace struct {
	File    string   `json:"file"`
	Dialect string   `json:"dialect"`
	Why     string   `json:"why,omitempty"` // it was taken for that, unless the user said so
	Bytes   int64    `json:"bytes"`         // unpacked
	Lines   int64    `json:"lines"`         // with those that are no records
	Records Counts   `json:"records"`
	Unknown int64    `json:"unknown"`           // lines that could not be read
	Samples []string `json:"samples,omitempty"` // the first of them: "file:line: column 3: found …, expected …"
}

// RuleUse is a rule in force.
type RuleUse struct {
	Rule  string // as it would be written on the command line
	Fired int64  // how often it made a difference: what it left out, of both traces, or made equal
}

// RuleUses are the rules in force, each once. In JSON they are an object, in their order, of how often each has fired.
type RuleUses []RuleUse

// MarshalJSON implements json.Marshaler.
func (u RuleUses) MarshalJSON() ([]byte, error) {
	object := []byte{'{'}
	for i, use := range u {
		if i > 0 {
			object = append(object, ',')
		}
		object = append(jsontext.AppendString(object, use.Rule), ':')
		object = strconv.AppendInt(object, use.Fired, 10)
	}
	return append(object, '}'), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (u *RuleUses) UnmarshalJSON(object []byte) error {
	*u = nil
	if string(object) == "null" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(object))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return fmt.Errorf("rules: found %.20s, expected an object", object)
	}
	for d.More() {
		rule, err := d.Token()
		if err != nil {
			return err
		}
		use := RuleUse{Rule: rule.(string)} // a key is always one
		if err := d.Decode(&use.Fired); err != nil {
			return err
		}
		*u = append(*u, use)
	}
	return nil
}

// Report is the outcome of comparing one trace with a reference.
type Report struct {
	Verdict  Verdict  `json:"verdict"`
	Reason   string   `json:"reason,omitempty"` // of a failure, in words; absent otherwise
	Traces   [2]Trace `json:"traces"`           // the reference first
	Compared Counts   `json:"compared"`         // pairs
	// root causes, in the order of the reference; the first Options.MaxDifferences
	Differences  []Difference    `json:"differences"`
	Counts       map[Class]int64 `json:"counts"`       // root causes of each class, also those beyond Differences
	Consequences int64           `json:"consequences"` // differences that follow from others
	// the first Options.Consequences of them that were found, in the order of the reference; absent if none was asked for
	ConsequenceList []Consequence `json:"consequenceList,omitempty"`
	Profile         string        `json:"profile,omitempty"` // Options.Profile; absent if the options have no name
	Rules           RuleUses      `json:"rules"`
	NotTold         []NotTold     `json:"notTold,omitempty"` // what was not compared, as one trace does not tell it
	Seconds         float64       `json:"seconds"`           // of real time
}

// Result is the outcome of one comparison as "match --json" writes it, one object a line, and "match --merge" reads it.
type Result struct {
	Name string     `json:"name"`           // both traces as the command line or the manifest names them
	Pair *PairPlace `json:"pair,omitempty"` // absent for a comparison that no manifest lists
	*Report
}

// PairPlace says which pair of a manifest a result is of, so that results from many machines can be merged and a missing one is
// noticed.
type PairPlace struct {
	Manifest string `json:"manifest"` // its path
	Number   int    `json:"number"`   // from 1
	Total    int    `json:"total"`    // of all shards
	Shard    int    `json:"shard"`    // from 0
	Shards   int    `json:"shards"`   // 1 without --shard
}
