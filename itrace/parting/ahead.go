package parting

import "math"

// element is a step of the function at hand, or a call with all that is below it.
type element struct {
	step
	behind int  // the place of the next one in the stream
	cut    bool // a call longer than what is kept
}

// ahead is the elements from the place of a stream on, up to where the function is left, as far as they have been asked for.
type ahead struct {
	*stream
	elements []element
	closed   bool // there are no more
}

// has reports whether there are so many elements and one more.
func (a *ahead) has(i int) bool {
	for len(a.elements) <= i && !a.closed {
		a.look()
	}
	return i < len(a.elements)
}

// look adds an element. Where the function is left, or the trace ends, is the last one.
func (a *ahead) look() {
	at := 0
	if n := len(a.elements); n > 0 {
		at = a.elements[n-1].behind
	}
	e := element{step: a.peek(at), behind: at + 1}
	a.closed = e.kind == leave || e.kind == end || at >= maxAhead
	if e.kind == enter {
		for depth := 1; depth > 0; e.behind++ {
			if e.behind >= maxAhead {
				e.cut, a.closed = true, true
				break
			}
			next := a.peek(e.behind).kind
			if next == end {
				break
			}
			depth += change(next)
		}
	}
	a.elements = append(a.elements, e)
}

// change is by how much a step makes the calls that are active more.
func change(k kind) int {
	switch k {
	case enter:
		return 1
	case leave:
		return -1
	}
	return 0
}

// part finds how the traces go on where they differ, and tells of what is left out. It returns false where nothing is left.
func (c *comparison) part() bool {
	p := c.open()
	for agreed := false; !agreed && !p.Rest; {
		sides := [2]*ahead{{stream: c.streams[0]}, {stream: c.streams[1]}}
		var n [2]int
		n[0], n[1], agreed = agree(sides)
		long := false
		for side, a := range sides {
			if last := len(a.elements) - 1; !agreed && a.elements[last].cut { // which the other side has not
				a.leaveOut(&p.Sides[side], last)
				a.leaveCalls(&p.Sides[side], 1)
				long = true
			}
			a.leaveOut(&p.Sides[side], n[side])
		}
		if p.Rest = !agreed && !long; p.Rest {
			for side, a := range sides {
				a.leaveCalls(&p.Sides[side], math.MaxInt)
			}
		}
	}
	// A function that returns, or a trace that ends, in place of what the other does.
	for side, s := range c.streams {
		if here := s.peek(0); len(p.Sides[side].Elements) == 0 && (here.kind == leave || here.kind == end) {
			s.describe(&p.Sides[side], here, here.at)
		}
	}
	c.close(p)
	return c.streams[0].peek(0).kind != end && c.streams[1].peek(0).kind != end
}

// leaveOut goes on behind some elements.
func (a *ahead) leaveOut(to *Stretch, n int) {
	for i, e := range a.elements[:n] {
		behind := a.peek(e.behind).at
		a.describe(to, e.step, behind)
		if to.Instructions = behind - to.At; i == n-1 {
			a.drop(e.behind)
		}
	}
}

// leaveCalls goes on behind so many elements, or where the function is left, without keeping what they call.
func (a *ahead) leaveCalls(to *Stretch, n int) {
	for ; n > 0; n-- {
		e := a.peek(0)
		if e.kind == leave || e.kind == end {
			break
		}
		a.drop(1)
		if e.kind == enter {
			for depth := 1; depth > 0 && a.peek(0).kind != end; a.drop(1) {
				depth += change(a.peek(0).kind)
			}
		}
		a.describe(to, e, a.peek(0).at)
	}
	to.Instructions = a.peek(0).at - to.At
}

const (
	nearby  = 16 // elements that are left out on both sides together where the next sure ones agree
	sure    = 3  // elements that agree one after the other
	atFirst = 64 // elements that are looked at before more are
)

// agree finds how many elements to leave out of each side so that the next ones agree. Most partings are short: the fewest are
// taken with some behind them that agree. Where there are none, a common subsequence of all tells, in which calls weigh most.
func agree(sides [2]*ahead) (i, j int, found bool) {
	a, b := sides[0], sides[1]
	for sum := 0; sum <= nearby; sum++ {
		for i := 0; i <= sum; i++ {
			if a.has(i) && b.has(sum-i) && surely(a, b, i, sum-i) {
				return i, sum - i, true
			}
		}
	}
	for n := atFirst; n <= maxElements; n *= 2 {
		a.has(n - 1)
		b.has(n - 1)
		pairs := longest(min(n, len(a.elements)), min(n, len(b.elements)), func(i, j int) int {
			x, y := &a.elements[i], &b.elements[j]
			if x.kind != y.kind || x.id != y.id {
				return 0
			}
			return 1 + int(x.kind)
		})
		if len(pairs) > 0 && (len(pairs) >= sure || a.closed && b.closed || n == maxElements) {
			return pairs[0][0], pairs[0][1], true
		}
	}
	return 0, 0, false
}

// surely reports whether some elements from two places on agree, or all up to the end of the function.
func surely(a, b *ahead, i, j int) bool {
	for n := range sure {
		if !a.has(i+n) || !b.has(j+n) {
			return n > 0
		}
		x, y := &a.elements[i+n], &b.elements[j+n]
		if x.kind != y.kind || x.id != y.id {
			return false
		}
		if x.kind == leave || x.kind == end {
			return true
		}
	}
	return true
}
