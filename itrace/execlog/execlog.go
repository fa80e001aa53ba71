// Package execlog is what QEMU's plugin execlog writes, of all versions from 6.0 on, a line for each instruction of any processor:
//
//	CPU ", 0x" PC ", 0x" OPCODE ', "' DISASSEMBLY '"' { ", load" ACCESS | ", store" ACCESS } { ", " REGISTER " -> 0x" HEX }
//	ACCESS = ", 0x" ADDRESS [ ", " DEVICE ]
//
//	0, 0x100c, 0x202a583, "0202a583          lw                      a1,32(t0)", load, 0x08001020, RAM
//	0, 0x80000080, 0x1117, "auipc                   sp,1                    # 0x80001080", sp -> 0x80001080
//	0, 0x401044, 0x53, "", store, 0x00402240, rsp -> 0x0000000000402240
//
// The number of the processor is decimal, all others are hexadecimal. The disassembly may be empty, and of RISC-V up to 8.1 begins
// with the opcode in all its digits, which is then the opcode: the other one is the first four bytes, as many as they may be, and
// had the beginning of the next instruction above one of two bytes until 9.0. Where there is no disassembly it cannot be told how
// much of the opcode that is, and it is not compared. Nor is it from the first % in a disassembly on, which the names of registers
// begin with on x86, where instructions have any length. Of a big-endian processor the opcode has its bytes in reverse order on the
// usual machines, which nothing tells: the option opcode=none has none compared.
//
// An access tells neither size nor data. With a device behind it, as under qemu-system, the address is the physical one. Registers
// are those whose value has changed since the last line of the processor, as far as the plugin was asked for them (since 9.0):
// whether it was is known from the first line with one on. They have the names that GDB gives them. That of the pc is left out, as
// it is the address of the next instruction. An instruction that has an exception has a line like any other; interrupts are not
// told.
package execlog

import (
	"bytes"
	"math"

	"tracewell/arch"
	"tracewell/itrace"
	"tracewell/itrace/internal/scan"
)

// Dialect is the dialect of execlog.
var Dialect = &itrace.Dialect{
	Name:  "execlog",
	Title: "QEMU's execlog",
	Options: []itrace.Option{{Name: "opcode", Values: []string{"number", "none"},
		Help: "What the opcode is: a number to compare, or none, as of big-endian processors."}},
	New: func(s itrace.Settings) itrace.Decoder { return itrace.EachLine(&reader{none: s["opcode"] == "none"}) },
	Why: why,
}

func why(head []byte) string {
	if bytes.Contains(head, arrow) {
		return "a processor, an address, an opcode and a disassembly between commas, with changes of registers, as since QEMU 9.0"
	}
	return "a processor, an address, an opcode and a disassembly between commas"
}

var (
	arrow = []byte(" -> 0x")
	load  = []byte("load")
	store = []byte("store")
)

// reader reads lines.
type reader struct {
	none      bool // the option
	registers bool // changes of registers are told
	percent   bool // there was a % in a disassembly

	line []byte
	at   int
	cpu  int32
}

// The bits of the state.
const (
	hasRegisters = 1 << iota
	hasPercent
)

// AppendState implements itrace.LineReader.
func (r *reader) AppendState(dst []byte) []byte {
	var state byte
	if r.registers {
		state |= hasRegisters
	}
	if r.percent {
		state |= hasPercent
	}
	if state == 0 {
		return dst
	}
	return append(dst, state)
}

// Restore implements itrace.LineReader.
func (r *reader) Restore(state []byte) error {
	r.registers, r.percent = false, false
	if len(state) == 0 {
		return nil
	}
	if len(state) > 1 || state[0] == 0 || state[0] > hasRegisters|hasPercent {
		return itrace.ErrState
	}
	r.registers, r.percent = state[0]&hasRegisters != 0, state[0]&hasPercent != 0
	return nil
}

// Line implements itrace.LineReader.
func (r *reader) Line(b *itrace.Batch, line []byte) *itrace.SyntaxError {
	r.line, r.at = line, 0
	i := b.Add(itrace.Instruction)
	if expected := r.instruction(i); expected != "" {
		i.Kind, i.Problem = itrace.Unknown, itrace.Mismatch(line, r.at, expected)
		return nil
	}
	if !r.registers && bytes.Contains(line[r.at:], arrow) {
		r.registers = true
	}
	i.Scope |= itrace.NoMode | itrace.NoLoaded | itrace.NoStored | itrace.OnlyChanges
	r.percent = r.percent || bytes.IndexByte(i.Disasm, '%') >= 0
	if r.percent || r.none {
		i.Scope |= itrace.NoOpcode
	}
	if !r.registers {
		i.Scope |= itrace.NoRegisters | itrace.NoSystem
	}
	for r.at < len(line) {
		if expected := r.effect(b); expected != "" {
			return itrace.Mismatch(line, r.at, expected)
		}
	}
	return nil
}

// comma goes behind a comma and a blank.
func (r *reader) comma() bool {
	if r.at+1 >= len(r.line) || r.line[r.at] != ',' || r.line[r.at+1] != ' ' {
		return false
	}
	r.at += 2
	return true
}

