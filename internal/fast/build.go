package fast

import (
	"cmp"
	"errors"
	"fmt"
	"sort"

	"tracewell/arch"
	asm "tracewell/internal/asm/amd64"
	"tracewell/internal/jit"
)

// The registers of a pad. The program's are saved before they get their meanings here.
const (
	regScratch = asm.RAX // for whatever is between two instructions; saved in all pads, as the flags go through it
	regSlot    = asm.R8  // address of the slot; in a pad of several tracepoints 0 until there is one
	regCommit  = asm.R9  // what is written to commit
	regIndex   = asm.RCX // bytes of a string that were copied
)

// pool are the registers that expressions may use, in the order in which they are taken.
var pool = []asm.Reg{
	asm.RAX, asm.RCX, asm.RDX, asm.RSI, asm.RDI, asm.R10, asm.R11, asm.RBX, asm.RBP, asm.R12, asm.R13, asm.R14, asm.R15,
}

// Build makes the pad of a site. The error says in words why the site must be a trap.
//
// A pad has a turn for each tracepoint: is it enabled, does its condition hold; then it fills its frame in the slot of the hit,
// which the first of them reserves. What is rarely executed stands behind the jump back.
func Build(s *Site) (*Pad, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	b := builder{
		Assembler: asm.New(s.Pad),
		Site:      s,
		pad:       &Pad{Addr: s.Pad, site: s.Addr, next: s.Next, key: s.Arena.Key, ring: s.Arena.Ring},
		several:   len(s.Tracepoints) > 1,
	}
	if err := b.plan(); err != nil {
		return nil, err
	}
	if err := b.emit(); err != nil {
		return nil, err
	}
	return b.finish()
}

// BuildCopy makes a pad that collects nothing, of the displaced instructions and the jump behind them alone. It is for threads
// whose hits do not count; they stop at most Past or Among.
func BuildCopy(s *Site) (*Pad, error) {
	b := builder{Assembler: asm.New(s.Pad), Site: s, pad: &Pad{Addr: s.Pad, site: s.Addr, next: s.Next}}
	if err := b.displace(); err != nil {
		return nil, err
	}
	return b.finish()
}

// check reports what no pad can do.
func (s *Site) check() error {
	if err := s.Arena.check(); err != nil {
		return err
	}
	if n := len(s.Tracepoints); n == 0 || n > MaxAtSite {
		return fmt.Errorf("%d tracepoints at one address: a pad can have up to %d", n, MaxAtSite)
	}
	for _, t := range s.Tracepoints {
		if !s.Trap && t.Step > 0 {
			return errors.New("while-stepping follows a thread instruction by instruction")
		}
	}
	return nil
}

// builder makes one pad.
type builder struct {
	*asm.Assembler
	*Site
	state
	pad      *Pad
	several  bool // tracepoints
	turns    []turn
	early    []asm.Reg // saved before the first condition
	late     []asm.Reg // saved when a slot is reserved
	locks    bool
	rawAt    int
	calls    bool // the expression that is rehearsed makes a system call
	first    int  // offset of the first block of the frame that is being filled
	lettered bool // its letter is there already
	pending  []pendingFault
	cold     []func() // emit what is rarely executed

	inert, outEarly, outLate asm.Label
}

// pendingFault is a faultRange whose place to resume is a label yet.
type pendingFault struct {
	faultRange
	resume asm.Label
}

// note begins a row of the table: the state holds before the next instruction.
func (b *builder) note() {
	r := row{int32(b.Len()), b.state}
	if last := len(b.pad.rows) - 1; last >= 0 && b.pad.rows[last].from == r.from {
		b.pad.rows[last] = r
		return
	}
	b.pad.rows = append(b.pad.rows, r)
}

// resumeFrom goes on with a state that was left earlier, for code that is reached by a jump from there.
func (b *builder) resumeFrom(s state) {
	b.state = s
	b.note()
}

// moved tells that the instruction before has moved the stack pointer down by n bytes.
func (b *builder) moved(n int32) {
	b.depth += n
	b.note()
}

// save pushes a register of the program.
func (b *builder) save(r asm.Reg) {
	b.Push(r)
	b.depth += 8
	b.state.save(r)
	b.note()
}

