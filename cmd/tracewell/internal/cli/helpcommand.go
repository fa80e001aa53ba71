package cli

import (
	"github.com/alecthomas/kong"

	"tracewell/cmd/tracewell/internal/cli/flags"
)

// helpCommand is "tracewell help".
type helpCommand struct {
	Command []string `arg:"" optional:"" complete:"commands" help:"The command to explain. Without it, all commands are listed."`
}

// Examples implements flags.Exampler.
func (*helpCommand) Examples() string {
	return `  tracewell help
  tracewell help record                          # the same as tracewell record --help
  tracewell help tdesc check
`
}

// Run implements kong's command. It is what --help does: kong prints the help while it parses, and ends by the panic exit with
// status 0. Only an error comes back, for a word that is no command.
func (c *helpCommand) Run(k *kong.Kong) error {
	_, err := k.Parse(append(c.Command, "--help"))
	return flags.Misused(err)
}
