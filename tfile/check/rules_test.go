package check

import (
	"regexp"
	"strings"
	"testing"
)

// elsewhere are the rules that have tests of their own and are not in the table of breaches.
var elsewhere = []string{
	"fast-instruction", "registers-needed", "registers-wanted", "memory-address", "big-endian",
}

// TestEveryRuleIsBroken sees to it that each rule has a file that breaks it, and a name and an advice as the others have.
func TestEveryRuleIsBroken(t *testing.T) {
	broken := make(map[string]bool)
	for _, b := range breaches {
		broken[b.rule] = true
	}
	for _, name := range elsewhere {
		broken[name] = true
	}
	seen := make(map[string]bool)
	for _, r := range Rules() {
		switch {
		case !broken[r.Name]:
			t.Errorf("%s: no test breaks it", r.Name)
		case seen[r.Name]:
			t.Errorf("%s: there are two", r.Name)
		case !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(r.Name):
			t.Errorf("%q is no name", r.Name)
		case r.Advice == "" || strings.HasSuffix(r.Advice, "."):
			t.Errorf("%s: advice %q", r.Name, r.Advice)
		}
		seen[r.Name] = true
	}
}
