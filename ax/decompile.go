package ax

import (
	"fmt"
	"strconv"

	"tracewell/arch"
)

// Effect is something that a program does, said in C.
type Effect struct {
	Op       Op     // OpTrace, OpTraceQuick, OpTrace16, OpTracenz, OpTracev, OpSetv; OpPop or OpEnd for a result
	Size     uint64 // of memory that is recorded, in bytes, or the limit of a string; 0 if the program computes it
	Fixed    bool   // the memory is at an address that depends on nothing
	Addr     arch.Addr
	Variable uint16 // OpTracev, OpSetv
	// Text is a C expression, with GDB's {type} address for memory that is no integer: what lies in the memory that is
	// recorded, the name of the variable, or the value that is dropped or left at the end.
	Text string
}

// Names are what a program's registers and variables are called, "$rbp" and "$hits".
type Names struct {
	Register func(arch.Reg) string
	Variable func(uint16) string
}

// Decompile says in C what a program does, one thing after the other:
//
//	reg 6; const8 236; ext 8; add; const8 4; trace; end     *(int *)($rbp - 20)
//
// It follows no jumps and no printf: ok is false for a program that has one, for one that takes more from the stack than is
// there, and for one whose text would become too long.
func (p *Program) Decompile(names Names) (effects []Effect, ok bool) {
	d := decompiler{names: names}
	for i := range p.steps {
		in := p.instruction(i)
		pops, pushes := in.effect()
		base := len(d.stack) - pops
		if base < 0 || base+pushes > MaxHeight {
			return nil, false
		}
		d.operands = append(d.operands[:0], d.stack[base:]...)
		d.stack = d.stack[:base]
		do := decompilers[in.Op]
		if do == nil || !do(&d, in) {
			return nil, false
		}
		if in.Op == OpEnd {
			break
		}
	}
	return d.effects, true
}

// maxText bounds the text of a value in bytes. Two instructions can double it.
const maxText = 1000

// decompiler is the state of one call of Decompile: a Machine with texts in place of values.
type decompiler struct {
	names    Names
	stack    []term
	operands []term // of the instruction at hand, the deepest first
	effects  []Effect
}

// term is a value: that of the text plus the offset, or without a text the offset alone.
type term struct {
	text   string
	binds  int // how strongly the outermost operator of the text binds
	offset int64

	// Of a value that was just read from memory: where and how many bytes.
	addr string
	size int
}

// How strongly operators bind, by C's precedence.
const (
	bindsAny = iota
	bindsShift
	bindsSum
	bindsProduct
	bindsUnary
)

// render writes a term as an operand of an operator that binds so strongly.
func (t term) render(binds int) string {
	text, own := t.text, t.binds
	switch {
	case text == "":
		text, own = number10(t.offset), bindsUnary
	case t.offset < 0:
		text, own = t.operand(bindsSum)+" - "+number10(-t.offset), bindsSum
	case t.offset > 0:
		text, own = t.operand(bindsSum)+" + "+number10(t.offset), bindsSum
	}
	if own < binds {
		return "(" + text + ")"
	}
	return text
}

// operand is the text without the offset.
func (t term) operand(binds int) string { return term{text: t.text, binds: t.binds}.render(binds) }

// decimalBelow is where numbers begin to be written in hexadecimal, because they are likely addresses or masks.
const decimalBelow = 4096

func number10(n int64) string {
	if -decimalBelow < n && n < decimalBelow {
		return strconv.FormatInt(n, 10)
	}
	return "0x" + strconv.FormatUint(uint64(n), 16)
}

func (d *decompiler) push(t term) bool {
	d.stack = append(d.stack, t)
	return len(t.text) <= maxText
}

func (d *decompiler) effect(e Effect) bool {
	d.effects = append(d.effects, e)
	return true
}

