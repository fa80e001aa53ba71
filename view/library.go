package view

import (
	"strings"

	"tracewell/symbol"
	"tracewell/trace"
)

// addLibraries adds to a program those of its libraries that have tracepoints. Where they were loaded a trace file does not say;
// as for the program itself it is the tracepoints on functions and lines of theirs that tell.
func addLibraries(program *symbol.Program, tracepoints []trace.Tracepoint) {
	var lost []*trace.Tracepoint
	for i := range tracepoints {
		t := &tracepoints[i]
		if l := program.At(t.Addr); l.Object == nil && t.Source.At != "" && !strings.HasPrefix(t.Source.At, "*") {
			lost = append(lost, t)
		}
	}
	if len(lost) == 0 {
		return
	}
	// They are those that the program names as needed, not what it opened later by dlopen.
	for _, path := range symbol.Libraries(program.Main().Path()) {
		library, err := symbol.Open(path, symbol.Options{})
		if err != nil {
			continue
		}
		for _, t := range lost {
			// A location with several addresses, as that of an inlined function, allows several distances and decides
			// nothing.
			if biases, _ := biasesByLocation(library, t); len(biases) == 1 {
				_, _ = program.Add(path, biases[0]) // it was opened before
				break
			}
		}
		library.Close()
	}
}
