// Package tenet is the traces of Tenet, a trace explorer for IDA Pro, as tracers for Pin, QEMU, PANDA, Qiling and fuzzers write
// them, mostly of x86:
//
//	line  = entry { "," entry }
//	entry = REGISTER "=0x" HEX | ("mr" | "mw" | "mrw") "=0x" ADDR ":" BYTES
//
//	rax=0x0,rbx=0x0,rsp=0x7fffffffe760,rip=0x401000
//	rsp=0x402250,rip=0x401007
//	esp=0xcfef4,eip=0x1005f91,mr=0xcfef0:915f0001
//
// A line is written before an instruction is executed, and tells what has changed since the line before: its pc is that of the
// instruction to come, and registers and memory are effects of the instruction before, that of the line before. The first line has
// what registers held at the beginning. The last instruction has no effects, since there is no line behind it. Lines should tell
// the pc, and one without has that of the line before. Behind a line whose pc cannot be read effects are left out, since their
// instruction is not known.
//
// Names of registers are in any case, in which pc, eip and rip are the pc. 0x may be missing. BYTES are in the order of memory,
// lowest address first, any number of them; mr is a read, mw a write, and mrw both, of which the bytes are those that were
// written. There are neither opcodes nor flags. Whether accesses are told is known from the first one on.
//
// What is written has rip for the pc. An access that does not tell its data is left out, and so are the effects of the last
// instruction, which no line follows, and other processors than 0.
package tenet

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"tracewell/arch"
	"tracewell/itrace"
	"tracewell/itrace/internal/scan"
	"tracewell/itrace/internal/words"
)

// Dialect is the dialect of Tenet.
var Dialect = &itrace.Dialect{
	Name:     "tenet",
	Title:    "Tenet's trace",
	Suffixes: []string{".tenet"},
	New:      func(itrace.Settings) itrace.Decoder { return &decoder{} },
	Why:      why,
	Append:   Append,
	Groups:   true,
	Leads:    true,
	Writes:   writes,
}

func why([]byte) string { return "names and values between commas, with a pc" }

// The pc is called after the processor, or pc.
var (
	pcs = [...][]byte{[]byte("pc"), []byte(arch.ByELF(elf.EM_386, 4).PC), []byte(arch.ByELF(elf.EM_X86_64, 8).PC)}
	// written is what it is called in what is written.
	written = pcs[2]
)

// decoder is the Decoder of Tenet. Its units are lines: effects of the instruction before, and the next one.
type decoder struct {
	accesses bool // there were some
	system   bool // there were registers that no program computes in
	lost     bool // the pc of the line before could not be read
	pc       []byte

	room []byte // digits that are not in the text; it is used again by the next Decode
}

// entry is a part of a line.
type entry struct {
	kind   kind
	system bool   // no program computes in the register
	name   []byte // of a register
	addr   uint64
	digits []byte // of a value, or of an address
	data   []byte // of an access, in the order of memory

	bad      int // where something else was expected
	expected string
}

// kind is what an entry tells.
type kind uint8

const (
	isRegister kind = iota
	isPC
	isRead
	isWrite
	isBoth
)

// The bits of the first byte of the state.
const (
	hasAccesses = 1 << iota
	hasSystem
	hasLost
)

// AppendState implements itrace.Decoder.
func (d *decoder) AppendState(dst []byte) []byte {
	flags := uint64(0)
	for bit, is := range [...]bool{d.accesses, d.system, d.lost} {
		if is {
			flags |= 1 << bit
		}
	}
	if flags == 0 && len(d.pc) == 0 {
		return dst
	}
	return append(binary.AppendUvarint(dst, flags), d.pc...)
}

// Restore implements itrace.Decoder.
func (d *decoder) Restore(state []byte) error {
	*d = decoder{room: d.room, pc: d.pc[:0]}
	if len(state) == 0 {
		return nil
	}
	flags := state[0]
	if _, ok := itrace.ParseHex(state[1:]); len(state) > 1 && !ok || flags > hasAccesses|hasSystem|hasLost {
		return itrace.ErrState
	}
	d.accesses, d.system, d.lost = flags&hasAccesses != 0, flags&hasSystem != 0, flags&hasLost != 0
	d.pc = append(d.pc, state[1:]...)
	return nil
}

