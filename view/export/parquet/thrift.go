package parquet

import "encoding/binary"

// thrift is a structure in Thrift's compact protocol, while it is made. Fields are added in ascending order of their numbers.
type thrift struct {
	bytes []byte
	last  int // the number of the field that was added last
}

// The types of fields and of elements, as the protocol numbers them.
const (
	thriftInt32  = 5
	thriftInt64  = 6
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12
)

// field begins a field: its number as the difference from the one before, and its type.
func (s *thrift) field(number, kind int) {
	s.bytes = append(s.bytes, byte((number-s.last)<<4|kind))
	s.last = number
}

func (s *thrift) int32(number int, n int32) {
	s.field(number, thriftInt32)
	s.bytes = binary.AppendVarint(s.bytes, int64(n)) // zigzag, as the protocol wants it
}

func (s *thrift) int64(number int, n int64) {
	s.field(number, thriftInt64)
	s.bytes = binary.AppendVarint(s.bytes, n)
}

func (s *thrift) text(number int, text string) {
	s.field(number, thriftBinary)
	s.bytes = append(binary.AppendUvarint(s.bytes, uint64(len(text))), text...)
}

// list begins a list; its elements are appended by the caller. From 15 elements on the count has bytes of its own.
func (s *thrift) list(number, count, kind int) {
	s.field(number, thriftList)
	if count < 15 {
		s.bytes = append(s.bytes, byte(count<<4|kind))
		return
	}
	s.bytes = binary.AppendUvarint(append(s.bytes, byte(0xf0|kind)), uint64(count))
}

// element appends a structure to the list that was begun last; nested adds one as a field.
func (s *thrift) element(inner thrift) { s.bytes = append(s.bytes, inner.end()...) }

func (s *thrift) nested(number int, inner thrift) {
	s.field(number, thriftStruct)
	s.element(inner)
}

// end is the whole structure, with the mark of its end.
func (s *thrift) end() []byte { return append(s.bytes, 0) }
