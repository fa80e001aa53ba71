package report

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/itrace"
	"tracewell/itrace/match"
	"tracewell/itrace/matcher"
)

// drawn draws the rows of lines of two traces of which the difference is in the lines that begin with an asterisk.
func drawn(dialects itrace.Registry, class match.Class, side string, groups int64, ref, other string) string {
	d := &match.Difference{Class: class, Side: side, Groups: groups, Context: &match.Context{}}
	at := [2]**match.Position{&d.Reference, &d.Other}
	var sides [2][]match.Position
	for i, text := range []string{ref, other} {
		instruction := int64(0)
		for n, line := range strings.Split(text, "\n") {
			line, here := strings.CutPrefix(line, "*")
			if strings.Contains(line, "IT") {
				instruction++
			}
			p := match.Position{Line: int64(n + 1), Instruction: instruction, Text: line}
			if here {
				*at[i] = &p
			}
			sides[i] = append(sides[i], p)
		}
	}
	d.Context.Reference, d.Context.Other = sides[0], sides[1]
	r := &match.Report{Traces: [2]match.Trace{{Dialect: "matcher"}, {Dialect: "matcher"}}}
	var drawing strings.Builder
	for _, row := range rows(r, d, dialects) {
		line := func(c cell) string {
			if c.at == nil {
				return "-"
			}
			return fmt.Sprint(c.at.Line)
		}
		fmt.Fprintf(&drawing, "%s%s%s%s ", map[bool]string{true: "*"}[row.here], line(row.sides[0]), signs[row.kind], line(row.sides[1]))
	}
	return strings.TrimSpace(drawing.String())
}

const (
	instruction4 = "1 clk 0 IT (1) 00000004 3c080001 A svc : lui t0,0x1"
	instruction8 = "2 clk 0 IT (2) 00000008 25080004 A svc : addiu t0,t0,4"
)

func TestRows(t *testing.T) {
	for name, test := range map[string]struct {
		class      match.Class
		side       string
		groups     int64
		ref, other string
		want       string
	}{
		"nothing": {match.ClassRegister, "", 0, "", "", "1 1"},
		"another value": {
			match.ClassRegister, "", 0,
			instruction4 + "\n*1 clk R t0 00010000\n" + instruction8, instruction4 + "\n*9 clk R t0 00010001\n" + instruction8,
			"1 1 *2≠2 3 3",
		},
		"written otherwise": {
			match.ClassRegister, "", 0,
			instruction4 + "\n*1 clk R t0 00010000", "7 ns 0 IT (9) 4 3C080001 A svc_ns : LUI\n*9 clk R T0 10001",
			"1 1 *2≠2",
		},
		"another time, which was asked for": {
			match.ClassTime, "", 0, "*1 clk R t0 1\n2 clk R t1 2", "*9 clk R t0 1\n9 clk R t1 2", "*1≠1 2 2", // the rules of the report do not have it
		},
		"in another order": {
			match.ClassReordered, "", 0,
			"*1 clk R t0 1\n1 clk R t1 2\n1 clk R t2 3", "1 clk R t1 2\n1 clk R t2 3\n*1 clk R t0 1",
			"*1<- 2 1 3 2 *->3",
		},
		"missing": {
			match.ClassMissing, "reference", 1,
			instruction4 + "\n*" + instruction4 + "\n" + instruction8, instruction4 + "\n*" + instruction8,
			"1 1 *2<- 3 2",
		},
		"extra, the same as what follows": {
			match.ClassExtra, "other", 1,
			instruction4 + "\n*" + instruction8, instruction4 + "\n*" + instruction8 + "\n" + instruction8,
			"1 1 *->2 2 3",
		},
		"missing, and where the other goes on is out of sight": {
			match.ClassMissing, "reference", 40,
			instruction4 + "\n*" + instruction4, instruction4 + "\n*" + instruction8,
			"1 1 *2<- ->2",
		},
		"a stretch of which nobody says who has it": {
			match.ClassHandler, "", 1,
			instruction4 + "\n*" + instruction8, instruction4 + "\n*5 clk 0 IT (5) 00000020 00000000 A svc : nop\n" + instruction8,
			"1 1 *->2 2 3",
		},
		"another way": {
			match.ClassPC, "", 2,
			instruction4 + "\n*" + instruction8, instruction4 + "\n*5 clk 0 IT (5) 00000020 00000000 A svc : nop",
			"1 1 *2≠2",
		},
		"lines that begin later or end earlier": {
			match.ClassMode, "", 0,
			"1 clk R s0 1\n1 clk R s1 1\n*" + instruction4 + "\n1 clk R t0 1",
			"1 clk R s1 1\n*1 clk 0 IT (1) 00000004 3c080001 A usr : lui t0,0x1\n1 clk R t0 1\n" + instruction8 + "\n2 clk R t0 2",
			"2 1 *3≠2 4 3",
		},
	} {
		for how, dialects := range map[string]itrace.Registry{"by meaning": {matcher.Dialect}, "by words": nil} {
			got := drawn(dialects, test.class, test.side, test.groups, test.ref, test.other)
			if how == "by words" && name == "written otherwise" {
				continue // the disassembly counts then
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", name, how, diff)
			}
		}
	}
}

