// Package ovpsim is the traces of simulators that use the models of Open Virtual Platforms, as riscvOVPsim, riscvOVPsimPlus and
// Imperas' own, with --trace and the options below: a line for each instruction, and with --tracechange one for each register that
// has another value then.
//
//	"Info " [ COUNT ": " ] "'" CPU "', 0x" PC [ "(" symbol ")" ] ": " [ MODE " " ] OPCODE " " text
//	[ "Info" ] sp REG " " OLD " -> " NEW
//
//	Info 4509: 'riscvOVPsim/cpu', 0x000000007ff034cc(text1+3c): Machine 0056d493 srli    s1,a3,0x5
//	Info   s1 fffffffffffff890 -> 0000000000000000
//
// COUNT is the number of the instruction, with --traceshowicount. MODE is Machine, Supervisor, User or another word, with
// --tracemode. Numbers but COUNT are hexadecimal without 0x, but for the pc. Of the names of processors the number at the end
// tells which it is. Registers have the names of the calling convention, and those of control and status are told as well. A
// register that was written with the value that it had has no line. Accesses to memory are not told; lines of --tracemem are
// remarks.
//
// An instruction that had an exception has a line like any other. That it had one is known if mepc or sepc becomes its address,
// and it is no instruction that writes such registers; what is told of control and status then is not compared, as other producers
// do not tell what exceptions write. Other lines that begin with Info, Warning or Error, and those about the simulator, are
// remarks.
package ovpsim

import (
	"bytes"
	"encoding/binary"
	"math"

	"tracewell/arch"
	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
	"tracewell/itrace/internal/scan"
	"tracewell/itrace/internal/words"
)

// Dialect is the dialect of OVPsim.
var Dialect = &itrace.Dialect{
	Name:  "ovpsim",
	Title: "OVPsim's trace",
	New:   func(itrace.Settings) itrace.Decoder { return &decoder{} },
	Why:   why,
}

func why(head []byte) string {
	if bytes.Contains(head, arrow) {
		return "lines of Info with a processor and an address, with changes of registers"
	}
	return "lines of Info with a processor and an address, without changes of registers"
}

// decoder is the Decoder of OVPsim. Its units are an instruction with its changes, and any other line.
type decoder struct {
	changes bool  // there were changes
	cpu     int32 // of the latest instruction
}

// AppendState implements itrace.Decoder.
func (d *decoder) AppendState(dst []byte) []byte {
	if !d.changes && d.cpu == 0 {
		return dst
	}
	changes := byte(0)
	if d.changes {
		changes = 1
	}
	return binary.AppendUvarint(append(dst, changes), uint64(d.cpu))
}

// Restore implements itrace.Decoder.
func (d *decoder) Restore(state []byte) error {
	*d = decoder{}
	if len(state) == 0 {
		return nil
	}
	cpu, n := binary.Uvarint(state[1:])
	if state[0] > 1 || n <= 0 || n+1 != len(state) || cpu > math.MaxInt32 {
		return itrace.ErrState
	}
	*d = decoder{changes: state[0] == 1, cpu: int32(cpu)}
	return nil
}

const info = "Info"

var (
	arrow   = []byte(" -> ")
	warning = []byte("Warning")
	fault   = []byte("Error")
	makers  = [][]byte{[]byte("OVPsim"), []byte("OVPworld"), []byte("IMPERAS"), []byte("Imperas")}
)

// Decode implements itrace.Decoder.
func (d *decoder) Decode(b *itrace.Batch, _ []byte, last bool) (n int) {
	for !b.Full() {
		line, next := b.Line(n, last)
		switch {
		case next < 0:
			return n
		case len(line) == 0:
		case isInstruction(line):
			if next = d.unit(b, line, next, last); next < 0 {
				return n
			}
		default:
			d.other(b, line)
		}
		n = next
	}
	return n
}

// isInstruction reports whether a line begins as that of an instruction does: with a number or a quotation mark behind Info.
func isInstruction(line []byte) bool {
	const next = len(info) + 1
	return len(line) > next && string(line[:next]) == info+" " && (line[next] == '\'' || line[next]-'0' <= 9)
}

// other reads a line that is none of an instruction.
func (d *decoder) other(b *itrace.Batch, line []byte) {
	var c change
	switch isChange := c.read(line); {
	case isChange && c.problem != nil:
		b.Fail(c.problem)
	case isChange:
		d.changes = true
		c.add(b, d.cpu)
	case isRemark(line):
		b.Add(itrace.Remark)
	default:
		b.Fail(itrace.Mismatch(line, 0, `Info, a processor and an address, or a register and "->"`))
	}
}

// isRemark reports whether a line is a message of the simulator.
func isRemark(line []byte) bool {
	for _, name := range makers {
		if bytes.Contains(line, name) {
			return true
		}
	}
	return bytes.HasPrefix(line, []byte(info)) || bytes.HasPrefix(line, warning) || bytes.HasPrefix(line, fault)
}

// scope is what is told of every instruction.
const scope = itrace.NoLoads | itrace.NoLoaded | itrace.NoStores | itrace.NoStored | itrace.OnlyChanges

