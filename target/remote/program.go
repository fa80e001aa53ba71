package remote

import (
	"debug/elf"
	"errors"
	"fmt"

	"tracewell/arch"
)

// segment is memory of the program, as its file has it.
type segment struct {
	start, end arch.Addr // end is behind the last byte
	writable   bool
}

// ReadProgram takes what a stub may not say of its program from the program's ELF file: what processor it is for, in which order
// that has its bytes, and, of a program that lies where it was linked for, what memory is its own.
func (o *Options) ReadProgram(path string) error {
	f, err := elf.Open(path)
	if err != nil {
		if errors.As(err, new(*elf.FormatError)) {
			err = fmt.Errorf("%s is no ELF file: %w", path, err)
		}
		return err
	}
	defer f.Close()
	size := 4
	if f.Class == elf.ELFCLASS64 {
		size = 8
	}
	o.Machine, o.Order = arch.ByELF(f.Machine, size), f.ByteOrder.(arch.ByteOrder)
	for _, p := range f.Progs {
		// A segment without contents in the file may be the registers of a device.
		if f.Type == elf.ET_EXEC && p.Type == elf.PT_LOAD && p.Filesz > 0 {
			end := arch.Addr(p.Vaddr + p.Memsz)
			o.segments = append(o.segments, segment{arch.Addr(p.Vaddr), end, p.Flags&elf.PF_W != 0})
		}
	}
	return nil
}
