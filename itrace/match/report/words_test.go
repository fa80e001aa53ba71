package report

import (
	"testing"

	"tracewell/itrace/match"
)

func TestSummary(t *testing.T) {
	at := &match.Position{Line: 5}
	for _, test := range []struct {
		d    match.Difference
		want string
	}{
		{match.Difference{Class: match.ClassRegister, Reference: at, Other: at, What: "t0", Expected: "0001", Got: "0002"},
			"register t0 has another value, expected 0001, got 0002"},
		{match.Difference{Class: match.ClassRegister, Reference: at, What: "t0", Expected: "1", Note: "the other trace lacks it"},
			"register t0 is not written, expected 1; the other trace lacks it"},
		{match.Difference{Class: match.ClassRegister, Other: at, What: "t0", Got: "1", CPU: 3}, "register t0 is written besides, got 1, on cpu 3"},
		{match.Difference{Class: match.ClassRegister}, "a register has another value"},
		{match.Difference{Class: match.ClassMemory, Reference: at, Other: at, What: "write of 4 at 0x10", Expected: "1"},
			"the write of 4 at 0x10 differs, expected 1, got nothing"},
		{match.Difference{Class: match.ClassMemory, Other: at}, "an access to memory comes in addition"},
		{match.Difference{Class: match.ClassPC, Expected: "0x4", Got: "0x4", Note: "different ways"}, "another instruction follows; different ways"},
		{match.Difference{Class: match.ClassOpcode, What: "nop"}, "another opcode, nop"},
		{match.Difference{Class: match.ClassHandler, Note: "a handler"}, "a handler"},
		{match.Difference{Class: match.ClassHandler}, "a handler runs on one side only"},
		{match.Difference{Class: match.ClassTail, Reference: at}, "the trace ends early"},
		{match.Difference{Class: match.ClassTail, Other: at}, "the trace goes on"},
		{match.Difference{Class: "frequency"}, "a difference of class frequency"},
	} {
		if got := Summary(&test.d); got != test.want {
			t.Errorf("%+v: %q, want %q", test.d, got, test.want)
		}
	}
}

func TestHeadline(t *testing.T) {
	named := [2]match.Trace{{File: "iss.log"}, {File: "rtl.log"}}
	for _, test := range []struct {
		r    match.Report
		want string
	}{
		{match.Report{Verdict: match.Equal, Traces: named, Compared: match.Counts{Instructions: 1, Memory: 2}},
			"rtl.log is equal to iss.log: 1 instruction, 0 register and 2 memory records compared"},
		{match.Report{Verdict: match.Different}, "the other trace differs from the reference"},
		{match.Report{Verdict: match.Different, Traces: named, Counts: map[match.Class]int64{match.ClassTail: 2},
			Differences: []match.Difference{{Class: match.ClassTail}}},
			"rtl.log differs from iss.log: one trace goes on where the other has ended (the first of 2 differences)"},
		{match.Report{Verdict: match.Failed, Traces: named, Reason: "nothing was compared"},
			"rtl.log could not be compared with iss.log: nothing was compared"},
		{match.Report{}, "the other trace could not be compared with the reference: no reason is known"},
	} {
		if got := Headline(&test.r); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

func TestFirings(t *testing.T) {
	for rule, want := range map[match.RuleUse]string{
		{Rule: "--ignore reg:t0", Fired: 1}: "1 time", {Rule: "--ignore reg:t0", Fired: 3}: "3 times", {Rule: "--ignore reg:t0"}: "never",
	} {
		if got := firings(rule); got != want {
			t.Errorf("%+v: %q, want %q", rule, got, want)
		}
	}
}
