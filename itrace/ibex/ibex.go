// Package ibex is the traces of the tracer of Ibex (ibex_tracer.sv) and of cores that copied it, such as CVE2: a header, and a line
// for each instruction that has retired or had an exception, its columns separated by tabs:
//
//	"Time" TAB "Cycle" TAB "PC" TAB "Insn" TAB "Decoded instruction" TAB "Register and memory contents"
//	sp TIME TAB sp CYCLE TAB PC TAB sp OP TAB [ "-->" | "==>" ] MNEMONIC TAB [ OPERANDS TAB ] { ACCESS }
//	ACCESS = sp REG ":0x" HEX | sp REG "=0x" HEX | " PA:0x" HEX | " store:0x" HEX | " load:0x" HEX | " expand_insn: " TEXT
//
//	          142	        67	0000015c	c622	c.swsp	x8,12(x2)	  x2:0x00002000  x8:0x00000000 PA:0x0000200c store:0x00000000
//
// Numbers are hexadecimal in lower case, but for time and cycle. REG: is a register that was read, REG= one that was written, x0
// included. PA is the address of an access, as the core has no translation, and the only one that is told; load is what the
// register gets, or its low bytes, and store what is written, both right-aligned whatever the address. How many bytes it is the
// opcode tells. Of bytes that are not written the tracer of 2025 prints ? and that of 2024 zeros; the latter prints load behind a
// store as well, which is what memory held before, and no load. --> is on an instruction that had an exception, ==> on the first of
// an interrupt handler; both only in versions since 2025. A trace does not say whether its version writes them, so what is told of
// exceptions is known when the first mark has been seen. The trace is of one hart.
package ibex

import (
	"bytes"

	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
	"tracewell/itrace/internal/scan"
)

// Dialect is the dialect of Ibex's tracer.
var Dialect = &itrace.Dialect{
	Name:       "ibex",
	Title:      "Ibex's tracer",
	New:        func(itrace.Settings) itrace.Decoder { return itrace.EachLine(&reader{}) },
	BehindTime: behindCycle,
	Why:        why,
}

// header is the beginning of the first line.
var header = []byte("Time\tCycle\tPC\tIns")

func why(head []byte) string {
	if bytes.HasPrefix(head, header) {
		return "the header of the tracer"
	}
	return "lines of time, cycle, pc and opcode between tabs"
}

// behindCycle implements itrace.Dialect.BehindTime.
func behindCycle(text []byte) int {
	time := itrace.DecimalEnd(text, '\t')
	if time == 0 {
		return 0
	}
	cycle := itrace.DecimalEnd(text[time+1:], '\t')
	if cycle == 0 {
		return 0
	}
	return time + 1 + cycle
}

// reader reads lines.
type reader struct {
	marks bool // instructions that had an exception are marked
	time  uint64
	line  []byte
	at    int
}

// AppendState implements itrace.LineReader.
func (r *reader) AppendState(dst []byte) []byte {
	if r.marks {
		return append(dst, 1)
	}
	return dst
}

// Restore implements itrace.LineReader.
func (r *reader) Restore(state []byte) error {
	r.marks = len(state) > 0
	if len(state) > 1 || r.marks && state[0] != 1 {
		return itrace.ErrState
	}
	return nil
}

// Line implements itrace.LineReader.
func (r *reader) Line(b *itrace.Batch, line []byte) *itrace.SyntaxError {
	if bytes.HasPrefix(line, header) {
		b.Add(itrace.Remark)
		return nil
	}
	r.line, r.at = line, 0
	i := b.Add(itrace.Instruction)
	if expected := r.instruction(i); expected != "" {
		i.Kind, i.Problem = itrace.Unknown, itrace.Mismatch(line, r.at, expected)
		return nil
	}
	r.time = i.Time
	i.Scope = itrace.NoMode | itrace.TellsReads
	if i.Trapped || r.marks {
		i.Scope |= itrace.TellsTrapped
	}
	if expected := r.accesses(b, i.Value); expected != "" {
		return itrace.Mismatch(line, r.at, expected)
	}
	return nil
}

// skip goes behind blanks and tabs.
func (r *reader) skip() {
	for r.at < len(r.line) && (r.line[r.at] == ' ' || r.line[r.at] == '\t') {
		r.at++
	}
}

// decimal reads a number in front of a tab.
func (r *reader) decimal() (n uint64, ok bool) {
	r.skip()
	start := r.at
	for r.at < len(r.line) && r.line[r.at]-'0' <= 9 && r.at-start < 19 {
		n = n*10 + uint64(r.line[r.at]-'0')
		r.at++
	}
	return n, r.at > start && r.at < len(r.line) && r.line[r.at] == '\t'
}

