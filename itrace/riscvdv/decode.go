package riscvdv

import (
	"bytes"
	"slices"

	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
	"tracewell/itrace/internal/scan"
)

// Dialect is the dialect of riscv-dv.
var Dialect = &itrace.Dialect{
	Name:   "riscv-dv",
	Title:  "riscv-dv's CSV",
	New:    func(itrace.Settings) itrace.Decoder { return &decoder{columns: usual} },
	Why:    why,
	Header: header + "\n",
	Append: Append,
	Groups: true,
	Writes: writes,
}

func why(head []byte) string {
	d := decoder{columns: usual}
	var last, r row
	lacks := false
	for line := range bytes.Lines(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))) {
		line = bytes.TrimRight(line, "\r\n")
		if problem := d.row(line, &r); problem != nil || d.isHeader(line) {
			continue
		}
		lacks = lacks || last.lacks(r.pc, d.full)
		d.full, last = d.full || r.writesNothing(), r
	}
	if lacks {
		return "the columns of riscv-dv; rows are only of instructions that write a register, so it is incomplete"
	}
	return "the columns of riscv-dv, without accesses to memory and without most registers of control and status"
}

// column is what a column is.
type column uint8

const (
	isPad column = iota
	isPC
	isBinary
	isRegisters
	isRegister // the name of one
	isValue    // of it
	isSystem
	isMode
	isText
)

// columnNames are the names of columns, new and old.
var columnNames = map[string]column{
	"pc": isPC, "addr": isPC, "binary": isBinary, "gpr": isRegisters, "rd": isRegister, "rd_val": isValue, "csr": isSystem,
	"mode": isMode, "instr_str": isText, "str": isText,
}

// mostColumns is how many columns are looked at. There were 33 in 2019.
const mostColumns = 40

const header = "pc,instr,gpr,csr,binary,mode,instr_str,operand,pad"

// usual are the columns of a file without a header.
var usual = func() []column {
	columns, _ := columnsOf([]byte(header))
	return columns
}()

// columnsOf reads a header. It is one if there are columns for address and opcode.
func columnsOf(line []byte) (columns []column, ok bool) {
	for name := range bytes.SplitSeq(line, []byte{','}) {
		if len(columns) == mostColumns {
			break
		}
		columns = append(columns, columnNames[string(bytes.TrimSpace(name))])
	}
	if slices.Contains(columns, isRegister) {
		for i, c := range columns {
			if c == isSystem { // the name of an operand
				columns[i] = isPad
			}
		}
	}
	return columns, slices.Contains(columns, isPC) && slices.Contains(columns, isBinary)
}

// decoder is the Decoder of riscv-dv's CSV. Its units are rows.
type decoder struct {
	columns []column
	full    bool // there was a row of an instruction that writes nothing
	fields  fields
	rows    [2]row // the one at hand and the one behind it
}

// AppendState implements itrace.Decoder.
func (d *decoder) AppendState(dst []byte) []byte {
	if slices.Equal(d.columns, usual) && !d.full {
		return dst
	}
	full := byte(0)
	if d.full {
		full = 1
	}
	dst = append(dst, full)
	for _, c := range d.columns {
		dst = append(dst, byte(c))
	}
	return dst
}

// Restore implements itrace.Decoder.
func (d *decoder) Restore(state []byte) error {
	d.columns, d.full = usual, false
	if len(state) == 0 {
		return nil
	}
	if state[0] > 1 || len(state) > 1+mostColumns {
		return itrace.ErrState
	}
	columns := make([]column, 0, mostColumns)
	for _, c := range state[1:] {
		if column(c) > isText {
			return itrace.ErrState
		}
		columns = append(columns, column(c))
	}
	d.full, d.columns = state[0] == 1, columns
	return nil
}

// Decode implements itrace.Decoder. A row is looked at together with the next, which tells whether instructions are missing
// between.
func (d *decoder) Decode(b *itrace.Batch, _ []byte, last bool) (n int) {
	r, following := &d.rows[0], &d.rows[1]
	var problem *itrace.SyntaxError
	read := false // the line is in r
	line, next := b.Line(n, last)
	for next >= 0 && !b.Full() {
		if len(line) > 0 && !read {
			problem = d.row(line, r)
		}
		read = false
		switch {
		case len(line) == 0:
		case problem == nil:
			full, added := d.full, b.Len()
			i := d.add(b, line, r) // the first of its unit, which stays where it is
			at := next
			if line, next = b.Line(at, last); len(line) == 0 {
				line, at, next = behindBlanks(b, at, next, last)
			}
			if next < 0 && !last {
				d.full = full
				b.Truncate(added)
				return n
			}
			if n = at; next >= 0 {
				problem, read = d.row(line, following), true
				if following.known && r.lacks(following.pc, d.full) {
					i.Scope |= itrace.Gaps
				}
				r, following = following, r
			}
			continue
		case d.isHeader(line):
			b.Add(itrace.Remark)
		default:
			b.Fail(problem)
		}
		n = next
		line, next = b.Line(n, last)
	}
	return n
}

