package expr

import (
	"errors"
	"slices"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/internal/cexpr"
	"tracewell/symbol/container"
	"tracewell/symbol/ctype"
	"tracewell/trace"
)

// Operands says what the parts of an expression mean that is computed over what was collected. Any part can have a name:
// where there is a value under "j->id", no pointer is followed.
type Operands interface {
	// Operand finds what has a name, which is in the form that cexpr.Normal gives: "limit", "$rip", "j->id", "buf[0]@16".
	Operand(name string) (Operand, bool)
	// Type finds a type that C does not define, "struct job" or "queue_t".
	Type(name string) (*ctype.Type, bool)
	// Names lists what can be named, for messages.
	Names() []string
	ABI() ctype.ABI
	Order() arch.ByteOrder // of memory
}

// Operand is what a name stands for.
type Operand struct {
	ID    int // by which Values knows it
	Type  *ctype.Type
	Place bool // it lies in memory: Values knows its address
}

// Values has the values of operands.
type Values interface {
	// Value returns the value of a scalar operand, or of one in floating point, in the lowest bytes; false if it is unavailable.
	Value(id int) (uint64, bool)
	// Address returns where an operand lies that has a Place.
	Address(id int) (uint64, bool)
	// Memory reads an integer of 1, 2, 4 or 8 bytes.
	Memory(addr uint64, size int) (uint64, bool)
	// Lacks reports what was unavailable, by its index in Scalar.Leaves.
	Lacks(leaf int)
}

// Scalar is an expression whose value is an integer, a truth value or a pointer, ready to be computed from what was collected.
// A value may be unavailable, and so is what is computed of it, but "unavailable || 1" is 1 and "unavailable && 0" is 0. A
// division by zero is unavailable, too. Unlike an agent expression it may compute with doubles and floats on the way.
//
// A Scalar holds the room for computing, so that this allocates nothing. It belongs to one goroutine.
type Scalar struct {
	typ    *ctype.Type
	root   *unit
	leaves []string
	state  evaluation
}

// CompileScalar compiles an expression that changes nothing. The error is an *Error.
func CompileScalar(text string, operands Operands) (s *Scalar, err error) {
	c := newReadingCompiler(text, operands)
	defer rescue(&err)
	root := c.parse()
	v := c.scalar(root)
	p := c.partial
	s = &Scalar{typ: v.typ, root: c.unit(root, v.code), leaves: p.leaves}
	s.state = evaluation{cells: p.cells, bits: make([]uint64, len(p.cells))}
	return s, nil
}

// TypeOf returns the type of an expression that changes nothing, and false if it cannot be compiled. The type need not be a
// scalar.
func TypeOf(text string, operands Operands) (t *ctype.Type, ok bool) {
	c := newReadingCompiler(text, operands)
	var err error
	defer func() { ok = err == nil }()
	defer rescue(&err)
	return c.value(c.parse()).typ, true
}

func newReadingCompiler(text string, operands Operands) *compiler {
	c := newCompiler(text, operandScope{operands})
	c.dialect, c.partial = cexpr.Reading, &partial{operands: operands}
	return c
}

// Type returns the type of the value.
func (s *Scalar) Type() *ctype.Type { return s.typ }

// Leaves returns the parts of the expression that have to be available, as the expression has them. Values.Lacks counts in it.
func (s *Scalar) Leaves() []string { return s.leaves }

// Eval computes the value, false if it is unavailable.
func (s *Scalar) Eval(values Values) (ctype.Number, bool) {
	s.state.values = values
	bits, ok := s.root.eval(&s.state)
	return ctype.Number{Bits: bits, Type: s.typ}, ok
}

// partial is what a compiler gathers for a Scalar. An agent expression ends at the first value that is unavailable. So what can
// be unavailable is taken out of the code: each such part is a cell, and the code around it reads its value as it would read
// a register of that number. Code over cells that are all available cannot fail.
type partial struct {
	operands Operands
	cells    []cell
	leaves   []string
}

