package jump

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/internal/test/testtool"
)

// The regions of the native program (arch/amd64/testdata/native.c), and the numbers of registers in its lines.
const (
	codeRegion = 0x10000000
	dataRegion = 0x20000000
	dataSize   = 0x4000
	regRCX     = 11
	regRIP     = 15
	regRSP     = 17
)

// part is code at an address.
type part struct {
	at   arch.Addr
	code []byte
}

// state is how a case begins: registers in the native program's order, and code, that is at the pc and elsewhere.
type state struct {
	regs  [18]uint64
	parts []part
}

// outcome is how it ended. A pc behind int3 has been put back onto it.
type outcome struct {
	Exception uint64
	Regs      [18]uint64
	Rest      string // vectors
	Memory    map[uint64]string
}

// runNative runs cases on the processor.
func runNative(t *testing.T, cases []state) []outcome {
	t.Helper()
	program := filepath.Join(t.TempDir(), "native")
	build := testtool.Command(t, "gcc", "-O1", "-fno-stack-protector", "-o", program, "../../../arch/amd64/testdata/native.c")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build native.c: %v\n%s", err, out)
	}
	var input strings.Builder
	for _, c := range cases {
		input.WriteString(strings.Trim(fmt.Sprintf("%x", c.regs), "[]"))
		for _, p := range c.parts {
			fmt.Fprintf(&input, " %x=%x", uint64(p.at), p.code)
		}
		input.WriteByte('\n')
	}
	run := exec.Command(program)
	run.Stdin = strings.NewReader(input.String())
	out, err := run.Output()
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if err != nil || len(lines) != len(cases) {
		t.Fatalf("native: %v, %d lines for %d cases", err, len(lines), len(cases))
	}
	outcomes := make([]outcome, len(cases))
	for i, line := range lines {
		o := &outcomes[i]
		fields := strings.Fields(line)
		o.Exception = number(t, fields[0])
		for r := range o.Regs {
			o.Regs[r] = number(t, fields[1+r])
		}
		o.Rest, o.Memory = fields[19], map[uint64]string{}
		for _, change := range fields[20:] {
			addr, word, _ := strings.Cut(change, "=")
			o.Memory[number(t, addr)] = word
		}
	}
	return outcomes
}

