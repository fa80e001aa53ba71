package amd64

import (
	"encoding/binary"
	"fmt"
	"math"

	"tracewell/arch"
)

// MaxDisplaced is the most bytes that Displace makes of one instruction: an indirect call through a long operand.
const MaxDisplaced = 32

// Displaced is a run of instructions, copied to another address. Relocate copies one instruction as it is; here branches and calls
// are rewritten as well, so that the copy goes where the original goes: a jump lies over several instructions, and whatever
// is under it must be executed elsewhere.
//
// The code ends where the last copy ends. What follows is the business of the caller: a jump to Next, which Instruction.JumpBack
// encodes, if Falls.
type Displaced struct {
	At     arch.Addr // where the code is executed
	Code   []byte
	Next   arch.Addr // the address behind the originals
	Falls  bool      // control can leave the code at its end
	Points []Point   // every instruction boundary of Code in order of Offset; the last one is its end

	copies []Point // where the copy of each original begins
}

// Point is the meaning of one instruction boundary in displaced code.
type Point struct {
	Offset int       // in Code
	PC     arch.Addr // where the program would be: it has executed everything in front of PC, and nothing from there on
	Pushed int       // bytes that the code has pushed and the program has not; add them to the stack pointer to be at PC
}

// DisplaceError is the refusal to displace an instruction.
type DisplaceError struct {
	Instruction *Instruction
	Cause       string // the end of a sentence that begins with the instruction
}

// Error names the instruction and the cause.
func (e *DisplaceError) Error() string {
	return fmt.Sprintf("the instruction at %v, %v, cannot be moved: %s", e.Instruction.at, e.Instruction, e.Cause)
}

// CanDisplace reports whether Displace supports the instruction, at an address near enough; Reason says why if it does not.
func (in *Instruction) CanDisplace() bool {
	switch in.reason {
	case Relocatable:
		return true
	case RelativeBranch:
		_, direct := in.Target()
		return direct
	case PushesAddress:
		if _, direct := in.Target(); direct {
			return true
		}
		_, ok := in.asJump(0)
		return ok
	}
	return false
}

// Target is the address that a direct branch or call goes to. It is false for any other instruction.
func (in *Instruction) Target() (arch.Addr, bool) {
	switch in.op {
	case opJump, opCall, opBranch, opLoop, opJumpZero:
		return arch.Addr(in.imm), in.source == fromImmediate && in.imm < userEnd
	}
	return 0, false
}

// Falls reports whether control can go on behind the instruction. It does behind a call, by way of a return, and it may behind a
// branch that Emulate does not support.
func (in *Instruction) Falls() bool {
	switch in.flow {
	case FlowReturn:
		return false
	case FlowJump:
		return in.op != opJump && (in.reason == RelativeBranch || in.reason == Transaction)
	}
	return true
}

// Reach is the range of addresses, from low up to but not including high, in which any displaced code of at most size bytes can
// lie that contains copies of the run: operands relative to the pc are within 2 GiB. It is empty, low >= high, if the operands are
// too far from one another.
func Reach(run []*Instruction, size int) (low, high arch.Addr) {
	low, high = 0, userEnd
	for _, in := range run {
		if in.dispAt == 0 {
			continue
		}
		operand := in.operand()
		if floor := operand - math.MaxInt32; floor < userEnd { // else there is nothing below that is too far
			low = max(low, floor)
		}
		if ceiling := operand + 1<<31; ceiling > arch.Addr(size) {
			high = min(high, ceiling-arch.Addr(size))
		}
	}
	return low, high
}

// operand is the address of the operand that counts from the next instruction.
func (in *Instruction) operand() arch.Addr {
	return in.Next() + arch.Addr(int32(binary.LittleEndian.Uint32(in.code[in.dispAt:])))
}

// Displace copies a run of instructions, each of which begins where the one before it ends, to an address. Registers, flags and
// memory are afterwards what the originals would have made of them, return addresses included. There are two differences: a call
// pushes before it reads the pointer that it goes through, which matters only to a pointer that lies in the eight bytes below the
// stack; and the processor's prediction of returns misses once, because no call instruction is executed.
//
// A branch to another instruction of the run goes to the original, not to the copy. With a shadow stack calls must not be displaced
// (Instruction.WritesShadowStack). The error is a *DisplaceError.
func Displace(run []*Instruction, at arch.Addr) (*Displaced, error) {
	d := &Displaced{At: at, Code: make([]byte, 0, len(run)*MaxDisplaced), Points: make([]Point, 0, 2*len(run)+1)}
	for _, in := range run {
		d.Next, d.Falls = in.Next(), in.Falls()
		d.point(in.at, 0)
		d.copies = append(d.copies, d.Points[len(d.Points)-1])
		if cause := d.append(in); cause != "" {
			return nil, &DisplaceError{in, cause}
		}
	}
	d.point(d.Next, 0)
	return d, nil
}

// Original is the meaning of an offset in Code. It is false if no instruction begins there.
func (d *Displaced) Original(offset int) (Point, bool) {
	for _, p := range d.Points {
		if p.Offset == offset {
			return p, true
		}
	}
	return Point{}, false
}

// Offset is where in Code a thread goes on that is at one of the original instructions, or behind the last. It is false for any
// other pc.
func (d *Displaced) Offset(pc arch.Addr) (int, bool) {
	for _, p := range d.copies {
		if p.PC == pc {
			return p.Offset, true
		}
	}
	return len(d.Code), pc == d.Next
}

