package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/jsontext"
	"tracewell/view/wire"
)

// versionCommand is "tracewell version".
type versionCommand struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Examples implements flags.Exampler.
func (*versionCommand) Examples() string {
	return `  tracewell version
  tracewell version --json | jq -r .commit
`
}

// Run implements kong's command. --version prints the same line, without --json.
func (c *versionCommand) Run(streams console.Streams) error {
	if !c.JSON {
		_, err := fmt.Fprintln(streams.Out, versionLine(builtFrom()))
		return err
	}
	return jsontext.Write(streams.Out, builtFrom(), "")
}

// builtFrom describes this binary. The go command records version and commit (go help buildvcs); a test binary has neither.
func builtFrom() wire.Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return buildOf(info)
}

// buildOf reads what the go command recorded. "(devel)" is its version of a module that was built in its own repository.
// vcs.modified says that the working tree differed from the commit, so that such a build is not taken for the commit itself.
func buildOf(info *debug.BuildInfo) wire.Build {
	b := wire.Build{Version: "development", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// shortCommit is how many digits of a commit are printed: as many as git itself abbreviates to in large repositories.
const shortCommit = 12

// versionLine describes a build for people, as in "tracewell v1.2.0 (commit 0123456789ab of 2024-05-01, modified), go1.24.0,
// linux/amd64".
func versionLine(b wire.Build) string {
	var s strings.Builder
	s.WriteString("tracewell " + b.Version)
	if b.Commit != "" {
		fmt.Fprintf(&s, " (commit %.*s", shortCommit, b.Commit)
		// The date is that of the commit, in UTC, so that it is the same wherever the commit was built.
		if t, err := time.Parse(time.RFC3339, b.Time); err == nil {
			s.WriteString(" of " + t.UTC().Format(time.DateOnly))
		}
		if b.Modified {
			s.WriteString(", modified")
		}
		s.WriteString(")")
	}
	fmt.Fprintf(&s, ", %s, %s", b.Go, b.Platform)
	return s.String()
}
