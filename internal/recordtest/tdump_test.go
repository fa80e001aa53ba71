//go:build amd64

package recordtest

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tracewell/internal/corpus"
	"tracewell/internal/gdbtest"
)

// inFixedPlace are the builds that GDB 13.1 has all symbols for: it does not move those of a position-independent program for
// a trace file, nor of a library.
func inFixedPlace() []corpus.Build {
	var builds []corpus.Build
	for _, b := range corpus.Builds {
		if b.Fixed && b.Joined || b.Language == corpus.Go {
			builds = append(builds, b)
		}
	}
	if !*whole {
		return builds[:2]
	}
	return builds
}

// TestDumpOfGDB opens recorded files in GDB, whose tdump must say of what was collected what show says.
func TestDumpOfGDB(t *testing.T) {
	for _, b := range inFixedPlace() {
		t.Run(b.String(), func(t *testing.T) {
			t.Parallel()
			d := dump{program: corpus.Compile(t, b)}
			d.file = d.record(t)
			d.compare(t, gdbtest.Run(t, d.program.Path, "target tfile "+d.file+"\n"+d.script(t)))
		})
	}
}

// loadedAnywhere are builds that GDB has all symbols for only through replay: with a library beside them.
func loadedAnywhere() []corpus.Build {
	var builds []corpus.Build
	for _, b := range corpus.Builds {
		if !b.Joined && (b.Language == corpus.C || b.Language == corpus.CPP) {
			builds = append(builds, b)
		}
	}
	if !*whole {
		return builds[1:2]
	}
	return builds
}

// TestDumpOfReplay has the same files served to a GDB that knows no program: it finds the program and its libraries by itself,
// and where they were.
func TestDumpOfReplay(t *testing.T) {
	for _, b := range loadedAnywhere() {
		t.Run(b.String(), func(t *testing.T) {
			t.Parallel()
			d := dump{program: corpus.Compile(t, b)}
			d.file = d.record(t)
			output := gdbtest.RunFor(t, 3*time.Minute, "", fmt.Sprintf("target remote | %s replay %s --exec %s --listen -\n-- libraries --\ninfo sharedlibrary\n%s",
				gdbtest.Binary(t), d.file, d.program.Path, d.script(t)))
			if got := output.Section(t, "libraries"); !regexp.MustCompile(`0x[0-9a-f]+ .* Yes .*/lib(store|shapes)\.so`).MatchString(got) {
				t.Errorf("the library is not there:\n%s", got)
			}
			d.compare(t, output)
		})
	}
}

// dump is a recorded file of a build.
type dump struct {
	program *corpus.Program
	file    string
}

func (d *dump) record(t *testing.T) string {
	t.Helper()
	var script strings.Builder
	for _, m := range d.program.Marks {
		fmt.Fprintf(&script, "trace %s\nactions\ncollect $args\ncollect $locals\nend\n", m.At())
	}
	return recorded(t, d.program, script.String())
}

// script goes through the frames.
func (d *dump) script(t *testing.T) string {
	t.Helper()
	var script strings.Builder
	for i := range d.shown(t) {
		fmt.Fprintf(&script, "-- %d --\ntfind %d\n? tdump\n", i, i)
	}
	return script.String()
}

// compare holds what GDB said of the frames against what show says.
func (d *dump) compare(t *testing.T, output *gdbtest.Output) {
	t.Helper()
	shown := d.shown(t)
	if len(shown) == 0 {
		t.Fatal("show has no frames")
	}
	equal := 0
	for i, lines := range shown {
		said := strings.Split(output.Section(t, fmt.Sprint(i)), "\n")
		for _, line := range lines {
			if !slices.Contains(said, line) {
				t.Errorf("frame %d: show says\n%s, tdump\n%s", i, line, similar(said, line))
				continue
			}
			equal++
		}
	}
	t.Logf("%d frames, %d lines are equal", len(shown), equal)
}

// similar is what GDB has said of the name that a line begins with.
func similar(said []string, line string) string {
	name, _, _ := strings.Cut(line, " = ")
	for _, s := range said {
		if strings.HasPrefix(s, name+" = ") {
			return s
		}
	}
	return strings.Join(said, "\n")
}

// shown are the lines of Collected that show has, by frame.
func (d *dump) shown(t *testing.T) [][]string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), gdbtest.Binary(t), "show", d.file, "--full", "--exec", d.program.Path).Output()
	if err != nil {
		t.Fatalf("show: %v", err)
	}
	var frames [][]string
	collected := false
	for line := range strings.Lines(string(output)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case frameLine.MatchString(line):
			frames = append(frames, nil)
		case line == "Collected":
			collected = true
		case line == "":
			collected = false
		case collected:
			frames[len(frames)-1] = append(frames[len(frames)-1], line)
		}
	}
	return frames
}
