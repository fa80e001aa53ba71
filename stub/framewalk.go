package stub

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tracewell/arch"
	"tracewell/rsp/request"
	"tracewell/target"
	"tracewell/tfile"
	"tracewell/trace"
)

// A client that cannot select frames (LLDB has no QTFrame) gets those of a recording as the stops of a program that runs: each
// resumption leads to a later frame. Breakpoints choose frames by their pc; without any the next frame is the next stop.
//
// The client believes that a thread which it resumes at a breakpoint has to be stepped off it first, and steps again and again
// until the pc is another one; but many frames in a row have the same. So that step leads to where the program is outside of all
// frames (see target/replay), and the resumption behind it to the next frame. Nothing else ever stops there.
//
// A client that comes gets a walk when it says that it is LLDB (QEnableErrorStrings), which it does ahead of its first question
// about the program. What it reads is the selected frame's, as for GDB: only how frames are selected differs.
//
// Everything is answered at once, in the session's goroutine: a search for the next frame at a breakpoint reads a file once, and
// keeps what it has learned (target/replay). So there is nothing to interrupt.

// walk is how far such a client is.
type walk struct {
	breaks  map[arch.Addr]bool // breakpoints
	next    int                // the frame where the next resumption begins to look
	chosen  bool               // and stops whatever breakpoints say: the user has named it
	lifted  bool               // the client has removed the breakpoint that it stands at, to step off it
	outside bool               // it has done so
	over    bool               // the last resumption found no frame
}

var (
	errWalkWatch = errors.New("a trace file holds what was collected at its tracepoints; there are no accesses to stop at")
	errNoFrames  = errors.New("the trace file has no frames")
)

// beginWalk has a client that cannot select frames stand at the first one, if what is served are frames and nothing else.
func (x *session) beginWalk() error {
	if x.walk != nil || x.recorded == nil || x.engine != nil || !x.debuggee.Alive() {
		return nil
	}
	x.walk = &walk{breaks: make(map[arch.Addr]bool)}
	return x.walkTo(x.config.Frame)
}

// walkTo selects a frame. Without one of that number the client stays where it is.
func (x *session) walkTo(n int) error {
	frame, ok, err := x.recorded.Frame(n)
	if err != nil {
		return err
	}
	w := x.walk
	w.chosen, w.lifted, w.outside, w.over = false, false, false, !ok
	if ok {
		x.frame, w.next = &frame, n+1
	}
	clear(x.documents)
	return nil
}

// walkOn is any resumption, as a step or not. It stops before its packet has been answered.
func (x *session) walkOn(step bool) error {
	w := x.walk
	if x.frame == nil && !w.outside {
		return errNoFrames
	}
	// Without a breakpoint that was removed a step is the user's, and as good as any resumption.
	if w.lifted && !w.outside && step {
		w.outside, w.over, x.frame = true, false, nil
		clear(x.documents)
		return nil
	}
	n, err := x.nextInWalk()
	if err != nil {
		return err
	}
	if err := x.walkTo(n); err != nil || !w.over {
		return err
	}
	// Behind the last frame the client stays at the last that it has seen: there is nothing else to look at.
	err = x.walkTo(w.next - 1)
	w.over = true
	return err
}

// nextInWalk is the number of the frame where the next resumption stops, or one that no frame has.
func (x *session) nextInWalk() (int, error) {
	w := x.walk
	if w.chosen || len(w.breaks) == 0 {
		return w.next, nil
	}
	// Each search goes to the end of the file if need be, but over places that are known by then.
	first := -1
	for addr := range w.breaks {
		n, ok, err := x.recorded.Find(tfile.Query{Kind: tfile.ByPC, Low: addr}, w.next)
		if err != nil {
			return 0, err
		}
		if ok && (first < 0 || n < first) {
			first = n
		}
	}
	return first, nil
}

// insertInWalk is Z. Breakpoints that no frame can stop at are refused: the client would wait for them to the end.
func (x *session) insertInWalk(b request.Breakpoint) error {
	if target.BreakKind(b.Kind) >= target.WriteWatch {
		return errWalkWatch
	}
	if _, ok, err := x.recorded.Find(tfile.Query{Kind: tfile.ByPC, Low: b.Addr}, 0); err != nil || !ok {
		return errors.Join(err, fmt.Errorf("no frame of the trace file is at %v%s", b.Addr, x.tracepointsNear()))
	}
	x.walk.breaks[b.Addr] = true
	if x.standsAt(b.Addr) {
		x.walk.lifted = false
	}
	return nil
}

