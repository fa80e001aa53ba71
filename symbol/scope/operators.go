package scope

import "tracewell/ax"

// The operators of DWARF expressions (DW_OP_*; DWARF 5, 7.7.1) with their operands, and those of GNU that became others in
// version 5. Operators of locations (reg, piece, stack_value, implicit_value) can stand at the end of an expression only; see
// place.go.
const (
	opAddr           = 0x03 // an address of the file
	opDeref          = 0x06 // reads an address
	opConst1u        = 0x08 // opConst1u to opConst8s: a number of so many bytes
	opConst1s        = 0x09
	opConst2u        = 0x0a
	opConst2s        = 0x0b
	opConst4u        = 0x0c
	opConst4s        = 0x0d
	opConst8u        = 0x0e
	opConst8s        = 0x0f
	opConstu         = 0x10 // ULEB128
	opConsts         = 0x11 // SLEB128
	opDup            = 0x12
	opDrop           = 0x13
	opOver           = 0x14 // copies the second cell
	opPick           = 0x15 // 1 byte: copies that cell, from 0 at the top
	opSwap           = 0x16
	opRot            = 0x17 // the top cell goes below the next two
	opXderef         = 0x18 // address spaces, which no supported machine has
	opAbs            = 0x19 // of a signed cell
	opAnd            = 0x1a
	opDiv            = 0x1b // signed, unless the cells have an unsigned type
	opMinus          = 0x1c
	opMod            = 0x1d // unsigned, unless the cells have a signed type
	opMul            = 0x1e
	opNeg            = 0x1f
	opNot            = 0x20
	opOr             = 0x21
	opPlus           = 0x22
	opPlusUconst     = 0x23 // ULEB128
	opShl            = 0x24
	opShr            = 0x25 // shifts zeros in
	opShra           = 0x26 // shifts the sign in
	opXor            = 0x27
	opBra            = 0x28 // 2 bytes, signed: jumps if the top cell is not 0
	opEq             = 0x29 // opEq to opNe: signed comparisons, of cells without a type as well
	opGe             = 0x2a
	opGt             = 0x2b
	opLe             = 0x2c
	opLt             = 0x2d
	opNe             = 0x2e
	opSkip           = 0x2f // 2 bytes, signed: jumps
	opLit0           = 0x30 // opLit0 to opLit31 push 0 to 31
	opLit31          = 0x4f
	opReg0           = 0x50 // opReg0 to opReg31: in the register
	opReg31          = 0x6f
	opBreg0          = 0x70 // SLEB128: opBreg0 to opBreg31 push register + offset
	opBreg31         = 0x8f
	opRegx           = 0x90 // ULEB128: in the register of that number
	opFbreg          = 0x91 // SLEB128: pushes frame base + offset
	opBregx          = 0x92 // ULEB128, SLEB128: pushes register + offset
	opPiece          = 0x93 // ULEB128: so many bytes of the value are in the location before
	opDerefSize      = 0x94 // 1 byte: reads so many bytes, zero-extended
	opNop            = 0x96
	opFormTLSAddress = 0x9b // since DWARF 3
	opCallFrameCFA   = 0x9c // since DWARF 3: pushes the CFA
	opBitPiece       = 0x9d // ULEB128 size, ULEB128 offset, in bits (since DWARF 3)
	opImplicitValue  = 0x9e // ULEB128 and as many bytes: the value itself (since DWARF 4)
	opStackValue     = 0x9f // the top cell is the value, not its address (since DWARF 4)
	opImplicitPtr    = 0xa0 // a pointer to what has no address (opImplicitPtr to opReinterpret: since DWARF 5)
	opAddrx          = 0xa1 // ULEB128: an entry of .debug_addr
	opConstx         = 0xa2 // the same, not relocated
	opEntryValue     = 0xa3 // ULEB128 and as many bytes: a register location
	opConstType      = 0xa4 // ULEB128 base type, 1 byte and as many bytes
	opRegvalType     = 0xa5 // ULEB128 register, ULEB128 base type
	opDerefType      = 0xa6 // 1 byte, ULEB128 base type
	opConvert        = 0xa8 // ULEB128 base type; 0 is the type without a name
	opReinterpret    = 0xa9 // ULEB128 base type
	opGNUPushTLS     = 0xe0 // before DWARF 3; Clang 14 writes it still, and GCC 12 up to -gdwarf-4
	opGNUUninit      = 0xf0 // the value may be uninitialized: of no concern here
	opGNUImplicitPtr = 0xf2
	opGNUEntryValue  = 0xf3
	opGNUConstType   = 0xf4
	opGNURegvalType  = 0xf5
	opGNUDerefType   = 0xf6
	opGNUConvert     = 0xf7
	opGNUReinterpret = 0xf9
	opGNUAddrIndex   = 0xfb // split DWARF 4, as the next
	opGNUConstIndex  = 0xfc
)

