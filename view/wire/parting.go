package wire

import (
	"fmt"

	"tracewell/itrace/parting"
)

type (
	// VersionComparison is where the runs of two versions of a program part.
	VersionComparison struct {
		Parts     bool             `json:"parts"` // they do
		Reference VersionTrace     `json:"reference"`
		Other     VersionTrace     `json:"other"`
		Partings  []VersionParting `json:"partings"`  // the first one first; the same in the same function are one
		NotListed uint64           `json:"notListed"` // partings that are in none of these, because too many are different
	}
	// VersionTrace is the trace of one version.
	VersionTrace struct {
		CPU          int32         `json:"cpu"`          // the number of the processor that is compared
		Instructions int64         `json:"instructions"` // of all processors
		Handlers     uint64        `json:"handlers"`     // of exceptions and interrupts, which are not compared
		Only         []VersionOnly `json:"only"`         // functions that the other version has not, by name
	}
	// VersionOnly is a function of one version.
	VersionOnly struct {
		CodePlace
		Calls uint64 `json:"calls"` // how often it was called
	}
	// VersionParting is where both runs are in the same function and do something else.
	VersionParting struct {
		Function  string         `json:"function"` // by its name in the other version, as in the stack; empty outside of functions
		Count     uint64         `json:"count"`    // how often they part in this way; all else is of the first time
		Rest      bool           `json:"rest"`     // they do not agree again before the function ends
		Stack     []VersionCall  `json:"stack"`    // calls that were active, the outermost first; the last is that of the function
		Reference VersionStretch `json:"reference"`
		Other     VersionStretch `json:"other"`
	}
	// VersionCall is a call that is active in both runs.
	VersionCall struct {
		Function  string     `json:"function"`
		Reference *CodePlace `json:"reference,omitempty"` // of the call; absent if it is not known
		Other     *CodePlace `json:"other,omitempty"`     // the same in the other version
	}
	// VersionStretch is what one run did in place of what the other did.
	VersionStretch struct {
		CodePlace                    // where it begins
		Instruction   int64          `json:"instruction"`   // the first one, counted from 0 over all processors
		Instructions  int64          `json:"instructions"`  // how many; 0 if it did nothing that the other did not
		Steps         []VersionSteps `json:"steps"`         // what it did
		StepsNotShown int64          `json:"stepsNotShown"` // behind these
	}
	// VersionSteps is a call with all that it called, a line, or a loop.
	VersionSteps struct {
		Kind         string `json:"kind"`                   // line, loop, call, return for a function that ends here, or end of the trace
		Function     string `json:"function"`               // that was called, by its name in this version; else empty
		File         string `json:"file"`                   // of the source; empty if there is none
		Line         int    `json:"line,omitempty"`         // of a called function, where it begins
		Last         int    `json:"last,omitempty"`         // line of a loop
		Rounds       int64  `json:"rounds,omitempty"`       // of a loop; absent for others
		Instructions int64  `json:"instructions,omitempty"` // of a call or a loop
	}
)

// DescribeVersions is the object of a comparison of two sides.
func DescribeVersions(r *parting.Result, sides [2]parting.Side) VersionComparison {
	v := VersionComparison{Parts: r.Parts(), Partings: []VersionParting{}, NotListed: r.Folded}
	for side, to := range [2]*VersionTrace{&v.Reference, &v.Other} {
		t := &r.Traces[side]
		*to = VersionTrace{CPU: t.CPU, Instructions: t.Instructions, Handlers: t.Handlers, Only: []VersionOnly{}}
		for _, f := range r.Only[side] {
			to.Only = append(to.Only, VersionOnly{versionPlace(&sides[side], f.Begin), f.Calls})
		}
	}
	for _, p := range r.Partings {
		d := VersionParting{Function: p.Function, Count: p.Count, Rest: p.Rest, Stack: []VersionCall{},
			Reference: versionStretch(&sides[0], &p.Sides[0]), Other: versionStretch(&sides[1], &p.Sides[1])}
		for _, c := range p.Stack {
			call := VersionCall{Function: c.Function}
			for side, to := range [2]**CodePlace{&call.Reference, &call.Other} {
				if c.From[side] != 0 {
					at := versionPlace(&sides[side], c.From[side])
					*to = &at
				}
			}
			d.Stack = append(d.Stack, call)
		}
		v.Partings = append(v.Partings, d)
	}
	return v
}

// versionPlace is an address of a version.
func versionPlace(s *parting.Side, pc uint64) CodePlace {
	p := CodePlace{Address: fmt.Sprintf("0x%x", pc)}
	if n := s.Program.At(pc); n >= 0 {
		p.Function = s.Program.Functions[n].Name
	}
	if s.Line != nil {
		if path, line, ok := s.Line(pc); ok {
			p.File, p.Line = path, line
		}
	}
	return p
}

func versionStretch(s *parting.Side, t *parting.Stretch) VersionStretch {
	d := VersionStretch{CodePlace: versionPlace(s, t.PC), Instruction: t.At, Instructions: t.Instructions, Steps: []VersionSteps{},
		StepsNotShown: t.More}
	for _, e := range t.Elements {
		first, last := versionPlace(s, e.Lines[0]), versionPlace(s, e.Lines[1])
		step := VersionSteps{Kind: "line", Function: e.Function, File: first.File, Line: first.Line, Rounds: e.Rounds,
			Instructions: e.Instructions}
		switch {
		case e.Ends:
			step = VersionSteps{Kind: "end"}
		case e.Returns:
			step.Kind = "return"
		case e.Function != "":
			step.Kind = "call"
		case e.Rounds > 0:
			step.Kind, step.Last = "loop", last.Line
		}
		d.Steps = append(d.Steps, step)
	}
	return d
}
