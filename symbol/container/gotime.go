package container

import (
	"time"

	"tracewell/symbol/ctype"
)

// A time of Go (time.Time) has its nanoseconds in the lower bits of the word wall, and its seconds in the bits above if it has a
// reading of the monotonic clock, else in the word ext.
const (
	monotonic = 63
	nanoBits  = 30
)

// When the seconds of a time count from: the beginning of 1885 with a reading of the clock, and of the year 1 without.
var (
	since1885 = time.Date(1885, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	sinceYear = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
)

// moment is a time, whose only element is the offset of its zone: the one that the location used last, for the seconds from start
// to end.
func moment(t *ctype.Type) *Shape {
	wall, ext, location := scalar(t, "wall"), scalar(t, "ext"), pointer(t, "loc")
	offset := scalar(pointer(location.Type.Elem, "cacheZone").Type.Elem, "offset")
	has := func(name string) term {
		return choose(word(location), through(word(location), location.Type.Elem, name), number(0))
	}
	return &Shape{
		Form: Time, Name: t.Name, Elem: offset.Type, owner: word(location), size: number(location.Type.Elem.Size),
		first: has("cacheZone").plus(offset.Offset), count: has("cacheZone").not().not(),
		figures: []figure{{"wall", word(wall)}, {"ext", word(ext)}, {"start", has("cacheStart")}, {"end", has("cacheEnd")}},
	}
}

// Time is the time that the contents of a value are. It is in UTC if the offset of its zone is not known, and false if nothing is.
func (s *Shape) Time(c Contents, r ctype.Printer) (at time.Time, ok bool) {
	if s.Form != Time || !c.Figures[0].Known || !c.Figures[1].Known {
		return at, false
	}
	wall, ext := uint64(c.Figures[0].Value), c.Figures[1].Value
	seconds := ext + sinceYear
	if wall>>monotonic != 0 {
		seconds = int64(wall<<1>>(nanoBits+1)) + since1885
	}
	at = time.Unix(seconds, int64(wall&(1<<nanoBits-1))).UTC()
	if start, end := c.Figures[2], c.Figures[3]; len(c.Elements) == 1 && start.Known && start.Value <= seconds && seconds < end.Value {
		offset := c.Elements[0].Value
		at = at.In(time.FixedZone("", int(int64(offset.Type.Extend(r.Order.Uint64(offset.Bytes))))))
	}
	return at, true
}

// closure is a func, which points to where the address of its code is.
func closure(t *ctype.Type) *Shape {
	pointer := word(ctype.Field{Type: t})
	return &Shape{Form: Func, Name: t.Name, Elem: long, first: pointer, count: pointer.not().not(), none: pointer.not()}
}
