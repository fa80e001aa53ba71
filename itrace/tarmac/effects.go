package tarmac

import (
	"bytes"
	"debug/elf"

	"tracewell/arch"
	"tracewell/itrace"
	"tracewell/itrace/internal/words"
)

// register reads a line of R behind that.
func (d *decoder) register(b *itrace.Batch, s *scanner) {
	s.skip()
	start := s.at
	name := s.word()
	switch string(name) {
	case "":
		s.fail(start, "the name of a register")
		return
	case "DC", "IC", "TLBI", "AT":
		b.Add(itrace.Remark)
		return
	}
	if s.accept('(') {
		s.word()
		if !s.accept(')') {
			s.fail(s.at, "a closing bracket")
			return
		}
	}
	part := s.accept('<')
	var high, low uint64
	if part {
		high = s.bit()
		if !s.accept(':') {
			s.fail(s.at, "a colon and the lowest bit")
		}
		if low = s.bit(); low > high || !s.accept('>') {
			s.fail(s.at, "a bit below the highest, and >")
		}
	}
	digits := d.value(s)
	if s.problem != nil {
		return
	}
	const bits = 4
	whole := len(digits)
	kept := digits
	if digits[0] == '-' || digits[whole-1] == '-' {
		kept = bytes.Trim(digits, "-")
	}
	switch {
	case len(kept) == 0:
		b.Add(itrace.Remark)
		return
	case len(kept) < whole && !part:
		below := cap(digits) - cap(kept) // how many are in front
		part, low = true, uint64(bits*(whole-below-len(kept)))
		high = low + uint64(bits*len(kept)) - 1
	case part:
		kept = digits
	}
	if high > mostBits {
		s.fail(start, "a register of no more than 65536 bits")
		return
	}
	r := d.add(b, itrace.Register)
	r.Name, r.Digits, r.System = name, kept, !isGeneral(name)
	r.Value, r.Wild = valueOf(kept)
	if part {
		r.Part, r.High, r.Low = true, uint16(high), uint16(low)
	}
}

// mostBits is the highest number of a bit that a record can tell.
const mostBits = 1<<16 - 1

// bit reads the number of a bit.
func (s *scanner) bit() uint64 {
	start := s.at
	n := s.decimal("the number of a bit")
	if n > mostBits {
		s.fail(start, "the number of a bit")
	}
	return n
}

// leastGroup is how many digits a group of several has at the least. What is shorter is no value, but flags in words.
const leastGroup = 8

// value reads the value of a register: a group of digits, and others as long as they have the length of the first or a colon in
// front.
func (d *decoder) value(s *scanner) []byte {
	s.skip()
	start := s.at
	digits := d.data(s, "a value in hexadecimal")
	width := s.at - start
	for s.problem == nil {
		if s.accept(':') {
			digits = d.join(digits, d.data(s, "digits behind the colon"))
			continue
		}
		s.skip()
		from := s.at
		word := s.word()
		if s.at = from; len(word) != width || width < leastGroup || !allDigits(word) {
			break
		}
		digits = d.join(digits, d.data(s, "digits"))
	}
	return digits
}

// allDigits reports whether a word has nothing but digits and what stands for them.
func allDigits(word []byte) bool {
	for _, c := range word {
		if classes[c]&(isHex|isUnknown) == 0 {
			return false
		}
	}
	return true
}

// general are the registers of Arm processors that programs compute in, but for those that are a letter and a number.
var general = func() *words.Table[bool] {
	all := make(map[string]bool)
	arm, arm64 := arch.ByELF(elf.EM_ARM, 4).Family, arch.ByELF(elf.EM_AARCH64, 8).Family
	for _, m := range arch.Machines() {
		if m.Family != arm64 && m.Family != arm {
			continue
		}
		for _, r := range m.Registers {
			if r.Kind != arch.Status {
				all[r.Name] = true
			}
		}
	}
	return words.New(all)
}()

// isGeneral reports whether programs compute in a register: r0, X30, Q7, r13_svc or SP_EL3, in any case.
func isGeneral(name []byte) bool {
	if at := bytes.IndexByte(name, '_'); at > 0 {
		name = name[:at]
	}
	if len(name) > 1 && bytes.IndexByte([]byte("rxwvqdshbezp"), name[0]|0x20) >= 0 && name[1]-'0' <= 9 {
		return true
	}
	const stack = "sp" // also of those that have a letter in front, by privilege
	if n := len(name) - len(stack); n >= 0 && bytes.EqualFold(name[n:], []byte(stack)) {
		return true
	}
	var room [8]byte
	if len(name) > len(room) {
		return false
	}
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		room[i] = c
	}
	is, _ := general.Find(room[:len(name)])
	return is
}

