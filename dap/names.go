package dap

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tracewell/arch"
	"tracewell/internal/text"
	"tracewell/symbol"
	"tracewell/symbol/container"
	"tracewell/symbol/ctype"
	"tracewell/symbol/expr"
	"tracewell/symbol/unwind"
	"tracewell/tdesc"
	"tracewell/trace"
)

// names is what gives names to what a debuggee holds.
type names struct {
	program   *symbol.Program // nil for none
	layout    *tdesc.Layout   // nil where registers have no names
	machine   *arch.Machine   // nil where it is not known
	order     arch.ByteOrder
	shapes    *container.Shapes
	variables map[string]trace.VariableNumber // trace state variables

	unwinder *unwind.Unwinder
}

// call is an active call.
type call struct {
	symbol.Location
	code    arch.Addr    // within the instruction that it is at
	moment  moment       // of the whole stack
	context expr.Context // its registers, and memory
	inner   bool         // the innermost of those that are one call for the processor: names mean what they mean in it
	signal  bool
	guessed bool
}

// mostCalls bounds a stack: one that is damaged may be endless.
const mostCalls = 1000

// calls returns the active calls at a moment, the innermost first. There is one at least. Where the stack was not collected it is
// the only one.
func (n *names) calls(m moment) []call {
	pc, ok := m.pc()
	if !ok {
		return []call{{moment: m, context: m, inner: true}}
	}
	if n.program == nil {
		return []call{{Location: symbol.Location{Addr: pc}, code: pc, moment: m, context: m, inner: true}}
	}
	var stack []unwind.Frame
	if registers, _ := m.block(); n.layout != nil && registers != nil {
		if n.unwinder == nil {
			n.unwinder = unwind.New(n.program, n.layout)
		}
		stack, _ = n.unwinder.Stack(pc, registers, m) // the error is why there are no more
	}
	if len(stack) == 0 {
		stack = []unwind.Frame{{PC: pc, Code: pc}}
	}
	var all []call
	for i := range stack {
		context := expr.Context(m)
		if i > 0 {
			context = &callerContext{moment: m, names: n, frame: &stack[i]}
		}
		for k, at := range n.program.Calls(stack[i].Code) {
			at.Addr = stack[i].PC
			all = append(all, call{at, stack[i].Code, m, context, k == 0, stack[i].Signal, stack[i].Guessed})
		}
		if len(all) >= mostCalls {
			break
		}
	}
	return all
}

// innermost returns the innermost call alone, for which no stack is unwound.
func (n *names) innermost(m moment) call {
	pc, ok := m.pc()
	if !ok || n.program == nil {
		return call{Location: symbol.Location{Addr: pc}, code: pc, moment: m, context: m, inner: true}
	}
	return call{n.program.Calls(pc)[0], pc, m, m, true, false, false}
}

// title is the name of a call.
func (c *call) title() string {
	name := c.Function
	switch {
	case c.signal:
		name = "<signal handler called>"
	case name == "" && c.Object != nil:
		name = c.Addr.String() + " in " + lastElement(c.Object.Path())
	case name == "":
		name = c.Addr.String()
	}
	if c.guessed {
		name += " (by the frame pointer)"
	}
	return text.Visible(name)
}

// place is a call in a few words: "push (queue.c:13)".
func (c *call) place() string {
	if c.File == "" {
		return c.title()
	}
	return fmt.Sprintf("%s (%s:%d)", c.title(), text.Visible(lastElement(c.File)), c.Line)
}

// lastElement is what stands behind the last slash of a path; paths of a trace are those of the traced machine.
func lastElement(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// callerContext is a call further out, whose registers are those that unwinding has restored.
type callerContext struct {
	moment
	names *names
	frame *unwind.Frame
}

var errNotRestored = errors.New("its value in this call is not known")

// Register implements expr.Context.
func (c *callerContext) Register(r arch.Reg) ([]byte, error) {
	slot := c.names.layout.ByNumber(r)
	if slot == nil || c.names.machine == nil || slot.Size > 8 {
		return nil, errNotRestored
	}
	value, ok := uint64(c.frame.PC), slot.Reg.Name == c.names.machine.PC
	if dwarf := slices.Index(c.names.machine.DWARF, slot.Reg.Name); !ok && dwarf >= 0 {
		value, ok = c.frame.Register(dwarf)
	}
	// An unwinder takes a register whose value is not known for one that is 0.
	if !ok || value == 0 && !c.known(slot) {
		return nil, errNotRestored
	}
	whole := c.names.order.AppendUint64(nil, value)
	if c.names.order.Uint16([]byte{0, 1}) == 1 { // big endian: the lowest byte is the last
		return whole[len(whole)-slot.Size:], nil
	}
	return whole[:slot.Size], nil
}

// known reports whether the innermost call has a register.
func (c *callerContext) known(slot *tdesc.Slot) bool {
	registers, known := c.moment.block()
	return isKnown(slot, registers, known)
}

// isKnown reports whether all of a register is known.
func isKnown(slot *tdesc.Slot, registers []byte, known []bool) bool {
	if slot.Offset+slot.Size > len(registers) {
		return false
	}
	return known == nil || !slices.Contains(known[slot.Offset:slot.Offset+slot.Size], false)
}

// scope is what names mean in a call, with trace state variables.
type variableScope struct {
	expr.Scope
	variables map[string]trace.VariableNumber
}

// Variable implements expr.Scope.
func (s variableScope) Variable(name string) (trace.VariableNumber, bool) {
	n, ok := s.variables[name]
	return n, ok
}

// errNoNames says why an expression cannot be evaluated.
var errNoNames = errors.New("there is no program that gives names a meaning: name its file as program in the launch configuration")

// errOuter says why the variables of a function are not found, into which another one was inlined.
var errOuter = errors.New("names are found in the innermost inlined function only")

// scope returns what names mean in a call.
func (n *names) scope(c *call) (expr.Scope, error) {
	switch {
	case n.program == nil:
		return bareScope{n}, nil
	case !c.inner:
		return nil, errOuter
	}
	return variableScope{n.program.Scope(c.code), n.variables}, nil
}

// printer prints values of a moment.
func (n *names) printer(memory func(arch.Addr, []byte) int, language ctype.Language) ctype.Printer {
	p := ctype.Printer{Order: n.order, Language: language, Memory: memory, Brief: true, UTF8: true}
	if n.shapes != nil {
		p.Unfold = n.shapes.Unfold
	}
	if n.program != nil {
		p.Symbol = func(addr arch.Addr) string { return text.Visible(n.program.Describe(addr)) }
	}
	return p
}

// describe names an address with its line: "push+4 (queue.c:13)".
func (n *names) describe(addr arch.Addr) string {
	if n.program == nil {
		return addr.String()
	}
	at := n.program.Calls(addr)[0]
	c := call{Location: at}
	return c.place()
}
