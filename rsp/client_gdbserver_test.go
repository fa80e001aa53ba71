package rsp_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"tracewell/internal/test/testtool"
	"tracewell/rsp"
)

// pipes is the connection to a process over its standard streams.
type pipes struct {
	io.Reader
	io.Writer
}

// startGDBServer runs a program under GDB's own stub and connects to it. All that the stub sends is also kept in wire.
func startGDBServer(t *testing.T, program string) (c *rsp.Client, wire *bytes.Buffer) {
	t.Helper()
	conn := testtool.Connect(t, "gdbserver", "--once", "stdio", program) // ends its program, and itself, with its input
	wire = new(bytes.Buffer)
	return rsp.NewClient(pipes{io.TeeReader(conn, wire), conn}), wire
}

// TestGDBServer checks the client against the stub that everybody's stub is measured by: acknowledgments and their end,
// features, runs in replies, and escapes in a binary one.
func TestGDBServer(t *testing.T) {
	c, wire := startGDBServer(t, "/bin/true")
	exchange := func(packet string) string {
		t.Helper()
		reply, err := c.Exchange(packet)
		if err != nil {
			t.Fatalf("Exchange(%q): %v", packet, err)
		}
		return reply
	}

	features, err := rsp.ParseFeatures(exchange("qSupported:multiprocess+"))
	if err != nil {
		t.Fatal(err)
	}
	if features.Value("PacketSize") == "" || !features.Has("qXfer:features:read") || !features.Has("multiprocess") {
		t.Fatalf("features %v lack what every gdbserver has", features)
	}
	if exchange("vMustReplyEmpty") != "" {
		t.Error("the reply to an unknown packet is not empty")
	}
	if exchange("QStartNoAckMode") != "OK" {
		t.Fatal("gdbserver cannot do without acknowledgments")
	}
	c.NoAck()

	s := rsp.NewScanner(strings.TrimPrefix(exchange("qC"), "QC"))
	id := s.Thread()
	if s.End() != nil || id.PID <= 0 || id.TID != id.PID {
		t.Errorf("thread %v, %v", id, s.End())
	}
	if exchange("Hg"+id.String()) != "OK" {
		t.Error("gdbserver does not know its own thread")
	}
	wire.Reset()
	registers := exchange("g")
	if !bytes.ContainsRune(wire.Bytes(), '*') {
		t.Errorf("gdbserver sent registers without runs: %q", wire)
	}
	if _, err := rsp.ParseHexBytes(strings.ReplaceAll(registers, "x", "0")); err != nil {
		t.Errorf("registers are not hexadecimal: %v", err)
	}
	wire.Reset()
	const auxv = 4096
	vector := exchange("qXfer:auxv:read::0," + string(rsp.AppendHex(nil, auxv)))
	if len(vector)%16 != 1 || !strings.HasPrefix(vector, "l") {
		t.Errorf("the auxiliary vector is %d bytes that begin with %.1q", len(vector), vector)
	}
}
