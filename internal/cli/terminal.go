package cli

import (
	"os"

	"tracewell/internal/linux"
)

// terminal remembers who had the foreground of a terminal that a program under trace may take.
type terminal struct {
	fd    int
	group int // 0 without a terminal
}

// takeTerminal looks up the foreground of the terminal that f may be.
func takeTerminal(f *os.File) terminal {
	fd := int(f.Fd())
	if !linux.IsTerminal(fd) {
		return terminal{}
	}
	group, err := linux.ForegroundGroup(fd)
	if err != nil {
		return terminal{}
	}
	return terminal{fd, group}
}

// giveBack returns the foreground.
func (t terminal) giveBack() {
	if t.group != 0 {
		linux.SetForegroundGroup(t.fd, t.group)
	}
}
