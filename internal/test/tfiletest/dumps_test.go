package tfiletest

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
)

// dumpHeads are the lines before what tells of a frame: GDB's tdump's, and those of tracewell show --full.
var dumpHeads = regexp.MustCompile(`(?m)^(?:Data collected at tracepoint \d+, trace frame|Frame) (\d+)\b.*$`)

// valueLine is a line that tells the value of something collected.
var valueLine = regexp.MustCompile(`^(\$?[^ =]+|\*.*) = .*$`)

// values are the lines of each frame that tell values, sorted, by the frame's number.
func values(dumps string) map[string][]string {
	all := map[string][]string{}
	heads := dumpHeads.FindAllStringSubmatchIndex(dumps, -1)
	for i, head := range heads {
		text := dumps[head[1]:]
		if i+1 < len(heads) {
			text = dumps[head[1]:heads[i+1][0]]
		}
		var lines []string
		for line := range strings.Lines(text) {
			if line = strings.TrimRight(line, "\n"); valueLine.MatchString(line) {
				lines = append(lines, line)
			}
		}
		slices.Sort(lines)
		all[dumps[head[2]:head[3]]] = slices.Compact(lines)
	}
	return all
}

// compareDumps holds what tracewell show prints of collected values, with the program's types, against tdump in the live
// session.
func compareDumps(t *testing.T, output *gdbtest.Output, program *testprog.Program, file string) {
	t.Helper()
	want := values(output.Section(t, "dumps"))
	got := values(tracewell(t, nil, "show", "--full", "--raw", "--exec", program.Path, file).Stdout)
	if diff := gocmp.Diff(want, got); diff != "" || len(want) != liveFrames {
		t.Errorf("%d frames with values (-tdump +show):\n%s", len(want), diff)
	}
}
