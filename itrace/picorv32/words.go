package picorv32

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"tracewell/itrace"
	names "tracewell/itrace/internal/riscv"
	"tracewell/itrace/internal/swar"
)

// Words is the dialect of the words that PicoRV32 traces, as the core has them: nine digits a line, of which the first has bits for
// IRQ (8), the address of an access (2) and a jump (1). They tell no pc. It follows from the program, in an ELF file that the
// option names, as PicoRV32's script has it: words before the first jump are remarks, and so are those behind an instruction that
// is not in the program, up to the next jump. What the records are is as in Dialect; digits that the core did not know are kept.
var Words = &itrace.Dialect{
	Name:  "picorv32-words",
	Title: "PicoRV32's trace words",
	Options: []itrace.Option{{Name: "program", Check: checkProgram,
		Help: "The ELF file of the program, without which nothing is known of where words are from."}},
	New: func(s itrace.Settings) itrace.Decoder {
		p, _ := readProgram(s["program"]) // checked, and read then
		return &wordDecoder{program: p}
	},
}

// code is a part of a program that can be executed.
type code struct {
	at    uint64
	bytes []byte
}

// programs are those that have been read, by the names of their files: there are many decoders of one trace.
var programs sync.Map

// readProgram reads the code of a program, which is none without a name.
func readProgram(path string) (program []code, err error) {
	if path == "" {
		return nil, nil
	}
	if known, ok := programs.Load(path); ok {
		return known.([]code), nil
	}
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.Machine != elf.EM_RISCV || f.Class != elf.ELFCLASS32 {
		return nil, fmt.Errorf("%s is no program of this processor", path)
	}
	for _, s := range f.Progs {
		if s.Type != elf.PT_LOAD || s.Flags&elf.PF_X == 0 || s.Filesz == 0 {
			continue
		}
		c := code{s.Vaddr, make([]byte, s.Filesz)}
		if _, err := s.ReadAt(c.bytes, 0); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		program = append(program, c)
	}
	if len(program) == 0 {
		return nil, fmt.Errorf("%s has no code", path)
	}
	programs.Store(path, program)
	return program, nil
}

func checkProgram(path string) error {
	if path == "" {
		return errors.New("the file of a program is to be named")
	}
	_, err := readProgram(path)
	return err
}

// wordDecoder is the Decoder of PicoRV32's words. Its units are an instruction with all its words, and any other word.
type wordDecoder struct {
	program []code
	flow
	digits []byte // of all instructions of a Decode
}

// flow is where the core is.
type flow struct {
	handling bool // an interrupt
	known    bool // pc is
	pc       uint32
}

// AppendState implements itrace.Decoder.
func (d *wordDecoder) AppendState(dst []byte) []byte {
	if d.flow == (flow{}) {
		return dst
	}
	flags := byte(0)
	if d.handling {
		flags |= 1
	}
	if d.known {
		flags |= 2
	}
	return binary.LittleEndian.AppendUint32(append(dst, flags), d.pc)
}

// Restore implements itrace.Decoder.
func (d *wordDecoder) Restore(state []byte) error {
	const flags, length = 4, 5
	d.flow = flow{}
	if len(state) == 0 {
		return nil
	}
	if len(state) != length || state[0] >= flags {
		return itrace.ErrState
	}
	d.flow = flow{state[0]&1 != 0, state[0]&2 != 0, binary.LittleEndian.Uint32(state[1:])}
	if d.flow == (flow{}) {
		return itrace.ErrState
	}
	return nil
}

// Decode implements itrace.Decoder.
func (d *wordDecoder) Decode(b *itrace.Batch, _ []byte, last bool) int {
	d.digits = d.digits[:0]
	return b.Units(d, last)
}

// rawWord is a word as the core has it.
type rawWord struct {
	handling, access, jump bool
	value                  uint32
	wild                   bool
	digits                 []byte
}

// parseWord reads a line.
func parseWord(line []byte) (w rawWord, problem *itrace.SyntaxError) {
	const digits, handling, access, jump = 9, 8, 2, 1
	value, wild, ok := itrace.ParseDigits(line)
	if !ok || len(line) != digits {
		return w, itrace.Mismatch(line, 0, "nine hexadecimal digits")
	}
	bits := value >> 32
	return rawWord{bits&handling != 0, bits&access != 0, bits&jump != 0, uint32(value), wild, line[1:]}, nil
}

