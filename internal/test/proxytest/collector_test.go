//go:build unix

package proxytest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/internal/routine"
	"tracewell/internal/test/firmware"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testtool"
	"tracewell/rsp"
	"tracewell/target"
	"tracewell/target/remote"
	"tracewell/trace"
	"tracewell/tracepoint"
)

// spoiler is between a target and a stub with tracepoints of its own. It goes wrong at one packet.
type spoiler struct {
	packet string // its beginning
	at     int    // which of these, from 1 on
	kind   string // of wrongs
	part   int    // of the trace buffer no more bytes than these are asked for at once; 0 for no limit
	size   int    // of the trace buffer, in bytes; 0 for the stub's own

	profile *remote.Profile // of the target; nil for what it recognises

	mu       sync.Mutex // guards the rest
	seen     int
	awaiting bool // the next packet of the stub's is not to arrive
	quiet    bool
}

// wrongs are what goes wrong: the reply in place of the stub's, and whether the stub carries the packet out.
var wrongs = map[string]struct {
	reply string
	done  bool
}{
	"error": {"E01", false}, "message": {"E.not today", false}, "unknown": {"", false}, "nonsense": {"!?nonsense", false},
	"late error": {"E01", true}, "late nonsense": {"!?nonsense", true}, "OK": {"OK", false}, "end": {"l", false},
	"silence": {}, "loss": {},
}

// between returns a connection to a stub with a spoiler in it.
func (s *spoiler) between(t *testing.T, address string) net.Conn {
	t.Helper()
	ours, middle := net.Pipe()
	stub, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	var pipes routine.Group
	t.Cleanup(func() {
		stub.Close()
		middle.Close()
		pipes.Wait()
	})
	pipes.Go(func() { s.copy(stub, middle, func(payload []byte) []byte { return s.asked(middle, stub, payload) }) })
	pipes.Go(func() { s.copy(middle, stub, s.answered) })
	return ours
}

// copy copies packet by packet until either end is closed, and closes the other.
func (s *spoiler) copy(to, from net.Conn, pass func(payload []byte) []byte) {
	defer to.Close()
	defer from.Close()
	decoder, in := rsp.NewDecoder(1<<20), make([]byte, 64<<10)
	for {
		n, err := from.Read(in)
		if err != nil {
			return
		}
		decoder.Feed(in[:n])
		var out []byte
		for token, ok := decoder.Next(); ok; token, ok = decoder.Next() {
			switch token.Kind {
			case rsp.Packet:
				payload, err := rsp.ExpandRuns(nil, token.Payload)
				if err == nil {
					payload, err = rsp.Unescape(nil, payload)
				}
				if err != nil {
					return
				}
				if payload = pass(payload); payload != nil {
					out = rsp.AppendPacket(out, payload)
				}
			case rsp.Ack:
				out = append(out, '+')
			case rsp.Interrupt:
				out = append(out, 3)
			}
		}
		s.mu.Lock()
		if s.quiet {
			out = nil
		}
		s.mu.Unlock()
		if _, err := to.Write(out); err != nil {
			return
		}
	}
}