// decompilers has what each instruction does to the texts.
var decompilers = map[Op]func(*decompiler, Instruction) bool{
	OpAdd: (*decompiler).add,
	OpSub: func(d *decompiler, _ Instruction) bool {
		a, b := d.operands[0], d.operands[1]
		if b.text == "" {
			return d.push(term{text: a.text, binds: a.binds, offset: a.offset - b.offset})
		}
		if a.text == "" && a.offset == 0 {
			return d.push(term{text: "-" + b.render(bindsUnary), binds: bindsUnary})
		}
		return d.push(term{text: a.render(bindsSum) + " - " + b.render(bindsProduct), binds: bindsSum})
	},
	OpMul: infix("*", bindsProduct, false), OpDivSigned: infix("/", bindsProduct, false),
	OpDivUnsigned: infix("/", bindsProduct, true), OpRemSigned: infix("%", bindsProduct, false),
	OpRemUnsigned: infix("%", bindsProduct, true), OpLsh: infix("<<", bindsShift, false),
	OpRshSigned: infix(">>", bindsShift, false), OpRshUnsigned: infix(">>", bindsShift, true),
	OpBitAnd: infix("&", bindsAny, false), OpBitOr: infix("|", bindsAny, false), OpBitXor: infix("^", bindsAny, false),
	OpEqual: infix("==", bindsAny, false), OpLessSigned: infix("<", bindsAny, false), OpLessUnsigned: infix("<", bindsAny, true),
	OpLogNot: prefix("!"), OpBitNot: prefix("~"),
	OpExt:     func(d *decompiler, in Instruction) bool { return d.extend(in, signedNames) },
	OpZeroExt: func(d *decompiler, in Instruction) bool { return d.extend(in, unsignedNames) },
	OpRef8:    (*decompiler).ref, OpRef16: (*decompiler).ref, OpRef32: (*decompiler).ref, OpRef64: (*decompiler).ref,
	OpConst8: (*decompiler).constant, OpConst16: (*decompiler).constant,
	OpConst32: (*decompiler).constant, OpConst64: (*decompiler).constant,
	OpReg: func(d *decompiler, in Instruction) bool {
		return d.push(term{text: d.names.Register(arch.Reg(in.Operand)), binds: bindsUnary})
	},
	OpGetv: func(d *decompiler, in Instruction) bool {
		return d.push(term{text: d.names.Variable(uint16(in.Operand)), binds: bindsUnary})
	},
	OpSetv: func(d *decompiler, in Instruction) bool {
		n := uint16(in.Operand)
		d.effect(Effect{Op: OpSetv, Variable: n, Text: d.names.Variable(n) + " = " + d.operands[0].render(bindsAny)})
		return d.push(d.operands[0])
	},
	OpTracev: func(d *decompiler, in Instruction) bool {
		n := uint16(in.Operand)
		return d.effect(Effect{Op: OpTracev, Variable: n, Text: d.names.Variable(n)})
	},
	OpDup:  shuffled(0, 0),
	OpSwap: shuffled(1, 0),
	OpRot:  shuffled(2, 0, 1),
	OpPick: func(d *decompiler, _ Instruction) bool {
		d.stack = append(d.stack, d.operands...)
		return d.push(d.operands[0])
	},
	OpPop:   (*decompiler).result,
	OpTrace: (*decompiler).record, OpTracenz: (*decompiler).record,
	OpTraceQuick: (*decompiler).recordQuick, OpTrace16: (*decompiler).recordQuick,
	OpEnd: func(d *decompiler, in Instruction) bool {
		if len(d.stack) == 0 {
			return true
		}
		d.operands = d.stack[len(d.stack)-1:]
		return d.result(in)
	},
}

func (d *decompiler) result(in Instruction) bool {
	return d.effect(Effect{Op: in.Op, Text: d.operands[0].render(bindsAny)})
}

func (d *decompiler) constant(in Instruction) bool { return d.push(term{offset: int64(in.Operand)}) }

func (d *decompiler) add(Instruction) bool {
	a, b := d.operands[0], d.operands[1]
	if a.text == "" {
		a, b = b, a
	}
	if b.text == "" {
		return d.push(term{text: a.text, binds: a.binds, offset: a.offset + b.offset})
	}
	return d.push(term{text: a.render(bindsSum) + " + " + b.render(bindsProduct), binds: bindsSum})
}

