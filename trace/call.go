package trace

import "tracewell/arch"

// A tracepoint at a system call is set in no code. So that it is one like any other for everything that knows tracepoints by their
// addresses, it has an address where no program of 64 bits can have anything: on no machine that has system calls by number are
// addresses in the middle of the address space valid.

// The address of a tracepoint at a system call: callSpace in the upper half, the number, and a bit that tells the return.
const (
	callSpace  arch.Addr = 0x5ca11 << 44
	callReturn arch.Addr = 1 << 32
	callMask             = ^(callReturn<<1 - 1)
)

// CallAddr is the address of a tracepoint at the entry into a system call, or at the return from it.
func CallAddr(number int, returns bool) arch.Addr {
	at := callSpace | arch.Addr(uint32(number))
	if returns {
		at |= callReturn
	}
	return at
}

// ParseCall tells which system call an address stands for, and whether the return from it; false if it stands for none.
func ParseCall(at arch.Addr) (number int, returns, ok bool) {
	return int(uint32(at)), at&callReturn != 0, at&callMask == callSpace
}
