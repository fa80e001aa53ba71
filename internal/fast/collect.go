package fast

import (
	asm "tracewell/internal/asm/amd64"
	"tracewell/internal/jit"
	"tracewell/trace"
)

// Stores of constants: what follows them in the slot is stored later, so that a store may be longer than what it is for.

// frame fills the frame of a tracepoint.
func (b *builder) frame(t *turn) error {
	f := &b.pad.Slots.frames[t.number]
	if b.several {
		b.ArithImm(asm.Or, 1, b.slot(slotPresent), 1<<t.number)
	}
	header := uint64(uint16(t.Number)) | uint64(f.end-f.at-frameHeader)<<16
	if len(f.blocks) > 0 {
		header |= uint64(f.blocks[0].kind) << 48
	}
	// The number, the length and the letter of the first block are seven bytes; the eighth is overwritten by what follows.
	b.MovImm(regScratch, int64(header))
	b.Store(8, b.slot(f.at), regScratch)
	b.first, b.lettered = f.at+frameHeader, true
	for i := range t.actions {
		if a := &t.actions[i]; a.dynamic {
			b.absent(f.blocks[a.blocks[0]:a.blocks[1]])
			b.lettered = b.lettered && a.blocks[0] > 0
		}
	}
	for i := range t.actions {
		a := &t.actions[i]
		switch a.Kind {
		case trace.CollectRegisters:
			if a.blocks[0] < a.blocks[1] {
				b.registers(f, &f.blocks[a.blocks[0]])
			}
		case trace.CollectMemory:
			if a.Length > 0 {
				b.memory(b.address(a), t.number, a.blocks)
			}
		case trace.CollectExpression:
			if err := b.expression(t, a); err != nil {
				return err
			}
		}
	}
	return nil
}

// absent marks blocks that may turn out not to be made.
func (b *builder) absent(blocks []block) {
	for i := range blocks {
		b.StoreImm(1, b.slot(blocks[i].at), 0)
	}
	b.flag(flagShort)
}

// flag sets flags of the slot.
func (b *builder) flag(flags int32) { b.ArithImm(asm.Or, 1, b.slot(slotFlags), flags) }

// letter stores the letter of a block. That of the first one of a frame came with the header.
func (b *builder) letter(blk *block) {
	if !b.lettered || blk.at != b.first {
		b.StoreImm(1, b.slot(blk.at), int32(blk.kind))
	}
}

// registers stores the register block.
func (b *builder) registers(f *framePlan, blk *block) {
	b.letter(blk)
	contents := blk.at + 1
	for _, g := range f.registers.general {
		b.generalRegister(g, b.slot(contents+g.offset))
	}
	b.raw(&f.registers.raw)
}

// general1 stores one register.
func (b *builder) generalRegister(g generalRegister, to asm.Mem) {
	switch g.from {
	case fromRegister:
		r := asm.Reg(g.number)
		at, onStack := b.place(r)
		switch {
		case r == asm.RSP: // which the pad has moved
			b.Lea(regScratch, asm.At(asm.RSP, b.depth))
			r = regScratch
		case onStack:
			b.Mov(8, regScratch, b.word(at))
			r = regScratch
		}
		b.Store(8, to, r)
	case fromPC:
		b.MovImm(regScratch, int64(b.Site.Addr))
		b.Store(8, to, regScratch)
	case fromFlags:
		b.storeFlags(to)
	case fromSegment:
		b.MovSeg(regScratch, asm.Seg(g.number))
		b.Store(4, to, regScratch)
	case fromFSBase:
		b.Rdfsbase(8, regScratch)
		b.Store(8, to, regScratch)
	case fromGSBase:
		b.Rdgsbase(8, regScratch)
		b.Store(8, to, regScratch)
	case fromNothing:
		b.StoreImm(8, to, -1)
	}
}

// storeFlags stores the flags: the arithmetic ones as they were saved, the others as they are. What lahf has set is the lowest
// byte, with the one bit in it that is always set.
func (b *builder) storeFlags(to asm.Mem) {
	b.Pushf()
	b.moved(8)
	b.Pop(regScratch)
	b.moved(-8)
	b.ArithImm(asm.And, 4, regScratch, ^(0xff | flagOverflow | flagTrap))
	b.Arith(asm.Or, 1, regScratch, b.word(b.flagsAt).Plus(1))
	b.Store(4, to, regScratch)
	b.Load(1, false, regScratch, b.word(b.flagsAt))
	b.Shift(asm.Shl, 4, regScratch, overflowFromAL-8)
	b.ArithMem(asm.Or, 1, to.Plus(1), regScratch)
}