// behindBlanks goes behind blank lines.
func behindBlanks(b *itrace.Batch, at, next int, last bool) (line []byte, to, after int) {
	for len(line) == 0 && next >= 0 {
		at = next
		line, next = b.Line(at, last)
	}
	return line, at, next
}

// isHeader reports whether a line is a header, and takes it.
func (d *decoder) isHeader(line []byte) bool {
	if !bytes.Contains(line, []byte(",binary,")) {
		return false
	}
	columns, ok := columnsOf(line)
	if ok && !slices.Equal(columns, d.columns) {
		d.columns = columns
	}
	return ok
}

// add adds the records of a row, and returns the instruction.
func (d *decoder) add(b *itrace.Batch, line []byte, r *row) *itrace.Record {
	d.full = d.full || r.writesNothing()
	i := b.Add(itrace.Instruction)
	i.Addr, i.AddrDigits, i.Value, i.Digits, i.Disasm = r.pc, r.pcDigits, r.opcode, r.digits, r.text
	i.Scope = itrace.NoSystem | itrace.NoLoads | itrace.NoLoaded | itrace.NoStores | itrace.NoStored
	if i.Mode = r.mode; len(i.Mode) == 0 {
		i.Scope |= itrace.NoMode
	}
	if bytes.HasPrefix(r.system, memory) {
		i.Scope &^= r.access()
	}
	if problem := r.effects(b, line); problem != nil {
		b.Fail(problem)
	}
	return i
}

// access is what a row tells of accesses that has the address of one: that of a store-conditional is written, all others, atomic
// ones included, are read first.
func (r *row) access() itrace.Scope {
	if r.isConditional() {
		return itrace.NoStores
	}
	return itrace.NoLoads
}

// isConditional reports whether the instruction is a store-conditional.
func (r *row) isConditional() bool {
	const atomic, conditional = 0x2f, 3
	return r.opcode&0x7f == atomic && r.opcode>>27 == conditional
}

var memory = []byte("mem:")

// effects adds what an instruction wrote.
func (r *row) effects(b *itrace.Batch, line []byte) *itrace.SyntaxError {
	if len(r.register) > 0 {
		value, wild, ok := scan.ParseDigits(r.value)
		if !ok || wild {
			return mismatch(line, r.value, "a value in hexadecimal")
		}
		if !isWord(r.register) {
			return mismatch(line, r.register, "a register")
		}
		addRegister(b, r.register, r.value, value)
	}
	for _, part := range [2]struct {
		all    []byte
		system bool
	}{{r.registers, false}, {r.system, true}} {
		for rest := part.all; len(rest) > 0; {
			one, after, _ := scan.Cut(rest, ';')
			name, digits, _ := scan.Cut(one, ':')
			value, wild, ok := scan.ParseDigits(digits)
			switch {
			case !isWord(name) || !ok || wild:
				return mismatch(line, rest, "a register, a colon and a value in hexadecimal")
			case !part.system:
				addRegister(b, name, digits, value)
			case string(name) == "mem":
				m := b.Add(itrace.Memory)
				m.Addr, m.AddrDigits, m.Size, m.Write = value, digits, riscv.AccessSize(r.opcode), r.isConditional()
			default:
				addSystem(b, name, digits, value)
			}
			rest = after
		}
	}
	return nil
}

// mismatch points at a part of a line.
func mismatch(line, part []byte, expected string) *itrace.SyntaxError {
	return itrace.Mismatch(line, cap(line)-cap(part), expected)
}

func addRegister(b *itrace.Batch, name, digits []byte, value uint64) {
	x := b.Add(itrace.Register)
	x.Name, x.Value, x.Digits = name, value, digits
	x.Zero = riscv.ReadsZero(name)
}

// addSystem adds a register of control and status, which Spike calls c768_mstatus.
func addSystem(b *itrace.Batch, name, digits []byte, value uint64) {
	x := b.Add(itrace.Register)
	x.Name, x.Value, x.Digits, x.System = name, value, digits, true
	if number, rest, ok := bytes.Cut(name, []byte{'_'}); ok && number[0] == 'c' && len(rest) > 0 {
		if n, ok := itrace.ParseDecimal(number[1:]); ok && n <= 0xfff {
			x.Name, x.Number, x.Numbered = rest, uint16(n), true
		}
	}
}
