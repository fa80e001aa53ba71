package match

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// act is an effect as the machine below executes it.
type act struct {
	register    string // empty: memory
	write       bool
	addr        int
	size, value int
}

func (a act) String() string {
	switch {
	case a.register != "":
		return fmt.Sprintf("R %s %x", a.register, a.value)
	case a.write:
		return fmt.Sprintf("MW%d %x %0*x", a.size, a.addr, 2*a.size, a.value)
	}
	return fmt.Sprintf("MR%d %x %0*x", a.size, a.addr, 2*a.size, a.value)
}

// places are what an act touches: a register, or bytes.
func (a act) places() (places []string) {
	if a.register != "" {
		return []string{a.register}
	}
	for n := range a.size {
		places = append(places, fmt.Sprint(a.addr+n))
	}
	return places
}

// outcome executes the effects of an instruction, of whose registers and memory nothing is known before, and returns what they come
// to: what registers and bytes hold, and what each read of a byte finds there.
func outcome(acts []act, big bool) string {
	machine := make(map[string]string)
	var found []string
	for _, a := range acts {
		for n, p := range a.places() {
			value := fmt.Sprint(a.value)
			if shift := 8 * n; a.register == "" {
				if big {
					shift = 8 * (a.size - 1 - n)
				}
				value = fmt.Sprint(a.value >> shift & 0xff)
			}
			if a.register != "" || a.write {
				machine[p] = value
			} else {
				found = append(found, fmt.Sprintf("%s read as %s finds %q", p, value, machine[p]))
			}
		}
	}
	slices.Sort(found)
	return fmt.Sprint(machine, found)
}

// anyActs returns some effects that often touch one another.
func anyActs(random *rand.Rand, n int) (acts []act) {
	for range n {
		a := act{write: random.IntN(2) == 0, addr: 0x1000 + random.IntN(6), size: 1 << random.IntN(3)}
		a.value = random.IntN(3)
		if a.size > 1 && random.IntN(2) == 0 {
			a.value *= 0x0101
		}
		if random.IntN(3) == 0 {
			a = act{register: string("abc"[random.IntN(3)]), value: random.IntN(3)}
		}
		acts = append(acts, a)
	}
	return acts
}

func line(pc int, acts []act) string {
	text := fmt.Sprintf("%x nop", pc)
	for _, a := range acts {
		text += "; " + a.String()
	}
	return text
}

// TestOrder compares instructions whose effects stand in another order, with a machine that executes them: what makes a difference
// is an order that makes another outcome, and nothing else does.
func TestOrder(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(11, 12))
	changed, equal := 0, 0
	for range fewer(150) {
		var ref, oth []string
		var want int64
		for i := range 100 {
			most := 6
			if i%50 == 0 {
				most = 2 * mostCommuting
			}
			acts := anyActs(random, random.IntN(most+1))
			shuffled := slices.Clone(acts)
			if random.IntN(3) == 0 && len(acts) > 1 {
				at := random.IntN(len(acts) - 1)
				shuffled[at], shuffled[at+1] = shuffled[at+1], shuffled[at]
			} else {
				random.Shuffle(len(acts), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			}
			if outcome(acts, false) != outcome(shuffled, false) && outcome(acts, true) != outcome(shuffled, true) {
				want++
			} else if !slices.Equal(acts, shuffled) {
				equal++
			}
			ref, oth = append(ref, line(0x100+4*i, acts)), append(oth, line(0x100+4*i, shuffled))
		}
		changed += int(want)
		r := compare(t, trace(ref...), trace(oth...), Options{})
		if r.Counts[ClassReordered] != want || len(r.Counts) > 1 || r.Consequences != 0 || (r.Verdict == Equal) != (want == 0) {
			narrow(t, ref, oth)
			t.Fatalf("want %d reordered: %s", want, show(r))
		}
	}
	if enough := fewer(1000); changed < enough || equal < enough {
		t.Errorf("the order made another outcome %d times, and none %d times", changed, equal)
	}
}

