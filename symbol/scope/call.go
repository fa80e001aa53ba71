package scope

import (
	"cmp"
	"debug/dwarf"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tracewell/arch"
	"tracewell/arch/exits"
	"tracewell/ax"
	"tracewell/symbol/ctype"
	"tracewell/symbol/debuginfo"
	"tracewell/symbol/expr"
	"tracewell/symbol/results"
	"tracewell/trace"
)

// ofCall finds what belongs to the call that is active at the pc. It is false for other names. What cannot be had is an absent
// place.
func (s *Scope) ofCall(name string) (expr.Object, bool) {
	o := expr.Object{Name: name, Type: ctype.Int(8, false)}
	var err error
	switch name {
	case trace.TookName:
		err = errors.New("it is known only when frames are read, not at a hit: --where of show and convert selects by it")
	case trace.ReturnName:
		o.Type, o.Place, err = s.result()
	case trace.ActivationName:
		o.Place, err = s.activation()
	case trace.GoroutineName:
		o.Place, err = s.goroutine()
	default:
		return o, false
	}
	if err != nil {
		o.Place = absent(err)
	}
	return o, true
}

// longest is how many bytes an instruction has at most, on any machine.
const longest = 16

// result is where the value lies that the function at the pc returns, and its type: void where there is none.
func (s *Scope) result() (*ctype.Type, expr.Place, error) {
	// Only the instruction tells: a tracepoint on a line of the epilogue is not yet where the registers have their last values, and a
	// tail call leaves them for the other function to fill.
	m := s.image.options.ISA.Machine
	returns := exits.IsReturn(m, s.image.code(s.pc))
	// The type is told of a tail call, too: whether there will be a value at all depends on it.
	if s.function == nil && returns {
		return ctype.Int(8, true), nil, errors.New("without debug information its type is not known: collect the register")
	}
	t, err := ctype.Int(8, true), error(nil)
	if s.function != nil {
		t, err = s.resultType()
	}
	if !returns {
		return t, nil, fmt.Errorf("$%s has a value only where the function returns (--return)", trace.ReturnName)
	}
	if err == nil && t != ctype.Void {
		err = s.changed()
	}
	if err != nil {
		return t, nil, err
	}
	place, err := results.Of(m, s.Language(), t)
	if err != nil {
		return t, nil, err
	}
	found, err := s.image.resultPlace(place, t)
	return t, found, err
}

// nocall is what newer LLVM says of a function whose arguments or result it has changed (DW_CC_nocall), and cloned a part of the
// name that GCC gives one that it has changed so: either may have removed a result that no caller uses.
const (
	nocall = 0x03
	cloned = ".isra."
)

var (
	errChanged = errors.New("the compiler has changed what the function takes and returns")
	errLocal   = errors.New("LLVM leaves out results that all callers know when it optimizes a function that is local to its " +
		"file, and does not tell: collect the register")
)

// changed is why the ABI does not hold for the function.
func (s *Scope) changed() error {
	// GDB's finish goes by neither, and shows what the register happens to hold.
	if convention, _ := s.function.Unsigned(dwarf.AttrCalling); convention == nocall {
		return errChanged
	}
	ranges := s.image.file.Ranges(s.function)
	if len(ranges) == 0 {
		return nil
	}
	// A function that other files can call has callers which the compiler has not seen, and keeps to the ABI.
	global := false
	for _, symbol := range s.image.symbolsAt(ranges[0].Begin) {
		if strings.Contains(symbol.Name, cloned) {
			return errChanged
		}
		global = global || symbol.Global
	}
	isLLVM := strings.Contains(s.unit.Producer, "LLVM") || strings.Contains(s.unit.Producer, "clang")
	if isLLVM && !global && !s.framed() {
		return errLocal
	}
	return nil
}

// framed reports whether the frame base of the function is the frame pointer, as LLVM has it where it does not optimize.
func (s *Scope) framed() bool {
	m := s.image.options.ISA.Machine
	base := s.image.file.LocationAt(s.function, dwarf.AttrFrameBase, s.pc)
	return len(base) == 1 && base[0] >= opReg0 && base[0] <= opReg31 && m.DWARFName(uint64(base[0]-opReg0)) == m.FP
}

// symbolsAt are the symbols at an address of the file.
func (m *Image) symbolsAt(pc arch.Addr) []debuginfo.Symbol {
	all := m.file.Symbols()
	at, _ := slices.BinarySearchFunc(all, pc, func(s debuginfo.Symbol, pc arch.Addr) int { return cmp.Compare(s.Addr, pc) })
	end := at
	for end < len(all) && all[end].Addr == pc {
		end++
	}
	return all[at:end]
}

// code is the instruction at an address of the file, nil if there is none.
func (m *Image) code(pc arch.Addr) []byte {
	for _, name := range []string{".text", ".text.unlikely", ".init", ".fini"} {
		content, begin, ok := m.file.Section(name)
		if at := uint64(pc - begin); ok && pc >= begin && at < uint64(len(content)) {
			return content[at:min(at+longest, uint64(len(content)))]
		}
	}
	return nil
}

