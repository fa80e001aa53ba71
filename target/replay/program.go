package replay

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"

	"tracewell/arch"
)

// program is the ELF file of a program, and where the program was loaded. A nil one knows nothing.
type program struct {
	path   string // absolute
	file   *os.File
	elf    *elf.File
	placed bool // bias is known
	bias   arch.Addr
}

// openProgram opens an ELF file. One that cannot be loaded anywhere but at its own addresses is placed there.
func openProgram(path string) (*program, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	p := &program{file: file}
	if p.elf, err = elf.NewFile(file); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: reading an ELF file: %w", path, err)
	}
	p.placed = p.elf.Type != elf.ET_DYN
	p.path, err = filepath.Abs(path)
	return p, err
}

// place says where the program was loaded.
func (p *program) place(bias arch.Addr) { p.placed, p.bias = true, bias }

// name is what the kernel would call the program's thread.
func (p *program) name() string {
	if p == nil {
		return ""
	}
	return filepath.Base(p.path)
}

// start is where the program begins to run, 0 if that is not known.
func (p *program) start() arch.Addr {
	if p == nil || !p.placed {
		return 0
	}
	return arch.Addr(p.elf.Entry) + p.bias
}

// read reads memory that the program cannot change, and returns how many bytes of b, from its start on, are such.
func (p *program) read(addr arch.Addr, b []byte) int {
	if p == nil || !p.placed {
		return 0
	}
	done := 0
	for done < len(b) {
		n := p.readSegment(uint64(addr-p.bias)+uint64(done), b[done:])
		if n == 0 {
			break
		}
		done += n
	}
	return done
}

// readSegment reads what one segment has of b.
func (p *program) readSegment(addr uint64, b []byte) int {
	for _, s := range p.elf.Progs {
		if s.Type != elf.PT_LOAD || s.Flags&elf.PF_W != 0 || addr < s.Vaddr || addr-s.Vaddr >= s.Filesz {
			continue
		}
		n, _ := s.ReadAt(b[:min(uint64(len(b)), s.Filesz-(addr-s.Vaddr))], int64(addr-s.Vaddr))
		return n
	}
	return 0
}

// close closes the file.
func (p *program) close() error {
	if p == nil {
		return nil
	}
	return p.file.Close()
}
