package firmware

// Ring is how many calls a hart's ring holds: call n is at n % Ring.
const Ring = 256

// Call is a call of step as the program has kept it, struct call of core.h.
type Call struct {
	Number, Hart uint32
	I, X, Y      int32  // arguments i, p->x and p->y
	Product      int32  // the local of step
	Result       int32  // what step returned
	Device       uint32 // what step read from the device; 0 on all harts but the first
	Point, Name  uint64 // addresses: p, p->name
}

// Tally is a hart's count of all its calls, struct tally.
type Tally struct {
	Calls    uint32 // that have returned
	Digest   uint32 // of these, see Digest
	Misreads uint32 // in how many of them somebody else had read the device
	Done     uint32 // 1 when the last call has returned
}

// Kept is all that the program keeps, struct kept.
type Kept struct {
	Tallies [2]Tally
	Rings   [2][Ring]Call
}

// Call returns the call of a hart by its number, if the ring has it still. The last one may not have returned yet.
func (k *Kept) Call(hart, number int) (Call, bool) {
	c := k.Rings[hart][number%Ring]
	begun := c.Number != 0 || number == 0 && c.Point != 0
	return c, begun && c.Number == uint32(number)
}

// Digest adds calls to a digest as the program does, from 0 on: a test that has seen all calls of a hart, in order, compares what
// it has made of their I, X, Y and Product with the hart's Tally.
func Digest(digest uint32, words ...int32) uint32 {
	for _, word := range words {
		digest = (digest ^ uint32(word)) * 16777619
	}
	return digest
}
