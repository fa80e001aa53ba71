package ax

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"tracewell/arch"
)

// reference evaluates bytecode the slow way, as a second opinion on the Machine: straight from the bytes, with its own idea
// of each opcode, on a slice of big integers that are reduced to 64 bits after each instruction. It knows the opcodes that
// compute and move; the ones that deal with the world it takes from Env without further thought.
type reference struct {
	code   []byte
	env    Env
	stack  []*big.Int // each from 0 to 2^64-1
	failed bool
}

// two64 is the number of values of a cell.
var two64 = new(big.Int).Lsh(big.NewInt(1), 64)

// result is the top of the stack at the end, and false if there is none for any reason. It gives up after limit
// instructions, which it also tells.
func (r *reference) result(limit int) (v int64, ok, gaveUp bool) {
	pc := 0
	for range limit {
		if r.code[pc] == byte(OpEnd) {
			if len(r.stack) == 0 {
				return 0, false, false
			}
			return r.signed(r.stack[len(r.stack)-1]).Int64(), true, false
		}
		if pc = r.step(pc); r.failed || len(r.stack) > 98 {
			return 0, false, false
		}
	}
	return 0, false, true
}

// pop takes the top off the stack.
func (r *reference) pop() *big.Int {
	if len(r.stack) == 0 {
		r.failed = true
		return new(big.Int)
	}
	v := r.stack[len(r.stack)-1]
	r.stack = r.stack[:len(r.stack)-1]
	return v
}

// push reduces v to a cell.
func (r *reference) push(v *big.Int) { r.stack = append(r.stack, new(big.Int).Mod(v, two64)) }

// signed is a cell read as a signed number.
func (r *reference) signed(v *big.Int) *big.Int {
	if v.Bit(63) == 1 {
		return new(big.Int).Sub(v, two64)
	}
	return v
}

// operand reads n bytes of bytecode at pc.
func (r *reference) operand(pc, n int) *big.Int { return new(big.Int).SetBytes(r.code[pc : pc+n]) }

// step executes the instruction at pc and returns where the next one is.
func (r *reference) step(pc int) int {
	op := r.code[pc]
	pc++
	switch {
	case op >= 0x02 && op <= 0x0b, op >= 0x0f && op <= 0x11, op >= 0x13 && op <= 0x15:
		b, a := r.pop(), r.pop()
		r.push(r.two(op, a, b))
	case op == 0x0e: // log_not
		r.push(flag(r.pop().Sign() == 0))
	case op == 0x12: // bit_not
		r.push(new(big.Int).Not(r.pop()))
	case op == 0x16, op == 0x2a: // ext, zero_ext
		n := min(uint(r.code[pc]), 64)
		low := new(big.Int).Mod(r.pop(), new(big.Int).Lsh(big.NewInt(1), n))
		if op == 0x16 && n > 0 && low.Bit(int(n)-1) == 1 {
			low.Sub(low, new(big.Int).Lsh(big.NewInt(1), n))
		}
		r.push(low)
		pc++
	case op == 0x20, op == 0x21: // if_goto, goto
		if op == 0x21 || r.pop().Sign() != 0 {
			return int(r.operand(pc, 2).Int64())
		}
		pc += 2
	case op >= 0x22 && op <= 0x25: // constants
		n := 1 << (op - 0x22)
		r.push(r.operand(pc, n))
		pc += n
	case op == 0x32: // pick
		r.pick(int(r.code[pc]))
		pc++
	case op == 0x28, op == 0x29, op == 0x2b, op == 0x33:
		r.move(op)
	default:
		return r.world(op, pc)
	}
	return pc
}

// two executes an opcode of two operands.
func (r *reference) two(op byte, a, b *big.Int) *big.Int {
	sa, sb, v := r.signed(a), r.signed(b), new(big.Int)
	if op >= 0x05 && op <= 0x08 && b.Sign() == 0 {
		r.failed = true
		return v
	}
	count := uint(64)
	if b.IsUint64() && b.Uint64() < 64 {
		count = uint(b.Uint64())
	}
	switch op {
	case 0x02:
		return v.Add(a, b)
	case 0x03:
		return v.Sub(a, b)
	case 0x04:
		return v.Mul(a, b)
	case 0x05:
		return v.Quo(sa, sb)
	case 0x06:
		return v.Quo(a, b)
	case 0x07:
		return v.Rem(sa, sb)
	case 0x08:
		return v.Rem(a, b)
	case 0x09:
		return v.Lsh(a, count)
	case 0x0a:
		return v.Rsh(sa, count)
	case 0x0b:
		return v.Rsh(a, count)
	case 0x0f:
		return v.And(a, b)
	case 0x10:
		return v.Or(a, b)
	case 0x11:
		return v.Xor(a, b)
	case 0x13:
		return flag(a.Cmp(b) == 0)
	case 0x14:
		return flag(sa.Cmp(sb) < 0)
	default:
		return flag(a.Cmp(b) < 0)
	}
}