// opcode returns the instruction at the pc.
func (d *wordDecoder) opcode() (value uint64, size int) {
	for i := range d.program {
		c := &d.program[i]
		at := uint64(d.pc) - c.at
		if at >= uint64(len(c.bytes)) {
			continue
		}
		switch rest := c.bytes[at:]; {
		case len(rest) >= 4 && rest[0]&3 == 3:
			return uint64(binary.LittleEndian.Uint32(rest)), 4
		case len(rest) >= 2 && rest[0]&3 != 3:
			return uint64(binary.LittleEndian.Uint16(rest)), 2
		}
	}
	return 0, 0
}

// handler is where PicoRV32's script takes the handler of interrupts to be.
const handler = 0x10

// Unit implements itrace.UnitReader.
func (d *wordDecoder) Unit(b *itrace.Batch, line []byte, next int, last bool) int {
	w, problem := parseWord(line)
	if problem != nil {
		b.Fail(problem)
		return next
	}
	at := d.flow
	if len(d.program) == 0 {
		b.Fail(itrace.Mismatch(line, 0, "the option program, as words do not tell where they are from"))
		return next
	}
	interrupted := w.handling && !at.handling
	if at.handling = w.handling; interrupted {
		at.known, at.pc = true, handler
	}
	if !at.known {
		if d.flow = at; w.jump {
			d.known, d.pc = true, w.value
		}
		b.Add(itrace.Remark)
		return next
	}
	var second rawWord
	end, whole := next, false
	if w.access {
		behind, after := b.Peek(next, last)
		if after < 0 && !last {
			return -1
		}
		if after >= 0 {
			second, problem = parseWord(behind)
			whole = problem == nil && !second.access && !second.jump && second.handling == w.handling
		}
		if whole {
			end = after
		}
	}
	d.flow = at
	opcode, size := d.opcode()
	d.instruction(b, &w, opcode, size, interrupted)
	if size == 0 {
		d.known = w.jump
	}
	if d.pc += uint32(size); w.jump {
		d.pc = w.value
	}
	if size == 0 {
		return next
	}
	i := instructionOf(&word{kind: w.kind(), opcode: opcode})
	result := &w
	if w.access {
		if !i.load && !i.store {
			b.Fail(itrace.Mismatch(line, 0, "another word, as the instruction is no load and no store"))
			d.known = false
			return next
		}
		m := b.Add(itrace.Memory)
		m.Addr, m.AddrDigits, m.Size, m.Write = uint64(w.value), w.digits, names.AccessSize(opcode), i.store
		if !whole {
			return end
		}
		m.Value, m.Digits = names.Accessed(uint64(second.value), second.digits, m.Size)
		m.Wild, result = second.wild, &second
		b.Line(next, last)
	}
	if !result.jump && len(i.writes) > 0 {
		r := b.Add(itrace.Register)
		r.Name, r.Value, r.Digits, r.Wild = i.writes, uint64(result.value), result.digits, result.wild
	}
	return end
}

// kind is the mark that the script gives a word.
func (w *rawWord) kind() byte {
	switch {
	case w.jump:
		return '>'
	case w.access:
		return '@'
	}
	return '='
}

// instruction adds the instruction at the pc, behind what began with it.
func (d *wordDecoder) instruction(b *itrace.Batch, w *rawWord, opcode uint64, size int, interrupted bool) {
	if interrupted {
		e := b.Add(itrace.Event)
		e.Event, e.Name = itrace.Interrupt, irq
	}
	const most = 8 // digits
	start := len(d.digits)
	d.digits = swar.AppendHex(swar.AppendHex(d.digits, uint64(d.pc), most), opcode, most)
	r := b.Add(itrace.Instruction)
	r.Addr, r.AddrDigits, r.Scope = uint64(d.pc), d.digits[start:start+most:start+most], scope
	if size == 0 {
		r.Scope |= itrace.FlowOnly | itrace.Gaps
		return
	}
	r.Value, r.Digits = opcode, d.digits[start+2*most-2*size:start+2*most:start+2*most]
	r.Scope |= instructionOf(&word{kind: w.kind(), opcode: opcode}).untold
}
