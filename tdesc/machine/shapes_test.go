package machine_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tracewell/arch"
	"tracewell/tdesc"
	"tracewell/tdesc/machine"
)

// TestShapes holds every machine against what a description has to be: it means the same printed and parsed, without a
// warning; names and numbers come once; and bitsizes are those of the types, so that gdbserver would lay it out as GDB does.
func TestShapes(t *testing.T) {
	shapeNames := map[string]bool{}
	for _, s := range machine.Shapes() {
		t.Run(s.Name, func(t *testing.T) {
			if shapeNames[s.Name] {
				t.Error("there are two of this name")
			}
			shapeNames[s.Name] = true
			target := s.Target()
			parsed, warnings, err := tdesc.Parse(target.XML(), nil)
			if err != nil || len(warnings) > 0 {
				t.Fatalf("error %v, warnings %v", err, warnings)
			}
			if diff := cmp.Diff(target, parsed, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-made +parsed:\n%s", diff)
			}
			layout, err := target.Layout()
			if err != nil {
				t.Fatal(err)
			}
			names, numbers := map[string]bool{}, map[arch.Reg]bool{}
			for _, slot := range layout.Slots {
				r := slot.Reg
				if names[r.Name] || numbers[r.Num] || r.Bits != 8*slot.Size {
					t.Errorf("%s, number %d, %d bits in %d bytes: twice, or of another size", r.Name, r.Num, r.Bits, slot.Size)
				}
				names[r.Name], numbers[r.Num] = true, true
			}
		})
	}
}
