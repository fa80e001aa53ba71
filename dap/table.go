package dap

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// phase is how far a session must be for a request.
type phase int

// The phases, in their order.
const (
	greeted  phase = iota // nothing has been asked yet
	ready                 // initialize was
	launched              // launch or attach was
)

// scope says which debuggees a request is for, in the words of the reference.
type reach string

// What requests are for.
const (
	everything reach = ""
	recordings reach = "recordings"
	executions reach = "execution traces"
	live       reach = "programs that run"
)

// row is a request.
type row struct {
	command string
	phase   phase
	reach   reach
	about   string
	handle  func(s *session, arguments json.RawMessage) (body any, err error)
}

// on makes a handler of a function that takes arguments of a type. What the client says beyond that is passed over.
func on[A any](f func(*session, *A) (any, error)) func(*session, json.RawMessage) (any, error) {
	return func(s *session, raw json.RawMessage) (any, error) {
		arguments := new(A)
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, arguments); err != nil {
				return nil, argumentError(err)
			}
		}
		return f(s, arguments)
	}
}

// argumentError says what is wrong with arguments in the words of a user, who has typed some of them.
func argumentError(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("argument %s: a JSON %s cannot be %s", wrong.Field, wrong.Value, wrong.Type)
	}
	return fmt.Errorf("the arguments cannot be read: %w", err)
}

// requests is all that clients can ask. The reference in docs/editors.md is made of it.
func requests() []row {
	return []row{
		{"initialize", greeted, everything, "says what the adapter can do", on(initialize)},
		{"launch", ready, everything, "opens a recording (`trace`), or starts a program under trace (`program`)", on(launch)},
		{"attach", ready, live, "traces a process that runs (`pid`)", on(attach)},
		{"configurationDone", launched, everything, "begins: at the first frame or instruction; a program runs",
			on(configured)},
		{"setBreakpoints", launched, everything, "breakpoints and log points of a source file, by lines", on(setBreakpoints)},
		{"setFunctionBreakpoints", launched, everything, "breakpoints by names of functions, or any location of `record --at`",
			on(setFunctionBreakpoints)},
		{"setInstructionBreakpoints", launched, everything, "breakpoints by addresses", on(setInstructionBreakpoints)},
		{"setExceptionBreakpoints", launched, everything, "accepted; there are no filters", on(setExceptionBreakpoints)},
		{"dataBreakpointInfo", launched, executions, "whether the writers of a variable, register or address can be stopped at",
			on(dataBreakpointInfo)},
		{"setDataBreakpoints", launched, executions, "stops at what reads or writes memory", on(setDataBreakpoints)},
		{"breakpointLocations", launched, everything, "lines that have code; of a trace file those that have tracepoints",
			on(breakpointLocations)},
		{"threads", launched, everything, "threads; processors of an execution trace", on(threads)},
		{"stackTrace", launched, everything, "active calls, also inlined ones, as far as the stack is known", on(stackTrace)},
		{"scopes", launched, everything, "collected values, locals, registers, trace state variables, the list of frames",
			on(scopes)},
		{"variables", launched, everything, "values as a tree, in pages", on(variables)},
		{"evaluate", launched, everything, "an expression in C syntax; in the console also commands (`help` lists them)",
			on(evaluate)},
		{"completions", launched, everything, "names at hand, and commands", on(completions)},
		{"next", launched, everything, "the next frame; the next line or instruction, over calls", on(next)},
		{"stepIn", launched, everything, "the next frame; the next line or instruction, into calls", on(stepIn)},
		{"stepOut", launched, everything, "the next frame; behind the end of the function", on(stepOut)},
		{"stepBack", launched, everything, "the previous frame, line or instruction", on(stepBack)},
		{"continue", launched, everything, "to the next breakpoint, or the end", on(goOn)},
		{"reverseContinue", launched, everything, "to the previous breakpoint, or the beginning", on(reverseContinue)},
		{"pause", launched, everything, "stops a search; shows the last hit of a program that runs", on(pause)},
		{"gotoTargets", launched, recordings, "the frames or instructions of a line", on(gotoTargets)},
		{"goto", launched, recordings, "goes there", on(goTo)},
		{"readMemory", launched, everything, "memory that is known", on(readMemory)},
		{"disassemble", launched, everything, "instructions of the program, or as the trace has them", on(disassemble)},
		{"modules", launched, everything, "the program and its libraries", on(modules)},
		{"loadedSources", launched, everything, "source files of the program", on(loadedSources)},
		{"source", launched, everything, "the text of a source file", on(source)},
		{"exceptionInfo", launched, everything, "why the debuggee stands where it stands", on(exceptionInfo)},
		{"restart", launched, everything, "to the beginning; a program that was launched starts anew", on(restart)},
		{"terminate", launched, everything, "ends a program that was launched by SIGTERM", on(terminate)},
		{"disconnect", greeted, everything, "ends the session; `terminateDebuggee` says what becomes of a program", on(disconnect)},
		{"cancel", greeted, everything, "ends a request that is being served or waits", on(cancelNothing)},
		{"tracewell/frames", launched, everything, "frames of the run: `start`, `count`, and `where`, an expression over them",
			on(framesOf)},
	}
}

// Reference is the table of requests in Markdown, for the documentation.
func Reference() string {
	var b strings.Builder
	b.WriteString("| request | of | what it does |\n|---|---|---|\n")
	for _, r := range requests() {
		of := r.reach
		if of == everything {
			of = "all"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.command, of, r.about)
	}
	return b.String()
}

// find finds a request by its command.
func find(command string) (row, bool) {
	for _, r := range requests() {
		if r.command == command {
			return r, true
		}
	}
	return row{}, false
}