// hex reads 0x and hexadecimal digits.
func (r *reader) hex() (value uint64, digits []byte) {
	if r.at+2 >= len(r.line) || r.line[r.at] != '0' || r.line[r.at+1] != 'x' {
		return 0, nil
	}
	r.at += 2
	start := r.at
	r.at = scan.HexEnd(r.line, start)
	digits = r.line[start:r.at]
	return scan.Value(digits), digits
}

// instruction reads a line up to its effects, and returns what was expected where it is not as it should be.
func (r *reader) instruction(i *itrace.Record) (expected string) {
	var cpu int64
	for r.at < len(r.line) && r.line[r.at]-'0' <= 9 && cpu <= math.MaxInt32 {
		cpu = 10*cpu + int64(r.line[r.at]-'0')
		r.at++
	}
	if r.at == 0 || cpu > math.MaxInt32 || !r.comma() {
		return "the number of a processor, a comma and a blank"
	}
	r.cpu = int32(cpu)
	i.CPU = r.cpu
	if i.Addr, i.AddrDigits = r.hex(); len(i.AddrDigits) == 0 || !r.comma() {
		return "an address, a comma and a blank"
	}
	if i.Value, i.Digits = r.hex(); len(i.Digits) == 0 || !r.comma() {
		return "an opcode, a comma and a blank"
	}
	if r.at >= len(r.line) || r.line[r.at] != '"' {
		return "a disassembly in quotation marks"
	}
	end := bytes.IndexByte(r.line[r.at+1:], '"')
	if end < 0 {
		return "a quotation mark at the end of the disassembly"
	}
	start := r.at + 1
	i.Disasm = r.line[start : start+end]
	r.at = start + end + 1
	if end == 0 {
		i.Scope |= itrace.NoOpcode
		return ""
	}
	// "0202a583          lw": the opcode of four or eight digits.
	if n := itrace.WordEnd(i.Disasm, 0); n == 4 || n == 8 {
		// Mnemonics may have nothing but such digits: fadd.
		if v, ok := itrace.ParseHex(i.Disasm[:n]); ok && n < end && v == i.Value&(1<<(4*n)-1) {
			i.Value, i.Digits = scan.Value(i.Disasm[:n]), i.Disasm[:n]
			i.Disasm = bytes.TrimLeft(i.Disasm[n:], " ")
		}
	}
	return ""
}

// effect reads an access or a change of a register, with the comma in front.
func (r *reader) effect(b *itrace.Batch) (expected string) {
	if !r.comma() {
		return "a comma and a blank"
	}
	rest := r.line[r.at:]
	write := bytes.HasPrefix(rest, store)
	if !write && !bytes.HasPrefix(rest, load) || itrace.WordEnd(rest, 0) <= len(load) {
		return r.change(b)
	}
	at := r.at
	r.at += len(load)
	if write {
		r.at = at + len(store)
	}
	if !r.comma() {
		return "a comma and a blank"
	}
	addr, digits := r.hex()
	if len(digits) == 0 {
		return "an address"
	}
	m := b.Add(itrace.Memory)
	m.CPU, m.Write, m.Addr, m.AddrDigits = r.cpu, write, addr, digits
	if device := r.device(); len(device) > 0 {
		m.Phys, m.HasPhys, m.Name, m.Placed = addr, true, device, true
	}
	return ""
}

// device reads a name that is neither the beginning of another access nor of a change.
func (r *reader) device() []byte {
	at := r.at
	if !r.comma() {
		return nil
	}
	rest := r.line[r.at:]
	end := bytes.Index(rest, comma)
	if end < 0 {
		end = len(rest)
	}
	name := rest[:end]
	if string(name) == string(load) || string(name) == string(store) || bytes.Contains(name, arrow) {
		r.at = at
		return nil
	}
	r.at += end
	return name
}

var comma = []byte(", ")

// change reads "sp -> 0x80001080".
func (r *reader) change(b *itrace.Batch) (expected string) {
	start := r.at
	end := itrace.WordEnd(r.line, start)
	if !bytes.HasPrefix(r.line[end:], arrow) {
		return `load, store, or a register and "->"`
	}
	name := r.line[start:end]
	r.at = end + len(arrow) - len("0x")
	value, digits := r.hex()
	if len(digits) == 0 {
		return "the value of a register"
	}
	c := class(name)
	if c == isPC {
		return ""
	}
	x := b.Add(itrace.Register)
	x.CPU, x.Name, x.Value, x.Digits, x.System = r.cpu, name, value, digits, c == isSystem
	return ""
}

// registerClass is what registers are for.
type registerClass uint8

const (
	isSystem registerClass = iota // of control and status, and all that no program computes in
	isGeneral
	isPC
)

// classes are those of the registers of all processors by the names that GDB gives them.
var classes = func() map[string]registerClass {
	all := make(map[string]registerClass)
	for _, m := range arch.Machines() {
		for _, r := range m.Registers {
			if r.Kind == arch.Status {
				continue
			}
			all[r.Name] = isGeneral
		}
	}
	for _, m := range arch.Machines() {
		all[m.PC] = isPC
	}
	delete(all, "")
	return all
}()

func class(name []byte) registerClass { return classes[string(name)] }
