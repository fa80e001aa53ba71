package expr

import (
	"errors"
	"fmt"
	"sync"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/internal/cexpr"
	"tracewell/symbol/ctype"
	"tracewell/trace"
)

// Evaluator finds the value of one expression again in any Context. It does not change, and several goroutines may use it.
type Evaluator struct {
	Text string
	Type *ctype.Type // of the value, with references followed; an array without a length where the length is computed

	order arch.ByteOrder
	place located
	field *ctype.Field // of a bit field: it is a part of the bytes in the place

	shape     shaped      // of an array whose length is computed
	written   *ctype.Type // the type with references not followed
	reference located     // where the reference itself is, nil if the value is none
}

// Context is what an expression is evaluated in: the registers, the memory and the trace state variables of a traceframe, or of
// a stopped process. What a traceframe did not collect is an error.
type Context interface {
	// Register returns a whole register, in the byte order of the target.
	Register(r arch.Reg) ([]byte, error)
	// Memory reads n bytes, all of them.
	Memory(addr arch.Addr, n int) ([]byte, error)
	// Variable returns a trace state variable.
	Variable(n trace.VariableNumber) (int64, error)
}

// Result is where a value is found, or what it is.
type Result struct {
	InMemory bool
	Addr     arch.Addr // InMemory
	Bytes    []byte    // otherwise: as memory would hold it
	Holes    []ctype.Hole
}

// Compile compiles an expression of any type for its value. The error is an *Error.
func Compile(text string, s Scope) (evaluator *Evaluator, err error) {
	c := newCompiler(text, s)
	defer rescue(&err)
	root := c.parse()
	written := compilers[root.Form](c, root)
	v := c.followed(root, written)
	evaluator = &Evaluator{Text: text, Type: v.typ, order: s.Order(), field: v.field, shape: c.shape(root, v)}
	evaluator.written, evaluator.reference = written.typ, c.reference(root, written)
	switch {
	case v.code != nil:
		evaluator.place = c.computed(root, v.code, v.typ.Size)
	case v.field != nil:
		evaluator.place = c.locate(root, v.place, v.field.Span())
	default:
		evaluator.place = c.locate(root, v.place, v.typ.Size)
	}
	return evaluator, nil
}

// Locate finds the value in a context. It reads no more than it takes to know where the value lies.
func (e *Evaluator) Locate(w Context) (Result, error) {
	r, err := e.place(w, e.order)
	if err != nil || e.field == nil {
		return r, err
	}
	if len(r.Holes) > 0 {
		return Result{Bytes: make([]byte, e.Type.Size), Holes: []ctype.Hole{{To: e.Type.Size, Why: r.Holes[0].Why}}}, nil
	}
	whole, err := r.bytes(w, e.field.Span())
	if err != nil {
		return Result{}, err
	}
	return Result{Bytes: e.field.Unpack(whole, e.Type.Order(e.order))}, nil
}

// Bytes returns the value in a context, as memory would hold it. All of it has to be known.
func (e *Evaluator) Bytes(w Context) ([]byte, error) {
	r, err := e.Locate(w)
	if err != nil {
		return nil, err
	}
	if len(r.Holes) > 0 {
		return nil, errors.New(r.Holes[0].Why + " in part")
	}
	typ, err := e.typeIn(w)
	if err != nil {
		return nil, err
	}
	return r.bytes(w, typ.Size)
}

// typeIn is the type of the value in a context.
func (e *Evaluator) typeIn(w Context) (*ctype.Type, error) {
	if e.shape == nil {
		return e.Type, nil
	}
	return e.shape(w, e.order)
}

// Value returns the value in a context as a Printer prints it: a reference as such, and with holes for what is not known.
func (e *Evaluator) Value(w Context) (ctype.Value, error) {
	find := e.Locate
	typ, err := e.typeIn(w)
	if err != nil {
		return ctype.Value{}, err
	}
	if e.reference != nil {
		find, typ = func(w Context) (Result, error) { return e.reference(w, e.order) }, e.written
	}
	r, err := find(w)
	if err != nil {
		return ctype.Value{}, err
	}
	v := ctype.Value{Type: typ, InMemory: r.InMemory, Addr: r.Addr, Bytes: r.Bytes, Holes: r.Holes}
	if !r.InMemory {
		return v, nil
	}
	if v.Bytes, err = w.Memory(r.Addr, typ.Size); err != nil {
		v.Bytes, v.Holes = sparse(w, r.Addr, typ.Size)
	}
	return v, nil
}

