package ax

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
)

var requirements = []struct {
	name, text string
	want       Requirements
	flaws      []string
}{
	{name: "nothing", text: "end"},
	{
		name: "registers and variables once each, ascending",
		text: "reg 17; reg 6; reg 17; getv 9; setv 2; tracev 9; end",
		want: Requirements{MaxHeight: 4, Registers: []arch.Reg{6, 17}, Variables: []uint16{2, 9}},
	},
	{
		name: "both branches of a condition",
		text: "const8 1; if_goto yes; const8 2; const8 3; add; goto join; yes: const8 4; join: end",
		want: Requirements{MaxHeight: 2},
	},
	{
		name: "two ends",
		text: "const8 1; if_goto yes; const8 2; dup; end; yes: const8 4; end",
		want: Requirements{MaxHeight: 2},
	},
	{
		name: "loop",
		text: "again: const8 1; if_goto again; end",
		want: Requirements{MaxHeight: 1},
	},
	{
		name: "underflow",
		text: "const8 1; add; dup; end",
		want: Requirements{MinHeight: -1, MaxHeight: 1},
		flaws: []string{"stack underflow: add at offset 2: height falls to -1",
			"stack underflow: dup at offset 3: height falls to -1"},
	},
	{
		name: "pick and printf reach as deep as their operands say",
		text: "const8 1; pick 1; const8 1; printf 2 `%d`; end",
		want: Requirements{MinHeight: -1, MaxHeight: 3},
		flaws: []string{"stack underflow: pick at offset 2: height falls to -1",
			"stack underflow: printf at offset 6: height falls to -1"},
	},
	{
		name:  "overflow",
		text:  strings.Repeat("const8 1; ", MaxHeight+1) + "end",
		want:  Requirements{MaxHeight: MaxHeight + 1},
		flaws: []string{"stack overflow: const8 at offset 196: height rises to 99"},
	},
	{
		name:  "different heights",
		text:  "const8 1; if_goto join; const8 2; join: end",
		want:  Requirements{MaxHeight: 1},
		flaws: []string{"inconsistent stack height: end at offset 7: 0 on one path, 1 on another"},
	},
	{
		name:  "loop that grows",
		text:  "again: const8 1; goto again",
		want:  Requirements{MaxHeight: 1},
		flaws: []string{"inconsistent stack height: const8 at offset 0: 0 on one path, 1 on another"},
	},
	{
		name: "dead code is not looked into",
		text: "goto out; float; reg 5; out: end; end",
		flaws: []string{"instruction is unreachable: float at offset 3",
			"instruction is unreachable: reg at offset 4", "instruction is unreachable: end at offset 8"},
	},
	{
		name:  "float",
		text:  "reg 6; ref_double; end",
		want:  Requirements{MaxHeight: 1, Registers: []arch.Reg{6}},
		flaws: []string{"unhandled opcode: ref_double at offset 3"},
	},
}

func TestRequirements(t *testing.T) {
	for _, test := range requirements {
		t.Run(test.name, func(t *testing.T) {
			got := mustAssemble(t, test.text).Requirements()
			var flaws []string
			for _, flaw := range got.Flaws {
				flaws = append(flaws, flaw.Error())
			}
			if diff := cmp.Diff(test.flaws, flaws); diff != "" {
				t.Errorf("flaws (-want +got):\n%s", diff)
			}
			got.Flaws = nil
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("requirements (-want +got):\n%s", diff)
			}
		})
	}
}
