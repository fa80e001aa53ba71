package sites

import (
	"tracewell/arch/flow"
	"tracewell/itrace"
)

// Guess is the instruction set by which the instructions at the beginning of a trace went where they went: one that says of the
// others where the next instruction is has no opcodes of this trace. It is nil if none fits, as for a trace without opcodes.
func Guess(records []itrace.Record) *flow.Set {
	var best *flow.Set
	most := 0
	for _, set := range flow.Sets() {
		agreed, all := agreement(set, records)
		// What both widths of a machine have in common does not tell them apart; how addresses are written does.
		narrower := agreed == most && agreed > 0 && best.Bits == 64 && set.Bits == 32 && narrow(records)
		if agreed*10 >= all*9 && (agreed > most || narrower) {
			best, most = set, agreed
		}
	}
	return best
}

// narrow reports whether addresses are written with the digits of 32 bits.
func narrow(records []itrace.Record) bool {
	for i := range records {
		if r := &records[i]; r.Kind == itrace.Instruction {
			return len(r.AddrDigits) == 8
		}
	}
	return false
}

// agreement is how many instructions went where a set says, and of how many it says anything.
func agreement(set *flow.Set, records []itrace.Record) (agreed, all int) {
	var before *itrace.Record
	var code [8]byte
	var delayed *flow.Flow // of the jump in front of that, which takes effect behind it
	var behind uint64      // where that goes if it is not taken
	for i := range records {
		r := &records[i]
		if r.Kind != itrace.Instruction || len(r.Digits) == 0 {
			continue
		}
		b := before
		before = r
		if b == nil || b.CPU != r.CPU || b.Scope&itrace.Gaps != 0 || b.Trapped {
			delayed = nil
			continue
		}
		in := set.In(b.State)
		f := in.Decode(in.Append(code[:0], b.Value, (len(b.Digits)+1)/2), b.Addr)
		last, next := delayed, b.Addr+uint64(f.Len)
		delayed = nil
		switch {
		case last != nil:
			f, next = *last, behind
		case f.Delayed: // the next instruction is in any case the one behind it
			delayed, behind = &f, next
			continue
		}
		known := f.Direct || f.Kind == flow.Next && f.Len != 0
		if known {
			all++
		}
		if known && (f.Direct && r.Addr == f.Target || (!f.Direct || f.Conditional) && r.Addr == next) {
			agreed++
		}
	}
	return agreed, all
}
