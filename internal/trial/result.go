// Package trial finds out what programs may do on this machine where nothing but an attempt tells it: there are hypervisors that do
// not own up to rdfsbase and permit it, and such as take what debug registers are loaded with and never stop a program by it.
package trial

// Result is what a traced program of a few instructions came to.
type Result struct {
	RDFSBase       bool  // programs may execute rdfsbase and rdgsbase
	DebugRegisters bool  // a debug register stops a program
	Err            error // the trial came to no end, and the rest is not known
}
