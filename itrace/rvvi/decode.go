package rvvi

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
)

// Dialect is the dialect of RVVI-TEXT.
var Dialect = &itrace.Dialect{
	Name:     "rvvi",
	Title:    "RVVI-TEXT",
	Suffixes: []string{".rvvi"},
	Options: []itrace.Option{{Name: "writes", Help: "Which writes of registers are told: all, or only those that change the value.",
		Values: []string{"all", "changes"}}},
	New: func(s itrace.Settings) itrace.Decoder { return &decoder{setting: s["writes"]} },
	Why: why,
	Header: "VERSION 0 4\n" +
		"VENDOR Tracewell 0 1\n",
	Append: Append,
	Groups: true,
	Writes: writes,
}

// decoder is the Decoder of RVVI-TEXT. Its units are logical lines.
type decoder struct {
	setting string // of the option writes

	state
	harts []hart

	// Room for the logical line at hand.
	tokens   []token
	comments []comment
	elements []element
	wrong    []problem
	line     int // of what records are added
	last     bool
}

// state is what later lines depend on, but for the harts.
type state struct {
	accesses, data bool // there were MEM; LOAD or STORE
	changes        bool // the vendor is one whose models write changes
	timed          bool // there was TIME
	hart           int32
	scale          uint8 // index in scales
	time, cycle    uint64
}

// hart is the privilege of a hart, which holds until it is told anew.
type hart struct {
	number    int32
	privilege byte
}

// scales are the units of TIME that there are; the first is what TIME is in if nothing tells.
var scales = func() (units [6][]byte) {
	for i, prefix := range []string{"p", "", "m", "u", "n", "f"} {
		units[i] = []byte(prefix + "s")
	}
	return units
}()

// The words for modes that a privilege alone does not tell.
var (
	inDebug   = []byte("D")
	inVirtual = [2][]byte{[]byte("VU"), []byte("VS")}
)

// privilege returns where that of a hart is, nil if it has not been told.
func (d *decoder) privilege(number int32) *byte {
	for i := range d.harts {
		if d.harts[i].number == number {
			return &d.harts[i].privilege
		}
	}
	return nil
}

// Decode implements itrace.Decoder.
func (d *decoder) Decode(b *itrace.Batch, _ []byte, last bool) (n int) {
	d.last = last
	for !b.Full() {
		d.tokens, d.comments, d.elements, d.wrong = d.tokens[:0], d.comments[:0], d.elements[:0], d.wrong[:0]
		end, some := n, false
		for more := true; more; {
			line, next := b.Line(end, last)
			if next < 0 {
				if end == n || !last {
					return n
				}
				break // the end is behind a line that was to go on, or before one that is too long
			}
			more = d.scan(line, int32(end))
			d.line = end
			some = some || len(line) > 0
			end = next
		}
		if some {
			d.unit(b, n)
		}
		n = end
	}
	return n
}

// unit adds the records of a logical line.
func (d *decoder) unit(b *itrace.Batch, begin int) {
	before := b.Len()
	d.place(b, begin)
	d.parse()
	for i := range d.elements {
		d.note(&d.elements[i])
	}
	for rest := d.elements; len(rest) > 0; {
		n := slot(rest)
		d.slot(b, rest[:n])
		rest = rest[n:]
	}
	d.complain(b)
	if b.Len() == before {
		b.Line(begin, d.last)
		b.Add(itrace.Remark)
	}
}

// complain adds the first problem of each line.
func (d *decoder) complain(b *itrace.Batch) {
	slices.SortFunc(d.wrong, func(p, q problem) int { return cmp.Or(cmp.Compare(p.line, q.line), cmp.Compare(p.at, q.at)) })
	for i, p := range d.wrong {
		if i > 0 && d.wrong[i-1].line == p.line {
			continue
		}
		line, _ := b.Line(int(p.line), d.last)
		b.Fail(itrace.Mismatch(line, min(int(p.at), len(line)), p.expected))
	}
}

// slot returns how many elements are of one instruction: up to the next RET or TRAP, with what tells where that retires.
func slot(elements []element) int {
	seen := false
	for i, e := range elements {
		switch e.key {
		case isRet, isTrap:
			if seen {
				return i
			}
			seen = true
		case isHart, isIssue, isOrder:
			if seen {
				return i
			}
		}
	}
	return len(elements)
}