// restore pops the register that was saved last.
func (b *builder) restore() {
	last := len(b.saved) - 1
	b.Pop(b.saved[last].reg)
	b.saved = b.saved[:last]
	b.moved(-8)
}

// borrow pushes a register, whosever value is in it, and giveBack pops it.
func (b *builder) borrow(r asm.Reg) {
	if _, ok := b.place(r); ok {
		b.Push(r)
		b.moved(8)
		return
	}
	b.save(r)
}

func (b *builder) giveBack(r asm.Reg) {
	if last := len(b.saved) - 1; last >= 0 && b.saved[last] == (saved{r, b.depth}) {
		b.saved = b.saved[:last]
	}
	b.Pop(r)
	b.moved(-8)
}

// register is where a register of the program is now.
func (b *builder) register(n arch.Reg) jit.Place {
	switch {
	case n >= 0 && int(n) < len(remote):
		return b.general(remote[n])
	case n == remotePC:
		return jit.Known(int64(b.Addr))
	case n == remoteFlags:
		return jit.Computed(b.loadFlags)
	case n >= remoteCS && n <= remoteGS:
		return jit.Computed(func(dst asm.Reg) { b.MovSeg(dst, remoteSegments[n-remoteCS]) })
	}
	return jit.Place{}
}

// general is where a general register of the program is now.
func (b *builder) general(r asm.Reg) jit.Place {
	if r == asm.RSP {
		return jit.Sum(r, b.depth)
	}
	if at, ok := b.place(r); ok {
		return jit.Stored(8, b.word(at))
	}
	return jit.In(r)
}

// word is the one at a depth of the stack.
func (b *builder) word(at int32) asm.Mem { return asm.At(asm.RSP, b.depth-at) }

// control is a word of the control area.
func (b *builder) control(offset int) asm.Mem { return asm.Abs(b.Arena.Control + arch.Addr(offset)) }

// emit emits the pad.
func (b *builder) emit() error {
	b.inert, b.outEarly, b.outLate = b.NewLabel(), b.NewLabel(), b.NewLabel()
	b.enter()
	entered := b.state
	for _, r := range b.early {
		b.save(r)
	}
	b.takeLock()
	inside := b.state
	if b.several && !b.Trap {
		b.Arith(asm.Xor, 4, regSlot, regSlot)
		b.position = positionIfSlot
		b.note()
	}
	// Whatever a turn does, it leaves the stack as it was: what it jumps to relies on that.
	for i := range b.turns {
		if err := b.turn(&b.turns[i]); err != nil {
			return err
		}
	}
	if !b.Trap {
		b.commitHit()
	}
	// Control comes here without a commit, too: nothing was collected then.
	b.phase, b.position = recorded, noPosition
	b.note()
	// From here on the hit is over, whichever way control came.
	b.Bind(b.outLate)
	for range b.late {
		b.restore()
	}
	b.Bind(b.outEarly)
	b.resumeFrom(state{depth: inside.depth, saved: inside.saved, flags: inside.flags, flagsAt: inside.flagsAt, phase: recorded,
		lock: inside.lock})
	b.releaseLock()
	for range b.early {
		b.restore()
	}
	b.Bind(b.inert)
	entered.phase = recorded
	b.resumeFrom(entered)
	b.exit()
	if err := b.displace(); err != nil {
		return err
	}
	for len(b.cold) > 0 { // what is cold may have parts that are colder
		emit := b.cold[0]
		b.cold = b.cold[1:]
		emit()
	}
	return nil
}

// enter saves the flags and leaves at once if the pads are inert.
func (b *builder) enter() {
	b.note()
	if !b.NoRedZone {
		b.Lea(asm.RSP, asm.At(asm.RSP, -redZone))
		b.moved(redZone)
	}
	b.save(regScratch)
	// lahf and seto take 1 ns where pushf and popf take 8.
	b.Lahf()
	b.Setcc(asm.CondO, regScratch)
	b.Push(regScratch)
	b.flags, b.flagsAt = flagsOnStack, b.depth+8
	b.moved(8)
	b.unlessInert(b.inert)
}

// redZone is the number of bytes below the stack pointer in which the ABI lets code keep data.
const redZone = 128

