// Package exits finds where a function gives control back: its return instructions, and the jumps by which it leaves for another
// function (tail calls). It works on the bytes of the function alone.
//
// Code is swept from the beginning of each piece to its end. What that takes for instructions is right only if there is nothing
// but instructions, as compilers leave it. Two things must agree with it, or the function is refused: every byte belongs to an
// instruction that is known, and every branch within the function leads to where the sweep has an instruction begin.
package exits

import (
	"fmt"

	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/arch/arm64"
)

// Piece is a stretch of a function's code, all of which is instructions.
type Piece struct {
	Addr arch.Addr
	Code []byte // as the program's file has it
}

// has reports whether an address is in the piece.
func (p Piece) has(at arch.Addr) bool { return at >= p.Addr && uint64(at-p.Addr) < uint64(len(p.Code)) }

// Exits are where a function is left.
type Exits struct {
	Returns []arch.Addr // return instructions, ascending in each piece
	Tails   []arch.Addr // jumps that always lead to another function
	// Unclear are jumps that may lead elsewhere or not: conditional ones to another function, and those to an address that only
	// the running program knows, as a switch and a tail call by a pointer have them.
	Unclear []arch.Addr
}

// Find finds the exits of a function. Of a jump to an address that only the running program knows tail reports, by its address
// and the one behind it, whether it is known to be a tail call. The error says why the function's code cannot be taken apart with
// certainty.
func Find(m *arch.Machine, function []Piece, tail func(at, behind arch.Addr) bool) (Exits, error) {
	scan := scanners[m.Name]
	if scan == nil {
		return Exits{}, fmt.Errorf("return instructions of %s are not known here", m.Title)
	}
	s := sweep{function: function, tail: tail, begun: make(map[arch.Addr]bool)}
	for _, piece := range function {
		scan(piece, s.visit)
	}
	for _, target := range s.targets {
		if s.err == nil && !s.begun[target] {
			s.err = fmt.Errorf("a branch leads to %v, into the middle of what looks like an instruction", target)
		}
	}
	return s.found, s.err
}

// IsReturn reports whether code begins with an instruction by which a function returns to its caller.
func IsReturn(m *arch.Machine, code []byte) bool {
	returns := false
	switch {
	case len(code) == 0:
	case m == arch.AMD64:
		in, err := amd64.Decode(code, 0)
		returns = err == nil && in.Flow() == amd64.FlowReturn
	case m == arm64.ISA.Machine:
		in, err := arm64.Decode(code, 0)
		returns = err == nil && in.Flow() == arm64.FlowReturn
	}
	return returns
}

// step is one instruction of a function.
type step struct {
	at      arch.Addr
	len     int
	returns bool
	// A jump leads to target, always or under a condition, or through a register or memory (indirect).
	jumps, always, indirect bool
	target                  arch.Addr
	unknown                 bool
}

// scanners take code apart, by the names of machines.
var scanners = map[string]func(piece Piece, visit func(step)){
	arch.AMD64.Name: func(piece Piece, visit func(step)) {
		amd64.Scan(piece.Code, piece.Addr, func(s amd64.Step) {
			visit(step{s.At, s.Len, s.Flow == amd64.FlowReturn, s.Flow == amd64.FlowJump, s.Always, s.Indirect, s.Target,
				s.Unknown})
		})
	},
	arm64.ISA.Machine.Name: func(piece Piece, visit func(step)) {
		arm64.Scan(piece.Code, piece.Addr, func(s arm64.Step) {
			visit(step{s.At, arm64.Length, s.Flow == arm64.FlowReturn, s.Flow == arm64.FlowJump, s.Always, s.Indirect, s.Target,
				s.Unknown})
		})
	},
}

// sweep is a function that is being gone over.
type sweep struct {
	function []Piece
	tail     func(at, behind arch.Addr) bool
	begun    map[arch.Addr]bool // an instruction begins there
	targets  []arch.Addr        // branches within the function lead there
	found    Exits
	err      error
}

func (s *sweep) visit(step step) {
	s.begun[step.at] = true
	switch {
	case step.unknown && s.err == nil:
		s.err = fmt.Errorf("there is no instruction known at %v", step.at)
	case step.returns:
		s.found.Returns = append(s.found.Returns, step.at)
	case step.indirect && s.tail(step.at, step.at+arch.Addr(step.len)):
		s.found.Tails = append(s.found.Tails, step.at)
	case step.indirect:
		s.found.Unclear = append(s.found.Unclear, step.at)
	case !step.jumps || step.target == 0:
	case s.has(step.target):
		s.targets = append(s.targets, step.target)
	case step.always:
		s.found.Tails = append(s.found.Tails, step.at)
	default:
		s.found.Unclear = append(s.found.Unclear, step.at)
	}
}

func (s *sweep) has(at arch.Addr) bool {
	for _, piece := range s.function {
		if piece.has(at) {
			return true
		}
	}
	return false
}
