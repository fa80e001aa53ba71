package check

import (
	"fmt"
	"maps"
	"slices"

	"tracewell/tfile"
	"tracewell/trace"
)

// The lengths of the blocks ahead of the bytes that they carry, as package tfile's comment has them.
const (
	registersHead = 1
	memoryHead    = 1 + 8 + 2
	variableHead  = 1 + 4 + 8
)

// damage is the frames of one tracepoint that cannot be read to their end.
type damage struct {
	first Finding // what is wrong with the first of them, and how many there are
	sizes []int   // of a register block with which all of them can be read, and have blocks behind it
	rest  int     // size with which the register block ends all of them, 0 if there is none
	more  bool    // there are several
}

// damage takes note of the walked frame, which can be read up to an offset only.
// Nothing is reported yet: which size fits all frames of the tracepoint is only known behind the last of them. The
// sizes that fit the first frame are an upper bound, so that each further frame can only take some away and the list
// never grows.
func (c *checker) damage(read int) {
	w := &c.walk
	d := c.broken[w.number]
	if d == nil {
		d = &damage{first: Finding{Finding: c.fault(read), Frame: w.index}}
		d.sizes, d.rest = c.likely(w.possible(w.frame))
		c.broken[w.number] = d
	} else {
		d.more = true
		d.sizes = slices.DeleteFunc(d.sizes, func(size int) bool { return !w.readable(size) })
		if d.rest > 0 && !w.readable(d.rest) {
			d.rest = 0
		}
	}
	d.first.Count++
}

// fault is what is wrong at an offset of the walked frame.
func (c *checker) fault(read int) tfile.Finding {
	b := c.walk.frame.Bytes()
	at := c.walk.frame.Offset() + int64(read)
	rule := ruleBlock
	// A known letter means that the block is there and too long for the frame; anything else is no block at all. GDB
	// 13.1 treats the two differently: it reads on past the end in the one case, and gives up the frame in the other.
	switch tfile.BlockKind(b[read]) {
	case tfile.BlockRegisters, tfile.BlockMemory, tfile.BlockVariable, tfile.BlockStatic:
		rule = rulePastEnd
	}
	text := "the frame cannot be read further"
	if err, ok := c.walk.frame.Check().(*tfile.FormatError); ok {
		text = "found " + err.Found + ", expected " + err.Expected
	}
	return tfile.Finding{Offset: at, Rule: rule, Text: text}
}

// damages reports the damage, once all frames have been looked at.
// They are reported by tracepoint, since gdbserver's in-process agent makes the register blocks of fast tracepoints
// longer than those of others: one file can have two sizes, each of them right.
func (c *checker) damages() {
	for _, n := range slices.Sorted(maps.Keys(c.broken)) {
		d := c.broken[n]
		f := d.first
		if size := c.inferred(n, d); size > 0 {
			f.Rule = ruleSizeInferred
			const text = "the frame of tracepoint %d cannot be read with register blocks of %d bytes, as the R line has them, but with %d"
			f.Text = fmt.Sprintf(text, n, c.header.RegisterSize, size)
			c.append(f)
			continue
		}
		c.append(f)
	}
}

// inferred is the size of a register block with which all of the frames can be read, 0 if there is none. Of several it is that
// of the target description, or else the smallest: where registers are followed by memory, a larger one takes that for
// registers as well. That nothing but registers follows is believed of several frames only, since any one frame could be so;
// and where frames of the same tracepoint are as the R line has them, the others are damaged.
func (c *checker) inferred(n trace.Number, d *damage) int {
	switch {
	case c.regular[n]:
		return 0
	case c.layout != nil && c.layout.Size > 0 && (d.rest == c.layout.Size || slices.Contains(d.sizes, c.layout.Size)):
		return c.layout.Size
	case len(d.sizes) > 0:
		return d.sizes[0]
	case d.more:
		return d.rest
	}
	return 0
}

// likeliest is how many sizes are tried on all frames: among more than a few the smallest would be right by chance only.
const likeliest = 64

// likely returns the smallest of the sizes, and that of the target description if it is among them.
func (c *checker) likely(sizes []int, rest int) ([]int, int) {
	if len(sizes) <= likeliest {
		return sizes, rest
	}
	few := slices.Clone(sizes[:likeliest])
	if c.layout != nil && slices.Contains(sizes[likeliest:], c.layout.Size) {
		few = append(few, c.layout.Size)
	}
	return few, rest
}

// longestSearched is the longest frame for which other sizes of a register block are tried.
// The search takes a byte of memory and one look for each byte of the frame, and frames of traced programs have a few
// kB.
const longestSearched = 1 << 24

// possible returns the sizes of a register block with which a frame can be read to its end, ascending, and the one with which
// the register block ends it. The blocks ahead of the first R block are as they are; behind it there may be M and V blocks, which
// must make sense all the way, so that hardly any size is possible by chance.
func (w *walk) possible(f tfile.Frame) (sizes []int, rest int) {
	start := registersAt(f)
	b := f.Bytes()
	if start == 0 || len(b) > longestSearched {
		return nil, 0
	}
	// From the end backwards: blocks can begin at an offset if the block there ends at the end of the frame, or where
	// blocks can begin.
	w.fits = slices.Grow(w.fits[:0], len(b)+1)[:len(b)+1] // from each offset on there are blocks up to the end
	w.fits[len(b)] = true
	for at := len(b) - 1; at > start+registersHead; at-- {
		next := w.next(b, at)
		w.fits[at] = next > 0 && next <= len(b) && w.fits[next]
		if w.fits[at] {
			sizes = append(sizes, at-start-registersHead)
		}
	}
	slices.Reverse(sizes)
	return sizes, len(b) - start - registersHead
}

// next is the offset behind the M or V block at an offset of b, 0 if none can be there.
// An M block without bytes and a V block with a number that no trace state variable can have do not count, although
// they could be read: they are what a run of zeros in a register block looks like.
func (w *walk) next(b []byte, at int) int {
	rest := b[at:]
	switch {
	case rest[0] == byte(tfile.BlockMemory) && len(rest) >= memoryHead:
		if n := int(w.order.Uint16(rest[memoryHead-2:])); n > 0 {
			return at + memoryHead + n
		}
	case rest[0] == byte(tfile.BlockVariable) && len(rest) >= variableHead:
		if n := w.order.Uint32(rest[1:]); n > 0 && n <= 0xffff {
			return at + variableHead
		}
	}
	return 0
}

// registersAt is the offset of the first R block, be it that its size is wrong; 0 if there is none.
func registersAt(f tfile.Frame) int {
	// Blocks stops ahead of what it cannot read, which is where an R block stands that is longer than the frame.
	end := tfile.FrameHeader
	for b := range f.Blocks() {
		if b.Kind == tfile.BlockRegisters {
			return b.Offset
		}
		end = b.End()
	}
	if end < len(f.Bytes()) && f.Bytes()[end] == byte(tfile.BlockRegisters) {
		return end
	}
	return 0
}

// readable reports whether the walked frame can be read with register blocks of a size.
func (w *walk) readable(size int) bool {
	f, err := tfile.ParseFrame(w.frame.Bytes(), w.order, size)
	return err == nil && f.Check() == nil
}
