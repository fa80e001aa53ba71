package tfile

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tracewell/arch"
)

// Object is a file that a traced process had loaded. Nothing in the format says where that was, and what can be loaded anywhere
// has no names without; so Tracewell notes it in comments of the target description, which GDB passes over.
type Object struct {
	Path string
	Bias arch.Addr // how far above where the file has it
	// Below is how far below the thread pointer the thread-local variables of a library begin, 0 where that is not known.
	Below int64
}

// Comment is the line of a target description that says where the object was; empty if a comment cannot say it.
func (o Object) Comment() string {
	below := ""
	if o.Below > 0 {
		below = fmt.Sprintf("thread-local -%#x ", o.Below)
	}
	line := fmt.Sprintf("<!-- object %s %s%s -->", o.Bias, below, o.Path)
	if len(line) > MaxLine-len("tdesc ") || strings.Contains(o.Path, "--") || strings.ContainsAny(o.Path, "\n\x00") {
		return ""
	}
	return line
}

// objectComment finds such lines.
var objectComment = regexp.MustCompile(`(?m)^<!-- object (0x[0-9a-f]{1,16}) (?:thread-local -(0x[0-9a-f]{1,15}) )?(.+) -->$`)

// Objects returns what a target description says of the files that the process had loaded, the program first; none for a file
// that record did not write. Of one that was loaded again the first place counts.
func Objects(description string) []Object {
	var objects []Object
	for _, m := range objectComment.FindAllStringSubmatch(description, -1) {
		bias, err := strconv.ParseUint(m[1], 0, 64)
		if err != nil || slices.ContainsFunc(objects, func(o Object) bool { return o.Path == m[3] }) {
			continue
		}
		below, _ := strconv.ParseInt(m[2], 0, 64) // 0 if there is none
		objects = append(objects, Object{m[3], arch.Addr(bias), below})
	}
	return objects
}
