package wire

type (
	// Cost is what was executed: instructions, and time if the trace has it, in its unit.
	Cost struct {
		Calls         uint64  `json:"calls"`                   // how often it was called
		Self          uint64  `json:"self"`                    // instructions of the function itself
		Inclusive     uint64  `json:"inclusive"`               // with all that it called
		SelfTime      *uint64 `json:"selfTime,omitempty"`      // of the function itself
		InclusiveTime *uint64 `json:"inclusiveTime,omitempty"` // with all that it called
	}
	// CodePlace is a place in the code of a program. Without a program (--exec) there is an address alone.
	CodePlace struct {
		Address  string `json:"address"`
		Function string `json:"function,omitempty"` // that has it
		File     string `json:"file,omitempty"`     // of the source, as the compiler was given it
		Line     int    `json:"line,omitempty"`     // in it
	}
	// FunctionCost is what a function took.
	FunctionCost struct {
		CodePlace      // where it begins
		Handler   bool `json:"handler,omitempty"` // an exception or interrupt has entered it
		Cost
	}
	// PathCost is what a path of calls took.
	PathCost struct {
		Path    []string `json:"path"`              // functions, the outermost first; an address for one without a name
		Handler bool     `json:"handler,omitempty"` // an exception or interrupt has entered the first of it
		Cost
	}
	// HotSpot is an instruction, a line or a function, and how many instructions were executed there.
	HotSpot struct {
		CodePlace
		Mnemonic     string  `json:"mnemonic,omitempty"` // of an instruction
		Instructions uint64  `json:"instructions"`       // executed
		Share        float64 `json:"share"`              // of all, from 0 to 1
	}
	// MixShare is how often instructions of a kind were executed.
	MixShare struct {
		Mnemonic string  `json:"mnemonic"` // in lower case; empty for those that the trace does not tell
		Count    uint64  `json:"count"`    // of instructions executed
		Sites    int     `json:"sites"`    // addresses that have one
		Share    float64 `json:"share"`    // of all instructions executed, from 0 to 1
	}
	// BasicBlock is instructions that are executed one after the other, and how often.
	BasicBlock struct {
		CodePlace           // of the first
		Last         string `json:"last"`         // the address of the last
		Length       int    `json:"length"`       // in instructions
		Count        uint64 `json:"count"`        // how often the first was executed
		Instructions uint64 `json:"instructions"` // executed in all
	}
)

type (
	// Covered is how much of something was executed.
	Covered struct {
		All      int `json:"all"`      // how many there are
		Executed int `json:"executed"` // how many of these were executed
	}
	// FileCoverage is what of a file of the source was executed.
	FileCoverage struct {
		File      string  `json:"file"`
		Lines     Covered `json:"lines"` // those that have code
		Functions Covered `json:"functions"`
		Branches  Covered `json:"branches"` // directions of conditional branches: two of each
	}
	// FunctionCoverage is what of a function was executed.
	FunctionCoverage struct {
		CodePlace
		Calls        uint64  `json:"calls"` // how often it was called
		Instructions Covered `json:"instructions"`
		Branches     Covered `json:"branches"` // directions of conditional branches: two of each
	}
	// UncoveredLines are lines that were not executed, with none between them that was.
	UncoveredLines struct {
		File  string `json:"file"`
		First int    `json:"first"` // line
		Last  int    `json:"last"`  // line
	}
)

type (
	// Interruption is an exception or an interrupt.
	Interruption struct {
		Instruction  int64     `json:"instruction"`     // the first of the handler, counted from 0
		Event        string    `json:"event"`           // exception or interrupt; other if the trace does not tell which
		Cause        string    `json:"cause,omitempty"` // as the trace has it
		CPU          int32     `json:"cpu"`             // the number of the processor
		Place        CodePlace `json:"place"`           // of the instruction that had it, or in front of which it came
		Handler      CodePlace `json:"handler"`         // where it went
		Depth        int       `json:"depth"`           // how many others had not ended
		Instructions uint64    `json:"instructions"`    // until the handler was left, with others that came meanwhile
		Time         *uint64   `json:"time,omitempty"`  // the same in the unit of the trace
		Unfinished   bool      `json:"unfinished"`      // the trace ended before, or something led elsewhere
	}
	// InterruptionSummary is the exceptions or interrupts of one cause.
	InterruptionSummary struct {
		Event        string    `json:"event"`
		Cause        string    `json:"cause,omitempty"` // as the trace has it
		Handler      CodePlace `json:"handler"`
		Count        uint64    `json:"count"`          // how many there were
		Finished     uint64    `json:"finished"`       // of these, those whose handler was left; the figures are theirs
		Instructions Spread    `json:"instructions"`   // until the handler was left
		Time         *Spread   `json:"time,omitempty"` // the same in the unit of the trace
		Longest      int64     `json:"longest"`        // the first instruction of the handler that took most, counted from 0
	}
	// Spread is figures of a number of values.
	Spread struct {
		Min  uint64  `json:"min"`  // the smallest
		Mean float64 `json:"mean"` // the mean
		Max  uint64  `json:"max"`  // the largest
	}
)