// infix makes a binary operator that binds so strongly. One on unsigned numbers shows it by a cast.
func infix(op string, binds int, unsigned bool) func(*decompiler, Instruction) bool {
	return func(d *decompiler, in Instruction) bool {
		a, b := d.operands[0], d.operands[1]
		if a.text == "" && b.text == "" && opcodes[in.Op].unit == binary {
			return d.push(term{offset: evalBinary(in.Op, a.offset, b.offset)})
		}
		left := a.render(binds + 1)
		if unsigned {
			left = "(unsigned long)" + a.render(bindsUnary)
		}
		return d.push(term{text: left + " " + op + " " + b.render(binds+1), binds: binds})
	}
}

func prefix(op string) func(*decompiler, Instruction) bool {
	return func(d *decompiler, _ Instruction) bool {
		return d.push(term{text: op + d.operands[0].render(bindsUnary), binds: bindsUnary})
	}
}

func shuffled(places ...int) func(*decompiler, Instruction) bool {
	return func(d *decompiler, _ Instruction) bool {
		for _, i := range places {
			d.push(d.operands[i])
		}
		return true
	}
}

// The names of integer types by the size in bytes.
var (
	signedNames   = map[int]string{1: "signed char", 2: "short", 4: "int", 8: "long"}
	unsignedNames = map[int]string{1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long"}
)

// extend changes the sign of what was just read, or else casts.
func (d *decompiler) extend(in Instruction, names map[int]string) bool {
	a := d.operands[0]
	size := int(in.Operand) / 8
	name, known := names[size]
	switch {
	case in.Operand >= 64:
		return d.push(a)
	case a.text == "" && in.Operand > 0:
		return d.push(term{offset: evalUnary(in.Op, a.offset, 64-in.Operand)})
	case !known || in.Operand%8 != 0:
		return false
	case a.size == size && a.offset == 0:
		return d.push(reading(name, a.addr, size))
	}
	return d.push(term{text: "(" + name + ")" + a.render(bindsUnary), binds: bindsUnary})
}

// reading is an integer in memory.
func reading(typeName, addr string, size int) term {
	return term{text: "*(" + typeName + " *)" + addr, binds: bindsUnary, addr: addr, size: size}
}

func (d *decompiler) ref(in Instruction) bool {
	size := 1 << (in.Op - OpRef8)
	name := unsignedNames[size]
	if size == 8 {
		name = signedNames[size]
	}
	return d.push(reading(name, d.operands[0].render(bindsUnary), size))
}

// record is a recording whose size is on the stack.
func (d *decompiler) record(in Instruction) bool {
	addr, size := d.operands[0], d.operands[1]
	if size.text != "" {
		return d.effect(Effect{Op: in.Op, Text: addr.render(bindsUnary)})
	}
	return d.effect(recording(in.Op, addr, uint64(size.offset)))
}

func (d *decompiler) recordQuick(in Instruction) bool {
	d.push(d.operands[0])
	return d.effect(recording(in.Op, d.operands[0], in.Operand))
}

func recording(op Op, addr term, size uint64) Effect {
	e := Effect{Op: op, Size: size, Text: Place(addr.render(bindsUnary), size)}
	if addr.text == "" {
		e.Fixed, e.Addr = true, arch.Addr(addr.offset)
	}
	if op == OpTracenz {
		e.Text = "(char *)" + addr.render(bindsUnary)
	}
	return e
}

// Place says in C what lies in memory: an integer if there is one of the size, else an array of bytes. The address is an
// expression that needs no parentheses.
func Place(addr string, size uint64) string {
	name, ok := signedNames[int(min(size, 16))]
	switch {
	case size == 1:
		return "*(char *)" + addr
	case ok:
		return "*(" + name + " *)" + addr
	}
	return fmt.Sprintf("{char[%d]}%s", size, addr)
}
