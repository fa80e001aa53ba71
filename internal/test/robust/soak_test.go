//go:build linux

package robust

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"tracewell/internal/sys"
	"tracewell/rsp/request"
)

var soak = flag.Duration("soak", 6*time.Second, "how long TestSoak and TestSoakWithGDB go on, each half of it")

// relay is a program under soak: 200 threads that come and go, with a tracepoint in the code of each.
type relay struct {
	*subject
	places  []uint64 // of the tracepoints; every other one is switched off and on, beginning with the second
	settled int      // the server's memory after the first connection
}

const (
	connections = 3
	// growth of the server's memory may come from garbage not yet collected.
	growth = 32 << 20
)

func soakRelay(t *testing.T) *relay {
	t.Helper()
	const threads, calls = 200, 40
	s := serveReading(t, nil, "relay", strconv.Itoa(threads), strconv.Itoa(calls))
	r := &relay{subject: s}
	for i := range uint64(threads) {
		instruction := []uint64{0, 1, 8}[i%3] // one that is emulated, two that are executed in a slot
		r.places = append(r.places, s.at("relay_places")+16*i+instruction)
	}
	return r
}

// TestSoak has three clients one after another, of which two leave while the program runs, switch tracepoints all the while.
// Of those that are not switched no hit is lost. The program must be right and the server's memory stay what it was.
func TestSoak(t *testing.T) {
	r := soakRelay(t)
	c := r.connect()
	do(c, request.Disconnected, true)
	c.trace(r.places...)
	random := rand.New(rand.NewPCG(1, 2))
	for connection := range connections {
		if connection > 0 {
			c = r.connect()
			c.wants(c.ask("?"), "T")
		}
		c.goOn()
		for end := time.Now().Add(*soak / 2 / connections); time.Now().Before(end); {
			c.bother(random, r.places)
		}
		if connection == 0 {
			r.settled = r.serverMemory()
		}
		if connection < connections-1 {
			c.hangUp()
		}
	}
	r.finish(c)
}

// finish lets the program end, under a client that has let it go on, and looks at what there is to count.
func (r *relay) finish(c *client) {
	r.Helper()
	if now := r.serverMemory(); now > r.settled+growth {
		r.Errorf("the server has %d bytes of memory, and had %d after the first connection", now, r.settled)
	}
	r.end()
	c.wants(c.hear(), "W00")
	done := r.rightResults()
	var hits [2]uint64
	for i, place := range r.places {
		hits[i%2] += c.hits(i+1, place)
	}
	r.Logf("%v, hits %d", done.Fields, hits)
	if even := uint64(done.Int(r, "even")); hits[0] != even {
		r.Errorf("%d hits of %d calls where the tracepoints stay on", hits[0], even)
	}
	if odd := uint64(done.Int(r, "odd")); hits[1] == 0 || hits[1] >= odd {
		r.Errorf("%d hits of %d calls where tracepoints are switched, want some and not all", hits[1], odd)
	}
	r.soundServer()
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
	// Not all need have been started, and a thread may still be there beside the one that goes on in its place.
	if n, most := len(c.threads()), 1+2*len(places); n == 0 || n > most {
		c.Errorf("%d threads, want from 1 to %d", n, most)
	}
	c.wants(c.ask("QTFrame:%x", random.IntN(1000)), "F")
	c.leaveFrames()
	c.goOn()
}

// serverMemory is how many bytes of memory the server has, its code not included.
func (s *subject) serverMemory() int {
	s.Helper()
	total := 0
	for _, of := range []string{"RssAnon", "RssShmem"} {
		field, err := sys.StatusField(s.server.PID(), of)
		kilobytes := 0
		if _, bad := fmt.Sscan(field, &kilobytes); err != nil || bad != nil {
			s.Fatalf("%s is %q, %v", of, field, err)
		}
		total += kilobytes << 10
	}
	return total
}
