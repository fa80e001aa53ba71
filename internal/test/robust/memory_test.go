//go:build linux

package robust

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"testing"

	"tracewell/arch"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
)

// TestBreakpointsInMemory reads and writes the code around breakpoints, one of which the program is stopped at. Reads show the
// program's own bytes, and what is written takes effect, with the breakpoints staying where they are.
func TestBreakpointsInMemory(t *testing.T) {
	const calls = 5
	s := serve(t, nil, "spin", fmt.Sprint(calls), "nop")
	c := s.connect()
	at := s.at("tick_nop")
	const (
		before = "90488d0437c3" // nop; lea (%rdi,%rsi),%rax; ret
		after  = "488d443701c3" // lea 1(%rdi,%rsi),%rax; ret
	)
	shows := func(code string) {
		t.Helper()
		if got := c.ask("m%x,6", at); got != code {
			t.Errorf("the code is shown as %s, want %s", got, code)
		}
		if got := hex.EncodeToString([]byte(c.ask("x%x,4", at+1))); got != "62"+code[2:10] {
			t.Errorf("part of the code is shown as %s, want 62%s", got, code[2:10])
		}
	}
	c.insert(at)
	c.goOn()
	c.wants(c.hear(), "T05")
	c.insert(at + 5)
	shows(before)

	c.do("M%x,6:%s", at, after)
	shows(after)
	c.stepOff(at)
	c.goOn()
	c.wants(c.hear(), "T05")
	if pc := c.register(registerPC); pc != at+5 {
		t.Errorf("the program stopped at %#x, not at the breakpoint on the ret at %#x", pc, at+5)
	}
	c.remove(at + 5)
	c.goOn()
	c.wants(c.hear(), "T05")
	if pc := c.register(registerPC); pc != at {
		t.Errorf("the program stopped at %#x, not at the breakpoint at %#x", pc, at)
	}
	c.do("X%x,1:%c", at+4, 2) // the call in which it is stopped adds 2, the others 1
	shows("488d443702c3")
	c.remove(at)
	shows("488d443702c3")
	c.runTo(at + 5)
	c.do("M%x,1:01", at+4)
	c.goOn()
	c.wants(c.hear(), "W01")
	s.await("the program's last line", func() bool { _, ok := s.line("done"); return ok })
	if done, _ := s.line("done"); done.Int(t, "wrong") != calls {
		t.Errorf("%v: the code was replaced before the first call, so all %d were to be wrong", done, calls)
	}
}

// TestBreakpointInNewCode has the program write new code over a breakpoint, and inserts it again without removing it, as GDB
// does in a library that was loaded where another one had been.
func TestBreakpointInNewCode(t *testing.T) {
	s := serve(t, nil, "pages", "rewrite", "4")
	c := s.connect()
	c.runTo(s.at("ready"))
	code := c.register(registerDI)
	c.insert(code)
	c.goOn()
	c.wants(c.hear(), "T05")
	c.stepOff(code)
	c.runTo(s.at("write_code"))
	top := request.Extent{Addr: arch.Addr(c.register(registerSP)), Length: 8}
	c.runTo(binary.LittleEndian.Uint64(call(c, request.ReadMemory, top, reply.Bytes)))

	c.insert(code)
	s.wantShown(c, code, "4889f84883c003c3")
	c.goOn()
	c.wants(c.hear(), "T05")
	if pc := c.register(registerPC); pc != code {
		t.Errorf("the program stopped at %#x, want %#x", pc, code)
	}
	c.remove(code)
	s.wantMemory(c, code, "4889f84883c003c3")
	c.goOn()
	c.wants(c.hear(), "W00")
	s.rightResults()
}

// wantShown fails the test unless a client is shown certain bytes at addr.
func (s *subject) wantShown(c *client, addr uint64, want string) {
	s.Helper()
	if got := c.ask("m%x,%x", addr, len(want)/2); got != want {
		s.Errorf("memory at %#x is %s for a client, want %s", addr, got, want)
	}
}
