// Package testtool says where the programs are that tests run: compilers, debuggers, other tools. They are those of the
// system, which test/setup installs, not others of the same name that come first in PATH. What each test compares with is
// thereby the same on every machine. Only tests import this package.
package testtool

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Folder has all tools.
const Folder = "/usr/bin"

//go:embed tools.txt
var table string

// Path returns the path of a tool that is listed in tools.txt. A missing tool fails the test. The tool "go" is the go command
// that runs the tests.
func Path(t testing.TB, tool string) string {
	t.Helper()
	if tool == "go" {
		path, err := exec.LookPath(tool) // go test puts its own folder in front of PATH
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	found, ok := packages()[tool]
	if !ok {
		t.Fatalf("%s: tests may use no such tool: internal/test/testtool/tools.txt does not list it", tool)
	}
	path := filepath.Join(Folder, tool)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: the Debian package %s has it; make setup installs it", err, found)
	}
	return path
}

// Command is exec.Command for a tool. The programs that it starts in turn, as compilers start linkers, are those of Folder, too.
func Command(t testing.TB, tool string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(Path(t, tool), args...)
	cmd.Env = append(os.Environ(), "PATH="+Folder+":/bin")
	return cmd
}

// Node is the command that runs a script of JavaScript, which may require the packages that npm.txt lists.
func Node(t testing.TB, script string, args ...string) *exec.Cmd {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	modules := filepath.Join(cache, "tracewell-tests", "npm", "node_modules") // as test/setup has it
	if _, err := os.Stat(modules); err != nil {
		t.Fatalf("%v: make setup installs the packages of npm.txt", err)
	}
	cmd := Command(t, "node", append([]string{"-e", script, "--"}, args...)...)
	cmd.Env = append(cmd.Env, "NODE_PATH="+modules)
	return cmd
}

// Delve is the path of Delve, which is one of the packages of Go that go.txt lists.
func Delve(t testing.TB) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(cache, "tracewell-tests", "go", "dlv") // as test/setup has it
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: make setup installs the packages of go.txt", err)
	}
	return path
}

// packages returns the table: which Debian package has a tool.
func packages() map[string]string {
	named := map[string]string{}
	for line := range strings.Lines(table) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] != "#" {
			named[fields[0]] = strings.TrimPrefix(fields[1], "-")
		}
	}
	return named
}
