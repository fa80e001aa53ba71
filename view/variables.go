package view

import (
	"bytes"
	"slices"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/symbol/ctype"
	"tracewell/symbol/expr"
	"tracewell/symbol/scope"
	"tracewell/trace"
)

// Variables of functions that GCC and Clang made without optimization lie at a fixed distance from the frame base. GDB 13.1
// finds one by code for the frame base, then "const offset; add", and then records it. So the offset tells which variable an
// action collects, and code for one variable can be changed to find another, which GDB recorded on the way to something else.

// frameAccess is the first thing that code records, as far from the frame base as it is.
// base is compared byte by byte: the same function at the same address has one way to find its frame base, so that two
// actions with equal code before the offset are about the same frame.
type frameAccess struct {
	base   []byte // code for the frame base
	offset int64
	size   uint64
}

// accessOf takes code apart: base; const; [ext;] add; then trace_quick, or const and trace.
// Anything else in the code, such as a memory reference, means that a pointer was followed and that the offset is not
// one from the frame base.
func accessOf(p *ax.Program) (frameAccess, bool) {
	var last []ax.Instruction
	for in := range p.Instructions() {
		last = append(last, in)
		n := len(last)
		size := in.Operand
		switch in.Op {
		case ax.OpTraceQuick, ax.OpTrace16:
			n--
		case ax.OpTrace:
			n -= 2
			if n < 0 {
				return frameAccess{}, false
			}
			size = last[n].Operand
		case ax.OpAdd, ax.OpExt, ax.OpReg, ax.OpConst8, ax.OpConst16, ax.OpConst32, ax.OpConst64:
			continue
		default:
			return frameAccess{}, false
		}
		return lastSum(p, last[:n], size)
	}
	return frameAccess{}, false
}

// lastSum is the constant that instructions add at their end, and what comes before.
func lastSum(p *ax.Program, code []ax.Instruction, size uint64) (frameAccess, bool) {
	n := len(code)
	if n < 3 || code[n-1].Op != ax.OpAdd {
		return frameAccess{}, false
	}
	n -= 2
	// GDB writes constants unsigned in as few bytes as they need, and a negative one with an ext behind it that gives
	// back the sign from so many bits.
	bits := uint64(64)
	if code[n].Op == ax.OpExt {
		bits = min(max(1, code[n].Operand), 64)
		n--
	}
	if n < 1 || code[n].Op < ax.OpConst8 || code[n].Op > ax.OpConst64 {
		return frameAccess{}, false
	}
	offset := int64(code[n].Operand) << (64 - bits) >> (64 - bits)
	return frameAccess{p.Code()[:code[n].Offset], offset, size}, true
}

// nameLocal names a draft by the variable that lies where it reads, and learns from it where the frame base is.
func (c *collection) nameLocal(d *draft) {
	if !d.accesses {
		return
	}
	access := d.access
	for _, local := range c.locals {
		if local.Kind != scope.InFrame || local.Offset != access.offset || uint64(local.Type.Size) != access.size {
			continue
		}
		// The first action that reads where a variable lies is believed; another base for the same function
		// contradicts it and names nothing.
		if c.frameBase == nil {
			c.frameBase = access.base
		}
		if d.name == "" && d.shape.plain && bytes.Equal(c.frameBase, access.base) {
			d.name = local.Name
		}
		return
	}
}

// local makes an item of a variable that is in scope, nil if it is not known where it is. After steps it may be elsewhere.
func (c *collection) local(name string) *Item {
	for _, local := range c.locals {
		if local.Name != name {
			continue
		}
		if local.Kind == scope.Static {
			found := source{kind: sourceMemory, size: uint64(local.Type.Size), addr: local.Addr}
			return &Item{Name: name, Type: local.Type, sources: []source{found}}
		}
		if local.Kind != scope.InFrame || c.frameBase == nil {
			return nil
		}
		// The code is what GDB 13.1 would have compiled: frame base, offset, add, size, trace.
		var code ax.Builder
		code.Const(local.Offset)
		code.Emit(ax.OpAdd)
		code.Const(int64(local.Type.Size))
		code.Emit(ax.OpTrace)
		code.Emit(ax.OpEnd)
		rest, err := code.Program()
		if err != nil {
			return nil
		}
		whole, err := ax.Decode(append(bytes.Clone(c.frameBase), rest.Code()...))
		if err != nil {
			return nil
		}
		found := source{kind: sourceCode, size: uint64(local.Type.Size), code: whole, needs: true}
		return &Item{Name: name, Type: local.Type, sources: []source{found}}
	}
	return nil
}