// hex reads hexadecimal digits up to a byte that is none.
func (r *reader) hex() (value uint64, digits []byte) {
	start := r.at
	r.at = scan.HexEnd(r.line, start)
	digits = r.line[start:r.at]
	return scan.Value(digits), digits
}

// instruction reads a line up to the accesses, and returns what was expected where it is not as it should be.
func (r *reader) instruction(i *itrace.Record) (expected string) {
	var ok bool
	if i.Time, ok = r.decimal(); !ok {
		return "a time and a tab"
	}
	if i.Cycle, ok = r.decimal(); !ok {
		return "a cycle and a tab"
	}
	r.skip()
	if i.Addr, i.AddrDigits = r.hex(); len(i.AddrDigits) == 0 || r.at == len(r.line) || r.line[r.at] != '\t' {
		return "an address in hexadecimal and a tab"
	}
	r.skip()
	if i.Value, i.Digits = r.hex(); len(i.Digits) == 0 || r.at == len(r.line) || r.line[r.at] != '\t' {
		return "an opcode in hexadecimal and a tab"
	}
	r.at++
	rest := r.line[r.at:]
	switch {
	case bytes.HasPrefix(rest, trapped):
		i.Trapped, r.marks = true, true
		r.at += len(trapped)
	case bytes.HasPrefix(rest, handled):
		r.marks = true
		r.at += len(handled)
	}
	// Accesses, if there are any, begin with a blank behind a tab; what is in front of that is mnemonic and operands, with a tab
	// between them.
	start := r.at
	end := bytes.Index(r.line[start:], beforeAccesses)
	if end < 0 {
		end = len(r.line) - start
	}
	if end == 0 {
		return "a mnemonic"
	}
	i.Disasm = r.line[start : start+end]
	r.at = start + end
	return ""
}

var (
	trapped        = []byte("-->")
	handled        = []byte("==>")
	beforeAccesses = []byte("\t ")
)

// accesses reads the last column, and returns what was expected where it is not as it should be.
func (r *reader) accesses(b *itrace.Batch, opcode uint64) (expected string) {
	var addr uint64
	var addrDigits []byte // of an access of which the data are to come
	for {
		if r.skip(); r.at == len(r.line) {
			return ""
		}
		name, sign := r.name()
		switch {
		case sign == 0:
			return "a register, PA, store or load, and : or ="
		case string(name) == "expand_insn": // what a compressed instruction stands for
			r.at = len(r.line)
			return ""
		case len(r.line)-r.at < len("0x0") || r.line[r.at] != '0' || r.line[r.at+1] != 'x':
			return "0x and a value"
		}
		r.at += len("0x")
		unwritten := r.at // bytes that a store leaves as they are
		for unwritten < len(r.line) && r.line[unwritten] == '?' {
			unwritten++
		}
		r.at = unwritten
		value, digits := r.hex()
		if len(digits) == 0 || r.at < len(r.line) && r.line[r.at] != ' ' {
			return "hexadecimal digits and a blank or the end of the line"
		}
		switch string(name) {
		case "PA":
			addr, addrDigits = value, digits
		case "store", "load":
			if len(addrDigits) == 0 {
				continue // what memory held before a store
			}
			m := b.Add(itrace.Memory)
			m.Time = r.time
			m.Addr, m.AddrDigits, m.Write, m.Size = addr, addrDigits, name[0] == 's', riscv.AccessSize(opcode)
			m.Value, m.Digits = accessed(value, digits, m.Size)
			addrDigits = nil
		default:
			kind := itrace.Register
			if sign == ':' {
				kind = itrace.RegisterRead
			}
			x := b.Add(kind)
			x.Time, x.Name, x.Value, x.Digits = r.time, name, value, digits
			x.Zero = kind == itrace.Register && (string(name) == zero || string(name) == zeroABI)
		}
	}
}

var (
	zero    = string(riscv.Name('x', 0))
	zeroABI = riscv.Zero
)

// accessed is what of data belongs to an access of so many bytes; the rest is an extension of it, or zeros.
func accessed(value uint64, digits []byte, size uint32) (uint64, []byte) {
	if n := 2 * int(size); n > 0 && n < len(digits) {
		digits = digits[len(digits)-n:]
		value &= 1<<(4*n) - 1
	}
	return value, digits
}

// name reads a word up to : or =, which is 0 if there is neither.
func (r *reader) name() (name []byte, sign byte) {
	start := r.at
	for end := start; end < len(r.line) && r.line[end] > ' '; end++ {
		if c := r.line[end]; (c == ':' || c == '=') && end > start {
			r.at = end + 1
			return r.line[start:end], c
		}
	}
	return nil, 0
}