// resultType is the type of what the function returns. Go describes results as parameters of a kind (DW_AT_variable_parameter), of
// which there may be several: they become the members of a record.
func (s *Scope) resultType() (*ctype.Type, error) {
	if s.Language() != ctype.Go {
		return s.image.types.of(s.function), nil
	}
	// The abstract instance, if there is one, has all of them in their order; the concrete one may lack some. Results that a closure
	// shares are described twice.
	described := s.function
	if origin := s.image.file.Origin(s.function); origin != nil {
		described = origin
	}
	var fields []ctype.Field
	size := 0
	// Each begins at a word of its own, as if it were the first: where it really is, registers or the stack, the ABI says for each.
	for e := range s.image.file.Children(described) {
		known := func(f ctype.Field) bool { return f.Name == e.Name() }
		if !isResult(e) || slices.ContainsFunc(fields, known) {
			continue
		}
		f := ctype.Field{Name: e.Name(), Type: s.image.types.of(e), Offset: size}
		if f.Type.Size < 0 || f.Type.Size > mostBytes {
			return ctype.Void, errDamaged
		}
		size += (f.Type.Size + 7) &^ 7
		fields = append(fields, f)
	}
	switch len(fields) {
	case 0:
		return ctype.Void, nil
	case 1:
		return fields[0].Type, nil
	}
	return ctype.RecordOf("", size, fields...), nil
}

// isResult reports whether an entry is a result of a function of Go.
func isResult(e *debuginfo.Entry) bool {
	return e.Tag == dwarf.TagFormalParameter && e.Bool(dwarf.AttrVarParam) && languageOf(e.Unit) == ctype.Go
}

// resultPlace makes a place of what the ABI says. Bytes between the parts, which pad a structure, have no value; they are zero.
func (m *Image) resultPlace(p results.Place, t *ctype.Type) (expr.Place, error) {
	// The function has been given the address by its caller, and hands it back. What it has written there is collected like any
	// memory that a pointer leads to.
	if p.Memory != "" {
		slot := m.options.Layout.ByName(p.Memory)
		if slot == nil {
			return nil, fmt.Errorf("the target has no register %s", p.Memory)
		}
		return expr.Memory{Emit: held(slot.Reg.Num)}, nil
	}
	// One part that is the whole value is a register like that of a variable; anything else is made of pieces, as DWARF's locations
	// are.
	var pieces expr.Pieces
	at := 0
	pad := func(to int) {
		if to > at {
			pieces = append(pieces, expr.Piece{Place: expr.Constant{Bytes: make([]byte, to-at)}, Bits: 8 * (to - at)})
		}
	}
	for _, part := range p.Parts {
		slot, size := m.slot(part.Register)
		if slot == nil || size < part.Size {
			return nil, fmt.Errorf("the target has no register %s of %d bytes", part.Register, part.Size)
		}
		// A part has the lowest bytes of its register; of a long double the rest of its 16 bytes means nothing.
		held := expr.Register{Num: slot.Reg.Num, Size: part.Size}
		if part.Size == t.Size {
			return held, nil
		}
		pad(part.From)
		pieces = append(pieces, expr.Piece{Place: held, Bits: 8 * part.Size})
		at = part.From + part.Size
	}
	pad(t.Size)
	return pieces, nil
}

// activation is how far out the frame of the call is: the canonical frame address, which is the same from the first instruction of
// a function to the last. Go moves stacks while they are in use, and what stays the same there is the distance from their outer
// end.
func (s *Scope) activation() (expr.Place, error) {
	// The unwind table has it for each instruction, so that frames with and without a frame pointer are treated alike.
	cfa, err := s.frame.cfa()
	if err != nil || s.Language() != ctype.Go {
		return expr.Value{Emit: cfa}, err
	}
	goroutine, err := s.runtimeG()
	if err != nil {
		return nil, err
	}
	return expr.Value{Emit: func(b *ax.Builder) error {
		if err := cfa(b); err != nil {
			return err
		}
		if err := goroutine(b); err != nil {
			return err
		}
		// runtime.g is not described in all programs, but assembly code relies on its beginning, so that it does not change: the bounds
		// of the stack, stack.lo and stack.hi.
		addOffset(b, int64(s.image.options.ISA.AddrSize))
		b.Emit(ax.OpRef64)
		b.Emit(ax.OpSub)
		return nil
	}}, nil
}

// goroutine is the address of the runtime's description of the goroutine, which does not move.
func (s *Scope) goroutine() (expr.Place, error) {
	emit, err := s.runtimeG()
	return expr.Value{Emit: emit}, err
}

func (s *Scope) runtimeG() (emit, error) {
	m := s.image.options.ISA.Machine
	if s.Language() != ctype.Go || m.Results == nil {
		return nil, errors.New("there are no goroutines here")
	}
	slot := s.image.options.Layout.ByName(m.Results.Goroutine)
	if slot == nil {
		return nil, fmt.Errorf("the target has no register %s", m.Results.Goroutine)
	}
	return held(slot.Reg.Num), nil
}
