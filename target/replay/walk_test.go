package replay

import (
	"encoding/hex"
	"net"
	"strings"
	"testing"

	"tracewell/rsp/client"
	"tracewell/stub"
)

// walker is a client that cannot select frames, as LLDB, of a file of the toy machine that is served from a frame on.
type walker struct {
	*testing.T
	client *client.Client
}

func startWalk(t *testing.T, frame int, frames ...made) *walker {
	t.Helper()
	ours, theirs := net.Pipe()
	served := make(chan error, 1)
	server := stub.New(stub.Config{Target: openToy(t, frames...).Target(), Attached: true, Frame: frame})
	go func() { served <- server.Serve(theirs) }()
	t.Cleanup(func() {
		ours.Close()
		<-served
		server.Close()
	})
	return &walker{t, client.New(ours)}
}

// says sends a packet, and expects a reply that has some text in it. Of "!" in front of a text there must be nothing.
func (w *walker) says(packet string, texts ...string) {
	w.Helper()
	got, err := w.client.Exchange([]byte(packet))
	if err != nil {
		w.Fatalf("%s: %v", packet, err)
	}
	for _, text := range texts {
		text, absent := strings.CutPrefix(text, "!")
		if strings.Contains(got, text) == absent {
			w.Errorf("%s: %s (%q: %v)", packet, got, text, !absent)
		}
	}
}

// at is what a stop at a frame says.
func at(text string) string {
	return "reason:exception;description:" + hex.EncodeToString([]byte(text)) + ";"
}

// TestWalk goes through frames by resumptions and breakpoints.
func TestWalk(t *testing.T) {
	w := startWalk(t, 0, some...)
	w.says("QEnableErrorStrings", "OK")
	w.says("?", "T05", at("trace frame 0, tracepoint 1"))
	w.says("m8000,1", "00")
	w.says("vCont;c", at("trace frame 1, tracepoint 2"))
	w.says("m8000,1", "01")
	w.says("jThreadsInfo", `"reason":"exception","description":"trace frame 1, tracepoint 2"`)
	// Breakpoints are refused where no frame is, and watchpoints everywhere.
	w.says("Z0,5000,1", "E01;", hex.EncodeToString([]byte("no frame of the trace file is at 0x5000; it has tracepoints at 0x3000, 0x2100")))
	w.says("Z2,8000,1", "E01;")
	w.says("Z0,1000,1", "OK")
	w.says("vCont;c", "T05", "!reason")
	w.says("m8000,1", "02")
	// A client that resumes at a breakpoint removes it and steps first, which leads out of the frame and not to the next.
	off := func() {
		w.Helper()
		w.says("z0,1000,1", "OK")
		w.says("vCont;s:1", "T05", "!reason")
		w.says("m8000,1", "E01;")
		w.says("Z0,1000,1", "OK")
	}
	off()
	w.says("vCont;c", "T05", "!reason")
	w.says("m8000,1", "06")
	off()
	w.says("vCont;c", at("no later frame; this is trace frame 6, tracepoint 1"))
	w.says("m8000,1", "06")
	w.says("M8000,1:00", "E01;")
}

// TestWalkFrom begins at a frame of while-stepping; a step leads to the next frame where no breakpoint is.
func TestWalkFrom(t *testing.T) {
	w := startWalk(t, 4, some...)
	w.says("QEnableErrorStrings", "OK")
	w.says("?", at("trace frame 4, tracepoint 3"))
	w.says("vCont;s:1", at("trace frame 5, tracepoint 3, while stepping"))
}

// TestWalkOfNothing: without frames nothing runs, and a client that selects frames resumes nothing either.
func TestWalkOfNothing(t *testing.T) {
	w := startWalk(t, 0)
	w.says("QEnableErrorStrings", "OK")
	w.says("?", "T05", "!reason")
	w.says("vCont;c", "E01;", hex.EncodeToString([]byte("the trace file has no frames")))
	w = startWalk(t, 0, some...)
	w.says("?", "T05", "!reason")
	w.says("vCont;c", "E", "!T05")
}
