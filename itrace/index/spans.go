package index

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// span is an interval of keys, both ends included. Keys are addresses, or numbers of registers and processors.
type span struct{ lo, hi uint64 }

// union sorts spans and joins those that overlap or touch. It uses their memory.
func union(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	out := spans[:0]
	for _, s := range spans {
		// The highest key of all plus 1 is 0, at which no later span can begin, since they are sorted.
		if n := len(out); n > 0 && (s.lo <= out[n-1].hi || s.lo == out[n-1].hi+1) {
			out[n-1].hi = max(out[n-1].hi, s.hi)
			continue
		}
		out = append(out, s)
	}
	return out
}

// gather collects keys, most of which come again and again: a loop executes the same addresses, and a stack is written at the same
// places. It is a hash table of pieces of 64 keys, each with a bit for each key.
type gather struct {
	pieces []uint64 // which piece a slot has
	masks  []uint64 // its keys, 0 for an empty slot
	used   []int    // slots
	last   int      // slot asked for last
}

const leastSlots = 1 << 10

func newGather() *gather {
	return &gather{pieces: make([]uint64, leastSlots), masks: make([]uint64, leastSlots)}
}

// add adds n keys from one on. What is beyond the highest key there is left out.
func (g *gather) add(key, n uint64) {
	for n > 0 {
		at := key & 63
		take := min(n, 64-at)
		mask := ^uint64(0) >> (64 - take) << at
		g.masks[g.slot(key>>6)] |= mask
		if key += take; key == 0 {
			return
		}
		n -= take
	}
}

// slot finds the place of a piece, or makes one. The table is open-addressed and at most half full, so a search ends after a slot
// or two. Accesses in a row are mostly to one piece, which is why the last is looked at first.
func (g *gather) slot(piece uint64) int {
	if g.pieces[g.last] == piece && g.masks[g.last] != 0 {
		return g.last
	}
	if len(g.used) >= len(g.masks)/2 {
		g.grow()
	}
	wrap := len(g.masks) - 1
	// Fibonacci hashing; the middle bits, because the mask takes the low ones of what is left.
	i := int(piece*0x9e3779b97f4a7c15>>32) & wrap
	for ; g.masks[i] != 0; i = (i + 1) & wrap {
		if g.pieces[i] == piece {
			g.last = i
			return i
		}
	}
	g.pieces[i], g.last = piece, i
	g.used = append(g.used, i)
	return i
}

// grow doubles the table. Pieces have other slots then.
func (g *gather) grow() {
	old := *g
	*g = gather{pieces: make([]uint64, 2*len(old.masks)), masks: make([]uint64, 2*len(old.masks))}
	for _, i := range old.used {
		g.masks[g.slot(old.pieces[i])] = old.masks[i]
	}
}

// take appends what has been collected as spans, sorted and apart, and begins anew.
func (g *gather) take(dst []span) []span {
	slices.SortFunc(g.used, func(a, b int) int { return cmp.Compare(g.pieces[a], g.pieces[b]) })
	from := len(dst)
	for _, i := range g.used {
		base, mask := g.pieces[i]<<6, g.masks[i]
		for at := 0; mask>>at != 0; {
			at += bits.TrailingZeros64(mask >> at)
			// The shift brings zeros in from above, so a run ends with the piece at the latest; 64 means that all of it is one.
			run := bits.TrailingZeros64(^(mask >> at))
			s := span{base + uint64(at), base + uint64(at+run-1)}
			if n := len(dst); n > from && dst[n-1].hi+1 == s.lo {
				dst[n-1].hi = s.hi
			} else {
				dst = append(dst, s)
			}
			if at += run; at >= 64 {
				break
			}
		}
		g.masks[i] = 0
	}
	g.used, g.last = g.used[:0], 0
	return dst
}

// A set of spans as bytes: the number of chunks, then for each chunk its lowest key and where it begins, and then the chunks: up to
// chunkSpans spans, each as how far it begins behind the end of the one before, and how long it is. So a key is looked for in a set
// of any size without reading more than a chunk.
//
// The two lowest bits of a gap stand for the usual lengths, of a byte and of the words of most accesses. Behind other gaps is the
// length, whose two lowest bits are the highest of the gap. A length leaves them free: it is that of a part of a trace.
const (
	otherLength = 3
	lengthBits  = 2

	chunkSpans = 64
	chunkEntry = 12
	chunksAt   = 4
)

