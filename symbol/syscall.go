package symbol

import (
	"strings"

	"tracewell/trace"
)

// callPrefix begins a location that is a system call.
const callPrefix = "syscall:"

// locateCalls finds system calls by name or pattern.
func (p *Program) locateCalls(text, name string) ([]Location, error) {
	calls := p.Main().File().Arch().Calls
	if calls == nil {
		return nil, &SyntaxError{Spec: text, End: len(text), Problem: "the system calls of this machine are not known"}
	}
	match := func(other string) bool { return other == name }
	if isPattern(name) {
		var err error
		if match, err = matcher(name); err != nil {
			return nil, &SyntaxError{Spec: text, Start: len(callPrefix), End: len(text), Problem: err.Error()}
		}
	}
	// The addresses stand for entries; those of returns follow from them.
	nearest := newNearest(name)
	var found []Location
	// The table is that of the machine, whatever the kernel has: a call that it lacks is made in vain, and can be traced all the same.
	for number, known := range calls.Names {
		switch {
		case known == "":
		case match(known):
			found = append(found, Location{Addr: trace.CallAddr(number, false), Call: known})
		default:
			nearest.offerAs(known, callPrefix+known)
		}
	}
	if found == nil {
		// No library that is loaded later has more of them, so waiting for one would be in vain. A name of the C library that is
		// no system call, such as fopen, is the usual mistake.
		problem := "there is no system call " + name
		if names := nearest.names(); len(names) > 0 {
			problem += "; did you mean " + strings.Join(names, ", ") + "?"
		}
		return nil, &SyntaxError{Spec: text, Start: len(callPrefix), End: len(text), Problem: problem}
	}
	return found, nil
}

// Returning is the location of the return from the system call that a location is the entry into.
func (l Location) Returning() Location {
	number, _, _ := trace.ParseCall(l.Addr)
	l.Addr = trace.CallAddr(number, true)
	return l
}
