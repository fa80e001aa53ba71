package rvfi

import (
	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
)

// writer writes packets. It keeps one back, since that has the address of the next.
type writer struct {
	kept  packet
	keeps bool // there is one
	gap   bool // instructions are missing behind it
	begun bool // one has been written, or is kept
	order uint64
	intr  bool // the next instruction is the first of a handler
}

// Append implements itrace.Writer.
func (w *writer) Append(dst []byte, records []itrace.Record) []byte {
	for i := range records {
		switch r := &records[i]; {
		case !writes(r):
		case r.Kind == itrace.Instruction:
			dst = w.instruction(dst, r, records[i+1:])
		case r.Kind == itrace.Event && r.Event == itrace.Interrupt:
			w.intr = true
		case r.Kind == itrace.Event && r.Event == itrace.Reset:
			dst = w.flush(dst, nil)
			dst = (&packet{halt: 1}).append(dst)
			w.begun = false
		case r.Kind == itrace.Event && w.keeps:
			w.kept.halt = 1
		}
	}
	return dst
}

// Finish implements itrace.Writer.
func (w *writer) Finish(dst []byte) []byte { return w.flush(dst, nil) }

// writes reports whether a packet has a place for a record.
func writes(r *itrace.Record) bool {
	if r.CPU != 0 {
		return false
	}
	switch r.Kind {
	case itrace.Instruction:
		return r.Value < opcodes && len(r.Digits) > 0
	case itrace.Register, itrace.RegisterRead:
		x, ok := riscv.Number(r.Name)
		return ok && x.Class == 'x' && !r.System && !r.Part
	case itrace.Memory:
		return r.Size <= 8
	case itrace.Event:
		return r.Event == itrace.Interrupt || r.Event == itrace.Reset || string(r.Name) == string(haltName)
	}
	return false
}

// flush appends the packet that is kept, ahead of an instruction, or nil at the end.
func (w *writer) flush(dst []byte, next *itrace.Record) []byte {
	if !w.keeps {
		return dst
	}
	w.keeps = false
	p := &w.kept
	switch {
	case next != nil && !w.intr && !w.gap:
		p.next = next.Addr
	case riscv.IsCompressed(p.insn):
		p.next = p.pc + 2
	default:
		p.next = p.pc + 4
	}
	return p.append(dst)
}

// instruction keeps the packet of an instruction, which has records behind it.
func (w *writer) instruction(dst []byte, r *itrace.Record, behind []itrace.Record) []byte {
	dst = w.flush(dst, r)
	switch {
	case r.ID != 0 || !w.begun:
		w.order = r.ID
	default:
		w.order++
	}
	w.kept = packet{order: w.order, pc: r.Addr, insn: r.Value}
	if w.intr {
		w.kept.intr = 1
	}
	if r.Trapped {
		w.kept.trap = 1
	}
	w.keeps, w.begun, w.gap, w.intr = true, true, r.Scope&itrace.Gaps != 0, false
	base, some := ^uint64(0), false
	for i := range behind {
		if e := &behind[i]; writes(e) {
			switch e.Kind {
			case itrace.Memory:
				base, some = min(base, e.Addr), true
			case itrace.Register:
				w.kept.write(e)
			case itrace.RegisterRead:
				w.kept.read(e)
			}
		}
	}
	if !some {
		return dst
	}
	w.kept.addr = base
	for i := range behind {
		if e := &behind[i]; e.Kind == itrace.Memory && writes(e) {
			w.kept.access(e)
		}
	}
	return dst
}

// write has the packet write a register. Of several the last counts.
func (p *packet) write(r *itrace.Record) {
	if x, _ := riscv.Number(r.Name); x.Number != 0 {
		p.rdAddr, p.rd = x.Number, r.Value
	}
}

// read has the packet read a register, where its opcode does.
func (p *packet) read(r *itrace.Record) {
	x, _ := riscv.Number(r.Name)
	rs1, rs2, n := sources(p.insn)
	if n > 0 && x.Number == rs1 && x.Number != 0 {
		p.rs1Addr, p.rs1 = rs1, r.Value
	}
	if n > 1 && x.Number == rs2 && x.Number != 0 {
		p.rs2Addr, p.rs2 = rs2, r.Value
	}
}

// access has the packet access memory, if its eight bytes reach there.
func (p *packet) access(r *itrace.Record) {
	n := uint64(r.Size)
	if n == 0 {
		n = uint64(riscv.AccessSize(p.insn))
	}
	from := r.Addr - p.addr
	if n == 0 || from+n > 8 {
		return
	}
	mask, data := uint8(1<<n-1)<<from, r.Value<<(8*from)
	if r.Write {
		p.wmask, p.stored = p.wmask|mask, p.stored|data
	} else {
		p.rmask, p.loaded = p.rmask|mask, p.loaded|data
	}
}
