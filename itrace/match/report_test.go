package match

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tracewell/itrace/generate"
)

// TestFirstOnly has differences that are found in another order than they lie in.
func TestFirstOnly(t *testing.T) {
	lacking := block(0x100, 200)
	lacking[20] = "150 addiu s0,s0,1" // found out only when the effect has not come for long
	lacking[30] = "178 addiu s0,s0,1; R s0 999"
	oth := trace(lacking...)
	r := compare(t, trace(block(0x100, 200)...), oth, Options{FirstOnly: true})
	if len(r.Differences) != 1 || r.Differences[0].Reference.Line != 42 || r.Counts[ClassRegister] != 1 || r.Compared.Instructions > 80 {
		t.Error(show(r))
	}

	// Processor 1 differs first, by the reference; but processor 0 comes first everywhere.
	var both, wrong []string
	for i := range 4000 {
		zero, one := fmt.Sprintf("%x ori t0,zero,1; R t0 %x", 0x1000+4*i, i), fmt.Sprintf("1@%x ori t0,zero,1; R t0 %x", 0x1000+4*i, i)
		both = append(both, zero, one)
		if i == 500 {
			zero += "1"
		}
		if i == 499 {
			one += "1"
		}
		wrong = append(wrong, zero, one)
	}
	r = compare(t, trace(both...), trace(wrong...), Options{FirstOnly: true})
	if len(r.Differences) != 1 || r.Differences[0].CPU != 1 || r.Differences[0].Reference.Line != 4*499+4 {
		t.Error(show(r))
	}
}

// TestPositions holds the positions of differences against the texts.
func TestPositions(t *testing.T) {
	ref, _ := generated(t, generate.Options{Instructions: 9000})
	for _, kind := range []generate.FaultKind{generate.FaultValue, generate.FaultStore, generate.FaultAddress, generate.FaultOpcode,
		generate.FaultMode, generate.FaultSkipped, generate.FaultDrop, generate.FaultInsert, generate.FaultInterrupt, generate.FaultTruncate, generate.FaultLate} {
		oth, planted := generated(t, generate.Options{Instructions: 9000, CRLF: true, Faults: []generate.Fault{{Kind: kind, At: 4000}}})
		r := compare(t, ref, oth, Options{})
		if len(r.Differences) != 1 {
			t.Errorf("%s: %s", kind, show(r))
			continue
		}
		d := r.Differences[0]
		for side, p := range []*Position{d.Reference, d.Other} {
			text := []string{ref, oth}[side]
			if p == nil {
				continue
			}
			rest := text[p.Offset:]
			line, _, _ := strings.Cut(rest, "\n")
			if strings.TrimSuffix(line, "\r") != p.Text || int64(strings.Count(text[:p.Offset], "\n")+1) != p.Line {
				t.Errorf("%s: position %+v", kind, p)
			}
			if n := int64(strings.Count(text[:p.Offset], " IT (")); n != p.Instruction && n != p.Instruction+1 { // its own or one behind
				t.Errorf("%s: instruction %d, want %d", kind, p.Instruction, n)
			}
		}
		first := d.Other
		if kind == generate.FaultLate || first == nil { // told of the line that the effect should be in
			first = d.Reference
		}
		if first.Line != planted[0].Line && kind != generate.FaultDrop && kind != generate.FaultTruncate {
			t.Errorf("%s: at line %d, want %d: %s", kind, first.Line, planted[0].Line, show(r))
		}
		if d.Reference != nil && d.Reference.Line != planted[0].Line {
			t.Errorf("%s: at line %d of the reference, want %d", kind, d.Reference.Line, planted[0].Line)
		}
	}
}

// TestContext looks at what surrounds a difference.
func TestContext(t *testing.T) {
	instructions := block(0x100, 30)
	instructions[10] = "128 ori t0,zero,7; R t0 7"
	instructions[20] = "150 addu t1,t0,s0; R t1 1234; MW4 40 5"
	wrong := slices.Clone(instructions)
	wrong[10] = "128 ori t0,zero,7; R t0 9"
	wrong[20] = "150 addu t1,t0,s0; R t1 1234; MW4 40 5"
	wrong[21] = "154 ori t1,zero,7; R t1 77"
	r := compare(t, trace(instructions...), trace(wrong...), Options{Context: 3})
	if len(r.Differences) != 2 {
		t.Fatal(show(r))
	}
	c := r.Differences[1].Context
	var lines []string
	for _, p := range c.Other {
		lines = append(lines, p.Text)
	}
	want := strings.Split(strings.TrimSuffix(trace(wrong...), "\n"), "\n")
	if from := slices.Index(want, lines[0]); from < 0 || !slices.Equal(lines, want[from:from+len(lines)]) || len(lines) != 15 ||
		!strings.Contains(lines[0], " 00000148 ") && !strings.Contains(lines[0], " 148 ") {
		t.Errorf("context %q", lines)
	}
	var t0, t1 *Value
	for i := range c.Registers {
		switch v := &c.Registers[i]; v.Register {
		case "t0":
			t0 = v
		case "t1":
			t1 = v
		}
	}
	if t0 == nil || t0.Reference != "7" || t0.Other != "9" || !t0.Differs || t0.ReferenceWriter.Line != 21 || t0.OtherWriter.Instruction != 10 {
		t.Errorf("t0 is %+v", t0)
	}
	if t1 == nil || t1.Reference != "1234" || t1.Other != "1234" || t1.Differs || t1.ReferenceWriter.Instruction != 20 {
		t.Errorf("t1 before the instruction is %+v", t1)
	}
}

