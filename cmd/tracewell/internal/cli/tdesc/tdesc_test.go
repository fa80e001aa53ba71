//go:build unix

package tdesc

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testtool"
)

// described writes a description with an include into a folder of its own.
func described(t *testing.T, main string) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "target.xml")
	files := map[string]string{
		path: main,
		filepath.Join(dir, "core.xml"): `<feature name="example"><flags id="f" size="4"><field name="Z" start="0" end="0"/></flags>
<reg name="a" bitsize="64" type="int64" regnum="1"/><reg name="b" bitsize="32" type="f" regnum="0" group="general"/></feature>`,
	}
	for name, content := range files {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

const plainMain = `<target><architecture>avr</architecture><xi:include href="core.xml"/></target>`

func TestTdescLayout(t *testing.T) {
	path := described(t, plainMain)
	got := clitest.Run(t, "tdesc", "layout", path, "--json")
	var slots []struct {
		Name, Type, Feature  string
		Regnum, Offset, Size int
	}
	if err := json.Unmarshal([]byte(got.Stdout), &slots); err != nil || got.Status != console.StatusDone {
		t.Fatalf("%v, %+v", err, got)
	}
	if len(slots) != 2 || slots[0].Name != "b" || slots[1].Offset != 4 || slots[1].Size != 8 || slots[1].Regnum != 1 ||
		slots[1].Type != "int64" || slots[1].Feature != "example" {
		t.Errorf("%+v", slots)
	}
	if got := clitest.Run(t, "tdesc", "layout", path); !strings.HasSuffix(got.Stdout, "12 bytes in 2 registers\n") {
		t.Errorf("%+v", got)
	}
}

func TestTdescCheck(t *testing.T) {
	good, bad := described(t, plainMain), described(t, strings.Replace(plainMain, "avr", "aarch64", 1))
	broken := described(t, strings.Replace(plainMain, "core", "other", 1))
	for path, want := range map[string]struct {
		status  int
		verdict string
		rule    string
	}{
		good:   {console.StatusDone, "well-formed", ""},
		bad:    {console.StatusFinding, "findings", "standard-feature-missing"},
		broken: {console.StatusFailure, "unreadable", "include"},
	} {
		got := clitest.Run(t, "tdesc", "check", path, "--json")
		var report struct {
			Verdict  string
			Findings []struct {
				Offset                                 *int
				Line, Column                           int
				Rule, Severity, Text, Advice, Document string
			}
		}
		if err := json.Unmarshal([]byte(got.Stdout), &report); err != nil {
			t.Fatalf("%v in %+v", err, got)
		}
		if got.Status != want.status || report.Verdict != want.verdict {
			t.Errorf("%s: status %d, %+v", path, got.Status, report)
		}
		if want.rule != "" {
			f := report.Findings[len(report.Findings)-1]
			if f.Rule != want.rule || f.Severity != "rejects" || f.Text == "" || f.Advice == "" || f.Offset == nil || f.Line != 1 {
				t.Errorf("%s: %+v", path, f)
			}
		}
		plain := clitest.Run(t, "tdesc", "check", path)
		if plain.Status != want.status || !strings.Contains(plain.Stdout, want.verdict[:4]) {
			t.Errorf("%+v", plain)
		}
	}
}

// TestTdescIncludesRegularFiles would hang where a FIFO is waited for.
func TestTdescIncludesRegularFiles(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"a FIFO":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a device": func(path string) error { return os.Symlink("/dev/zero", path) },
	} {
		path := described(t, plainMain)
		core := filepath.Join(filepath.Dir(path), "core.xml")
		if err := errors.Join(os.Remove(core), make(core)); err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{"check", "layout", "print"} {
			got := clitest.Run(t, "tdesc", command, path)
			if got.Status != console.StatusFailure || !strings.Contains(got.Stdout+got.Stderr, "it is "+name+", not a regular file") {
				t.Errorf("tdesc %s with %s: %+v", command, name, got)
			}
		}
	}
}

