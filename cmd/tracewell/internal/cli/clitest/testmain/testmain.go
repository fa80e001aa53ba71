// Package testmain gives the tests of a command the whole command line to run. It is apart from clitest because tests inside of a
// package that cli imports use that.
package testmain

import (
	"testing"

	"tracewell/cmd/tracewell/internal/cli"
	"tracewell/cmd/tracewell/internal/cli/clitest"
)

// Main is what TestMain does in an external test of a command.
func Main(m *testing.M) { clitest.Main(m, cli.Run) }
