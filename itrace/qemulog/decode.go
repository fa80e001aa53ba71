package qemulog

import (
	"bytes"

	"tracewell/arch"
	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
)

// Dialect is the dialect of QEMU's log.
var Dialect = &itrace.Dialect{
	Name:           "qemu",
	Title:          "QEMU's log (-d exec)",
	EffectsTellCPU: true,
	New:            func(itrace.Settings) itrace.Decoder { return &decoder{} },
	Why:            why,
}

// decoder is the Decoder of QEMU's log. Its units are an exec line with the dump, exceptions and remarks behind it, an exception
// with what follows it, an in_asm block, and any other line.
type decoder struct {
	blocks []*block // in the order in which they were first executed
	byKey  map[string]*block
	fresh  []kept // in_asm blocks that have not been executed
	cpus   []cpu
	cpu    int32 // of the latest exec line
	begun  bool  // an instruction has been executed
	linked bool  // blocks have been linked
	events bool  // there were exceptions or interrupts
	traps  bool  // there were some that tell their instruction

	// Room for the unit and the dump at hand.
	lines    []line
	happened []event // those of its lines that are of events, in their order
	now      dump
}

// line is a line of the unit at hand.
type line struct {
	text []byte
	at   int // where it begins in the text that is decoded
	kind lineKind
	same bool // a line of a dump: it is that of the dump before at the same place
}

// Decode implements itrace.Decoder.
func (d *decoder) Decode(b *itrace.Batch, _ []byte, last bool) (n int) {
	for !b.Full() {
		line, next := b.Line(n, last)
		if next < 0 {
			return n
		}
		switch kind := kindOf(line); kind {
		case isBlank:
		case isDashes:
			next = d.translate(b, n, next, last)
		case isExec, isRISCV, isArm, isX86:
			next = d.run(b, line, kind, n, next, last)
		case isStopped, isLinking, isRemark:
			d.linked = d.linked || kind == isLinking
			b.Add(itrace.Remark)
		default:
			b.Fail(itrace.Mismatch(line, 0, "Trace, a line of dashes, or an exception"))
		}
		if next < 0 {
			return n
		}
		n = next
	}
	return n
}

// translate reads an in_asm block, and returns where it ends, negative if that is not there yet.
func (d *decoder) translate(b *itrace.Batch, at, next int, last bool) (end int) {
	d.lines = d.lines[:0]
	named := -1 // which line has the symbol
	for end = next; ; {
		text, after := b.Line(end, last)
		if after < 0 && !last {
			return -1
		}
		kind := kindOf(text)
		if after < 0 || kind != isIn && kind != isPriv && kind != isCode || kind == isIn && named >= 0 {
			if after >= 0 && kind == isBlank {
				end = after
			}
			break
		}
		if kind == isIn {
			named = len(d.lines)
		}
		d.lines = append(d.lines, line{text: text, at: end, kind: kind})
		end = after
	}
	if named < 0 {
		b.Line(at, last)
		b.Add(itrace.Remark)
		return next
	}
	b.Line(d.lines[named].at, last)
	b.Add(itrace.Remark)
	k := d.takeFresh()
	for _, l := range d.lines {
		switch l.kind {
		case isPriv:
			if mode := byte(l.text[len("Priv: "):][0] - '0'); mode < 4 {
				k.mode = 1 + mode
			}
		case isCode:
			c, column, expected := parseCode(l.text)
			if expected != "" {
				b.Line(l.at, last)
				b.Fail(itrace.Mismatch(l.text, column, expected))
				continue
			}
			k.add(&c)
		}
	}
	if len(k.text) == 0 {
		d.fresh = d.fresh[:len(d.fresh)-1]
	}
	return end
}

// unit is what there is from an exec line, or from an exception, up to the next other line.
type unit struct {
	end     int
	dump    int // how many lines there are up to the end of the dump in front of exceptions, 0 if there is none
	final   bool
	stopped bool  // the block has not run
	trap    event // the first exception, if there is one
	trapped bool
}

// survey notes the lines of a unit from a place on, which the dump of a processor is ahead of; ok is false if the end is not there
// yet. Most lines of a dump are those of the one before, and are not looked at any further.
func (d *decoder) survey(b *itrace.Batch, before *dump, kind lineKind, text []byte, at, next int, last bool) (u unit, ok bool) {
	d.lines, d.happened = d.lines[:0], d.happened[:0]
	same := false
	for traps, rows := 0, 0; ; {
		d.lines = append(d.lines, line{text, at, kind, same})
		switch kind {
		case isRISCV, isArm, isX86:
			e := parseEvent(text, kind)
			if e.whole && !u.trapped {
				u.trap, u.trapped = e, true
			}
			d.happened = append(d.happened, e)
			traps++
		case isDetail:
			if traps == 1 {
				u.trap.add(text)
			}
		case isDump:
			if rows++; traps == 0 {
				u.dump = len(d.lines)
			}
		case isStopped:
			u.stopped = true
		}
		at, u.end = next, next
		if text, next = b.Line(at, last); next < 0 {
			u.final = true
			return u, last
		}
		if same = before.has(rows, text); same {
			kind = isDump
			continue
		}
		switch kind = kindOf(text); kind {
		case isRISCV, isArm, isX86, isDetail, isDump, isStopped, isLinking, isRemark:
		default:
			return u, true
		}
	}
}

