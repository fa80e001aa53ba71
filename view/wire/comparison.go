package wire

import "tracewell/itrace/match"

type (
	// Comparisons are the comparisons that a page shows: one, or those of a regression.
	Comparisons struct {
		Summary string              `json:"summary"` // how many have which verdict, in words
		List    []ComparisonOutcome `json:"list"`
	}
	// ComparisonOutcome is the outcome of a comparison in short.
	ComparisonOutcome struct {
		Number       int           `json:"number"` // from 0
		Name         string        `json:"name"`   // both traces as the command line or the manifest names them
		Verdict      match.Verdict `json:"verdict"`
		Result       string        `json:"result,omitempty"` // what the verdict is founded on, in words; absent if the traces are equal
		Class        match.Class   `json:"class,omitempty"`  // of the first root cause; absent without one
		Differences  int64         `json:"differences"`      // root causes
		Consequences int64         `json:"consequences"`     // differences that follow from others
		Instructions int64         `json:"instructions"`     // pairs of instructions that were compared
		Seconds      float64       `json:"seconds"`          // of real time
	}
	// ComparisonDetail is a comparison with the list of its root causes.
	ComparisonDetail struct {
		ComparisonOutcome
		Headline  string           `json:"headline"`
		Reference string           `json:"reference"` // the name of the trace
		Other     string           `json:"other"`     // the name of the trace
		Facts     []ComparisonFact `json:"facts"`
		Notes     []string         `json:"notes"` // warnings about the traces
		Roots     []RootCause      `json:"roots"` // in the order of the reference; the first so many
	}
	// ComparisonFact is something that there is to know of a comparison as a whole, such as the rules in force.
	ComparisonFact struct {
		Key   string   `json:"key"`
		Words []string `json:"words"`
	}
	// RootCause is a difference that no earlier one explains, in a line.
	RootCause struct {
		Number    int         `json:"number"` // from 0
		Class     match.Class `json:"class"`
		Summary   string      `json:"summary"`
		CPU       int32       `json:"cpu"`                 // processor
		Reference *TracePlace `json:"reference,omitempty"` // absent where only the other trace has something
		Other     *TracePlace `json:"other,omitempty"`     // absent where only the reference has something
		Described bool        `json:"described"`           // there are lines around it, and registers
		Followers int         `json:"followers"`           // the consequences that are listed with it
	}
	// ComparisonConsequences are the differences that follow from others and lie between a root cause and the next one.
	ComparisonConsequences struct {
		Root   int                     `json:"root"`   // the root cause
		List   []ComparisonConsequence `json:"list"`   // in the order of the reference
		Listed int                     `json:"listed"` // of the whole comparison; it has ComparisonOutcome.Consequences
	}
	// ComparisonConsequence is one of them.
	ComparisonConsequence struct {
		Class     match.Class    `json:"class"`
		Summary   string         `json:"summary"`
		Reference *LockstepPlace `json:"reference,omitempty"` // absent where only the other trace has something
		Other     *LockstepPlace `json:"other,omitempty"`     // absent where only the reference has something
	}
	// LockstepPlace is a record of one of the traces as it is written.
	LockstepPlace struct {
		TracePlace
		Text string `json:"text"`
	}
	// TracePlace is a record of one of the traces.
	TracePlace struct {
		Line        int64 `json:"line"`        // from 1
		Instruction int64 `json:"instruction"` // counted from 0
	}
	// RootCauseDetail is a root cause with both traces around it.
	RootCauseDetail struct {
		RootCause
		Extent    string             `json:"extent,omitempty"`  // of a stretch, in words; absent for a difference of single records
		Resumed   *ResumedAt         `json:"resumed,omitempty"` // absent where the lines end before both traces go on together
		Rows      []LockstepRow      `json:"rows"`
		Registers []ComparedRegister `json:"registers"`
	}
	// ResumedAt is where two traces go on together behind a difference.
	ResumedAt struct {
		Reference TracePlace `json:"reference"`
		Other     TracePlace `json:"other"`
	}
	// LockstepRow is a line of each trace, or of one, side by side.
	LockstepRow struct {
		Alignment LockstepAlignment `json:"alignment"`
		Here      bool              `json:"here,omitempty"`      // the difference is this
		Reference *LockstepLine     `json:"reference,omitempty"` // absent where the reference has no such record
		Other     *LockstepLine     `json:"other,omitempty"`     // absent where the other trace has no such record
	}
	// LockstepAlignment is how the two sides of a row compare.
	LockstepAlignment string
	// LockstepLine is a line of a trace.
	LockstepLine struct {
		TracePlace
		Spans       []MarkedText `json:"spans"`                 // of the line
		Head        bool         `json:"head,omitempty"`        // it is an instruction; otherwise an effect of one
		PC          string       `json:"pc,omitempty"`          // of an instruction
		Symbol      string       `json:"symbol,omitempty"`      // what is there in the program (--program), with an offset
		File        string       `json:"file,omitempty"`        // of the source, as the compiler was given it
		SourceLine  int          `json:"sourceLine,omitempty"`  // in it
		Source      *int         `json:"source,omitempty"`      // the number of the file, by which the page asks for it; absent if no line is known
		Disassembly string       `json:"disassembly,omitempty"` // of an instruction: by the trace, else by its opcode
	}
	// MarkedText is a piece of a text that is the same on the other side, or is not.
	MarkedText struct {
		Text    string `json:"text"`
		Differs bool   `json:"differs,omitempty"` // absent where both sides have it
	}
	// ComparedRegister is a register on both sides around a difference.
	ComparedRegister struct {
		Name    string      `json:"name"`
		Operand bool        `json:"operand,omitempty"` // the instruction names it
		Differs bool        `json:"differs,omitempty"` // before the instruction
		Before  [2]SideHeld `json:"before"`            // of the reference and the other
		After   []SideHeld  `json:"after,omitempty"`   // likewise behind the instruction; absent if it writes the register on no side
	}
	// SideHeld is what a register held on one side.
	SideHeld struct {
		Spans []MarkedText `json:"spans"`          // of the value in hexadecimal; none of one that is not known
		Line  int64        `json:"line,omitempty"` // that wrote it; absent if none was seen
	}
)

// The alignments.
const (
	LockstepSame      LockstepAlignment = "same"      // but for what is not compared
	LockstepChanged   LockstepAlignment = "changed"   // the same record with another content
	LockstepReference LockstepAlignment = "reference" // a record that the other trace does not have here
	LockstepOther     LockstepAlignment = "other"     // a record that the reference does not have here
	LockstepLeap      LockstepAlignment = "leap"      // lines left out, of either trace
)
