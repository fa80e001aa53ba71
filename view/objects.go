package view

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tracewell/symbol"
	"tracewell/tfile"
	"tracewell/trace"
)

// isFirst reports whether a program is the one that objects begin with, or has moved from there.
// The base name decides, since the program may have been copied beside the trace, from another machine for instance. The program
// may be named by a symbolic link, which the kernel has resolved in the name that was recorded.
func isFirst(program *symbol.Program, objects []tfile.Object) bool {
	if program == nil || len(objects) == 0 {
		return false
	}
	path := program.Main().Path()
	resolved, err := filepath.EvalSymlinks(path)
	first := filepath.Base(objects[0].Path)
	return filepath.Base(path) == first || err == nil && filepath.Base(resolved) == first
}

// addObjects adds the libraries of a process to its program, those that there still are.
func addObjects(program *symbol.Program, libraries []tfile.Object) {
	// Below is how far below the thread pointer the block of a library begins (variant II of the TLS ABI); a trace
	// file has it where record knew it.
	program.SetTLSOffset(func(of *symbol.Object) (int64, bool) {
		i := slices.IndexFunc(libraries, func(o tfile.Object) bool { return o.Path == of.Path() && o.Below > 0 })
		if i < 0 {
			return 0, false
		}
		return libraries[i].Below, true
	})
	// Those that are gone, or are of another machine, are left out; their addresses stay numbers.
	for _, o := range libraries {
		// The path is one that a file names, and may by now be a device or a pipe, on which opening would wait.
		if info, err := os.Stat(o.Path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		_, _ = program.Add(o.Path, o.Bias) // without it its addresses have no names
	}
}

// isAnother reports whether the files are not those that were traced: a tracepoint on a function or a line is within one, but
// not there.
// A program that was built anew has its functions elsewhere as a rule, and names for the wrong addresses are worse
// than none.
func isAnother(program *symbol.Program, tracepoints []trace.Tracepoint) bool {
	at := make(map[string][]symbol.Location)
	for i := range tracepoints {
		t := &tracepoints[i]
		place := t.Source.At
		if place == "" || strings.HasPrefix(place, "*") || program.At(t.Addr).Object == nil {
			continue
		}
		locations, found := at[place]
		if !found {
			locations, _ = program.Locate(place)
			at[place] = locations
		}
		// A location may have several addresses, as an inlined function has; one that fits is enough.
		there := func(l symbol.Location) bool { return l.Addr == t.Addr }
		if len(locations) > 0 && !slices.ContainsFunc(locations, there) {
			return true
		}
	}
	return false
}
