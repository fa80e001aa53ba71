package console

import (
	"fmt"
	"runtime"
	"strings"

	"tracewell/arch"
)

// TracesHere reports whether processes of this machine can be traced: on Linux, on a processor that a build for it traces.
func TracesHere() bool { return runtime.GOOS == "linux" && arch.ByGOARCH(runtime.GOARCH) != nil }

// CheckTracing is the error of a command that traces processes of this machine where that cannot be done.
func CheckTracing(command string) error {
	if TracesHere() {
		return nil
	}
	var on []string
	for _, m := range arch.Machines() {
		if m.GOARCH != "" {
			on = append(on, m.Title)
		}
	}
	return fmt.Errorf("%s: tracing processes of this machine is supported on Linux only, on %s", command, strings.Join(on, ", "))
}
