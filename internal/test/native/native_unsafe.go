//go:build linux

package native

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"tracewell/arch"
)

// Memory is memory that the process may read, write and execute. It is the test's to divide into code and data.
type Memory struct{ Bytes []byte }

// Map maps size bytes until the test ends.
func Map(t testing.TB, size int) Memory {
	t.Helper()
	bytes, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(bytes) })
	return Memory{bytes}
}

// Addr is the address of the byte at offset.
func (m Memory) Addr(offset int) arch.Addr {
	return arch.Addr(uintptr(unsafe.Pointer(&m.Bytes[offset])))
}

// Call calls the code at offset. It has to return with RSP, RBP and R14 as they were, and with XMM15 zero, has 500 bytes of stack at
// most, and must not fault: Go's runtime can make nothing of a signal that code of another kind has raised.
func (m Memory) Call(offset int) {
	entry := uintptr(unsafe.Pointer(&m.Bytes[offset]))
	closure := &entry // a function value of Go points at a word that points at the code
	(*(*func())(unsafe.Pointer(&closure)))()
}
