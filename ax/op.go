package ax

import "fmt"

// Op is an opcode.
type Op byte

// The opcodes, with the values of GDB's ax.def. Those whose names hold Float, Double, LToD or DToL are part of the language
// but are not evaluated: see Op.Evaluable.
const (
	OpFloat         Op = 0x01
	OpAdd           Op = 0x02
	OpSub           Op = 0x03
	OpMul           Op = 0x04
	OpDivSigned     Op = 0x05
	OpDivUnsigned   Op = 0x06
	OpRemSigned     Op = 0x07
	OpRemUnsigned   Op = 0x08
	OpLsh           Op = 0x09
	OpRshSigned     Op = 0x0a
	OpRshUnsigned   Op = 0x0b
	OpTrace         Op = 0x0c
	OpTraceQuick    Op = 0x0d
	OpLogNot        Op = 0x0e
	OpBitAnd        Op = 0x0f
	OpBitOr         Op = 0x10
	OpBitXor        Op = 0x11
	OpBitNot        Op = 0x12
	OpEqual         Op = 0x13
	OpLessSigned    Op = 0x14
	OpLessUnsigned  Op = 0x15
	OpExt           Op = 0x16
	OpRef8          Op = 0x17
	OpRef16         Op = 0x18
	OpRef32         Op = 0x19
	OpRef64         Op = 0x1a
	OpRefFloat      Op = 0x1b
	OpRefDouble     Op = 0x1c
	OpRefLongDouble Op = 0x1d
	OpLToD          Op = 0x1e
	OpDToL          Op = 0x1f
	OpIfGoto        Op = 0x20
	OpGoto          Op = 0x21
	OpConst8        Op = 0x22
	OpConst16       Op = 0x23
	OpConst32       Op = 0x24
	OpConst64       Op = 0x25
	OpReg           Op = 0x26
	OpEnd           Op = 0x27
	OpDup           Op = 0x28
	OpPop           Op = 0x29
	OpZeroExt       Op = 0x2a
	OpSwap          Op = 0x2b
	OpGetv          Op = 0x2c
	OpSetv          Op = 0x2d
	OpTracev        Op = 0x2e
	OpTracenz       Op = 0x2f
	OpTrace16       Op = 0x30
	OpPick          Op = 0x32
	OpRot           Op = 0x33
	OpPrintf        Op = 0x34
)

// form is the form of an opcode's operand in the byte stream.
type form uint8

const (
	none    form = iota
	u8           // an unsigned number of one byte
	u16          // of two bytes, big-endian as the rest
	u32          // of four
	u64          // of eight
	target       // two bytes: offset of an instruction from the start of the expression
	cstring      // printf's: count of arguments in one byte, length in two, then that many bytes ending in NUL
)

// width is the number of bytes of the operand's number: all of the operand but for cstring.
func (f form) width() int { return formWidths[f] }

var formWidths = [...]int{none: 0, u8: 1, u16: 2, u32: 4, u64: 8, target: 2, cstring: 1}

// unit is the part of the Machine that executes an opcode. Opcodes of one unit share their stack effect and their faults.
type unit uint8

const (
	unknown   unit = iota // the zero value marks what is no opcode
	unhandled             // an opcode that is not evaluated
	constant
	unary
	binary
	division // binary, and the right operand may not be 0
	shuffle  // moves cells about
	picking
	jump
	register
	memory
	variable
	record
	printing
	stop
)

// opcode is a row of the table. The stack effect is that of the plain case: pick reaches as many cells deeper as its
// operand says, printf takes as many more as it has arguments, and Instruction.effect accounts for both.
type opcode struct {
	name    string
	operand form
	pops    int
	pushes  int
	unit    unit
}