// TestLeaps leaves lines out: of one processor that is seen by the numbers, of several only where they leap much farther than
// between the instructions of one.
func TestLeaps(t *testing.T) {
	for _, test := range []struct {
		instructions []int64
		want         string
	}{
		{[]int64{1, 1, 2, 3, 5, 6}, "..*.|.."},
		{[]int64{1, 2, 9, 10, 12, 13}, "..*..."},
		{[]int64{1, 5, 9, 14, 18, 90, 95}, "..*..|.."},
		{[]int64{1, 5, 9, 5, 0, math.MinInt64, math.MaxInt64}, "..*...."},
	} {
		var all []row
		for i, n := range test.instructions {
			p := &match.Position{Instruction: n}
			all = append(all, row{sides: [2]cell{{at: p}, {at: p}}, here: i == 2})
		}
		var got strings.Builder
		for _, r := range leaps(all) {
			got.WriteString(map[bool]string{true: "|", false: map[bool]string{true: "*", false: "."}[r.here]}[r.kind == leap])
		}
		if got.String() != test.want {
			t.Errorf("%v: %s, want %s", test.instructions, got.String(), test.want)
		}
	}
}

// TestAliases has registers by other names than the comparison has for them.
func TestAliases(t *testing.T) {
	d := &match.Difference{Context: &match.Context{
		Reference: []match.Position{{Text: "1 clk R t0 1"}, {Text: "1 clk R t1 2"}, {Text: "1 clk R t2 3"}},
		Other:     []match.Position{{Text: "1 clk R r8 1"}, {Text: "1 clk R t1 2"}, {Text: "1 clk R t3 3"}},
		Registers: []match.Value{{Register: "t0"}, {Register: "t1"}, {Register: "t2"}, {Register: "t3"}},
	}}
	r := &match.Report{Traces: [2]match.Trace{{Dialect: "matcher"}, {Dialect: "matcher"}}}
	var kinds []rowKind
	for _, row := range rows(r, d, dialects) {
		kinds = append(kinds, row.kind)
	}
	if diff := cmp.Diff([]rowKind{same, same, refOnly, otherOnly}, kinds); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAskedFields compares what counts only if it was asked for.
func TestAskedFields(t *testing.T) {
	context := &match.Context{
		Reference: []match.Position{{Text: "1 clk 0 IT (1) 4 3c A svc_s : lui"}, {Text: "1 clk MR1X 10 00"}},
		Other:     []match.Position{{Text: "2 clk 0 IT (2) 4 3c A svc_ns : LUI"}, {Text: "1 clk MR1T 10 00"}},
	}
	for field, want := range map[match.Field][]rowKind{
		"": {same, same}, match.FieldTime: {changed, same}, match.FieldID: {changed, same}, match.FieldDisasm: {changed, same},
		match.FieldSecurity: {changed, same}, match.FieldPrivilege: {same, changed},
	} {
		r := &match.Report{Traces: [2]match.Trace{{Dialect: "matcher"}, {Dialect: "matcher"}}}
		r.Rules = []match.RuleUse{{Rule: "--compare " + string(field)}}
		var kinds []rowKind
		for _, row := range rows(r, &match.Difference{Context: context}, dialects) {
			kinds = append(kinds, row.kind)
		}
		if diff := cmp.Diff(want, kinds); diff != "" {
			t.Errorf("%s (-want +got):\n%s", field, diff)
		}
	}
}

// TestDialects pairs the lines of two dialects by what they mean.
func TestDialects(t *testing.T) {
	objects := []match.Position{
		{Text: `{"kind":"instruction","time":9,"cpu":0,"id":4,"address":"0x4","opcode":"0x3C080001","state":"A","mode":"svc","disasm":""}`},
		{Text: `{"kind":"register","name":"t0","value":"0x10000"}`},
	}
	d := &match.Difference{Context: &match.Context{
		Reference: []match.Position{{Text: instruction4}, {Text: "1 clk R t0 00010000"}}, Other: objects,
	}}
	r := &match.Report{Traces: [2]match.Trace{{Dialect: "matcher"}, {Dialect: "json"}}}
	for i, row := range rows(r, d, dialects) {
		if row.kind != same {
			t.Errorf("row %d is %v", i, row)
		}
	}
}

// TestObjects pairs lines that are objects of JSON by their members, without those that do not count as a rule.
func TestObjects(t *testing.T) {
	const object = `{"kind":"register","time":%d,"scale":"clk","cpu":0,"name":"t0","value":"0x0001"}`
	if got := drawn(nil, match.ClassMode, "", 0, fmt.Sprintf(object, 1), fmt.Sprintf(object, 2)); got != "1 1" {
		t.Error(got)
	}
}

func TestMarked(t *testing.T) {
	show := func(spans []span) string {
		var b strings.Builder
		for _, s := range spans {
			if s.differs {
				s.text = "[" + s.text + "]"
			}
			b.WriteString(s.text)
		}
		return b.String()
	}
	for _, test := range [][4]string{
		{"1 clk R t0 01", "9 ns R t0 02", "1 clk R t0 [01]", "9 ns R t0 [02]"},
		{"1 clk  R t0 0x01", "1 clk R T0 1", "1 clk  R t0 [0x01]", "1 clk R T0 [1]"},
		{"1 clk R v0 01:02", "1 clk R v0 01 02 03", "1 clk R v0 [01:02]", "1 clk R v0 [01] [02] [03]"},
		{"lw t0,4(sp)", "lw t0,8(sp)", "lw t0,[4(sp)]", "lw t0,[8(sp)]"},
		{"1 clk  R t0 01", "2 clk R T0 01", "[1] clk  R t0 01", "[2] clk R T0 01"},
		{`{"kind":"register"}`, "1 clk R t0 01", `{"kind":"register"}`, "1 clk R t0 01"},
		{"", "a", "", "a"},
	} {
		var x, y line
		x.split(test[0])
		y.split(test[1])
		left, right := marked(&x, &y)
		if show(left) != test[2] || show(right) != test[3] {
			t.Errorf("%s | %s: %s | %s", test[0], test[1], show(left), show(right))
		}
	}
}

func TestFit(t *testing.T) {
	for _, test := range []struct {
		spans []span
		width int
		want  string
	}{
		{[]span{{text: "abcdef"}}, 6, "abcdef"},
		{[]span{{text: "abcdef"}}, 0, "abcdef"},
		{[]span{{text: "abcdef"}}, 5, "abcd…"},
		{[]span{{text: "abcdefghijkl"}, {"X", true}, {text: "mnopqrst"}}, 9, "…klXmnop…"},
		{[]span{{text: "abcdefghijkl"}, {"X", true}}, 6, "…ijklX"},
		{[]span{{text: "äöü"}, {"ß", true}}, 2, "…ß"},
		{[]span{{text: "ab"}}, 1, "…"},
	} {
		if got := flat(fit(test.spans, test.width)); got != test.want {
			t.Errorf("%v in %d: %q, want %q", test.spans, test.width, got, test.want)
		}
	}
}
