package matcher

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tracewell/itrace"
	"tracewell/itrace/internal/swar"
)

// widths are those of the fields of a line, in characters, and the bytes of an access if they are not those of its data.
type widths struct{ time, scale, cpu, id, addr, opcode, name, value, size, bytes int }

// usual are the widths of the lines that the format's own page has.
var usual = widths{time: 1, scale: 3, cpu: 1, id: 1, addr: 8, opcode: 8, name: 2, value: 8, size: 1}

// look is what lines are made of besides their numbers.
type look struct {
	kind         itrace.Kind
	mode, disasm string
	skipped      bool
	end          string
}

// fill returns so many digits of a base, the first not 0.
func fill(random *rand.Rand, n, base int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "0123456789abcdefABCDEF"[random.IntN(base+base/16*6)]
	}
	if b[0] == '0' {
		b[0] = '1'
	}
	return string(b)
}

// lineOf makes a line of a look with other numbers each time.
func lineOf(random *rand.Rand, l look, w widths, cpu, name string) string {
	head := fill(random, w.time, 10) + " " + strings.Repeat("c", w.scale) + " "
	switch l.kind {
	case itrace.Register:
		return head + "R " + name + " " + fill(random, w.value, 16)
	case itrace.Memory:
		size := strings.Repeat("1", w.size-1) + fmt.Sprint(max(1, w.value/2, w.bytes))
		return head + "M" + string("RW"[random.IntN(2)]) + size + " " + fill(random, w.addr, 16) + " " + fill(random, w.value, 16)
	}
	taken := " IT ("
	if l.skipped {
		taken = " IS ("
	}
	return head + cpu + taken + fill(random, w.id, 10) + ") " + fill(random, w.addr, 16) + " " + fill(random, w.opcode, 16) + " A " + l.mode + l.disasm
}

