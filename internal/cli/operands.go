package cli

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// operandsLast moves the operands of a command that takes any number of them behind its flags. kong ends such a list at the
// first flag, and would refuse "convert run.tf --frames 1:2 cut.tf".
func operandsLast(app *kong.Application, args []string) []string {
	node := app.Node
	start := 0
	for ; start < len(args); start++ {
		i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == args[start] })
		if i < 0 {
			break
		}
		node = node.Children[i]
	}
	last := len(node.Positional) - 1
	if last < 0 || !node.Positional[last].IsCumulative() || node.Positional[last].Passthrough {
		return args
	}
	flags, operands := args[:start:start], []string(nil)
	for rest := args[start:]; len(rest) > 0; {
		n := 1
		switch word := rest[0]; {
		case word == "--":
			return append(append(flags, "--"), append(operands, rest[1:]...)...)
		case word == "-" || !strings.HasPrefix(word, "-"):
			operands = append(operands, word)
		default:
			if takesNext(node, word) {
				n = min(2, len(rest))
			}
			flags = append(flags, rest[:n]...)
		}
		rest = rest[n:]
	}
	return append(flags, operands...)
}

// takesNext reports whether a flag has the next word as its value.
func takesNext(node *kong.Node, word string) bool {
	for _, group := range node.AllFlags(false) {
		for _, flag := range group {
			if word == "--"+flag.Name || flag.Short != 0 && word == "-"+string(flag.Short) {
				return !flag.IsBool() && !flag.IsCounter()
			}
		}
	}
	return false
}
