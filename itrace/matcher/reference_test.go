package matcher

import (
	"bytes"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracewell/itrace"
	"tracewell/itrace/internal/swar"
)

// The grammar of the format, as the regular expressions of another program would have it.
var (
	blank       = `[\x00-\x20]+`
	word        = `[^\x00-\x20]+`
	known       = `[0-9a-fA-F]`
	digits      = `(?:0[xX]` + known + `+|[0-9a-fA-FxX.#-]+)`
	start       = `(?s)^[\x00-\x20]*([0-9]+)` + blank + `(` + word + `)` + blank
	instruction = regexp.MustCompile(start + `([0-9]+)` + blank + `(IT|IS)` + blank + `\(([0-9]+)\)` + blank + `((?:0[xX])?` + known + `+)` +
		blank + `(` + digits + `)` + blank + `([ATX])` + blank + `(` + word + `)` + `(?:` + blank + `(?:(:)[ \t]*(.*))?)?$`)
	memory   = regexp.MustCompile(start + `M([RW])([0-9]+)([XT]?)` + blank + `((?:0[xX])?` + known + `+)` + blank + `(` + digits + `)(?:` + blank + `)?$`)
	register = regexp.MustCompile(start + `R` + blank + `(` + word + `)` + blank + `(` + digits + `)(?:` + blank + `)?$`)
	security = regexp.MustCompile(`^(.+)_(s|ns)$`)
)

// number reads digits that the expressions have let pass, which may be too many.
func number(text string, base, bits int) (uint64, bool) {
	n, ok := new(big.Int).SetString(text, base)
	if !ok || n.BitLen() > bits {
		return 0, false
	}
	return n.Uint64(), true
}

// hexadecimal cuts 0x off where digits are behind it that are all known.
func hexadecimal(text string) string {
	if len(text) > 2 && strings.EqualFold(text[:2], "0x") && !strings.ContainsAny(text[2:], "xX.#-") {
		return text[2:]
	}
	return text
}

// setDigits sets what a record tells of digits.
func setDigits(r *itrace.Record, text string) {
	text = hexadecimal(text)
	r.Digits = []byte(text)
	r.Wild = strings.ContainsAny(text, "xX.#-")
	zeroed := regexp.MustCompile(`[xX.#-]`).ReplaceAllString(text, "0")
	zeroed = zeroed[max(0, len(zeroed)-16):]
	r.Value, _ = strconv.ParseUint(zeroed, 16, 64)
}

// reference reads a line as the expressions have it.
func reference(line string, cpu int32) (r itrace.Record, ok bool) {
	fields := func(e *regexp.Regexp) []string {
		m := e.FindStringSubmatch(line)
		if m != nil {
			r.Time, ok = number(m[1], 10, 64)
			r.Scale = []byte(m[2])
		}
		return m
	}
	address := func(text string) {
		text = hexadecimal(text)
		var fits bool
		r.AddrDigits = []byte(text)
		r.Addr, fits = number(text, 16, 64)
		ok = ok && fits
	}
	r.CPU = cpu
	if m := fields(register); m != nil {
		r.Kind, r.Name = itrace.Register, []byte(m[3])
		setDigits(&r, m[4])
		return r, ok
	}
	if m := fields(memory); m != nil {
		size, fits := number(m[4], 10, 32)
		r.Kind, r.Write, r.Size = itrace.Memory, m[3] == "W", uint32(size)
		if m[5] != "" {
			r.Privilege = m[5][0]
		}
		address(m[6])
		setDigits(&r, m[7])
		surplus := max(0, len(r.Digits)-2*int(size))
		return r, ok && fits && size > 0 && strings.Trim(string(r.Digits[:surplus]), "0xX.#-") == ""
	}
	m := fields(instruction)
	if m == nil {
		return r, false
	}
	number32, fits := number(m[3], 10, 31)
	id, fitsID := number(m[5], 10, 64)
	r.Kind, r.CPU, r.Skipped, r.ID = itrace.Instruction, int32(number32), m[4] == "IS", id
	address(m[6])
	setDigits(&r, m[7])
	r.State, r.Mode, r.Disasm = m[8][0], []byte(m[9]), []byte(m[11])
	if s := security.FindStringSubmatch(m[9]); s != nil {
		r.Mode, r.Security = []byte(s[1]), []byte(s[2])
	}
	return r, ok && fits && fitsID
}

// roomy is a line as a Reader passes it on, with memory behind it that holds something else.
func roomy(line string) []byte {
	return append(append([]byte(nil), line...), strings.Repeat("7", swar.Lookahead)...)[: len(line) : len(line)+swar.Lookahead]
}