// opcodes is the language. GDB's ax.def says that tracev pushes one cell and that printf has no operand; this table says
// what GDB emits and gdbserver does.
var opcodes = [256]opcode{
	OpFloat:         {"float", none, 0, 0, unhandled},
	OpAdd:           {"add", none, 2, 1, binary},
	OpSub:           {"sub", none, 2, 1, binary},
	OpMul:           {"mul", none, 2, 1, binary},
	OpDivSigned:     {"div_signed", none, 2, 1, division},
	OpDivUnsigned:   {"div_unsigned", none, 2, 1, division},
	OpRemSigned:     {"rem_signed", none, 2, 1, division},
	OpRemUnsigned:   {"rem_unsigned", none, 2, 1, division},
	OpLsh:           {"lsh", none, 2, 1, binary},
	OpRshSigned:     {"rsh_signed", none, 2, 1, binary},
	OpRshUnsigned:   {"rsh_unsigned", none, 2, 1, binary},
	OpTrace:         {"trace", none, 2, 0, record},
	OpTraceQuick:    {"trace_quick", u8, 1, 1, record},
	OpLogNot:        {"log_not", none, 1, 1, unary},
	OpBitAnd:        {"bit_and", none, 2, 1, binary},
	OpBitOr:         {"bit_or", none, 2, 1, binary},
	OpBitXor:        {"bit_xor", none, 2, 1, binary},
	OpBitNot:        {"bit_not", none, 1, 1, unary},
	OpEqual:         {"equal", none, 2, 1, binary},
	OpLessSigned:    {"less_signed", none, 2, 1, binary},
	OpLessUnsigned:  {"less_unsigned", none, 2, 1, binary},
	OpExt:           {"ext", u8, 1, 1, unary},
	OpRef8:          {"ref8", none, 1, 1, memory},
	OpRef16:         {"ref16", none, 1, 1, memory},
	OpRef32:         {"ref32", none, 1, 1, memory},
	OpRef64:         {"ref64", none, 1, 1, memory},
	OpRefFloat:      {"ref_float", none, 1, 1, unhandled},
	OpRefDouble:     {"ref_double", none, 1, 1, unhandled},
	OpRefLongDouble: {"ref_long_double", none, 1, 1, unhandled},
	OpLToD:          {"l_to_d", none, 1, 1, unhandled},
	OpDToL:          {"d_to_l", none, 1, 1, unhandled},
	OpIfGoto:        {"if_goto", target, 1, 0, jump},
	OpGoto:          {"goto", target, 0, 0, jump},
	OpConst8:        {"const8", u8, 0, 1, constant},
	OpConst16:       {"const16", u16, 0, 1, constant},
	OpConst32:       {"const32", u32, 0, 1, constant},
	OpConst64:       {"const64", u64, 0, 1, constant},
	OpReg:           {"reg", u16, 0, 1, register},
	OpEnd:           {"end", none, 0, 0, stop},
	OpDup:           {"dup", none, 1, 2, shuffle},
	OpPop:           {"pop", none, 1, 0, shuffle},
	OpZeroExt:       {"zero_ext", u8, 1, 1, unary},
	OpSwap:          {"swap", none, 2, 2, shuffle},
	OpGetv:          {"getv", u16, 0, 1, variable},
	OpSetv:          {"setv", u16, 1, 1, variable},
	OpTracev:        {"tracev", u16, 0, 0, variable},
	OpTracenz:       {"tracenz", none, 2, 0, record},
	OpTrace16:       {"trace16", u16, 1, 1, record},
	OpPick:          {"pick", u8, 1, 2, picking},
	OpRot:           {"rot", none, 3, 3, shuffle},
	OpPrintf:        {"printf", cstring, 2, 0, printing},
}

// opsByName finds an opcode by its name in the text form.
var opsByName = func() map[string]Op {
	names := make(map[string]Op)
	for op, row := range opcodes {
		if row.name != "" {
			names[row.name] = Op(op)
		}
	}
	return names
}()

// Known reports whether op is an opcode of the language.
func (op Op) Known() bool { return opcodes[op].unit != unknown }

// Evaluable reports whether a Machine executes op. The opcodes of floating point are known but not evaluable.
func (op Op) Evaluable() bool { return opcodes[op].unit > unhandled }

// String gives the name of op as GDB's "maint agent" prints it, or the value in hexadecimal if it is no opcode.
func (op Op) String() string {
	if name := opcodes[op].name; name != "" {
		return name
	}
	return fmt.Sprintf("0x%02x", byte(op))
}

// fallsThrough reports whether control can go from op to the instruction behind it.
func (op Op) fallsThrough() bool { return op != OpGoto && op != OpEnd }