// Decode implements itrace.Decoder. Whether there is a line behind one is to be known, since without there are no effects.
func (d *decoder) Decode(b *itrace.Batch, _ []byte, last bool) (n int) {
	d.room = d.room[:0]
	for !b.Full() {
		line, next := b.Line(n, last)
		if next < 0 {
			break
		}
		if len(line) > 0 {
			behind, after := b.Peek(next, last)
			if after < 0 && !last {
				break
			}
			d.accesses = d.accesses || bytes.IndexByte(behind, ':') >= 0
			d.line(b, line, after < 0)
		}
		n = next
	}
	return n
}

// line adds the effects of the instruction before, and the instruction. The effects are taken back if it turns out that the line
// says nothing of where it is.
func (d *decoder) line(b *itrace.Batch, line []byte, final bool) {
	var problem *itrace.SyntaxError
	var e entry
	var pc uint64
	var digits []byte // of it
	added, accesses, system := b.Len(), d.accesses, d.system
	some, none := false, false
	for at := 0; at <= len(line); {
		switch end := e.parse(line, at); {
		case end < 0:
			problem = earlier(problem, line, e.bad, e.expected)
			none = none || e.kind == isPC
			if end = bytes.IndexByte(line[at:], ','); end < 0 {
				end = len(line) - at
			}
			at += end + 1
		case e.kind != isPC:
			if some = true; !d.lost {
				d.effect(b, &e)
			}
			at = end + 1
		case digits != nil:
			problem = earlier(problem, line, at, "no more than one pc")
			at = end + 1
		default:
			some, pc, digits = true, e.addr, e.digits
			at = end + 1
		}
	}
	switch {
	case digits != nil:
		d.pc = append(d.pc[:0], digits...)
	case none || some && len(d.pc) == 0: // nor is the pc that of the line before
		d.lost, d.pc = true, d.pc[:0]
		fallthrough
	case !some: // a line of something else
		b.Truncate(added)
		d.accesses, d.system = accesses, system
		b.Fail(earlier(problem, line, 0, "names and values with commas between, with a pc"))
		return
	}
	d.lost = false
	r := b.Add(itrace.Instruction)
	if r.Addr, r.AddrDigits = pc, digits; digits == nil {
		r.Addr, _ = itrace.ParseHex(d.pc)
		r.AddrDigits = d.keep(d.pc)
	}
	r.Scope = d.scope(final)
	if problem != nil {
		b.Fail(problem)
	}
}

// earlier is the first of two problems.
func earlier(problem *itrace.SyntaxError, line []byte, at int, expected string) *itrace.SyntaxError {
	if problem != nil {
		return problem
	}
	return itrace.Mismatch(line, at, expected)
}

// scope is what is told of an instruction.
func (d *decoder) scope(final bool) itrace.Scope {
	s := itrace.NoOpcode | itrace.NoMode
	if final {
		return s | itrace.NoEffects
	}
	s |= itrace.OnlyChanges
	if !d.system {
		s |= itrace.NoSystem
	}
	if !d.accesses {
		s |= itrace.NoLoads | itrace.NoLoaded | itrace.NoStores | itrace.NoStored
	}
	return s
}

// parse reads the entry that begins at a place of a line, and returns where it ends, negative if it is not as it should be.
func (e *entry) parse(line []byte, at int) (end int) {
	e.kind = isRegister
	for at < len(line) && line[at] == ' ' {
		at++
	}
	means, width, known := names.FindUntil(line[at:], '=')
	sign := at + width
	if !known {
		for sign = at; sign < len(line) && inName[line[sign]]; {
			sign++
		}
		if sign == at || sign == len(line) || line[sign] != '=' {
			return e.fail(at, "a name and =")
		}
		means = meaningOf(line[at:sign])
	}
	e.name, e.kind, e.system = line[at:sign], means.kind, means.system
	at = behindPrefix(line, sign+1)
	e.addr, end = scan.HexAt(line, at)
	e.digits = line[at:end]
	wide := false // 64 bits do not hold it
	if len(e.digits) > 16 {
		_, ok := itrace.ParseHex(e.digits)
		wide = !ok
	}
	if e.kind < isRead {
		if end == at || end < len(line) && line[end] != ',' || e.kind == isPC && wide {
			return e.fail(at, "a value in hexadecimal, and a comma or the end of the line")
		}
		return end
	}
	if end == at || wide || end == len(line) || line[end] != ':' {
		return e.fail(at, "an address in hexadecimal and a colon")
	}
	from := end + 1
	end = scan.HexEnd(line, from)
	if e.data = line[from:end]; len(e.data) == 0 || len(e.data)%2 != 0 || end < len(line) && line[end] != ',' {
		return e.fail(from, "bytes in hexadecimal, and a comma or the end of the line")
	}
	return end
}

