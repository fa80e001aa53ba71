package cli

import (
	"encoding/json"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/test/testtool"
	"tracewell/view/wire"
)

// TestVersion: the command and the option say the same.
func TestVersion(t *testing.T) {
	want := clitest.Run(t, "version")
	if !strings.HasPrefix(want.Stdout, "tracewell ") || want.Status != console.StatusDone {
		t.Errorf("%+v", want)
	}
	for _, args := range [][]string{{"--version"}, {"serve", "--version"}} {
		if got := clitest.Run(t, args...); got != want {
			t.Errorf("%q: %+v, want %+v", args, got, want)
		}
	}
	var object wire.Build
	got := clitest.Run(t, "version", "--json")
	if err := json.Unmarshal([]byte(got.Stdout), &object); err != nil || object != builtFrom() {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestVersionText(t *testing.T) {
	for want, b := range map[string]wire.Build{
		"tracewell development, go1.26, linux/amd64": {Version: "development", Go: "go1.26", Platform: "linux/amd64"},
		"tracewell v1.2.3 (commit 0123456789ab of 2026-11-22, modified), go1.26, linux/amd64": {Version: "v1.2.3",
			Commit: "0123456789abcdef", Time: "2026-11-22T23:30:00Z", Modified: true, Go: "go1.26", Platform: "linux/amd64"},
	} {
		if got := versionLine(b); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestBuildInformation takes what the go command notes down of a repository.
func TestBuildInformation(t *testing.T) {
	plain := wire.Build{Version: "development", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	devel := &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}
	if got := buildOf(devel); got != plain {
		t.Errorf("%+v, want %+v", got, plain)
	}
	released := &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{
		{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "0123"}, {Key: "vcs.time", Value: "2026-11-22T23:30:00Z"},
		{Key: "vcs.modified", Value: "true"},
	}}
	want := plain
	want.Version, want.Commit, want.Time, want.Modified = "v1.2.3", "0123", "2026-11-22T23:30:00Z", true
	if got := buildOf(released); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestHelpCommand is what --help prints.
func TestHelpCommand(t *testing.T) {
	for _, command := range []string{"", "record", "tdesc check"} {
		words := strings.Fields(command)
		got, want := clitest.Run(t, append([]string{"help"}, words...)...), clitest.Run(t, append(words, "--help")...)
		if got != want || got.Status != console.StatusDone {
			t.Errorf("help %s: %+v, want %+v", command, got, want)
		}
	}
	if got := clitest.Run(t, "help", "recrod"); got.Status != console.StatusFailure || !strings.Contains(got.Stderr, `did you mean "record"`) {
		t.Errorf("%+v", got)
	}
}

// TestManPages renders every page; groff has nothing to complain of.
func TestManPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	if got := clitest.Run(t, "man", dir); got != (clitest.Outcome{}) {
		t.Fatalf("%+v", got)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "tracewell*.1"))
	if err != nil || len(pages) < 15 {
		t.Errorf("%q, %v", pages, err)
	}
	for _, page := range pages {
		out, err := testtool.Command(t, "groff", "-man", "-Tutf8", "-ww", "-z", page).CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("%s: %v %s", page, err, out)
		}
	}
}