// place has the next records be of a line.
func (d *decoder) place(b *itrace.Batch, line int) {
	if line != d.line {
		b.Line(line, d.last)
		d.line = line
	}
}

// note takes what is of the whole logical line, whatever stands in front of it.
func (d *decoder) note(e *element) {
	first := e.token + 1
	switch e.key {
	case isCycle, isTime:
		n, ok := d.decimal(first)
		switch {
		case !ok:
			d.fail(first, "a number in decimal")
		case e.key == isCycle:
			d.cycle += n
		default:
			d.time += n
			d.timed = true
		}
	case isVendor:
		d.changes = bytes.HasPrefix(d.tokens[first].text, imperas)
	case isParams:
		n, _ := d.decimal(first)
		for i := first + 1; i < first+1+2*int(n); i += 2 {
			if string(d.tokens[i].text) != "TIMESCALE" {
				continue
			}
			unit := slices.IndexFunc(scales[:], func(s []byte) bool { return bytes.Equal(s, d.tokens[i+1].text) })
			if unit < 0 {
				d.fail(i+1, "a unit of time such as ns or ps")
				continue
			}
			d.scale = uint8(unit)
		}
	case isMem:
		d.accesses = d.accesses || isData(d.tokens[first].text)
	case isLoad, isStore:
		d.data = true
	}
}

// imperas is what the names of vendors begin with whose models write registers only if their value changes.
var imperas = []byte("Imperas")

func isData(word []byte) bool { return len(word) == 1 && word[0]|0x20 == 'd' }

// slot adds an instruction with its effects, or effects alone.
func (d *decoder) slot(b *itrace.Batch, elements []element) {
	ret, accesses := -1, false
	for i, e := range elements {
		switch e.key {
		case isRet, isTrap:
			ret = i
		case isHart:
			if n, ok := d.decimal(e.token + 1); ok && n <= math.MaxInt32 {
				d.hart = int32(n)
			} else {
				d.fail(e.token+1, "the number of a hart")
			}
		case isMem:
			accesses = true
		}
	}
	mode, order := d.mode(elements)
	var load, store bool
	var opcode uint64
	if ret >= 0 {
		r := d.instruction(b, &elements[ret], mode)
		if r == nil {
			return // its effects are of no instruction that is there
		}
		r.ID, opcode = order, r.Value
		load, store = riscv.Accesses(opcode)
		if accesses {
			d.fetched(r, elements)
		}
	}
	var latest access
	for _, e := range elements {
		switch e.key {
		case isX, isF, isV:
			d.register(b, &e)
		case isC:
			d.system(b, &e)
		case isMem:
			d.access(b, &e, load, store, &latest)
		case isLoad, isStore:
			d.accessed(b, &e, opcode)
		case isNet:
			d.net(b, &e)
		}
	}
}

// mode is the word for the mode of an instruction, nil if it is not told, and its number. A privilege holds until the next is told;
// VIRT and DM are of the one instruction.
func (d *decoder) mode(elements []element) (word []byte, order uint64) {
	virtual, halted := false, false
	for _, e := range elements {
		first, ok := e.token+1, true
		var n uint64
		switch e.key {
		case isMode:
			if n, _, ok = d.hex(first); !ok || n > math.MaxUint8 || riscv.Mode(byte(n)) == nil {
				d.fail(first, "a privilege of 0, 1 or 3")
				continue
			}
			if p := d.privilege(d.hart); p != nil {
				*p = byte(n)
			} else {
				d.harts = append(d.harts, hart{d.hart, byte(n)})
			}
		case isVirt, isDebug:
			if n, _, ok = d.hex(first); !ok {
				d.fail(first, "0 or 1")
			}
			virtual = virtual || n != 0 && e.key == isVirt
			halted = halted || n != 0 && e.key == isDebug
		case isOrder:
			if order, ok = d.decimal(first); !ok {
				d.fail(first, "a number in decimal")
			}
		}
	}
	switch p := d.privilege(d.hart); {
	case halted:
		word = inDebug
	case p == nil:
	case virtual && int(*p) < len(inVirtual):
		word = inVirtual[*p]
	default:
		word = riscv.Mode(*p)
	}
	return word, order
}

