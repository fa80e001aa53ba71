package fakestub

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
	"strconv"
	"strings"

	"tracewell/ax"
	"tracewell/rsp"
)

func appendDecimal(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) }

// register is a register by its remote number. The caller holds the lock, or nothing runs.
func (m *machine) register(hart, r int) uint64 {
	if r == pcRegister {
		return m.harts[hart].pc
	}
	return m.harts[hart].x[r]
}

func (m *machine) setRegister(hart, r int, v uint64) {
	switch r {
	case pcRegister:
		m.harts[hart].pc = v
	case zero:
	default:
		m.harts[hart].x[r] = v
	}
	m.harts[hart].parked = false
}

// pcOf is where a hart is.
func (m *machine) pcOf(hart int) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.harts[hart].pc
}

// hexRegister is a register as it is sent.
func hexRegister(v uint64) string {
	return string(rsp.AppendHexPadded(nil, bits.ReverseBytes64(v), 16))
}

func parseRegister(text string) (uint64, bool) {
	b, err := rsp.ParseHexBytes(text)
	if err != nil || len(b) != 8 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b), true
}

func (ss *session) readBlock(string) string {
	ss.pauseFor(ss.quirks.SlowBlock)
	var b strings.Builder
	for r := range registers {
		b.WriteString(hexRegister(ss.machine.register(ss.current, r)))
	}
	return b.String()
}

func (ss *session) writeBlock(args string) string {
	if len(args) != 16*registers {
		return failed
	}
	for r := range registers {
		v, ok := parseRegister(args[16*r:][:16])
		if !ok {
			return failed
		}
		ss.machine.setRegister(ss.current, r, v)
	}
	return "OK"
}

// registerNumber reads the number of a register that there is.
func registerNumber(text string) (int, bool) {
	n, err := strconv.ParseUint(text, 16, 32)
	return int(n), err == nil && n < registers
}

func (ss *session) readRegister(args string) string {
	if r, ok := registerNumber(args); ok {
		return hexRegister(ss.machine.register(ss.current, r))
	}
	return failed
}

func (ss *session) writeRegister(args string) string {
	number, value, _ := strings.Cut(args, "=")
	r, ok1 := registerNumber(number)
	v, ok2 := parseRegister(value)
	if !ok1 || !ok2 {
		return failed
	}
	ss.machine.setRegister(ss.current, r, v)
	return "OK"
}

// extent reads an address and a length.
func extent(text string) (at uint64, n int, ok bool) {
	a, l, _ := strings.Cut(text, ",")
	at, err1 := strconv.ParseUint(a, 16, 64)
	length, err2 := strconv.ParseUint(l, 16, 31)
	return at, int(length), err1 == nil && err2 == nil
}

// memory is the bytes that m and x are answered with; otherwise an error.
func (ss *session) memory(args string) ([]byte, string) {
	at, n, ok := extent(args)
	most := ss.quirks.packetSize() / 2
	switch {
	case !ok:
		return nil, failed
	case n > most && ss.quirks.LongReadFails:
		return nil, tooLong
	case ss.quirks.MemoryLimit > 0:
		most = min(most, ss.quirks.MemoryLimit)
	}
	n = min(n, most)
	b := ss.machine.peek(at, n, ss.quirks.Shown)
	if b == nil {
		return nil, failed
	}
	return b, ""
}

func (ss *session) readMemory(args string) string {
	b, err := ss.memory(args)
	return string(rsp.AppendHexBytes([]byte(err), b))
}

func (ss *session) readBinary(args string) string {
	b, err := ss.memory(args)
	if err != "" {
		return err
	}
	return "b" + string(b)
}

func (ss *session) writeMemory(args string) string {
	where, text, _ := strings.Cut(args, ":")
	b, err := rsp.ParseHexBytes(text)
	if err != nil {
		return failed
	}
	return ss.write(where, b)
}

func (ss *session) writeBinary(args string) string {
	where, text, _ := strings.Cut(args, ":")
	return ss.write(where, []byte(text))
}

func (ss *session) write(where string, b []byte) string {
	at, n, ok := extent(where)
	if !ok || n != len(b) || n > 0 && !ss.machine.poke(at, b, ss.quirks.Shown, false) {
		return failed
	}
	return "OK"
}

func (ss *session) eraseFlash(args string) string {
	at, n, ok := extent(args)
	if flash := &ss.machine.flash; !ok || !flash.has(at, n) {
		return failed
	}
	ss.flash = append(ss.flash, write{at, []byte(strings.Repeat("\xff", n))})
	return "OK"
}

