package remote_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/rsp"
	"tracewell/target"
	"tracewell/target/remote"
	"tracewell/tdesc/machine"
)

// recorded is a connection to a stub that answers as one has in a recorded session: packets that came several times get their replies
// in that order, the last of them for ever. What the recording left out is put in by hand: documents, the end of long replies, the pc.
type recorded struct {
	replies  map[string][]string
	acts     []string // what the recorded client sent to insert, remove, continue and step, and what this one did
	own      []string
	unknown  map[string]bool // packets that are not in the recording
	document []byte
	pc       uint64
	inserted map[string]bool

	decoder *rsp.Decoder
	conn    rsp.Conn
	out     []byte
}

// openSession reads a recording.
func openSession(t *testing.T, file string) *recorded {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &recorded{
		replies: make(map[string][]string), unknown: make(map[string]bool), inserted: make(map[string]bool), pc: 0x80000000,
		decoder: rsp.NewDecoder(1 << 16), document: machine.RISCV{Bits: 64}.Target().XML(),
	}
	packet := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if sent, ok := strings.CutPrefix(line, "> "); ok {
			packet = sent
			if i := strings.Index(packet, "vCo"); strings.HasPrefix(packet, "qSupported") && i > 0 { // which is cut there
				packet = "qSupported"
			}
			if acts(packet) {
				s.acts = append(s.acts, packet)
			}
		} else if reply, ok := strings.CutPrefix(line, "<"); ok {
			s.replies[packet] = append(s.replies[packet], strings.TrimPrefix(reply, " "))
		}
	}
	return s
}

// acts reports whether a packet inserts or removes a breakpoint or lets the program run.
func acts(packet string) bool {
	return len(packet) > 2 && (packet[0] == 'Z' || packet[0] == 'z') || strings.HasPrefix(packet, "vCont;")
}

// Write takes packets, and puts the replies where Read finds them.
func (s *recorded) Write(b []byte) (int, error) {
	s.decoder.Feed(b)
	for token, ok := s.decoder.Next(); ok; token, ok = s.decoder.Next() {
		s.out = s.conn.Acknowledge(s.out, token)
		if token.Kind == rsp.Packet {
			s.take(string(token.Payload))
		}
	}
	return len(b), nil
}

// take answers a packet.
func (s *recorded) take(packet string) {
	switch { // one thread, so that these are the same
	case packet == "c":
		packet = "vCont;c"
	case packet == "s":
		packet = "vCont;s:0;c:0"
	case strings.HasPrefix(packet, "qSupported"):
		packet = "qSupported"
	case strings.HasPrefix(packet, "qXfer:threads:read::0,"): // the document is short
		packet = "qXfer:threads:read::0,1000"
	}
	if acts(packet) {
		s.own = append(s.own, packet)
	}
	list := s.replies[packet]
	if len(list) > 1 {
		s.replies[packet] = list[1:]
	}
	reply := ""
	if len(list) > 0 {
		reply = list[0]
	}
	kind, args, _ := strings.Cut(packet, ",")
	switch {
	case reply == "OK" && kind == "Z0":
		s.inserted[args] = true
	case reply == "OK" && kind == "z0":
		delete(s.inserted, args)
	case packet == "vCont;c":
		for at := range s.inserted {
			fmt.Sscanf(at, "%x", &s.pc)
		}
	case strings.HasPrefix(packet, "vCont;s") && !s.inserted[fmt.Sprintf("%x,2", s.pc)]: // at one that is inserted it does not move
		s.pc += 2
	}
	switch {
	case strings.HasPrefix(packet, "qXfer:features:read:target.xml:"):
		var offset, length int
		fmt.Sscanf(packet, "qXfer:features:read:target.xml:%x,%x", &offset, &length)
		rest := s.document[min(offset, len(s.document)):]
		reply = "l" + string(rest)
		if len(rest) > length {
			reply = "m" + string(rest[:length])
		}
	case packet == "qSupported":
		reply = reply[:strings.LastIndex(reply, ";")] + ";vContSupported+"
	case packet == "g":
		reply = s.block()
	case packet[0] == 'p': // which GDB had no use for
		var register int
		fmt.Sscanf(packet, "p%x", &register)
		reply = s.block()[16*register:][:16]
	case strings.HasPrefix(packet, "m"):
		reply = "E0E" // reads were left out
	case strings.HasPrefix(reply, "O..."): // text, and a reply that was not recorded
		s.out = s.conn.AppendPacket(s.out, []byte("O"))
		reply = "OK"
	case list == nil:
		s.unknown[packet] = true
	}
	s.out = s.conn.AppendPacket(s.out, []byte(reply))
	if packet == "QStartNoAckMode" && reply == "OK" {
		s.conn.StartNoAck()
	}
}

