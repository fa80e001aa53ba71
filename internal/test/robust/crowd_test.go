//go:build linux

package robust

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestCrowd has a thousand threads. A client looks at each one, the program is stopped and goes on, and a tracepoint whose
// instruction can only be executed while all others are held is hit.
func TestCrowd(t *testing.T) {
	const threads, calls = 1000, 10
	s := serveReading(t, nil, "crowd", strconv.Itoa(threads), strconv.Itoa(calls))
	c := s.connect()
	c.runTo(s.at("ready"))
	list := c.threads()
	if len(list) != threads+1 {
		t.Fatalf("%d threads, want %d", len(list), threads+1)
	}
	c.looksAt(list)
	site := s.at("site_stepped")
	c.trace(site)
	for called := false; !called; _, called = s.line("called") {
		c.goOn()
		c.wants(c.interrupt(), "T02")
	}
	c.wantHits(1, site, calls)
	c.goOn()
	s.end()
	c.wants(c.hear(), "W00")
	s.rightResults()
	s.soundServer()
}

// looksAt asks of each thread what GDB asks for "info threads". The server must not look at all threads for each packet about
// one; what it reads shows whether it does.
func (c *client) looksAt(threads []string) {
	c.Helper()
	const packets = 4
	before := c.serverReads()
	for _, th := range threads {
		c.do("Hg%s", th)
		c.do("T%s", th)
		c.wants(c.ask("qThreadExtraInfo,%s", th), "")
		sp := c.register(registerSP)
		c.wants(c.ask("m%x,8", sp), "")
	}
	if reads, most := c.serverReads()-before, 10*packets*len(threads); reads > most {
		c.Errorf("the server has read %d times to answer about %d threads, want at most %d", reads, len(threads), most)
	}
}

// serverReads is how many system calls the server has made that read.
func (s *subject) serverReads() int {
	s.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", s.server.PID()))
	if err != nil {
		s.Fatalf("the kernel does not count a process's system calls: %v", err)
	}
	_, line, _ := strings.Cut(string(text), "syscr:")
	var n int
	if _, err := fmt.Sscan(line, &n); err != nil {
		s.Fatalf("no count of reads in %q: %v", text, err)
	}
	return n
}