// newer gives the operators that GCC had before DWARF 5 as those of DWARF 5.
var newer = map[byte]byte{
	opGNUPushTLS: opFormTLSAddress, opGNUUninit: opNop, opGNUImplicitPtr: opImplicitPtr, opGNUEntryValue: opEntryValue,
	opGNUConstType: opConstType, opGNURegvalType: opRegvalType, opGNUDerefType: opDerefType, opGNUConvert: opConvert,
	opGNUReinterpret: opReinterpret, opGNUAddrIndex: opAddrx, opGNUConstIndex: opConstx,
}

// fixed are the operators that push a number of so many bytes, negative where it has a sign.
var fixed = map[byte]int{
	opConst1u: 1, opConst1s: -1, opConst2u: 2, opConst2s: -2, opConst4u: 4, opConst4s: -4, opConst8u: 8, opConst8s: -8,
}

// dyadic are the operators that make one cell of two: the code where they are signed and where they are not. A cell without a
// type of its own is signed or not as DWARF says of the operator (2.5.1.4). Agent expressions have only one comparison besides ==:
// the others exchange operands or negate the result.
var dyadic = map[byte]struct {
	signed, unsigned []ax.Op
	plain            bool // a cell without a type counts as unsigned
	compares         bool // the result is 0 or 1, without a type
}{
	opAnd:   {signed: code(ax.OpBitAnd)},
	opOr:    {signed: code(ax.OpBitOr)},
	opXor:   {signed: code(ax.OpBitXor)},
	opPlus:  {signed: code(ax.OpAdd)},
	opMinus: {signed: code(ax.OpSub)},
	opMul:   {signed: code(ax.OpMul)},
	opShl:   {signed: code(ax.OpLsh)},
	opShr:   {signed: code(ax.OpRshUnsigned)},
	opShra:  {signed: code(ax.OpRshSigned)},
	opDiv:   {signed: code(ax.OpDivSigned), unsigned: code(ax.OpDivUnsigned)},
	opMod:   {signed: code(ax.OpRemSigned), unsigned: code(ax.OpRemUnsigned), plain: true},
	opEq:    {signed: code(ax.OpEqual), compares: true},
	opNe:    {signed: code(ax.OpEqual, ax.OpLogNot), compares: true},
	opLt:    {signed: code(ax.OpLessSigned), unsigned: code(ax.OpLessUnsigned), compares: true},
	opGe: {signed: code(ax.OpLessSigned, ax.OpLogNot), unsigned: code(ax.OpLessUnsigned, ax.OpLogNot),
		compares: true},
	opGt: {signed: code(ax.OpSwap, ax.OpLessSigned), unsigned: code(ax.OpSwap, ax.OpLessUnsigned), compares: true},
	opLe: {signed: code(ax.OpSwap, ax.OpLessSigned, ax.OpLogNot),
		unsigned: code(ax.OpSwap, ax.OpLessUnsigned, ax.OpLogNot), compares: true},
}

func code(ops ...ax.Op) []ax.Op { return ops }

// loads are the opcodes that read memory, by the number of bytes.
var loads = map[int]ax.Op{1: ax.OpRef8, 2: ax.OpRef16, 4: ax.OpRef32, 8: ax.OpRef64}
