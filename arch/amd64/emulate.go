package amd64

import "tracewell/arch"

// Memory is the memory of the thread whose registers Emulate works on.
//
// An access must fail, without effect, where the program's own would fault. That needs care behind /proc/PID/mem, which
// writes to read-only pages as well.
type Memory interface {
	// ReadUint64 reads the eight bytes at addr.
	ReadUint64(addr arch.Addr) (uint64, bool)
	// WriteUint64 writes the eight bytes at addr, or none.
	WriteUint64(addr arch.Addr, v uint64) bool
}

// userEnd is where the lower half of the address space ends. A branch beyond it may fault at the branch rather than at
// the target, which emulation cannot imitate.
const userEnd = 1 << 47

// Emulate gives the instruction its effect on r, and on m if it uses the stack, and leaves in r[RIP] the address where the
// thread goes on. What r[RIP] held before does not matter.
//
// It returns false, with r and m untouched, if the instruction has no emulation, or where it would fault, or where the
// program could see a difference: with its trap flag set, or with alignment checks on. It does not allocate.
func (in *Instruction) Emulate(r *UserRegs, m Memory) bool {
	if in.op == opNone || r[EFlags]&flagTrap != 0 {
		return false
	}
	v, ok := in.value(r, m)
	if !ok {
		return false
	}
	next := in.next
	switch in.op {
	case opMove:
		r[in.dst] = v & in.mask
	case opCombine:
		in.combine(r, v)
	case opPush:
		ok = push(r, m, v)
	case opPop:
		ok = pop(r, m, r[RSP], in.dst)
	case opLeave:
		ok = pop(r, m, r[RBP], RBP)
	case opJump:
		next, ok = v, v < userEnd
	case opCall:
		next, ok = v, v < userEnd && push(r, m, in.next)
	case opReturn:
		next, ok = ret(r, m, v)
	case opBranch, opLoop, opJumpZero:
		next, ok = in.branch(r, v)
	}
	if !ok {
		return false
	}
	r[RIP] = next
	r[EFlags] &^= flagResume // every instruction that completes clears it
	return true
}

// value fetches what the operation works on.
func (e *effect) value(r *UserRegs, m Memory) (uint64, bool) {
	switch e.source {
	case fromRegister:
		return r[e.src], true
	case fromAddress:
		return e.address(r), true
	case fromMemory:
		return load(r, m, e.address(r))
	case fromFlags:
		return r[EFlags] &^ (flagResume | flagVirtual), true
	}
	return e.imm, true
}

// address is the address of the memory operand.
func (e *effect) address(r *UserRegs) uint64 {
	a := e.disp
	if e.base != noRegister {
		a += r[e.base]
	}
	if e.index != noRegister {
		a += r[e.index] << e.scale
	}
	return a
}

// combine gives dst and the flags the result of the arithmetic with v.
func (e *effect) combine(r *UserRegs, v uint64) {
	result, flags := e.arithmetic.apply(r[e.dst], v, e.mask, r[EFlags])
	r[EFlags] = flags
	if e.arithmetic.stores() {
		r[e.dst] = result
	}
}

// branch decides a branch to target, counting down rcx if it is a loop.
func (e *effect) branch(r *UserRegs, target uint64) (next uint64, ok bool) {
	var taken bool
	switch e.op {
	case opBranch:
		taken = holds(e.condition, r[EFlags])
	case opLoop:
		taken = r[RCX] != 1 && (e.condition == always || holds(e.condition, r[EFlags]))
	case opJumpZero:
		taken = r[RCX] == 0
	}
	if taken && target >= userEnd {
		return 0, false
	}
	if e.op == opLoop {
		r[RCX]--
	}
	if taken {
		return target, true
	}
	return e.next, true
}

// load reads the stack or a memory operand, if alignment is no concern.
func load(r *UserRegs, m Memory, addr uint64) (uint64, bool) {
	if misaligned(r, addr) {
		return 0, false
	}
	return m.ReadUint64(arch.Addr(addr))
}

// push puts v on the stack, or changes nothing.
func push(r *UserRegs, m Memory, v uint64) bool {
	top := r[RSP] - 8
	if misaligned(r, top) || !m.WriteUint64(arch.Addr(top), v) {
		return false
	}
	r[RSP] = top
	return true
}

// pop takes the word at top off the stack and into register dst, which wins if it is rsp itself.
func pop(r *UserRegs, m Memory, top uint64, dst uint8) bool {
	v, ok := load(r, m, top)
	if !ok {
		return false
	}
	r[RSP] = top + 8
	r[dst] = v
	return true
}

// ret takes a return address off the stack, and drop more bytes.
func ret(r *UserRegs, m Memory, drop uint64) (next uint64, ok bool) {
	next, ok = load(r, m, r[RSP])
	if !ok || next >= userEnd {
		return 0, false
	}
	r[RSP] += 8 + drop
	return next, true
}

// misaligned tells whether the program asked for a fault on an access like this one.
func misaligned(r *UserRegs, addr uint64) bool { return r[EFlags]&flagAlignment != 0 && addr%8 != 0 }
