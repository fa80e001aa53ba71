package query_test

import (
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
)

// TestProfilePage runs the examples of docs/trace-profile.md, and compares what they print with the lines below them. What ends in
// another program is run up to there.
func TestProfilePage(t *testing.T) {
	page := clitest.Content(t, clitest.Absolute(t, "../../../../../docs/trace-profile.md"))
	t.Chdir(t.TempDir())
	const code, prompt = "    ", "    $ tracewell "
	var command, want string
	examples := 0
	run := func() {
		if command == "" {
			return
		}
		examples++
		command, _, _ = strings.Cut(command, " && ")
		got := clitest.Run(t, strings.Fields(command)...)
		if got.Status != 0 || want != "" && got.Stdout != want {
			t.Errorf("%s: status %d, %s\n%s, not\n%s", command, got.Status, got.Stderr, got.Stdout, want)
		}
		command, want = "", ""
	}
	for line := range strings.Lines(page) {
		rest, isCode := strings.CutPrefix(line, code)
		switch next, isCommand := strings.CutPrefix(line, prompt); {
		case isCommand:
			run()
			command = strings.TrimSpace(next)
		case isCode && command != "":
			want += rest
		default:
			run()
		}
	}
	run()
	if examples < 10 {
		t.Errorf("%d examples", examples)
	}
}