// appendSet appends spans, sorted and apart, as a set.
func appendSet(dst []byte, spans []span) []byte {
	chunks := (len(spans) + chunkSpans - 1) / chunkSpans
	start := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(chunks))
	dst = append(dst, make([]byte, chunks*chunkEntry)...)
	for i := range chunks {
		part := spans[i*chunkSpans : min(len(spans), (i+1)*chunkSpans)]
		entry := dst[start+chunksAt+i*chunkEntry:]
		binary.LittleEndian.PutUint64(entry, part[0].lo)
		binary.LittleEndian.PutUint32(entry[8:], uint32(len(dst)-start))
		end := part[0].lo
		for _, s := range part {
			dst = appendSpan(dst, s.lo-end, s.hi-s.lo)
			end = s.hi
		}
	}
	return dst
}

// usualLengths are those that need no byte of their own, less one, as spans have them.
var usualLengths = [...]uint64{0, 3, 7}

func appendSpan(dst []byte, gap, length uint64) []byte {
	code := slices.Index(usualLengths[:], length)
	if code >= 0 && gap>>(64-lengthBits) == 0 {
		return binary.AppendUvarint(dst, gap<<lengthBits|uint64(code))
	}
	dst = binary.AppendUvarint(dst, gap<<lengthBits|otherLength)
	return binary.AppendUvarint(dst, length<<lengthBits|gap>>(64-lengthBits))
}

// cutSpan takes off a chunk what appendSpan has appended; n is how many bytes that is, 0 for none.
func cutSpan(chunk []byte) (gap, length uint64, n int) {
	gap, n = binary.Uvarint(chunk)
	if n <= 0 {
		return 0, 0, 0
	}
	code := gap & otherLength
	if gap >>= lengthBits; code != otherLength {
		return gap, usualLengths[code], n
	}
	length, m := binary.Uvarint(chunk[n:])
	if m <= 0 {
		return 0, 0, 0
	}
	return gap | length<<(64-lengthBits), length >> lengthBits, n + m
}

// set is a set as bytes; nothing of it can be relied on.
type set []byte

// overlaps reports whether some keys of the set are in a span. The one that matters is the last that begins at or below the end of
// it. A set that is damaged has an answer of some kind, and does no harm: what it is read from has a checksum.
func (s set) overlaps(q span) bool {
	if len(s) < chunksAt {
		return false
	}
	chunks := int(binary.LittleEndian.Uint32(s))
	if chunks == 0 || chunks > (len(s)-chunksAt)/chunkEntry {
		return false
	}
	// Chunks are found by their lowest keys, in halves: a set of maxSpans spans has 4096 of them.
	first := func(i int) uint64 { return binary.LittleEndian.Uint64(s[chunksAt+i*chunkEntry:]) }
	low, high := 0, chunks // the chunk is in [low-1, high-1)
	for low < high {
		if mid := (low + high) / 2; first(mid) <= q.hi {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == 0 {
		return false
	}
	// Spans are sorted and apart, so the first whose end reaches the query decides, unless it begins behind it.
	chunk := s.chunk(low-1, chunks)
	end := first(low - 1)
	for len(chunk) > 0 {
		gap, length, n := cutSpan(chunk)
		if n == 0 {
			return false
		}
		chunk = chunk[n:]
		lo := end + gap
		end = lo + length
		if lo > q.hi {
			return false
		}
		if end >= q.lo {
			return true
		}
	}
	return false
}

// chunk returns the bytes of a chunk, nothing if it is not where it should be.
func (s set) chunk(i, chunks int) []byte {
	offset := func(i int) int { return int(binary.LittleEndian.Uint32(s[chunksAt+i*chunkEntry+8:])) }
	from, to := offset(i), len(s)
	if i+1 < chunks {
		to = offset(i + 1)
	}
	if from > to || to > len(s) {
		return nil
	}
	return s[from:to]
}
