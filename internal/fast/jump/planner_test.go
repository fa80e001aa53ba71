package jump

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
)

// unhex decodes hexadecimal of a test.
func unhex(text string) (code []byte) {
	for _, field := range strings.Fields(text) {
		var b byte
		fmt.Sscanf(field, "%02x", &b)
		code = append(code, b)
	}
	return code
}

// The function of the tables below is here, and pads and other things near it.
const functionAt = 0x401100

// world is what a plan of the tables is made in.
type world struct {
	code    string // of the function
	offset  int    // of the location in it
	at      arch.Addr
	gaps    []Range // nil: plenty
	planner func(*Planner)
	name    string // of the function
}

// plan makes the plan.
func (w world) plan() (*Planner, *Plan, error) {
	at := arch.Addr(functionAt)
	if w.at != 0 {
		at = w.at
	}
	if w.gaps == nil {
		w.gaps = []Range{{0x10000, 0x400000}, {0x600000, 0x80000000}}
	}
	function := unhex(w.code)
	targets := NewTargets(Range{at, at + 0x1000})
	targets.Sweep(function, at)
	p := &Planner{Targets: targets, Room: NewRoom(w.gaps), Pads: Range{0x500000, 0x600000}}
	if w.planner != nil {
		w.planner(p)
	}
	code := append(function, unhex(strings.Repeat("cc ", CodeSize))...)
	plan, err := p.Plan(Site{Addr: at + arch.Addr(w.offset), Code: code[w.offset:], Name: w.name})
	return p, plan, err
}

// describe writes a plan, to a pad near the first there can be, as a line.
func describe(p *Planner, plan *Plan) string {
	s := fmt.Sprintf("%v of %d to %v", plan.Rung, len(plan.Run), plan.Next)
	writes, err := plan.Writes(p.Pads.Start + 0x40)
	for _, w := range writes {
		s += fmt.Sprintf("; %v: % x", w.Addr, w.New)
	}
	for _, g := range plan.Guards {
		s += fmt.Sprintf("; guard %v %d at %v", g.PC, g.Signal, g.Reported())
	}
	if err != nil {
		s += "; " + err.Error()
	}
	return s
}

// frame is a function that begins as compilers have it, and ends with a return.
const frame = "55 48 89 e5 48 83 ec 10 89 7d fc c3"

// padding returns what gives a planner padding behind the function.
func padding(offset arch.Addr, fill string) func(*Planner) {
	return func(p *Planner) { p.Padding = []Filler{{functionAt + offset, unhex(fill)}} }
}

