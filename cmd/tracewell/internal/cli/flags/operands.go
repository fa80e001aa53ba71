package flags

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// OperandsLast moves the operands of a command that takes any number of them behind its flags. kong ends such a list at the
// first flag, and would refuse "convert run.tf --frames 1:2 cut.tf".
func OperandsLast(app *kong.Application, args []string) []string {
	node, start := commandOf(app, args)
	last := len(node.Positional) - 1
	if last < 0 || !node.Positional[last].IsCumulative() || node.Positional[last].Passthrough {
		return args
	}
	// What stands behind "--" are operands whatever they look like, and those in front of it come first, as in the line that was
	// typed.
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

// commandOf finds the command that a command line begins with, and where what belongs to it begins.
func commandOf(app *kong.Application, args []string) (node *kong.Node, start int) {
	for node = app.Node; start < len(args); start++ {
		i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == args[start] })
		if i < 0 {
			break
		}
		node = node.Children[i]
	}
	return node, start
}

// takesNext reports whether a flag has the next word as its value.
func takesNext(node *kong.Node, word string) bool {
	flag := flagOf(node, word)
	return flag != nil && !flag.IsBool() && !flag.IsCounter()
}

// flagOf finds the flag of a word, by its long or short name, nil if there is none. Bundles of short flags and --flag=value take
// no next word, so they need not be found.
func flagOf(node *kong.Node, word string) *kong.Flag {
	for _, group := range node.AllFlags(false) {
		for _, flag := range group {
			if word == "--"+flag.Name || flag.Short != 0 && word == "-"+string(flag.Short) {
				return flag
			}
		}
	}
	return nil
}