// TestContextOfWhatIsMissed looks at the context of a difference that is found out late.
func TestContextOfWhatIsMissed(t *testing.T) {
	lacking := block(0x100, 200)
	lacking[20] = "150 addiu s0,s0,1"
	r := compare(t, trace(block(0x100, 200)...), trace(lacking...), Options{Context: 2})
	if len(r.Differences) != 1 {
		t.Fatal(show(r))
	}
	c := r.Differences[0].Context
	if len(c.Reference) != 12 || c.Reference[4].Line != 41 || len(c.Registers) != 1 || c.Registers[0].Reference != "113" || c.Registers[0].Differs {
		t.Errorf("%+v", c)
	}
}

// TestCounts holds what was compared against what there is.
func TestCounts(t *testing.T) {
	ref, _ := generated(t, generate.Options{Instructions: 20_000})
	for _, o := range []generate.Options{{Late: 4}, {Split: true}, {Shuffle: true, Seed: 4}} {
		o.Instructions = 20_000
		oth, _ := generated(t, o)
		r := compare(t, ref, oth, Options{Window: 5})
		if r.Verdict != Equal || r.Compared != r.Traces[reference].Records {
			t.Errorf("%+v: compared %v of %v: %s", o, r.Compared, r.Traces[reference].Records, show(r))
		}
	}
	for side, text := range []string{ref, ref} {
		r := compare(t, ref, ref, Options{})
		if tr := r.Traces[side]; tr.Bytes != int64(len(text)) || tr.Lines != int64(strings.Count(text, "\n")) || tr.Dialect != "matcher" ||
			tr.Records.Instructions+tr.Records.Registers+tr.Records.Memory != tr.Lines {
			t.Errorf("%+v", tr)
		}
	}
	oth, _ := generated(t, generate.Options{Instructions: 20_000, Faults: []generate.Fault{{Kind: generate.FaultDrop, At: 5000, N: 7}, {Kind: generate.FaultInterrupt, At: 9000}}})
	r := compare(t, ref, oth, Options{})
	if r.Compared.Instructions != 19_993 || r.Differences[0].Groups != 7 || r.Differences[1].Groups != 8 || r.Traces[other].Records.Instructions != 20_001 {
		t.Error(show(r))
	}
}

// TestMaxDifferences describes few of many differences, and counts all.
func TestMaxDifferences(t *testing.T) {
	text, _ := generated(t, generate.Options{Instructions: 3000})
	oth, _ := generated(t, generate.Options{Instructions: 3000, TimeBase: 1})
	r := compare(t, text, oth, Options{Fields: []Field{FieldTime}, MaxDifferences: 5})
	if len(r.Differences) != 5 || r.Counts[ClassTime] != 3000 || r.Differences[4].Reference.Instruction != 4 {
		t.Error(show(r))
	}
}

// TestDeterministic compares the same traces again and again.
func TestDeterministic(t *testing.T) {
	t.Parallel()
	faults := []generate.Fault{{Kind: generate.FaultState, At: 5000}, {Kind: generate.FaultInterrupt, At: 9000, CPU: 1}, {Kind: generate.FaultDrop, At: 9000, CPU: 2},
		{Kind: generate.FaultValue, At: 9000, CPU: 3}, {Kind: generate.FaultStore, At: 12_000, CPU: 3}}
	ref, _ := generated(t, generate.Options{Instructions: 20_000, CPUs: 4})
	oth, _ := generated(t, generate.Options{Instructions: 20_000, CPUs: 4, Seed: 9, Faults: faults, Late: 3})
	for _, o := range []Options{{Window: 3}, {}, {Window: 3, FirstOnly: true}} {
		var first string
		for i := range 5 {
			r := compare(t, ref, oth, o)
			r.Seconds = 0
			if o.FirstOnly {
				r.Rules = nil // the readers were further or not
			}
			b, _ := json.Marshal(r)
			if i == 0 {
				first = string(b)
			} else if first != string(b) {
				t.Fatalf("%+v: %s\n%s", o, first, b)
			}
		}
	}
}

// TestRulesInJSON writes rules and reads them again, in their order.
func TestRulesInJSON(t *testing.T) {
	rules := RuleUses{{"--window-size 1", 7}, {"--ignore reg:\"<", 1 << 60}, {"accesses split or merged", 0}}
	text, err := json.Marshal(rules)
	if err != nil || !strings.HasPrefix(string(text), `{"--window-size 1":7,`) {
		t.Fatalf("%s, %v", text, err)
	}
	var got RuleUses
	if err := json.Unmarshal(text, &got); err != nil || !slices.Equal(got, rules) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{`[]`, `{"a":"b"}`, `{"a":1.5}`} {
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("%s: %v", bad, got)
		}
	}
}
