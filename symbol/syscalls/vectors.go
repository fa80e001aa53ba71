package syscalls

import (
	"strconv"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/symbol/container"
)

// mostVectors is of how many pieces of a writev the contents are collected, and as many are written.
const mostVectors = 16

// Sizes of structures in arrays.
const (
	vectorSize = 16 // struct iovec: the address, the length
	pollSize   = 8  // struct pollfd: the descriptor, the events, those that came
	eventSize  = 12 // struct epoll_event, which is packed
)

// fromVectors collects what the vectors of an array point to, of each at most so many bytes.
func fromVectors(b *ax.Builder, at, count func(*ax.Builder), most int) {
	again, null, step, done := b.NewLabel(), b.NewLabel(), b.NewLabel(), b.NewLabel()
	b.Const(0) // the number of the vector stays on the stack
	b.Bind(again)
	for _, limit := range []func(*ax.Builder){count, func(b *ax.Builder) { b.Const(mostVectors) }} {
		unless(b, done, func(b *ax.Builder) {
			b.Emit(ax.OpDup)
			limit(b)
			b.Emit(ax.OpLessSigned)
		})
	}
	b.Emit(ax.OpDup)
	b.Const(vectorSize)
	b.Emit(ax.OpMul)
	at(b)
	b.Emit(ax.OpAdd) // where the vector is
	unless(b, null, func(b *ax.Builder) {
		b.Emit(ax.OpDup)
		b.Emit(ax.OpRef64)
	})
	b.Emit(ax.OpDup)
	b.Emit(ax.OpRef64)
	b.Emit(ax.OpSwap)
	b.Const(8)
	b.Emit(ax.OpAdd)
	b.Emit(ax.OpRef64)
	container.Clamp(b, uint64(most))
	b.Emit(ax.OpTrace)
	b.Jump(ax.OpGoto, step)
	b.Bind(null)
	b.Emit(ax.OpPop)
	b.Bind(step)
	b.Const(1)
	b.Emit(ax.OpAdd)
	b.Jump(ax.OpGoto, again)
	b.Bind(done)
	b.Emit(ax.OpPop)
}

// toEnd collects an array of pointers up to the zero that ends it, and, of strings, these.
func toEnd(strings bool) func(b *ax.Builder, at func(*ax.Builder)) {
	return func(b *ax.Builder, at func(*ax.Builder)) {
		again, more, done := b.NewLabel(), b.NewLabel(), b.NewLabel()
		at(b)
		b.Bind(again)
		b.Emit(ax.OpDup)
		b.Emit(ax.OpRef64)
		b.Jump(ax.OpIfGoto, more)
		b.Jump(ax.OpGoto, done)
		b.Bind(more)
		if strings {
			b.Emit(ax.OpDup)
			b.Emit(ax.OpRef64)
			b.Const(mostText)
			b.Emit(ax.OpTracenz)
		}
		b.Const(8)
		b.Emit(ax.OpAdd)
		b.Jump(ax.OpGoto, again)
		b.Bind(done)
		b.Const(8)
		b.Emit(ax.OpAdd) // behind the zero
		at(b)
		b.Emit(ax.OpSwap)
		at(b)
		b.Emit(ax.OpSub)
		b.Emit(ax.OpTrace)
	}
}

// writeVectors writes n vectors with what they point to.
func writeVectors(dst []byte, at arch.Addr, n int, read memory) []byte {
	return writeArray(dst, at, n, vectorSize, read, func(dst, b []byte) []byte {
		base, length := arch.Addr(little.Uint64(b)), little.Uint64(b[8:])
		dst = append(dst, "{iov_base="...)
		if base == 0 || length > mostRead {
			dst = address(dst, uint64(base))
		} else {
			dst = writeText(dst, base, int(length), read)
		}
		return append(strconv.AppendUint(append(dst, ", iov_len="...), length, 10), '}')
	})
}

// writePolled writes n descriptors that are polled, with the events that are waited for.
func writePolled(dst []byte, at arch.Addr, n int, read memory) []byte {
	return writeArray(dst, at, n, pollSize, read, func(dst, b []byte) []byte {
		fd, events := int32(little.Uint32(b)), uint64(little.Uint16(b[4:]))
		dst = strconv.AppendInt(append(dst, "{fd="...), int64(fd), 10)
		if fd >= 0 { // others are passed over
			dst = flags("0", polledEvents)(append(dst, ", events="...), events)
		}
		return append(dst, '}')
	})
}

// writeEvents writes n events of epoll.
func writeEvents(dst []byte, at arch.Addr, n int, read memory) []byte {
	return writeArray(dst, at, n, eventSize, read, appendEvent)
}

// removes is the operation of epoll_ctl that looks at no event.
const removes = 2

// writeEvent writes the event of an operation.
func writeEvent(dst []byte, at arch.Addr, operation int, read memory) []byte {
	b, ok := readAll(read, at, eventSize)
	if !ok || operation == removes {
		return address(dst, uint64(at))
	}
	return appendEvent(dst, b)
}

func appendEvent(dst, b []byte) []byte {
	dst = flags("0", epollEvents)(append(dst, "{events="...), uint64(little.Uint32(b)))
	dst = strconv.AppendUint(append(dst, ", data={u32="...), uint64(little.Uint32(b[4:])), 10)
	dst = strconv.AppendUint(append(dst, ", u64="...), little.Uint64(b[4:]), 10)
	return append(dst, "}}"...)
}

// writeArray writes n elements, as many as the frame has.
func writeArray(dst []byte, at arch.Addr, n, size int, read memory, element func(dst, b []byte) []byte) []byte {
	if _, ok := readAll(read, at, size); n > 0 && !ok {
		return address(dst, uint64(at))
	}
	dst = append(dst, '[')
	for i := range n {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		b, ok := readAll(read, at+arch.Addr(i*size), size)
		if !ok {
			dst = append(dst, "..."...)
			break
		}
		dst = element(dst, b)
	}
	return append(dst, ']')
}

// writeStrings writes an array of strings that ends with a zero.
func writeStrings(dst []byte, at arch.Addr, _ int, read memory) []byte {
	n, ok := pointers(at, read)
	if !ok {
		return address(dst, uint64(at))
	}
	return writeArray(dst, at, n, 8, read, func(dst, b []byte) []byte { return writePath(dst, arch.Addr(little.Uint64(b)), 0, read) })
}

// writeEnvironment writes how many strings an array has.
func writeEnvironment(dst []byte, at arch.Addr, _ int, read memory) []byte {
	dst = address(dst, uint64(at))
	n, ok := pointers(at, read)
	if !ok {
		return dst
	}
	dst = strconv.AppendInt(append(dst, " /* "...), int64(n), 10)
	if n == 1 {
		return append(dst, " var */"...)
	}
	return append(dst, " vars */"...)
}

// pointers counts those of an array up to the zero, false if the frame lacks that.
func pointers(at arch.Addr, read memory) (n int, ok bool) {
	for ; n < mostRead; n++ {
		b, ok := readAll(read, at+arch.Addr(8*n), 8)
		if !ok {
			return 0, false
		}
		if little.Uint64(b) == 0 {
			return n, true
		}
	}
	return 0, false
}
