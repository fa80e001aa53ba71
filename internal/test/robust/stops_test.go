//go:build linux

package robust

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"tracewell/rsp"
	"tracewell/rsp/reply"
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

// parseStop reads a stop reply.
func (st *storm) parseStop(text string) stopEvent {
	st.Helper()
	s, err := reply.Stopped.Parse(text)
	if err != nil {
		st.fail("stop reply: %v", err)
	}
	ev := stopEvent{text: text, kind: s.Kind, pid: s.PID, at: s.Reason == "swbreak"}
	if s.Kind != 'N' {
		ev.signal = fmt.Sprintf("%02x", s.Number)
	}
	if s.Reason == "fork" || s.Reason == "vfork" {
		ev.child = s.Detail
	}
	for _, r := range s.Registers {
		if b, err := rsp.ParseHexBytes(r.Hex); r.Number == registerPC && err == nil && len(b) == 8 {
			ev.pc = binary.LittleEndian.Uint64(b)
		}
	}
	if s.Thread != nil {
		ev.thread, ev.pid = s.Thread.String(), s.Thread.PID
	}
	return ev
}

// processOf is the process of a thread-id like p1a.1b.
func processOf(thread string) int {
	number, _, _ := strings.Cut(strings.TrimPrefix(thread, "p"), ".")
	pid, _ := strconv.ParseInt(number, 16, 32)
	return int(pid)
}
