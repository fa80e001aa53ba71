package cli

import (
	"errors"
	"fmt"

	"github.com/alecthomas/kong"
)

// misused adds to an error of the command line where its right use is explained.
func misused(err error) error {
	command := "tracewell"
	var parse *kong.ParseError
	if errors.As(err, &parse) {
		if node := parse.Context.Selected(); node != nil {
			command = node.FullPath()
		}
	}
	return fmt.Errorf("%w (see %s --help)", err, command)
}
