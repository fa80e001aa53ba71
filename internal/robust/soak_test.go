package robust

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

var soak = flag.Duration("soak", 3*time.Second, "how long TestSoak goes on")

// TestSoak has a tracepoint in the code of each of 200 threads, which come and go, over three connections, of which two end while
// the program runs. Every other tracepoint is switched off and on all the while; of those that are not, no hit is lost. The
// program must be right and the server's memory stay what it was.
func TestSoak(t *testing.T) {
	const threads, calls, connections = 200, 40, 3
	const growth = 32 << 20 // that may come from garbage not yet collected
	s := serveReading(t, nil, "relay", strconv.Itoa(threads), strconv.Itoa(calls))
	places := make([]uint64, threads)
	for i := range places {
		instruction := []uint64{0, 1, 8}[i%3] // one that is emulated, two that are executed in a slot
		places[i] = s.at("relay_places") + 16*uint64(i) + instruction
	}
	c := s.connect()
	c.do("QTDisconnected:1")
	c.trace(places...)
	random := rand.New(rand.NewPCG(1, 2))
	var settled int
	for connection := range connections {
		if connection > 0 {
			c = s.connect()
			c.wants(c.ask("?"), "T")
		}
		c.goOn()
		for end := time.Now().Add(*soak / connections); time.Now().Before(end); {
			c.bother(random, places)
		}
		switch connection {
		case 0:
			settled = s.serverMemory()
			c.hangUp()
		case 1:
			c.hangUp()
		}
	}
	if now := s.serverMemory(); now > settled+growth {
		t.Errorf("the server has %d bytes of memory, and had %d after the first connection", now, settled)
	}
	s.end()
	c.wants(c.hear(), "W00")
	done := s.rightResults()
	var hits [2]uint64
	for i, place := range places {
		hits[i%2] += c.hits(i+1, place)
	}
	t.Logf("%v, hits %d", done.Fields, hits)
	if even := uint64(done.Int(t, "even")); hits[0] != even {
		t.Errorf("%d hits of %d calls where the tracepoints stay on", hits[0], even)
	}
	if odd := uint64(done.Int(t, "odd")); hits[1] == 0 || hits[1] >= odd {
		t.Errorf("%d hits of %d calls where tracepoints are switched, want some and not all", hits[1], odd)
	}
	s.soundServer()
}

// bother does to a running program with tracepoints what a client may: it switches some of the odd ones, and now and then
// stops the program and looks at a frame.
func (c *client) bother(random *rand.Rand, places []uint64) {
	c.Helper()
	for range 20 {
		i := random.IntN(len(places)/2)*2 + 1
		c.do("%s:%x:%x", pick(random, []string{"QTEnable", "QTDisable"}), i+1, places[i])
	}
	time.Sleep(10 * time.Millisecond)
	if random.IntN(4) > 0 {
		return
	}
	c.wants(c.interrupt(), "T02")
	if n := len(c.threads()); n < len(places)/2 {
		c.Errorf("%d threads, want about %d", n, len(places))
	}
	c.wants(c.ask("QTFrame:%x", random.IntN(1000)), "F")
	c.do("QTFrame:ffffffff")
	c.goOn()
}

// serverMemory is how many bytes of memory the server has.
func (s *subject) serverMemory() int {
	s.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.server.PID()))
	if err != nil {
		s.Fatal(err)
	}
	var kilobytes int
	_, line, _ := bytes.Cut(status, []byte("VmRSS:"))
	if _, err := fmt.Sscan(string(line), &kilobytes); err != nil {
		s.Fatalf("no VmRSS in %q: %v", status, err)
	}
	return kilobytes << 10
}