// cell computes a part of an expression that may be unavailable, in 64 bits: an integer extended by the sign of its type, or a
// double.
type cell func(e *evaluation) (uint64, bool)

// evaluation is the state of computing a Scalar, and what its code sees as registers.
type evaluation struct {
	nowhere
	values  Values
	cells   []cell
	bits    []uint64 // by cell
	machine ax.Machine
}

// Register returns the value of a cell.
func (e *evaluation) Register(r arch.Reg) (uint64, error) { return e.bits[r], nil }

// unit is code over cells.
type unit struct {
	program *ax.Program
	cells   []arch.Reg
	alone   bool // the code does no more than read its only cell
}

// unit makes code ready to be run. Code of four bytes is an ax.OpReg with its operand of two and the end: it only reads a cell,
// and need not be run at all.
func (c *compiler) unit(n *cexpr.Node, work code) *unit {
	p, err := build(work)
	if err != nil {
		c.fail(n, err.Error(), "")
	}
	cells := p.Requirements().Registers
	return &unit{p, cells, len(cells) == 1 && len(p.Code()) == 4}
}

// eval computes all cells even if one is unavailable, for the message to name all that lacks.
func (u *unit) eval(e *evaluation) (uint64, bool) {
	available := true
	for _, n := range u.cells {
		bits, ok := e.cells[n](e)
		e.bits[n] = bits
		available = available && ok
	}
	switch {
	case !available:
		return 0, false
	case u.alone:
		return e.bits[u.cells[0]], true
	}
	bits, err := e.machine.Value(u.program, e)
	return uint64(bits), err == nil
}

// mostCells is how many parts of an expression may be unavailable: registers have numbers of 16 bits.
const mostCells = 1 << 16

// cell adds a cell, and returns the code that reads it.
func (c *compiler) cell(n *cexpr.Node, get cell) code {
	if len(c.partial.cells) == mostCells {
		c.fail(n, "the expression is too long", "")
	}
	number := uint64(len(c.partial.cells))
	c.partial.cells = append(c.partial.cells, get)
	return func(b *ax.Builder) error {
		b.Emit(ax.OpReg, number)
		return nil
	}
}

// leaf adds a cell that reports itself when it is unavailable (Values.Lacks). Parts with the same text are one leaf: a user is
// told once.
func (c *compiler) leaf(n *cexpr.Node, name string, get func(v Values) (uint64, bool)) code {
	leaf := c.leafNumber(name)
	return c.cell(n, func(e *evaluation) (uint64, bool) {
		bits, ok := get(e.values)
		if !ok {
			e.values.Lacks(leaf)
		}
		return bits, ok
	})
}

func (c *compiler) leafNumber(name string) int {
	p := c.partial
	if i := slices.Index(p.leaves, name); i >= 0 {
		return i
	}
	p.leaves = append(p.leaves, name)
	return len(p.leaves) - 1
}

// operand compiles a part that has a name, false if it has none. A word must have one.
func (c *compiler) operand(n *cexpr.Node) (value, bool) {
	name := n.String()
	o, ok := Operand{}, false
	if n.Form != cexpr.Literal {
		o, ok = c.partial.operands.Operand(name)
	}
	switch {
	case !ok && n.Form == cexpr.NameForm:
		name = n.Token.Text
		panic(&cexpr.Error{Text: c.text, Start: n.Token.Start, End: n.Token.End(), Problem: "there is no " + name,
			Hint: cexpr.Suggest(name, c.scope.Names()), Unknown: name})
	case !ok:
		return value{}, false
	}
	v := value{typ: o.Type}
	if o.Place {
		v.place = Memory{c.leaf(n, name, func(v Values) (uint64, bool) { return v.Address(o.ID) })}
	}
	if o.Type.Scalar() || isFloat(o.Type) {
		v.code = c.widened(n, c.leaf(n, name, func(v Values) (uint64, bool) { return v.Value(o.ID) }), o.Type)
	}
	return v, true
}