// asked passes packets to the stub.
func (s *spoiler) asked(client, stub net.Conn, payload []byte) []byte {
	if offset, _, ok := bytes.Cut(payload, []byte(",")); ok && s.part > 0 && bytes.HasPrefix(payload, []byte("qTBuffer:")) {
		payload = fmt.Appendf(nil, "%s,%x", offset, s.part)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size > 0 && string(payload) == "QTStart" {
		stub.Write(rsp.AppendPacket(nil, fmt.Appendf(nil, "QTBuffer:size:%x", s.size)))
		s.awaiting, s.size, s.kind = true, 0, "dropped"
	}
	if s.packet == "" || !bytes.HasPrefix(payload, []byte(s.packet)) {
		return payload
	}
	if s.seen++; s.seen != s.at {
		return payload
	}
	wrong := wrongs[s.kind]
	switch s.kind {
	case "silence":
		s.quiet = true
		return nil
	case "loss":
		client.Close()
		return nil
	}
	if s.awaiting = wrong.done; wrong.done {
		return payload
	}
	routine.Go(func() { client.Write(rsp.AppendPacket(nil, []byte(wrong.reply))) })
	return nil
}

// answered passes packets of the stub's.
func (s *spoiler) answered(payload []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.awaiting {
		s.awaiting = false
		if s.kind == "dropped" {
			return nil
		}
		return []byte(wrongs[s.kind].reply)
	}
	return payload
}

// collecting is a program under a stub with tracepoints of its own, and a target that uses them.
type collecting struct {
	*testing.T
	peer   *peer
	target *remote.Target
	engine *tracepoint.Engine
}

// servers are the stubs with tracepoints of their own.
func servers(t *testing.T) map[string][]string {
	t.Helper()
	return map[string][]string{"gdbserver": {testtool.Path(t, "gdbserver")}, "serve": {gdbtest.Binary(t), "serve"}}
}

// collect opens a target by way of a spoiler, and runs the program to its end under a tracepoint that collects all registers; nil if
// there is no target, or no run, which may be for a fault only.
func (s *spoiler) collect(t *testing.T, server []string, calls int, actions ...trace.Action) *collecting {
	t.Helper()
	program := firmware.Build(t, firmware.LinuxX86)
	c := &collecting{T: t, peer: underServer(t, server, firmware.Set("limit", uint32(calls)), firmware.Set("pauses", 200_000))}
	patience := remote.UsualPatience
	if s.kind == "silence" {
		patience = 2 * time.Second
	}
	var err error
	c.target, err = remote.Open(s.between(t, c.peer.address), remote.Options{Patience: patience, Profile: s.profile})
	if err != nil && s.packet != "" {
		return nil
	}
	c.must(err)
	t.Cleanup(func() { c.target.Close() })
	layout, err := tracepoint.LayoutOf(c.target)
	c.must(err)
	layout.RegisterBlock = c.target.BlockSize()
	c.engine = tracepoint.New(layout)
	c.must(c.engine.SetBufferSize(100 << 20))
	c.target.Tracer().SetHandler(c.engine.NewHandler())
	c.must(c.engine.Define(trace.Tracepoint{
		Number: 7, Addr: arch.Addr(program.Address(t, "step")), Enabled: true, Actions: actions,
	}, false))
	switch err := c.engine.Start(c.target.Tracer(), c.target.Threads()[0].PID); {
	case err == nil:
		c.run()
	case s.packet == "" || c.engine.Status().Running:
		t.Fatalf("%v; the run is %+v", err, c.engine.Status())
	default:
		return nil // the run has not begun
	}
	return c
}

func (c *collecting) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// run lets the program run to its end, or to that of the connection.
func (c *collecting) run() {
	c.Helper()
	everything := []target.Action{{Thread: target.ThreadID{PID: target.All, TID: target.All}}}
	if err := c.target.Resume(everything); err != nil {
		if c.target.Err() == nil {
			c.Error(err)
		}
		return
	}
	select {
	case <-c.target.Events():
	case <-time.After(time.Minute):
		c.Fatal("the program does not end")
	}
}

// registers is the action that collects all registers.
var registers = trace.Action{Kind: trace.CollectRegisters, Mask: []byte{0xff}}

// compare holds the frames against the calls of the program, the first of which they are, and all unless the run has ended early, with
// a reason. It returns how many frames there are.
func (c *collecting) compare(calls int) (frames int) {
	c.Helper()
	layout, err := c.target.Description().Layout()
	c.must(err)
	first := layout.ByName("rdi") // the argument i
	for f := range c.engine.Frames() {
		registers := f.Registers()
		if len(registers) < first.Offset+first.Size {
			c.Fatalf("frame %d has %d bytes of registers; the run is %+v", frames, len(registers), c.engine.Status())
		}
		if i := binary.LittleEndian.Uint32(registers[first.Offset:]); int(i) != frames || f.Tracepoint() != 7 {
			c.Fatalf("frame %d is of tracepoint %d and call %d", frames, f.Tracepoint(), i)
		}
		frames++
	}
	status := c.engine.Status()
	if early := status.Reason == trace.ReasonError && status.Description != ""; frames != calls && !early {
		c.Errorf("%d frames of %d calls, and the run is %+v; %v", frames, calls, status, c.target.Err())
	}
	return frames
}

// TestCollectorFaults has a stub with tracepoints of its own go wrong at each of their packets: nobody hangs, frames are whole and none
// is missing between two, and a run that lacks any says why.
func TestCollectorFaults(t *testing.T) {
	type fault struct {
		server, packet, kind string
		at                   int
	}
	var all []fault
	for server := range servers(t) {
		for _, packet := range []string{"QTinit", "QTDP:", "QTStart", "qTStatus", "qTBuffer:", "QTStop", "qTfV"} {
			for kind := range wrongs {
				if kind == "OK" && packet[0] == 'Q' { // nobody can find out that this is not true
					continue
				}
				for _, at := range []int{1, 2, 5} {
					all = append(all, fault{server, packet, kind, at})
				}
			}
		}
	}
	if !*whole {
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:12]
	}
	for _, f := range all {
		t.Run(strings.NewReplacer(" ", "-", ":", "").Replace(fmt.Sprintf("%s/%s %s %d", f.server, f.packet, f.kind, f.at)), func(t *testing.T) {
			t.Parallel()
			const calls = 1500
			s := &spoiler{packet: f.packet, at: f.at, kind: f.kind}
			if c := s.collect(t, servers(t)[f.server], calls, registers); c != nil {
				c.compare(calls)
			}
		})
	}
}

