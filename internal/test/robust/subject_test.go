//go:build linux

package robust

import (
	"debug/elf"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
)

// patience is how long anything may take that a test waits for.
const patience = 2 * time.Minute

// subject is a server with its program.
type subject struct {
	*testing.T
	server  *gdbtest.Server
	pid     int // of the program
	path    string
	symbols map[string]elf.Symbol
	input   *os.File // the program's standard input; nil for the null device
}

// serve starts a server for a test program that is linked to a fixed address.
func serve(t *testing.T, flags []string, program ...string) *subject {
	t.Helper()
	return start(t, gdbtest.Config{Flags: flags, Command: program})
}

// serveReading is serve for a program that reads its standard input, which ends when end is called, or else with the test.
func serveReading(t *testing.T, flags []string, program ...string) *subject {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s := start(t, gdbtest.Config{Flags: flags, Command: program, Stdin: r})
	s.input = w
	// This runs before the server is killed, so that a program that was detached ends, too.
	t.Cleanup(func() { w.Close() })
	return s
}

func start(t *testing.T, c gdbtest.Config) *subject {
	t.Helper()
	path := testprog.Build(t, c.Command[0], testprog.Variant{NoPIE: true}).Path
	c.Command = append([]string{path}, c.Command[1:]...)
	s := &subject{T: t, path: path, symbols: symbols(t, path), server: gdbtest.Start(t, c)}
	s.await("what the server prints first", func() bool { return strings.Contains(s.server.Stderr(), "Listening") })
	s.pid = s.server.InferiorPID(t)
	t.Cleanup(s.killRunaway)
	return s
}

// killRunaway ends a program that a failed test, or a wild one, has detached from.
func (s *subject) killRunaway() {
	if path, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", s.pid)); path != s.path {
		return
	}
	if process, err := os.FindProcess(s.pid); err == nil {
		process.Kill()
	}
}

// symbols reads the symbol table of an executable.
func symbols(t *testing.T, path string) map[string]elf.Symbol {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	table := make(map[string]elf.Symbol)
	for _, symbol := range list {
		table[symbol.Name] = symbol
	}
	return table
}

// at is the address of a symbol.
func (s *subject) at(name string) uint64 {
	s.Helper()
	symbol, ok := s.symbols[name]
	if !ok {
		s.Fatalf("%s has no symbol %s", s.path, name)
	}
	return symbol.Value
}

// end ends the program's standard input.
func (s *subject) end() { s.input.Close() }

// await polls until a condition holds.
func (s *subject) await(what string, holds func() bool) {
	s.Helper()
	until(s, holds, func() string { return fmt.Sprintf("not within %v: %s\n%s", patience, what, doings(s.pid)) })
}

// until waits for something to become true.
func until(t testing.TB, met func() bool, otherwise func() string) {
	t.Helper()
	for end := time.Now().Add(patience); !met(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(otherwise())
		}
	}
}

// line returns the last line that the program printed of a kind, or false.
func (s *subject) line(kind string) (testprog.Record, bool) {
	found := testprog.OfKind(testprog.Records(s.server.Stdout()), kind)
	if len(found) == 0 {
		return testprog.Record{}, false
	}
	return found[len(found)-1], true
}

// rightResults waits for the program's last line and looks whether it says that no result was wrong.
func (s *subject) rightResults() testprog.Record {
	s.Helper()
	var done testprog.Record
	s.await("the program's last line", func() (printed bool) {
		done, printed = s.line("done")
		return printed
	})
	if done.Int(s, "wrong") != 0 {
		s.Errorf("the program got wrong results: %v", done.Fields)
	}
	return done
}

// progress asks the program hammer for its calls so far.
func (s *subject) progress() int64 {
	s.Helper()
	before := strings.Count(s.server.Stdout(), "progress")
	if _, err := s.input.Write([]byte{'\n'}); err != nil {
		s.Fatal(err)
	}
	s.await("a line that tells the progress", func() bool {
		return strings.Count(s.server.Stdout(), "progress") > before && strings.HasSuffix(s.server.Stdout(), "\n")
	})
	line, _ := s.line("progress")
	if line.Int(s, "wrong") != 0 {
		s.Errorf("the program got wrong results: %v", line.Fields)
	}
	return line.Int(s, "calls")
}

// makesProgress fails the test unless the program hammer goes on calling its functions.
func (s *subject) makesProgress() {
	s.Helper()
	first := s.progress()
	s.await("progress of the program", func() bool { return s.progress() > first })
}

var faults = regexp.MustCompile(`(?m)^(panic:|fatal error:|goroutine \d+).*`)

// soundServer fails the test if the server has printed what a Go program prints when it breaks.
func (s *subject) soundServer() {
	s.Helper()
	if text := faults.FindString(s.server.Stderr()); text != "" {
		s.Errorf("the server broke: %s", text)
	}
}