// nameRegister finds the register that a variable is in: code for one is nothing but an end, and GDB has the register
// collected. It is certain which that is if there is one such variable, and one register that nothing else needs.
// GDB 13.1 compiles a variable in a register to no code at all, because collecting the register is all that is needed,
// and sends the empty expression nevertheless.
func (v *View) nameRegister(drafts []*draft, expected []expectation, actions []trace.Action) {
	if v.Layout == nil || slices.ContainsFunc(expected, func(e expectation) bool { return e.registers }) {
		return
	}
	var found *draft
	needed := make(map[arch.Reg]bool)
	for _, d := range drafts {
		switch {
		case d.source.base != nil:
			needed[d.source.base.Reg.Num] = true
		case d.source.code == nil:
		case len(d.source.code.Code()) > 1:
			for _, n := range d.source.code.Requirements().Registers {
				needed[n] = true
			}
		// Two empty expressions: either may be about either register.
		case found != nil:
			return
		default:
			found = d
		}
	}
	var left []arch.Reg
	for _, action := range actions {
		left = append(left, action.Registers()...)
	}
	left = slices.DeleteFunc(left, func(n arch.Reg) bool { return needed[n] })
	if found == nil || found.name == "" || len(left) != 1 {
		return
	}
	if slot := v.Layout.ByNumber(left[0]); slot != nil && slot.Size <= 8 {
		found.text = "$" + slot.Reg.Name
		found.source = source{kind: sourceRegister, base: slot}
	}
}

// staticAt names memory by the static variable in scope that it is, and says how much of at most size bytes that is.
func (c *collection) staticAt(addr arch.Addr, size uint64) (string, uint64) {
	for _, local := range c.locals {
		if n := uint64(local.Type.Size); local.Kind == scope.Static && local.Addr == addr && 0 < n && n <= size {
			return local.Name, n
		}
	}
	return "", 0
}

// global finds a variable of the program that has a fixed address.
// Debug information comes first, as it has types; the symbol table has only sizes, and names of programs without debug
// information.
func (v *View) global(name string) (arch.Addr, *ctype.Type, bool) {
	if v.Symbols == nil {
		return 0, nil, false
	}
	if addr, typ, ok := v.globals.Fixed(name); ok {
		return addr, typ, true
	}
	symbol, ok := v.Symbols.Symbol(name)
	if !ok || symbol.Function {
		return 0, nil, false
	}
	return symbol.Addr, ctype.Bytes(int(min(symbol.Size, 1<<31))), true
}

// function finds where a function of the program begins.
func (v *View) function(name string) (arch.Addr, bool) {
	if v.Symbols == nil {
		return 0, false
	}
	symbol, ok := v.Symbols.Symbol(name)
	return symbol.Addr, ok && symbol.Function
}

// retype gives an item the type that the program's debugging information has for its name, if that is as large.
func (v *View) retype(c *collection, item *Item) {
	if v.globals == nil || item.sources[0].kind == sourceString {
		return
	}
	typ, ok := expr.TypeOf(item.Name, &declarations{v, c})
	if !ok {
		return
	}
	kind := item.sources[0].kind
	// A result is always 8 bytes on the stack of the bytecode, whatever its type in C; a register may be wider than
	// the variable in it.
	number := kind == sourceResult || kind == sourceRegister && item.Slot == nil && typ.Size <= item.Type.Size
	if typ.Size == item.Type.Size || number && typ.Scalar() {
		item.Type = typ
	}
}

// declarations is the scope of what the program declares at a location, for types only.
type declarations struct {
	view       *View
	collection *collection
}

// Operand implements expr.Operands.
func (d *declarations) Operand(name string) (expr.Operand, bool) {
	for _, local := range d.collection.locals {
		if local.Name == name {
			return expr.Operand{Type: local.Type, Place: true}, true
		}
	}
	_, typ, ok := d.view.global(name)
	return expr.Operand{Type: typ, Place: true}, ok
}

// Type implements expr.Operands.
func (d *declarations) Type(name string) (*ctype.Type, bool) { return d.view.globals.Type(name) }

// Names implements expr.Operands.
// They would be of use in an error message only, and errors mean here that an item keeps the type that it has.
func (d *declarations) Names() []string { return nil }

// ABI implements expr.Operands.
func (d *declarations) ABI() ctype.ABI { return d.view.abi() }

// Order implements expr.Operands.
func (d *declarations) Order() arch.ByteOrder { return d.view.order }
