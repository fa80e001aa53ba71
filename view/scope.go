package view

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tracewell/arch"
	"tracewell/symbol/ctype"
	"tracewell/symbol/expr"
	"tracewell/tdesc"
	"tracewell/trace"
)

// frameScope says what names mean in the frames of one location of a tracepoint. A name that begins with $ is that of a register,
// of a trace state variable, or of something that every frame has, the first of these that there is, as in GDB. Any other
// name is what the location collects under it, or a variable of the program. What only other locations collect has no value.
type frameScope struct {
	view       *View
	collection *collection
	all        *collections
	operands   []operand
	nameless   bool // Names is of no use any more
}

// operand is what a name stands for in a frame.
type operand struct {
	kind     operandKind
	slot     *tdesc.Slot // operandRegister, and operandPart a part of one
	item     *Item
	addr     arch.Addr // operandMemory
	size     int
	variable int32
	value    uint64 // operandConstant
	comm     string // operandComm: what the name of the thread is compared with
	differs  bool   // operandComm: it is to be another
}

// operandKind says how the value of an operand is found.
type operandKind uint8

const (
	operandMissing operandKind = iota // has no value in any frame
	operandRegister
	operandItem
	operandMemory
	operandVariable
	operandFrame
	operandTracepoint
	operandPC
	operandConstant
	operandComm
)

// builtins are the names that every frame has a value for.
// pc is GDB's; trace_frame and tpnum are its convenience variables of tfind, frame and tracepoint are shorter names of
// the same.
var builtins = []struct {
	name string
	kind operandKind
}{
	{"pc", operandPC}, {"frame", operandFrame}, {"trace_frame", operandFrame},
	{"tracepoint", operandTracepoint}, {"tpnum", operandTracepoint},
}

// Operand implements expr.Operands.
func (s *frameScope) Operand(name string) (expr.Operand, bool) {
	if o, ok := commOperand(name); ok {
		return s.operand(o, ctype.Int(4, true)), true
	}
	if word, found := strings.CutPrefix(name, "$"); found && isName(word) {
		if operand, ok := s.dollar(word); ok {
			return operand, true
		}
	}
	item := s.collection.byName[name]
	if item != nil && item.Absent == "" {
		return s.operand(operand{kind: operandItem, item: item}, item.Type), true
	}
	if local := s.collection.local(name); local != nil {
		return s.operand(operand{kind: operandItem, item: local}, local.Type), true
	}
	if addr, typ, ok := s.view.global(name); ok {
		return s.operand(operand{kind: operandMemory, addr: addr, size: typ.Size}, typ), true
	}
	// The name is right, only this location does not collect it: a condition over all tracepoints is no error because
	// of that.
	if typ, ok := s.all.typed[name]; ok {
		return s.operand(operand{}, typ), true
	}
	if item != nil { // absent everywhere
		return s.operand(operand{}, ctype.Int(8, true)), true
	}
	if value, typ, ok := s.view.globals.Constant(name); ok {
		return s.operand(operand{kind: operandConstant, value: uint64(value)}, typ), true
	}
	if addr, ok := s.view.function(name); ok {
		return s.operand(operand{kind: operandMemory, addr: addr}, code), true
	}
	// As in templates, where nothing of the program has the name.
	if name == trace.ThreadIDName || name == trace.ProcessIDName {
		return s.dollar(name)
	}
	return expr.Operand{}, false
}

// commTest is a comparison of the name of the thread, the only text that expressions know.
var commTest = regexp.MustCompile(`^comm *([=!]=) *("(?:[^"\\]|\\.)*")$`)

// commOperand is the operand of a comparison with the name of the thread.
func commOperand(text string) (operand, bool) {
	m := commTest.FindStringSubmatch(text)
	if m == nil {
		return operand{}, false
	}
	name, err := strconv.Unquote(m[2])
	return operand{kind: operandComm, comm: name, differs: m[1] == "!="}, err == nil
}

// code is the type of a function. Like an array it stands for its address.
var code = &ctype.Type{Kind: ctype.Array, Name: "function", Elem: ctype.Void}

func (s *frameScope) dollar(name string) (expr.Operand, bool) {
	if slot := s.view.registerNamed(name); slot != nil {
		return s.operand(operand{kind: operandRegister, slot: slot, size: slot.Size}, registerType(slot)), true
	}
	if number, ok := s.view.variableNumber(name); ok {
		return s.operand(operand{kind: operandVariable, variable: number}, ctype.Int(8, true)), true
	}
	for _, b := range builtins {
		if b.name == name {
			typ := ctype.Int(4, true)
			if b.kind == operandPC {
				typ = ctype.PointerTo(ctype.Void, s.ABI().Pointer)
			}
			return s.operand(operand{kind: b.kind}, typ), true
		}
	}
	return expr.Operand{}, false
}

// operand makes an operand known to the Env.
func (s *frameScope) operand(o operand, typ *ctype.Type) expr.Operand {
	s.operands = append(s.operands, o)
	// A place has an address to take, a missing one as well: whether & is allowed must not depend on the frame.
	place := o.kind == operandMemory || o.kind == operandMissing || o.kind == operandItem && o.item.Slot == nil
	return expr.Operand{ID: len(s.operands) - 1, Type: typ, Place: place}
}

// Type implements expr.Operands.
func (s *frameScope) Type(name string) (*ctype.Type, bool) {
	return s.view.globals.Type(name)
}

// Names implements expr.Operands. Registers that no tracepoint asks for come last.
// They are sorted out once for each text, and not for each location of a trace (see nameless).
func (s *frameScope) Names() []string {
	if s.nameless {
		return nil
	}
	names := s.view.ItemNames()
	for _, known := range s.view.variables {
		names = append(names, "$"+known.text)
	}
	for _, b := range builtins {
		names = append(names, "$"+b.name)
	}
	for _, r := range s.view.registers {
		names = append(names, "$"+r.Reg.Name)
	}
	// Names are for suggestions after a spelling mistake.
	names = append(names, s.view.globals.FixedNames()...)
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	return compact(names)
}

// rank puts what users write themselves ahead of registers and of what is written in terms of them.
func rank(name string) int {
	if strings.Contains(name, "$") {
		return 1
	}
	return 0
}

// compact leaves out names that stand earlier.
func compact(names []string) []string {
	seen := make(map[string]bool)
	return slices.DeleteFunc(names, func(name string) bool {
		before := seen[name]
		seen[name] = true
		return before
	})
}

// ABI implements expr.Operands.
func (s *frameScope) ABI() ctype.ABI { return s.view.abi() }

// Order implements expr.Operands.
func (s *frameScope) Order() arch.ByteOrder { return s.view.order }
