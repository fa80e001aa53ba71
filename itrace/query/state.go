package query

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"tracewell/arch"
	"tracewell/itrace/index"
	"tracewell/tdesc"
)

// Held is what a register held at a position.
type Held struct {
	CPU   int32
	Name  string // as the trace has it in lower case, or the description where the trace never names it
	Value []byte // digits, with other characters for those that are not known; empty if nothing is known
	Line  int64  // of the trace that tells it; 0 if none does

	rank int // by which registers are in the order of the description
}

// RegistersAt returns what the registers of the processors that are asked about held in front of an instruction: those that the
// trace ever writes, and the others of the machine, whose values nothing tells. They are in the order of the machine's description.
func (t *Trace) RegistersAt(ctx context.Context, position int64) ([]Held, error) {
	values, err := t.Registers(position)
	if err != nil {
		return nil, err
	}
	type register struct {
		cpu  int32
		name uint32
	}
	latest := make(map[register]index.Value)
	for _, v := range values {
		latest[register{v.CPU, v.Name}] = v
	}
	var held []Held
	for _, cpu := range t.processors() {
		from := len(held)
		for i, name := range t.Names {
			v := latest[register{cpu, uint32(i)}]
			h := Held{CPU: cpu, Name: name, Value: v.Digits, Line: v.Line, rank: math.MaxInt}
			if t.Execution.Layout != nil && t.Execution.Parts[i].Slot != nil {
				h.rank = t.Execution.Parts[i].Slot.Offset
			}
			held = append(held, h)
		}
		next, err := t.Next(ctx, position, []index.Want{{What: index.Turn, CPU: cpu}})
		if err != nil {
			return nil, err
		}
		if next == nil {
			next = &index.Found{}
		}
		held = append(held, t.unnamed(cpu, next.Item)...)
		slices.SortStableFunc(held[from:], func(a, b Held) int { return cmp.Compare(a.rank, b.rank) })
	}
	return held, nil
}

// unnamed are the registers of the machine that the trace never names. One that reads as zero is known, and the pc is the address
// of the next instruction of the processor.
func (t *Trace) unnamed(cpu int32, next *index.Item) (held []Held) {
	e := t.Execution
	if e.Layout == nil {
		return nil
	}
	pc := e.Layout.ByNumber(e.Layout.ISA(e.Machine, e.Desc.Architecture, e.Order).PC)
	named := make(map[*tdesc.Slot]bool)
	for _, p := range e.Parts {
		named[p.Slot] = true
	}
	for i := range e.Layout.Slots {
		slot := &e.Layout.Slots[i]
		if named[slot] {
			continue
		}
		h := Held{CPU: cpu, Name: slot.Reg.Name, rank: slot.Offset}
		if h.Name == e.Machine.Zero {
			h.Value = bytes.Repeat([]byte("0"), 2*slot.Size)
		}
		if slot == pc && next != nil {
			h.Value, h.Line = fmt.Appendf(nil, "%0*x", 2*slot.Size, next.Addr), next.Line
		}
		held = append(held, h)
	}
	return held
}

// Image is a piece of memory at a position.
type Image struct {
	Addr  uint64
	Bytes []byte
	Known []index.Knowledge // of each byte; one that is not known is 0 in Bytes
}

// mostMemory bounds what is asked for at once, in bytes.
const mostMemory = 16 << 20

// MemoryAt returns what memory held in front of an instruction: what records in front of it tell, and otherwise what the program
// held in the beginning. With later also what is read there later, before anything is written, is taken for what it held, which
// is wrong where devices or other masters write.
func (t *Trace) MemoryAt(position int64, addr, size uint64, later bool) (Image, error) {
	if size > mostMemory {
		return Image{}, fmt.Errorf("%d bytes from %v on are too many: at most %d", size, arch.Addr(addr), mostMemory)
	}
	m := Image{addr, make([]byte, size), make([]index.Knowledge, size)}
	layout := t.Execution.Digits()
	if err := t.Memory(position, addr, m.Bytes, m.Known, layout); err != nil {
		return m, err
	}
	t.loaded(addr, m.Bytes, m.Known)
	if later {
		return m, t.Later(position, addr, m.Bytes, m.Known, layout)
	}
	return m, nil
}
