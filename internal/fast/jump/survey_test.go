package jump

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"tracewell/arch"
)

// tally counts how sites are patched, and what keeps others from it.
type tally struct {
	rungs   [Unclean + 1]int
	refused int
	causes  map[string]int
	total   int
}

// survey plans sites one at a time: each has the room for itself. It fails the test for a plan that breaks a rule.
func survey(t *testing.T, m *image, p *Planner, sites []arch.Addr) *tally {
	c := &tally{causes: map[string]int{}, total: len(sites)}
	for _, at := range sites {
		plan, err := p.Plan(m.site(at))
		if err != nil {
			var refusal *Refusal
			if !errors.As(err, &refusal) || len(refusal.Causes) == 0 {
				t.Fatalf("%v: %v", at, err)
			}
			c.refused++
			c.causes[general(refusal.Causes[len(refusal.Causes)-1], m.site(at).Name)]++
			continue
		}
		c.rungs[plan.Rung]++
		if fault := examine(m, p, plan); fault != "" {
			t.Errorf("%s, the %v at %v: %s: %+v", m.title, plan.Rung, at, fault, plan)
		}
		p.Release(plan)
	}
	return c
}

// general takes names, addresses and the like out of a cause, so that causes can be counted.
func general(cause, name string) string {
	words := strings.Fields(strings.ReplaceAll(cause, name+",", "…"))
	for i, w := range words {
		if strings.Contains(w, "0x") || strings.ContainsAny(w, "%$*") {
			words[i] = "…"
		}
	}
	return strings.Join(slices.Compact(words), " ")
}

// percent writes a part of the total.
func (c *tally) percent(n int) string {
	return fmt.Sprintf("%.1f", 100*float64(n)/float64(max(c.total, 1)))
}

// String is a row of the table of TestLadder.
func (c *tally) String() string {
	var cells []string
	for _, n := range c.rungs {
		cells = append(cells, c.percent(n))
	}
	return strings.Join(append(cells, c.percent(c.refused)), " | ")
}

// examine holds a plan against the rules, from what it writes alone. The fault is empty if it keeps them all.
func examine(m *image, p *Planner, plan *Plan) (fault string) {
	pad := p.Pads.Start + 0x1230
	writes, err := plan.Writes(pad)
	if err != nil {
		return err.Error()
	}
	memory := map[arch.Addr]byte{}
	for _, w := range writes {
		last := w.Addr + arch.Addr(len(w.New)) - 1
		if w.Addr/pageSize != last/pageSize {
			return "a write crosses a page"
		}
		if w.Old != nil && !slices.Equal(w.Old, m.bytes(w.Addr)[:len(w.New)]) {
			return "the old bytes are not those of the program"
		}
		if w.Old == nil && !slices.ContainsFunc(m.gaps, func(g Range) bool { return g.contains(w.Addr, last+1) }) {
			return "the trampoline is not in a gap"
		}
		for i, b := range w.New {
			memory[w.Addr+arch.Addr(i)] = b
		}
	}
	read := func(at arch.Addr) byte {
		if b, ok := memory[at]; ok {
			return b
		}
		return m.bytes(at)[0]
	}
	if to := follow(read, plan.Addr, pad); to != pad {
		return fmt.Sprintf("the jumps lead to %v, not to the pad at %v", to, pad)
	}
	at := plan.Addr
	for i, in := range plan.Run {
		if in.At() != at {
			return "the run has a hole"
		}
		_, written := memory[at]
		if i > 0 && (!written || !slices.Contains(plan.Guards, Guard{at, read(at), trapping[read(at)]})) {
			return fmt.Sprintf("no guard at %v", at)
		}
		at = in.Next()
	}
	if at != plan.Next || len(plan.Guards) != len(plan.Run)-1 {
		return "the run does not end at Next, or there are more guards than instructions"
	}
	end := writes[len(writes)-1].Addr + arch.Addr(len(writes[len(writes)-1].New))
	if last := plan.Run[len(plan.Run)-1]; end > plan.Next && (last.Falls() || m.function(plan.Next) >= 0) {
		return "the patch covers more than what is displaced"
	}
	return ""
}

