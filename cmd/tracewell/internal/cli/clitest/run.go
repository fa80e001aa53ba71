// Package clitest runs command lines of tracewell for the tests of its commands: in the test's own process with files for the
// standard streams, or as a process of its own on a terminal.
//
// # In this process or as one of its own
//
// Run is enough for most tests: a command line is a function of its arguments and of three files (cli.Run), so many of them run
// in the process of the test. A test needs a process of its own for what belongs to a process: a controlling terminal, job
// control, the default action of a signal, or GDB that starts tracewell by name. The test binary is then executed once more and
// is tracewell (Main), so nothing has to be built, and what is tested is what was compiled with the test.
//
// # Expectations
//
// Long outputs are compared with golden files, which go test -update rewrites; the change is then read as a diff before it is
// committed. Traces that GDB 13.1 wrote are the reference for whatever is printed of trace files, because only GDB's own files
// show what GDB writes.
package clitest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/cmd/tracewell/internal/cli/console"
)

// Put writes a file that only its owner can read.
func Put(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Update is the flag -update, by which tests write the golden files instead of comparing with them.
var Update = flag.Bool("update", false, "rewrite the golden files")

// CommandLine runs a command line of tracewell over these streams, and returns its exit status. Main gets it as an argument,
// since the packages that cli imports, whose tests this package serves, cannot import cli.
var CommandLine func(args []string, streams console.Streams) (status int)

// OnTerminal is what TestMain finds in the environment of a test binary that is to be tracewell. Its value is the command line,
// with blanks between the arguments. Main removes it, since programs that are launched inherit the environment.
const OnTerminal = "TRACEWELL_TEST_ARGUMENTS"

// IsTracewell is the same for one that has the arguments itself. Any value but an empty one will do; flags of the testing package
// are not parsed.
const IsTracewell = "TRACEWELL_TEST_ITSELF"

// Main runs the tests of a package, which may call Run. It makes the test binary tracewell itself for tests that need that as a
// process of its own.
func Main(m *testing.M, run func(args []string, streams console.Streams) (status int)) {
	CommandLine = run
	own := console.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	if args := os.Getenv(OnTerminal); args != "" {
		os.Unsetenv(OnTerminal)
		os.Exit(run(strings.Fields(args), own))
	}
	if os.Getenv(IsTracewell) != "" {
		os.Exit(run(os.Args[1:], own))
	}
	os.Exit(m.Run())
}

// Outcome is what a command line printed, and its exit status.
type Outcome struct {
	Stdout, Stderr string
	Status         int
}

// Run runs a command line in this process, with regular files for its output streams and /dev/null for its input. Nothing is a
// terminal, so there are no colours and no progress bars.
func Run(t testing.TB, args ...string) Outcome {
	t.Helper()
	in, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	return RunWith(t, in, args...)
}

// RunWith runs a command line that reads in.
func RunWith(t testing.TB, in *os.File, args ...string) Outcome {
	t.Helper()
	dir := t.TempDir()
	// Files rather than pipes: nobody has to read while the command writes, however much that is.
	var files [2]*os.File
	for i, name := range []string{"stdout", "stderr"} {
		file, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		files[i] = file
	}
	status := CommandLine(args, console.Streams{In: in, Out: files[0], Err: files[1]})
	return Outcome{Content(t, files[0].Name()), Content(t, files[1].Name()), status}
}

// RecordInto runs record with a trace file of its own, whose path it returns.
func RecordInto(t *testing.T, args ...string) (Outcome, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.tf")
	return Run(t, append([]string{"record", "-o", path}, args...)...), path
}

// Content is what a file holds.
func Content(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Trace files that GDB 13.1 wrote, and the programs that they are of.
var (
	Basic   = inTree("tfile/testdata/queue-basic.tf")
	Pie     = inTree("tfile/testdata/queue-pie.tf")
	Damaged = inTree("tfile/testdata/queue-fast.tf")

	BasicProgram = inTree("tfile/testdata/queue")
	PieProgram   = inTree("tfile/testdata/queue_pie")
)

// inTree is the path of a file of the module from the folder of the test.
func inTree(name string) string {
	// The go command runs a test in the folder of its package. The depth is limited, as the root of a file system is its own parent.
	root := "."
	for range 16 {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = filepath.Join("..", root)
	}
	return filepath.Join(root, filepath.FromSlash(name))
}

// Golden compares a text with testdata/NAME.golden in the folder of the test, which -update writes.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *Update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(Content(t, path), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
