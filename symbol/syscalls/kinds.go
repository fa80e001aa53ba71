package syscalls

import (
	"bytes"
	"strconv"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/symbol/ctype"
)

// memory reads what an argument points to, as much as is there from an address on.
type memory = func(addr arch.Addr, b []byte) int

// kind is a kind of argument: how many bytes of its register count, and how it is written. The zero kind is a signed number.
type kind struct {
	size     int // 8 if it is 0
	unsigned bool
	write    func(dst []byte, n uint64) []byte // a number that means something; nil for others
	points   *pointee                          // what it points to; nil for others
}

// pointee is what an argument points to.
type pointee struct {
	size  int                                       // bytes to collect; 0 where the argument has a length or its end is marked
	each  int                                       // bytes of an element, where the length is the number of elements; 0 for bytes
	text  bool                                      // up to a zero byte
	ended func(b *ax.Builder, at func(*ax.Builder)) // collects an array whose end is marked; nil for others
	// beyond collects what the elements point to; nil for others.
	beyond func(b *ax.Builder, at, count func(*ax.Builder), most int)
	write  func(dst []byte, at arch.Addr, n int, read memory) []byte
}

// kinds are those that signatures name.
var kinds = map[string]kind{
	"int": {size: 4}, "long": {}, "uint": {size: 4, unsigned: true}, "size": {unsigned: true},
	"fd":    {size: 4},
	"dirfd": {size: 4, write: names(values{{"AT_FDCWD", -100}}, true)},
	"hex":   {unsigned: true, write: hexadecimal}, "pointer": {unsigned: true, write: address},
	"mode":    {size: 4, unsigned: true, write: octal},
	"open":    {size: 4, unsigned: true, write: openFlags},
	"opened":  {size: 4, unsigned: true, write: flags("0", openBits)},
	"access":  {size: 4, unsigned: true, write: flags("F_OK", accessModes)},
	"at":      {size: 4, unsigned: true, write: flags("0", atFlags)},
	"prot":    {size: 4, unsigned: true, write: flags("PROT_NONE", protections)},
	"map":     {size: 4, unsigned: true, write: mapFlags},
	"mremap":  {size: 4, unsigned: true, write: flags("0", remapFlags)},
	"madvise": {size: 4, write: names(advices, true)},
	"whence":  {size: 4, write: names(whences, true)}, "signal": {size: 4, write: signalName},
	"sigmask": {size: 4, write: names(maskings, true)}, "shutdown": {size: 4, write: names(shutdowns, true)},
	"domain": {size: 4, write: names(families, true)}, "socktype": {size: 4, unsigned: true, write: socketType},
	"msg":   {size: 4, unsigned: true, write: flags("0", messageFlags)},
	"clone": {unsigned: true, write: cloneFlags}, "wait": {size: 4, unsigned: true, write: flags("0", waitOptions)},
	"fcntl": {size: 4, write: names(controls, true)}, "resource": {size: 4, write: names(resources, true)},
	"futex": {size: 4, unsigned: true, write: futexOperation}, "clock": {size: 4, write: names(clocks, true)},
	"epollctl": {size: 4, write: names(pollControls, true)},

	"path":     {points: &pointee{text: true, write: writePath}},
	"text":     {points: &pointee{write: writeText}},
	"address":  {points: &pointee{write: writeAddress}},
	"stat":     {points: &pointee{size: statSize, write: writeStat}},
	"timespec": {points: &pointee{size: 16, write: writeTime}},
	"fds":      {points: &pointee{size: 8, write: writePair}},
	"status":   {points: &pointee{size: 4, write: writeStatus}},
	"sigset":   {points: &pointee{size: 8, write: writeSignals}},
	"vectors":  {points: &pointee{each: vectorSize, beyond: fromVectors, write: writeVectors}},
	"polled":   {points: &pointee{each: pollSize, write: writePolled}},
	"events":   {points: &pointee{each: eventSize, write: writeEvents}},
	"event":    {points: &pointee{size: eventSize, write: writeEvent}},
	"strings":  {points: &pointee{ended: toEnd(true), write: writeStrings}},
	"environ":  {points: &pointee{ended: toEnd(false), write: writeEnvironment}},
	"epoll":    {size: 4, unsigned: true, write: flags("0", values{{"EPOLL_CLOEXEC", 02000000}})},
	"ready":    {size: 4, write: readyOrTimeout},
}

