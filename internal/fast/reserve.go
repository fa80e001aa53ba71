package fast

import (
	asm "tracewell/internal/asm/amd64"
)

// reserve has there be a slot for the hit, for a tracepoint whose turn it is. Where there is none, because the ring is full or the
// run is over, control goes to none. The slot's header says what is present in it and which flags are set.
func (b *builder) reserve(t *turn, present, flags uint8, none asm.Label) {
	have := b.NewLabel()
	if b.several {
		b.Test(8, regSlot, regSlot)
		b.Jcc(asm.CondNE, have)
		b.position = noPosition
		b.note()
	}
	size := int32(b.pad.Slots.size)
	full, ready := b.NewLabel(), b.NewLabel()
	if b.Arena.WhenFull == Drop {
		// What an addition has reserved cannot be given back, so where there may be no room the head is exchanged: 9 ns for 5.
		b.Mov(8, asm.RAX, b.control(HeadAt))
		again := b.Here()
		b.Lea(regSlot, asm.At(asm.RAX, size))
		b.Arith(asm.Cmp, 8, regSlot, b.control(LimitAt))
		b.Jcc(asm.CondA, full)
		b.Lock().Cmpxchg(8, b.control(HeadAt), regSlot)
		b.position = positionIfZero
		b.note()
		b.Jcc(asm.CondNE, again)
		b.position = positionInRAX
		b.note()
	} else {
		b.MovImm(asm.RAX, int64(size))
		b.Lock().Xadd(8, b.control(HeadAt), asm.RAX)
		b.position = positionInRAX
		b.note()
		b.Lea(regSlot, asm.At(asm.RAX, size))
		b.Arith(asm.Cmp, 8, regSlot, b.control(LimitAt))
		b.Jcc(asm.CondA, full)
	}
	reserved := b.state
	// From here on the position is in the commit word, so rax can become the place in the ring.
	b.Bind(ready)
	b.MovImm(regCommit, int64(b.Arena.Key))
	b.Arith(asm.Xor, 8, regCommit, asm.RAX)
	b.position = positionInCommit
	b.note()
	b.ArithImm(asm.And, 4, asm.RAX, int32(b.Arena.RingSize-1))
	b.MovImm(regSlot, int64(b.Arena.Ring))
	b.Arith(asm.Add, 8, regSlot, asm.RAX)
	if b.several {
		b.position = positionIfSlot
		b.note()
	}
	// The header is one word but for the commit word.
	units := uint64(b.pad.Slots.size / slotAlign)
	b.MovImm(regScratch, int64(units|uint64(flags)<<16|uint64(present)<<24|uint64(b.Index)<<32))
	b.Store(8, b.slot(slotUnits), regScratch)
	b.clearRecords()
	b.Bind(have)
	b.cold = append(b.cold, func() {
		b.Bind(full)
		if b.Arena.WhenFull == Drop {
			b.drop(t, reserved, none)
		} else {
			b.wait(reserved, ready, none)
		}
	})
}

// slot is the memory at an offset of the slot.
func (b *builder) slot(offset int) asm.Mem { return asm.At(regSlot, int32(offset)) }

// clearRecords marks the failure records as empty. That of the condition of a single tracepoint is looked at only if there is no
// frame.
func (b *builder) clearRecords() {
	for i := range b.turns {
		t := &b.turns[i]
		if t.record != 0 && b.several {
			b.StoreImm(8, b.slot(t.record), 0)
		}
		for _, a := range t.actions {
			if a.record != 0 {
				b.StoreImm(8, b.slot(a.record), 0)
			}
		}
	}
}

// commitHit completes the slot, if there is one.
func (b *builder) commitHit() {
	counts := false
	for i := range b.turns {
		counts = counts || b.turns[i].Pass > 0
	}
	if b.several {
		b.Test(8, regSlot, regSlot)
		b.Jcc(asm.CondE, b.outLate)
		if counts { // the slot is the reader's once it is committed
			b.Load(1, false, regScratch, b.slot(slotPresent))
		}
	}
	// A plain store will do: the processor makes stores visible in their order.
	b.Store(8, b.slot(slotCommit), regCommit)
	b.phase, b.position = recorded, noPosition
	b.note()
	for i := range b.turns {
		if b.turns[i].Pass == 0 {
			continue
		}
		absent := b.NewLabel()
		if b.several {
			b.TestImm(1, regScratch, 1<<i)
			b.Jcc(asm.CondE, absent)
		}
		b.Lock().Inc(8, b.control(HitsAt+8*b.turns[i].Index))
		b.Bind(absent)
	}
}

// drop counts the hit as lost, for the first tracepoint whose condition held.
func (b *builder) drop(t *turn, full state, none asm.Label) {
	full.position = noPosition
	b.resumeFrom(full)
	b.Lock().Inc(8, b.control(LostAt+8*t.Index))
	b.Jmp(none)
}

// Of the kernel's interface.
const ( // numbers of system calls, and an error
	sysGettid = 186
	sysFutex  = 202
	timedOut  = -110
)

