package cpuid

import "testing"

// The AVX component follows the legacy area and the header on every processor that has it.
func TestAVXComponent(t *testing.T) {
	c := StateComponent(2)
	if c.Size == 0 {
		t.Skip("no AVX on this processor")
	}
	if c != (Component{576, 256}) {
		t.Errorf("AVX state at %+v, want offset 576, size 256", c)
	}
}