// narrow tells of each pair of instructions by itself.
func narrow(t *testing.T, ref, oth []string) {
	for i := range ref {
		if r := compare(t, trace(ref[i]), trace(oth[i]), Options{}); ref[i] != oth[i] {
			t.Logf("%s\n%s\n%v", ref[i], oth[i], r.Counts)
		}
	}
}

// TestOrderInWindow moves an effect behind later records. It may be as late as the window allows, and must not come behind one that
// does not commute with it.
func TestOrderInWindow(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(13, 14))
	counts := make(map[bool]int)
	for round := range fewer(3000) {
		const n = 12
		acts := make([][]act, n)
		for i := range acts {
			for _, a := range anyActs(random, random.IntN(3)) {
				if a.value = round + 16*i; a.register == "" {
					a.value &= 1<<(8*a.size) - 1
				}
				if !slices.ContainsFunc(acts[i], func(b act) bool { return meet(a, b) }) {
					acts[i] = append(acts[i], a)
				}
			}
		}
		from := random.IntN(n - 4)
		if len(acts[from]) == 0 {
			continue
		}
		to := from + 1 + random.IntN(3)
		at := random.IntN(len(acts[to]) + 1)
		late := acts[from][0]
		by, overtakes := int64(at), false
		for i := from + 1; i <= to; i++ {
			by++
			passed := acts[i]
			if i == to {
				passed = passed[:at]
			} else {
				by += int64(len(passed))
			}
			overtakes = overtakes || slices.ContainsFunc(passed, func(a act) bool { return meet(a, late) })
		}
		var ref, oth []string
		for i := range acts {
			moved := acts[i]
			if i == from {
				moved = moved[1:]
			} else if i == to {
				moved = slices.Insert(slices.Clone(moved), at, late)
			}
			ref, oth = append(ref, line(0x100+4*i, acts[i])), append(oth, line(0x100+4*i, moved))
		}
		window := int64(1 + random.IntN(10))
		want := Equal
		if by > window-1 || overtakes {
			want = Different
		}
		counts[want == Equal]++
		for _, both := range [][2]string{{trace(ref...), trace(oth...)}, {trace(oth...), trace(ref...)}} {
			if r := compare(t, both[0], both[1], Options{Window: window}); r.Verdict != want {
				t.Fatalf("%d records late, window %d, overtakes %v:\n%s\n%s\n%s", by, window, overtakes, both[0], both[1], show(r))
			}
		}
	}
	if enough := fewer(300); counts[true] < enough || counts[false] < enough {
		t.Errorf("%d were equal, %d different", counts[true], counts[false])
	}
}

// meet reports whether two acts touch the same, one to write it.
func meet(a, b act) bool {
	shared := slices.ContainsFunc(a.places(), func(p string) bool { return slices.Contains(b.places(), p) })
	return shared && (a.register != "" || a.write || b.write)
}

// TestEachEffectCounts leaves out one effect after another, of small numbers of all kinds.
func TestEachEffectCounts(t *testing.T) {
	var effects []string
	for n := range 5 {
		for value := range 5 {
			effects = append(effects, fmt.Sprintf("R r%d %x", n, value), fmt.Sprintf("MW1 %x %02x", n, value), fmt.Sprintf("MR1 %x %02x", n, value))
		}
	}
	for _, effect := range effects {
		registers := "0 clk R r0 0\n0 clk R r1 0\n0 clk R r2 0\n" // are numbered as they come, before all other words
		with, without := registers+trace("104 nop; "+effect, "108 nop"), registers+trace("104 nop", "108 nop")
		if r := compare(t, with, without, Options{}); r.Verdict != Different {
			t.Errorf("%s is not missed: %s", effect, show(r))
		}
	}
}

