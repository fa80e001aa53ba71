//go:build linux && amd64

package fast

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/internal/sys"
)

// Where the instructions of moved part, and where the pads are: of the second site, and of the copies for threads that do not count.
const (
	secondAddr = siteAddr + 4
	secondPad  = padAddr + 0x4000
	copyPad    = padAddr + 0x8000
)

// neighbours is two sites whose instructions one jump displaces.
type neighbours struct {
	*victim
	pads    [3]*Pad
	before  [2]amd64.UserRegs // at the sites
	want    []outcome
	reader  *Reader
	at      uint64 // where the thread was taken out
	numbers []int  // of the tracepoints' bytes
}

// TestRow executes two pads of which the first leads to the second, and the pad of the copies of both for threads that do not count,
// one instruction at a time, and takes the thread out at every place that it comes to. It goes on where such a thread would: at a
// site in the pad there, elsewhere in the copy. Each site makes one record.
func TestRow(t *testing.T) {
	v := newVictim(t)
	rng := rand.New(rand.NewPCG(3, 4))
	for _, counts := range []bool{true, false} {
		for _, condition := range []string{"", "reg 4\nref8\nconst8 0\nequal\nlog_not\nend"} {
			r := newRow(v, rng, condition)
			steps := 0
			for ends := false; !ends; steps++ {
				if ends = r.takeOut(steps, counts); steps > 1000 || t.Failed() {
					t.Fatalf("after %d instructions, at %#x", steps, r.at)
				}
			}
			t.Logf("counts %v, condition %q: taken out after up to %d instructions", counts, condition, steps)
		}
	}
}

// newRow builds the pads and puts them into the victim.
func newRow(v *victim, rng *rand.Rand, condition string) *neighbours {
	t := v.t
	r := &neighbours{victim: v, numbers: []int{1, 2}}
	sites := []Site{
		{Addr: siteAddr, Pad: padAddr, Next: secondAddr, Onward: secondPad},
		{Addr: secondAddr, Pad: secondPad, Next: siteAddr + arch.Addr(len(moved))},
		{Addr: siteAddr, Pad: copyPad, Next: siteAddr + arch.Addr(len(moved))},
	}
	parts := [][]byte{moved[:secondAddr-siteAddr], moved[secondAddr-siteAddr:], moved}
	v.WriteMemory(siteAddr, append(slices.Clone(moved), 0xcc))
	for i := range sites {
		s := &sites[i]
		s.Arena, s.Index, s.Registers = &v.arena, 5+i, coreRegisters(t)
		s.Displace = func(arch.Addr) ([]byte, error) { return parts[i], nil }
		build := BuildCopy
		if i < 2 {
			tp := tracepoint(t, i+1, condition, "R", "M 4 0 16")
			tp.Addr = s.Addr
			s.Tracepoints = []Tracepoint{tp}
			build = Build
		}
		pad, err := build(s)
		if err != nil {
			t.Fatal(err)
		}
		r.pads[i] = pad
		v.WriteMemory(s.Pad, pad.Code)
	}
	regs := v.registers()
	for i := range regs[:amd64.RSI+2] {
		regs[i] = rng.Uint64()
	}
	regs[amd64.OrigRAX] = ^uint64(0)
	regs[amd64.RSI], regs[amd64.RSP] = dataRegion+0x10, stackRegion+stackSize/2
	regs[amd64.EFlags] = 0x202 | rng.Uint64()&(flagsOfLahf|flagOverflow)
	v.fill()
	for i := range r.before { // the processor says what the first instruction does
		regs[amd64.RIP] = uint64(sites[i].Addr)
		v.setRegisters(regs)
		regs = v.registers()
		r.before[i] = regs
		o := oracle{site: sites[i].Addr, regs: regs, memory: v, registers: coreBlock(&regs)}
		binary.LittleEndian.PutUint64(o.registers[8*remotePC:], uint64(sites[i].Addr))
		r.want = append(r.want, o.hit(sites[i].Tracepoints)...)
		v.resume(sys.Step)
		regs = v.registers()
	}
	return r
}

