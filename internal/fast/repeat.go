package fast

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"

	"tracewell/ax"
	asm "tracewell/internal/asm/amd64"
	"tracewell/internal/jit"
)

// Where nobody wants the frame of each hit, hits are counted in the program. The table of repeats in the control area has an entry
// for each pad and combination of values that its expressions had. The pad looks for that of its hit: if there is one it adds 1 to
// its count, which is all that becomes of the hit. Otherwise it makes a frame as ever, and the tracer, which finds out from the
// frame which values the expressions had, makes the entry. So only one side makes entries, and a hit is in a frame or in a count.
//
// An entry is a line of the cache: the tag of the pad, up to mostWords words of values, and the count, of 64 bits each. A number is
// one word. A text, which is what an expression records with tracenz, is textWords of them with its bytes and zeros behind; a text
// that has no zero byte among these makes frames. The entry lies in a bucket of bucketEntries that a hash of tag and words leads
// to. One that finds its bucket full is never made, and its hits make frames.
const (
	mostWords     = 6
	textWords     = 3
	entrySize     = 64
	entryValues   = 8
	entryCount    = 56
	bucketEntries = 4
	bucketSize    = bucketEntries * entrySize
	bucketBits    = 12
	repeatsSize   = bucketSize << bucketBits

	// hashFactor is 2^64 over the golden ratio (Knuth, The Art of Computer Programming, volume 3, section 6.4).
	hashFactor = 0x9e3779b97f4a7c15
	hashSigned = hashFactor - 1<<64 // the same bits
)

// TextBytes is how many bytes a text may have with its zero byte.
const TextBytes = 8 * textWords

// AppendText appends the words of a text to those of other values, false if there is no zero byte among the first TextBytes of it.
func AppendText(words []uint64, text []byte) ([]uint64, bool) {
	var b [TextBytes]byte
	n := bytes.IndexByte(text[:min(len(text), len(b))], 0)
	if n < 0 {
		return words, false
	}
	copy(b[:], text[:n])
	for i := 0; i < len(b); i += 8 {
		words = append(words, binary.LittleEndian.Uint64(b[i:]))
	}
	return words, true
}

// recordsText reports whether what an expression stands for is the text that it records.
func recordsText(p *ax.Program) bool {
	for in := range p.Instructions() {
		if in.Op == ax.OpTracenz {
			return true
		}
	}
	return false
}

// Repeat is how hits of a pad are counted.
type Repeat struct {
	tag int32
	// Alike are the expressions whose values tell hits apart.
	Alike []*ax.Program
}

// Repeats is the tracer's side of the table. It is for one goroutine.
type Repeats struct{ control Control }

// NewRepeats returns the table of a control area.
func NewRepeats(c Control) Repeats { return Repeats{c} }

// Enter makes the entry for the words of the values that the expressions of a Repeat have, in their order. It returns its place,
// false if there is one already or no room.
func (r Repeats) Enter(of *Repeat, words []uint64) (place int, ok bool) {
	hash := firstHash(of.tag)
	for _, v := range words {
		hash = (hash ^ v) * hashFactor
	}
	at := RepeatsAt + int(hash>>(64-bucketBits))*bucketSize
	for end := at + bucketSize; at < end; at += entrySize {
		switch tag := r.control.load(at); {
		case tag == 0:
			for i, v := range words {
				r.control.store(at+entryValues+8*i, v)
			}
			r.control.store(at+entryCount, 0)
			r.control.store(at, uint64(of.tag)) // pads believe the rest from here on
			return at, true
		case tag == uint64(of.tag) && r.has(at, words):
			return 0, false
		}
	}
	return 0, false
}

// has reports whether an entry has these words.
func (r Repeats) has(at int, words []uint64) bool {
	for i, v := range words {
		if r.control.load(at+entryValues+8*i) != v {
			return false
		}
	}
	return true
}

// Count returns how many hits were counted in a place of Enter.
func (r Repeats) Count(place int) uint64 {
	return atomic.LoadUint64(r.control.word(place + entryCount))
}

// firstHash is the hash before any value.
func firstHash(tag int32) uint64 { return uint64(tag) * hashFactor }

// planRepeat decides whether hits of the site are counted, which they are where nothing has to be done at each but a count.
func (b *builder) planRepeat(t *turn) {
	if !t.Repeats || b.Tag == 0 || b.several || b.Trap || b.Strict || b.locks || t.Pass > 0 {
		return
	}
	scratch, words := make([][]asm.Reg, len(t.Alike)), 0
	for i, p := range t.Alike {
		if words++; recordsText(p) {
			words += textWords - 1
			b.need(regText)
		}
		demand, err := jit.Measure(p, b.dry(b.anywhere))
		if err == nil {
			_, err = b.rehearse(&jit.Env{}, func(a *asm.Assembler, e *jit.Env) error { return compileTold(a, e, p) })
		}
		if err != nil || words > mostWords || len(p.Requirements().Variables) > 0 {
			return
		}
		// Like those of actions, with which they share what is saved.
		if scratch[i] = b.choose(demand, nil, 1); len(scratch[i]) < demand.Scratch {
			return
		}
		b.need(b.used(demand, scratch[i])...)
	}
	t.alike = scratch
	b.pad.Slots.repeat = &Repeat{tag: b.Tag, Alike: t.Alike}
}