func number(t *testing.T, text string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(text, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// exceptions are the numbers of the processor's exceptions behind the signals.
var exceptions = map[Signal]uint64{Illegal: 6, Trap: 3, Segv: 13}

// TestGuardsTrap executes every guard, with many different bytes behind it.
func TestGuardsTrap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var cases []state
	var want []Signal
	for opcode, signal := range trapping {
		for n := 0; signal != 0 && n < 100; n++ {
			code := binary.LittleEndian.AppendUint64([]byte{byte(opcode)}, rng.Uint64())
			c := state{parts: []part{{codeRegion + 0x20000, code}}}
			c.regs = randomRegs(rng, c.parts[0].at)
			cases, want = append(cases, c), append(want, signal)
		}
	}
	for i, o := range runNative(t, cases) {
		before := cases[i].regs
		before[regRIP+1] = o.Regs[regRIP+1] // a fault sets the resume flag
		if o.Exception != exceptions[want[i]] || o.Regs != before || len(o.Memory) > 0 {
			t.Errorf("% x: exception %d at %x, not %v at %x", cases[i].parts[0].code, o.Exception, o.Regs[regRIP], want[i], before[regRIP])
		}
	}
	if len(cases) != 21*100 {
		t.Errorf("%d cases", len(cases))
	}
}

// randomRegs gives registers that are good addresses often enough, and a good stack.
func randomRegs(rng *rand.Rand, pc arch.Addr) (regs [18]uint64) {
	for i := range regs {
		switch regs[i] = dataRegion + 0x400 + rng.Uint64N(0x600)*8; rng.IntN(6) {
		case 0:
			regs[i] = rng.Uint64()
		case 1:
			regs[i] = rng.Uint64N(4)
		case 2:
			regs[i] = codeRegion + 0x1000 + rng.Uint64N(0x1000)*16
		}
	}
	regs[regRCX] &= 0xff // counts of string instructions
	regs[regRIP] = uint64(pc)
	regs[regRIP+1] = 0x202 | rng.Uint64()&0x8d5
	regs[regRSP] = dataRegion + 0x1000 + rng.Uint64N(0x200)*8
	return regs
}

// unrepeatable are the instructions that do not do the same twice, or that the test cannot do without.
var unrepeatable = regexp.MustCompile(`rdtsc|rdrand|rdseed|rdpmc|cpuid|rdpid|fsbase|gsbase|%fs|%gs|pkru|xrstor|xsave`)

// pool returns instructions of libc that can be displaced.
func pool(t *testing.T) (instructions []*amd64.Instruction) {
	m := libc(t)
	for i := 0; i < len(m.functions); i++ {
		f := m.functions[i]
		for at := f.Start; at < f.End; {
			in, err := amd64.Decode(m.bytes(at), at)
			if err != nil {
				break
			}
			if in.CanDisplace() && !unrepeatable.MatchString(in.String()) {
				instructions = append(instructions, in)
			}
			at = in.Next()
		}
	}
	return instructions
}

// stopper is an opcode that traps. It follows the code of a case, so that puns end in it and go to addresses above.
const stopper = 0x06

// randomCode is one to four instructions of the pool, as they are at an address, and where each begins. Operands relative to the pc
// are in the data region. Branches to the code itself are left out, which might never end, and to the padding behind it. Now and
// then there is an indirect jump at the end.
func randomCode(rng *rand.Rand, pool []*amd64.Instruction, at arch.Addr) (code []byte) {
	first := rng.IntN(len(pool) - 4)
	for _, in := range pool[first:][:1+rng.IntN(4)] {
		pc := at + arch.Addr(len(code))
		bytes := append([]byte(nil), in.Code()...)
		if low, high := amd64.Reach([]*amd64.Instruction{in}, 0); low != 0 || high != 1<<47 {
			bytes = retarget(bytes, pc, rng)
		}
		moved, err := amd64.Decode(bytes, pc)
		if err != nil {
			continue
		}
		if to, ok := moved.Target(); ok && to >= at && to <= at+0x100 {
			continue
		}
		code = append(code, bytes...)
	}
	if rng.IntN(8) == 0 {
		code = append(code, 0xff, 0xe0)
	}
	return code
}

// retarget has the displacement of an instruction name an address in the data region; nil if that does not work. Behind the
// displacement is an immediate of up to four bytes; how long it is is found out by trying.
func retarget(code []byte, pc arch.Addr, rng *rand.Rand) []byte {
	operand := dataRegion + arch.Addr(rng.IntN(0x80))*64
	disp := uint32(operand - pc - arch.Addr(len(code)))
	for tail := range 5 {
		if len(code) < tail+5 {
			break
		}
		changed := append([]byte(nil), code...)
		binary.LittleEndian.PutUint32(changed[len(code)-tail-4:], disp)
		in, err := amd64.Decode(changed, pc)
		if err != nil || in.Len() != len(code) {
			continue
		}
		if _, high := amd64.Reach([]*amd64.Instruction{in}, 0); high == operand+reach {
			return changed
		}
	}
	return nil
}

// TestPlansAsProcessor runs code as it is and patched, and enters the patch at every guard. Registers, memory and the way it ends
// have to be the same, apart from what the guards make of a pc.
func TestPlansAsProcessor(t *testing.T) {
	const wanted = 4000
	rng := rand.New(rand.NewPCG(15, 3))
	instructions := pool(t)
	var run comparison
	var rungs [Unclean + 1]int
	for n := 0; n < wanted; {
		at := codeRegion + 0x20000 + arch.Addr(rng.IntN(pageSize))
		code := randomCode(rng, instructions, at)
		if len(code) == 0 {
			continue
		}
		p := nativePlanner(at, code, rng.IntN(4))
		original := append(append([]byte(nil), code...), stopper, stopper, stopper, stopper, stopper, stopper, stopper)
		plan, err := p.Plan(Site{Addr: at, Code: original})
		if err != nil {
			continue
		}
		n++
		rungs[plan.Rung]++
		run.add(t, rng, p, plan, original)
	}
	run.compare(t)
	t.Logf("plans by rung: %v, %d of %d cases completed, %d guards", rungs, run.completed, len(run.pairs), run.guards)
	for rung, n := range rungs {
		if n < 20 {
			t.Errorf("only %d plans by %v", n, Rung(rung))
		}
	}
	if run.completed < len(run.pairs)/2 || run.guards < wanted/4 {
		t.Error("too few")
	}
}

// nativePlanner returns a planner for code at an address of the native program. What it can use decides which rungs are open:
// all there is, only padding, or only addresses so near that no pun leads there.
func nativePlanner(at arch.Addr, code []byte, open int) *Planner {
	const apart = 1 << 20
	targets := NewTargets(Range{at &^ 0xfff, at + 0x10000})
	targets.Sweep(code, at)
	p := &Planner{Targets: targets, Room: NewRoom(nil), Pads: Range{codeRegion + 0x100000, codeRegion + 0x180000}}
	switch open {
	case 0:
		p.Room = NewRoom([]Range{{codeRegion + 3*apart, codeRegion + 32*apart}})
	case 1:
		p.Padding = []Filler{{at + 0x60, []byte(strings.Repeat("\xcc", 64))}}
	default:
		p.Room = NewRoom([]Range{
			{apart, codeRegion - apart}, {codeRegion + 3*apart, dataRegion - apart}, {dataRegion + apart, codeRegion + reach},
		})
	}
	return p
}

// comparison is cases in pairs that have to end alike.
type comparison struct {
	cases     []state
	pairs     []pair
	completed int
	guards    int
}

// pair is two cases: the original, and the patched one; or one that has to trap.
type pair struct {
	plan     *Plan
	copied   *amd64.Displaced
	original int
	patched  int
	guard    *Guard // original is not used
}

// add makes the cases of a plan.
func (c *comparison) add(t *testing.T, rng *rand.Rand, p *Planner, plan *Plan, original []byte) {
	t.Helper()
	pad := p.Pads.Start + arch.Addr(rng.IntN(0x1000))
	copied, err := amd64.Displace(plan.Run, pad)
	if err != nil {
		t.Fatal(err)
	}
	back := plan.Run[len(plan.Run)-1].JumpBack(pad + arch.Addr(len(copied.Code)))
	writes, err := plan.Writes(pad)
	if err != nil {
		t.Fatal(err)
	}
	patched := append([]byte(nil), original...)
	parts := []part{{pad, append(append([]byte(nil), copied.Code...), back...)}}
	for _, w := range writes {
		if w.Addr == plan.Addr {
			copy(patched, w.New)
			continue
		}
		parts = append(parts, part{w.Addr, w.New})
	}
	parts = append(parts, part{plan.Addr, patched})
	before := []part{{plan.Addr, original}}
	regs := randomRegs(rng, plan.Addr)
	c.pair(pair{plan: plan, copied: copied}, regs, before, plan.Addr, parts, plan.Addr)
	for i := range plan.Guards {
		g := &plan.Guards[i]
		c.pair(pair{plan: plan, copied: copied, guard: g}, regs, before, plan.Addr, parts, g.PC)
		offset, ok := copied.Offset(g.PC)
		if !ok {
			t.Errorf("no copy of %v", g.PC)
		}
		c.pair(pair{plan: plan, copied: copied}, regs, before, g.PC, parts, pad+arch.Addr(offset))
		c.guards++
	}
}

// pair adds a pair of cases that begin at these addresses.
func (c *comparison) pair(p pair, regs [18]uint64, original []part, from arch.Addr, patched []part, patchedFrom arch.Addr) {
	p.original, p.patched = len(c.cases), len(c.cases)+1
	regs[regRIP] = uint64(from)
	c.cases = append(c.cases, state{regs, original})
	regs[regRIP] = uint64(patchedFrom)
	c.cases = append(c.cases, state{regs, patched})
	c.pairs = append(c.pairs, p)
}

// compare runs the cases.
func (c *comparison) compare(t *testing.T) {
	t.Helper()
	outcomes := runNative(t, c.cases)
	for _, p := range c.pairs {
		want, got := outcomes[p.original], outcomes[p.patched]
		if p.guard != nil {
			want = outcome{Exception: exceptions[p.guard.Signal], Regs: c.cases[p.patched].regs, Rest: got.Rest, Memory: map[uint64]string{}}
			if p.guard.Signal != Trap {
				want.Regs[regRIP+1] |= 1 << 16 // the processor sets the resume flag for faults
			}
		} else if offset := arch.Addr(got.Regs[regRIP]) - p.copied.At; offset < arch.Addr(len(p.copied.Code)) {
			point, ok := p.copied.Original(int(offset))
			if !ok {
				t.Errorf("stopped at offset %d of the copy, which means nothing", offset)
			}
			got.Regs[regRIP] = uint64(point.PC)
			if got.Regs[regRSP] += uint64(point.Pushed); point.Pushed != 0 {
				delete(got.Memory, got.Regs[regRSP]-8)
				delete(want.Memory, got.Regs[regRSP]-8)
			}
		}
		if want.Regs[regRIP] != c.cases[p.original].regs[regRIP] {
			c.completed++
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the %v at %v, guards %v, %v, pc %x:\n%s", p.plan.Rung, p.plan.Addr, p.plan.Guards, p.plan.Run,
				c.cases[p.patched].regs[regRIP], diff)
		}
	}
}
