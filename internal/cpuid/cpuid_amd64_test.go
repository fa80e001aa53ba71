package cpuid

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The AVX component follows the legacy area and the header on every processor that has it, which the kernel says.
func TestAVXComponent(t *testing.T) {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Fatal(err)
	}
	var want Component
	if slices.Contains(strings.Fields(string(text)), "avx") {
		want = Component{576, 256}
	}
	if c := StateComponent(2); c != want {
		t.Errorf("AVX state at %+v, want %+v", c, want)
	}
}
