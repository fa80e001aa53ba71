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
		Back     uint32     `json:"back,omitempty"`     // it is of the instruction so many of the processor before, which had no effect yet
		Value    string     `json:"value,omitempty"`    // hexadecimal; a digit that the trace does not know is a question mark
	}
	// EffectKind is a kind of effect.
	EffectKind string
	// Moment is an instruction and what it did.
	Moment struct {
		Step
		Effects []Effect `json:"effects"` // in the order of the trace
	}
	// Access is a read or a write of a register or of memory, and the instruction that did it.
	Access struct {
		Step
		Effect
		Before string `json:"before,omitempty"` // what was there before, as value is written; absent where nothing of it is known
	}
	// HeldValue is what a register or memory held from an instruction on.
	HeldValue struct {
		Step
		Initial  bool   `json:"initial,omitempty"`  // it was held at --from, in front of the instruction
		Read     bool   `json:"read,omitempty"`     // a read told of it, and no write that the trace has
		Of       *int32 `json:"of,omitempty"`       // the processor whose register it is; absent for memory
		Register string `json:"register,omitempty"` // as the trace names it, in lower case
		Value    string `json:"value"`              // hexadecimal; a digit that is not known is a question mark
	}
	// RegistersAt is what registers held in front of an instruction.
	RegistersAt struct {
		Step                     // the instruction; at the end of the trace only its number
		Registers []RegisterHeld `json:"registers"` // in the order of the machine's description
	}
	// RegisterHeld is what a register held.
	RegisterHeld struct {
		Of    int32   `json:"of"`             // the processor
		Name  string  `json:"name"`           // as the trace has it, in lower case
		Value *string `json:"value"`          // hexadecimal; null if it is not known
		Line  int64   `json:"line,omitempty"` // of the trace that tells it
	}
	// MemoryAt is what memory held in front of an instruction.
	MemoryAt struct {
		Step           // the instruction; at the end of the trace only its number
		Address string `json:"address"`
		Size    int    `json:"size"`  // in bytes
		Known   int    `json:"known"` // bytes that are known
		Bytes   string `json:"bytes"` // two hexadecimal digits each, in the order of addresses; ?? for one that is not known
	}
	// Executions is how often a place in code was executed.
	Executions struct {
		Place     string             `json:"place"`     // as it was written
		Count     int64              `json:"count"`     // executions, of all addresses
		Addresses []ExecutionsOfAddr `json:"addresses"` // of the place
	}
	// ExecutionsOfAddr is how often an address was executed.
	ExecutionsOfAddr struct {
		Address string `json:"address"`
		Symbol  string `json:"symbol,omitempty"` // what is there in the program (--exec)
		Count   int64  `json:"count"`            // executions
	}
	// Latency is how long it took from each execution of a place to the next of another on the same processor.
	Latency struct {
		Start        string          `json:"start"`        // the place, as it was written
		End          string          `json:"end"`          // the other
		Pairs        int64           `json:"pairs"`        // executions of the start with one of the end behind them
		Open         int64           `json:"open"`         // executions of the start without one
		Left         int64           `json:"left"`         // executions of the start that were left out, since too many waited for the end
		Instructions *LatencyFigures `json:"instructions"` // in instructions of the processor; null without pairs
		Time         *LatencyFigures `json:"time"`         // in the unit of the trace; null if it has no times, or several units
	}
	// LatencyFigures are the figures of a length.
	LatencyFigures struct {
		TallyValue
		Unit          string `json:"unit,omitempty"` // as the trace names it; absent if it does not
		LongestStart  Step   `json:"longestStart"`   // between which instructions it was the longest
		LongestEnd    Step   `json:"longestEnd"`
		ShortestStart Step   `json:"shortestStart"` // and the shortest
		ShortestEnd   Step   `json:"shortestEnd"`
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
	e := Effect{Value: HexDigits(it.Digits), Back: it.Back}
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

// DescribeAccess makes the object of an access.
func DescribeAccess(t *query.Trace, a query.Access) Access {
	d := Access{Step: DescribeStep(t, a.Step), Effect: DescribeEffect(t, a.Item), Before: HexDigits(a.Before)}
	d.Value, d.Back = HexDigits(a.Value), 0 // the step is the instruction that it is of
	return d
}

// DescribeHeldValue makes the object of a value of a register, or of memory.
func DescribeHeldValue(t *query.Trace, v query.Value, register bool) HeldValue {
	d := HeldValue{Step: DescribeStep(t, v.Step), Initial: v.First, Read: v.Read, Value: HexDigits(v.Value)}
	if register {
		d.Of, d.Register = &v.CPU, t.Names[v.Name]
	}
	return d
}

// DescribeRegisters makes the object of registers.
func DescribeRegisters(t *query.Trace, s query.Step, held []query.Held) RegistersAt {
	d := RegistersAt{Step: DescribeStep(t, s), Registers: []RegisterHeld{}}
	for _, h := range held {
		r := RegisterHeld{Of: h.CPU, Name: h.Name, Line: h.Line}
		if len(h.Value) > 0 {
			value := HexDigits(h.Value)
			r.Value = &value
		}
		d.Registers = append(d.Registers, r)
	}
	return d
}

// DescribeMemory makes the object of a piece of memory.
func DescribeMemory(t *query.Trace, s query.Step, m query.Image) MemoryAt {
	d := MemoryAt{Step: DescribeStep(t, s), Address: fmt.Sprintf("0x%x", m.Addr), Size: len(m.Bytes)}
	var digits []byte
	for i, b := range m.Bytes {
		if m.Known[i] != index.Known {
			digits = append(digits, "??"...)
			continue
		}
		d.Known++
		digits = fmt.Appendf(digits, "%02x", b)
	}
	d.Bytes = string(digits)
	return d
}

// DescribeExecutions makes the object of how often a place was executed.
func DescribeExecutions(t *query.Trace, c query.Code, counts []int64) Executions {
	d := Executions{Place: c.Text, Addresses: []ExecutionsOfAddr{}}
	for i, addr := range c.Addrs {
		d.Count += counts[i]
		d.Addresses = append(d.Addresses, ExecutionsOfAddr{fmt.Sprintf("0x%x", addr), t.Place(addr).Symbol, counts[i]})
	}
	return d
}

// LatencyPercentages are the quantiles of a latency.
var LatencyPercentages = []int{50, 90, 99}

// DescribeLatency makes the object of a latency. The error is that of reading the instructions of its pairs again.
func DescribeLatency(t *query.Trace, from, to query.Code, l *query.Latency) (d Latency, err error) {
	d = Latency{Start: from.Text, End: to.Text, Pairs: l.Pairs, Open: l.Open, Left: l.Left}
	if d.Instructions, err = describeLength(t, "instructions", &l.Lengths); err != nil {
		return d, err
	}
	if d.Time, err = describeLength(t, "time", &l.Times); err == nil && d.Time != nil && len(t.Scales) == 1 {
		d.Time.Unit = t.Scales[0]
	}
	return d, err
}

func describeLength(t *query.Trace, name string, m *query.Measured) (*LatencyFigures, error) {
	if m.Count == 0 {
		return nil, nil
	}
	d := &LatencyFigures{TallyValue: DescribeTallied(name, LatencyPercentages, &m.Measured)}
	for _, end := range []struct {
		of     *Step
		number int64
	}{{&d.LongestStart, m.Longest.Start}, {&d.LongestEnd, m.Longest.End}, {&d.ShortestStart, m.Shortest.Start},
		{&d.ShortestEnd, m.Shortest.End}} {
		step, err := t.Step(end.number)
		if err != nil {
			return nil, err
		}
		*end.of = DescribeStep(t, step)
	}
	return d, nil
}