// exit gives the flags back, and what enter has saved.
func (b *builder) exit() {
	b.Pop(regScratch)
	b.flags = flagsInAX
	b.moved(-8)
	b.ArithImm(asm.Add, 1, regScratch, 127) // 1 more than fits if al is 1, which sets the overflow flag
	b.flags = flagsAdded
	b.note()
	b.Sahf()
	b.flags = flagsLive // with the next row: until then the register tells the same
	b.restore()
	if !b.NoRedZone {
		b.Lea(asm.RSP, asm.At(asm.RSP, redZone))
		b.moved(-redZone)
	}
}

// displace appends the displaced instructions and the jump back.
func (b *builder) displace() error {
	b.pad.Displaced = b.Len()
	code, err := b.Displace(b.PC())
	if err != nil {
		return err
	}
	b.Bytes(code...)
	b.pad.Back = b.Len()
	to := cmp.Or(b.Onward, b.Next)
	if distance := int64(to) - int64(b.PC()); distance > -reach && distance < reach {
		b.JmpTo(to)
	} else {
		b.JmpFar(to)
	}
	b.pad.backLength = b.Len() - b.pad.Back
	return nil
}

// reach is how far a jump relative to the pc gets, less than a page short of it.
const reach = 1<<31 - 0x1000

// turn emits the turn of one tracepoint.
func (b *builder) turn(t *turn) error {
	// A single tracepoint that has its turn in vain ends the hit.
	next := b.outEarly
	if b.several {
		next = b.NewLabel()
	}
	b.ArithImm(asm.Cmp, 1, b.control(EnabledAt+t.Index), 0)
	b.Jcc(asm.CondE, next)
	if t.Pass > 0 && t.Pass < 1<<31 && !b.Trap {
		b.ArithImm(asm.Cmp, 8, b.control(HitsAt+8*t.Index), int32(t.Pass))
		b.Jcc(asm.CondAE, next)
	}
	if t.Condition != nil {
		if err := b.condition(t, next); err != nil {
			return err
		}
	}
	if b.Trap {
		b.trap(next)
	} else {
		if !b.several {
			for _, r := range b.late {
				b.save(r)
			}
		}
		if err := b.repeat(t); err != nil {
			return err
		}
		present := uint8(1)
		if b.several {
			present = 0
		}
		b.reserve(t, present, 0, b.outLate)
		if err := b.frame(t); err != nil {
			return err
		}
	}
	if b.several {
		b.Bind(next)
	}
	return nil
}

// trap has the thread stop, unless there is nobody who would handle that.
func (b *builder) trap(otherwise asm.Label) {
	stop := b.NewLabel()
	b.Jmp(stop)
	b.stopAt(stop, otherwise)
}

// stopAt has a thread stop that jumps to a label from here, unless there is nobody who would handle that.
func (b *builder) stopAt(l, otherwise asm.Label) {
	at := b.state
	b.cold = append(b.cold, func() {
		b.Bind(l)
		b.resumeFrom(at)
		b.unlessInert(otherwise)
		b.stop(otherwise)
	})
}

// unlessInert goes elsewhere if the pads are inert.
func (b *builder) unlessInert(inert asm.Label) {
	b.TestImm(1, b.control(OwnerAt+3), ownerDied>>24)
	b.Jcc(asm.CondNE, inert)
}

// stop has the thread be found by Leave with Trapped. It goes on elsewhere only if whoever found it has died before it called
// Leave.
func (b *builder) stop(otherwise asm.Label) {
	b.Int3()
	b.phase = trapping
	b.note()
	b.Jmp(otherwise)
}

// finish resolves labels and makes the tables.
func (b *builder) finish() (*Pad, error) {
	p := b.pad
	// Ranges are looked up by binary search; they are noted in the order of the code, but for what is cold.
	for _, f := range b.pending {
		f.faultRange.resume = int32(b.Offset(f.resume))
		p.faults = append(p.faults, f.faultRange)
	}
	sort.Slice(p.faults, func(i, j int) bool { return p.faults[i].from < p.faults[j].from })
	var err error
	p.Code, err = b.Finish()
	return p, err
}

// faults notes code that reads memory of the program.
func (b *builder) faults(f faultRange, resume asm.Label) {
	b.pending = append(b.pending, pendingFault{f, resume})
}

// setsVariables reports whether any expression of a tracepoint sets a trace state variable.
func (t *Tracepoint) setsVariables() bool {
	for p := range t.Programs() {
		if p.SetsVariables() {
			return true
		}
	}
	return false
}
