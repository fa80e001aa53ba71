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
		if agreed*10 >= all*9 && agreed > most {
			best, most = set, agreed
		}
	}
	return best
}

// agreement is how many instructions went where a set says, and of how many it says anything.
func agreement(set *flow.Set, records []itrace.Record) (agreed, all int) {
	var before *itrace.Record
	for i := range records {
		r := &records[i]
		if r.Kind != itrace.Instruction || len(r.Digits) == 0 {
			continue
		}
		if b := before; b != nil && b.CPU == r.CPU && b.Scope&itrace.Gaps == 0 && !b.Trapped {
			f := set.In(b.State).Decode(set.In(b.State).Bytes(b.Value, (len(b.Digits)+1)/2), b.Addr)
			next := r.Addr == b.Addr+uint64(f.Len)
			switch {
			case f.Delayed: // the next instruction is in any case the one behind it
				next = r.Addr == b.Addr+4
			case f.Kind == flow.Next && f.Len == 0, f.Kind != flow.Next && !f.Direct:
				before = r
				continue
			case f.Kind != flow.Next:
				next = r.Addr == f.Target || f.Conditional && next
			}
			all++
			if next {
				agreed++
			}
		}
		before = r
	}
	return agreed, all
}
