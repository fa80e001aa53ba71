//go:build linux

package robust

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
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
	c.do("QTinit")
	c.do("QTBuffer:size:%x", size+64*calls)
	c.do("QTDP:1:%x:E:0:0-", site)
	c.do("QTDP:-1:%x:M-1,%x,%x", site, handles.Value, handles.Size)
	c.do("QTStart")
	c.goOn()
	s.await("the end of the calls", func() bool { _, called := s.line("called"); return called })
	c.wants(c.interrupt(), "T02")
	c.do("QTStop")
	c.wantHits(1, site, calls)
	c.wants(c.ask("QTFrame:%x", calls-1), fmt.Sprintf("F%xT1", calls-1))
	c.do("QTFrame:ffffffff")
	length := 0
	for reply := ""; reply != "l"; length += len(reply) / 2 {
		if reply = c.ask("qTBuffer:%x,10000", length); strings.HasPrefix(reply, "E") {
			t.Fatal(reply)
		}
	}
	if length < size {
		t.Errorf("%d bytes read, want more than %d", length, size)
	}
	if now, most := s.serverMemory(), length*5/4+slack; now > most {
		t.Errorf("the server has %d bytes of memory for %d of frames, want at most %d", now, length, most)
	}
	s.soundServer()
}
