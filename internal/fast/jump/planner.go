package jump

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tracewell/arch"
)

// CodeSize is how many bytes of the program a Site needs from its location on, if so many are mapped: five instructions.
const CodeSize = 5 * 15

// Site is a location that is to be patched.
type Site struct {
	Addr arch.Addr
	Code []byte // the program's own bytes from Addr on, without patches: CodeSize of them, fewer at the end of a mapping
	Name string // of the function, if that is one of Go, as its symbol has it
}

// Planner plans the patches of one address space, one location at a time. Plan them in the order of their addresses: then one that
// is too close to the one before it is covered by that. It is for one goroutine.
type Planner struct {
	Targets *Targets // of the code; in a function that has not been swept no jump lies over several instructions
	Room    *Room    // for trampolines
	Padding []Filler // between functions, in order (Padding)
	Pads    Range    // all pads are in here

	// Wanted is all locations that are to be patched or to have a trap, in order. No pun relies on their bytes.
	Wanted []arch.Addr

	Go          bool // functions with names have stacks that Go's runtime has given them
	ShadowStack bool // a thread has one: no calls are displaced

	NoUnclean string // why the rung Unclean is not for this program, as a cause; empty if it is

	held []hold // in order
}

// hold is bytes that no other patch may change.
type hold struct {
	Range
	plan *Plan // nil: a breakpoint or the like
}

// String says what holds the bytes, as a cause.
func (h hold) String() string {
	if h.plan == nil {
		return fmt.Sprintf("there is a breakpoint at %v", h.Start)
	}
	return fmt.Sprintf("the patch of %v is in the way", h.plan.Addr)
}

// Refusal is why a location cannot be patched with a jump.
type Refusal struct {
	Addr   arch.Addr
	Causes []string // clauses that have no beginning in common; at least one
}

// Error joins the causes.
func (e *Refusal) Error() string {
	return fmt.Sprintf("no jump can be written at %v: %s", e.Addr, strings.Join(e.Causes, "; "))
}

// Hold keeps patches away from bytes, at most maxHold: a breakpoint, or a location that stays a trap.
func (p *Planner) Hold(r Range) { p.hold(hold{r, nil}) }

// Unhold ends Hold.
func (p *Planner) Unhold(r Range) {
	p.unhold(r.Start, func(h hold) bool { return h.plan == nil && h.Range == r })
}

// Covering returns the plan whose pad has to collect for an address, because the instruction there is displaced with one in front
// of it; nil if there is none.
func (p *Planner) Covering(addr arch.Addr) *Plan {
	for _, h := range p.overlapping(Range{addr, addr + 1}) {
		if h.plan != nil && h.plan.Covers(addr) {
			return h.plan
		}
	}
	return nil
}

// InTheWay returns the plans whose patches do not bear that bytes of a range are changed, by a breakpoint for instance.
func (p *Planner) InTheWay(r Range) (plans []*Plan) {
	for _, h := range p.overlapping(r) {
		if h.plan != nil {
			plans = append(plans, h.plan)
		}
	}
	return plans
}

// Plan decides how a location is patched, and reserves what that needs. The error is a *Refusal.
func (p *Planner) Plan(s Site) (*Plan, error) {
	s.Code = s.Code[:min(len(s.Code), CodeSize)]
	l := &ladder{Planner: p, site: s}
	if cause := l.admit(); cause != "" {
		return nil, &Refusal{s.Addr, []string{cause}}
	}
	for _, rung := range []func() *Plan{l.jump, l.overlap, l.pun, l.shortJump, l.unclean} {
		if plan := rung(); plan != nil {
			p.hold(hold{plan.Held, plan})
			if plan.Hop != 0 {
				p.hold(hold{Range{plan.Hop, plan.Hop + nearLength}, plan})
			}
			return plan, nil
		}
	}
	return nil, &Refusal{s.Addr, l.causes}
}

// Fork returns the planner of a copy of the address space, that of a forked child, with the plans that are kept. Its room is a
// copy of this one's. Both share what is known of the code.
func (p *Planner) Fork(room *Room, kept func(*Plan) bool) *Planner {
	child := *p
	child.Room, child.held = room, nil
	for _, h := range p.held {
		switch {
		case h.plan == nil:
		case kept(h.plan):
			child.held = append(child.held, h)
		case h.plan.Landing != 0 && h.Range == h.plan.Held: // once, for a plan may hold two ranges
			room.Give(h.plan.Landing, Trampoline)
		}
	}
	return &child
}

// Release gives back what a plan has reserved, unless that has been done. Its patch must be out of the program, and no thread on
// its trampoline.
func (p *Planner) Release(plan *Plan) {
	of := func(h hold) bool { return h.plan == plan }
	held := p.unhold(plan.Held.Start, of)
	if plan.Hop != 0 {
		p.unhold(plan.Hop, of)
	}
	if plan.Landing != 0 && held {
		p.Room.Give(plan.Landing, Trampoline)
	}
}

// unhold takes out those of the holds from an address on that are gone, and reports whether there were any.
func (p *Planner) unhold(start arch.Addr, gone func(hold) bool) (found bool) {
	for i, _ := p.search(start); i < len(p.held) && p.held[i].Start == start; {
		if !gone(p.held[i]) {
			i++
			continue
		}
		found = true
		p.held = slices.Delete(p.held, i, i+1)
	}
	return found
}

// hold inserts a hold in order.
func (p *Planner) hold(h hold) {
	i, _ := p.search(h.Start)
	p.held = slices.Insert(p.held, i, h)
}

// search returns the index of the first hold that begins at an address or behind it.
func (p *Planner) search(at arch.Addr) (i int, found bool) {
	return slices.BinarySearchFunc(p.held, at, func(h hold, at arch.Addr) int {
		if h.Start < at {
			return -1
		}
		return 1
	})
}

// filler returns the padding that an address is in, nil if it is in none.
func (p *Planner) filler(at arch.Addr) *Filler {
	i, found := slices.BinarySearchFunc(p.Padding, at, func(f Filler, at arch.Addr) int { return cmp.Compare(f.At, at) })
	if !found {
		i--
	}
	if i < 0 || at >= p.Padding[i].Range().End {
		return nil
	}
	return &p.Padding[i]
}

// maxHold is the length of the longest hold: a jump with null prefixes.
const maxHold = 8

// overlapping returns the holds that have a byte of a range.
func (p *Planner) overlapping(r Range) (found []hold) {
	first, _ := p.search(r.Start - min(r.Start, maxHold))
	for _, h := range p.held[first:] {
		if h.Start >= r.End {
			break
		}
		if h.overlaps(r) {
			found = append(found, h)
		}
	}
	return found
}