// fastLimits are widths of lines that match a template, also on the fast path, and of lines that do not: either because their
// numbers are too long to be converted at once, or their words to be compared at once.
var fastLimits = []struct {
	what           string
	look           look
	set            func(w *widths)
	fast, fastPath bool
}{
	{"usual", look{itrace.Instruction, "svc", " : nop", false, "\n"}, func(*widths) {}, true, true},
	{"usual", look{itrace.Register, "", "", false, "\n"}, func(*widths) {}, true, true},
	{"usual", look{itrace.Memory, "", "", false, "\n"}, func(*widths) {}, true, true},
	{"lines that end with CR LF", look{itrace.Register, "", "", false, "\r\n"}, func(*widths) {}, true, true},
	{"lines that end with CR LF", look{itrace.Memory, "", "", false, "\r\n"}, func(*widths) {}, true, true},
	{"skipped", look{itrace.Instruction, "usr_ns", " : nop", true, "\r\n"}, func(*widths) {}, true, true},
	{"no disassembly", look{itrace.Instruction, "svc", " :", false, "\n"}, func(*widths) {}, true, false},
	{"no colon", look{itrace.Instruction, "svc", "", false, "\n"}, func(*widths) {}, true, false},
	{"words of 16 characters", look{itrace.Instruction, "tencharact", " : nop", false, "\n"}, func(*widths) {}, true, true},
	{"words of 17 characters", look{itrace.Instruction, "elevenchars", " : nop", false, "\n"}, func(*widths) {}, false, false},
	{"no blank behind the colon", look{itrace.Instruction, "svc", " :nop", false, "\n"}, func(*widths) {}, true, true},
	{"a time of 8 digits", look{itrace.Instruction, "svc", " : nop", false, "\n"}, func(w *widths) { w.time = 8 }, true, true},
	{"a time of 9 digits", look{itrace.Instruction, "svc", " : nop", false, "\n"}, func(w *widths) { w.time = 9 }, true, false},
	{"a time of 16 digits", look{itrace.Register, "", "", false, "\n"}, func(w *widths) { w.time = 16 }, true, false},
	{"a time of 17 digits", look{itrace.Register, "", "", false, "\n"}, func(w *widths) { w.time = 17 }, false, false},
	{"a scale of 6 characters", look{itrace.Register, "", "", false, "\n"}, func(w *widths) { w.scale = 6 }, true, true},
	{"a scale of 7 characters", look{itrace.Register, "", "", false, "\n"}, func(w *widths) { w.scale = 7 }, false, false},
	{"a processor of 3 digits", look{itrace.Instruction, "svc", " : nop", false, "\n"}, func(w *widths) { w.cpu = 3 }, true, true},
	{"a processor of 4 digits", look{itrace.Instruction, "svc", " : nop", false, "\n"}, func(w *widths) { w.cpu = 4 }, true, false},
	{"a processor of 9 digits", look{itrace.Instruction, "svc", " : nop", false, "\n"}, func(w *widths) { w.cpu = 9 }, true, false},
	{"a processor of 10 digits", look{itrace.Instruction, "svc", " : nop", false, "\n"}, func(w *widths) { w.cpu = 10 }, false, false},
	{"a number of 8 digits", look{itrace.Instruction, "svc", " : nop", false, "\n"}, func(w *widths) { w.id = 8 }, true, true},
	{"a number of 9 digits", look{itrace.Instruction, "svc", " : nop", false, "\n"}, func(w *widths) { w.id = 9 }, true, false},
	{"a number of 16 digits", look{itrace.Instruction, "svc", " : nop", false, "\n"}, func(w *widths) { w.id = 16 }, true, false},
	{"a number of 17 digits", look{itrace.Instruction, "svc", " : nop", false, "\n"}, func(w *widths) { w.id = 17 }, false, false},
	{"an opcode of 4 digits", look{itrace.Instruction, "svc", " : nop", false, "\n"}, func(w *widths) { w.opcode = 4 }, true, true},
	{"an opcode of 9 digits", look{itrace.Instruction, "svc", " : nop", false, "\n"}, func(w *widths) { w.opcode = 9 }, true, true},
	{"an opcode of 16 digits", look{itrace.Instruction, "svc", " : nop", false, "\n"}, func(w *widths) { w.opcode = 16 }, true, true},
	{"an opcode of 17 digits", look{itrace.Instruction, "svc", " : nop", false, "\n"}, func(w *widths) { w.opcode = 17 }, false, false},
	{"an address of 5 digits", look{itrace.Instruction, "svc", " : nop", false, "\n"}, func(w *widths) { w.addr = 5 }, true, true},
	{"an address of 16 digits", look{itrace.Instruction, "svc", " : nop", false, "\n"}, func(w *widths) { w.addr = 16 }, true, true},
	{"memory at an address of 1 digit", look{itrace.Memory, "", "", false, "\n"}, func(w *widths) { w.addr = 1 }, true, true},
	{"memory at an address of 16 digits", look{itrace.Memory, "", "", false, "\n"}, func(w *widths) { w.addr = 16 }, true, true},
	{"one byte of data", look{itrace.Memory, "", "", false, "\n"}, func(w *widths) { w.value = 2 }, true, true},
	{"8 bytes of data", look{itrace.Memory, "", "", false, "\n"}, func(w *widths) { w.value = 16 }, true, true},
	{"one digit of data", look{itrace.Memory, "", "", false, "\n"}, func(w *widths) { w.value = 1 }, true, false},
	{"9 bytes of data", look{itrace.Memory, "", "", false, "\n"}, func(w *widths) { w.value = 18 }, false, false},
	{"a size of 9 bytes", look{itrace.Memory, "", "", false, "\n"}, func(w *widths) { w.value, w.bytes = 16, 9 }, true, false},
	{"a size of two digits", look{itrace.Memory, "", "", false, "\n"}, func(w *widths) { w.size = 2 }, false, false},
	{"a name of 1 character", look{itrace.Register, "", "", false, "\n"}, func(w *widths) { w.name = 1 }, true, true},
	{"a name of 7 characters", look{itrace.Register, "", "", false, "\n"}, func(w *widths) { w.name = 7 }, true, true},
	{"a name of 8 characters", look{itrace.Register, "", "", false, "\n"}, func(w *widths) { w.name = 8 }, false, false},
	{"a value of 1 digit", look{itrace.Register, "", "", false, "\n"}, func(w *widths) { w.value = 1 }, true, true},
	{"a value of 16 digits", look{itrace.Register, "", "", false, "\n"}, func(w *widths) { w.value = 16 }, true, true},
	{"a value of 17 digits", look{itrace.Register, "", "", false, "\n"}, func(w *widths) { w.value = 17 }, false, false},
}