func TestTdescPrint(t *testing.T) {
	path := described(t, plainMain)
	printed := clitest.Run(t, "tdesc", "print", path)
	if printed.Status != console.StatusDone || !strings.Contains(printed.Stdout, `    <reg name="a" bitsize="64" type="int64" regnum="1"/>`) {
		t.Errorf("%+v", printed)
	}
	again := described(t, printed.Stdout)
	if got := clitest.Run(t, "tdesc", "diff", path, again); got.Status != console.StatusDone || got.Stdout != "" {
		t.Errorf("what was printed differs: %+v", got)
	}
	table := clitest.Run(t, "tdesc", "print", path, "--table")
	if !strings.Contains(table.Stdout, "architecture     avr") || !strings.Contains(table.Stdout, "     0  b           32  f") {
		t.Errorf("%s", table.Stdout)
	}
	var object struct {
		Architecture string
		Features     []struct {
			Types     []struct{ Kind string }
			Registers []struct{ Name string }
		}
	}
	if err := json.Unmarshal([]byte(clitest.Run(t, "tdesc", "print", path, "--json").Stdout), &object); err != nil ||
		object.Architecture != "avr" || object.Features[0].Types[0].Kind != "flags" || object.Features[0].Registers[1].Name != "b" {
		t.Errorf("%v, %+v", err, object)
	}
}

func TestTdescDiff(t *testing.T) {
	a, b := described(t, plainMain), described(t, strings.Replace(plainMain, "avr", "z80", 1))
	if got := clitest.Run(t, "tdesc", "diff", a, b); got.Status != console.StatusFinding || got.Stdout != "architecture: avr / z80\n" {
		t.Errorf("%+v", got)
	}
	var object struct {
		Verdict     string
		Differences []struct{ Kind, First, Second string }
	}
	got := clitest.Run(t, "tdesc", "diff", a, b, "--json")
	if err := json.Unmarshal([]byte(got.Stdout), &object); err != nil || object.Verdict != "different" ||
		object.Differences[0].Second != "z80" {
		t.Errorf("%v, %+v", err, got)
	}
}

func TestTdescStrict(t *testing.T) {
	path := described(t, `<target><feature name="f"><reg name="r" bitsize="24" type="int24"/></feature></target>`)
	if got := clitest.Run(t, "tdesc", "layout", path); got.Status != console.StatusFailure || !strings.Contains(got.Stderr, "GDB's manual has") {
		t.Errorf("%+v", got)
	}
	if got := clitest.Run(t, "tdesc", "layout", path, "--strict", "manual"); got.Status != console.StatusDone {
		t.Errorf("%+v", got)
	}
	if got := clitest.Run(t, "tdesc", "layout", path, "--strict", "both"); got.Status != console.StatusFailure ||
		!strings.Contains(got.Stderr, "see tracewell tdesc layout --help") {
		t.Errorf("%+v", got)
	}
}

func TestTdescOfTraceFile(t *testing.T) {
	if got := clitest.Run(t, "tdesc", "layout", clitest.Basic); got.Status != console.StatusDone || !strings.Contains(got.Stdout, "org.gnu.gdb.i386.core") {
		t.Errorf("%+v", got)
	}
}

// TestTdescLeavesGDBServerAlive asks gdbserver three times for its description. GDB can then run the program to its end.
func TestTdescLeavesGDBServerAlive(t *testing.T) {
	server := gdbtest.Start(t, gdbtest.Config{Server: []string{testtool.Path(t, "gdbserver")}, Comm: "localhost:0", Command: []string{"/bin/true"}})
	for command, want := range map[string]string{
		"check": "well-formed", "layout": "rip ", "print": `<architecture>i386:x86-64</architecture>`,
	} {
		got := clitest.Run(t, "tdesc", command, server.Address)
		if got.Status != console.StatusDone || !strings.Contains(got.Stdout, want) {
			t.Errorf("tdesc %s: %+v, want %q", command, got, want)
		}
	}
	out := gdbtest.Run(t, "", "-- run --\ntarget remote "+server.Address+"\ncontinue\n-- end --\n")
	if said := out.Section(t, "run"); !strings.Contains(said, "exited normally") {
		t.Errorf("GDB says behind that: %s", said)
	}
}

// TestTdescTimeout has a stub that says nothing.
func TestTdescTimeout(t *testing.T) {
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	start := time.Now()
	got := clitest.Run(t, "tdesc", "print", "unix:"+listener.Addr().String(), "--timeout", "100ms")
	if got.Status != console.StatusFailure || !strings.Contains(got.Stderr, "no answer within 100ms") || time.Since(start) > time.Minute {
		t.Errorf("after %v: %+v", time.Since(start), got)
	}
}

func TestTdescUnreadable(t *testing.T) {
	for _, name := range []string{"no-such-file", "localhost:1", "unix:/no/such/socket"} {
		if got := clitest.Run(t, "tdesc", "check", name); got.Status != console.StatusFailure || got.Stderr == "" || got.Stdout != "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
