package record

import (
	"os"
	"strings"

	"tracewell/internal/regularfile"
)

// largestScript is the largest script in bytes. It keeps a mistyped name of a device or a disk image from filling the memory.
const largestScript = 16 << 20

// ownDescriptors is how the system names files that whoever started the command has opened for it, as a shell does for <(...).
var ownDescriptors = []string{"/dev/stdin", "/dev/fd/", "/proc/self/fd/"}

// readScript reads a GDB script. A file has to be a regular one, as opening a FIFO blocks until somebody writes it; standard
// input and other descriptors that the shell has opened may be pipes.
func readScript(path string) ([]byte, error) {
	// These are opened, not looked at: what they lead to is the caller's choice, and a shell's <(...) is a pipe. The limit holds for
	// both.
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
