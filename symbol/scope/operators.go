package scope

import "tracewell/ax"

// The operators of DWARF expressions, those of GCC that became others in version 5 beside them.
const (
	opAddr           = 0x03
	opDeref          = 0x06
	opConst1u        = 0x08
	opConst1s        = 0x09
	opConst2u        = 0x0a
	opConst2s        = 0x0b
	opConst4u        = 0x0c
	opConst4s        = 0x0d
	opConst8u        = 0x0e
	opConst8s        = 0x0f
	opConstu         = 0x10
	opConsts         = 0x11
	opDup            = 0x12
	opDrop           = 0x13
	opOver           = 0x14
	opPick           = 0x15
	opSwap           = 0x16
	opRot            = 0x17
	opXderef         = 0x18
	opAbs            = 0x19
	opAnd            = 0x1a
	opDiv            = 0x1b
	opMinus          = 0x1c
	opMod            = 0x1d
	opMul            = 0x1e
	opNeg            = 0x1f
	opNot            = 0x20
	opOr             = 0x21
	opPlus           = 0x22
	opPlusUconst     = 0x23
	opShl            = 0x24
	opShr            = 0x25
	opShra           = 0x26
	opXor            = 0x27
	opBra            = 0x28
	opEq             = 0x29
	opGe             = 0x2a
	opGt             = 0x2b
	opLe             = 0x2c
	opLt             = 0x2d
	opNe             = 0x2e
	opSkip           = 0x2f
	opLit0           = 0x30
	opLit31          = 0x4f
	opReg0           = 0x50
	opReg31          = 0x6f
	opBreg0          = 0x70
	opBreg31         = 0x8f
	opRegx           = 0x90
	opFbreg          = 0x91
	opBregx          = 0x92
	opPiece          = 0x93
	opDerefSize      = 0x94
	opNop            = 0x96
	opFormTLSAddress = 0x9b
	opCallFrameCFA   = 0x9c
	opBitPiece       = 0x9d
	opImplicitValue  = 0x9e
	opStackValue     = 0x9f
	opImplicitPtr    = 0xa0
	opAddrx          = 0xa1
	opConstx         = 0xa2
	opEntryValue     = 0xa3
	opConstType      = 0xa4
	opRegvalType     = 0xa5
	opDerefType      = 0xa6
	opConvert        = 0xa8
	opReinterpret    = 0xa9
	opGNUPushTLS     = 0xe0
	opGNUUninit      = 0xf0
	opGNUImplicitPtr = 0xf2
	opGNUEntryValue  = 0xf3
	opGNUConstType   = 0xf4
	opGNURegvalType  = 0xf5
	opGNUDerefType   = 0xf6
	opGNUConvert     = 0xf7
	opGNUReinterpret = 0xf9
	opGNUAddrIndex   = 0xfb
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
// type of its own is signed or not as DWARF says of the operator.
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