// mostPlaces is how many addresses of tracepoints a message lists.
const mostPlaces = 8

// tracepointsNear lists where the file has tracepoints, as the end of a message.
func (x *session) tracepointsNear() string {
	var places []string
	for _, t := range x.recorded.Tracepoints() {
		places = append(places, t.Addr.String())
	}
	if len(places) == 0 {
		return ""
	}
	rest := ""
	if len(places) > mostPlaces {
		places, rest = places[:mostPlaces], ", and others"
	}
	return "; it has tracepoints at " + strings.Join(places, ", ") + rest
}

// removeInWalk is z.
func (x *session) removeInWalk(b request.Breakpoint) {
	if x.walk.breaks[b.Addr] && x.standsAt(b.Addr) {
		x.walk.lifted = true
	}
	delete(x.walk.breaks, b.Addr)
}

// standsAt reports whether the selected frame is at an address.
func (x *session) standsAt(addr arch.Addr) bool {
	return x.frame != nil && !x.frame.Unplaced && x.frame.PC == addr
}

// walkReason says in LLDB's words why the client stands at a frame, as its user reads it; nothing at a breakpoint, which LLDB finds
// by the pc, and outside of frames. An exception, in LLDB's sense, ends all that LLDB was about to do, so that a step is over.
func (x *session) walkReason() (reason, description string) {
	w := x.walk
	if w == nil || x.frame == nil || !w.over && !x.frame.Unplaced && w.breaks[x.frame.PC] {
		return "", ""
	}
	text := fmt.Sprintf("trace frame %d, tracepoint %d", x.frame.Number, x.frame.Tracepoint())
	if x.frame.Stepped {
		text += ", while stepping"
	}
	if w.over {
		text = "no later frame; this is " + text
	}
	return "exception", text
}

// walkCommands are the monitor commands of clients that cannot select frames.
func walkCommands() []monitorCommand {
	return []monitorCommand{{"tfind", "[N|start|end|tracepoint N]",
		"have the next continue stop at that frame, whichever comes after this one; without arguments say where this is",
		(*session).monitorFind}}
}

// monitorFind is tfind. It does not select the frame at once: the client would go on showing what it has read of another.
func (x *session) monitorFind(args string) (string, error) {
	w := x.walk
	n, err := x.findByName(strings.Fields(args))
	if err != nil {
		return err.Error() + "\n", errMonitor
	}
	// A bare tfind is a question; GDB's goes on to the next frame, which continue does here.
	if n < 0 {
		if x.frame == nil {
			return "This is outside of all frames.\n", nil
		}
		return fmt.Sprintf("This is trace frame %d, tracepoint %d.\n", x.frame.Number, x.frame.Tracepoint()), nil
	}
	frame, ok, err := x.recorded.Frame(n)
	switch {
	case err != nil:
		return err.Error() + "\n", errMonitor
	case !ok:
		return fmt.Sprintf("There is no trace frame %d: the file has %d.\n", n, x.recorded.Status().Frames), errMonitor
	}
	w.next, w.chosen = n, true
	return fmt.Sprintf("The next continue stops at trace frame %d, tracepoint %d.\n", n, frame.Tracepoint()), nil
}

// findByName finds the frame that the arguments of tfind name; -1 if there are none.
func (x *session) findByName(args []string) (int, error) {
	switch {
	case len(args) == 0:
		return -1, nil
	case len(args) == 1 && args[0] == "start":
		return 0, nil
	case len(args) == 1 && args[0] == "end":
		return max(int(x.recorded.Status().Frames)-1, 0), nil
	case len(args) == 2 && args[0] == "tracepoint":
		return x.findTracepoint(args[1])
	}
	n, err := strconv.ParseUint(args[0], 0, 31)
	if err != nil || len(args) > 1 {
		return 0, fmt.Errorf("%q is no frame: want its number, start, end, or tracepoint and its number", strings.Join(args, " "))
	}
	return int(n), nil
}

// findTracepoint finds the next frame of a tracepoint.
func (x *session) findTracepoint(number string) (int, error) {
	t, err := strconv.ParseUint(number, 0, 31)
	if err != nil {
		return 0, fmt.Errorf("%q is no number of a tracepoint", number)
	}
	n, ok, err := x.recorded.Find(tfile.Query{Kind: tfile.ByTracepoint, Tracepoint: trace.Number(t)}, x.walk.next)
	if err == nil && !ok {
		err = fmt.Errorf("there is no later frame of tracepoint %d", t)
	}
	return n, err
}
