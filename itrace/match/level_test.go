package match

import (
	"fmt"
	"strings"
	"testing"

	"tracewell/itrace"
	"tracewell/itrace/jsonl"
)

// TestUntoldWrites: writes of registers that instructions are not said to tell are not compared, on either side.
func TestUntoldWrites(t *testing.T) {
	text := func(registers bool) string {
		var text strings.Builder
		for i := range 10 {
			fmt.Fprintf(&text, `{"kind":"instruction","cpu":0,"address":"0x%x","opcode":"0x13","tells":"opcode"}`+"\n", 4*i)
			if registers {
				fmt.Fprintf(&text, `{"kind":"register","name":"x1","value":"0x%x"}`+"\n", i)
			}
		}
		return text.String()
	}
	for _, registers := range [][2]bool{{false, true}, {true, false}, {true, true}} {
		var inputs [2]Input
		for side, with := range registers {
			inputs[side] = Input{Name: "trace", Reader: strings.NewReader(text(with)), Ready: true}
		}
		r := Compare(t.Context(), inputs[reference], inputs[other], itrace.Registry{jsonl.Dialect}, Options{})
		if r.Verdict != Equal || r.Compared != (Counts{Instructions: 10}) || len(r.NotTold) != 0 {
			t.Errorf("registers %v: %s %s %v, %+v compared, not told %v", registers, r.Verdict, r.Reason, r.Counts, r.Compared, r.NotTold)
		}
	}
}
