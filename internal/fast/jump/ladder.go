package jump

import (
	"fmt"

	"tracewell/arch/amd64"
)

// maxPrefixes is how many null prefixes a pun can have. Each moves the displacement by a byte, so that others of the program's
// bytes say where the jump goes: another try for an instruction that is long enough.
const maxPrefixes = 2

// ladder is the search for the best patch of one location.
type ladder struct {
	*Planner
	site     Site
	function Function // that it is in; empty if it has not been swept
	run      []*amd64.Instruction
	short    string   // why the run is shorter than any jump needs it; else empty
	causes   []string // why the rungs so far are not open
}

// shape is a jump over the first instructions of the run.
type shape struct {
	rung     Rung
	run      []*amd64.Instruction
	prefixes int
	width    int // bytes of the displacement
}

// length is that of the jump.
func (s *shape) length() int { return s.prefixes + 1 + s.width }

// admit finds out what can be displaced. The cause is why nothing can, whatever the rung.
func (l *ladder) admit() (cause string) {
	at := l.site.Addr
	f, swept := l.Targets.Function(at)
	l.function = f
	switch held := l.overlapping(Range{at, at + 1}); {
	case len(held) > 0:
		return held[0].String()
	case swept && f.Unknown == 0 && !l.Targets.starts(at):
		return "no instruction begins there, going by those in front of it"
	case l.Go && mayLackStack(l.site.Name, at, f):
		return fmt.Sprintf("%s, of Go's runtime, has not checked there that the stack has room for a pad", l.site.Name)
	}
	if l.decode(); len(l.run) == 0 {
		return l.short
	}
	return l.unreachable()
}

// decode fills the run with as many instructions as the longest jump can cover.
func (l *ladder) decode() {
	at, code := l.site.Addr, l.site.Code
	for at < l.site.Addr+nearLength+maxPrefixes {
		if len(l.run) > 0 && l.function.End == at {
			l.short = fmt.Sprintf("the function ends at %v, under the jump", at)
			return
		}
		in, err := amd64.Decode(code, at)
		switch {
		case err != nil:
			l.short = err.Error()
			return
		case !in.CanDisplace():
			l.short = (&amd64.DisplaceError{Instruction: in, Cause: in.Reason().String()}).Error()
			return
		case l.ShadowStack && in.Flow() == amd64.FlowCall:
			l.short = fmt.Sprintf("the call at %v cannot be moved: the thread has a shadow stack", at)
			return
		}
		l.run = append(l.run, in)
		at, code = in.Next(), code[in.Len():]
	}
}

// unreachable is why the first instruction cannot be executed in a pad. Later ones that cannot are dropped from the run.
func (l *ladder) unreachable() (cause string) {
	for i, in := range l.run {
		if low, high := amd64.Reach(l.run[i:i+1], 0); low > l.Pads.Start || l.Pads.End > high {
			l.run = l.run[:i]
			l.short = fmt.Sprintf("the operand of the instruction at %v is out of reach of the pads", in.At())
			break
		}
	}
	if len(l.run) == 0 {
		return l.short
	}
	return ""
}

// refuse notes why a rung is not open, once for rungs that have the same cause.
func (l *ladder) refuse(cause string) *Plan {
	for _, known := range l.causes {
		if known == cause {
			return nil
		}
	}
	l.causes = append(l.causes, cause)
	return nil
}

// attempt returns the plan of a shape, or notes why there is none.
func (l *ladder) attempt(s shape) *Plan {
	plan, cause := l.plan(&s)
	if plan == nil {
		return l.refuse(cause)
	}
	return plan
}

// jump is the first rung.
func (l *ladder) jump() *Plan {
	if l.span(1) < nearLength {
		return l.refuse(fmt.Sprintf("a jump has %d bytes, the instruction has %d", nearLength, l.run[0].Len()))
	}
	return l.attempt(shape{Jump, l.run[:1], 0, 4})
}

// overlap is the second rung: the fewest instructions that are as long as a jump.
func (l *ladder) overlap() *Plan {
	run, cause := l.cover(nearLength)
	if cause == "" {
		cause = l.branched(run)
	}
	if cause == "" {
		cause = l.uncertain()
	}
	if cause != "" {
		return l.refuse(cause)
	}
	return l.attempt(shape{Overlap, run, 0, 4})
}

// pun is the third rung: fewer instructions, as few as possible. One alone needs no guards, whatever branches go to the others.
func (l *ladder) pun() *Plan {
	for prefixes := range maxPrefixes + 1 {
		for n := 1; n <= len(l.run) && l.span(n) < nearLength+prefixes; n++ {
			if n > 1 && (l.branched(l.run[:n]) != "" || l.uncertain() != "") || l.span(n) <= prefixes {
				continue
			}
			if plan, _ := l.plan(&shape{Pun, l.run[:n], prefixes, 4}); plan != nil {
				return plan
			}
		}
	}
	return l.refuse("no jump that ends in the bytes of the instructions that follow goes to a free address")
}

// short is the fourth rung.
func (l *ladder) shortJump() *Plan {
	run, cause := l.cover(shortLength)
	if cause == "" && len(run) > 1 {
		cause = l.branched(run)
	}
	if cause != "" {
		return l.refuse(cause)
	}
	return l.attempt(shape{Short, run, 0, 1})
}

// unclean is the last rung.
func (l *ladder) unclean() *Plan {
	run, cause := l.cover(nearLength)
	switch {
	case l.function.End == 0 || cause != "" || l.branched(run) != "" || l.uncertain() == "":
		return nil // as said for Overlap
	case l.NoUnclean != "":
		return l.refuse(l.NoUnclean)
	}
	return l.attempt(shape{Unclean, run, 0, 4})
}

// span is the length of the first n instructions, with the padding behind them if nothing executes that.
func (l *ladder) span(n int) int {
	last := l.run[n-1]
	end := last.Next()
	if f := l.filler(end); !last.Falls() && f != nil {
		end = f.Range().End
	}
	return int(end - l.site.Addr)
}

// cover returns the fewest instructions that have so many bytes together, or why there are too few.
func (l *ladder) cover(size int) (run []*amd64.Instruction, cause string) {
	for n := range l.run {
		if l.span(n+1) >= size {
			return l.run[:n+1], ""
		}
	}
	return nil, l.short
}

// branched is why a jump over a run would be met by threads that go elsewhere than to its beginning, as far as that is known.
func (l *ladder) branched(run []*amd64.Instruction) (cause string) {
	for i, in := range run[1:] {
		if l.Targets.Is(in.At()) {
			return fmt.Sprintf("there is a branch to %v, under the jump", in.At())
		}
		if run[i].Flow() == amd64.FlowCall {
			return fmt.Sprintf("the call at %v returns to %v, under the jump", run[i].At(), in.At())
		}
	}
	return ""
}

// uncertain is why what is known about branches is not all.
func (l *ladder) uncertain() (cause string) {
	switch f := l.function; {
	case f.End == 0:
		return "the branches of the function are not known"
	case f.Indirect != 0:
		return fmt.Sprintf("the jump at %v goes through a register or memory, perhaps to an instruction under the jump", f.Indirect)
	case f.Unknown != 0:
		return fmt.Sprintf("the bytes at %v, in the same function, are no known instruction", f.Unknown)
	}
	return ""
}
