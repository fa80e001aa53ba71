package view_test

import (
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest/testmain"
)

func TestMain(m *testing.M) { testmain.Main(m) }
