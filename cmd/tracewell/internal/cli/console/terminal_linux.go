package console

import (
	"os"
	"strconv"

	"tracewell/internal/sys"
)

// Terminal remembers who had the foreground of a terminal that a program under trace may take.
type Terminal struct {
	fd    int
	group int // 0 without a terminal
}

// TakeTerminal looks up the foreground of the terminal that f may be.
func TakeTerminal(f *os.File) Terminal {
	fd := int(f.Fd())
	if !sys.IsTerminal(fd) {
		return Terminal{}
	}
	group, err := sys.ForegroundGroup(fd)
	if err != nil {
		return Terminal{}
	}
	return Terminal{fd, group}
}

// GiveBack returns the foreground that a program of ours has had. If a shell has taken it meanwhile, this job is in the background.
func (t Terminal) GiveBack() {
	if t.group == 0 {
		return
	}
	now, err := sys.ForegroundGroup(t.fd)
	parent, _ := sys.StatusField(now, "PPid")
	if err == nil && (sys.Kill(-now, 0) != nil || parent == strconv.Itoa(os.Getpid())) {
		sys.SetForegroundGroup(t.fd, t.group)
	}
}
