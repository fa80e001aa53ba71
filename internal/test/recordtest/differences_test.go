//go:build linux && amd64

package recordtest

import (
	"regexp"
	"slices"
	"strings"

	"tracewell/internal/test/corpus"
)

// heap says which address of Go's heap in one run is which in another: Go chooses it at random, with the stacks of its
// goroutines in it. What is the same in one run must be so in the other.
type heap struct{ theirs, ours map[string]string }

// heapAddress is an address of as many digits as those of the heap have.
var heapAddress = regexp.MustCompile(`\b0x[0-9a-f]{10,}\b`)

// agree reports whether two texts differ in nothing but addresses of the heap, and these always in the same way.
func (h heap) agree(ours, theirs string) bool {
	if h.ours == nil || heapAddress.ReplaceAllString(ours, "0x") != heapAddress.ReplaceAllString(theirs, "0x") {
		return false
	}
	there := heapAddress.FindAllString(theirs, -1)
	for i, here := range heapAddress.FindAllString(ours, -1) {
		if h.theirs[here] == "" && h.ours[there[i]] == "" {
			h.theirs[here], h.ours[there[i]] = there[i], here
		}
		if h.theirs[here] != there[i] || h.ours[there[i]] != here {
			return false
		}
	}
	return true
}

// mistakes are in values as GDB 13.1 prints them: it takes a class that a library has for one that is only declared.
var mistakes = []string{"<incomplete type>"}

// dumped is what GDB 13.1 prints, with the name put right that it takes apart: it takes the dot of main.shape, in the name of an
// interface's table, for that of a method.
func dumped(text string) string { return strings.ReplaceAll(text, "main[shape]", "main.shape") }

// synthetic is what GDB 13.1 prints of bytes behind the last piece that DWARF describes.
const synthetic = "<synthetic pointer>"

// typed is in front of a pointer or a map of Go as GDB prints it. The type of a variable is not printed in Delve's notation, which
// show has for Go.
var typed = regexp.MustCompile(`^\((?:[\w.]+ \*|map\[\w+\]\w+)\) (0x[0-9a-f]+)$`)

// undumped reports whether GDB 13.1 cannot dump a frame: it takes one for a step if it does not stop there itself, and then dumps
// nothing; and it ends with "internal-error: loc_bitpos: Assertion" at an object with a virtual base class that an optimised
// program has in pieces, unless it was linked to fixed addresses.
func (d *dump) undumped(f section) bool {
	if d.build.Optimise == "0" {
		return false
	}
	return elsewhere[f.mark] || d.build.Language == corpus.CPP && !d.build.Fixed &&
		slices.ContainsFunc(f.lines, func(line string) bool { return strings.HasPrefix(line, "tagged = ") })
}

// unread reports whether GDB 13.1 has no value for a line, or not all of it: a part of a variable that is in %xmm3 is to it in
// %ymm3, of which no frame has the other half; and for a trace file it has no libraries.
func unread(mark, line string, said []string) bool {
	if mark == "reals" && strings.HasPrefix(line, "z = ") {
		return slices.Contains(said, "z = <unavailable>")
	}
	return slices.Contains(said, strings.Replace(line, "static npos = 18446744073709551615", "static npos = <optimized out>", 1))
}