// loadFlags computes the flags for an expression, on the stack.
func (b *builder) loadFlags(dst asm.Reg) {
	other := asm.RDX
	if dst == other {
		other = asm.RAX
	}
	b.borrow(other)
	b.Pushf()
	b.moved(8)
	b.Pop(dst)
	b.moved(-8)
	b.ArithImm(asm.And, 4, dst, ^(flagsOfLahf | flagOverflow | flagTrap))
	b.Load(1, false, other, b.word(b.flagsAt).Plus(1))
	b.ArithImm(asm.And, 4, other, flagsOfLahf)
	b.Arith(asm.Or, 4, dst, other)
	b.Load(1, false, other, b.word(b.flagsAt))
	b.Shift(asm.Shl, 4, other, overflowFromAL)
	b.Arith(asm.Or, 4, dst, other)
	b.giveBack(other)
}

// raw stores the state of which the reader makes registers. All stores are plain: nothing of the state changes, not even what
// of it counts as in use.
func (b *builder) raw(r *rawState) {
	at := func(offset int) asm.Mem { return b.slot(b.rawAt + offset) }
	if r.legacy {
		b.Fxsave(at(0))
	}
	switch {
	case r.tracked:
		b.vectorsInUse(r)
	case r.zmm:
		b.wholeVectors(r, 0, 32)
	case r.high:
		b.upperHalves(r)
	}
	if r.masks {
		width := asm.Width(2)
		if r.wide {
			width = 8
		}
		for i := range 8 {
			if !r.wide { // the upper bits do not exist
				b.StoreImm(8, at(r.masksAt+8*i), 0)
			}
			b.KmovStore(width, at(r.masksAt+8*i), asm.Mask(i))
		}
	}
	if r.pkru {
		b.borrow(asm.RCX)
		b.borrow(asm.RDX)
		b.Arith(asm.Xor, 4, asm.RCX, asm.RCX)
		b.Bytes(0x0f, 0x01, 0xee) // rdpkru
		b.Store(4, at(r.pkruAt), asm.RAX)
		b.giveBack(asm.RDX)
		b.giveBack(asm.RCX)
	}
}

// vectorsInUse stores what of the vectors is in use, besides what fxsave has stored.
func (b *builder) vectorsInUse(r *rawState) {
	b.borrow(asm.RCX)
	b.borrow(asm.RDX)
	b.MovImm(asm.RCX, 1)
	b.Xgetbv()
	b.giveBack(asm.RDX)
	b.giveBack(asm.RCX)
	b.Store(4, b.slot(b.rawAt+r.inUseAt), asm.RAX)
	packed, lower, done := b.NewLabel(), b.NewLabel(), b.NewLabel()
	b.TestImm(4, asm.RAX, inUseUpper)
	b.Jcc(asm.CondE, packed)
	b.wholeVectors(r, 0, 16)
	b.Jmp(lower)
	b.Bind(packed)
	b.TestImm(4, asm.RAX, inUseAVX)
	b.Jcc(asm.CondE, lower)
	b.upperHalves(r)
	b.Bind(lower)
	b.TestImm(4, asm.RAX, inUseMore)
	b.Jcc(asm.CondE, done)
	b.wholeVectors(r, 16, 32)
	b.Bind(done)
}

// wholeVectors stores zmm registers from one up to another.
func (b *builder) wholeVectors(r *rawState, from, to int) {
	for i := from; i < to; i++ {
		b.VmovdquStore(64, b.slot(b.rawAt+r.vectors+64*i), asm.Vec(i))
	}
}

// upperHalves stores what ymm0 to ymm15 have above xmm.
func (b *builder) upperHalves(r *rawState) {
	for i := range 16 {
		b.Vextractf128(b.slot(b.rawAt+r.vectors+16*i), asm.Vec(i), 1)
	}
}

