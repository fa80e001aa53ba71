package cli

import (
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m, Run) }
