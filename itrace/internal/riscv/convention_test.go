package riscv

import "testing"

// TestConventionName: names of the calling convention are those by number, and the other way round.
func TestConventionName(t *testing.T) {
	for number, want := range map[string]string{
		"x0": "zero", "x1": "ra", "x2": "sp", "x4": "tp", "x5": "t0", "x8": "s0", "x10": "a0", "x18": "s2", "x31": "t6",
		"f0": "ft0", "f8": "fs0", "f10": "fa0", "f28": "ft8", "f31": "ft11", "v3": "v3",
	} {
		r, known := Number([]byte(number))
		if got := ConventionName(r); !known || string(got) != want {
			t.Errorf("%s is %s, want %s", number, got, want)
		}
	}
	for class := range classes {
		for n := range registers {
			r := Register{classes[class], uint8(n)}
			if again, known := Number(ConventionName(r)); !known || again != r {
				t.Errorf("%c%d comes back as %v", r.Class, r.Number, again)
			}
		}
	}
}

// TestNumber: names that look like those of registers are none.
func TestNumber(t *testing.T) {
	for _, name := range []string{"", "x", "x00", "x05", "x32", "x99", "x100", "xA", "x/", "x1a", "y1", "f:", "v32"} {
		if r, known := Number([]byte(name)); known {
			t.Errorf("%q is %v", name, r)
		}
	}
}
