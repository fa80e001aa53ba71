package match

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// rounds makes the lines of a loop of three instructions that goes round so often, with some before and behind it. It counts
// in t0, or else every round is the same.
func rounds(n int, counts bool) (lines []string) {
	at := func(pc int, disasm string, effects ...string) {
		lines = append(lines, fmt.Sprintf("%d clk 0 IT (%d) %08x %08x A svc : %s", len(lines), len(lines), pc, pc*31, disasm))
		for _, e := range effects {
			lines = append(lines, fmt.Sprintf("%d clk %s", len(lines), e))
		}
	}
	straight := func(pc int) {
		for i := range 40 {
			at(pc+4*i, fmt.Sprintf("addiu t3,t3,%d", i), fmt.Sprintf("R t3 %08x", pc+i))
		}
	}
	straight(0x1000)
	for i := range n {
		if counts {
			at(0x2000, "addiu t0,t0,1", fmt.Sprintf("R t0 %08x", i+1))
		} else {
			at(0x2000, "lw t0,0(s7)", "MR4 0000fff0 00000000", "R t0 00000000")
		}
		at(0x2004, "bne t0,t1,0x2000")
		at(0x2008, "nop")
	}
	straight(0x3000)
	return lines
}

// TestTightLoop has one loop of many rounds, in which single addresses come back again and again, and takes something out of it or
// puts something in, at its start, in the middle and at its end.
func TestTightLoop(t *testing.T) {
	t.Parallel()
	n := fewer(20_000)
	for _, counts := range []bool{true, false} {
		ref := rounds(n, counts)
		round := (len(ref) - 2*2*40) / n // lines
		for _, which := range []int{1, n / 2, n - 2} {
			at := 80 + which*round
			for _, test := range []struct {
				what  string
				other []string
				class Class
			}{
				{"a round is missing", slices.Delete(slices.Clone(ref), at, at+round), ClassLoop},
				{"three rounds are missing", slices.Delete(slices.Clone(ref), at-round, at+2*round), ClassLoop},
				{"a round comes twice", slices.Insert(slices.Clone(ref), at, ref[at-round:at]...), ClassLoop},
				{"a nop is missing", slices.Delete(slices.Clone(ref), at+round-1, at+round), ClassMissing},
				{"a branch is missing", slices.Delete(slices.Clone(ref), at+round-2, at+round-1), ClassMissing},
				{"an instruction too many", slices.Insert(slices.Clone(ref), at, "1 clk 0 IT (1) 80100000 00000000 A svc : nop"), ClassExtra},
				{"an instruction comes twice", slices.Insert(slices.Clone(ref), at, ref[at-1]), ClassExtra},
			} {
				text := strings.Join(test.other, "\n") + "\n"
				r := compare(t, strings.Join(ref, "\n")+"\n", text, Options{})
				if len(r.Differences) != 1 || r.Differences[0].Class != test.class {
					t.Errorf("counting %v, round %d: %s: want one %s: %s", counts, which, test.what, test.class, show(r))
					continue
				}
				d := r.Differences[0]
				if strings.Contains(test.what, "round") != (d.Class == ClassLoop) || counts && d.Reference.Line < int64(at-round) || d.Reference.Line > int64(at+2*round) && counts {
					t.Errorf("counting %v, round %d: %s: at line %d, want %d: %s", counts, which, test.what, d.Reference.Line, at+1, show(r))
				}
			}
		}
	}
}