// scalar is the type of a number of a kind.
func (k kind) scalar(order arch.ByteOrder) *ctype.Type {
	size := k.size
	if size == 0 {
		size = 8
	}
	t := *ctype.Int(size, !k.unsigned)
	if k.write != nil {
		t.Describe = func(dst, value []byte, _ memory) []byte { return k.write(dst, t.Extend(arch.Uint(value, order))) }
	}
	return &t
}

// lengths say where the length of what an argument points to is.
type lengths uint8

const (
	unbounded lengths = iota
	inArgument
	inWord   // in an argument, of which the lower 32 bits count
	inMemory // behind a pointer
)

// pointer is the type of a pointer of a kind. It has the length with it where there is one, as a second word.
func (k kind) pointer(order arch.ByteOrder, length lengths) *ctype.Type {
	t := &ctype.Type{Kind: ctype.Pointer, Size: 8, Elem: ctype.Int(1, k.points.text)} // signed bytes are a text
	if length != unbounded {
		word := ctype.Int(8, false)
		t = ctype.RecordOf("", 16, ctype.Field{Name: "address", Type: word}, ctype.Field{Name: "length", Type: word, Offset: 8})
	}
	t.Describe = func(dst, value []byte, read memory) []byte {
		at, n := arch.Addr(arch.Uint(value[:8], order)), int64(0)
		switch length {
		case inArgument:
			n = int64(arch.Uint(value[8:], order))
		case inWord:
			n = int64(int32(arch.Uint(value[8:], order)))
		case inMemory:
			var size [4]byte
			if read == nil || read(arch.Addr(arch.Uint(value[8:], order)), size[:]) < len(size) {
				return address(dst, uint64(at))
			}
			n = int64(arch.Uint(size[:], order))
		}
		if at == 0 || n < 0 || read == nil {
			return address(dst, uint64(at))
		}
		return k.points.write(dst, at, int(n), read)
	}
	return t
}

// readAll reads n bytes, or fails.
func readAll(read memory, at arch.Addr, n int) ([]byte, bool) {
	b := make([]byte, n)
	return b, read(at, b) == n
}

// mostRead bounds what is read of one argument.
const mostRead = 1 << 16

// writePath writes a text that ends at a zero byte, of which the frame may lack the end.
func writePath(dst []byte, at arch.Addr, _ int, read memory) []byte {
	b := make([]byte, mostText)
	b = b[:read(at, b)]
	text, _, whole := bytes.Cut(b, []byte{0})
	switch {
	case len(b) == 0:
		return address(dst, uint64(at))
	case !whole:
		return append(quote(dst, b), "..."...)
	}
	return quote(dst, text)
}

// writeText writes n bytes, of which the frame may have fewer.
func writeText(dst []byte, at arch.Addr, n int, read memory) []byte {
	b := make([]byte, min(n, mostRead))
	b = b[:read(at, b)]
	switch {
	case n > 0 && len(b) == 0:
		return address(dst, uint64(at))
	case len(b) < n:
		return append(quote(dst, b), "..."...)
	}
	return quote(dst, b)
}

// quote writes bytes between quotation marks, those that are no ASCII as octal numbers, which have three digits where another
// digit follows.
func quote(dst, text []byte) []byte {
	dst = append(dst, '"')
	for i, c := range text {
		switch escape := bytes.IndexByte([]byte("\n\t\r\v\f\"\\"), c); {
		case escape >= 0:
			dst = append(dst, '\\', `ntrvf"\`[escape])
		case c >= ' ' && c < 0x7f:
			dst = append(dst, c)
		default:
			dst = append(dst, '\\')
			if i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9' {
				dst = append(dst, '0'+c>>6, '0'+c>>3&7, '0'+c&7)
			} else {
				dst = strconv.AppendUint(dst, uint64(c), 8)
			}
		}
	}
	return append(dst, '"')
}

func hexadecimal(dst []byte, n uint64) []byte {
	if n == 0 {
		return append(dst, '0')
	}
	return strconv.AppendUint(append(dst, "0x"...), n, 16)
}

func address(dst []byte, n uint64) []byte {
	if n == 0 {
		return append(dst, "NULL"...)
	}
	return hexadecimal(dst, n)
}

// readyOrTimeout writes how many descriptors are ready.
func readyOrTimeout(dst []byte, n uint64) []byte {
	if n == 0 {
		return append(dst, "0 (Timeout)"...)
	}
	return strconv.AppendInt(dst, int64(n), 10)
}

// octal writes the mode of a file, with a zero in front and at least three digits.
func octal(dst []byte, n uint64) []byte {
	if dst = append(dst, '0'); n < 010 {
		dst = append(dst, '0')
	}
	return strconv.AppendUint(dst, n, 8)
}
