package tarmac

import (
	"bytes"
	"math"

	"tracewell/itrace"
	"tracewell/itrace/internal/scan"
	"tracewell/itrace/internal/words"
)

// scanner reads a line. After the first problem it reads nothing more.
type scanner struct {
	line    []byte
	at      int
	problem *itrace.SyntaxError
}

// fail notes that what begins at a place is not what was expected.
func (s *scanner) fail(at int, expected string) {
	if s.problem == nil {
		s.problem = itrace.Mismatch(s.line, at, expected)
	}
	s.at = len(s.line)
}

// The classes of bytes.
const (
	isWord    = 1 << iota // a word is made of them
	isHex                 // a hexadecimal digit
	isUnknown             // what stands for one in data
)

var classes = func() (all [256]uint8) {
	for c := range all {
		if c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' && c < 0x80 {
			all[c] = isWord
		}
	}
	for _, c := range "_.#-" {
		all[c] = isWord
	}
	for _, c := range "0123456789abcdefABCDEF" {
		all[c] |= isHex
	}
	for _, c := range ".#-xX" {
		all[c] |= isUnknown
	}
	return all
}()

// skip goes behind blanks and returns the next byte, 0 at the end of the line.
func (s *scanner) skip() byte {
	for s.at < len(s.line) {
		if c := s.line[s.at]; c > ' ' {
			return c
		}
		s.at++
	}
	return 0
}

// accept goes behind a byte if that is next.
func (s *scanner) accept(c byte) bool {
	if s.skip() != c {
		return false
	}
	s.at++
	return true
}

// acceptWord goes behind a word if that is next.
func (s *scanner) acceptWord(word []byte) bool {
	s.skip()
	end := s.at + len(word)
	if end > len(s.line) || string(s.line[s.at:end]) != string(word) || end < len(s.line) && classes[s.line[end]]&isWord != 0 {
		return false
	}
	s.at = end
	return true
}

// word reads a word, which is empty if none is next.
func (s *scanner) word() []byte {
	s.skip()
	start := s.at
	for s.at < len(s.line) && classes[s.line[s.at]]&isWord != 0 {
		s.at++
	}
	return s.line[start:s.at]
}

// hex reads a word that is a number of 64 bits in hexadecimal.
func (s *scanner) hex(expected string) (value uint64, digits []byte) {
	s.skip()
	start := s.at
	value, end := scan.HexAt(s.line, start)
	digits = s.line[start:end]
	if end < len(s.line) && classes[s.line[end]]&isWord != 0 {
		s.fail(start, expected)
		return 0, nil
	}
	s.at = end
	if n := len(digits); n > 0 && n <= 16 {
		return value, digits
	}
	if _, ok := itrace.ParseHex(digits); !ok {
		s.fail(start, expected)
		return 0, nil
	}
	return value, digits
}

// decimal reads a decimal number.
func (s *scanner) decimal(expected string) uint64 {
	s.skip()
	start := s.at
	n, ok := itrace.ParseDecimal(s.word())
	if !ok {
		s.fail(start, expected)
	}
	return n
}

// groups reads digits that are all known, with _ between them or not. It is the usual case of data, and reads nothing in others.
func (d *decoder) groups(s *scanner) []byte {
	start, from := s.at, len(d.room)
	_, end := scan.HexAt(s.line, start)
	for at := start; end > start; _, end = scan.HexAt(s.line, at) {
		switch {
		case end < len(s.line) && s.line[end] == '_':
			d.room = append(d.room, s.line[at:end]...)
			at = end + 1
			continue
		case end < len(s.line) && classes[s.line[end]]&isWord != 0:
			d.room = d.room[:from]
			return nil
		}
		s.at = end
		if at == start {
			return s.line[start:end]
		}
		d.room = append(d.room, s.line[at:end]...)
		return d.room[from:len(d.room):len(d.room)]
	}
	return nil
}

