package console

import (
	"fmt"
	"runtime"
	"strings"

	"tracewell/arch"
)

// Platforms names the systems on which processes of the same machine can be traced, for help texts: "Linux x86-64, AArch64".
func Platforms() string {
	var on []string
	for _, m := range arch.Machines() {
		if m.GOARCH != "" {
			on = append(on, m.Title)
		}
	}
	return "Linux " + strings.Join(on, ", ")
}

// TracesHere reports whether processes of this machine can be traced: on Linux, on a processor that a build for it traces.
func TracesHere() bool { return traces(runtime.GOOS, runtime.GOARCH) }

func traces(system, processor string) bool {
	return system == "linux" && arch.ByGOARCH(processor) != nil
}

// CheckTracing returns the error of a command that traces processes of this machine if that is not supported here. Such commands
// are part of every build, so that their help and their error are the same everywhere.
func CheckTracing(command string) error { return checkTracing(command, runtime.GOOS, runtime.GOARCH) }

func checkTracing(command, system, processor string) error {
	if traces(system, processor) {
		return nil
	}
	return fmt.Errorf("%s: tracing processes of this machine requires %s; this is %s/%s", command, Platforms(), system, processor)
}
