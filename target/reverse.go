package target

// Reverser is a Runner that can also go backwards, as a recording can.
type Reverser interface {
	// ResumeBackwards is Resume with time running backwards: threads undo what they did. A step undoes an instruction, and a
	// breakpoint is met when all from its instruction on has been undone. Signals play no part. At the beginning of what is known
	// there is an event with ReasonBegin. It is for all-stop mode.
	ResumeBackwards(actions []Action) error
}

// MonitorCommands is a target with commands of its own for the user (GDB's monitor).
type MonitorCommands interface {
	// Commands lists them. They are called while nothing runs.
	Commands() []MonitorCommand
}

// MonitorCommand is one of them.
type MonitorCommand struct {
	Name      string // one word
	Arguments string // such as "ADDR|REGISTER"; "" for none
	About     string // in a few words
	// Do does it for a thread and returns what is to be printed. What the error says is printed as well.
	Do func(id ThreadID, args string) (string, error)
}
