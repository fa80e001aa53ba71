package ctf

import (
	"bytes"

	"tracewell/arch"
)

// valueType is the type of a value in the stream: an integer or, with size 0, a string that ends with a zero.
type valueType struct {
	size   int // in bytes: 1, 2, 4 or 8
	align  int // in bytes: a power of two
	signed bool
	order  arch.ByteOrder // nil for the one of the trace
}

// field is one field of a record: a value or an array of values.
type field struct {
	name string
	line int // of the metadata
	typ  *valueType

	count int // of an array: 0 or more; of a single value scalar; of one as long as another field says, counted
	from  int // counted: the index of the other field
}

// What a field can be instead of an array of fixed length.
const (
	scalar  = -1
	counted = -2
)

// record is the layout of the fields of an event, or of a header.
type record struct {
	fields []field
	align  int // of the first field's place: the greatest of all
}

// value is what a field holds.
type value struct {
	number uint64 // of an integer, extended by its sign; of an array the number of its elements
	bytes  []byte // of a string without its zero, of an array all of it: a view
}

// maxFields is how many fields a record may have. GDB's tp_def has 17.
const maxFields = 64

// values has room for the values of one record.
type values [maxFields]value

// decode reads a record that comes next at place at in data, the content of a packet from its start on, and returns the place
// behind it. If data end before the record does, failed is the field that does not fit.
func (r *record) decode(v *values, data []byte, at int, order arch.ByteOrder) (next int, failed *field) {
	at = alignUp(at, r.align)
	for i := range r.fields {
		f := &r.fields[i]
		var ok bool
		switch count := uint64(f.count); {
		case f.count == scalar:
			v[i], at, ok = f.typ.decode(data, at, order)
		case f.count == counted:
			count = v[f.from].number
			fallthrough
		default:
			v[i], at, ok = f.typ.decodeArray(data, at, count)
		}
		if !ok {
			return 0, f
		}
	}
	return at, nil
}

func alignUp(n, align int) int { return (n + align - 1) &^ (align - 1) }

// decode reads one value. The order is that of the trace.
func (t *valueType) decode(data []byte, at int, order arch.ByteOrder) (v value, next int, ok bool) {
	at = alignUp(at, t.align)
	if t.size == 0 {
		if at > len(data) {
			return value{}, 0, false
		}
		n := bytes.IndexByte(data[at:], 0)
		return value{bytes: data[at : at+max(n, 0)]}, at + n + 1, n >= 0
	}
	next = at + t.size
	if next > len(data) {
		return value{}, 0, false
	}
	if t.order != nil {
		order = t.order
	}
	var n uint64
	switch b := data[at:next]; t.size {
	case 1:
		n = uint64(b[0])
	case 2:
		n = uint64(order.Uint16(b))
	case 4:
		n = uint64(order.Uint32(b))
	case 8:
		n = order.Uint64(b)
	}
	if t.signed {
		shift := 64 - 8*t.size
		n = uint64(int64(n<<shift) >> shift)
	}
	return value{number: n}, next, true
}

// decodeArray reads an array of count elements.
func (t *valueType) decodeArray(data []byte, at int, count uint64) (v value, next int, ok bool) {
	at = alignUp(at, t.align)
	if at > len(data) || count > uint64(len(data)) {
		return value{}, 0, false
	}
	next = at
	if t.size > 0 {
		stride := alignUp(t.size, t.align)
		if count > 0 {
			next += stride*(int(count)-1) + t.size
		}
	}
	for i := uint64(0); t.size == 0 && i < count; i++ {
		if _, next, ok = t.decode(data, next, nil); !ok {
			return value{}, 0, false
		}
	}
	if next > len(data) {
		return value{}, 0, false
	}
	return value{count, data[at:next]}, next, true
}