// follow decodes jumps, independently of what made them, until it comes to a pad or something else that is no jump.
func follow(read func(arch.Addr) byte, at, pad arch.Addr) arch.Addr {
	for at != pad {
		i := at
		for read(i) == nullPrefix {
			i++
		}
		switch read(i) {
		case 0xe9:
			var d uint32
			for k := range arch.Addr(4) {
				d |= uint32(read(i+1+k)) << (8 * k)
			}
			at = i + 5 + arch.Addr(int32(d))
		case 0xeb:
			at = i + 2 + arch.Addr(int8(read(i+1)))
		default:
			return at
		}
	}
	return at
}

// TestLadder plans all entries of functions and all statements of real programs, each as if it were the only one, and examines
// every plan. Then it plans the statements of the largest program together.
func TestLadder(t *testing.T) {
	t.Log("file, sites | jump | overlap | pun | short jump | unclean overlap | trap")
	least := map[string]float64{"libc.so entries": 97, "static C entries": 97, "Go entries": 80, "Go statements": 90}
	for _, open := range []func(testing.TB) *image{libc, static, golang} {
		m := open(t)
		started := time.Now()
		p := m.planner()
		t.Logf("%s: the sweep of %d kB took %v", m.title, len(m.text)>>10, time.Since(started))
		for _, kind := range []struct {
			name  string
			sites []arch.Addr
		}{{"entries", m.entries()}, {"statements", m.statements}} {
			if len(kind.sites) == 0 {
				continue
			}
			c := survey(t, m, p, kind.sites)
			t.Logf("%s, %d %s | %v", m.title, c.total, kind.name, c)
			causes := slices.SortedFunc(maps.Keys(c.causes), func(a, b string) int { return c.causes[b] - c.causes[a] })
			for _, cause := range causes[:min(6, len(causes))] {
				t.Logf("  trap %s %%: %s", c.percent(c.causes[cause]), cause)
			}
			clean := 100 * float64(c.total-c.refused-c.rungs[Unclean]) / float64(c.total)
			if want := least[m.title+" "+kind.name]; clean < want {
				t.Errorf("%s %s: only %.1f %% are clean, not %.0f %%", m.title, kind.name, clean, want)
			}
		}
		if m.golang {
			crowd(t, m)
		}
	}
}

// crowd plans many statements of one program at once: what is close together has to share. Assembly that writes instructions byte by
// byte, as some of Go's cryptography, has statements inside of instructions; these are left out, and counted.
func crowd(t *testing.T, m *image) {
	for _, every := range []int{2, 100} {
		p := m.planner()
		c := &tally{causes: map[string]int{}}
		written := map[arch.Addr]bool{}
		covered := 0
		inside := 0
		for i := 0; i < len(m.statements); i += every {
			at := m.statements[i]
			if f, swept := p.Targets.Function(at); swept && f.Unknown == 0 && !p.Targets.starts(at) {
				inside++
				continue
			}
			p.Wanted = append(p.Wanted, at)
		}
		started := time.Now()
		for _, at := range p.Wanted {
			c.total++
			if by := p.Covering(at); by != nil {
				covered++
				if !slices.ContainsFunc(by.Guards, func(g Guard) bool { return g.PC == at }) {
					t.Errorf("%v is covered by %v, without a guard", at, by.Addr)
				}
				continue
			}
			plan, err := p.Plan(m.site(at))
			if err != nil {
				c.refused++
				if len(p.InTheWay(Range{at, at + 1})) > 0 {
					t.Errorf("a trap at %v would change a patch: %v", at, err)
				}
				p.Hold(Range{at, at + 1})
				continue
			}
			c.rungs[plan.Rung]++
			writes, err := plan.Writes(p.Pads.Start)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range writes {
				for i := range w.New {
					if written[w.Addr+arch.Addr(i)] {
						t.Fatalf("%v is written twice, at last for %v", w.Addr+arch.Addr(i), at)
					}
					written[w.Addr+arch.Addr(i)] = true
				}
			}
		}
		each := float64(time.Since(started).Microseconds()) / float64(c.total)
		t.Logf("every %d of %d statements, %d inside of instructions | %v | covered by another %s %%, %d pages of trampolines, %.1f µs each",
			every, len(m.statements), inside, c, c.percent(covered), len(p.Room.Opened()), each)
	}
}