// memoryCell reads a number in memory that was collected by another expression, as *p from what p points to. The leaf is the part's
// text. Where the address itself is unavailable only that is reported.
func (c *compiler) memoryCell(n *cexpr.Node, addr code, typ *ctype.Type) code {
	at, leaf := c.unit(n, addr), c.leafNumber(n.String())
	return c.widened(n, c.cell(n, func(e *evaluation) (uint64, bool) {
		place, ok := at.eval(e)
		if !ok {
			return 0, false
		}
		bits, ok := e.values.Memory(place, typ.Size)
		if !ok {
			e.values.Lacks(leaf)
		}
		return bits, ok
	}), typ)
}

// decided is && and ||. Either is decided by one operand that is available and decides it, whichever it is: three-valued logic,
// as SQL has it for NULL. The right operand is not computed where the left one decides, so that what it lacks is not reported.
func (c *compiler) decided(n *cexpr.Node, left, right code) code {
	decisive := n.Op == "||"
	first, second := c.unit(n, left), c.unit(n, right)
	return c.cell(n, func(e *evaluation) (uint64, bool) {
		a, ok := first.eval(e)
		if ok && (a != 0) == decisive {
			return truth(decisive), true
		}
		b, known := second.eval(e)
		if known && (b != 0) == decisive {
			return truth(decisive), true
		}
		return truth(!decisive), ok && known
	})
}

// chosen is a ? b : c, of which only the operand that is chosen has to be available.
func (c *compiler) chosen(n *cexpr.Node, condition, yes, no code) code {
	decision, then, otherwise := c.unit(n, condition), c.unit(n, yes), c.unit(n, no)
	return c.cell(n, func(e *evaluation) (uint64, bool) {
		bits, ok := decision.eval(e)
		switch {
		case !ok:
			return 0, false
		case bits != 0:
			return then.eval(e)
		}
		return otherwise.eval(e)
	})
}

// divisor is what something is divided by, and unavailable if it is 0: GDB's "Division by zero" ends an expression, which a
// condition over thousands of frames must not. The leaf says so in the list of what lacked.
func (c *compiler) divisor(n *cexpr.Node, v value) value {
	if v.known != nil && *v.known != 0 {
		return v
	}
	by, leaf := c.unit(n, v.code), c.leafNumber(n.String()+" (division by zero)")
	v.known, v.code = nil, c.cell(n, func(e *evaluation) (uint64, bool) {
		bits, ok := by.eval(e)
		if ok && bits == 0 {
			e.values.Lacks(leaf)
		}
		return bits, ok && bits != 0
	})
	return v
}

// truth is a truth value as an int.
func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// operandScope is a Scope in which only Operands have names, and nothing besides that a program would know.
type operandScope struct{ Operands }

var errNotCollected = errors.New("only what was collected has a name")

// Lookup tells the grammar what has a name. The compiler asks for operands itself, before it would come here.
func (s operandScope) Lookup(name string) (Object, error) {
	if o, ok := s.Operand(name); ok {
		return Object{Name: name, Type: o.Type}, nil
	}
	return Object{}, errNotCollected
}

// Type finds a type that C does not define.
func (s operandScope) Type(name string) (*ctype.Type, error) {
	if t, ok := s.Operands.Type(name); ok {
		return t, nil
	}
	return nil, errNotCollected
}

func (operandScope) Register(string) (Object, error) { return Object{}, errNotCollected }
func (operandScope) Return() (Object, error)         { return Object{}, errNotCollected }
func (operandScope) Length(*ctype.Bound) (func(b *ax.Builder) error, error) {
	return nil, errNotCollected
}
func (operandScope) Variable(string) (trace.VariableNumber, bool) { return 0, false }
func (operandScope) Registers() []arch.Reg                        { return nil }
func (operandScope) Arguments() []string                          { return nil }
func (operandScope) Locals() []string                             { return nil }
func (operandScope) Language() ctype.Language                     { return ctype.C }
func (operandScope) Concrete(string) []container.Concrete         { return nil }
