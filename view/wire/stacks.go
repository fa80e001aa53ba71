package wire

import (
	"tracewell/view"
	"tracewell/view/survey"
)

type (
	// Backtrace is the calls that were active when a frame was collected.
	Backtrace struct {
		Calls     []Call `json:"backtrace,omitempty"`          // the innermost first; absent if the frame has no stack
		Truncated string `json:"backtraceTruncated,omitempty"` // why there are no more; absent if the last is the outermost function
	}
	// Call is an active call. What is not known of it is absent.
	Call struct {
		Function string `json:"function,omitempty"` // as GDB names it
		File     string `json:"file,omitempty"`     // of the source, as the compiler was given it; absent without debug information
		Line     int    `json:"line,omitempty"`     // that it is at; of all but the innermost, that of the call it waits for
		PC       string `json:"pc,omitempty"`       // where it goes on; absent for inlined calls, which share that of their caller
		Module   string `json:"module,omitempty"`   // the program or library, without its folder
		Inlined  bool   `json:"inlined,omitempty"`  // it is a copy in the code of its caller
		Signal   bool   `json:"signal,omitempty"`   // the kernel called a signal handler here
		Guessed  bool   `json:"guessed,omitempty"`  // it was found by the frame pointer; calls may be missing in front of it
	}
	// Stack is a stack of calls and how often it occurred. Its calls have no addresses, and with --by no lines.
	Stack struct {
		Count int `json:"count"` // of frames
		Backtrace
	}
)

// describeCalls makes the list of a backtrace.
func describeCalls(b *view.Backtrace) Backtrace {
	var described Backtrace
	for i := range b.Calls {
		c := &b.Calls[i]
		call := Call{
			Function: c.Function, File: c.File, Line: c.Line, Module: c.Module(), Inlined: c.Inlined, Signal: c.Signal, Guessed: c.Guessed,
		}
		if !c.Inlined {
			call.PC = c.Addr.String()
		}
		described.Calls = append(described.Calls, call)
	}
	if b.End != nil {
		described.Truncated = b.End.Error()
	}
	return described
}

// DescribeStack makes the object of a stack.
func DescribeStack(s survey.StackCount) Stack {
	stack := Stack{s.Count, describeCalls(&s.Backtrace)}
	for i := range stack.Calls {
		stack.Calls[i].PC = "" // that of the first of its frames
	}
	return stack
}
