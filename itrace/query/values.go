package query

import (
	"bytes"
	"context"
	"slices"

	"tracewell/itrace"
	"tracewell/itrace/index"
)

// Value is what an object held from an instruction on.
type Value struct {
	Step         // the instruction that told it; that in front of which the range begins for the first of all
	First bool   // it was held in the beginning of the range
	Read  bool   // a read told of it, and no write that the trace has
	Name  uint32 // of a register, in the trace
	CPU   int32  // whose register it is, or which accessed memory
	Value []byte // digits, ? for those that are not known
}

// Values has visit see what an object held over the range: first what it held in the beginning, as far as that is known, and then
// each value that was written, or with changes each that differs from the one before. Reads of memory count as changes where they
// tell of another value: something wrote it that the trace does not have.
func (t *Trace) Values(ctx context.Context, o Object, changes bool, p Pick, visit func(Value) error) error {
	v := valuer{Trace: t, o: o, changes: changes, p: p, visit: visit}
	wants := t.wants(o, [...]index.What{index.RegisterSet, index.Write})
	told := t.Tells(wants[0].What)
	if !o.IsRegister() {
		wants = append(wants, t.wants(o, [...]index.What{index.RegisterGet, index.Read})...)
		if told != nil {
			told = t.Tells(index.Read)
		}
	}
	if told != nil {
		return told
	}
	if o.IsRegister() {
		return v.register(ctx, wants)
	}
	return v.memory(ctx, wants)
}

// valuer tells values, of which it keeps the last if only these are wanted.
type valuer struct {
	*Trace
	o       Object
	changes bool
	p       Pick
	visit   func(Value) error

	count int64
	last  []Value
}

// enough ends a search in which all that is wanted was found.
type enough struct{}

// Error implements error; nobody sees it.
func (enough) Error() string { return "enough" }

// tell tells a value, or keeps it if it may be one of the last.
func (v *valuer) tell(value Value) error {
	if v.count++; v.p.Last == 0 {
		if err := v.visit(value); err != nil {
			return err
		}
		if v.count == v.p.First {
			return enough{}
		}
		return nil
	}
	value.Item = alone(value.Item)
	// A ring, in which the oldest is the one that is written over.
	if int64(len(v.last)) < v.p.Last {
		v.last = append(v.last, value)
	} else {
		v.last[(v.count-1)%v.p.Last] = value
	}
	return nil
}

// end tells the last values.
func (v *valuer) end(err error) error {
	if _, ok := err.(enough); ok {
		return nil
	}
	if err != nil || v.p.Last == 0 {
		return err
	}
	first := 0
	if v.count > v.p.Last {
		first = int(v.count % v.p.Last)
	}
	for _, value := range slices.Concat(v.last[first:], v.last[:first]) {
		if err := v.visit(value); err != nil {
			return err
		}
	}
	return nil
}

// begin is the step in front of which the range begins.
func (v *valuer) begin() (Step, error) { return v.Step(min(max(v.From, 0), v.Instructions-1)) }

// register tells the values of a register of each processor, by each of its names.
func (v *valuer) register(ctx context.Context, wants []index.Want) error {
	begin, err := v.begin()
	if err != nil {
		return err
	}
	held := make(map[uint64][]byte)
	key := func(cpu int32, name uint32) uint64 { return uint64(uint32(cpu))<<32 | uint64(name) }
	if v.From > 0 {
		for _, w := range wants {
			last, err := v.Previous(ctx, v.From, []index.Want{w})
			if err != nil {
				return err
			}
			if last == nil {
				continue
			}
			held[key(w.CPU, w.Name)] = last.Item.Digits
			if err := v.tell(Value{Step: begin, First: true, Name: w.Name, CPU: w.CPU, Value: last.Item.Digits}); err != nil {
				return v.end(err)
			}
		}
	}
	return v.end(v.each(ctx, wants, Pick{}, func(f index.Found) error {
		k := key(f.Item.CPU, f.Item.Name)
		before, seen := held[k]
		held[k] = f.Item.Digits
		if v.changes && seen && bytes.EqualFold(before, f.Item.Digits) {
			return nil
		}
		step, err := v.owner(ctx, f)
		if err != nil {
			return err
		}
		return v.tell(Value{Step: step, Name: f.Item.Name, CPU: f.Item.CPU, Value: f.Item.Digits})
	}))
}

// memory tells the values of memory, as one number, whatever part of it is accessed.
func (v *valuer) memory(ctx context.Context, wants []index.Want) error {
	begin, err := v.begin()
	if err != nil {
		return err
	}
	image, err := v.MemoryAt(max(v.From, 0), v.o.Addr, v.o.Size, false)
	if err != nil {
		return err
	}
	layout := v.Execution.Digits()
	held := number(image.Bytes, image.Known, layout)
	if slices.Contains(image.Known, index.Known) {
		if err := v.tell(Value{Step: begin, First: true, Value: held}); err != nil {
			return v.end(err)
		}
	}
	// Processors share memory: accesses of those that are not asked about change it, too, and are not told.
	all := *v.Trace
	all.CPU = nil
	return v.end(all.each(ctx, wants, Pick{}, func(f index.Found) error {
		v.put(f.Item, image, layout)
		before := held
		held = number(image.Bytes, image.Known, layout)
		if bytes.Equal(before, held) && (v.changes || !f.Item.Write) || !v.concerns(f.Item) {
			return nil
		}
		step, err := v.owner(ctx, f)
		if err != nil {
			return err
		}
		return v.tell(Value{Step: step, Read: !f.Item.Write, CPU: f.Item.CPU, Value: held})
	}))
}

// put puts the bytes of an access into an image of memory. Of one whose data are not told, a write makes what was there unknown,
// and a read tells nothing.
func (t *Trace) put(it *index.Item, m Image, l index.Layout) {
	if it.Kind != itrace.Memory || len(it.Digits) == 0 && !it.Write {
		return
	}
	for i := range it.Size {
		at := t.Offset(it.Addr+i, m.Addr)
		if at >= uint64(len(m.Bytes)) {
			continue
		}
		m.Known[at] = index.Unknowable
		if v, ok := l.Byte(it, i); ok && len(it.Digits) > 0 {
			m.Bytes[at], m.Known[at] = v, index.Known
		}
	}
}
