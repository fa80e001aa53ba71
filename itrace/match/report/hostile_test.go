package report

import (
	"math"
	"strings"

	"tracewell/itrace/match"
)

// hostileText is what a trace may have in its lines and names: commands to a terminal, markup, text from right to left, what is
// no UTF-8, and no end.
const hostileText = "\x1b]0;owned\a\x1b[2J<script>alert(1)</script> ]]> &amp; \"' \u202e\u0000\xff\xfe\r\n\t``{{.}} 表 \u0301"

// hostile is a report that no comparison would make, of everything that a report can hold.
func hostile() *match.Report {
	at := func(line int64, text string) *match.Position {
		return &match.Position{File: hostileText, Line: line, Offset: math.MaxInt64, Instruction: -1, Text: text}
	}
	long := strings.Repeat("f", 1<<20)
	first := match.Difference{
		Class: hostileText, CPU: -1, Reference: at(1, hostileText), Other: at(math.MinInt64, long), What: hostileText, Expected: long + "0",
		Got: long + "1", Records: -3, Groups: math.MaxInt64, Note: hostileText,
		Context: &match.Context{
			Reference: []match.Position{*at(1, hostileText), *at(1, long), *at(0, "")},
			Other:     []match.Position{*at(math.MinInt64, long), *at(5, "R t0"), *at(5, strings.Repeat(" ", 1000)), *at(6, hostileText)},
			Registers: []match.Value{{}, {Register: hostileText, Reference: long, Other: long + "1", Differs: true, OtherWriter: at(7, "")}},
		},
	}
	return &match.Report{
		Verdict: match.Different, Reason: hostileText, Consequences: -1, Seconds: math.Inf(1),
		Traces: [2]match.Trace{
			{File: hostileText, Dialect: hostileText, Bytes: -1, Unknown: 7, Samples: []string{hostileText, long}},
			{File: hostileText, Unknown: -1},
		},
		Differences: []match.Difference{first, {Class: match.ClassRegister}, {Class: match.ClassPC, Context: &match.Context{}}, {}},
		Counts:      map[match.Class]int64{match.ClassRegister: math.MaxInt64, hostileText: -5},
		Rules:       []match.RuleUse{{Rule: hostileText, Fired: -1}, {}},
	}
}