// repeat counts a hit that repeats another one, and leaves then. All it needs is on the stack: the values, which are compared with
// those of the entries, so that nothing is believed of a hash.
func (b *builder) repeat(t *turn) error {
	if t.alike == nil {
		return nil
	}
	start := b.state
	fresh := b.NewLabel()
	for i, p := range t.Alike {
		if err := b.pushValue(p, t.alike[i], start, fresh); err != nil {
			return err
		}
	}
	pushed := b.depth - start.depth
	words := int(pushed / 8)
	word := func(i int) asm.Mem { return b.word(start.depth + 8*int32(i+1)) }
	b.MovImm(regSlot, hashSigned)
	b.MovImm(regScratch, int64(firstHash(b.Tag)))
	for i := range words {
		b.Arith(asm.Xor, 8, regScratch, word(i))
		b.Imul(8, regScratch, regSlot)
	}
	b.Shift(asm.Shr, 8, regScratch, 64-bucketBits)
	b.ImulImm(8, regScratch, regScratch, bucketSize)
	b.Lea(regSlot, b.control(RepeatsAt))
	b.Arith(asm.Add, 8, regSlot, regScratch)
	b.MovImm(regCommit, bucketEntries)
	next := b.NewLabel()
	look := b.Here()
	b.ArithImm(asm.Cmp, 8, b.slot(0), b.Tag)
	b.Jcc(asm.CondNE, next)
	for i := range words {
		b.Mov(8, regScratch, word(i))
		b.Arith(asm.Cmp, 8, regScratch, b.slot(entryValues+8*i))
		b.Jcc(asm.CondNE, next)
	}
	searching := b.state
	b.Lock().Inc(8, b.slot(entryCount))
	b.phase = recorded
	b.note()
	b.drop8(pushed)
	b.Jmp(b.outLate)

	b.resumeFrom(searching)
	b.Bind(next)
	b.ArithImm(asm.Add, 8, regSlot, entrySize)
	b.Dec(4, regCommit)
	b.Jcc(asm.CondNE, look)
	b.drop8(pushed)
	b.Bind(fresh)
	return nil
}

// drop8 takes bytes off the stack.
func (b *builder) drop8(n int32) {
	if n > 0 {
		b.Lea(asm.RSP, asm.At(asm.RSP, n))
		b.moved(-n)
	}
}

// compileTold compiles an expression for its value, or the address of the text that it records, in regScratch.
func compileTold(a *asm.Assembler, e *jit.Env, p *ax.Program) error {
	if !recordsText(p) {
		return jit.Value(a, e, p, regScratch)
	}
	e.TraceString = func(addr, _ jit.Operand) error {
		addr.Load(a, regScratch)
		return nil
	}
	return jit.Run(a, e, p)
}

// pushValue puts the words of an expression on the stack. If there is no value control goes to fresh, with the stack as it was at
// start.
func (b *builder) pushValue(p *ax.Program, scratch []asm.Reg, start state, fresh asm.Label) error {
	at := b.state
	failed := func() asm.Label {
		l := b.NewLabel()
		b.cold = append(b.cold, func() {
			b.Bind(l)
			b.resumeFrom(at)
			b.drop8(at.depth - start.depth)
			b.Jmp(fresh)
		})
		return l
	}
	e := b.env(scratch)
	e.Guard = func(a jit.Access) { b.guard(a, failed) }
	e.Failed = func(*ax.Error) asm.Label { return failed() }
	e.Fault = func(from, to int, _ jit.Access) {
		b.faults(faultRange{from: int32(from), to: int32(to), kind: faultElsewhere}, fresh)
	}
	if err := compileTold(b.Assembler, e, p); err != nil {
		return err
	}
	if recordsText(p) {
		b.pushText(start, fresh, failed())
		return nil
	}
	b.Push(regScratch)
	b.moved(8)
	return nil
}

// regText is one that the search for the end of a text needs besides those of every pad.
const regText = asm.R10

// pushText puts the words of a text on the stack, whose address is in regScratch. It reads whole words, the last one perhaps beyond
// the end: a text that ends right before memory that is not there makes frames. Without an address control goes to nowhere.
func (b *builder) pushText(start state, fresh, nowhere asm.Label) {
	const lows, highs = 0x0101010101010101, 0x80 * 0x0101010101010101
	b.Mov(8, regSlot, regScratch)
	b.branchUnlessAddress(asm.At(regSlot, 0), nowhere)
	b.MovImm(regText, highs-1<<64)
	done := b.NewLabel()
	all := b.state
	for i := range textWords {
		from := b.Len()
		b.Mov(8, regScratch, b.slot(8*i))
		b.faults(faultRange{from: int32(from), to: int32(b.Len()), kind: faultElsewhere}, fresh)
		// The lowest bit of (x - lows) & ^x & highs is the highest of the first zero byte; those above may be wrong (Warren, Hacker's
		// Delight, 6-1).
		b.MovImm(regCommit, -lows)
		b.Arith(asm.Add, 8, regCommit, regScratch)
		b.Unary(asm.Not, 8, regScratch)
		b.Arith(asm.And, 8, regCommit, regScratch)
		b.Unary(asm.Not, 8, regScratch)
		b.Arith(asm.And, 8, regCommit, regText)
		on := b.NewLabel()
		b.Jcc(asm.CondE, on)
		at := b.state
		b.Lea(regText, asm.At(regCommit, -1))
		b.Arith(asm.Xor, 8, regText, regCommit)
		b.Arith(asm.And, 8, regScratch, regText) // the bits up to that one
		b.Push(regScratch)
		b.moved(8)
		for range textWords - 1 - i {
			b.PushImm(0)
			b.moved(8)
		}
		all = b.state
		b.Jmp(done)
		b.Bind(on)
		b.resumeFrom(at)
		b.Push(regScratch)
		b.moved(8)
	}
	b.drop8(b.depth - start.depth)
	b.Jmp(fresh)
	b.Bind(done)
	b.resumeFrom(all)
}
