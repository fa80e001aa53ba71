package frameview

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tracewell/arch"
	"tracewell/symbol"
	"tracewell/trace"
)

// Object is a file that a traced process had loaded.
type Object struct {
	Path string
	Bias arch.Addr // how far above where the file has it
	// Below is how far below the thread pointer the thread-local variables of a library begin, 0 where that is not known.
	Below int64
}

// objectLine is how record notes an object, in a comment of the target description.
var objectLine = regexp.MustCompile(`(?m)^<!-- object (0x[0-9a-f]{1,16}) (?:thread-local -(0x[0-9a-f]{1,15}) )?(.+) -->$`)

// Objects returns what a target description says of the files that the process had loaded, the program first; none for a file
// that record did not write. Of one that was loaded again the first place counts.
func Objects(description string) []Object {
	var objects []Object
	for _, m := range objectLine.FindAllStringSubmatch(description, -1) {
		bias, err := strconv.ParseUint(m[1], 0, 64)
		if err != nil || slices.ContainsFunc(objects, func(o Object) bool { return o.Path == m[3] }) {
			continue
		}
		below, _ := strconv.ParseInt(m[2], 0, 64) // 0 if there is none
		objects = append(objects, Object{m[3], arch.Addr(bias), below})
	}
	return objects
}

// isFirst reports whether a program is the one that objects begin with, or has moved from there.
func isFirst(program *symbol.Program, objects []Object) bool {
	return program != nil && len(objects) > 0 && filepath.Base(objects[0].Path) == filepath.Base(program.Main().Path())
}

// addObjects adds the libraries of a process to its program, those that there still are.
func addObjects(program *symbol.Program, libraries []Object) {
	program.SetTLSOffset(func(of *symbol.Object) (int64, bool) {
		i := slices.IndexFunc(libraries, func(o Object) bool { return o.Path == of.Path() && o.Below > 0 })
		if i < 0 {
			return 0, false
		}
		return libraries[i].Below, true
	})
	for _, o := range libraries {
		if info, err := os.Stat(o.Path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		_, _ = program.Add(o.Path, o.Bias) // without it its addresses have no names
	}
}

// isAnother reports whether the files are not those that were traced: a tracepoint on a function or a line is within one, but
// not there.
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
		there := func(l symbol.Location) bool { return l.Addr == t.Addr }
		if len(locations) > 0 && !slices.ContainsFunc(locations, there) {
			return true
		}
	}
	return false
}
