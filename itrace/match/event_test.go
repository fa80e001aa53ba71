package match

import (
	"strings"
	"testing"

	"tracewell/itrace/jsonl"
)

// TestEventAnywhere: an event of which a trace does not tell where it was is that of the other trace.
func TestEventAnywhere(t *testing.T) {
	const (
		first  = `{"kind":"instruction","address":"0x80000000","opcode":"0x13","tells":"opcode events"}` + "\n"
		second = `{"kind":"instruction","address":"0x80000004","opcode":"0x13","tells":"opcode events"}` + "\n"
		known  = `{"kind":"event","event":"interrupt","name":"7","address":"0x80000004"}` + "\n"
		other  = `{"kind":"event","event":"interrupt","name":"7","address":"0x80000008"}` + "\n"
		any    = `{"kind":"event","event":"interrupt","name":"INTERRUPT"}` + "\n"
	)
	for text, want := range map[string]Verdict{known: Equal, any: Equal, other: Different, "": Different} {
		for _, sides := range [2][2]string{{known, text}, {text, known}} {
			in := func(i int) Input {
				return Input{Name: "trace", Reader: strings.NewReader(first + sides[i] + second), Dialect: jsonl.Dialect}
			}
			if r := Compare(t.Context(), in(0), in(1), dialects, Options{}); r.Verdict != want {
				t.Errorf("%q: %s, %v", sides, r.Verdict, r.Counts)
			}
		}
	}
}
