package flags

import (
	"strings"

	"github.com/alecthomas/kong"
)

// Variables is an option by which texts of the declarations have the values of variables where they have ${NAME}. kong's own Vars do
// the same, but kong looks through the values of all variables, which are long lists, anew for every option of every command: that
// took longer than all else at the start of the program.
func Variables(sets ...kong.Vars) kong.Option {
	var pairs []string
	for _, vars := range sets {
		for name, value := range vars {
			pairs = append(pairs, "${"+name+"}", value)
		}
	}
	replacer := strings.NewReplacer(pairs...)
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
				fill(&node.Help, &node.Default, &node.Enum)
				if node.Flag != nil {
					fill(&node.Flag.PlaceHolder)
				}
			}
			return next(nil)
		})
	})
}
