package amd64

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
)

// mustDecode decodes the instructions of a text in hexadecimal, one behind the other.
func mustDecode(t testing.TB, text string, at arch.Addr) (run []*Instruction) {
	t.Helper()
	for code := mustHex(t, text); len(code) > 0; code = code[run[len(run)-1].Len():] {
		in, err := Decode(code, at)
		if err != nil {
			t.Fatal(err)
		}
		run, at = append(run, in), in.Next()
	}
	return run
}

// show writes displaced code as one line, each boundary with what it means: "[pc]", or "[pc+8]" with something pushed.
func show(d *Displaced) string {
	var b strings.Builder
	for i, p := range d.Points {
		pushed := ""
		if p.Pushed != 0 {
			pushed = fmt.Sprintf("+%d", p.Pushed)
		}
		fmt.Fprintf(&b, "[%x%s]", uint64(p.PC), pushed)
		if i+1 < len(d.Points) {
			fmt.Fprintf(&b, " % x ", d.Code[p.Offset:d.Points[i+1].Offset])
		}
	}
	return b.String()
}

func TestDisplace(t *testing.T) {
	const low, high = 0x401000, 0x555555554000
	tests := []struct {
		name, code string
		from, at   arch.Addr
		want       string
	}{
		{"run", "55 48 89 e5 8b 05 00 01 00 00", low, 0x501000,
			"[401000] 55 [401001] 48 89 e5 [401004] 8b 05 00 01 f0 ff [40100a]"},
		{"jcc short", "74 10", low, 0x501000, "[401000] 0f 84 0c 00 f0 ff [401002]"},
		{"jcc near", "0f 85 10 00 00 00", low, 0x501000, "[401000] 0f 85 10 00 f0 ff [401006]"},
		{"jcc far", "74 10", low, high, "[401000] 75 0e [401012] ff 25 00 00 00 00 12 10 40 00 00 00 00 00 [401002]"},
		{"jmp", "eb 10", low, 0x501000, "[401000] e9 0d 00 f0 ff [401002]"},
		{"jmp far", "eb 10", low, high, "[401000] ff 25 00 00 00 00 12 10 40 00 00 00 00 00 [401002]"},
		{"loopne", "e0 10", low, 0x501000, "[401000] e0 02 [401002] eb 05 [401012] e9 09 00 f0 ff [401002]"},
		{"jrcxz far", "e3 10", low, high,
			"[401000] e3 02 [401002] eb 0e [401012] ff 25 00 00 00 00 12 10 40 00 00 00 00 00 [401002]"},
		{"call", "e8 00 01 00 00", low, 0x501000, "[401000] 68 05 10 40 00 [401105] e9 fb 00 f0 ff [401005]"},
		{"call in the upper half", "e8 00 01 00 00", high, high + 0x1000,
			"[555555554000] 68 05 40 55 55 [555555554000+8] c7 44 24 04 55 55 00 00 " +
				"[555555554105] e9 f3 f0 ff ff [555555554005]"},
		{"call of an address with bit 31", "e8 00 01 00 00", 0x80000000, 0x80001000,
			"[80000000] 68 05 00 00 80 [80000000+8] c7 44 24 04 00 00 00 00 [80000105] e9 f3 f0 ff ff [80000005]"},
		{"call register", "41 ff d3", low, 0x501000, "[401000] 68 03 10 40 00 [401000+8] 41 ff e3 [401003]"},
		{"call memory", "ff 50 08", low, 0x501000, "[401000] 68 03 10 40 00 [401000+8] ff 60 08 [401003]"},
		{"call through the pc", "ff 15 00 01 00 00", low, 0x501000,
			"[401000] 68 06 10 40 00 [401000+8] ff 25 fb 00 f0 ff [401006]"},
		{"call through the stack", "ff 14 24", low, 0x501000,
			"[401000] 68 03 10 40 00 [401000+8] ff a4 24 08 00 00 00 [401003]"},
		{"call through the stack, 8 bits", "ff 54 24 7c", low, 0x501000,
			"[401000] 68 04 10 40 00 [401000+8] ff a4 24 84 00 00 00 [401004]"},
		{"call through the stack, 32 bits", "ff 94 24 00 01 00 00", low, 0x501000,
			"[401000] 68 07 10 40 00 [401000+8] ff a4 24 08 01 00 00 [401007]"},
		{"call through the stack and an index", "42 ff 14 cc", low, 0x501000,
			"the instruction at 0x401000, callq *(%rsp,%r9,8), cannot be moved: it pushes the address behind it"},
		{"call through r12, not the stack", "41 ff 14 24", low, 0x501000,
			"[401000] 68 04 10 40 00 [401000+8] 41 ff 24 24 [401004]"},
		{"notrack call", "3e ff d0", low, 0x501000, "[401000] 68 03 10 40 00 [401000+8] 3e ff e0 [401003]"},
		{"call memory in the upper half", "ff 50 08", high, high + 0x1000,
			"[555555554000] 68 03 40 55 55 [555555554000+8] c7 44 24 04 55 55 00 00 [555555554000+8] ff 60 08 [555555554003]"},
		{"call through the end of the stack's reach", "ff 94 24 f8 ff ff 7f", low, 0x501000,
			"the instruction at 0x401000, callq *0x7ffffff8(%rsp), cannot be moved: it pushes the address behind it"},
		{"call of the stack pointer", "ff d4", low, 0x501000,
			"the instruction at 0x401000, call *%rsp, cannot be moved: it pushes the address behind it"},
		{"call below the stack", "ff 54 24 f8", low, 0x501000,
			"the instruction at 0x401000, callq *-0x8(%rsp), cannot be moved: it pushes the address behind it"},
		{"jecxz", "67 e3 10", low, 0x501000,
			"the instruction at 0x401000, jecxz 0x401013, cannot be moved: its branch target counts from its own address"},
		{"syscall", "90 0f 05", low, 0x501000, "the instruction at 0x401001, syscall, cannot be moved: it enters the kernel"},
		{"x87", "d9 c0", low, 0x501000, "the instruction at 0x401000, fld %st, cannot be moved: the x87 unit records its address"},
		{"operand out of reach", "8b 05 00 01 00 00", low, high, "the instruction at 0x401000, mov 0x100(%rip),%eax, " +
			"cannot be moved: its operand at 0x401106 is out of reach from 0x555555554000"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			run := mustDecode(t, test.code, test.from)
			d, err := Displace(run, test.at)
			got := ""
			if err == nil {
				got = show(d)
			} else {
				var refusal *DisplaceError
				if !errors.As(err, &refusal) {
					t.Errorf("the error is a %T", err)
				}
				got = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestDisplacedMap: the map leads both ways, and an instruction of the run that is also the target of a branch has its copy for
// an answer, not the branch.
func TestDisplacedMap(t *testing.T) {
	const at = 0x501000
	d, err := Displace(mustDecode(t, "e3 01 90 55", 0x401000), at) // the branch goes to the push
	if err != nil {
		t.Fatal(err)
	}
	if got := show(d); got != "[401000] e3 02 [401002] eb 05 [401003] e9 fa ff ef ff [401002] 90 [401003] 55 [401004]" {
		t.Fatal(got)
	}
	for pc, want := range map[arch.Addr]int{0x401000: 0, 0x401002: 9, 0x401003: 10, 0x401004: 11, 0x401001: -1, 0x401005: -1} {
		if got, ok := d.Offset(pc); ok != (want >= 0) || ok && got != want {
			t.Errorf("the copy of %v is at %d, %v; want %d", pc, got, ok, want)
		}
	}
	for offset, want := range map[int]arch.Addr{0: 0x401000, 2: 0x401002, 4: 0x401003, 10: 0x401003, 11: 0x401004, 1: 0, 12: 0} {
		if got, ok := d.Original(offset); ok != (want != 0) || got.PC != want {
			t.Errorf("offset %d is %v, %v; want %v", offset, got.PC, ok, want)
		}
	}
}

// TestFalls: a run ends in one of these.
func TestFalls(t *testing.T) {
	for code, want := range map[string]bool{
		"90": true, "74 00": true, "e2 00": true, "67 e3 00": true, "e8 00 00 00 00": true, "ff d0": true, "c7 f8 00 00 00 00": true,
		"eb 00": false, "e9 00 00 00 00": false, "ff e0": false, "ff 28": false, "c3": false, "cb": false,
	} {
		if in := mustDecode(t, code, 0x401000)[0]; in.Falls() != want {
			t.Errorf("%v: %v", in, in.Falls())
		}
	}
}

// TestReach holds Reach against what Displace refuses at its two ends.
func TestReach(t *testing.T) {
	for _, from := range []arch.Addr{0x1000, 0x401000, 0x555555554000, userEnd - 0x1000} {
		run := mustDecode(t, "8b 05 f0 ff ff 7f 90 81 3d 00 00 00 80 78 56 34 12", from)
		for _, run := range [][]*Instruction{run[:1], run[:2], run[1:2], run[2:], run} {
			low, high := Reach(run, 17)
			for at, want := range map[arch.Addr]bool{low: true, low - 32: low == 0, high: true, high + 32: high == userEnd} {
				if _, err := Displace(run, at); low < high && (err == nil) != want {
					t.Errorf("%d instructions from %v, reach [%v, %v): at %v: %v", len(run), from, low, high, at, err)
				}
			}
		}
	}
}

// awkward are instructions that Displace rewrites, some of which libc has not got.
var awkward = []string{
	"e0 20", "e1 20", "e2 20", "e3 20", "eb 20", "e9 00 10 00 00", "e8 00 10 00 00", "e8 fb ff ff ff",
	"ff d0", "41 ff d3", "ff 10", "ff 53 08", "ff 14 24", "ff 54 24 10", "ff 94 24 00 01 00 00", "41 ff 14 24", "ff 15 00 00 00 00",
	"3e ff d0", "f2 ff d1", "ff 14 c7", "42 ff 14 cc", "ff e1", "ff 20", "ff 25 00 00 00 00", "c3", "c2 08 00",
	"70 20", "71 20", "72 20", "73 20", "74 20", "75 20", "76 20", "77 20", "78 20", "79 20", "7a 20", "7b 20", "7c 20", "7d 20",
	"7e 20", "7f 20", "0f 84 00 10 00 00", "0f 8f 00 10 00 00", "74 01", "75 02",
}

// TestDisplaceAsProcessor runs sequences of instructions, in place and displaced, with the same random registers. All that can be
// seen afterwards must agree, if what stopped the thread was a fault as well.
func TestDisplaceAsProcessor(t *testing.T) {
	const wanted = 12_000
	rng := rand.New(rand.NewPCG(15, 2))
	pool := objdump(t, libc(t))
	var cases []nativeCase // an original and its copy, alternating
	var copies []*Displaced
	for len(copies) < wanted {
		run := randomRun(rng, pool)
		d, err := Displace(run, slotAt)
		if err != nil || len(run) == 0 {
			continue
		}
		var original []byte
		for _, in := range run {
			original = append(original, in.Code()...)
		}
		regs := randomRegs(rng, originalAt)
		regs[RCX] &= 0xff
		cases = append(cases, nativeCase{regs: regs, code: original})
		regs[RIP] = slotAt
		cases = append(cases, nativeCase{regs: regs, code: d.Code, other: []nativePart{{originalAt, original}}})
		copies = append(copies, d)
	}
	results := runNative(t, cases)
	completed, inside, pushed := 0, 0, 0
	for i, d := range copies {
		original, copied := results[2*i], results[2*i+1]
		if offset := copied.regs[RIP] - slotAt; offset <= uint64(len(d.Code)) {
			p, ok := d.Original(int(offset))
			if !ok {
				t.Errorf("%s: stopped at offset %d, which means nothing", show(d), offset)
			}
			inside++
			if badStack(&original) {
				copied.exception = original.exception // a call has two reasons to fault, and its copy the other one first
			}
			pushed += min(p.Pushed, 1)
			copied.regs[RIP] = uint64(p.PC)
			copied.regs[RSP] += uint64(p.Pushed)
			if p.Pushed != 0 { // the program finds there what was below its stack
				delete(copied.memory, copied.regs[RSP]-8)
				delete(original.memory, copied.regs[RSP]-8)
			}
		}
		if diff := cmp.Diff(original, copied, cmp.AllowUnexported(nativeResult{})); diff != "" {
			t.Errorf("%s with %x:\n%s", show(d), cases[2*i].regs, diff)
		}
		if original.left(&cases[2*i]) {
			completed++
		}
	}
	t.Logf("%d runs, %d left their beginning, %d copies stopped inside, %d of them with something pushed",
		wanted, completed, inside, pushed)
	if completed < wanted/2 || inside < wanted/4 || pushed < 20 {
		t.Error("too few")
	}
}

// badStack reports whether a push would fault.
func badStack(r *nativeResult) bool {
	return r.regs[RSP] < dataRegion+8 || r.regs[RSP] > dataRegion+dataRegionSize
}

// randomRun is one to four instructions at originalAt: neighbours in the pool with, now and then, an awkward one among them. None
// branches back into the run, which might never end.
func randomRun(rng *rand.Rand, pool []disassembled) (run []*Instruction) {
	at, n := arch.Addr(originalAt), 1+rng.IntN(4)
	for first := rng.IntN(len(pool) - n); len(run) < n; first++ {
		code, text := pool[first%len(pool)].code, pool[first%len(pool)].text
		if rng.IntN(4) == 0 {
			code, text = unhex(awkward[rng.IntN(len(awkward))]), ""
		}
		in, err := Decode(retarget(code, at, rng), at)
		if err != nil || unrepeatable.MatchString(text) {
			n--
			continue
		}
		if target, ok := in.Target(); ok && target >= originalAt && target < in.Next() {
			n--
			continue
		}
		run, at = append(run, in), in.Next()
	}
	return run
}

// unhex decodes hexadecimal that is known to be right.
func unhex(text string) (code []byte) {
	for _, field := range strings.Fields(text) {
		var b byte
		fmt.Sscanf(field, "%02x", &b)
		code = append(code, b)
	}
	return code
}

// TestScanAsDecode holds Scan against Decode over libc.
func TestScanAsDecode(t *testing.T) {
	list := objdump(t, libc(t))
	var text []byte
	for _, d := range list {
		text = append(text, d.code...)
	}
	if at := list[0].at; int(list[len(list)-1].at-at)+len(list[len(list)-1].code) != len(text) {
		t.Fatal("objdump left bytes out")
	}
	steps, targets, unknown, beside := 0, 0, 0, 0
	Scan(text, list[0].at, func(s Step) {
		steps++
		_, found := slices.BinarySearchFunc(list, s.At, func(d disassembled, at arch.Addr) int { return int(d.at) - int(at) })
		if !found {
			beside++
		}
		in, err := Decode(text[s.At-list[0].at:], s.At)
		if s.Unknown {
			unknown++
			if err == nil {
				t.Errorf("%v is unknown, but is %v", s.At, in)
			}
			return
		}
		if err != nil {
			return
		}
		target, direct := in.Target()
		if direct {
			targets++
		}
		indirect := in.Flow() == FlowJump && !in.Falls() && !direct
		if s.Len != in.Len() || s.Flow != in.Flow() || direct && s.Target != target || s.Indirect != indirect {
			t.Errorf("%v is %+v, not %v", s.At, s, in)
		}
	})
	t.Logf("%d steps for %d instructions, %d targets, %d unknown, %d beside an instruction of objdump's",
		steps, len(list), targets, unknown, beside)
	if targets < 10_000 || unknown > len(list)/1000 || beside > len(list)/1000 {
		t.Error("too many or too few")
	}
}

func BenchmarkScan(b *testing.B) {
	code := bytes.Repeat(unhex("55 48 89 e5 8b 05 00 01 00 00 74 10 e8 00 01 00 00 0f 1f 44 00 00 c5 fa 6f 05 00 01 00 00 c3"), 1000)
	n := 0
	for b.Loop() {
		Scan(code, 0x401000, func(Step) { n++ })
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/instruction")
}
