//go:build linux && amd64

package fast

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/arch/amd64"
)

// TestRandomSites holds pads of random tracepoints, at hits with random registers, against the oracle. The thread is taken out of
// each at some instruction.
func TestRandomSites(t *testing.T) {
	v := newVictim(t)
	rng := rand.New(rand.NewPCG(19, 20))
	built, refused := 0, 0
	for i := range 150 {
		g := generator{rng}
		p := path{name: fmt.Sprintf("site %d", i), regs: g.registers, variables: map[uint16]int64{7: 3, 9: -1},
			noRedZone: rng.IntN(2) == 0}
		if rng.IntN(4) == 0 {
			p.whenFull = Drop
		}
		var texts []string
		for n := range 1 + rng.IntN(4)*rng.IntN(2) {
			condition, actions := g.tracepoint()
			texts = append(texts, fmt.Sprintf("condition %q, actions %q", condition, actions))
			p.tracepoints = append(p.tracepoints, tracepoint(t, n+1, condition, actions...))
		}
		n := &named{TB: t, name: p.name}
		v.t = n
		if err := v.buildable(p); err != nil {
			refused++
			continue
		}
		built++
		w := newWalk(v, p, rng)
		for range 3 {
			w.takeOut(rng.IntN(200))
		}
		w.takeOut(4000)
		if n.failed {
			t.Fatalf("%s, at %#x of the pad:\n%s", p.name, w.at, strings.Join(texts, "\n"))
		}
	}
	t.Logf("%d pads, %d refused", built, refused)
	if refused > built/4 {
		t.Errorf("%d of %d sites are refused", refused, built+refused)
	}
}

// generator makes tracepoints and registers.
type generator struct{ *rand.Rand }

// registers points some of the registers at data, at nothing, or at the end of what there is.
func (g generator) registers(r *amd64.UserRegs) {
	for _, i := range userIndex {
		if i == amd64.RSP {
			continue
		}
		switch g.IntN(8) {
		case 0:
			r[i] = g.Uint64N(100)
		case 1:
			r[i] = nowhere - g.Uint64N(20)
		case 2:
			r[i] = g.Uint64()
		default:
			r[i] = dataRegion + g.Uint64N(dataSize-1024)
		}
	}
	if g.IntN(10) == 0 {
		r[amd64.EFlags] |= flagDirection
	}
}

func (g generator) register() int { return g.IntN(16) }

// value is code that leaves one value.
func (g generator) value(depth int) string {
	binary := []string{"add", "sub", "mul", "bit_and", "bit_or", "bit_xor", "equal", "less_signed", "less_unsigned", "lsh",
		"rsh_signed", "div_signed", "rem_unsigned"}
	switch n := g.IntN(10); {
	case depth <= 0 || n < 2:
		switch g.IntN(4) {
		case 0:
			return fmt.Sprintf("const8 %d", g.IntN(256))
		case 1:
			return fmt.Sprintf("reg %d", []int{16, 17, 18}[g.IntN(3)])
		case 2:
			return fmt.Sprintf("getv %d", 7+g.IntN(4))
		default:
			return fmt.Sprintf("reg %d", g.register())
		}
	case n < 4:
		return g.pointer() + "\n" + []string{"ref8", "ref16", "ref32", "ref64"}[g.IntN(4)]
	case n < 5:
		return g.value(depth-1) + "\n" + []string{"log_not", "bit_not", "ext 8", "zero_ext 16"}[g.IntN(4)]
	default:
		return g.value(depth-1) + "\n" + g.value(depth-1) + "\n" + binary[g.IntN(len(binary))]
	}
}

// pointer is code that leaves what may be an address.
func (g generator) pointer() string {
	if g.IntN(3) == 0 {
		return fmt.Sprintf("const32 %d", dataRegion+g.IntN(dataSize-100))
	}
	return fmt.Sprintf("reg %d\nconst16 %d\nadd", g.register(), g.IntN(300))
}

// tracepoint is a condition, and actions of all kinds.
func (g generator) tracepoint() (condition string, actions []string) {
	if g.IntN(3) > 0 {
		condition = g.value(2)
		if g.IntN(2) == 0 {
			condition += "\nlog_not\nlog_not"
		}
	}
	for range g.IntN(5) {
		var a string
		switch g.IntN(9) {
		case 0:
			a = "R"
		case 8:
			a = g.value(1) + "\n" + g.value(2) + "\nconst8 0\nconst8 0\nprintf 2 `%lx %c\\n`"
		case 1, 2:
			r, offset := g.register(), g.IntN(600)-100
			if r == 7 { // what is below the stack is the pad's
				offset += 100
			}
			a = fmt.Sprintf("M %d %d %d", r, offset, 1+g.IntN(300))
		case 3:
			a = g.pointer() + fmt.Sprintf("\nconst16 %d\ntracenz", 1+g.IntN(300))
		case 4:
			a = g.pointer() + fmt.Sprintf("\ntrace_quick %d\npop\n", 1+g.IntN(255)) + g.pointer() +
				"\ntrace_quick 8\nref64\ntrace_quick 3\npop"
		case 5:
			a = g.value(1) + "\nif_goto yes\n" + g.pointer() + "\ntrace_quick 8\npop\ngoto done\nyes: tracev 9\n" + g.pointer() +
				"\ntrace_quick 5\npop\ndone: tracev 7"
		case 6:
			a = g.value(2) + "\nsetv 7\npop\ntracev 7"
		default:
			a = g.pointer() + "\n" + g.value(1) + "\nzero_ext 8\ntrace"
		}
		actions = append(actions, a)
	}
	return condition, actions
}

// buildable reports why a site of a path must be a trap.
func (v *victim) buildable(p path) error {
	_, err := Build(&Site{Arena: &v.arena, Addr: siteAddr, Pad: padAddr, Tracepoints: p.tracepoints, Registers: coreRegisters(v.t),
		Displace: func(arch.Addr) ([]byte, error) { return moved, nil }})
	return err
}
