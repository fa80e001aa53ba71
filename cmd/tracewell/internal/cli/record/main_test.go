package record_test

import (
	"testing"

	"tracewell/cmd/tracewell/internal/cli"
	"tracewell/cmd/tracewell/internal/cli/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m, cli.Run) }
