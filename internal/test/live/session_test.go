package live

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
)

// session is a program under "tracewell serve" and what GDB printed in one session with it.
type session struct {
	program *testprog.Program
	server  *gdbtest.Server
	output  *gdbtest.Output
	file    string // where the script may save frames, as {FILE}
}

// inMain stops the program in main, where its shared libraries are loaded. toMain, which connects first, begins most scripts.
const (
	inMain = `
	break main
	continue
	delete 1
	`
	toMain = "target remote {SERVER}" + inMain
)

// toExit runs the trace until the program is about to exit. If the run has stopped by itself GDB may not know it yet, and then
// the tstop must leave the reason alone. toEnd lets the program end.
const (
	toExit = `
	tstart
	break exit
	continue
	? tstop
	-- status --
	tstatus
	-- tracepoints --
	info tracepoints
	-- frames --
	`
	toEnd = `
	-- rest --
	tfind none
	delete
	continue
	`
)

// debug runs a script against a program that a server has just started. In the script, {SERVER} is what "target remote" takes,
// {FILE} a path for tsave, {mark: NAME} the source line that has that mark and {number: NAME} its number alone.
func debug(t *testing.T, program *testprog.Program, args []string, script string) *session {
	t.Helper()
	return debugWith(t, nil, program, args, script)
}

// debugWith is debug with flags for the server.
func debugWith(t *testing.T, flags []string, program *testprog.Program, args []string, script string) *session {
	t.Helper()
	s := &session{
		program: program,
		server:  gdbtest.Start(t, gdbtest.Config{Flags: flags, Command: append([]string{program.Path}, args...)}),
		file:    filepath.Join(t.TempDir(), "frames.tf"),
	}
	s.output = gdbtest.Run(t, program.Path, s.expand(t, script))
	if strings.Contains(s.output.All, "Program stopped.") {
		t.Errorf("GDB was not told why the program stopped:\n%s", s.output.All)
	}
	return s
}

// reopen runs a script in a second GDB, which has only the saved file and the executable.
func (s *session) reopen(t *testing.T, script string) *gdbtest.Output {
	t.Helper()
	return gdbtest.Run(t, s.program.Path, s.expand(t, "target tfile {FILE}\n"+script))
}

var placeholder = regexp.MustCompile(`\{(SERVER|FILE|(?:mark|number): [a-z-]+)\}`)

func (s *session) expand(t *testing.T, script string) string {
	t.Helper()
	return placeholder.ReplaceAllStringFunc(script, func(name string) string {
		switch name = strings.Trim(name, "{}"); name {
		case "SERVER":
			return s.server.Address
		case "FILE":
			return s.file
		}
		form, mark, _ := strings.Cut(name, ": ")
		line := strconv.Itoa(s.program.Line(t, mark))
		if form == "number" {
			return line
		}
		return filepath.Base(s.program.Source) + ":" + line
	})
}

// walk is a script that goes through all frames and runs body, the commands of a while loop, in each.
func walk(body string) string {
	return "\ntfind start\nwhile $trace_frame != -1\n" + body + "\ntfind\nend\n"
}

// lines returns the lines of a text that begin with the word kind, in order.
func lines(text, kind string) []string {
	var found []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\n"); strings.HasPrefix(line, kind+" ") {
			found = append(found, line)
		}
	}
	return found
}

// having returns the lines that contain the word, such as "worker=1".
func having(all []string, word string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(line string) bool {
		return !slices.Contains(strings.Fields(line), word)
	})
}

// sameLines fails the test when two lists of lines differ.
func sameLines(t *testing.T, what string, want, got []string) {
	t.Helper()
	if len(want) == 0 {
		t.Errorf("%s: nothing to compare with", what)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// contains fails the test for each of the wanted texts that a section of the output lacks.
func contains(t *testing.T, output *gdbtest.Output, section string, wanted ...string) {
	t.Helper()
	text := output.Section(t, section)
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("section %q lacks %q:\n%s", section, want, text)
		}
	}
}

// lacks fails the test for each of the texts that a section of the output has.
func lacks(t *testing.T, output *gdbtest.Output, section string, unwanted ...string) {
	t.Helper()
	text := output.Section(t, section)
	for _, word := range unwanted {
		if strings.Contains(text, word) {
			t.Errorf("section %q has %q:\n%s", section, word, text)
		}
	}
}

// number returns the integer, decimal or with 0x, that the only group of the expression matches in a section of the output.
func number(t *testing.T, output *gdbtest.Output, section, expression string) int64 {
	t.Helper()
	match := regexp.MustCompile(expression).FindStringSubmatch(output.Section(t, section))
	if match == nil {
		t.Fatalf("section %q does not match %q:\n%s", section, expression, output.Section(t, section))
	}
	n, err := strconv.ParseInt(match[1], 0, 64)
	if err != nil {
		t.Fatalf("section %q: %v", section, err)
	}
	return n
}

// finished waits for the server, which ends with its program, and returns the lines of one kind that the program printed.
func (s *session) finished(t *testing.T, kind string) []string {
	t.Helper()
	s.server.Wait(t)
	return lines(s.server.Stdout(), kind)
}

// printed waits until the program, which need not end, has printed so many lines of one kind: they come through a pipe.
func (s *session) printed(t *testing.T, kind string, count int) []string {
	t.Helper()
	got := lines(s.server.Stdout(), kind)
	for deadline := time.Now().Add(time.Minute); len(got) < count && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		got = lines(s.server.Stdout(), kind)
	}
	return got
}

// frames numbers count lines that GDB prints in a walk as "frame n=0", "frame n=1" and so on.
func frames(count int) []string {
	var all []string
	for n := range count {
		all = append(all, fmt.Sprintf("frame n=%d", n))
	}
	return all
}