// run reads a unit, and returns where it ends, negative if that is not there yet.
func (d *decoder) run(b *itrace.Batch, text []byte, kind lineKind, at, next int, last bool) (end int) {
	var e exec
	var column int
	var expected string
	if kind == isExec {
		e, column, expected = parseExec(text)
	}
	u, ok := d.survey(b, d.before(e.cpu), kind, text, at, next, last)
	if !ok {
		return -1
	}
	if kind != isExec {
		d.happenings(b, d.lines, last)
		return u.end
	}
	if expected != "" {
		b.Line(at, last)
		b.Fail(itrace.Mismatch(text, column, expected))
		d.happenings(b, d.lines[1:], last)
		return u.end
	}
	d.cpu = e.cpu
	if u.dump > 0 {
		d.changes(b, &e, d.lines[1:u.dump], last)
	}
	b.Line(at, last)
	if t := d.translation(&e); u.stopped {
		b.Add(itrace.Remark)
	} else {
		d.instructions(b, &e, t, &u)
	}
	d.happenings(b, d.lines[1:], last)
	return u.end
}

// changes adds what of a dump differs from the one before of the processor. The first of all is what registers held ahead of the
// first instruction.
func (d *decoder) changes(b *itrace.Batch, e *exec, lines []line, last bool) {
	c := d.processor(e.cpu)
	d.now.clear()
	cursor, rows := 0, 0
	for i := range lines {
		l := &lines[i]
		if l.kind != isDump {
			continue
		}
		if from, to := c.registersOf(rows); l.same && cursor == from {
			d.now.values = append(d.now.values, c.values[from:to]...)
			cursor = to
		} else {
			d.changed(b, c, e, l, &cursor, last)
		}
		d.now.end(l.text)
		rows++
	}
	c.pc = e.pc
	c.dump, d.now = d.now, c.dump
}

// changed is changes of a line that is not that of the dump before. The cursor is where its registers should be there, and gets
// behind them.
func (d *decoder) changed(b *itrace.Batch, c *cpu, e *exec, l *line, cursor *int, last bool) {
	var all pairs
	all.begin(l.text)
	for placed := false; ; {
		name, value, ok := all.next()
		if !ok {
			return
		}
		class := isNone
		old := c.at(name, cursor) // those that are there are of registers
		if old == nil {
			if class = classOf(name); class == isNone {
				continue
			}
			old = c.value(name, cursor)
		}
		d.now.add(name, value)
		if old == nil && d.begun || bytes.Equal(old, value) && old != nil {
			continue
		}
		was, _, _ := itrace.ParseDigits(old)
		is, _, _ := itrace.ParseDigits(value)
		if is == e.pc && (old == nil && is != 0 || old != nil && was == c.pc) { // a pc whose name is that of any other register
			continue
		}
		if class == isNone {
			class = classOf(name)
		}
		if !placed {
			b.Line(l.at, last)
			placed = true
		}
		r := b.Add(itrace.Register)
		r.CPU, r.Name, r.Value, r.Digits, r.System = e.cpu, name, is, value, class == isSystem
	}
}

// instructions adds those of a block up to the one that had an exception.
func (d *decoder) instructions(b *itrace.Batch, e *exec, t *block, u *unit) {
	scope := itrace.OnlyChanges | itrace.NoLoads | itrace.NoLoaded | itrace.NoStores | itrace.NoStored
	mode := t.privilege()
	if mode == nil {
		scope |= itrace.NoMode
	}
	if t == nil {
		scope |= itrace.NoOpcode
	}
	trap := u.trapped && u.trap.kind == itrace.Exception && len(u.trap.addrs) > 0
	d.events = d.events || u.trapped
	d.traps = d.traps || trap && u.trap.marks
	if d.events {
		scope |= itrace.TellsEvents
	}
	if d.traps {
		scope |= itrace.TellsTrapped
	}
	if t == nil {
		// Without its in_asm block a block is one instruction only if the line says so, or cannot.
		gap := d.linked || !e.one && (!e.any || len(d.blocks) > 0)
		r := d.instruction(b, e, scope, u.dump == 0 || u.final || gap, gap)
		r.Addr, r.AddrDigits, r.Trapped = e.pc, e.pcs, trap && u.trap.addr == e.pc
		return
	}
	several := len(t.code) > 1
	for i := range t.code {
		from := &t.code[i]
		trapped := trap && u.trap.addr == from.addr
		end := trapped || i == len(t.code)-1 || bytes.HasPrefix(from.disassembly, waits)
		r := d.instruction(b, e, scope, u.dump == 0 || u.final || several || d.linked, d.linked && end)
		r.Addr, r.AddrDigits, r.Value, r.Digits = from.addr, from.addrs, from.value, from.opcode
		r.Disasm, r.Mode, r.Trapped = from.disassembly, mode, trapped
		if len(from.opcode) == 0 {
			r.Scope |= itrace.NoOpcode
		}
		if end {
			return
		}
	}
}