// wait has the thread wait until there is room, and gives up when the run is over. rax is the position, regSlot the end of the
// slot; regCommit counts the naps in which the reader has not advanced, and regTicket is how many waits there were before this.
func (b *builder) wait(reserved state, ready, none asm.Label) {
	b.resumeFrom(reserved)
	borrowed := []asm.Reg{asm.RCX, asm.RDX, asm.RSI, asm.RDI, asm.R10, asm.R11, regTicket}
	for _, r := range borrowed {
		b.borrow(r)
	}
	b.Push(asm.RAX)
	b.position, b.waitAt = positionOnStack, b.depth+8
	b.moved(8)
	b.Arith(asm.Xor, 4, regCommit, regCommit)
	b.MovImm(regTicket, 1)
	b.Lock().Xadd(8, b.control(WaitsAt), regTicket)
	again, over, stalled := b.NewLabel(), b.NewLabel(), b.NewLabel()
	b.Bind(again)
	b.ArithImm(asm.Cmp, 4, b.control(AbandonedAt), 0)
	b.Jcc(asm.CondNE, over)
	b.TestImm(4, b.control(OwnerAt), ownerThread) // without a thread the owner is dead
	b.Jcc(asm.CondE, over)
	b.Mov(4, asm.RSI, b.control(WakeAt))
	room := b.NewLabel()
	b.Arith(asm.Cmp, 8, regSlot, b.control(LimitAt))
	b.Jcc(asm.CondBE, room)
	b.nap(again)
	b.Inc(4, regCommit)
	b.ArithImm(asm.Cmp, 4, b.control(PatienceAt), 0)
	b.Jcc(asm.CondE, again)
	b.Arith(asm.Cmp, 4, regCommit, b.control(PatienceAt))
	b.Jcc(asm.CondB, again)
	// Nobody reads. The run ends here, for all threads.
	b.Bind(stalled)
	b.StoreImm(4, b.control(AbandonedAt), 1)
	b.Lock().ArithImm(asm.Or, 1, b.control(OwnerAt+3), ownerDied>>24)
	waiting := b.state

	// The position stays a hole: whoever reads later sees that the run was abandoned.
	b.Bind(over)
	b.phase, b.position = recorded, noPosition
	b.note()
	b.leaveWait(borrowed)
	b.Jmp(none)

	b.Bind(room)
	b.resumeFrom(waiting)
	b.leaveWait(borrowed)
	b.Jmp(ready)
}

// leaveWait pops what wait has pushed.
func (b *builder) leaveWait(borrowed []asm.Reg) {
	b.Pop(asm.RAX)
	if b.position == positionOnStack {
		b.position = positionInRAX
	}
	b.moved(-8)
	for i := len(borrowed) - 1; i >= 0; i-- {
		b.giveBack(borrowed[i])
	}
}

// regTicket is one that the kernel leaves alone.
const regTicket = asm.R12

// nap waits for the reader to advance from what it has counted in rsi. Control comes out if it has not in the time of a nap, else
// goes to again. A thread may sleep only by leave of the tracer: a seccomp filter that forbids futex kills the program for it.
func (b *builder) nap(again asm.Label) {
	sleep, moved, still := b.NewLabel(), b.NewLabel(), b.NewLabel()
	b.Mov(4, asm.RCX, b.control(NapSpinsAt))
	spin := b.Here()
	b.Arith(asm.Cmp, 8, regTicket, b.control(GrantAt))
	b.Jcc(asm.CondB, sleep)
	b.Pause()
	b.Arith(asm.Cmp, 4, asm.RSI, b.control(WakeAt))
	b.Jcc(asm.CondNE, moved)
	b.Dec(4, asm.RCX)
	b.Jcc(asm.CondNE, spin)
	b.Jmp(still)

	b.Bind(sleep)
	b.Lea(asm.RDI, b.control(WakeAt))
	b.Mov(4, asm.RDX, asm.RSI)
	b.Arith(asm.Xor, 4, asm.RSI, asm.RSI) // FUTEX_WAIT, between processes
	b.Lea(asm.R10, b.control(NapAt))
	b.MovImm(asm.RAX, sysFutex)
	b.Syscall()
	b.ArithImm(asm.Cmp, 4, asm.RAX, timedOut)
	b.Jcc(asm.CondE, still)
	b.Bind(moved)
	b.Arith(asm.Xor, 4, regCommit, regCommit)
	b.Jmp(again)
	b.Bind(still)
}

// takeLock takes the lock if an expression of the site sets variables. A thread that waits for it cannot give way to the holder,
// which would take a system call: see nap.
func (b *builder) takeLock() {
	if !b.locks {
		return
	}
	// The lock is tried by an exchange, and looked at by loads while it is held: those do not take the line from the holder.
	try, spin, held := b.NewLabel(), b.NewLabel(), b.NewLabel()
	b.Bind(try)
	b.MovImm(asm.RAX, 1)
	b.Xchg(4, b.control(LockAt), asm.RAX)
	free := b.state
	b.lock = lockedIfZero
	b.note()
	b.Test(4, asm.RAX, asm.RAX)
	b.Jcc(asm.CondE, held)
	b.resumeFrom(free)
	b.Bind(spin)
	b.Pause()
	b.ArithImm(asm.Cmp, 4, b.control(LockAt), 0)
	b.Jcc(asm.CondE, try)
	// The lock of a tracer that has died will never be free. Nobody looks at the variables any more: it counts as taken.
	b.TestImm(4, b.control(OwnerAt), ownerThread)
	b.Jcc(asm.CondNE, spin)
	b.Bind(held)
	b.lock = locked
	b.note()
}

// releaseLock undoes takeLock.
func (b *builder) releaseLock() {
	if !b.locks {
		return
	}
	b.StoreImm(4, b.control(LockAt), 0)
	b.lock = unlocked
	b.note()
}