// address is that of a range, in a register unless it is relative to one that is live.
func (b *builder) address(a *action) jit.Operand {
	offset := int64(a.Offset)
	if a.Base == trace.Absolute || a.Base == remotePC {
		if a.Base == remotePC {
			offset += int64(b.Site.Addr)
		}
		b.MovImm(regThrough, offset)
		return jit.Operand{Base: regThrough}
	}
	r := remote[a.Base]
	far := offset != int64(int32(offset)) || offset > 1<<30 || offset < -1<<30
	if at, onStack := b.place(r); onStack {
		b.Mov(8, regThrough, b.word(at))
		r = regThrough
	} else if r == asm.RSP {
		if !far {
			return jit.Operand{Base: r, Disp: offset + int64(b.depth)}
		}
		b.Lea(regThrough, asm.At(r, b.depth))
		r = regThrough
	}
	if far {
		b.MovImm(regScratch, offset)
		if r != regThrough {
			b.Mov(8, regThrough, r)
			r = regThrough
		}
		b.Arith(asm.Add, 8, regThrough, regScratch)
		return jit.Operand{Base: r}
	}
	return jit.Operand{Base: r, Disp: offset}
}

// memory copies a range whose size is known into its blocks.
func (b *builder) memory(addr jit.Operand, frame int, blocks [2]int) {
	f := &b.pad.Slots.frames[frame]
	for i := blocks[0]; i < blocks[1]; i++ {
		blk := &f.blocks[i]
		b.blockHeader(blk, addr)
		b.contents(addr, frame, i)
		addr.Disp += int64(blk.room)
	}
}

// blockHeader stores what precedes the contents of a memory block.
func (b *builder) blockHeader(blk *block, addr jit.Operand) {
	b.letter(blk)
	addr.Load(b.Assembler, regScratch)
	b.Store(8, b.slot(blk.at+1), regScratch)
	if blk.room > 1 { // 16-bit constants stall the decoder
		b.StoreImm(4, b.slot(blk.at+9), int32(blk.room))
	} else {
		b.StoreImm(2, b.slot(blk.at+9), int32(blk.room))
	}
}

// contents copies those of a block. What cannot be an address is not tried, as a fault costs 7 µs; other memory may turn out not
// to be there, and is left to Fault.
func (b *builder) contents(addr jit.Operand, frame, index int) {
	blk := &b.pad.Slots.frames[frame].blocks[index]
	behind := b.NewLabel()
	b.unlessAddress(addr, blk, behind)
	if blk.room > unrolled {
		b.copyLong(blk, frame, index)
	} else {
		from := b.Len()
		b.copyUnrolled(addr, blk.at+memoryHeader, blk.room)
		b.faults(faultRange{from: int32(from), to: int32(b.Len()), kind: faultBlock, frame: frame, block: index}, behind)
	}
	b.Bind(behind)
}

// branchUnlessAddress branches if an address is below what a program can map or beyond user space.
func (b *builder) branchUnlessAddress(addr asm.Mem, to asm.Label) {
	// One shift finds both: an address below the lowest wraps around.
	b.Lea(regScratch, addr.Plus(-b.Arena.lowest()))
	b.Shift(asm.Shr, 8, regScratch, userBits)
	b.Jcc(asm.CondNE, to)
}

// unlessAddress makes the block empty if the memory is below what a program can map or beyond user space.
func (b *builder) unlessAddress(addr jit.Operand, blk *block, behind asm.Label) {
	nothing := b.NewLabel()
	b.branchUnlessAddress(asm.At(addr.Base, int32(addr.Disp)), nothing)
	at := b.state
	b.cold = append(b.cold, func() {
		b.Bind(nothing)
		b.resumeFrom(at)
		b.StoreImm(2, b.slot(blk.at+9), 0)
		b.flag(flagShort)
		b.Jmp(behind)
	})
}

// userBits is the number of bits that an address of a program has.
const userBits = 47

// unrolled is up to how many bytes are copied word by word; a string instruction takes longer to get going.
const unrolled = 128

// copyUnrolled copies n bytes, the last ones by a word that overlaps what has been copied.
func (b *builder) copyUnrolled(addr jit.Operand, to, n int) {
	// Words of one size for the whole range: the widest that it has room for.
	size := 8
	for size > n {
		size /= 2
	}
	for done := 0; done < n; done += size {
		done = min(done, n-size)
		from := addr
		from.Disp += int64(done)
		b.Load(asm.Width(size), false, regScratch, from.Mem())
		b.Store(asm.Width(size), b.slot(to+done), regScratch)
	}
}

