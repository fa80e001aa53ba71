//go:build linux && amd64

package linux

import (
	"debug/elf"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/internal/fast/jump"
	"tracewell/internal/test/testtool"
)

// shares is how many locations are patched by each rung, as shared sites of another's jump, or not at all.
type shares struct {
	rungs              [jump.Unclean + 1]int
	shared, traps, all int
}

func (s *shares) String() string {
	var b strings.Builder
	for _, n := range append(s.rungs[:], s.shared, s.traps) {
		fmt.Fprintf(&b, " | %5.1f", 100*float64(n)/float64(max(s.all, 1)))
	}
	return b.String()
}

// surveyed is the code of a file, mapped as it would be, with the sites of a part of its functions.
type surveyed struct {
	m     *module
	code  []byte
	gaps  []jump.Range
	sites []arch.Addr // every instruction of these functions
	known []bool      // the function of a site is one of those that the symbols tell of
	names []string    // of functions of Go
}

// survey maps a file at an address, and lists at most so many instructions.
func survey(t *testing.T, path string, most int) *surveyed {
	t.Helper()
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	bias := arch.Addr(0x555555000000)
	if file.Type == elf.ET_EXEC {
		bias = 0
	}
	i := slices.IndexFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 })
	segment := file.Progs[i]
	s := &surveyed{code: make([]byte, segment.Filesz)}
	if _, err := segment.ReadAt(s.code, 0); err != nil {
		t.Fatal(err)
	}
	start := bias + arch.Addr(segment.Vaddr)
	s.m = &module{text: jump.Range{Start: start, End: start + arch.Addr(len(s.code))}, isGo: file.Section(".gopclntab") != nil}
	s.m.addFunctions(file, bias)
	const around = 1 << 28
	s.gaps = []jump.Range{{Start: max(start, around+0x10000) - around, End: start &^ 0xfffff}, {Start: start + around, End: start + 2*around}}
	symbols := make(map[arch.Addr]bool)
	static, _ := file.Symbols()
	dynamic, _ := file.DynamicSymbols()
	for _, symbol := range append(static, dynamic...) {
		symbols[bias+arch.Addr(symbol.Value)] = true
	}
	every := max(1, len(s.code)/4/most) // an instruction has about four bytes
	for i, f := range s.m.functions {
		if i%every != 0 || i > 0 && f.Start < s.m.functions[i-1].End {
			continue
		}
		amd64.Scan(s.bytes(f.Start)[:f.End-f.Start], f.Start, func(step amd64.Step) {
			s.sites, s.known = append(s.sites, step.At), append(s.known, symbols[f.Start])
			s.names = append(s.names, f.name())
		})
	}
	return s
}

func (s *surveyed) bytes(at arch.Addr) []byte { return s.code[at-s.m.text.Start:] }

// planner returns a planner that knows all functions, or only those of symbols.
func (s *surveyed) planner(landings []arch.Addr) *jump.Planner {
	p := &jump.Planner{Targets: jump.NewTargets(s.m.text), Room: jump.NewRoom(s.gaps), Go: s.m.isGo,
		Pads: jump.Range{Start: s.gaps[0].End, End: s.gaps[0].End + padAreaSize}}
	var ranges []jump.Range
	for _, f := range s.m.functions {
		p.Targets.Sweep(s.bytes(f.Start)[:f.End-f.Start], f.Start)
		ranges = append(ranges, f.Range)
	}
	p.Padding = jump.Padding(s.code, s.m.text.Start, ranges)
	for _, at := range landings {
		p.Targets.Add(at)
	}
	return p
}

// alone counts the sites as if each were the only one. One whose function is not known is a jump of its own or a trap, or shares.
func (s *surveyed) alone(p *jump.Planner, symbolsOnly bool) *shares {
	c := &shares{all: len(s.sites)}
	unknown := *p
	unknown.Targets = jump.NewTargets(s.m.text)
	for i, at := range s.sites {
		by := p
		if symbolsOnly && !s.known[i] {
			by = &unknown
		}
		plan, err := by.Plan(jump.Site{Addr: at, Code: s.bytes(at), Name: s.names[i]})
		if err != nil {
			c.traps++
			continue
		}
		c.rungs[plan.Rung]++
		by.Release(plan)
	}
	return c
}

// together counts the sites when all of them have tracepoints. A trap in the way of a jump makes all of that jump's sites traps.
func (s *surveyed) together(p *jump.Planner, rows bool) *shares {
	c := &shares{all: len(s.sites)}
	if rows {
		p.Wanted = s.sites
	}
	sites := make(map[*jump.Plan]int)
	for i, at := range s.sites {
		if plan := p.Covering(at); rows && plan != nil {
			sites[plan]++
			c.shared++
			continue
		}
		if plan, err := p.Plan(jump.Site{Addr: at, Code: s.bytes(at), Name: s.names[i]}); err == nil {
			sites[plan] = 1
			c.rungs[plan.Rung]++
			continue
		}
		c.traps++
		for _, plan := range p.InTheWay(jump.Range{Start: at, End: at + 1}) {
			c.rungs[plan.Rung]--
			c.shared -= sites[plan] - 1
			c.traps += sites[plan]
			p.Release(plan)
		}
		p.Hold(jump.Range{Start: at, End: at + 1})
	}
	return c
}

// TestPadShares tells how many instructions of real files can have pads, and that the unwinding tables and rows of sites make them
// more. What is printed is the table of docs/fast.md.
func TestPadShares(t *testing.T) {
	program := filepath.Join(t.TempDir(), "tracewell")
	if out, err := exec.Command("go", "build", "-o", program, "tracewell/cmd/tracewell").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	libc, err := testtool.Command(t, "gcc", "-print-file-name=libc.so.6").Output()
	if err != nil {
		t.Fatal(err)
	}
	const most = 5_000
	t.Logf("%42s | jump | overlap | pun | short | unclean | shared | trap", "%")
	for _, test := range []struct {
		path     string
		stripped bool
	}{{strings.TrimSpace(string(libc)), true}, {testtool.Path(t, "bash"), true}, {testtool.Path(t, "perl"), true}, {program, false}} {
		s := survey(t, test.path, most)
		name := filepath.Base(test.path)
		landings := s.m.landings
		before, after := s.alone(s.planner(nil), true), s.alone(s.planner(landings), false)
		apart, rows := s.together(s.planner(landings), false), s.together(s.planner(landings), true)
		t.Logf("%-12s each alone, by symbols        %s", name, before)
		t.Logf("%-12s each alone, %6d instructions %s", name, after.all, after)
		t.Logf("%-12s all at once, no shared jumps  %s", name, apart)
		t.Logf("%-12s all at once                   %s", name, rows)
		if test.stripped && after.traps*10 > before.traps*9 {
			t.Errorf("%s: the unwinding tables leave %d of %d traps", name, after.traps, before.traps)
		}
		if rows.traps*2 > apart.traps {
			t.Errorf("%s: rows of sites leave %d of %d traps", name, rows.traps, apart.traps)
		}
	}
}