// checkLine has a parser read a line, and one to which it is new, with no memory behind it, and holds both against the reference.
func checkLine(t *testing.T, p *parser, line string) {
	t.Helper()
	cpu := p.cpu
	want, ok := reference(line, cpu)
	for _, one := range []struct {
		parser *parser
		line   []byte
	}{{p, roomy(line)}, {&parser{cpu: cpu, template: template{start: never}}, slices.Clip([]byte(line))}} {
		var got itrace.Record
		problem := one.parser.Parse(one.line, &got)
		if ok != (problem == nil) || ok && meant(&got) != meant(&want) {
			t.Fatalf("%q: %v, %s\nwant %v, %s", line, problem, meant(&got), ok, meant(&want))
		}
		after := cpu
		if ok {
			after = want.CPU
		}
		if one.parser.cpu != after || got.CPU != after {
			t.Fatalf("%q: of processor %d, then %d, want %d", line, got.CPU, one.parser.cpu, after)
		}
	}
}

// checkFastPath has the fast path read a line and, if it does, holds the brief against the reference.
func checkFastPath(t *testing.T, p *parser, line string) {
	t.Helper()
	text := []byte(line + "\n" + strings.Repeat("7", 80))
	var briefs [1]itrace.Brief
	g := &briefs[0]
	lines, next := p.FastPath(text[:len(text)-swar.Lookahead], briefs[:])
	if lines == 0 {
		return
	}
	want, ok := reference(line, p.cpu)
	var name [8]byte
	copy(name[:], want.Name)
	switch {
	case !ok || want.Kind != g.Kind || want.CPU != p.cpu || next != len(line)+1 || g.At != 0 || want.Wild && want.Kind != itrace.Instruction,
		want.Kind == itrace.Register && (g.Value != want.Value || g.Name != eight(name)),
		want.Kind == itrace.Memory && (g.Addr != want.Addr || g.Size != want.Size):
		t.Fatalf("%q is read on the fast path as %+v, want %v, %s", line, *g, ok, meant(&want))
	}
}

// patterns are lines of all kinds and of many widths.
var patterns = []string{
	"1 clk 0 IT (1) 00000004 3c080001 A svc : lui t0,0x1",
	"12 ns 0 IS (12) ffffffff80000004 4501 T svc_ns : c.li a0, 0",
	"1234567 clk 17 IT (1234567) 10c 0123456789abcdef X usr_s : nop",
	"1 clk 0 IT (1) 00000004 3c080001 A svc :",
	"1 clk 0 IT (1) 00000004 3c080001 A svc",
	"1 clk 0 IT (1) 00000004 3c080001 A abcdefghij : nop",
	"99999999 tic 2147483647 IT (7) 0 0 A m : x",
	"10 clk MR8 00103fc4 0010400000000000", "10 clk MW4 0000000000103fc4 00000001", "10 clk MR1 4 ff", "10 clk MW2X 0x4 xx0.", "10 clk MW16 4 00112233445566778899aabbccddeeff",
	"14 clk R r8 00000000", "14 clk R a 1", "14 clk R control 0123456789ABCDEF", "14 clk R longname 1", "14 clk R v0 000102030405060708090a0b0c0d0e0f", "14 clk R r8 0x0000000x",
	"123456789 cyc R r8 0", "1234567890123456 clk R r8 1", "12345678901234567 clk R r8 1", "18446744073709551615 clk MR4 ffffffffffffffff 1",
}

// TestReference changes every byte of lines of all kinds in many ways, cuts them off, doubles and drops bytes, behind lines that
// look alike.
func TestReference(t *testing.T) {
	for _, pattern := range patterns {
		p, again := newParser(), roomy(pattern)
		try := func(line string) {
			t.Helper()
			line = strings.TrimRight(line, "\x00\x01\x02\x03\x04\x05\x06\x07\b\t\n\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f ")
			if line != "" {
				if !strings.Contains(line, "\n") {
					checkFastPath(t, p, line)
				}
				checkLine(t, p, line)
			}
			p.Parse(again, new(itrace.Record))
		}
		checkLine(t, p, pattern)
		for at := range pattern {
			for _, c := range []byte("0189afgAFGxXRWMISTt ():_.-#/@`\x00\x01\t\n\x1f!\x7f\x80\xb0\xff") {
				try(pattern[:at] + string([]byte{c}) + pattern[at+1:])
			}
			for bit := range 8 {
				try(pattern[:at] + string([]byte{pattern[at] ^ 1<<bit}) + pattern[at+1:])
			}
			for _, c := range " \t0 1fxX:_()\x01-" {
				try(pattern[:at] + string(c) + pattern[at:])
			}
			try(pattern[:at])
			try(pattern[:at] + pattern[at+1:])
		}
	}
}