// TestCollectorRenews collects several times what a stub's buffer may keep, so that its run begins anew time and again: each call is
// there once, with and without tracepoints of the stub's.
func TestCollectorRenews(t *testing.T) {
	for name, server := range servers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const calls = 12_000
			c := new(spoiler).collect(t, server, calls, registers)
			if got := c.compare(calls); got != calls {
				t.Errorf("%d frames, %+v", got, c.engine.Status())
			}
			kept := c.peer.kept(t)
			if kept.Tallies[0].Calls != calls || kept.Tallies[0].Misreads != 0 {
				t.Errorf("the program has kept %+v", kept.Tallies[0])
			}
		})
	}
}

// TestCollectorSplits has the stub's buffer come in pieces of some bytes, so that each frame is cut at every byte.
func TestCollectorSplits(t *testing.T) {
	for _, part := range []int{1, 2, 3, 7, 64, 2999} {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			calls := min(300, 4*part)
			c := (&spoiler{part: part}).collect(t, servers(t)["gdbserver"], calls, registers)
			if got := c.compare(calls); got != calls {
				t.Errorf("%d frames, %+v", got, c.engine.Status())
			}
		})
	}
}

// TestCollectorFull has a stub whose buffer is full after some frames: the run says so, with the frames that there are.
func TestCollectorFull(t *testing.T) {
	t.Parallel()
	const calls = 400
	c := (&spoiler{size: 100_000}).collect(t, servers(t)["gdbserver"], calls, registers)
	if got := c.compare(calls); got < 10 || got == calls || !strings.Contains(c.engine.Status().Description, "filled up") {
		t.Errorf("%d frames, %+v", got, c.engine.Status())
	}
}

// TestCollectorUnused has a profile that keeps a stub's own tracepoints from being used: the frames are the same, and the stub has not
// heard of any. It would have lost the connection by that.
func TestCollectorUnused(t *testing.T) {
	for name, server := range servers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const calls = 100
			s := &spoiler{packet: "QT", at: 1, kind: "loss", profile: &remote.Profile{Name: "by stops", Traps: true}}
			c := s.collect(t, server, calls, registers)
			if c == nil {
				t.Fatal("there is no run")
			}
			if got := c.compare(calls); got != calls {
				t.Errorf("%d frames, %+v", got, c.engine.Status())
			}
		})
	}
}