// sparse reads memory of which some is not available, byte by byte: a traceframe may have collected any parts of it. GDB shows
// <unavailable> for those parts only.
func sparse(w Context, addr arch.Addr, size int) (b []byte, holes []ctype.Hole) {
	b = make([]byte, size)
	for i := range b {
		if one, err := w.Memory(addr+arch.Addr(i), 1); err == nil {
			b[i] = one[0]
		} else {
			holes = withHole(holes, ctype.Hole{From: i, To: i + 1, Why: ctype.Unavailable})
		}
	}
	return b, holes
}

// withHole appends a hole, or makes the last one longer.
func withHole(holes []ctype.Hole, h ctype.Hole) []ctype.Hole {
	if n := len(holes); n > 0 && holes[n-1].Why == h.Why && holes[n-1].To >= h.From {
		holes[n-1].To = max(holes[n-1].To, h.To)
		return holes
	}
	return append(holes, h)
}

// reference prepares finding a reference itself, nil if a value is none.
func (c *compiler) reference(n *cexpr.Node, v value) located {
	if v.typ.Kind != ctype.Pointer || !v.typ.Reference || v.code != nil {
		return nil
	}
	return c.locate(n, v.place, v.typ.Size)
}

func (r Result) bytes(w Context, size int) ([]byte, error) {
	if r.InMemory {
		return w.Memory(r.Addr, size)
	}
	return r.Bytes, nil
}

// encode is an integer as memory holds it, in any size. Bytes beyond the eighth are zero.
func encode(bits uint64, size int, order arch.ByteOrder) []byte {
	b := make([]byte, size)
	for i := range b {
		at := i
		if isBig(order) {
			at = size - 1 - i
		}
		if i < 8 {
			b[at] = byte(bits >> (8 * i))
		}
	}
	return b
}

// located finds a place in a context.
type located func(w Context, order arch.ByteOrder) (Result, error)

// counted computes a number in a context.
type counted func(w Context, order arch.ByteOrder) (uint64, error)

// computed is a value that code pushes.
func (c *compiler) computed(n *cexpr.Node, work code, size int) located {
	run := c.program(n, work)
	return func(w Context, order arch.ByteOrder) (Result, error) {
		bits, err := run(w, order)
		return Result{Bytes: encode(bits, size, order)}, err
	}
}

// program makes code that can be run in a context.
func (c *compiler) program(n *cexpr.Node, work code) counted {
	p, err := build(work)
	if err != nil {
		c.fail(n, err.Error(), "")
	}
	return func(w Context, order arch.ByteOrder) (uint64, error) {
		r := idle.Get().(*run)
		defer idle.Put(r)
		r.env = env{w: w, order: order}
		bits, err := r.machine.Value(p, &r.env)
		return uint64(bits), errors.Join(err, r.env.err)
	}
}

// run is what it takes to run code. There is one for each of the goroutines that do, so that nothing is allocated for a frame.
type run struct {
	machine ax.Machine
	env     env
}

var idle = sync.Pool{New: func() any { return new(run) }}

// locate prepares finding what lies in a place.
func (c *compiler) locate(n *cexpr.Node, p Place, size int) located {
	switch at := p.(type) {
	case Memory:
		run := c.program(n, at.Emit)
		return func(w Context, order arch.ByteOrder) (Result, error) {
			addr, err := run(w, order)
			return Result{InMemory: true, Addr: arch.Addr(addr)}, err
		}
	case Register:
		at.Size = min(at.Size, size)
		return at.locate
	case Value:
		return c.computed(n, at.Emit, size)
	case Constant:
		return func(Context, arch.ByteOrder) (Result, error) { return Result{Bytes: at.Bytes}, nil }
	case Pieces:
		return c.locatePieces(n, at, size)
	case Absent:
		c.fail(n, n.String()+": "+at.Reason, "")
	}
	c.fail(n, n.String()+" is nowhere", "")
	return nil
}

