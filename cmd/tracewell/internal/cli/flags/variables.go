package flags

import (
	"strings"

	"github.com/alecthomas/kong"
)

// Variables is an option by which texts of the declarations have the values of variables where they have ${NAME}. What kong itself
// knows, as ${default}, and what nobody knows, is left to kong, which refuses the latter.
//
// kong's own Vars would do all of this, but kong looks through the values of all variables, which are long lists, anew for every
// option of every command: a third of the time at the start of the program was that.
func Variables(sets ...kong.Vars) kong.Option {
	var pairs []string
	for _, vars := range sets {
		for name, value := range vars {
			pairs = append(pairs, "${"+name+"}", value)
		}
	}
	replacer := strings.NewReplacer(pairs...)
	// Most texts have no variable.
	fill := func(texts ...*string) {
		for _, text := range texts {
			if strings.Contains(*text, "${") {
				*text = replacer.Replace(*text)
			}
		}
	}
	return kong.PostBuild(func(k *kong.Kong) error {
		return kong.Visit(k.Model.Node, func(node kong.Visitable, next kong.Next) error {
			switch node := node.(type) {
			case *kong.Node:
				fill(&node.Help)
			case *kong.Value:
				// Flags come as values, too.
				fill(&node.Help, &node.Default, &node.Enum)
				if node.Flag != nil {
					fill(&node.Flag.PlaceHolder)
				}
			}
			return next(nil)
		})
	})
}