// TestFast reads lines behind others of their look and sees whether the template and the fast path take them, as they should by
// their widths, and rightly in any case.
func TestFast(t *testing.T) {
	random := rand.New(rand.NewPCG(31, 32))
	for _, limit := range fastLimits {
		w := usual
		limit.set(&w)
		cpu, name := "1"+strings.Repeat("0", w.cpu-1), fill(random, w.name, 16)
		p := newParser()
		next := func() string { return lineOf(random, limit.look, w, cpu, name) }
		line := next()
		for range 20 {
			checkLine(t, p, line)
			line = next()
			var r itrace.Record
			if r.CPU = p.cpu; p.matchTemplate(roomy(line), &r) != limit.fast {
				t.Fatalf("%s: %q is read fast: want %v", limit.what, line, limit.fast)
			}
			if want, ok := reference(line, p.cpu); limit.fast && (!ok || meant(&r) != meant(&want)) {
				t.Fatalf("%s: %q is read fast as %s, want %s", limit.what, line, meant(&r), meant(&want))
			}
			checkBrief(t, limit.what, p, line, limit.look.end, limit.fastPath)
		}
	}
}

// checkBrief has the fast path read a line with another one behind it.
func checkBrief(t *testing.T, what string, p *parser, line, end string, taken bool) {
	t.Helper()
	text := []byte(line + end + line + end + line + end + strings.Repeat("7", 64))
	text = text[: 3*len(line+end) : len(text)]
	var briefs [2]itrace.Brief
	lines, next := p.FastPath(text[:cap(text)-swar.Lookahead], briefs[:])
	if want := map[bool]int{true: 2}[taken]; lines != want || next != lines*len(line+end) {
		t.Fatalf("%s: %d lines and %d bytes of %q are read on the fast path, want %d", what, lines, next, text, want)
	}
	r, _ := reference(line, p.cpu)
	for i, g := range briefs[:lines] {
		var name [8]byte
		copy(name[:], r.Name)
		ok := g.Kind == r.Kind && g.At == i*len(line+end)
		switch r.Kind {
		case itrace.Register:
			ok = ok && g.Value == r.Value && g.Name == eight(name)
		case itrace.Memory:
			ok = ok && g.Addr == r.Addr && g.Size == r.Size
		}
		if !ok {
			t.Fatalf("%s: %q is read on the fast path as %+v", what, line, g)
		}
	}
}

// TestFastPathEdges: the fast path takes a line only if enough is known to be behind it, is of the same processor, and ends as
// lines do.
func TestFastPathEdges(t *testing.T) {
	for _, pattern := range []string{"1 clk 0 IT (1) 00000004 3c080001 A svc : lui t0,0x1", "10 clk MR8 00103fc4 0010400000000000", "14 clk R r8 00000000"} {
		kind, _ := reference(pattern, 0)
		text := []byte(pattern + "\n" + strings.Repeat("7", 80))
		taken := 0
		for n := len(pattern); n <= len(pattern)+1+64; n++ {
			p := newParser()
			p.Parse(roomy(pattern), new(itrace.Record))
			p.Parse(roomy(pattern), new(itrace.Record))
			var briefs [1]itrace.Brief
			room := append([]byte(nil), text[:n+swar.Lookahead]...)
			lines, next := p.FastPath(room[:n:n+swar.Lookahead], briefs[:])
			if lines > 0 && (next != len(pattern)+1 || briefs[0].Kind != kind.Kind) || lines > 0 && n <= len(pattern) {
				t.Errorf("%d bytes of %q: %d lines, %d bytes, %+v", n, text[:n], lines, next, briefs[0])
			}
			taken += lines
		}
		if taken < 30 {
			t.Errorf("%q is read on the fast path with %d of 65 lengths of what is behind it", pattern, taken)
		}
	}
	p := newParser()
	p.Parse(roomy("1 clk 0 IT (1) 00000004 3c080001 A svc : nop"), new(itrace.Record))
	p.cpu = 1 // as if another line had been between
	text := []byte("1 clk 0 IT (1) 00000004 3c080001 A svc : nop\n" + strings.Repeat("7", 80))
	if lines, _ := p.FastPath(text[:len(text)-swar.Lookahead], make([]itrace.Brief, 1)); lines != 0 {
		t.Error("an instruction of another processor is read on the fast path")
	}
}

