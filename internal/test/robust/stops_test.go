//go:build linux

package robust

import (
	"encoding/binary"
	"regexp"
	"strconv"
	"strings"

	"tracewell/rsp"
)

// stopEvent is what a stop reply says.
type stopEvent struct {
	text   string
	kind   byte   // T, W, X, w or N
	signal string // or status, as it is
	thread string
	pid    int
	child  string // of a fork
	at     bool   // a breakpoint
	pc     uint64
}

var (
	stopForm  = regexp.MustCompile(`^([TWX])([0-9a-f]{2})|^(w)([0-9a-f]{2});(p[0-9a-f]+\.[0-9a-f]+)|^(N)`)
	stopField = regexp.MustCompile(`(?:^T..|;)(thread|fork|vfork|process|swbreak|10):([^;]*)`)
)

// parseStop reads a stop reply.
func (st *storm) parseStop(reply string) stopEvent {
	st.Helper()
	m := stopForm.FindStringSubmatch(reply)
	if m == nil {
		st.fail("stop reply %q", reply)
	}
	ev := stopEvent{text: reply, kind: (m[1] + m[3] + m[6])[0], signal: m[2] + m[4], thread: m[5]}
	for _, f := range stopField.FindAllStringSubmatch(reply, -1) {
		switch f[1] {
		case "thread":
			ev.thread = f[2]
		case "fork", "vfork":
			ev.child = f[2]
		case "process":
			pid, _ := strconv.ParseInt(f[2], 16, 32)
			ev.pid = int(pid)
		case "10":
			b, err := rsp.ParseHexBytes(f[2])
			if err != nil || len(b) != 8 {
				st.fail("stop reply %q", reply)
			}
			ev.pc = binary.LittleEndian.Uint64(b)
		case "swbreak":
			ev.at = true
		}
	}
	if ev.thread != "" {
		ev.pid = processOf(ev.thread)
	}
	return ev
}

// processOf is the process of a thread-id like p1a.1b.
func processOf(thread string) int {
	number, _, _ := strings.Cut(strings.TrimPrefix(thread, "p"), ".")
	pid, _ := strconv.ParseInt(number, 16, 32)
	return int(pid)
}