func TestPlan(t *testing.T) {
	tests := []struct {
		name  string
		world world
		want  string
	}{
		{"jump", world{code: "b8 01 00 00 00 c3"}, "jump of 1 to 0x401105; 0x401100: e9 3b ef 0f 00"},
		{"jump over a longer one", world{code: "48 c7 c0 01 00 00 00 c3"}, "jump of 1 to 0x401107; 0x401100: e9 3b ef 0f 00"},
		{"jump over a return and padding", world{code: "c3", planner: padding(1, "cc cc cc cc")},
			"jump of 1 to 0x401101; 0x401100: e9 3b ef 0f 00"},
		{"jump by a trampoline, pads too far", world{code: "b8 01 00 00 00 c3", planner: func(p *Planner) {
			p.Pads, p.Room = Range{0x80400000, 0x80500000}, NewRoom([]Range{{0x10000, 0x11000}, {0x70000000, 0x70001000}})
		}}, "jump of 1 to 0x401105; 0x70000000: e9 3b 00 40 10; 0x401100: e9 fb ee bf 6f"},
		{"jump by a trampoline, pads far below", world{code: "b8 01 00 00 00 c3", at: 0x90000000, planner: func(p *Planner) {
			p.Pads, p.Room = Range{0x8000000, 0x8100000}, NewRoom([]Range{{0x87fff000, 0x88002000}})
		}}, "jump of 1 to 0x90000005; 0x87fff000: e9 3b 10 00 80; 0x90000000: e9 fb ef ff f7"},
		{"overlap of three", world{code: frame}, "overlap of 3 to 0x401108; 0x640110b: e9 30 ef 0f fa; " +
			"0x401100: e9 06 00 00 06; guard 0x401101 4 at 0x401101; guard 0x401104 4 at 0x401104"},
		{"overlap of two", world{code: frame, offset: 4}, "overlap of 2 to 0x40110b; 0x6401109: e9 32 ef 0f fa; " +
			"0x401104: e9 00 00 00 06; guard 0x401108 4 at 0x401108"},
		{"int3 as a guard", world{code: "48 89 e5 48 83 ec 10 c3", gaps: []Range{{0x10c2000, 0x10c3000}}},
			"overlap of 2 to 0x401107; 0x10c2000: e9 3b e0 43 ff; 0x401100: e9 fb 0e cc 00; guard 0x401103 5 at 0x401104"},
		{"overlap across a return", world{code: "5d c3 48 89 f8 c3"}, "overlap of 3 to 0x401105; 0x1050b: e9 30 fb 4e 00; " +
			"0x401100: e9 06 f4 c0 ff; guard 0x401101 4 at 0x401101; guard 0x401102 11 at 0x401102"},
		{"pun of four bytes", world{code: "48 8b 47 08 06 c3"}, "pun of 1 to 0x401104; 0x6401105: e9 36 ef 0f fa; 0x401100: e9 00 00 00"},
		{"pun of three bytes with a branch behind", world{code: "48 89 f8 74 06 06 c3"},
			"pun of 1 to 0x401103; 0x6b41105: e9 36 ef 9b f9; 0x401100: e9 00 00"},
		{"pun with a prefix", world{code: "48 8b 47 08 06 16 c3", gaps: []Range{{0x16461000, 0x16463000}}},
			"pun of 1 to 0x401104; 0x16461106: e9 35 ef 09 ea; 0x401100: 2e e9 00 00"},
		{"pun of two, guarded", world{code: "89 f8 ff c0 0f 05 c3", gaps: []Range{{0xf500000, 0xf510000}}},
			"pun of 2 to 0x401104; 0xf500505: e9 36 fb ff f0; 0x401100: e9 00 f4 0f; guard 0x401102 11 at 0x401102"},
		{"short jump", world{code: "48 89 f8 c3", gaps: []Range{}, planner: padding(32, "90 90 90 90 90 90")},
			"short jump of 1 to 0x401103; 0x401120: e9 1b ef 0f 00; 0x401100: eb 1e"},
		{"short jump to padding across pages", world{code: "48 89 f8 c3", at: 0x401fd0, gaps: []Range{}, planner: func(p *Planner) {
			p.Padding = []Filler{{0x401ffd, unhex("90 90 90 90 90 90 90 90")}}
		}}, "short jump of 1 to 0x401fd3; 0x402000: e9 3b e0 0f 00; 0x401fd0: eb 2e"},
		{"short jump over two, guarded", world{code: "55 53 c3", gaps: []Range{}, planner: padding(8, strings.Repeat("90 ", 40))},
			"short jump of 2 to 0x401102; 0x401108: e9 33 ef 0f 00; 0x401100: eb 06; guard 0x401101 4 at 0x401101"},
		{"unclean", world{code: "48 89 f8 48 ff c8 ff e0", gaps: []Range{{0x600000, 0x800000}}}, "unclean overlap of 2 to 0x401106; 0x600000: e9 3b 00 f0 ff; " +
			"0x401100: e9 fb ee 1f 00; guard 0x401103 4 at 0x401103"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, plan, err := test.world.plan()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, describe(p, plan)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	const (
		three  = "a jump has 5 bytes, the instruction has 3"
		noPun  = "no jump that ends in the bytes of the instructions that follow goes to a free address"
		noHop  = "a short jump reaches no padding between functions"
		noFree = "no free address leaves the jump bytes that trap where instructions begin"
	)
	none := []Range{}
	tests := []struct {
		name  string
		world world
		want  []string
	}{
		{"syscall", world{code: "0f 05 c3"}, []string{"the instruction at 0x401100, syscall, cannot be moved: it enters the kernel"}},
		{"syscall under the jump", world{code: "89 f8 0f 05 c3", gaps: none}, []string{"a jump has 5 bytes, the instruction has 2",
			"the instruction at 0x401102, syscall, cannot be moved: it enters the kernel", noPun, noHop}},
		{"branch", world{code: "48 89 f8 48 ff c8 75 fb c3", gaps: none},
			[]string{three, "there is a branch to 0x401103, under the jump", noPun, noHop}},
		{"indirect", world{code: "48 89 f8 48 ff c8 ff e0", gaps: none},
			[]string{three, "the jump at 0x401106 goes through a register or memory, perhaps to an instruction under the jump",
				noPun, noHop, noFree}},
		{"indirect, attached", world{code: "48 89 f8 48 ff c8 ff e0", gaps: none, planner: func(p *Planner) { p.NoUnclean = "it was attached to" }},
			[]string{three, "the jump at 0x401106 goes through a register or memory, perhaps to an instruction under the jump",
				noPun, noHop, "it was attached to"}},
		{"branch, attached", world{code: "48 89 f8 48 ff c8 75 fb c3", gaps: none,
			planner: func(p *Planner) { p.NoUnclean = "it was attached to" }},
			[]string{three, "there is a branch to 0x401103, under the jump", noPun, noHop}},
		{"unknown", world{code: "48 89 f8 48 ff c8 06 c3", gaps: none},
			[]string{three, "the bytes at 0x401106, in the same function, are no known instruction", noPun, noHop, noFree}},
		{"not swept", world{code: "48 89 f8 48 ff c8 c3", gaps: none, planner: func(p *Planner) {
			p.Targets = NewTargets(Range{})
		}}, []string{three, "the branches of the function are not known", noPun, noHop}},
		{"no room", world{code: "48 89 f8 48 ff c8 c3", gaps: none}, []string{three, noFree, noPun, noHop}},
		{"no room between location and pads", world{code: "b8 01 00 00 00 c3", at: 0x90000000, planner: func(p *Planner) {
			p.Pads, p.Room = Range{0x8000000, 0x8100000}, NewRoom([]Range{{0x88000000, 0x88002000}})
		}}, []string{"no free address is near enough to both the location and the pads", noPun, noHop}},
		{"end of the function", world{code: "48 89 f8 c3", gaps: none},
			[]string{three, "the function ends at 0x401104, under the jump", noPun, noHop}},
		{"call under the jump", world{code: "ff d0 48 89 f8 c3", gaps: none}, []string{"a jump has 5 bytes, the instruction has 2",
			"the call at 0x401100 returns to 0x401102, under the jump", noPun, noHop}},
		{"end of a page", world{code: "b8 01 00 00 00 c3", at: 0x401ffd},
			[]string{"the jump would lie over the end of a page, and cannot be written in one piece", noPun, noHop}},
		{"inside an instruction", world{code: "b8 01 00 00 00 c3", offset: 2},
			[]string{"no instruction begins there, going by those in front of it"}},
		{"operand out of reach", world{code: "8b 05 00 00 00 80 c3", at: 0x7fff0000, planner: func(p *Planner) {
			p.Pads = Range{0x80000000, 0x80100000}
		}}, []string{"the operand of the instruction at 0x7fff0000 is out of reach of the pads"}},
		{"shadow stack", world{code: "e8 00 00 00 00 c3", planner: func(p *Planner) { p.ShadowStack = true }},
			[]string{"the call at 0x401100 cannot be moved: the thread has a shadow stack"}},
		{"breakpoint", world{code: "b8 01 00 00 00 c3", planner: func(p *Planner) { p.Hold(Range{functionAt + 3, functionAt + 4}) }},
			[]string{"there is a breakpoint at 0x401103", noPun, noHop}},
		{"breakpoint there", world{code: "b8 01 00 00 00 c3", planner: func(p *Planner) { p.Hold(Range{functionAt, functionAt + 1}) }},
			[]string{"there is a breakpoint at 0x401100"}},
		{"Go", world{code: "b8 01 00 00 00 c3", name: "runtime.memmove", planner: func(p *Planner) { p.Go = true }},
			[]string{"runtime.memmove, of Go's runtime, has not checked there that the stack has room for a pad"}},
		{"wanted behind a pun", world{code: "48 8b 47 08 06 c3", planner: func(p *Planner) { p.Wanted = []arch.Addr{functionAt + 4} }},
			[]string{"a jump has 5 bytes, the instruction has 4", "decode the instruction at 0x401104, bytes " +
				"06 c3 cc cc cc cc cc cc cc cc cc cc cc cc cc: not an opcode in 64-bit mode", noPun, noHop}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, plan, err := test.world.plan()
			var refusal *Refusal
			if !errors.As(err, &refusal) {
				t.Fatalf("%v: %s", err, describe(p, plan))
			}
			if diff := cmp.Diff(test.want, refusal.Causes); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestNeighbours: a location under another's jump is covered by that; one that is in the way of a jump keeps it away, until it is
// released.
func TestNeighbours(t *testing.T) {
	p, first, err := world{code: frame}.plan() // push, mov, sub, mov, ret
	if err != nil {
		t.Fatal(err)
	}
	for offset, want := range map[arch.Addr]*Plan{0: nil, 1: first, 2: nil, 4: first, 5: nil, 8: nil} {
		if got := p.Covering(functionAt + offset); got != want {
			t.Errorf("offset %d is covered by %+v", offset, got)
		}
	}
	for offset, want := range map[arch.Addr]int{0: 1, 4: 1, 5: 0, 8: 0} {
		if got := p.InTheWay(Range{functionAt + offset, functionAt + offset + 1}); len(got) != want {
			t.Errorf("%d plans in the way of offset %d", len(got), offset)
		}
	}
	if !first.Leads(first.Landing) || first.Leads(first.Landing+1) || first.Leads(0) {
		t.Error("Leads")
	}
	code := append(unhex(frame), make([]byte, 20)...)
	_, err = p.Plan(Site{Addr: functionAt + 4, Code: code[4:]})
	if err == nil || !strings.Contains(err.Error(), "the patch of 0x401100 is in the way") {
		t.Error(err)
	}
	p.Release(first)
	second, err := p.Plan(Site{Addr: functionAt + 1, Code: code[1:]})
	if err != nil || second.Rung != Overlap {
		t.Errorf("after the release: %v", err)
	}
	breakpoint := Range{functionAt, functionAt + 1}
	p.Hold(breakpoint)
	p.Unhold(breakpoint)
	if _, err = p.Plan(Site{Addr: functionAt, Code: code}); err == nil || strings.Contains(err.Error(), "breakpoint") {
		t.Error(err)
	}
}

// TestStackChecks: in Go's runtime only what is behind a check of the stack can have a pad; elsewhere anything can.
func TestStackChecks(t *testing.T) {
	const checked = "49 3b 66 10 76 10 b8 01 00 00 00 c3"
	const large = "4c 8d a4 24 00 ff ff ff 4d 3b 66 10 76 10 b8 01 00 00 00 c3"
	tests := []struct {
		name, code string
		offset     int
		ok         bool
	}{
		{"main.main", checked, 0, true},
		{"runtime.mallocgc", checked, 0, false},
		{"runtime.mallocgc", checked, 6, true},
		{"runtime.mallocgc", large, 14, true},
		{"internal/runtime/maps.(*Map).Get", checked, 0, false},
		{"runtime.nanotime", "b8 01 00 00 00 c3", 0, false},
		{"runtimes.nanotime", "b8 01 00 00 00 c3", 0, true},
		{"memeqbody", "b8 01 00 00 00 c3", 0, false},
		{"", "b8 01 00 00 00 c3", 0, true},
	}
	for _, test := range tests {
		_, _, err := world{code: test.code, offset: test.offset, name: test.name, planner: func(p *Planner) { p.Go = true }}.plan()
		if (err == nil) != test.ok {
			t.Errorf("%s at %d: %v", test.name, test.offset, err)
		}
	}
}

func TestTargets(t *testing.T) {
	targets := NewTargets(Range{0x401000, 0x401040})
	targets.Sweep(unhex("74 02 90 90 eb fa 0f 0b"), 0x401000)
	targets.Sweep(unhex("e8 db ff ff ff ff e0 06 e9 00 01 00 00"), 0x401020)
	targets.Add(0x40103f)
	targets.Add(0x401040) // outside
	for at := arch.Addr(0x400fc0); at < 0x401080; at++ {
		want := at == 0x401004 || at == 0x401000 || at == 0x40103f
		if targets.Is(at) != want {
			t.Errorf("%v is a target: %v", at, !want)
		}
	}
	want := Function{Range: Range{0x401020, 0x40102d}, Indirect: 0x401025, Unknown: 0x401027}
	if f, ok := targets.Function(0x40102c); !ok || f != want {
		t.Errorf("%+v, %v", f, ok)
	}
	for _, at := range []arch.Addr{0x400fff, 0x401008, 0x40101f, 0x40102d} {
		if f, ok := targets.Function(at); ok {
			t.Errorf("%v is in %+v", at, f)
		}
	}
	targets.Sweep(unhex("90 c3"), 0x401020) // other code, as after dlopen
	if f, _ := targets.Function(0x401021); f != (Function{Range: Range{0x401020, 0x401022}}) {
		t.Errorf("%+v", f)
	}
}

func TestPadding(t *testing.T) {
	text := unhex("c3 66 0f 1f 44 00 00 c3 90 90 12 c3 cc cc cc cc c3 00 00 c3 90")
	functions := []Range{{0x1000, 0x1001}, {0x1007, 0x1008}, {0x100b, 0x100c}, {0x1010, 0x1011}, {0x1011, 0x1011}, {0x1013, 0x1014}}
	var got []string
	for _, f := range Padding(text, 0x1000, functions) {
		got = append(got, fmt.Sprintf("%v %x", f.At, f.Code))
	}
	want := []string{"0x1001 660f1f440000", "0x100c cccccccc", "0x1011 0000"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
