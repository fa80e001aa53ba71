package check

import (
	"fmt"
	"testing"

	"tracewell/tdesc"
	"tracewell/tdesc/machine"
)

// TestMachines has nothing to find in the descriptions of real machines.
func TestMachines(t *testing.T) {
	for bits := range 1 << 5 {
		m := machine.AMD64{OrigRAX: bits&1 != 0, Segments: bits&2 != 0, AVX: bits&4 != 0, AVX512: bits&8 != 0, PKU: bits&16 != 0}
		t.Run(fmt.Sprintf("%+v", m), func(t *testing.T) {
			if report := Document(m.Target().XML(), tdesc.Options{}); report.Verdict != WellFormed {
				t.Errorf("%s: %v", report.Verdict, report.Findings)
			}
		})
	}
}