// point notes what the boundary at the present end of the code means.
func (d *Displaced) point(pc arch.Addr, pushed int) {
	d.Points = append(d.Points, Point{len(d.Code), pc, pushed})
}

// append copies one instruction. The cause is empty if that went well.
func (d *Displaced) append(in *Instruction) (cause string) {
	target, direct := in.Target()
	switch {
	case !in.CanDisplace():
		return in.reason.String()
	case in.reason == Relocatable:
		d.Code = append(d.Code, in.Code()...)
		if in.dispAt != 0 {
			return d.retarget(len(d.Code)-int(in.length)+int(in.dispAt), in.operand())
		}
	case !direct:
		return d.callIndirect(in)
	case in.op == opCall:
		if whole := d.pushReturn(in.Next()); !whole {
			d.point(in.at, 8)
			d.returnHigh(in.Next())
		}
		d.point(target, 0) // the call has happened
		d.jump(target)
	case in.op == opJump:
		d.jump(target)
	case in.op == opBranch:
		d.branch(in, target)
	default:
		d.loop(in, target)
	}
	return ""
}

// jump appends a jump, near or far.
func (d *Displaced) jump(target arch.Addr) { d.Code = appendJump(d.Code, d.At, target) }

// branch appends a conditional branch: one of 32 bits, or the opposite one over a far jump.
func (d *Displaced) branch(in *Instruction, target arch.Addr) {
	distance := int64(target - (d.At + arch.Addr(len(d.Code)+6)))
	if int64(int32(distance)) == distance {
		d.Code = append(d.Code, opcodeEscape, 0x80|in.condition)
		d.Code = binary.LittleEndian.AppendUint32(d.Code, uint32(distance))
		return
	}
	d.Code = append(d.Code, 0x70|in.condition^1, farJumpLength)
	d.point(target, 0)
	d.jump(target)
}

// loop appends an instruction that counts rcx or looks at it, all of which have branches of 8 bits only: it goes to a jump to the
// target, over one that skips that.
func (d *Displaced) loop(in *Instruction, target arch.Addr) {
	d.Code = append(append(d.Code, in.code[:in.length-1]...), 2)
	d.point(in.Next(), 0)
	skip := len(d.Code) + 1
	d.Code = append(d.Code, 0xeb, 0)
	d.point(target, 0)
	d.jump(target)
	d.Code[skip] = uint8(len(d.Code) - skip - 1)
}

// pushReturn appends a push of the low half of a return address, sign-extended, and reports whether that is the whole.
func (d *Displaced) pushReturn(to arch.Addr) (whole bool) {
	d.Code = binary.LittleEndian.AppendUint32(append(d.Code, 0x68), uint32(to))
	return uint64(int64(int32(to))) == uint64(to)
}

// returnHigh appends a store of the high half of the return address that has been pushed.
func (d *Displaced) returnHigh(to arch.Addr) {
	d.Code = append(d.Code, 0xc7, 0x44, 0x24, 4) // movl $..., 4(%rsp)
	d.Code = binary.LittleEndian.AppendUint32(d.Code, uint32(to>>32))
}

// callIndirect appends a push of the return address and a jump through the operand of the call.
func (d *Displaced) callIndirect(in *Instruction) (cause string) {
	jump, _ := in.asJump(8)
	if whole := d.pushReturn(in.Next()); !whole {
		d.point(in.at, 8)
		d.returnHigh(in.Next())
	}
	d.point(in.at, 8)
	d.Code = append(d.Code, jump...)
	if in.dispAt != 0 {
		return d.retarget(len(d.Code)-4, in.operand())
	}
	return ""
}

// asJump is an indirect call as a jump through the same operand, when the stack pointer is lower by a number of bytes than at the
// call. An operand relative to the pc is left as it is. It is not ok for what is no such call, or one through the stack pointer
// itself or, as far as the instruction shows, memory that may be below the stack.
func (in *Instruction) asJump(pushed int32) (code []byte, ok bool) {
	l, _ := measure(in.Code())
	if l.encoding != legacy || l.space != spaceOne || l.opcode != 0xff || l.reg() != 2 ||
		l.has(prefixOperand|prefixAddress|prefixLock|prefixRep) {
		return nil, false
	}
	modrm := l.modrm&^0x38 | 4<<3
	head := int(l.length) - 2 - int(l.dispLen) // prefixes, which come in front of opcode, ModRM, SIB and displacement
	if l.isMem() && l.rm() == 4 {
		head--
	}
	tail := append(append([]byte(nil), in.code[:head]...), 0xff)
	switch onStack := l.rm() == 4 && l.rex&rexB == 0; {
	case !l.isMem():
		return append(tail, modrm), !onStack // rm is the register itself
	case onStack && l.sib&7 == 4:
		indexed := l.sib != 0x24 || l.rex&rexX != 0
		tail = append(tail, modrm&^0xc0|0x80, l.sib) // with a displacement of 32 bits
		return binary.LittleEndian.AppendUint32(tail, uint32(l.disp+pushed)), !indexed && l.disp >= 0 && l.disp <= math.MaxInt32-8
	}
	return append(append(tail, modrm), in.code[head+2:in.length]...), true
}

// retarget has the displacement at an offset, of an operand relative to the end of the code, name an address.
func (d *Displaced) retarget(field int, operand arch.Addr) (cause string) {
	disp := int64(operand - (d.At + arch.Addr(len(d.Code))))
	if int64(int32(disp)) != disp {
		return fmt.Sprintf("its operand at %v is out of reach from %v", operand, d.At)
	}
	binary.LittleEndian.PutUint32(d.Code[field:], uint32(disp))
	return ""
}
