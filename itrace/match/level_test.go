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

// TestHeldAhead: what registers held ahead of the first instruction is not compared where a trace that tells only changes has it and
// the other has not; one of all writes that another lacks is a difference.
func TestHeldAhead(t *testing.T) {
	text := func(tells string, ahead string) Input {
		var text strings.Builder
		if ahead != "" {
			fmt.Fprintf(&text, `{"kind":"register","cpu":0,"name":"x1","value":"%s"}`+"\n", ahead)
		}
		for i := range 10 {
			fmt.Fprintf(&text, `{"kind":"instruction","cpu":0,"address":"0x%x","opcode":"0x13","tells":"opcode registers%s"}`+"\n", 4*i, tells)
			fmt.Fprintf(&text, `{"kind":"register","name":"x2","value":"0x%x"}`+"\n", i)
		}
		return Input{Name: "trace", Reader: strings.NewReader(text.String()), Ready: true}
	}
	const all = " all-writes"
	for name, test := range map[string]struct {
		reference, other Input
		want             Verdict
	}{
		"changes, all":             {text("", "0x7"), text(all, ""), Equal},
		"all, changes":             {text(all, ""), text("", "0x7"), Equal},
		"changes, changes":         {text("", "0x7"), text("", ""), Equal},
		"both, alike":              {text("", "0x7"), text("", "0x7"), Equal},
		"both, of different value": {text("", "0x7"), text("", "0x8"), Different},
		"a write":                  {text(all, "0x7"), text(all, ""), Different},
	} {
		if r := Compare(t.Context(), test.reference, test.other, itrace.Registry{jsonl.Dialect}, Options{}); r.Verdict != test.want {
			t.Errorf("%s: %s %s %v, want %s", name, r.Verdict, r.Reason, r.Counts, test.want)
		}
	}
}