// copyLong copies as many bytes as the header of a block says, from where it says.
func (b *builder) copyLong(blk *block, frame, index int) {
	b.borrow(asm.RSI)
	b.borrow(asm.RDI)
	b.borrow(asm.RCX)
	b.Mov(8, asm.RSI, b.slot(blk.at+1))
	b.Lea(asm.RDI, b.slot(blk.at+memoryHeader))
	b.Load(2, false, asm.RCX, b.slot(blk.at+9))
	// The program may have set the direction flag, which only popf could bring back once it was cleared.
	b.Pushf()
	b.moved(8)
	b.Pop(regScratch)
	b.moved(-8)
	backwards, done := b.NewLabel(), b.NewLabel()
	b.TestImm(4, regScratch, flagDirection)
	b.Jcc(asm.CondNE, backwards)
	copies := faultRange{from: int32(b.Len()), kind: faultBlock, frame: frame, block: index}
	b.RepMovs(1)
	copies.to = int32(b.Len())
	b.faults(copies, done)
	b.Bind(done)
	at := b.state
	b.giveBack(asm.RCX)
	b.giveBack(asm.RDI)
	b.giveBack(asm.RSI)
	b.cold = append(b.cold, func() {
		b.Bind(backwards)
		b.resumeFrom(at)
		copies.from = int32(b.Len())
		b.Load(1, false, regScratch, asm.Index(asm.RSI, asm.RCX, 1, -1))
		b.Store(1, asm.Index(asm.RDI, asm.RCX, 1, -1), regScratch)
		copies.to = int32(b.Len())
		b.faults(copies, done)
		b.Dec(4, asm.RCX)
		b.Jcc(asm.CondNE, backwards)
		b.Jmp(done)
	})
}

// computed copies a range whose size the expression has computed. One for which there is no room makes the hit one for a trap.
func (b *builder) computed(addr, size jit.Operand, frame, index int) {
	blk := &b.pad.Slots.frames[frame].blocks[index]
	tooLarge, behind := b.NewLabel(), b.NewLabel()
	addr.Load(b.Assembler, regScratch)
	b.Store(8, b.slot(blk.at+1), regScratch)
	size.Load(b.Assembler, regScratch)
	b.ArithImm(asm.Cmp, 8, regScratch, maxComputed)
	b.Jcc(asm.CondA, tooLarge)
	b.Test(4, regScratch, regScratch)
	b.Jcc(asm.CondE, behind)
	// The block counts as absent until its letter is there.
	b.StoreImm(1, b.slot(blk.at), int32(blk.kind))
	b.Store(2, b.slot(blk.at+9), regScratch)
	b.unlessAddress(jit.Operand{Base: b.loaded(addr)}, blk, behind)
	b.copyLong(blk, frame, index)
	b.Bind(behind)
	b.stopAt(tooLarge, b.outLate)
}

// loaded has an operand be in a register.
func (b *builder) loaded(o jit.Operand) asm.Reg {
	if o.Base != asm.NoReg && o.Disp == 0 {
		return o.Base
	}
	o.Load(b.Assembler, regScratch)
	return regScratch
}

// text copies a string into its block, up to and including the first zero byte.
func (b *builder) text(addr jit.Operand, frame, index int) {
	blk := &b.pad.Slots.frames[frame].blocks[index]
	b.blockHeader(blk, addr)
	behind := b.NewLabel()
	b.unlessAddress(jit.Operand{Base: b.loaded(addr)}, blk, behind)
	// The slot's copy of the address is used, since the registers that hold it may be those that are borrowed.
	b.borrow(asm.RSI)
	b.borrow(regIndex)
	b.Mov(8, asm.RSI, b.slot(blk.at+1))
	b.Arith(asm.Xor, 4, regIndex, regIndex)
	end, done := b.NewLabel(), b.NewLabel()
	next := b.Here()
	from := b.Len()
	b.Load(1, false, regScratch, asm.Index(asm.RSI, regIndex, 1, 0))
	b.faults(faultRange{from: int32(from), to: int32(b.Len()), kind: faultString, frame: frame, block: index}, done)
	b.Store(1, asm.Index(regSlot, regIndex, 1, int32(blk.at+memoryHeader)), regScratch)
	b.Inc(4, regIndex)
	b.Test(4, regScratch, regScratch)
	b.Jcc(asm.CondE, end)
	b.ArithImm(asm.Cmp, 4, regIndex, int32(blk.room))
	b.Jcc(asm.CondB, next)
	b.Bind(end)
	b.Store(2, b.slot(blk.at+9), regIndex)
	b.flag(flagShort)
	b.Bind(done)
	b.giveBack(regIndex)
	b.giveBack(asm.RSI)
	b.Bind(behind)
}