// data reads digits of which some may be unknown. Without _ and other bytes that are none they are a view of the line.
func (d *decoder) data(s *scanner, expected string) []byte {
	s.skip()
	start := s.at
	if digits := d.groups(s); len(digits) > 0 {
		return digits
	}
	digits := s.word()
	plain := true
	for _, c := range digits {
		if classes[c]&(isHex|isUnknown) == 0 {
			if c != '_' {
				s.fail(start, expected)
				return nil
			}
			plain = false
		}
	}
	if len(digits) == 0 || len(digits) > 1 && digits[1]|0x20 == 'x' && digits[0] == '0' {
		s.fail(start, expected)
		return nil
	}
	if plain {
		return digits
	}
	from := len(d.room)
	for len(digits) > 0 {
		var group []byte
		group, digits, _ = bytes.Cut(digits, []byte{'_'})
		d.room = append(d.room, group...)
	}
	if len(d.room) == from {
		s.fail(start, expected)
		return nil
	}
	return d.room[from:len(d.room):len(d.room)]
}

// join returns digits with others behind them.
func (d *decoder) join(high, low []byte) []byte {
	from := len(d.room)
	d.room = append(append(d.room, high...), low...)
	return d.room[from:len(d.room):len(d.room)]
}

// valueOf is the value of digits, and whether some are not known.
func valueOf(digits []byte) (value uint64, wild bool) {
	if value, end := scan.HexAt(digits, 0); end == len(digits) {
		return value, false
	}
	value, wild, _ = itrace.ParseDigits(digits)
	return value, wild
}

// units are those of time: of clocks, or parts of seconds.
var units = func() [][]byte {
	all := [][]byte{nil, []byte("clk"), []byte("cyc"), []byte("tic")}
	for _, part := range []string{"c", "u", "n", "p"} {
		all = append(all, []byte(part+"s"))
	}
	return all
}()

// unitNumbers are the indices of units.
var unitNumbers = func() *words.Table[uint8] {
	all := make(map[string]uint8)
	for i, unit := range units[1:] {
		all[string(unit)] = uint8(i + 1)
	}
	return words.New(all)
}()

// unit is the index of a unit, 0 for any other word.
func unit(word []byte) uint8 {
	n, _ := unitNumbers.Find(word)
	return n
}

// when reads the time that a line may begin with, and reports whether there is one.
func (d *decoder) when(s *scanner) bool {
	if c := s.skip(); c < '0' || c > '9' {
		return false
	}
	start := s.at
	for s.at < len(s.line) && s.line[s.at]-'0' <= 9 {
		s.at++
	}
	time, ok := itrace.ParseDecimal(s.line[start:s.at])
	var rest []byte
	if s.at < len(s.line) && s.line[s.at] > ' ' {
		rest = s.word()
	}
	if len(rest) > 0 && rest[0] == '.' {
		for rest = rest[1:]; len(rest) > 0 && rest[0]-'0' <= 9; {
			rest = rest[1:]
		}
	}
	scale := unit(rest)
	if !ok || len(rest) > 0 && scale == 0 {
		s.at = start
		return false
	}
	if len(rest) == 0 {
		behind := s.at
		if scale = d.scale; scale == 0 || !s.acceptWord(units[scale]) { // it is that of the line before as a rule
			if scale = unit(s.word()); scale == 0 {
				s.at = behind
			}
		}
	}
	d.time, d.scale = time, scale
	return true
}

// processor is the number of a word such as cpu0; false for any other word.
func processor(word []byte) (n int32, ok bool) {
	const prefix = "cpu"
	if len(word) < len(prefix) || string(word[:len(prefix)]) != prefix {
		return 0, false
	}
	end := len(prefix)
	for end < len(word) && word[end]-'0' <= 9 {
		end++
	}
	number, ok := itrace.ParseDecimal(word[len(prefix):end])
	if !ok {
		return 0, end == len(word)
	}
	return int32(number), number <= math.MaxInt32
}

// state reads the word for a state of the instruction set, and returns its letter, 0 if another word or none is next; sized for one
// that tells the size as well.
func (s *scanner) state() (letter byte, sized bool) {
	if s.skip(); s.at == len(s.line) {
		return 0, false
	}
	letter = s.line[s.at]
	end := s.at + 1
	switch rest := s.line[end:]; {
	case letter != 'A' && letter != 'T' && letter != 'O':
		return 0, false
	case letter == 'T' && len(rest) >= 2 && (string(rest[:2]) == "16" || string(rest[:2]) == "32"):
		sized = true
		end += 2
	}
	if end < len(s.line) && classes[s.line[end]]&isWord != 0 {
		return 0, false
	}
	s.at = end
	return letter, sized
}