// pick copies the cell n below the top.
func (r *reference) pick(n int) {
	if n >= len(r.stack) {
		r.failed = true
		return
	}
	r.push(r.stack[len(r.stack)-1-n])
}

// move executes dup, pop, swap and rot.
func (r *reference) move(op byte) {
	top := r.pop()
	switch op {
	case 0x28: // a -> a a
		r.push(top)
		r.push(top)
	case 0x2b: // a b -> b a
		below := r.pop()
		r.push(top)
		r.push(below)
	case 0x33: // a b c -> c a b
		b, a := r.pop(), r.pop()
		r.push(top)
		r.push(a)
		r.push(b)
	}
}

// world executes what deals with the Env, and fails on the rest.
func (r *reference) world(op byte, pc int) int {
	switch op {
	case 0x17, 0x18, 0x19, 0x1a: // ref8 to ref64
		v, err := r.env.Ref(arch.Addr(r.pop().Uint64()), 1<<(op-0x17))
		r.failed = r.failed || err != nil
		r.push(new(big.Int).SetUint64(v))
		return pc
	case 0x26: // reg
		v, err := r.env.Register(arch.Reg(r.operand(pc, 2).Int64()))
		r.failed = r.failed || err != nil
		r.push(new(big.Int).SetUint64(v))
	case 0x2c: // getv
		r.push(big.NewInt(r.env.Variable(uint16(r.operand(pc, 2).Int64()))))
	case 0x2d, 0x30: // setv, trace16: the cell stays
		r.push(r.pop())
	case 0x2e: // tracev
	case 0x0d: // trace_quick
		r.push(r.pop())
		return pc + 1
	case 0x0c, 0x2f: // trace, tracenz
		r.pop()
		r.pop()
		return pc
	case 0x34: // printf
		for range int(r.code[pc]) + 2 {
			r.pop()
		}
		return pc + 3 + int(r.operand(pc+1, 2).Int64())
	default:
		r.failed = true
	}
	return pc + 2
}

func flag(b bool) *big.Int {
	if b {
		return big.NewInt(1)
	}
	return new(big.Int)
}

// randomProgram builds a program of random instructions without loops. It keeps track of the least height that the stack
// can have, and mostly chooses what that allows.
func randomProgram(t *testing.T, random *rand.Rand) *Program {
	var b Builder
	var jumps []Label
	height := 0
	for range 5 + random.IntN(60) {
		if len(jumps) > 0 && random.IntN(3) == 0 {
			b.Bind(jumps[0])
			jumps = jumps[1:]
		}
		op := Op(random.IntN(int(OpPrintf)))
		if !op.Known() || height < opcodes[op].pops && random.IntN(20) > 0 {
			op = OpConst64
		}
		height = max(0, height-opcodes[op].pops) + opcodes[op].pushes
		switch f := opcodes[op].operand; {
		case f == target:
			jumps = append(jumps, b.NewLabel())
			b.Jump(op, jumps[len(jumps)-1])
		case op == OpConst64:
			b.Emit(op, random.Uint64()>>random.IntN(64)^-uint64(random.IntN(2)))
		case f == none:
			if op.fallsThrough() && op.Evaluable() || random.IntN(20) == 0 {
				b.Emit(op)
			}
		case op == OpPick:
			b.Emit(op, uint64(random.IntN(max(1, height))))
		default:
			b.Emit(op, random.Uint64()>>(64-min(7, f.width()*8)))
		}
	}
	for _, label := range jumps {
		b.Bind(label)
	}
	b.Emit(OpEnd)
	p, err := b.Program()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestAgainstReference has the Machine and the reference evaluate the same random programs in the same worlds.
func TestAgainstReference(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const rounds = 5000
	results := 0
	for range rounds {
		p := randomProgram(t, random)
		got, err := new(Machine).Value(p, &hostile{answers: p.code})
		r := reference{code: p.code, env: &hostile{answers: p.code}}
		want, ok, gaveUp := r.result(len(p.code))
		if gaveUp || errors.Is(err, ErrStepLimit) || ok != (err == nil) || ok && got != want {
			t.Fatalf("the Machine says %d, %v; the reference %d, %v\n%s", got, err, want, ok, p)
		}
		if ok {
			results++
		}
	}
	if results < rounds/4 {
		t.Errorf("only %d of %d programs came to a result", results, rounds)
	}
}
