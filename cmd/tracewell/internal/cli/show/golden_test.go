package show

import (
	"fmt"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
)

// TestGolden compares what commands print with testdata/NAME.golden.
func TestGolden(t *testing.T) {
	for name, args := range map[string][]string{
		"show-basic":            {"show", clitest.Basic},
		"show-basic-symbols":    {"show", clitest.Basic, "--exec", clitest.BasicProgram, "--frames", ":20"},
		"show-basic-registers":  {"show", clitest.Basic, "--frames", "80:", "-r", "rip,eflags", "-r", "fs_base"},
		"show-basic-frame":      {"show", clitest.Basic, "--frame", "0", "--exec", clitest.BasicProgram},
		"show-basic-step":       {"show", clitest.Basic, "--frame", "7", "--exec", clitest.BasicProgram, "-r", "rip,rax"},
		"show-basic-json":       {"show", clitest.Basic, "--json", "--frames", "2:5", "--exec", clitest.BasicProgram},
		"show-pie":              {"show", clitest.Pie, "--exec", clitest.PieProgram, "--frames", "0:12"},
		"show-pie-unplaced":     {"show", clitest.Damaged, "--exec", clitest.PieProgram},
		"show-damaged":          {"show", clitest.Damaged},
		"show-damaged-frame":    {"show", clitest.Damaged, "--frame", "0", "-r", "rip"},
		"show-damaged-json":     {"show", clitest.Damaged, "--json", "-r", "rip"},
		"show-basic-where":      {"show", clitest.Basic, "--where", "n > 5 && $rip == 0x401247", "--exec", clitest.BasicProgram},
		"show-basic-pc":         {"show", clitest.Basic, "--pc", "queue.c:23", "--last", "3", "--reverse", "--exec", clitest.BasicProgram},
		"show-basic-range":      {"show", clitest.Basic, "--range", "work", "--outside", "0x401247,work+20", "--limit", "3", "--exec", clitest.BasicProgram},
		"show-basic-hex":        {"show", clitest.Basic, "-t", "2", "-t", "3", "--frames", "2:5", "--hex"},
		"show-basic-full":       {"show", clitest.Basic, "--full", "-r", "rip", "--where", "n == 7", "--limit", "2", "--exec", clitest.BasicProgram},
		"show-basic-diff":       {"show", clitest.Basic, "--diff", "--frames", "3:11", "--exec", clitest.BasicProgram},
		"show-basic-diff-json":  {"show", clitest.Basic, "--diff", "--json", "-t", "2", "--limit", "2", "-r", "rdx"},
		"show-basic-count":      {"show", clitest.Basic, "--count", "-t", "4", "--where", "n > 5"},
		"show-basic-stats":      {"show", clitest.Basic, "--stats", "--exec", clitest.BasicProgram},
		"show-basic-value":      {"show", clitest.Basic, "--value", "n", "--value", "$hits"},
		"show-basic-value-json": {"show", clitest.Basic, "--value", "$rsi", "--json"},
		"show-basic-value-enum": {"show", clitest.Basic, "-t", "2", "--value", "j->kind", "--exec", clitest.BasicProgram},
		"show-pie-lines":        {"show", clitest.Pie, "--exec", clitest.PieProgram, "--pc", "queue.c:23", "--limit", "2"},
		"info-basic":            {"info", clitest.Basic},
		"info-basic-symbols":    {"info", clitest.Basic, "--exec", clitest.BasicProgram},
		"info-basic-json":       {"info", clitest.Basic, "--json"},
		"info-pie":              {"info", clitest.Pie, "--exec", clitest.PieProgram},
		"info-damaged":          {"info", clitest.Damaged},
	} {
		t.Run(name, func(t *testing.T) {
			got := clitest.Run(t, args...)
			clitest.Golden(t, name, fmt.Sprintf("%s-- standard error --\n%s-- exit status %d --\n", got.Stdout, got.Stderr, got.Status))
		})
	}
}
