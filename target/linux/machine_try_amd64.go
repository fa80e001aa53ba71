//go:build linux

package linux

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"

	"tracewell/arch"
	asm "tracewell/internal/asm/amd64"
	"tracewell/internal/sys"
	"tracewell/target"
)

// trial is what programs may do on this machine as far as nothing but an attempt tells it: there are hypervisors that do not own up
// to rdfsbase and permit it, and such as take what debug registers are loaded with and never stop a program by it.
type trial struct {
	rdfsbase   bool // programs may execute it
	registers  bool // a debug register stops a program
	unfinished error
}

// tried is the trial, made when it is first asked for.
var tried = sync.OnceValue(func() (r trial) {
	r.unfinished = r.make()
	return r
})

const (
	trialBase  = 0x400000
	trialStart = 64 + 56 // behind the ELF header and the only program header
	trialSize  = 0x1000
)

// make traces a program of a few instructions that exists for that only.
func (r *trial) make() error {
	const entry = trialBase + trialStart
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
	program, err := sys.NewShared("trial", trialSize)
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
	ended := false
	defer func() {
		if !ended {
			sys.KillAndReap(pid)
		}
	}()
	slots := [numDebugRegisters]debugSlot{{kind: target.Hardware, addr: watched, length: 1, users: 1}}
	if err := host.loadDebug(pid, &slots); err != nil {
		return err
	}
	for {
		if err := sys.Cont(pid, 0); err != nil {
			return err
		}
		_, status, err := sys.Wait(pid)
		if err != nil {
			return err
		}
		if ended = status.Ended(); ended {
			code, exited := status.Exited()
			r.rdfsbase = exited && code == 0
			return nil
		}
		switch signal, _ := status.Stopped(); signal {
		case sys.SIGTRAP:
			r.registers = true
		case sys.SIGILL:
			return nil
		}
	}
}

// exitGroup is the number of exit_group(2).
const exitGroup = 231

// executable puts code into an ELF file, at trialStart.
func executable(code []byte) []byte {
	size := uint64(trialStart + len(code))
	header := elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT), Entry: trialBase + trialStart,
		Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1,
	}
	copy(header.Ident[:], elf.ELFMAG)
	header.Ident[elf.EI_CLASS], header.Ident[elf.EI_DATA] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB)
	header.Ident[elf.EI_VERSION] = byte(elf.EV_CURRENT)
	segment := elf.Prog64{
		Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: trialBase, Paddr: trialBase, Filesz: size, Memsz: size,
		Align: trialSize,
	}
	var b bytes.Buffer
	binary.Write(&b, binary.LittleEndian, &header)
	binary.Write(&b, binary.LittleEndian, &segment)
	return append(b.Bytes(), code...)
}