// block is the recorded reply to g, which was cut, with the pc at its end.
func (s *recorded) block() string {
	block := s.replies["g"][0]
	return block + strings.Repeat("0", 32*16-len(block)) + string(rsp.AppendHexBytes(nil, binary.LittleEndian.AppendUint64(nil, s.pc)))
}

// Read returns what there is.
func (s *recorded) Read(b []byte) (int, error) {
	if len(s.out) == 0 {
		return 0, os.ErrDeadlineExceeded // somebody reads who has asked for nothing
	}
	n := copy(b, s.out)
	s.out = s.out[:copy(s.out, s.out[n:])]
	return n, nil
}

// Close implements io.Closer.
func (s *recorded) Close() error { return nil }

// TestOpenOCDSession debugs OpenOCD 0.12 as it answered stock GDB: two stops at a breakpoint, of which one does not count, and a step.
// The target inserts, lifts, steps and continues in the order in which GDB did. But for single registers and the older list of threads
// it sends nothing that OpenOCD was not seen to answer.
func TestOpenOCDSession(t *testing.T) {
	s := openSession(t, "../../rsp/request/testdata/gdb-openocd-rv64.txt")
	r, err := remote.Open(s, remote.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p := r.Profile(); p.Name != "openocd" || len(r.Threads()) != 1 {
		t.Fatalf("%+v, threads %v", p, r.Threads())
	}
	id := r.Threads()[0]
	ra, err := r.ReadRegister(id, 1)
	if want := uint64(0x8000000e); err != nil || binary.LittleEndian.Uint64(ra) != want {
		t.Errorf("ra is % x, %v, want %#x", ra, err, want)
	}
	asked := 0
	err = r.InsertBreakpoint(id, target.Breakpoint{Kind: target.Software, Addr: 0x80000012, Length: 2, Check: func(target.Snapshot) bool {
		asked++
		return asked == 2
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []target.Verb{target.Go, target.StepOne} {
		if err := r.Resume([]target.Action{everything(verb)}); err != nil {
			t.Fatal(err)
		}
		if ev := <-r.Events(); ev.Kind != target.Stopped || ev.Signal != target.SignalTrap {
			t.Errorf("%v: %+v, %v", verb, ev, r.Err())
		}
	}
	if asked != 2 || s.pc != 0x80000014 {
		t.Errorf("the breakpoint was asked %d times, and the pc is %#x", asked, s.pc)
	}
	const alike = 8 // GDB removed the breakpoint then
	if got, want := s.own[:min(alike, len(s.own))], s.acts[:alike]; !slices.Equal(got, want) {
		t.Errorf("sent %q, GDB had sent %q", got, want)
	}
	for kind, addr := range map[target.BreakKind]arch.Addr{target.Hardware: 0x8000000a, target.WriteWatch: 0x80100000} {
		length := 2
		if kind == target.WriteWatch {
			length = 4
		}
		if err := r.InsertBreakpoint(id, target.Breakpoint{Kind: kind, Addr: addr, Length: length}); err == nil {
			t.Errorf("OpenOCD had refused kind %v", kind)
		}
	}
	if err := r.Close(); err != nil || len(s.inserted) > 0 {
		t.Errorf("%v; left behind: %v", err, s.inserted)
	}
	if delete(s.unknown, "qfThreadInfo"); len(s.unknown) > 0 {
		t.Errorf("the recording has none of %q", slices.Sorted(maps.Keys(s.unknown)))
	}
}