// waits is the instruction that waits for an interrupt. It leaves its block, also where other instructions follow in that.
var waits = []byte("wfi")

// instruction adds an instruction with its scope.
func (d *decoder) instruction(b *itrace.Batch, e *exec, s itrace.Scope, untold, gap bool) *itrace.Record {
	d.begun = true
	r := b.Add(itrace.Instruction)
	r.CPU, r.Scope = e.cpu, s
	if untold {
		r.Scope = s&^itrace.OnlyChanges | itrace.NoRegisters | itrace.NoSystem
	}
	if gap {
		r.Scope |= itrace.Gaps
	}
	return r
}

// happenings adds the exceptions and interrupts of some lines, and the lines of no meaning.
func (d *decoder) happenings(b *itrace.Batch, lines []line, last bool) {
	happened := d.happened
	for i := 0; i < len(lines); i++ {
		l := &lines[i]
		switch l.kind {
		case isDump, isExec:
			continue
		}
		b.Line(l.at, last)
		switch l.kind {
		case isLinking:
			d.linked = true
			b.Add(itrace.Remark)
		case isStopped, isRemark, isDetail:
			b.Add(itrace.Remark)
		case isRISCV, isArm, isX86:
			e := &happened[0]
			if happened = happened[1:]; !e.whole {
				b.Fail(itrace.Mismatch(l.text, 0, "an exception with its cause and address"))
				continue
			}
			for i+1 < len(lines) && lines[i+1].kind == isDetail {
				i++
				e.add(lines[i].text)
			}
			d.event(b, e)
		}
	}
}

func (d *decoder) event(b *itrace.Batch, e *event) {
	d.events = true
	r := b.Add(itrace.Event)
	r.CPU = d.cpu
	if e.told {
		r.CPU = e.cpu
	}
	r.Event, r.Name, r.Addr, r.AddrDigits, r.Detail = e.kind, e.cause, e.addr, e.addrs, e.detail
	r.Digits = e.number
	r.Value, _, _ = itrace.ParseDigits(e.number)
	if len(r.Name) == 0 {
		r.Name = e.number
	}
}

// class is what a name in a dump is of.
type class uint8

const (
	isSystem  class = iota // a register of control and status, and all that no program computes in
	isGeneral              // a register that programs compute in
	isNone                 // the pc, or no register
)

// classes are those of the registers of all machines, in lower case without zeros in front of their numbers; and of words that QEMU
// has for parts of registers, and for what it keeps of flags that it has not computed.
var classes = func() map[string]class {
	all := make(map[string]class)
	for _, m := range arch.Machines() {
		for _, r := range m.Registers {
			if r.Kind == arch.Status {
				continue
			}
			all[r.Name] = isGeneral
			for _, name := range append([]string{r.ABI}, r.Aliases...) {
				all[name] = isGeneral
			}
		}
	}
	for _, m := range arch.Machines() {
		all[m.PC] = isNone
	}
	for _, word := range []string{"v", "cpl", "dpl", "ii", "a20", "smm", "hlt", "ccs", "ccd", "cco"} {
		all[word] = isNone
	}
	delete(all, "")
	return all
}()

// classOf is the class of a name as QEMU has it: X05 is what others call x5.
func classOf(name []byte) class {
	if _, ok := riscv.Number(name); ok {
		return isGeneral
	}
	var room [16]byte
	plain := room[:0]
	for i, c := range name {
		if len(plain) == len(room) {
			return isSystem
		}
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c == '0' && i+1 < len(name) && letter(name[i-1]) {
			continue
		}
		plain = append(plain, c)
	}
	return classes[string(plain)]
}

// why says what the log has.
func why(head []byte) string {
	text := "exec lines"
	for _, with := range []struct {
		of   func(lineKind) bool
		name string
	}{
		{func(k lineKind) bool { return k == isIn }, "in_asm blocks"},
		{func(k lineKind) bool { return k == isDump }, "dumps of registers"},
		{func(k lineKind) bool { return k == isRISCV || k == isArm || k == isX86 }, "exceptions"},
		{func(k lineKind) bool { return k == isLinking }, "links between blocks, so that it is incomplete"},
	} {
		for line := range bytes.Lines(head) {
			if with.of(kindOf(bytes.TrimRight(line, " \r\n"))) {
				text += ", " + with.name
				break
			}
		}
	}
	return text
}
