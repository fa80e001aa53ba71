//go:build linux

package sys

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Code is the memory of a process, whatever its page protections, byte by byte. It needs a memory file that was opened while that
// was permitted, and nothing else.
type Code struct{ fd int }

// CodeOf is the memory behind the descriptor of a memory file.
func CodeOf(fd int) Code { return Code{fd} }

// WritesText reports why this process cannot write what a program may only read. Kernels can be made to permit that to tracers
// alone (proc_mem.force_override), and then refuse it to a process for its own memory, too.
func WritesText() error {
	const text = "read-only"
	self, err := OpenMemory(os.Getpid())
	if err != nil {
		return err
	}
	defer self.Close()
	at := uint64(uintptr(unsafe.Pointer(unsafe.StringData(text))))
	code := CodeOf(int(self.Fd()))
	if b, ok := code.Byte(at); !ok || b != text[0] || !code.SetByte(at, b) {
		return errors.New("this kernel lets nobody but its tracer write a program's code")
	}
	return nil
}

// Byte reads a byte, and reports whether there is one.
func (c Code) Byte(addr uint64) (byte, bool) {
	var b [1]byte
	n, err := unix.Pread(c.fd, b[:], int64(addr))
	return b[0], n == 1 && err == nil
}

// SetByte writes a byte, and reports whether it could.
func (c Code) SetByte(addr uint64, b byte) bool {
	n, err := unix.Pwrite(c.fd, []byte{b}, int64(addr))
	return n == 1 && err == nil
}

// Read reads as much of b as there is.
func (c Code) Read(addr uint64, b []byte) int {
	n, _ := unix.Pread(c.fd, b, int64(addr))
	return max(n, 0)
}

// Close closes the memory file.
func (c Code) Close() error { return unix.Close(c.fd) }
