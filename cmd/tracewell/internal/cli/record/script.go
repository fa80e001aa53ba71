package record

import (
	"os"
	"strings"

	"tracewell/internal/regularfile"
)

// largestScript is far beyond what anybody writes, or has GDB save.
const largestScript = 16 << 20

// ownDescriptors is how the system names files that whoever started the command has opened for it, as a shell does for <(...).
var ownDescriptors = []string{"/dev/stdin", "/dev/fd/", "/proc/self/fd/"}

// readScript reads a script for GDB. A file has to be a regular one; standard input and other open files may be pipes.
func readScript(path string) ([]byte, error) {
	for _, prefix := range ownDescriptors {
		if strings.HasPrefix(path, prefix) {
			f, err := os.Open(path)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			return regularfile.ReadAll(f, largestScript)
		}
	}
	return regularfile.Read(path, largestScript)
}