// fail notes that what begins at a place is not what was expected.
func (e *entry) fail(at int, expected string) (end int) {
	e.bad, e.expected = at, expected
	return -1
}

// behindPrefix goes behind 0x.
func behindPrefix(text []byte, at int) int {
	if at+1 < len(text) && text[at] == '0' && text[at+1]|0x20 == 'x' {
		return at + len("0x")
	}
	return at
}

// inName has the bytes that names of registers are made of: letters, digits and underscores.
var inName = func() (is [256]bool) {
	for _, c := range "0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		is[c] = true
	}
	return is
}()

// isName reports whether a text can be the name of a register.
func isName(text []byte) bool {
	for _, c := range text {
		if !inName[c] {
			return false
		}
	}
	return len(text) > 0
}

// kindOf is what a name is of.
func kindOf(name []byte) kind {
	if len(name) > 3 {
		return isRegister
	}
	var room [3]byte
	for i, c := range name {
		if room[i] = c; c >= 'A' && c <= 'Z' {
			room[i] |= 0x20
		}
	}
	lower := room[:len(name)]
	switch string(lower) {
	case "mr":
		return isRead
	case "mw":
		return isWrite
	case "mrw":
		return isBoth
	}
	for i := range pcs {
		if string(lower) == string(pcs[i]) {
			return isPC
		}
	}
	return isRegister
}

// effect adds what an entry tells.
func (d *decoder) effect(b *itrace.Batch, e *entry) {
	switch e.kind {
	case isPC:
	case isRegister:
		r := b.Add(itrace.Register)
		r.Name, r.Value, r.Digits, r.System = e.name, e.addr, e.digits, e.system
		d.system = d.system || r.System
	default:
		d.accesses = true
		size := uint32(len(e.data) / 2)
		if e.kind != isWrite {
			r := b.Add(itrace.Memory)
			r.Addr, r.AddrDigits, r.Size = e.addr, e.digits, size
			if e.kind == isRead {
				d.bytes(r, e.data)
			} else {
				from := len(d.room)
				for range e.data {
					d.room = append(d.room, 'x')
				}
				r.Digits, r.Wild = d.room[from:len(d.room):len(d.room)], true
			}
		}
		if e.kind != isRead {
			r := b.Add(itrace.Memory)
			r.Write, r.Addr, r.AddrDigits, r.Size = true, e.addr, e.digits, size
			d.bytes(r, e.data)
		}
	}
}

// bytes sets the data of a record by bytes in the order of memory.
func (d *decoder) bytes(r *itrace.Record, data []byte) {
	from := len(d.room)
	for i := len(data) - 2; i >= 0; i -= 2 {
		d.room = append(d.room, data[i], data[i+1])
	}
	r.Digits = d.room[from:len(d.room):len(d.room)]
	r.Value = scan.Value(r.Digits)
}

// keep returns a copy of digits.
func (d *decoder) keep(digits []byte) []byte {
	from := len(d.room)
	d.room = append(d.room, digits...)
	return d.room[from:len(d.room):len(d.room)]
}

// system are the registers of all machines that no program computes in, by their names.
var system = func() map[string]bool {
	all := make(map[string]bool)
	for _, m := range arch.Machines() {
		for _, r := range m.Registers {
			all[r.Name] = r.Kind == arch.Status
		}
	}
	return all
}()

// isSystem reports whether a register is one of control and status.
func isSystem(name []byte) bool {
	var room [16]byte
	if len(name) > len(room) {
		return true
	}
	for i, c := range name {
		if room[i] = c; c >= 'A' && c <= 'Z' {
			room[i] |= 0x20
		}
	}
	is, known := system[string(room[:len(name)])]
	return is || !known
}

// meaning is what a name says of its entry.
type meaning struct {
	kind   kind
	system bool
}

func meaningOf(name []byte) (m meaning) {
	if m.kind = kindOf(name); m.kind == isRegister {
		m.system = isSystem(name)
	}
	return m
}

// names are the usual ones: those of registers and accesses, each in lower and in upper case.
var names = func() *words.Table[meaning] {
	lower := []string{"mr", "mw", "mrw"}
	for i := range pcs {
		lower = append(lower, string(pcs[i]))
	}
	lower = slices.AppendSeq(lower, maps.Keys(system))
	all := make(map[string]meaning)
	for _, name := range lower {
		if isName([]byte(name)) {
			m := meaningOf([]byte(name))
			all[strings.ToLower(name)], all[strings.ToUpper(name)] = m, m
		}
	}
	return words.New(all)
}()