// instruction adds that of a RET or TRAP, nil if it cannot be read.
func (d *decoder) instruction(b *itrace.Batch, e *element, mode []byte) *itrace.Record {
	first := e.token + 1
	pc, pcs, ok := d.hex(first)
	if !ok {
		d.fail(first, "an address in hexadecimal")
		return nil
	}
	opcode, digits, wild, ok := d.value(first + 1)
	if !ok {
		d.fail(first+1, "an opcode in hexadecimal")
		return nil
	}
	r := d.add(b, itrace.Instruction, e)
	r.Addr, r.AddrDigits, r.Value, r.Digits, r.Wild = pc, pcs, opcode, digits, wild
	r.Trapped, r.Disasm = e.key == isTrap, d.comment(first+1)
	r.Mode, r.Scope = mode, itrace.TellsTrapped
	if mode == nil {
		r.Scope |= itrace.NoMode
	}
	switch {
	case d.data:
	case d.accesses:
		r.Scope |= itrace.NoLoaded | itrace.NoStored
	default:
		r.Scope |= itrace.NoLoads | itrace.NoLoaded | itrace.NoStores | itrace.NoStored
	}
	if d.setting == "changes" || d.setting == "" && d.changes {
		r.Scope |= itrace.OnlyChanges
	}
	return r
}

// fetched takes the physical address of an instruction from a MEM of its fetch.
func (d *decoder) fetched(r *itrace.Record, elements []element) {
	for _, e := range elements {
		if e.key != isMem || isData(d.tokens[e.token+1].text) {
			continue
		}
		virtual, _, ok := d.hex(e.token + 3)
		physical, _, some := d.hex(e.token + 4)
		if ok && some && virtual == r.Addr {
			r.Phys, r.HasPhys = physical, true
		}
	}
}

// add adds a record of an element.
func (d *decoder) add(b *itrace.Batch, kind itrace.Kind, e *element) *itrace.Record {
	d.place(b, int(d.tokens[e.token].line))
	r := b.Add(kind)
	r.CPU, r.Cycle, r.Time = d.hart, d.cycle, d.time
	if d.timed {
		r.Scale = scales[d.scale]
	}
	return r
}

// register adds a write of X, F or V.
func (d *decoder) register(b *itrace.Batch, e *element) {
	n, ok := d.decimal(e.token + 1)
	class := [...]byte{isX: 'x', isF: 'f', isV: 'v'}[e.key]
	name := riscv.Name(class, n)
	if !ok || name == nil {
		d.fail(e.token+1, "the number of a register")
		return
	}
	value, digits, wild, ok := d.value(e.token + 2)
	if !ok {
		d.fail(e.token+2, "a value in hexadecimal")
		return
	}
	r := d.add(b, itrace.Register, e)
	r.Name, r.Value, r.Digits, r.Wild = name, value, digits, wild
	r.Zero = e.key == isX && n == 0
}

// system adds a write of C.
func (d *decoder) system(b *itrace.Batch, e *element) {
	n, _, ok := d.hex(e.token + 1)
	name := riscv.SystemName(n)
	if !ok || name == nil {
		d.fail(e.token+1, "the number of a control and status register in hexadecimal")
		return
	}
	value, digits, wild, ok := d.value(e.token + 2)
	if !ok {
		d.fail(e.token+2, "a value in hexadecimal")
		return
	}
	r := d.add(b, itrace.Register, e)
	r.Name, r.Value, r.Digits, r.Wild = name, value, digits, wild
	r.System, r.Number, r.Numbered = true, uint16(n), true
}

// access is where a MEM was.
type access struct {
	addr uint64
	size uint32
	some bool
}

// access adds what a MEM of data tells: a load, a store or both.
func (d *decoder) access(b *itrace.Batch, e *element, load, store bool, latest *access) {
	first := e.token + 1
	if !isData(d.tokens[first].text) {
		return
	}
	size, ok := d.decimal(first + 1)
	if !ok || size > math.MaxUint32 {
		d.fail(first+1, "a number of bytes")
		return
	}
	addr, digits, ok := d.hex(first + 2)
	if !ok {
		d.fail(first+2, "a virtual address in hexadecimal")
		return
	}
	physical, _, ok := d.hex(first + 3)
	if !ok {
		d.fail(first+3, "a physical address in hexadecimal")
		return
	}
	a := access{addr, uint32(size), true}
	if load && store && a == *latest {
		return
	}
	*latest = a
	for _, write := range [...]bool{false, true} {
		if write && store || !write && (load || !store) {
			r := d.add(b, itrace.Memory, e)
			r.Write, r.Size, r.Addr, r.AddrDigits, r.Phys, r.HasPhys = write, a.size, addr, digits, physical, true
		}
	}
}

