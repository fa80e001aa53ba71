package symbol

import (
	"fmt"
	"slices"
	"strings"

	"tracewell/arch"
	"tracewell/arch/exits"
	"tracewell/symbol/debuginfo"
	"tracewell/symbol/scope"
)

// Exits are where a function gives control back, described as Locate does.
type Exits struct {
	Function string
	Returns  []Location // return instructions
	Tails    []Location // jumps to another function, which returns in place of this one
	Unclear  []Location // jumps that may lead to another function or not, depending on what the program computes
}

// Exits finds the exits of the function whose code is at an address of the process: in all pieces of it, wherever the compiler
// has moved them. An inlined copy has none of its own, so those of the function around it are found. The error says why they
// cannot be found with certainty.
func (p *Program) Exits(at arch.Addr) (Exits, error) {
	o := p.ObjectAt(at)
	if o == nil {
		return Exits{}, fmt.Errorf("there is no code of a file at %v", at)
	}
	name, ranges, err := o.function(at - o.bias)
	if err != nil {
		return Exits{}, err
	}
	jumps, behinds := o.tailCalls(at - o.bias)
	var pieces []exits.Piece
	for _, r := range ranges {
		code := o.Code(r.Begin+o.bias, int(r.End-r.Begin))
		if uint64(len(code)) != uint64(r.End-r.Begin) {
			return Exits{}, fmt.Errorf("the file lacks code of %s", name)
		}
		pieces = append(pieces, exits.Piece{Addr: r.Begin, Code: code})
	}
	found, err := exits.Find(o.file.Arch(), pieces, func(at, behind arch.Addr) bool { return jumps[at] || behinds[behind] })
	if err != nil {
		return Exits{}, fmt.Errorf("the returns of %s cannot be told with certainty: %w", name, err)
	}
	unclear := slices.DeleteFunc(found.Unclear, o.hasFrame)
	tails := o.describeAll(found.Tails)
	for i := range tails {
		tails[i].Tail = true
	}
	return Exits{name, o.describeAll(found.Returns), tails, o.describeAll(unclear)}, nil
}

// Moved reports whether the code at an address of the process is in a part of a function that the compiler has moved away from
// where the function begins.
func (p *Program) Moved(at arch.Addr) bool {
	o := p.ObjectAt(at)
	if o == nil {
		return false
	}
	name, ranges, err := o.function(at - o.bias)
	return err == nil && (!ranges[0].Has(at-o.bias) || strings.HasSuffix(name, coldPart))
}

// largestFunction bounds what is taken for a function; damaged symbols claim any size.
const largestFunction = 16 << 20

// function is the function with the code at an address of the file: its name, and all pieces of its code. Without debug
// information these are what its symbol covers, and what that of its cold part does.
func (o *Object) function(pc arch.Addr) (name string, ranges []debuginfo.Range, err error) {
	if u := o.unitAt(pc); u != nil {
		if b := u.blockAt(pc).linkage(); b != nil {
			name, ranges = u.wholeName(b, o.symbols()), b.ranges
		}
	}
	if ranges == nil {
		symbol, offset, ok := o.symbols().covering(pc)
		switch {
		case !ok || !isFunction(symbol):
			return "", nil, fmt.Errorf("no function is known at %v", pc+o.bias)
		case offset >= symbol.Size:
			return "", nil, fmt.Errorf("where %s ends is not known: its symbol has no size", symbol.Plain())
		}
		name = symbol.Plain()
		if ranges, err = o.symbols().parts(symbol); err != nil {
			return "", nil, err
		}
	}
	for _, r := range ranges {
		if r.End < r.Begin || r.End-r.Begin > largestFunction {
			return "", nil, fmt.Errorf("where %s ends is not known", name)
		}
	}
	return name, ranges, nil
}

// tailCalls are the jumps that the debug information calls tail calls, of the function with the code at an address of the file.
func (o *Object) tailCalls(pc arch.Addr) (jumps, behinds map[arch.Addr]bool) {
	if u := o.unitAt(pc); u != nil {
		if b := u.blockAt(pc).linkage(); b != nil {
			return scope.TailCalls(o.file, b.function.entry)
		}
	}
	return nil, nil
}

// coldPart is what GCC and Clang append to the name of a function for the part that they move away because it is hardly executed.
const coldPart = ".cold"

// parts are the code that a symbol covers and that of its other part, if there is one.
func (s *elfSymbols) parts(of *debuginfo.Symbol) ([]debuginfo.Range, error) {
	other, isCold := strings.CutSuffix(of.Plain(), coldPart)
	if !isCold {
		other += coldPart
	}
	parts := []debuginfo.Range{{Begin: of.Addr, End: of.Addr + arch.Addr(of.Size)}}
	for i := range s.all {
		if c := &s.all[i]; isFunction(c) && c.Plain() == other {
			parts = append(parts, debuginfo.Range{Begin: c.Addr, End: c.Addr + arch.Addr(c.Size)})
		}
	}
	if len(parts) > 2 {
		return nil, fmt.Errorf("which %s belongs to %s is not known: there are %d", other, of.Plain(), len(parts)-1)
	}
	return parts, nil
}

// hasFrame reports whether the unwind table says that a function has something on the stack at an address: then a jump from there
// does not lead to another function, which would have to find the return address on top.
func (o *Object) hasFrame(pc arch.Addr) bool {
	unwound, err := o.file.CFA(pc)
	if err != nil || unwound.CFA.Expr != nil {
		return false
	}
	rule := unwound.Registers[unwound.Return]
	m := o.file.Arch()
	return rule.Kind == debuginfo.RuleOffset && (m.DWARFName(unwound.CFA.Register) != m.SP || unwound.CFA.Offset+rule.Offset != 0)
}

// describeAll describes addresses of the file.
func (o *Object) describeAll(addrs []arch.Addr) []Location {
	var all []Location
	for _, at := range addrs {
		all = append(all, o.describe(at))
	}
	return all
}
