package firmware

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// Acks is how a stub wants its packets acknowledged.
type Acks int

const (
	SendAcks     Acks = iota // by +, each before the next packet
	ImplicitAcks             // by the next packet; QEMU for whole machines stops at a + that comes while it runs
	NoAcks                   // not at all, after QStartNoAckMode
)

// Hit is what a hit at a stub is, for Floor.
type Hit struct {
	Site   uint64 // address of the breakpoint
	Kind   int    // its kind, as in Z0
	Memory uint64 // address of the 16 bytes that are read
	Acks   Acks
	Harts  int // with more than one, the one that has hit is stepped alone
}

// Floor returns what a hit costs at a stub at least: the median time of n rounds of c, g, m of 16 bytes and s, with a breakpoint
// that stays inserted while s leaves it. The program is stopped before and after, and has to get to the breakpoint again and again.
func Floor(conn io.ReadWriter, hit Hit, n int) (time.Duration, error) {
	s := &bare{w: conn, r: bufio.NewReader(conn), acks: SendAcks}
	if hit.Acks == NoAcks {
		if got := s.exchange("QStartNoAckMode"); s.err == nil && got != "OK" {
			return 0, fmt.Errorf("the answer to QStartNoAckMode is %q", got)
		}
	}
	s.acks = hit.Acks
	breakpoint := fmt.Sprintf("0,%x,%d", hit.Site, hit.Kind)
	if got := s.exchange("Z" + breakpoint); s.err == nil && got != "OK" {
		return 0, fmt.Errorf("the answer to Z%s is %q", breakpoint, got)
	}
	read := fmt.Sprintf("m%x,10", hit.Memory)
	times := make([]time.Duration, n)
	for i := range times {
		began := time.Now()
		stop := s.exchange("c")
		registers := s.exchange("g")
		memory := s.exchange(read)
		step := s.exchange(hit.step(stop))
		times[i] = time.Since(began)
		switch {
		case s.err != nil:
			return 0, s.err
		case stop[0] != 'T' && stop[0] != 'S' || step[0] != 'T' && step[0] != 'S' || registers[0] == 'E' || memory[0] == 'E':
			return 0, fmt.Errorf("hit %d: the answers to c, g, %s, s are %q, %q, %q, %q", i, read, stop, registers, memory, step)
		}
	}
	s.exchange("z" + breakpoint)
	slices.Sort(times)
	return times[n/2], s.err
}

// step is the packet that steps the thread of a stop.
func (h *Hit) step(stop string) string {
	if h.Harts <= 1 {
		return "s"
	}
	_, thread, _ := strings.Cut(stop, "thread:")
	thread, _, _ = strings.Cut(thread, ";")
	return "vCont;s:" + thread
}

// bare is a connection in as little code as possible: replies are neither verified nor unpacked.
type bare struct {
	w    io.Writer
	r    *bufio.Reader
	acks Acks
	err  error // the first one; after it nothing is sent
}

// exchange sends a packet and returns the reply, which has at least one byte unless there is an error.
func (s *bare) exchange(packet string) string {
	if s.err != nil {
		return ""
	}
	var sum byte
	for _, c := range []byte(packet) {
		sum += c
	}
	if _, s.err = fmt.Fprintf(s.w, "$%s#%02x", packet, sum); s.err != nil {
		return ""
	}
	var text []byte
	if _, s.err = s.r.ReadSlice('$'); s.err != nil { // after the + for the packet
		return ""
	}
	if text, s.err = s.r.ReadBytes('#'); s.err != nil {
		return ""
	}
	if _, s.err = s.r.Discard(2); s.err == nil && s.acks == SendAcks {
		_, s.err = io.WriteString(s.w, "+")
	}
	if text = bytes.TrimSuffix(text, []byte("#")); len(text) == 0 && s.err == nil {
		s.err = fmt.Errorf("%s is not supported", packet)
	}
	return string(text)
}

// Floor returns Floor's time for n hits of step at this machine's stub, which must have no client yet. The machine is not to be used
// for anything else.
func (m *Machine) Floor(t testing.TB, n int) time.Duration {
	t.Helper()
	hit := Hit{Site: m.Program.Address(t, "step"), Kind: 4, Memory: m.Program.Address(t, "points"), Acks: m.acks, Harts: m.Program.Board.Harts()}
	if m.Program.Board == CortexM3 {
		hit.Kind = 2 // Thumb, 16 bits
	}
	if m.Program.Board == LinuxX86 {
		hit.Kind = 1
	}
	took, err := Floor(m.Connect(t), hit, n)
	if err != nil {
		t.Fatalf("the floor at %v: %v", m.Program.Board, err)
	}
	return took
}
