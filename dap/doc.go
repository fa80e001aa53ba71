// Package dap is a debug adapter: it speaks the Debug Adapter Protocol, by which editors drive debuggers, over recordings and over
// programs that run. It stands beside package stub, which does the same for GDB, and shares nothing with it but what lies below
// both.
//
// # What is debugged
//
// A trace file is a program that stands at one of its frames: a step goes to the next frame or the previous one. An execution trace
// is a program that stands in front of an instruction, and runs in both directions (package replay). A program that runs is never
// stopped for the editor: its log points and breakpoints are tracepoints of a record.Session, the lines of log points are printed
// as they come, and what breakpoints have collected can be looked at while the program goes on. Each is a debuggee; what it can do
// besides is in interfaces of its own, as with package target.
//
// # How a request is served
//
// One goroutine reads messages, another serves them in their order by the table of requests (table.go). The reader itself answers
// the requests that are about others: cancel, and pause while something is looked for. A handler only computes the body of its
// response. What takes long and ends with an event, a motion, is done after the response, by the same goroutine, with a context
// that the reader can cancel. So no state of a session needs a lock, but for what a running program adds to from its own
// goroutines.
//
// Numbers that the client is given for frames of the stack and for variables are valid until the debuggee moves. One that is used
// later is an error, never another variable.
//
// # What is believed
//
// A client is a program of the same user, so its requests may read the files that they name. The traced program need not be
// trusted: names and values are escaped where they could command a terminal, source files are regular and limited in size, and no
// file is read merely because the debug information names it, but when the client asks for that source.
package dap
