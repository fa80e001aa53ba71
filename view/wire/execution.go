package wire

type (
	// ExecutionSummary is an execution trace in short.
	ExecutionSummary struct {
		Name         string   `json:"name"`              // of the trace
		Dialect      string   `json:"dialect"`           // what it is written in
		Machine      string   `json:"machine,omitempty"` // what it is of, and how that is known; absent if nothing tells
		Instructions int64    `json:"instructions"`      // of all processors
		Lines        int64    `json:"lines"`             // of the trace
		Bytes        int64    `json:"bytes"`             // of the trace, unpacked
		CPUs         []int32  `json:"cpus"`              // the numbers of its processors
		LastTime     *uint64  `json:"lastTime"`          // the highest, in the unit of the trace; null if it has no times
		Registers    []string `json:"registers"`         // as the trace names them
		Program      string   `json:"program,omitempty"` // its path; absent without one
		HasLines     bool     `json:"hasLines"`          // the program tells lines of its source
		Notes        []string `json:"notes"`             // what of the trace was not understood
	}
	// MomentBlock is instructions of a trace that follow one another, with what they did.
	MomentBlock struct {
		Total int64    `json:"total"` // instructions of the trace
		Rows  []Moment `json:"rows"`
	}
	// CursorState is all that is known at a position of a trace: that in front of an instruction.
	CursorState struct {
		RegistersAt
		CPU    int32        `json:"processor"`        // that executes the instruction; at the end of the trace that of the last
		Source *SourcePlace `json:"source,omitempty"` // absent if no line is known
		Calls  []ActiveCall `json:"calls"`            // the outermost first; empty as long as the trace has not been read
	}
	// SourcePlace is a line of a source file that the page may ask for.
	SourcePlace struct {
		File int `json:"source"` // its number
		Line int `json:"line"`   // in it, from 1
	}
	// ActiveCall is a call that is active at a position.
	ActiveCall struct {
		Function string `json:"function"`          // its address if it has no name
		Handler  bool   `json:"handler,omitempty"` // an exception or interrupt has entered it
		Begin    int64  `json:"begin"`             // the first instruction, counted from 0
		End      int64  `json:"end"`               // that behind the last
	}
	// PositionFound is where a search or a step has led.
	PositionFound struct {
		Instruction int64  `json:"instruction"`    // in front of which; counted from 0
		Note        string `json:"note,omitempty"` // why it is not where it was to lead; absent if it is
	}
	// AccessesAround are who wrote or read something in front of a position and behind it.
	AccessesAround struct {
		Object string   `json:"object"` // as it was written
		Before []Access `json:"before"` // the last so many in front of the position
		After  []Access `json:"after"`  // the first so many at the position or behind it
		Gaps   []string `json:"gaps"`   // what of accesses the trace does not tell
	}
	// ExecutionsAround are when a place in code was executed, in front of a position and behind it.
	ExecutionsAround struct {
		Place  string `json:"place"`  // as it was written
		Before []Step `json:"before"` // the last so many in front of the position
		After  []Step `json:"after"`  // the first so many at the position or behind it
	}
	// CodeListing is the code around an instruction: that of its function, or what was executed near it.
	CodeListing struct {
		Function string     `json:"function,omitempty"` // absent if none is known
		Executed bool       `json:"executed,omitempty"` // there is no program: only what was executed is listed
		Lines    []CodeLine `json:"lines"`
	}
	// CodeLine is an instruction of a listing.
	CodeLine struct {
		Address      string       `json:"address"`
		Bytes        string       `json:"bytes,omitempty"`        // hexadecimal, in the order of memory; absent without a program
		Text         string       `json:"text"`                   // the instruction in words; empty if it is not known
		Target       string       `json:"target,omitempty"`       // the address that a direct jump or call leads to
		TargetSymbol string       `json:"targetSymbol,omitempty"` // what is there in the program, with an offset
		Count        *uint64      `json:"count,omitempty"`        // how often it was executed; absent as long as the trace has not been read
		Taken        uint64       `json:"taken,omitempty"`        // of a branch: how often it went elsewhere
		Past         uint64       `json:"past,omitempty"`         // how often it went on behind itself
		Branch       bool         `json:"branch,omitempty"`       // it is a conditional branch
		Source       *SourcePlace `json:"source,omitempty"`       // absent if no line is known
	}
	// ReadingState is how far the trace has been read for what is counted over all of it.
	ReadingState struct {
		Done  float64 `json:"done"`            // from 0 to 1, which is when all is known
		Error string  `json:"error,omitempty"` // why it is not known; absent otherwise
		Least int64   `json:"least"`           // calls of fewer instructions are left out of charts, since there are too many; 0 for none
		Depth int     `json:"depth"`           // the most calls that were active at once
	}
	// FunctionList are the functions of a trace.
	FunctionList struct {
		Total uint64           `json:"total"` // instructions executed
		Rows  []FunctionDetail `json:"rows"`  // those first that took most with all that they called; those never executed last
	}
	// FunctionDetail is what a function took, and what of it was executed.
	FunctionDetail struct {
		FunctionCost
		Instructions *Covered     `json:"instructions,omitempty"` // absent without a program
		Branches     *Covered     `json:"branches,omitempty"`     // directions of conditional branches; absent without a program
		Source       *SourcePlace `json:"source,omitempty"`       // absent if no line is known
	}
	// FileList are the source files of a program, with what of them was executed.
	FileList struct {
		Rows []FileDetail `json:"rows"`
	}
	// FileDetail is what of a source file was executed.
	FileDetail struct {
		FileCoverage
		Source int `json:"source"` // number of the file
	}
	// LineCounts are how often the lines of a source file were executed.
	LineCounts struct {
		Lines []LineCount `json:"lines"` // those that have code, in their order
	}
	// LineCount is how often a line was executed.
	LineCount struct {
		Line     int     `json:"line"`               // from 1
		Count    uint64  `json:"count"`              // executions
		Branches Covered `json:"branches,omitempty"` // directions of the conditional branches in it; none of all without one
	}
	// CallChart is the calls of a part of a trace over the number of the instruction, by how deep they are.
	CallChart struct {
		From   int64       `json:"from"`   // instruction, counted from 0
		To     int64       `json:"to"`     // that behind the last
		Names  []string    `json:"names"`  // of functions
		Slices []CallSlice `json:"slices"` // in order of depth, then of instructions
	}
	// CallSlice is a call, or several that are too short to be drawn by themselves.
	CallSlice struct {
		Depth    int   `json:"depth"`             // calls around it
		Begin    int64 `json:"begin"`             // the first instruction
		End      int64 `json:"end"`               // that behind the last
		Function int   `json:"function"`          // number of the name; -1 for several calls
		Calls    int   `json:"calls"`             // that it stands for
		Handler  bool  `json:"handler,omitempty"` // an exception or interrupt has entered it
	}
)
