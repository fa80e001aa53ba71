package jump

import (
	"cmp"
	"slices"

	"tracewell/arch"
	"tracewell/arch/amd64"
)

// Function is what a sweep has found in a function, or in a part of one.
type Function struct {
	Range
	Indirect arch.Addr // of the first jump through a register or memory, which may go anywhere in the function; 0 without
	Unknown  arch.Addr // of the first bytes that are not known to be an instruction, behind which anything may be; 0 without
	Checked  arch.Addr // behind the check of the stack with which most functions of Go begin; 0 without
}

// Targets is where the branches of a program's code go, as far as that can be read off their instructions. It serves to choose the
// patches that nothing jumps into; that these are right does not depend on it, because guards catch whatever was overlooked.
// It is for one goroutine.
type Targets struct {
	text      Range
	branched  []uint64   // a bit for each address of the text: something branches there
	begun     []uint64   // an instruction begins there
	functions []Function // swept, in order
}

// NewTargets returns the Targets of code in a range, of which nothing is known yet. It takes a quarter of the size of the code.
func NewTargets(text Range) *Targets {
	words := (text.End - text.Start + 63) / 64
	return &Targets{text: text, branched: make([]uint64, words), begun: make([]uint64, words)}
}

// Sweep adds the branches of a function, whose code is the program's own: without patches. Other parts of it, which compilers put
// elsewhere, are functions of their own here; unless they are swept as well, a jump from there is not known.
func (t *Targets) Sweep(code []byte, at arch.Addr) {
	f := Function{Range: Range{at, at + arch.Addr(len(code))}}
	amd64.Scan(code, at, func(s amd64.Step) {
		t.mark(t.begun, s.At)
		switch {
		case s.Unknown && f.Unknown == 0:
			f.Unknown = s.At
		case s.Indirect && f.Indirect == 0:
			f.Indirect = s.At
		case s.Target != 0:
			t.Add(s.Target)
		}
	})
	f.Checked = stackCheck(code, at)
	i, found := t.find(at)
	if found {
		t.functions[i] = f
		return
	}
	t.functions = slices.Insert(t.functions, i, f)
}

// Add adds an address that control is known to come to by other ways: a landing pad of exceptions, an entry of a jump table.
func (t *Targets) Add(target arch.Addr) { t.mark(t.branched, target) }

// mark sets the bit of an address, if it is in the text.
func (t *Targets) mark(bitmap []uint64, addr arch.Addr) {
	if i := addr - t.text.Start; addr >= t.text.Start && addr < t.text.End {
		bitmap[i/64] |= 1 << (i % 64)
	}
}

// marked reports whether the bit of an address is set.
func (t *Targets) marked(bitmap []uint64, addr arch.Addr) bool {
	i := addr - t.text.Start
	return addr >= t.text.Start && addr < t.text.End && bitmap[i/64]>>(i%64)&1 != 0
}

// find returns the index of the function that begins at an address, or of the next one.
func (t *Targets) find(at arch.Addr) (i int, found bool) {
	return slices.BinarySearchFunc(t.functions, at, func(f Function, at arch.Addr) int { return cmp.Compare(f.Start, at) })
}

// Function returns the swept function that an address is in.
func (t *Targets) Function(addr arch.Addr) (Function, bool) {
	i, found := t.find(addr)
	if !found {
		i--
	}
	if i < 0 || addr >= t.functions[i].End {
		return Function{}, false
	}
	return t.functions[i], true
}

// Is reports whether something is known to branch to an address.
func (t *Targets) Is(addr arch.Addr) bool { return t.marked(t.branched, addr) }

// starts reports whether a sweep has found an instruction to begin at an address.
func (t *Targets) starts(addr arch.Addr) bool { return t.marked(t.begun, addr) }
