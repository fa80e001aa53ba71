//go:build linux

package robust

import (
	"fmt"
	"strconv"
	"testing"

	"tracewell/arch"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/trace"
)

// TestLargeBuffer fills a large trace buffer and reads it as GDB's tsave does, after which the server must not have much more
// memory than that. Looking for frames takes no walk that a client would notice.
func TestLargeBuffer(t *testing.T) {
	const calls, size = 2048, 64 << 20
	const slack = 16 << 20 // for the rest of the server
	s := serveReading(t, nil, "crowd", "0", strconv.Itoa(calls))
	c := s.connect()
	handles := s.symbols["handles"]
	site := s.at("tick")
	command(c, request.TraceInit)
	do(c, request.BufferSize, size+64*calls)
	c.define(trace.Tracepoint{Number: 1, Addr: arch.Addr(site), Enabled: true, Actions: []trace.Action{
		{Kind: trace.CollectMemory, Base: trace.Absolute, Offset: handles.Value, Length: handles.Size},
	}})
	command(c, request.TraceStart)
	c.goOn()
	s.await("the end of the calls", func() bool { _, called := s.line("called"); return called })
	c.wants(c.interrupt(), "T02")
	command(c, request.TraceStop)
	c.wantHits(1, site, calls)
	c.frame(request.FrameQuery{Number: calls - 1})
	c.leaveFrames()
	length := 0
	for n := -1; n != 0; length += n {
		n = len(call(c, request.ReadBuffer, request.BufferPart{Offset: int64(length), Length: 1 << 16}, reply.Buffer))
	}
	if length < size {
		t.Errorf("%d bytes read, want more than %d", length, size)
	}
	if now, most := s.serverMemory(), length*5/4+slack; now > most {
		t.Errorf("the server has %d bytes of memory for %d of frames, want at most %d", now, length, most)
	}
	s.soundServer()
}

// TestHugeBuffer gives a trace buffer of 64 GiB to a run of a hundred frames: it takes no memory but for those.
func TestHugeBuffer(t *testing.T) {
	const calls, frames, size = 2048, 100, 64 << 30
	s := serveReading(t, nil, "crowd", "0", strconv.Itoa(calls))
	c := s.connect()
	before := s.serverMemory()
	command(c, request.TraceInit)
	do(c, request.BufferSize, size)
	site := s.at("tick")
	c.define(trace.Tracepoint{Number: 1, Addr: arch.Addr(site), Enabled: true, Pass: frames, Actions: []trace.Action{
		{Kind: trace.CollectRegisters, Mask: []byte{0xff}},
	}})
	command(c, request.TraceStart)
	c.goOn()
	s.await("the end of the calls", func() bool { _, called := s.line("called"); return called })
	c.wants(c.interrupt(), "T02")
	c.wants(c.ask("qTStatus"), fmt.Sprintf("T0;tpasscount:1;tframes:%x;", frames))
	c.wantHits(1, site, frames)
	if taken := s.serverMemory() - before; taken > 64<<20 {
		t.Errorf("the server has taken %d bytes of memory for %d frames", taken, frames)
	}
	c.wants(c.ask("QTBuffer:size:%x", size+1), "E")
	s.soundServer()
}
