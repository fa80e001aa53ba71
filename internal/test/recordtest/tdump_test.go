//go:build linux && amd64

package recordtest

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracewell/internal/test/corpus"
	"tracewell/internal/test/gdbtest"
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
			d := dump{build: b, program: corpus.Compile(t, b)}
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
			d := dump{build: b, program: corpus.Compile(t, b)}
			d.file = d.record(t)
			output := gdbtest.RunFor(t, 3*gdbtest.Timeout, "", fmt.Sprintf("target remote | %s replay %s --exec %s --listen -\n-- libraries --\ninfo sharedlibrary\n%s",
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
	build   corpus.Build
	program *corpus.Program
	file    string
}

// section is what show says of a frame.
type section struct {
	mark  string
	lines []string // of Collected
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
	for i, f := range d.shown(t) {
		if !d.undumped(f) {
			fmt.Fprintf(&script, "-- %d --\ntfind %d\n? tdump\n", i, i)
		}
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
	for i, f := range shown {
		if d.undumped(f) {
			continue
		}
		said := strings.Split(dumped(output.Section(t, fmt.Sprint(i))), "\n")
		for _, line := range f.lines {
			if !slices.Contains(said, line) {
				if unread(f.mark, line, said) {
					continue
				}
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

// shown are the frames that show has.
func (d *dump) shown(t *testing.T) []section {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), gdbtest.Binary(t), "show", d.file, "--full", "--raw", "--exec", d.program.Path).Output()
	if err != nil {
		t.Fatalf("show: %v", err)
	}
	var frames []section
	collected := false
	for line := range strings.Lines(string(output)) {
		line = strings.TrimSuffix(line, "\n")
		if m := frameLine.FindStringSubmatch(line); m != nil {
			number, err := strconv.Atoi(m[1])
			if err != nil {
				t.Fatal(err)
			}
			frames = append(frames, section{mark: d.program.Marks[number-1].Name})
		}
		switch {
		case line == "Collected":
			collected = true
		case line == "":
			collected = false
		case collected:
			last := &frames[len(frames)-1]
			last.lines = append(last.lines, line)
		}
	}
	return frames
}
