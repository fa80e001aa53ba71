package flags

import "github.com/alecthomas/kong"

// Exampler is a command with examples: lines of shell, each with two blanks in front and a comment behind it if it needs one.
// Help and manual pages print them, and tests run them.
type Exampler interface{ Examples() string }

// ExamplesOf are the examples of a command, or empty.
func ExamplesOf(node *kong.Node) string {
	if node.Target.IsValid() && node.Target.CanAddr() {
		if e, ok := node.Target.Addr().Interface().(Exampler); ok {
			return e.Examples()
		}
	}
	return ""
}
