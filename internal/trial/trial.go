//go:build linux && amd64

package trial

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"tracewell/arch"
	asm "tracewell/internal/asm/amd64"
	"tracewell/internal/sys"
)

// Machine is the trial of this machine, made when it is first asked for.
var Machine = sync.OnceValue(func() (r Result) {
	r.Err = r.make()
	return r
})

const (
	base  = 0x400000
	start = 64 + 56 // behind the ELF header and the only program header
	page  = 0x1000
)

// make traces a program of a few instructions that exists for that only.
func (r *Result) make() error {
	const entry = base + start
	a := asm.New(entry)
	a.Nop(1)
	watched := entry + arch.Addr(a.Len())
	a.Rdfsbase(8, asm.RAX)
	a.MovImm(asm.RAX, exitGroup)
	a.Arith(asm.Xor, 4, asm.RDI, asm.RDI)
	a.Syscall()
	code, err := a.Finish()
	if err != nil {
		return err
	}
	program, err := sys.NewShared("trial", page)
	if err != nil {
		return err
	}
	defer program.Close()
	if _, err := program.WriteAt(executable(code), 0); err != nil {
		return err
	}
	runtime.LockOSThread() // whose child it is
	defer runtime.UnlockOSThread()
	path := fmt.Sprintf("/proc/self/fd/%d", program.Fd())
	pid, err := (&sys.Launch{Path: path, Args: []string{"trial"}, Terminal: -1}).Start(sys.ExitKill)
	if err != nil {
		return err
	}
	if err := errors.Join(sys.SetDebugReg(pid, 0, uint64(watched)), sys.SetDebugReg(pid, 7, executes0)); err != nil {
		sys.KillAndReap(pid)
		return err
	}
	status, err := sys.RunToEnd(pid, func(signal int) bool {
		r.DebugRegisters = r.DebugRegisters || signal == sys.SIGTRAP
		return signal == sys.SIGTRAP
	})
	r.RDFSBase = status == 0
	return err
}

// executes0 is what has debug register 7 stop the program before it executes the instruction at the address in register 0.
const executes0 = 1

// exitGroup is the number of exit_group(2).
const exitGroup = 231

// executable puts code into an ELF file, at start.
func executable(code []byte) []byte {
	size := uint64(start + len(code))
	header := elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT), Entry: base + start,
		Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1,
	}
	copy(header.Ident[:], elf.ELFMAG)
	header.Ident[elf.EI_CLASS], header.Ident[elf.EI_DATA] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB)
	header.Ident[elf.EI_VERSION] = byte(elf.EV_CURRENT)
	segment := elf.Prog64{
		Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: base, Paddr: base, Filesz: size, Memsz: size,
		Align: page,
	}
	var b bytes.Buffer
	binary.Write(&b, binary.LittleEndian, &header)
	binary.Write(&b, binary.LittleEndian, &segment)
	return append(b.Bytes(), code...)
}
