package console

import (
	"fmt"
	"runtime"
)

// TracesHere says whether processes of this machine can be traced.
const TracesHere = runtime.GOOS == "linux" && runtime.GOARCH == "amd64"

// CheckTracing is the error of a command that traces processes of this machine where that cannot be done.
func CheckTracing(command string) error {
	if TracesHere {
		return nil
	}
	return fmt.Errorf("%s: tracing processes of this machine is supported on Linux x86-64 only", command)
}