var exclusive = []byte("X")

// memory reads a line of an access behind its first word, which is M or R or W with a size and other letters.
func (d *decoder) memory(b *itrace.Batch, s *scanner, word []byte, start int) {
	const (
		bus     = 8 // letters in a word of a processor with several buses
		noSize  = "a letter for reading or writing, and a size"
		largest = 64
	)
	direction, size, flags := byte(0), uint64(0), byte(0)
	for i := 0; i < len(word); i++ {
		c := word[i]
		switch {
		case direction == 0 && (c == 'R' || c == 'W'):
			direction = c
		case c-'0' <= 9 && size == 0:
			for ; i < len(word) && word[i]-'0' <= 9 && size <= largest; i++ {
				size = 10*size + uint64(word[i]-'0')
			}
			i--
		case c == 'X' || c == 'T':
			flags = c
		case c == 'C': // with a coprocessor
			b.Add(itrace.Remark)
			return
		case c != 'M' && c != 'N' && c != 'S' && c != 'O' && c != '_' && !(i == bus-1 && len(word) == bus):
			s.fail(start, noSize)
			return
		}
	}
	if direction == 0 || size == 0 || size > largest {
		s.fail(start, noSize)
		return
	}
	reversed := false
	if len(word) == bus {
		switch word[bus-1] {
		case 'I', 'A':
			b.Add(itrace.Remark)
			return
		case 'D':
			reversed = true
		}
	}
	if s.acceptWord(exclusive) {
		flags = 'X'
	}
	a := s.address("an address in hexadecimal")
	if s.skip() == '(' {
		if bytes.HasPrefix(s.line[s.at:], []byte("(ABORTED)")) {
			b.Add(itrace.Remark)
			return
		}
	}
	s.skip()
	at := s.at
	data := d.data(s, "data in hexadecimal")
	if s.problem == nil && len(data) < 2*int(size) && s.skip() != 0 {
		data = d.join(data, d.data(s, "the lower half of the data"))
	}
	if s.problem == nil && !itrace.DigitsFit(data, uint32(size)) {
		s.fail(at, "as many digits as the size says")
	}
	if s.problem != nil {
		return
	}
	if reversed {
		data = d.reverse(data)
	}
	r := d.add(b, itrace.Memory)
	r.Write, r.Size, r.Privilege = direction == 'W', uint32(size), flags
	r.Addr, r.AddrDigits, r.Phys, r.HasPhys = a.virtual, a.digits, a.physical, a.hasPhysical
	r.Security, r.Placed = a.security, len(a.security) > 0
	r.Digits = data
	r.Value, r.Wild = valueOf(data)
}

// reverse returns digits byte by byte in the opposite order.
func (d *decoder) reverse(digits []byte) []byte {
	from := len(d.room)
	for i := len(digits) - 2; i >= 0; i -= 2 {
		d.room = append(d.room, digits[i], digits[i+1])
	}
	if len(digits)%2 != 0 {
		d.room = append(d.room, digits[0])
	}
	return d.room[from:len(d.room):len(d.room)]
}

// show reads a line of LD or ST behind that.
func (d *decoder) show(b *itrace.Batch, s *scanner, shows shown) {
	const shownBytes = 16
	s.skip()
	column := s.at
	addr, addrDigits := s.hex("an address in hexadecimal")
	from := len(d.room)
	for s.problem == nil && len(d.room)-from < 2*shownBytes {
		s.skip()
		start := s.at
		word := s.word()
		if len(word) == 0 || len(word)%2 != 0 || !allDigits(word) || len(d.room)-from+len(word) > 2*shownBytes {
			s.fail(start, "16 bytes in hexadecimal digits, dots or #")
			break
		}
		d.room = append(d.room, word...)
	}
	if s.problem != nil {
		return
	}
	all := d.room[from:len(d.room):len(d.room)]
	physical, security, some := s.place()
	d.shows, d.column = shows, column
	added := b.Len()
	for i := 0; i < shownBytes; {
		end := i
		for end < shownBytes && all[2*end] != '.' {
			end++
		}
		if end == i {
			i++
			continue
		}
		r := d.add(b, itrace.Memory)
		offset := uint64(shownBytes - end)
		r.Write, r.Size, r.Addr, r.Digits = shows == stores, uint32(end-i), addr+offset, all[2*i:2*end]
		r.AddrDigits = d.number(r.Addr, len(addrDigits))
		r.Value, r.Wild = valueOf(r.Digits)
		r.Phys, r.HasPhys, r.Security, r.Placed = physical+offset, some, security, len(security) > 0
		if !some {
			r.Phys = 0
		}
		i = end
	}
	if b.Len() == added {
		b.Add(itrace.Remark)
	}
}