func (r Register) locate(w Context, order arch.ByteOrder) (Result, error) {
	b, err := w.Register(r.Num)
	if err != nil {
		return Result{}, err
	}
	first := r.Offset
	if isBig(order) {
		first = len(b) - r.Offset - r.Size
	}
	if first < 0 || r.Size < 0 || first+r.Size > len(b) {
		return Result{}, fmt.Errorf("register %d has %d bytes, and %d from %d are wanted", r.Num, len(b), r.Size, r.Offset)
	}
	return Result{Bytes: b[first : first+r.Size]}, nil
}

// locatePieces prepares putting a value together from its pieces, bit by bit, as pieces need not begin or end at bytes. A piece
// that is not available makes a hole of the bytes that it touches.
func (c *compiler) locatePieces(n *cexpr.Node, pieces Pieces, size int) located {
	parts := make([]located, len(pieces))
	some := false
	for i, p := range pieces {
		if _, absent := p.Place.(Absent); p.Place != nil && !absent {
			parts[i] = c.locate(n, p.Place, (p.Offset+p.Bits+7)/8)
			some = true
		}
	}
	if !some {
		c.fail(n, n.String()+": optimized out", "")
	}
	return func(w Context, order arch.ByteOrder) (Result, error) {
		whole := bits{bytes: make([]byte, size), order: order}
		for i, p := range pieces {
			whole.piece(w, p, parts[i])
		}
		if 8*size > whole.done {
			whole.hole(8*size-whole.done, ctype.OptimizedOut)
		}
		return Result{Bytes: whole.bytes, Holes: whole.holes}, nil
	}
}

// bits is a value that is put together from pieces, from its lowest address on. Positions count bits from there; in big-endian
// order the first bit of a byte is its highest.
type bits struct {
	bytes []byte
	done  int
	order arch.ByteOrder
	holes []ctype.Hole
}

// piece takes in a piece that is found by find, if it is anywhere.
func (w *bits) piece(in Context, p Piece, find located) {
	if find == nil {
		w.hole(p.Bits, ctype.OptimizedOut)
		return
	}
	r, err := find(in, w.order)
	var b []byte
	if err == nil {
		b, err = r.bytes(in, (p.Offset+p.Bits+7)/8)
	}
	if err != nil {
		w.hole(p.Bits, ctype.Unavailable)
		return
	}
	w.append(b, p)
}

// hole passes over what is not known.
func (w *bits) hole(n int, why string) {
	from, to := w.done/8, min((w.done+n+7)/8, len(w.bytes))
	if from < to {
		w.holes = withHole(w.holes, ctype.Hole{From: from, To: to, Why: why})
	}
	w.done += n
}

// append takes in a piece of which b is the place.
func (w *bits) append(b []byte, p Piece) {
	big := isBig(w.order)
	for i := range p.Bits {
		from, to := p.Offset+i, w.done+i
		if to >= 8*len(w.bytes) || from >= 8*len(b) {
			break
		}
		fromByte, toShift := from/8, to%8
		fromShift := from % 8
		if big { // the first bit is the highest
			from = 8*len(b) - p.Offset - p.Bits + i
			fromByte, fromShift, toShift = from/8, 7-from%8, 7-to%8
		}
		w.bytes[to/8] |= b[fromByte] >> fromShift & 1 << toShift
	}
	w.done += p.Bits
}

// env gives a Context the methods that the machine of agent expressions requires.
type env struct {
	nowhere
	w     Context
	order arch.ByteOrder
	err   error // of a variable, for which the machine has no error
}

// Register reads a register of up to eight bytes.
func (e *env) Register(r arch.Reg) (uint64, error) {
	b, err := e.w.Register(r)
	if err == nil && len(b) > widest {
		err = errors.New("is too wide")
	}
	if err != nil {
		return 0, err
	}
	return arch.Uint(b, e.order), nil
}

// Ref reads an integer in memory.
func (e *env) Ref(addr arch.Addr, size int) (uint64, error) {
	b, err := e.w.Memory(addr, size)
	if err != nil {
		return 0, err
	}
	return arch.Uint(b, e.order), nil
}

// Variable returns a trace state variable.
func (e *env) Variable(n uint16) int64 {
	v, err := e.w.Variable(trace.VariableNumber(n))
	e.err = errors.Join(e.err, err)
	return v
}
