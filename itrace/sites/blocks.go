package sites

import (
	"cmp"
	"slices"

	"tracewell/arch/flow"
)

// Block is a basic block: instructions that are entered at the first and left behind the last.
type Block struct {
	Sites []int  // numbers, in the order of execution
	Count uint64 // how often the first was executed
	// Instructions were executed in all. Where an exception came within the block they are fewer than Count of its length.
	Instructions uint64
}

// Executed are the numbers of the sites at which something was executed, by address.
func (t *Table) Executed() []int {
	var all []int
	for i := range t.Sites {
		if t.Sites[i].Count > 0 {
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(a, b int) int { return cmp.Compare(t.Sites[a].PC, t.Sites[b].PC) })
	return all
}

// Blocks are the basic blocks that were executed, by address. A block ends where its last instruction may lead elsewhere, in front
// of where something has led, and where its function ends.
func (t *Table) Blocks() (blocks []Block) {
	last := -1
	for _, n := range t.Executed() {
		s := &t.Sites[n]
		if last < 0 || !follows(&t.Sites[last], s) {
			blocks = append(blocks, Block{Count: s.Count})
		}
		b := &blocks[len(blocks)-1]
		b.Sites = append(b.Sites, n)
		b.Instructions += s.Count
		last = n
	}
	return blocks
}

// follows reports whether a site goes on the block of the one in front of it.
func follows(before, s *Site) bool {
	behind := s.PC - before.PC
	const longest = 15
	next := uint64(before.Flow.Len) == behind || before.Flow.Len == 0 && behind <= longest
	return next && before.Flow.Kind == flow.Next && !s.Leader && before.Function == s.Function
}
