package ax

// Arithmetic is that of two's complement on 64 bits and wraps around. Where C leaves a result undefined, Go's operators
// define it, and these definitions are the ones meant here:
//
//   - a shift count is unsigned; counts of 64 and more shift everything out, which leaves 0, or copies of the sign for
//     rsh_signed;
//   - INT64_MIN divided by -1 is INT64_MIN, and the remainder is 0;
//   - division truncates towards 0, and a remainder has the sign of the dividend, as in C.

// Fold computes what in leaves of its operands, as a Machine does, if it depends on nothing else: unary opcodes take a, and binary
// ones a and then b. It is false for other opcodes, and for a division by zero.
func (in Instruction) Fold(a, b int64) (v int64, ok bool) {
	switch opcodes[in.Op].unit {
	case unary:
		return evalUnary(in.Op, a, 64-min(in.Operand, 64)), true
	case binary:
		return evalBinary(in.Op, a, b), true
	case division:
		if b != 0 {
			return evalDivision(in.Op, a, b), true
		}
	}
	return 0, false
}

// evalBinary computes "a op b" for the opcodes of the binary unit.
func evalBinary(op Op, a, b int64) int64 {
	switch op {
	case OpAdd:
		return a + b
	case OpSub:
		return a - b
	case OpMul:
		return a * b
	case OpLsh:
		return a << uint64(b)
	case OpRshSigned:
		return a >> uint64(b)
	case OpRshUnsigned:
		return int64(uint64(a) >> uint64(b))
	case OpBitAnd:
		return a & b
	case OpBitOr:
		return a | b
	case OpBitXor:
		return a ^ b
	case OpEqual:
		return truth(a == b)
	case OpLessSigned:
		return truth(a < b)
	case OpLessUnsigned:
		return truth(uint64(a) < uint64(b))
	}
	panic("ax: " + op.String() + " is no binary opcode")
}

// evalDivision computes "a op b" for the opcodes of the division unit. b is not 0.
func evalDivision(op Op, a, b int64) int64 {
	switch op {
	case OpDivSigned:
		return a / b
	case OpDivUnsigned:
		return int64(uint64(a) / uint64(b))
	case OpRemSigned:
		return a % b
	case OpRemUnsigned:
		return int64(uint64(a) % uint64(b))
	}
	panic("ax: " + op.String() + " is no division")
}

// evalUnary computes "op a". The extensions are told how many bits to shift out at the top: 64 minus their operand, and 0
// where the operand is 64 or more, so that they then change nothing. An operand of 0 leaves no bits of a: the result is 0.
func evalUnary(op Op, a int64, out uint64) int64 {
	switch op {
	case OpLogNot:
		return truth(a == 0)
	case OpBitNot:
		return ^a
	case OpExt:
		return a << out >> out
	case OpZeroExt:
		return int64(uint64(a) << out >> out)
	}
	panic("ax: " + op.String() + " is no unary opcode")
}

// evalShuffle moves the cells of c, the deepest of which is c[0].
func evalShuffle(op Op, c *[operandCells]int64) {
	switch op {
	case OpDup:
		c[1] = c[0]
	case OpPop:
	case OpSwap:
		c[0], c[1] = c[1], c[0]
	case OpRot:
		c[0], c[1], c[2] = c[2], c[0], c[1]
	default:
		panic("ax: " + op.String() + " is no shuffle")
	}
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