// takeOut executes n instructions, takes the thread out, and lets it go on to the end. It reports whether it was there before.
func (r *neighbours) takeOut(n int, counts bool) (over bool) {
	r.reader = r.begin()
	for i, number := range r.numbers {
		r.reader.Define(r.pads[i].Slots)
		r.control.Enable(number, true)
	}
	r.fill()
	regs := r.before[0]
	regs[amd64.RIP] = padAddr
	if !counts {
		regs[amd64.RIP] = copyPad
	}
	r.setRegisters(regs)
	for i := 0; i < n && !over; i++ {
		r.resume(sys.Step)
		regs = r.registers()
		over = regs[amd64.RIP] == uint64(siteAddr+len(moved))
	}
	r.at = regs[amd64.RIP]
	if !over {
		r.leave(&regs, counts)
		r.setRegisters(regs)
	}
	if signal := r.resume(sys.Cont); signal != sigTrap {
		r.t.Errorf("signal %d at %#x", signal, r.registers()[amd64.RIP])
	}
	r.check(counts)
	return over
}

// leave takes the thread out of the pad that it is in, and sends it on from where it is in the program.
func (r *neighbours) leave(regs *amd64.UserRegs, counts bool) {
	i := slices.IndexFunc(r.pads[:], func(p *Pad) bool { return arch.Addr(r.at)-p.Addr < arch.Addr(len(p.Code)) })
	if i < 0 {
		r.t.Fatalf("the thread is at %#x", r.at)
	}
	out := r.pads[i].Leave(regs, r.victim)
	if out.Void {
		r.reader.Void(r.pads[i].Slots, out.Position)
	}
	site := i % 2
	switch out.Exit {
	case Again, Past:
		pc := regs[amd64.RIP]
		if out.Exit == Again && pc != r.before[site][amd64.RIP] {
			r.t.Errorf("again at %#x", pc)
		}
		want := r.before[site]
		want[amd64.RIP] = pc
		if *regs != want {
			r.t.Errorf("exit %d of pad %d: registers %x, want %x", out.Exit, i, *regs, want)
		}
		if out.Exit == Again {
			regs[amd64.RIP] = uint64(r.pads[i].Addr)
		}
	case Among: // between the two copies
		if counts || regs[amd64.RIP] != copyPad+secondAddr-siteAddr {
			r.t.Errorf("among the copies of pad %d, at %#x", i, regs[amd64.RIP])
		}
	case Done:
		if counts && regs[amd64.RIP] == secondAddr { // under the jump, so on in the pad
			regs[amd64.RIP] = secondPad
		} else if regs[amd64.RIP] != uint64(siteAddr+len(moved)) {
			r.t.Errorf("done with pad %d, at %#x", i, regs[amd64.RIP])
		}
	default:
		r.t.Errorf("exit %d", out.Exit)
	}
}

// check compares registers, stack and records with what they should be in the end.
func (r *neighbours) check(counts bool) {
	got, want := r.registers(), r.before[1]
	want[amd64.RAX] = 42
	want[amd64.RIP] = uint64(siteAddr + len(moved) + 1)
	if got != want {
		r.t.Errorf("in the end the registers are %x, want %x", got, want)
	}
	stack := make([]byte, stackSize)
	r.ReadMemory(stackRegion, stack)
	if kept := int(want[amd64.RSP]-stackRegion) - redZone; !bytes.Equal(stack[kept:], stackPattern()[kept:]) {
		r.t.Error("the stack was overwritten")
	}
	var made []outcome
	if _, err := r.reader.Drain(1<<20, each(func(record *Record) {
		made = append(made, outcome{key: record.Key, frame: bytes.Clone(record.Frames)})
	})); err != nil {
		r.t.Error(err)
	}
	if !counts {
		if len(made) > 0 {
			r.t.Errorf("%d records of a thread that does not count", len(made))
		}
		return
	}
	if diff := cmp.Diff(r.want, made, cmp.AllowUnexported(outcome{})); diff != "" {
		r.t.Errorf("records (-want +got):\n%s", diff)
	}
}
