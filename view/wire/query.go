package wire

import (
	"fmt"

	"tracewell/itrace"
	"tracewell/itrace/index"
	"tracewell/itrace/query"
)

type (
	// Step is an instruction of an execution trace. What the trace does not tell of it is absent.
	Step struct {
		Instruction int64  `json:"instruction"`           // counted from 0; -1 for what stands in front of the first
		CPU         *int32 `json:"cpu,omitempty"`         // the processor
		Line        int64  `json:"line,omitempty"`        // of the trace, counted from 1
		Time        *int64 `json:"time,omitempty"`        // as the trace has it, in its own unit
		PC          string `json:"pc,omitempty"`          // the address of the instruction
		Symbol      string `json:"symbol,omitempty"`      // what is there in the program (--exec), with an offset: push+8
		File        string `json:"file,omitempty"`        // of the source, as the compiler was given it
		SourceLine  int    `json:"sourceLine,omitempty"`  // in it
		Opcode      string `json:"opcode,omitempty"`      // hexadecimal, as the trace has it
		Disassembly string `json:"disassembly,omitempty"` // as the trace has it
		Skipped     bool   `json:"skipped,omitempty"`     // its condition did not hold
		Trapped     bool   `json:"trapped,omitempty"`     // it had an exception, and was not completed
	}
	// Effect is what an instruction did to a register or to memory, or an event that came with it.
	Effect struct {
		Kind     EffectKind `json:"kind"`
		Register string     `json:"register,omitempty"` // as the trace names it, in lower case
		Address  string     `json:"address,omitempty"`  // of memory
		Size     uint64     `json:"size,omitempty"`     // of memory, in bytes
		Event    string     `json:"event,omitempty"`    // exception, interrupt, mode, reset or other
		Cause    string     `json:"cause,omitempty"`    // of an event, as the trace has it
		Value    string     `json:"value,omitempty"`    // hexadecimal; a digit that the trace does not know is a question mark
	}
	// EffectKind is a kind of effect.
	EffectKind string
	// Moment is an instruction and what it did.
	Moment struct {
		Step
		Effects []Effect `json:"effects"` // in the order of the trace
	}
)

// The kinds of effect.
const (
	EffectRead         EffectKind = "read"          // of memory
	EffectWrite        EffectKind = "write"         // of memory
	EffectRegister     EffectKind = "register"      // written
	EffectRegisterRead EffectKind = "register-read" // where the trace tells of reads
	EffectInterruption EffectKind = "event"         // an exception, an interrupt and the like
)

// DescribeStep makes the object of an instruction.
func DescribeStep(t *query.Trace, s query.Step) Step {
	d := Step{Instruction: s.Number}
	it := s.Item
	if it == nil {
		return d
	}
	d.CPU, d.Line, d.PC = &it.CPU, it.Line, fmt.Sprintf("0x%x", it.Addr)
	if t.LastTime > 0 {
		time := int64(it.Time)
		d.Time = &time
	}
	d.Symbol, d.File, d.SourceLine = s.Place.Symbol, s.Place.File, s.Place.Line
	d.Opcode, d.Disassembly, d.Skipped, d.Trapped = string(it.Digits), string(it.Words), it.Skipped, it.Trapped
	return d
}

// DescribeEffect makes the object of an effect.
func DescribeEffect(t *query.Trace, it *index.Item) Effect {
	e := Effect{Value: HexDigits(it.Digits)}
	switch it.Kind {
	case itrace.Memory:
		e.Kind, e.Address, e.Size = EffectRead, fmt.Sprintf("0x%x", it.Addr), it.Size
		if it.Write {
			e.Kind = EffectWrite
		}
	case itrace.Register:
		e.Kind, e.Register = EffectRegister, t.Names[it.Name]
	case itrace.RegisterRead:
		e.Kind, e.Register = EffectRegisterRead, t.Names[it.Name]
	case itrace.Event:
		e.Kind, e.Event, e.Cause = EffectInterruption, it.Event.String(), string(it.Words)
	}
	return e
}

// HexDigits is a number of a trace, with question marks for digits that are not known; "" without any.
func HexDigits(digits []byte) string {
	if len(digits) == 0 {
		return ""
	}
	text := []byte("0x")
	for _, c := range digits {
		switch {
		case c >= 'A' && c <= 'F':
			c += 'a' - 'A'
		case (c < '0' || c > '9') && (c < 'a' || c > 'f'):
			c = '?'
		}
		text = append(text, c)
	}
	return string(text)
}

// DescribeMoment makes the object of an instruction with its effects.
func DescribeMoment(t *query.Trace, m query.Moment) Moment {
	d := Moment{Step: DescribeStep(t, m.Step), Effects: []Effect{}}
	for i := range m.Effects {
		d.Effects = append(d.Effects, DescribeEffect(t, &m.Effects[i]))
	}
	return d
}