// unit adds an instruction and its changes, and returns where the next unit begins, negative if that is not certain yet. What the
// changes tell of the instruction is set at the end.
func (d *decoder) unit(b *itrace.Batch, line []byte, next int, last bool) int {
	added, before := b.Len(), *d
	r := b.Add(itrace.Instruction)
	if problem := instruction(line, r); problem != nil {
		r.Kind, r.Problem = itrace.Unknown, problem
		return next
	}
	pc, opcode, trapped := r.Addr, r.Value, false
	d.cpu = r.CPU
	for range mostChanges {
		behind, after := b.Peek(next, last)
		if after < 0 && !last {
			b.Truncate(added)
			*d = before
			return -1
		}
		var c change
		if after < 0 || len(behind) == 0 || !c.read(behind) || c.problem != nil {
			break
		}
		b.Line(next, last)
		c.add(b, d.cpu)
		d.changes = true
		trapped = trapped || c.saves(pc, opcode)
		next = after
	}
	r = b.Record(added)
	r.Trapped, r.Scope = trapped, scope
	if len(r.Mode) == 0 {
		r.Scope |= itrace.NoMode
	}
	if !d.changes {
		r.Scope |= itrace.NoRegisters | itrace.NoSystem
	}
	if trapped {
		r.Scope |= itrace.NoSystem | itrace.TellsTrapped
	}
	return next
}

// mostChanges is more than an instruction can have.
const mostChanges = 1 << 10

// modes are the words for privilege.
var modes = words.New(map[string][]byte{"Machine": []byte("M"), "Supervisor": []byte("S"), "User": []byte("U")})

// instruction reads the line of an instruction.
func instruction(line []byte, r *itrace.Record) *itrace.SyntaxError {
	l := scan.Line{Text: line, At: len(info)}
	l.Expect(" ", "a blank")
	if l.Peek() != '\'' {
		r.ID = l.Decimal("the number of an instruction, or a processor in quotation marks")
		l.Expect(": ", "a colon and a blank")
	}
	l.Expect("'", "a processor in quotation marks")
	quote := bytes.IndexByte(l.Rest(), '\'')
	if quote < 0 {
		l.Fail(l.At, "a processor in quotation marks")
		return l.Problem
	}
	r.CPU = number(l.Rest()[:quote])
	l.At += quote
	l.Expect("', ", "a comma and a blank")
	r.Addr, r.AddrDigits = l.Address("0x", "0x and an address")
	if l.Accept("(") {
		end := bytes.Index(l.Rest(), []byte("): "))
		if end < 0 {
			l.Fail(l.At, `a symbol and "):"`)
			return l.Problem
		}
		l.At += end + len(")")
	}
	l.Expect(": ", `":" and a blank`)
	l.Blanks()
	start := l.At
	const short, long = 4, 8
	word := l.Word("a mode, or an opcode in hexadecimal")
	if (len(word) == short || len(word) == long) && scan.HexEnd(word, 0) == len(word) {
		l.At = start
	} else {
		r.Mode = word
		if mode, ok := modes.Find(word); ok {
			r.Mode = mode
		}
		l.Blanks()
	}
	r.Value, r.Digits = l.Hex("a mode, or an opcode in hexadecimal")
	l.End()
	l.Blanks()
	r.Disasm = l.Rest()
	return l.Problem
}

// number is that at the end of the name of a processor, 0 if there is none.
func number(name []byte) int32 {
	start := len(name)
	for start > 0 && name[start-1]-'0' <= 9 {
		start--
	}
	if n, ok := itrace.ParseDecimal(name[start:]); ok && n <= math.MaxInt32 {
		return int32(n)
	}
	return 0
}

// change is a line of a register that has another value.
type change struct {
	name    []byte
	value   uint64
	digits  []byte
	problem *itrace.SyntaxError
}

// read reads "Info   s1 fffffffffffff890 -> 0000000000000000", and reports whether the line has an arrow.
func (c *change) read(line []byte) bool {
	if isInstruction(line) || bytes.IndexByte(line, '>') < 0 {
		return false
	}
	l := scan.Line{Text: line}
	l.Accept(info)
	l.Blanks()
	c.name = l.Word("a register")
	l.Expect(" ", "a blank")
	l.Blanks()
	l.Hex("a value in hexadecimal")
	l.Expect(" -> ", `"->" between blanks`)
	c.value, c.digits = l.Hex("a value in hexadecimal")
	if l.Problem == nil && !l.Done() {
		l.Fail(l.At, "the end of the line")
	}
	c.problem = l.Problem
	return c.problem == nil || bytes.Contains(line, arrow)
}

// add adds the write of the register.
func (c *change) add(b *itrace.Batch, cpu int32) {
	x := b.Add(itrace.Register)
	_, computes := general.Find(c.name)
	x.CPU, x.Name, x.Value, x.Digits, x.System = cpu, c.name, c.value, c.digits, !computes
}

// general has the registers that programs compute in, of all processors.
var general = func() *words.Table[bool] {
	all := make(map[string]bool)
	for _, m := range arch.Machines() {
		for _, r := range m.Registers {
			if r.Kind != arch.Status {
				all[r.Name] = true
			}
		}
	}
	delete(all, "")
	for _, class := range []byte("xfv") {
		for n := range uint64(32) {
			name := riscv.Name(class, n)
			register, _ := riscv.Number(name)
			all[string(name)], all[string(riscv.ConventionName(register))] = true, true
		}
	}
	return words.New(all)
}()

// The numbers of the registers that hold the address of an instruction that had an exception.
const (
	sepc = 0x141
	mepc = 0x341
)

// saves reports whether the change is what an exception of an instruction makes, by its address and opcode. It may be what an
// instruction does that writes the register.
func (c *change) saves(pc, opcode uint64) bool {
	if c.value != pc {
		return false
	}
	n, ok := riscv.SystemNumber(c.name)
	return ok && (n == mepc || n == sepc) && !riscv.WritesSystem(opcode, n)
}