// TestReferenceAtRandom puts fields together that are right, odd or wrong.
func TestReferenceAtRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	some := func(alphabet string, most int) string {
		b := make([]byte, 1+random.IntN(most))
		for i := range b {
			b[i] = alphabet[random.IntN(len(alphabet))]
		}
		return string(b)
	}
	p := newParser()
	right := 0
	for range 25_000 {
		decimal := func() string { return pick("0", "7", some("0123456789", 12), some("0123456789", 22), "007") }
		hex := func() string { return pick("", "0x", "0X") + some("0123456789abcdefABCDEF", 18) }
		open := func() string { return pick(hex(), some("0123456789abcdefxX-.#", 34)) }
		gap := func() string { return pick(" ", " ", " ", " ", " ", "  ", "\t", " \x01") }
		line := pick("", "", "", " ") + decimal() + gap() + pick("clk", "ns", some("clkns", 9)) + gap()
		switch random.IntN(3) {
		case 0:
			line += decimal() + gap() + pick("IT", "IS", "IT", "IX") + gap() + "(" + decimal() + ")" + gap() + hex() + gap() + open() + gap() +
				pick("A", "T", "X", "A", "O") + gap() + pick("svc", "usr_s", "mon_ns", "_s", "a_b", "x_y_ns") + pick("", gap()+":", gap()+": nop", gap()+":nop  x", " nop")
		case 1:
			line += "M" + pick("R", "W") + pick("1", "2", "4", "8", "16", decimal()) + pick("", "", "X", "T", "Y") + gap() + hex() + gap() + open()
		default:
			line += "R" + gap() + some("abr0123456789", 10) + gap() + open()
		}
		line = string(bytes.TrimRightFunc([]byte(line), func(r rune) bool { return r <= ' ' }))
		if _, ok := reference(line, 0); ok {
			right++
		}
		checkLine(t, p, line)
	}
	if right < 8_000 {
		t.Errorf("only %d lines were right", right)
	}
}

// TestColumns: a problem is where the field begins that is wrong.
func TestColumns(t *testing.T) {
	for _, pattern := range patterns {
		fields := regexp.MustCompile(word).FindAllStringIndex(pattern, -1)
		for i, field := range fields[:min(len(fields), 8)] {
			if i == 1 || i == 7 && fields[2][0]+1 < fields[3][0] && strings.Contains(pattern, " I") || pattern[fields[2][0]] == 'R' && i == 3 {
				continue // any word is a scale, a mode or a name
			}
			line := pattern[:field[0]] + "~" + pattern[field[0]:]
			if strings.Contains(pattern, "(") && i >= 7 {
				continue
			}
			var r itrace.Record
			problem := newParser().Parse([]byte(line), &r)
			if problem == nil || problem.Column != field[0]+1 || !strings.HasPrefix(problem.Found, `"~`) {
				t.Errorf("%s: %v, want column %d", line, problem, field[0]+1)
			}
			if problem := newParser().Parse([]byte(" \t"+line), &r); problem == nil || problem.Column != field[0]+3 {
				t.Errorf("%s, indented: %v, want column %d", line, problem, field[0]+3)
			}
			if i > 2 {
				line := pattern[:fields[i-1][1]]
				if problem := newParser().Parse([]byte(line), &r); problem == nil || problem.Column != len(line)+1 {
					t.Errorf("%s: %v, want column %d", line, problem, len(line)+1)
				}
			}
		}
	}
}

// TestAppendReference: what is written of a record is the line that it was read from, where that has one blank between fields.
func TestAppendReference(t *testing.T) {
	for _, pattern := range patterns {
		r, ok := reference(pattern, 0)
		if !ok {
			continue
		}
		want := strings.ReplaceAll(pattern, " 0x4 ", " 4 ")
		if r.Kind == itrace.Instruction && !strings.Contains(want, ":") {
			want += " :"
		}
		if got := string(Append([]byte("="), &r)); got != "="+want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := string(Append(nil, &itrace.Record{Text: []byte("no record"), Time: 1})); got != "no record" {
		t.Error(got)
	}
	if got := string(Append(nil, &itrace.Record{Kind: itrace.Memory, Write: true, Size: 2, Privilege: 'T', Time: 3, Scale: []byte("ns"), AddrDigits: []byte("4"), Digits: []byte("5")})); got != "3 ns MW2T 4 5" {
		t.Error(got)
	}
}