// accessed adds a LOAD or STORE. Of its data the bytes count that the instruction accesses.
func (d *decoder) accessed(b *itrace.Batch, e *element, opcode uint64) {
	addr, digits, ok := d.hex(e.token + 1)
	if !ok {
		d.fail(e.token+1, "an address in hexadecimal")
		return
	}
	value, data, wild, ok := d.value(e.token + 2)
	if !ok {
		d.fail(e.token+2, "data in hexadecimal")
		return
	}
	size := riscv.AccessSize(opcode)
	if n := 2 * int(size); n > 0 && n < len(data) {
		data = data[len(data)-n:]
		value, wild, _ = itrace.ParseDigits(data)
	}
	if size == 0 {
		size = uint32(len(data)+1) / 2
	}
	r := d.add(b, itrace.Memory, e)
	r.Write, r.Size, r.Addr, r.AddrDigits = e.key == isStore, size, addr, digits
	r.Value, r.Digits, r.Wild = value, data, wild
}

// net adds a NET.
func (d *decoder) net(b *itrace.Batch, e *element) {
	value, digits, _, ok := d.value(e.token + 2)
	if !ok {
		d.fail(e.token+2, "a value in hexadecimal")
		return
	}
	r := d.add(b, itrace.Event, e)
	r.Event, r.Name, r.Value, r.Digits = itrace.OtherEvent, d.tokens[e.token+1].text, value, digits
}

// The bits of the first byte of the state.
const (
	hasAccesses = 1 << iota
	hasData
	hasChanges
	hasTime
)

// flag is a bit if something is so.
func flag(is bool, bit byte) byte {
	if is {
		return bit
	}
	return 0
}

// AppendState implements itrace.Decoder.
func (d *decoder) AppendState(dst []byte) []byte {
	if d.state == (state{}) && len(d.harts) == 0 {
		return dst
	}
	flags := flag(d.accesses, hasAccesses) | flag(d.data, hasData) | flag(d.changes, hasChanges) | flag(d.timed, hasTime)
	dst = append(dst, flags, d.scale)
	for _, n := range [...]uint64{uint64(d.hart), d.time, d.cycle} {
		dst = binary.AppendUvarint(dst, n)
	}
	for _, h := range d.harts {
		dst = binary.AppendUvarint(append(dst, h.privilege), uint64(h.number))
	}
	return dst
}

// Restore implements itrace.Decoder.
func (d *decoder) Restore(from []byte) error {
	d.state, d.harts = state{}, d.harts[:0]
	if len(from) == 0 {
		return nil
	}
	if len(from) < 2 || int(from[1]) >= len(scales) {
		return itrace.ErrState
	}
	flags := from[0]
	d.accesses, d.data, d.changes, d.timed = flags&hasAccesses != 0, flags&hasData != 0, flags&hasChanges != 0, flags&hasTime != 0
	d.scale = from[1]
	rest, wrong := from[2:], false
	next := func(most uint64) uint64 {
		n, size := binary.Uvarint(rest)
		if size <= 0 || n > most {
			wrong = true
			return 0
		}
		rest = rest[size:]
		return n
	}
	d.hart = int32(next(math.MaxInt32))
	d.time, d.cycle = next(math.MaxUint64), next(math.MaxUint64)
	for len(rest) > 0 && !wrong {
		privilege := rest[0]
		rest = rest[1:]
		d.harts = append(d.harts, hart{int32(next(math.MaxInt32)), privilege})
		wrong = wrong || riscv.Mode(privilege) == nil
	}
	if wrong {
		return itrace.ErrState
	}
	return nil
}

// why says which version and producer the beginning of a trace names.
func why(head []byte) string {
	text := "lines of RET with pc and opcode"
	for line := range bytes.Lines(head) {
		words := bytes.Fields(line)
		switch {
		case len(words) == 3 && string(words[0]) == "VERSION":
			text = "VERSION " + string(words[1]) + " " + string(words[2])
		case len(words) > 1 && string(words[0]) == "VENDOR":
			return text + ", " + string(bytes.TrimSpace(line))
		}
	}
	return text
}