// TestOrderOfSeveral has several effects that are late, unknown digits, split accesses, and effects ahead of the first instruction.
func TestOrderOfSeveral(t *testing.T) {
	text := func(lines ...string) string { return "1 clk " + strings.Join(lines, "\n1 clk ") + "\n" }
	lui, r8 := "0 IT (1) 00000004 3c080001 A svc : lui t0,0x1", "R r8 00000000"
	for _, test := range []struct {
		name     string
		ref, oth string
		window   int64
		want     []Class
	}{
		{"two writes of one register", trace("1000; R r1 1; R r1 2"), trace("1000; R r1 2; R r1 1"), 9, []Class{ClassReordered}},
		{"two writes of other registers", trace("1000; R r1 1; R r2 2"), trace("1000; R r2 2; R r1 1"), 1, nil},
		{"the same value twice", trace("1000; R r1 1; R r1 2; R r1 1"), trace("1000; R r1 2; R r1 1; R r1 1"), 1, nil},
		{"unknown digits", trace("1000; R r1 1x; R r1 2x"), trace("1000; R r1 20; R r1 10"), 1, []Class{ClassReordered}},
		{"unknown digits that may be the same", trace("1000; R r1 x1; R r1 x2; R r1 xx"), trace("1000; R r1 2; R r1 1; R r1 1"), 1, nil},
		{"a split store and a load", trace("1000; MR4 10 1; MW4 10 00020002"), trace("1000; MW2 10 2; MW2 12 2; MR4 10 1"), 1, []Class{ClassReordered}},
		{"a split store behind a load", trace("1000; MR4 10 1; MW4 10 00020002"), trace("1000; MR4 10 1; MW2 12 2; MW2 10 2"), 1, nil},
		{"a store at the end of the address space", trace("1000; MW4 fffffffffffffffe 1; MW1 0 2"), trace("1000; MW1 0 2; MW4 fffffffffffffffe 1"), 1, []Class{ClassReordered}},
		{"other opcodes, too", trace("1000; R r1 1; R r1 2"), strings.Replace(trace("1000; R r1 2; R r1 1"), "00000000", "00000001", 1), 1, []Class{ClassOpcode}},
		{"two late, in their order", trace("10; R a 1", "14; R a 2", "18", "1c"), trace("10", "14", "18; R a 1", "1c; R a 2"), 9, nil},
		{"two late of one instruction, in their order", trace("10; R a 1; R a 2", "14", "18", "1c"), trace("10", "14", "18; R a 1; R a 2", "1c"), 9, nil},
		{"two late, exchanged", trace("10; R a 1; R a 2", "14", "18", "1c"), trace("10", "14", "18; R a 2; R a 1", "1c"), 9, []Class{ClassReordered}},
		{"late behind one of the same instruction", trace("10; R a 1; R a 2", "14", "18", "1c"), trace("10; R a 2", "14; R a 1", "18", "1c"), 9, []Class{ClassReordered}},
		{"a late store behind a load of it", trace("10; MW4 40 1", "14; MR4 40 1", "18"), trace("10", "14; MR4 40 1; MW4 40 1", "18"), 9, []Class{ClassReordered}},

		{"ahead of the first instruction", text(lui, r8), text(r8, lui), 2, nil},
		{"the other way round", text(r8, lui), text(lui, r8), 2, nil},
		{"ahead of it without a window", text(lui, r8), text(r8, lui), 1, []Class{ClassReordered}},
		{"the other way round without a window", text(r8, lui), text(lui, r8), 1, []Class{ClassReordered}},
		{"ahead of it, of another processor", strings.ReplaceAll(text(lui, r8), "clk 0", "clk 3"), strings.ReplaceAll(text(r8, lui), "clk 0", "clk 3"), 2, nil},
		{"two ahead of it in a window for one", text(lui, r8, "R r9 1"), text(r8, "R r9 1", lui), 2, []Class{ClassReordered}},
		{"two ahead of it", text(lui, r8, "R r9 1"), text(r8, "R r9 1", lui), 3, nil},
		{"one of two ahead of it that comes later", text("R r9 1", lui, r8), text(r8, "R r9 1", lui), 3, nil},
		{"ahead of it with another value", text(lui, r8, lui), text("R r8 1", lui, r8, lui), 2, []Class{ClassExtra}},
		{"ahead of it and never again", text(lui), text(r8, lui), 9, []Class{ClassExtra}},
	} {
		options := Options{Window: test.window}
		if r := compare(t, test.ref, test.oth, options); !slices.Equal(classes(r), test.want) {
			t.Errorf("%s: want %v:\n%s\n%s\n%s", test.name, test.want, test.ref, test.oth, show(r))
		}
	}
}
