package check

import (
	"debug/elf"
	"fmt"
	"io"

	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/internal/text"
	"tracewell/trace"
)

// Program is the code of the program that was traced, where it was linked.
type Program struct {
	relocatable bool
	machine     elf.Machine
	segments    []segment
}

// segment is bytes of a program that are loaded.
type segment struct {
	addr arch.Addr
	size uint64 // in memory
	code io.ReaderAt
}

// ReadProgram reads where an ELF file is loaded. r must stay valid as long as the Program is used.
// Neither sections nor symbols are needed, so a stripped program will do.
func ReadProgram(r io.ReaderAt) (*Program, error) {
	file, err := elf.NewFile(r)
	if err != nil {
		return nil, fmt.Errorf("reading an ELF file: %w", err)
	}
	p := &Program{relocatable: file.Type == elf.ET_DYN, machine: file.Machine}
	for _, s := range file.Progs {
		// Sections may be stripped; segments are what the kernel loads.
		if s.Type == elf.PT_LOAD {
			p.segments = append(p.segments, segment{arch.Addr(s.Vaddr), s.Memsz, s})
		}
	}
	return p, nil
}

// longestInstruction is that of x86, in bytes.
const longestInstruction = 15

// read returns the code at addr, as much of it as one instruction may have; false if the program has none there.
func (p *Program) read(addr arch.Addr) (code []byte, ok bool) {
	for _, s := range p.segments {
		if offset := uint64(addr - s.addr); offset < s.size {
			code = make([]byte, longestInstruction)
			// The part of a segment beyond its file size is zeros, such as .bss, and no code.
			n, _ := s.code.ReadAt(code, int64(offset)) // what cannot be read is not code
			return code[:n], true
		}
	}
	return nil, false
}

// fastLength is how many bytes the instruction at a fast tracepoint must have on x86-64: those of a jump.
// GDB 13.1 asks its description of the architecture (gdbarch_fast_tracepoint_valid_at), which wants 5 bytes for a
// relative jump on x86-64.
const fastLength = 5

// program checks a tracepoint, defined at an offset, against the program; without one, by its address alone.
func (c *checker) program(t *trace.Tracepoint, at int64) {
	p, placed := c.options.Program, c.placed(t.Addr)
	if p == nil {
		if !placed {
			c.guess(t, at)
		}
		if t.Fast {
			c.add(ruleFast, at, "tracepoint %d is a fast one: GDB cannot open the file without the program", t.Number)
		}
		return
	}
	code, ok := p.read(t.Addr)
	switch {
	case ok && t.Fast && p.machine == elf.EM_X86_64:
		if in, err := amd64.Decode(code, t.Addr); err == nil && in.Len() < fastLength {
			c.add(ruleFastShort, at, "tracepoint %d is a fast one, on an instruction of %s", t.Number, text.Plural(in.Len(), "byte"))
		}
	// Not ok alone: an address of a library is none of the program's.
	case ok || placed:
	case p.relocatable:
		c.addFolded(ruleElsewhere, at, "tracepoint %d is at %v, but the program is linked from %v on and was loaded elsewhere",
			t.Number, t.Addr, p.segments[0].addr)
	default:
		c.addFolded(ruleElsewhere, at, "tracepoint %d is at %v, where the program has nothing", t.Number, t.Addr)
	}
}

// placed reports whether the file says where that was loaded which is at an address: the program, of which a given one shows what
// belongs to it, or a library. GDB 13.1 does not look there, but symbol-file -o tells it.
func (c *checker) placed(addr arch.Addr) bool {
	for i, o := range c.objects {
		if p := c.options.Program; i == 0 && p != nil {
			if _, ok := p.read(addr - o.Bias); ok {
				return true
			}
		} else if o.Bias > 0 && addr >= o.Bias {
			return true
		}
	}
	return false
}

// guess tells from its address whether a tracepoint is in a program or library that was linked for no place of its own.
func (c *checker) guess(t *trace.Tracepoint, at int64) {
	if c.target == nil {
		return
	}
	if r := c.machine().Loaded; r[1] != 0 && t.Addr >= r[0] && t.Addr <= r[1] {
		c.addFolded(ruleElsewhere, at, "tracepoint %d is at %v, where Linux loads position-independent programs and libraries",
			t.Number, t.Addr)
	}
}