// TestTwoShapes has instructions of two widths by turns, which are both read fast, and of three, of which one is not.
func TestTwoShapes(t *testing.T) {
	lines := []string{"1 clk 0 IT (1) 00000004 3c080001 A svc : nop", "1 clk 0 IT (1) 00000006 4501 A svc : c.nop", "1 clk 0 IT (1) 00000008 0123456789ab A svc : long"}
	for _, of := range []int{2, 3} {
		p := newParser()
		fast := 0
		for i := range 60 {
			line := roomy(lines[i%of])
			var briefs [1]itrace.Brief
			text := append(line[:len(line):len(line)], "\n77777777777777777777777777777777777777777777777777777777777777777777777777777777"...)
			if lines, _ := p.FastPath(text[:len(text)-swar.Lookahead], briefs[:]); of == 2 && i > 2 && lines != 1 {
				t.Errorf("%q is not read on the fast path", line)
			}
			var r itrace.Record
			if p.matchTemplate(line, &r) {
				fast++
			}
			p.Parse(line, &r)
		}
		if of == 2 && fast != 58 || of == 3 && fast > 30 {
			t.Errorf("%d of 60 instructions of %d widths are read fast", fast, of)
		}
	}
}

// TestPlaces looks addresses and opcodes up, with many that share a place, and holds them against what their digits come to.
func TestPlaces(t *testing.T) {
	random := rand.New(rand.NewPCG(41, 42))
	for _, width := range []int{1, 7, 8, 9, 15, 16} {
		var seen places
		addresses, opcodes := make([]string, 30), make([]string, 5)
		for i := range addresses {
			addresses[i] = fill(random, width, 16)
			if i > 0 && i%3 == 0 && width == 16 { // with the same end as another
				addresses[i] = addresses[i][:8] + addresses[i-1][8:]
			}
		}
		for i := range opcodes {
			opcodes[i] = fill(random, 16, 16)
		}
		for range 20 {
			for opcode := 1; opcode <= 16; opcode++ {
				text := addresses[random.IntN(len(addresses))] + " " + opcodes[random.IntN(len(opcodes))][:opcode]
				if random.IntN(20) == 0 {
					at := random.IntN(len(text))
					text = text[:at] + "g" + text[at+1:]
				}
				room := roomy(text)
				address, code := span{0, width}, span{width + 1, width + 1 + opcode}
				addr, value, wrong := seen.find(room[:cap(room)], address, code)
				want, ok := number(text[:width], 16, 64)
				wantCode, fine := number(text[width+1:], 16, 64)
				if ok = ok && fine; ok != (wrong == 0) || ok && (addr != want || value != wantCode) {
					t.Fatalf("%q: %x, %x, wrong %x", text, addr, value, wrong)
				}
				// What has been seen is not converted again.
				cached := 0
				for i := range seen {
					if e := &seen[i]; e.address == want && e.opcode == wantCode && e.digits != [3]uint64{} {
						e.address++
						if got, _, _ := seen.find(room[:cap(room)], address, code); got == want+1 {
							cached++
						}
						e.address--
					}
				}
				if ok && cached != map[bool]int{true: 1}[(width == 8 || width == 16) && opcode <= 8] {
					t.Fatalf("%q: seen in %d places", text, cached)
				}
			}
		}
	}
}

// TestPlacesOfALoop goes round in a loop, of which most has to be found again.
func TestPlacesOfALoop(t *testing.T) {
	var seen places
	const n = 100
	kept := 0
	for round := range 2 {
		for i := range n {
			room := roomy(fmt.Sprintf("%08x %08x", 0x80001000+4*i, i))
			addr, _, _ := seen.find(room[:cap(room)], span{0, 8}, span{9, 17})
			if round == 1 && addr != 0 {
				continue
			}
			kept++
		}
		for i := range seen {
			seen[i].address = 0 // which is found instead where it was kept
		}
	}
	if kept -= n; kept < n*6/10 {
		t.Errorf("%d of %d instructions were found again", kept, n)
	}
}
