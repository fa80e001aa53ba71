//go:build linux

package robust

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"tracewell/rsp"
)

// malformed are packets of which no client of a right mind would send one, each for a packet that the server knows.
var malformed = []string{
	"Hx1", "Hg", "Hgzz", "T", "Tzz", "qThreadExtraInfo,zz", "qAttached:zz",
	"p", "pzz", "p12345", "P", "P0", "P0=", "P0=zz", "P0=00", "Pffff=00", "G", "G00", "Gzz",
	"m", "m0", "m0,", "m,1", "mzz,1", "m401000,zz", "m401000,0", "m11111111111111111,1", "m401000,1,1", "m0,1",
	"x", "x0", "xzz,1", "x0,1", "M", "M0,1", "M0,1:", "M0,1:0", "M0,1:zz", "M0,2:00", "M0,1:00", "X", "X0,1", "X0,2:a", "X0,1:a",
	"vCont;", "vCont;q", "vCont;c:zz", "vCont;c:7fffffff", "vCont;r1", "vCont;r1,zz", "vCont;Czz", "vCont;c;t", "czz", "C", "Czz",
	"szz", "Szz", "QPassSignals:zz", "QPassSignals:5;zz", "vKill;", "vKill;zz", "vKill;7fffffff", "D;", "D;zz",
	"D;7fffffff", "vRun;zz", "Z0", "Z0,", "Z0,zz,1", "Z0,401000", "Z0,0,1", "z0", "zz", "z0,zz,1",
	"Z0,401000,1;X", "Z0,401000,1;X1", "Z0,401000,1;X2,27", "Z0,401000,1;X1,2700", "Z0,401000,1;cmds:", "Z0,401000,1;cmds:0,",
	"Z0,401000,1;cmds:2,X1,27", "Z0,401000,1;cmds:0,X1,zz", "QThreadEvents:", "QThreadEvents:2", "QCatchSyscalls:", "QCatchSyscalls:2",
	"QCatchSyscalls:1;", "QCatchSyscalls:1;zz", "vAttach;", "vAttach;zz", "vAttach;7fffffff", "QProgramSignals:zz",
	"qXfer:features:read:target.xml", "qXfer:features:read:target.xml:zz,1", "qXfer:features:read:none:0,100",
	"qXfer:auxv:read:x:0,1", "qXfer:auxv:read::0", "qXfer:exec-file:read:zz:0,10", "qXfer:threads:read::,",
	"qXfer:libraries-svr4:read:start=zz:0,10", "qXfer:libraries-svr4:read:start=1;prev=0:0,10",
	"qSearch:memory:", "qSearch:memory:401000;10", "qSearch:memory:401000;10;", "qSearch:memory:0;1;a", "qCRC:", "qCRC:0,1", "qCRC:401000",
	"qGetTLSAddr:", "qGetTLSAddr:zz,0,0", "qGetTLSAddr:1,0,0", "qGetTLSAddr:p7fffffff.7fffffff,0,0",
	"qXfer:siginfo:read::zz,1", "qXfer:siginfo:write::zz:", "qXfer:traceframe-info:read::0,10",
	"QTDP:", "QTDP:1", "QTDP:1:401000", "QTDP:1:401000:E", "QTDP:1:401000:Q:0:0", "QTDP:0:401000:E:0:0", "QTDP:zz:401000:E:0:0",
	"QTDP:1:401000:E:0:0:X2,00", "QTDP:1:401000:E:0:0:X1,00", "QTDP:1:401000:E:0:0:q", "QTDP:-", "QTDP:-1:401000:R03",
	"QTDP:-1", "QTDP:1:401000:E:0:0:S", "qTSTMat:", "qTSTMat:zz", "qXfer:statictrace:read::0,10", "QTSave:", "QTSave:6", "QTSave:zz",
	"QTDPsrc:", "QTDPsrc:9:1:at:0:1:61", "QTDPsrc:1:401000:on:0:1:61", "QTEnable:", "QTEnable:9:1", "QTDisable:zz:1",
	"QTDV:", "QTDV:1", "QTDV:1:zz:0:61", "QTDV:1:0:0:6", "QTro:zz", "QTro:1", "QTDisconnected:2", "QTDisconnected:",
	"QTBuffer:circular:", "QTBuffer:circular:7", "QTBuffer:size:", "QTBuffer:size:zz", "QTNotes:other:61;", "QTNotes:user:6;",
	"qTP:", "qTP:9", "qTP:9:1", "qTV:", "qTV:zz", "QTFrame:", "QTFrame:zz", "QTFrame:pc:", "QTFrame:range:1", "QTFrame:tdp:",
	"qTBuffer:", "qTBuffer:0", "qTBuffer:zz,1", "QNonStop:", "QNonStop:2", "QNonStop:10", "QAgent:", "QAgent:1", "qRcmd,6", "qRcmd,zz",
}

// strangers are packets that no server has to know.
var strangers = []string{
	"", "vMustReplyEmpty", "vFoo", "qFoo", "QFoo", "Q", "q", "v", "vCont", "vContinue", "b", "bc", "t", "_", "\x00", "\xff\xfe",
	"qSupportedX", "QTFoo", "qTFoo", "QTStartX", "qTStatusX", "qXfer:foo:read::0,1", "qXfer:features:write:target.xml:0:x",
	"Z9,0,1", "z9,0,1", strings.Repeat("q", 100000),
}

func TestMalformedPacketsAreRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, "spin", "10")
	c := s.dial()
	c.ask("qSupported:error-message+")
	before := c.ask("g")
	for _, packet := range malformed {
		if reply := c.ask("%s", packet); !strings.HasPrefix(reply, "E.") || len(reply) < len("E.a reason") {
			t.Errorf("reply to %q is %q, want E. and a reason", packet, reply)
		}
	}
	for _, packet := range strangers {
		if reply := c.ask("%s", packet); reply != "" {
			t.Errorf("reply to %.40q is %q, want the empty one", packet, reply)
		}
	}
	if c.ask("g") != before {
		t.Error("the registers have changed")
	}
	c.goOn()
	c.wants(c.hear(), "W00")
	s.rightResults()
	s.soundServer()
}

// frame is a packet as it is sent.
func frame(payload string) string { return string(rsp.AppendPacket(nil, []byte(payload))) }

// raw writes bytes as they are and returns the next bytes of a reply, as many as want.
func (c *client) raw(bytes, want string) {
	c.Helper()
	c.conn.SetDeadline(time.Now().Add(patience))
	if _, err := c.conn.Write([]byte(bytes)); err != nil {
		c.Fatal(err)
	}
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c.conn, got); err != nil || string(got) != want {
		c.Fatalf("%.40q was answered by %q (%v), want %q", bytes, got, err, want)
	}
}

func TestDamagedPackets(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, "spin", "10")
	c := s.dial()
	question, answer := frame("QTDisconnected:0"), frame("OK")
	for range 3 {
		c.raw("$QTDisconnected:0#00", "-")
		c.raw("$QTDisconnected:0#zz", "-")
	}
	c.raw(question, "+"+answer)
	for range 5 {
		c.raw("-", answer)
	}
	c.raw("+", "")
	// With everything acknowledged there is nothing to send again, and stray acknowledgments mean nothing.
	c.raw("---+++-"+question, "+"+answer)
	// Bytes between packets are skipped, and a packet that begins anew is the new one.
	c.raw("+noise\x00\xff}*"+question, "+"+answer)
	c.raw("+$QTDiscon"+question, "+"+answer)
	// One byte at a time.
	c.raw("+", "")
	for i := range len(question) - 1 {
		c.raw(question[i:i+1], "")
		time.Sleep(time.Millisecond)
	}
	c.raw(question[len(question)-1:], "+"+answer)
	// Longer than PacketSize.
	c.raw("+$"+strings.Repeat("m", 1<<20)+"#00", "+$E.")
	c.conn.SetDeadline(time.Now().Add(patience))
	for b := make([]byte, 1); b[0] != '#'; {
		if _, err := io.ReadFull(c.conn, b); err != nil {
			t.Fatal(err)
		}
	}
	io.CopyN(io.Discard, c.conn, 2)
	c.raw("+"+question, "+"+answer)
	s.soundServer()
}

// TestRandomBytes sends noise: bytes of all kinds, the protocol's own more often, and real packets with something changed in
// them. Afterwards, and for another client, the server is as it was.
func TestRandomBytes(t *testing.T) {
	t.Parallel()
	s := serveReading(t, nil, "hammer", "2")
	for seed := range uint64(4) {
		c := s.dial()
		received := make(chan []byte)
		go func() {
			all, _ := io.ReadAll(c.conn)
			received <- all
		}()
		c.conn.SetDeadline(time.Now().Add(patience))
		if _, err := c.conn.Write(append([]byte("+"), noise(rand.New(rand.NewPCG(seed, 1)), 100_000)...)); err != nil {
			t.Fatal(err)
		}
		// End what may have begun; a stop, should something run; and then something with one answer.
		if _, err := c.conn.Write([]byte("#00\x03+" + frame("vMustReplyEmpty") + frame("QTFrame:ffffffff"))); err != nil {
			t.Fatal(err)
		}
		c.conn.CloseWrite()
		if all := <-received; !bytes.HasSuffix(all, []byte(frame("OK"))) {
			t.Fatalf("seed %d: the last reply is %q", seed, all[max(0, len(all)-40):])
		}
	}
	s.connect().inOrder()
	s.soundServer()
}

// noise makes n bytes or more. No packet that ends the program, or lets it run, is in it with the right checksum.
func noise(random *rand.Rand, n int) []byte {
	const frequent = "$$$##}*%+-0123456789abcdef:;,"
	out := make([]byte, 0, n)
	for len(out) < n {
		switch random.IntN(4) {
		case 0:
			for range random.IntN(200) {
				out = append(out, byte(random.Uint32()))
			}
		case 1:
			for range random.IntN(200) {
				out = append(out, frequent[random.IntN(len(frequent))])
			}
		case 2:
			packet := []byte(pick(random, malformed))
			packet[random.IntN(len(packet))] ^= 1 << random.IntN(8)
			if !slices.Contains([]byte("kDcCsSGPMXv"), packet[0]) {
				out = rsp.AppendPacket(out, packet)
			}
		case 3:
			out = append(out, rsp.AppendPacket(nil, []byte(pick(random, malformed)))[random.IntN(3):]...)
		}
	}
	return out
}

func pick[T any](random *rand.Rand, choices []T) T { return choices[random.IntN(len(choices))] }
