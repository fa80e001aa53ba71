package query_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"tracewell/itrace"
	"tracewell/itrace/execution"
	"tracewell/itrace/index"
	"tracewell/itrace/jsonl"
	"tracewell/itrace/query"
)

// TestUntold asks a trace of addresses alone: what it does not tell is an error, or unknown.
func TestUntold(t *testing.T) {
	var text []byte
	for i := range 3 {
		r := itrace.Record{Kind: itrace.Instruction, AddrDigits: fmt.Append(nil, 1000+4*i), Extra: itrace.Extra{Scope: itrace.FlowOnly}}
		text = append(jsonl.Append(text, &r), '\n')
	}
	trace, _ := opened(t, text, jsonl.Dialect, execution.Options{})
	memory, err := trace.Object("0x10,4")
	if err != nil {
		t.Fatal(err)
	}
	none := func(query.Access) error { return nil }
	for what, err := range map[string]error{
		"writes of memory": trace.Writers(t.Context(), memory, query.Pick{}, none),
		"reads of memory":  trace.Readers(t.Context(), memory, query.Pick{}, none),
		"registers":        second(trace.Object("a0")),
		"times":            second(trace.Position(t.Context(), "@5", 0)),
	} {
		var untold *query.Untold
		if !errors.As(err, &untold) || untold.What != what {
			t.Errorf("%s: %v", what, err)
		}
	}
	image, err := trace.MemoryAt(3, 0x1000, 8, false)
	if err != nil || slices.ContainsFunc(image.Known, func(k index.Knowledge) bool { return k != index.Unseen }) {
		t.Errorf("memory is %+v, %v", image, err)
	}
	if gaps := trace.Gaps(index.Write); len(gaps) != 2 || gaps[0] != "the trace tells no writes of memory" {
		t.Errorf("gaps are %q", gaps)
	}
	place, err := trace.Code("0x1004")
	if err != nil {
		t.Fatal(err)
	}
	if counts, err := trace.Count(t.Context(), place); err != nil || counts[0] != 1 {
		t.Errorf("executed %d times, %v", counts, err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestLate asks for a write that the trace tells of two instructions later: it is that of the instruction that did it.
func TestLate(t *testing.T) {
	var text []byte
	for _, r := range []itrace.Record{
		{Kind: itrace.Instruction, AddrDigits: []byte("1000"), Digits: []byte("00000013")},
		{Kind: itrace.Instruction, AddrDigits: []byte("1004"), Digits: []byte("00000013")},
		{Kind: itrace.Instruction, AddrDigits: []byte("1008"), Digits: []byte("00000013")},
		{Kind: itrace.Register, Name: []byte("x10"), Digits: []byte("00000007"), Extra: itrace.Extra{Back: 2}},
		{Kind: itrace.Register, Name: []byte("x10"), Digits: []byte("00000008")},
	} {
		text = append(jsonl.Append(text, &r), '\n')
	}
	trace, _ := opened(t, text, jsonl.Dialect, execution.Options{Arch: "riscv32"})
	o, err := trace.Object("a0")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := trace.Writers(t.Context(), o, query.Pick{}, func(a query.Access) error {
		got = append(got, fmt.Sprintf("%d %x %s", a.Number, a.Step.Item.Addr, a.Value))
		return nil
	}); err != nil || fmt.Sprint(got) != "[0 1000 00000007 2 1008 00000008]" {
		t.Errorf("%v, %v", got, err)
	}
}

// TestRegisterReads asks a trace that tells of reads of registers, and of events.
func TestRegisterReads(t *testing.T) {
	extra := itrace.Extra{Scope: itrace.TellsReads | itrace.TellsEvents}
	var text []byte
	for _, r := range []itrace.Record{
		{Kind: itrace.Instruction, AddrDigits: []byte("1000"), Digits: []byte("00000013"), Extra: extra},
		{Kind: itrace.Register, Name: []byte("x10"), Digits: []byte("00000007")},
		{Kind: itrace.Instruction, AddrDigits: []byte("1004"), Digits: []byte("00000013"), Extra: extra},
		{Kind: itrace.RegisterRead, Name: []byte("x10"), Digits: []byte("00000007")},
		{Kind: itrace.RegisterRead, Name: []byte("x11"), Digits: []byte("00000001")},
		{Kind: itrace.Event, Name: []byte("ecall"), Extra: itrace.Extra{Event: itrace.Exception}},
	} {
		text = append(jsonl.Append(text, &r), '\n')
	}
	trace, _ := opened(t, text, jsonl.Dialect, execution.Options{Arch: "riscv32"})
	for name, want := range map[string]string{"a0": "[1 00000007 00000007]", "x11": "[1  00000001]"} {
		o, err := trace.Object(name)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := trace.Readers(t.Context(), o, query.Pick{}, func(a query.Access) error {
			got = append(got, fmt.Sprint(a.Number, " ", string(a.Before), " ", string(a.Value)))
			return nil
		}); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s; %v", name, got, want, err)
		}
	}
	if err := trace.Around(t.Context(), 1, 0, 0, func(m query.Moment) error {
		if len(m.Effects) != 3 || m.Effects[2].Event != itrace.Exception || string(m.Effects[2].Words) != "ecall" {
			t.Errorf("effects are %+v", m.Effects)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