func (ss *session) writeFlash(args string) string {
	where, text, _ := strings.Cut(args, ":")
	at, err := strconv.ParseUint(where, 16, 64)
	if flash := &ss.machine.flash; err != nil || !flash.has(at, len(text)) {
		return failed
	}
	ss.flash = append(ss.flash, write{at, []byte(text)})
	return "OK"
}

func (ss *session) flashDone(string) string {
	for _, w := range ss.flash {
		ss.machine.poke(w.at, w.bytes, ss.quirks.Shown, true)
	}
	ss.flash = nil
	return "OK"
}

// checksum is GDB's: its polynomial from the highest bit on, without inversion.
func (ss *session) checksum(args string) string {
	at, n, ok := extent(args)
	b := ss.machine.at(at, n)
	if !ok || b == nil {
		return failed
	}
	sum := uint32(0xffffffff)
	for _, c := range b {
		sum ^= uint32(c) << 24
		for range 8 {
			sum = sum<<1 ^ bits.Reverse32(crc32.IEEE)*(sum>>31)
		}
	}
	return fmt.Sprintf("C%x", sum)
}

// insertBreakpoint is Z.
func (ss *session) insertBreakpoint(args string) string {
	b, conditions, ok := ss.breakpoint(args)
	if !ok {
		return ss.unknownKind(b.kind)
	}
	m, q := ss.machine, &ss.quirks
	limit := q.Watchpoints
	switch {
	case b.kind == 0:
		limit = 0
		switch {
		case q.Software == Unknown:
			return ""
		case q.Software == Refused || q.Software == InRAM && !m.ram.has(b.at, b.size) || m.region(b.at, b.size) == nil:
			return failed
		}
	case b.kind == 1:
		limit = q.Hardware
	}
	if limit == None {
		return ""
	}
	if m.breakpoints[b.place] == nil && limit > 0 && m.used(b.kind) >= int(limit) {
		return noRoom
	}
	if q.Conditions == Rejected && conditions != "" {
		return failed
	}
	if q.Conditions == Obeyed {
		if b.conditions, ok = parseConditions(conditions); !ok {
			return failed
		}
	}
	m.insert(b, q.InMemory)
	return "OK"
}

// removeBreakpoint is z. That of a breakpoint which is not there is an error.
func (ss *session) removeBreakpoint(args string) string {
	b, _, ok := ss.breakpoint(args)
	switch q := &ss.quirks; {
	case !ok:
		return ss.unknownKind(b.kind)
	case b.kind == 0 && q.Software == Unknown || b.kind == 1 && q.Hardware == None || b.kind > 1 && q.Watchpoints == None:
		return ""
	case !ss.machine.remove(b.place):
		return failed
	}
	return "OK"
}

// breakpoint reads KIND,ADDRESS,LENGTH and what follows.
func (ss *session) breakpoint(args string) (b breakpoint, conditions string, ok bool) {
	args, conditions, _ = strings.Cut(args, ";")
	kind, where, _ := strings.Cut(args, ",")
	k, err := strconv.ParseUint(kind, 16, 8)
	b.kind = int(k)
	b.at, b.size, ok = extent(where)
	if b.kind < 2 && b.size != 2 && b.size != 4 {
		b.size = 4
	}
	return b, conditions, ok && err == nil && k <= 4
}

// unknownKind is what becomes of a Z that means nothing to the stub.
func (ss *session) unknownKind(kind int) string {
	if kind > 4 && ss.quirks.UnknownZDrops {
		ss.reset()
	}
	return ""
}

// used is how many breakpoints of a kind there are; all kinds of watchpoints count as one.
func (m *machine) used(kind int) int {
	n := 0
	for p := range m.breakpoints {
		if p.kind == kind || p.kind > 1 && kind > 1 {
			n++
		}
	}
	return n
}

// clear removes all breakpoints.
func (m *machine) clear() {
	for p := range m.breakpoints {
		m.remove(p)
	}
}

// parseConditions reads XLENGTH,CODE one behind the other, with or without semicolons between them.
func parseConditions(text string) (programs []*ax.Program, ok bool) {
	text, _, _ = strings.Cut(text, "cmds:")
	for text = strings.TrimRight(text, ";"); text != ""; text = strings.TrimLeft(text, ";") {
		length, rest, _ := strings.Cut(strings.TrimPrefix(text, "X"), ",")
		n, err := strconv.ParseUint(length, 16, 16)
		if err != nil || len(rest) < 2*int(n) {
			return nil, false
		}
		code, err := rsp.ParseHexBytes(rest[:2*n])
		if err != nil {
			return nil, false
		}
		p, err := ax.Decode(code)
		if err != nil {
			return nil, false
		}
		programs, text = append(programs, p), rest[2*n:]
	}
	return programs, true
}
