//go:build amd64

package recordtest

import "regexp"

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

// mistakes are in values as GDB 13.1 prints them: it takes the dot of main.shape, in the name of an interface's table, for that
// of a method; and a class that a library has for one that is only declared.
var mistakes = []string{"main[shape]", "<incomplete type>"}