// place reads the physical address behind the bytes that a line shows, with the security in front, if they are there.
func (s *scanner) place() (physical uint64, security []byte, some bool) {
	word := s.word()
	if s.accept(':') {
		security, word = word, s.word()
	}
	physical, some = itrace.ParseHex(word)
	return physical, security, some
}

// number returns the digits of a number, so many at least.
func (d *decoder) number(n uint64, width int) []byte {
	const digits = "0123456789abcdef"
	for width < 16 && n>>(4*width) != 0 {
		width++
	}
	from := len(d.room)
	for i := width - 1; i >= 0; i-- {
		digit := byte('0')
		if i < 16 {
			digit = digits[n>>(4*i)&15]
		}
		d.room = append(d.room, digit)
	}
	return d.room[from:len(d.room):len(d.room)]
}

// happening reads a line of E behind that.
func (d *decoder) happening(b *itrace.Batch, s *scanner) {
	s.skip()
	start := s.at
	word := s.word()
	if _, ok := itrace.ParseHex(word); !ok {
		if len(word) == 0 {
			s.fail(start, "an address or the name of an event")
			return
		}
		r := d.add(b, itrace.Event)
		r.Name = word
		s.skip()
		if digits := s.word(); len(digits) > 0 && allDigits(digits) {
			r.Digits = digits
			r.Value, r.Wild = valueOf(digits)
		}
		return
	}
	s.at = start
	a := s.address("an address in hexadecimal")
	digits := d.data(s, "a number in hexadecimal")
	s.skip()
	start = s.at
	name := s.word()
	if len(name) == 0 {
		s.fail(start, "the name of an event")
	}
	if s.problem != nil {
		return
	}
	d.events = true
	r := d.add(b, itrace.Event)
	r.Event, r.Name, r.Addr, r.AddrDigits, r.Digits = kindOf(name), name, a.virtual, a.digits, digits
	r.Value, r.Wild = valueOf(digits)
}

// exception reads a line of EXC behind that.
func (d *decoder) exception(b *itrace.Batch, s *scanner) {
	var digits []byte
	if s.skip() == '[' {
		end := bytes.IndexByte(s.line[s.at:], ']')
		if end < 0 {
			s.fail(s.at, "a number in square brackets")
			return
		}
		digits = bytes.TrimPrefix(s.line[s.at+1:s.at+end], []byte("0x"))
		if _, ok := itrace.ParseHex(digits); !ok {
			s.fail(s.at+1, "a number in hexadecimal")
			return
		}
		s.at += end + 1
	}
	if s.skip() == 0 {
		s.fail(s.at, "the name of an exception")
		return
	}
	d.events = true
	r := d.add(b, itrace.Event)
	r.Name, r.Digits = s.line[s.at:], digits
	r.Event = kindOf(r.Name)
	r.Value, _ = itrace.ParseHex(digits)
}

// kindOf is the kind of an exception by its name.
func kindOf(name []byte) itrace.EventKind {
	for _, word := range interrupts {
		if bytes.Contains(name, word) {
			return itrace.Interrupt
		}
	}
	if bytes.Contains(name, []byte("Reset")) || bytes.Contains(name, []byte("RESET")) {
		return itrace.Reset
	}
	return itrace.Exception
}

// interrupts are in the names of exceptions that come from outside.
var interrupts = [...][]byte{[]byte("IRQ"), []byte("FIQ"), []byte("SError"), []byte("SERR")}

// why says what of the beginning of a trace shows which producer's it is.
func why(head []byte) string {
	for line := range bytes.Lines(head) {
		s := scanner{line: bytes.TrimSpace(line)}
		var d decoder
		d.when(&s)
		word := s.word()
		if _, ok := processor(word); ok {
			word = s.word()
		}
		switch string(word) {
		case "Tarmac":
			return "the header of Tarmac"
		case "ES":
			return "lines of ES, as processors and Cycle Models write them"
		case "IT", "IS", "IF":
			return "lines of IT, as Fast Models and gem5 write them"
		}
	}
	return "lines of registers and memory"
}
