package replay

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/rsp"
	"tracewell/tfile"
)

// asking is what a client sends: packets, without waiting for the answers.
func asking(packets ...string) []byte {
	b := rsp.AppendPacket(nil, []byte("QStartNoAckMode"))
	b = append(b, '+')
	for _, p := range packets {
		b = rsp.AppendPacket(b, []byte(p))
	}
	return b
}

// answers are the packets in what a server sent, behind that to QStartNoAckMode.
func answers(t *testing.T, sent string) []string {
	t.Helper()
	decoder := rsp.NewDecoder(1 << 20)
	decoder.Feed([]byte(sent))
	var all []string
	for {
		token, ok := decoder.Next()
		if !ok {
			break
		}
		if token.Kind == rsp.Packet {
			all = append(all, string(token.Payload))
		}
	}
	if len(all) == 0 {
		t.Fatalf("no answer in %q", sent)
	}
	return all[1:]
}

// TestReplay serves a trace file in all forms in which files come.
func TestReplay(t *testing.T) {
	plain := []byte(clitest.Content(t, clitest.Basic))
	asText := filepath.Join(t.TempDir(), "run.txt")
	if got := clitest.Run(t, "convert", clitest.Basic, asText); got.Status != console.StatusDone {
		t.Fatal(got.Stderr)
	}
	folder := filepath.Join(t.TempDir(), "ctf")
	if got := clitest.Run(t, "convert", clitest.Basic, folder+"/"); got.Status != console.StatusDone {
		t.Fatal(got.Stderr)
	}
	for _, test := range []struct{ name, path, options string }{
		{"file", clitest.Basic, ""}, {"gzip", clitest.Pack(t, "run.tf.gz", plain), ""}, {"zstd", clitest.Pack(t, "run.tf.zst", plain), ""},
		{"text", asText, ""}, {"folder", folder, "--tdesc " + clitest.Basic}, {"order", clitest.Basic, "--byte-order little --once"},
	} {
		args := append([]string{"replay", test.path, "--listen", "-"}, strings.Fields(test.options)...)
		got := clitest.RunWith(t, clitest.Feed(t, asking("QTFrame:0", "m404080,4", "QTFrame:tdp:4", "QTFrame:54", "QTFrame:55")), args...)
		if got.Status != console.StatusDone || !strings.Contains(got.Stderr, ": 85 trace frames\n") ||
			!strings.Contains(got.Stderr, "Remote debugging using stdio\n") {
			t.Errorf("%s: exit status %d, %s", test.name, got.Status, got.Stderr)
		}
		want := "F0T2 a0524000 F4T4 F54T3 F-1"
		if got := strings.Join(answers(t, got.Stdout), " "); got != want {
			t.Errorf("%s: answered %s, expected %s", test.name, got, want)
		}
	}
}

// TestReplayDamaged serves what is whole, and says what is not.
func TestReplayDamaged(t *testing.T) {
	cut := filepath.Join(t.TempDir(), "cut.tf")
	if err := os.WriteFile(cut, []byte(clitest.Content(t, clitest.Basic))[:100_000], 0o600); err != nil {
		t.Fatal(err)
	}
	got := clitest.RunWith(t, clitest.Feed(t, asking("QTFrame:0", "QTFrame:1000")), "replay", cut, "--listen", "-")
	if want := "premature end of the trace file"; !strings.Contains(got.Stderr, want) {
		t.Errorf("not said: %s", got.Stderr)
	}
	if got := answers(t, got.Stdout); got[0] != "F0T2" || got[1] != "F-1" {
		t.Errorf("answered %q", got)
	}
}

// TestReplayRefuses says what cannot be served, without listening.
func TestReplayRefuses(t *testing.T) {
	elf := filepath.Join(t.TempDir(), "none")
	undescribed := filepath.Join(t.TempDir(), "undescribed.tf")
	if err := os.WriteFile(undescribed, []byte(tfile.Magic+"R 10\n\n\x00\x00\x00\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"/etc/passwd --listen -":                          "not a trace file",
		clitest.Basic + " --listen - --exec " + elf:       "no such file",
		clitest.Basic + " --listen - --exec /etc/passwd":  "ELF",
		clitest.Basic + " --listen - --tdesc /etc/passwd": "--tdesc",
		clitest.Basic + " --listen nowhere:":              "--listen: ",
		undescribed + " --listen -":                       "it takes a target description (--tdesc)",
		"- --listen -":                                    "cannot be both",
	} {
		got := clitest.Run(t, append([]string{"replay"}, strings.Fields(line)...)...)
		if got.Status != console.StatusFailure || got.Stdout != "" || !strings.Contains(got.Stderr, want) {
			t.Errorf("replay %s: exit status %d, %s", line, got.Status, got.Stderr)
		}
	}
}

// TestReplayClients serves one client after another, the file having come from a pipe.
func TestReplayClients(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	done := make(chan clitest.Outcome, 1)
	in := clitest.Feed(t, []byte(clitest.Content(t, clitest.Basic)))
	go func() { done <- clitest.RunWith(t, in, "replay", "-", "--listen", "unix:"+socket) }()
	for _, packet := range []string{"D", "k", "QTFrame:3", "vKill;1"} {
		conn := dial(t, socket)
		if _, err := conn.Write(asking(packet, "QTFrame:4", "qTStatus")); err != nil {
			t.Fatal(err)
		}
		var sent bytes.Buffer
		for b := make([]byte, 1<<12); !strings.Contains(sent.String(), "tframes:55"); {
			n, err := conn.Read(b)
			if err != nil {
				t.Fatalf("after %q and %q: %v", packet, sent.String(), err)
			}
			sent.Write(b[:n])
		}
		if !strings.Contains(sent.String(), "F4T") {
			t.Errorf("after %q: %q", packet, sent.String())
		}
		conn.Close()
	}
	conn := dial(t, socket)
	if _, err := conn.Write(asking("qRcmd,65786974")); err != nil { // monitor exit
		t.Fatal(err)
	}
	defer conn.Close()
	select {
	case got := <-done:
		if got.Status != console.StatusDone || strings.Count(got.Stderr, "Listening on socket") != 5 {
			t.Errorf("exit status %d, %s", got.Status, got.Stderr)
		}
	case <-time.After(time.Minute):
		t.Fatal("the server does not end")
	}
}

// dial waits until somebody listens.
func dial(t *testing.T, socket string) net.Conn {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			return conn
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// TestReplayBigEndian tells what GDB has to be told.
func TestReplayBigEndian(t *testing.T) {
	path := filepath.Join(t.TempDir(), "big.tf")
	file := tfile.Magic + "R 10\ntdesc <target><architecture>powerpc:common</architecture></target>\n\n\x00\x00\x00\x00"
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	got := clitest.RunWith(t, clitest.Feed(t, asking("?")), "replay", path, "--listen", "-", "--endian", "big")
	if got.Status != console.StatusDone || !strings.Contains(got.Stderr, "set endian big") {
		t.Errorf("exit status %d, %s", got.Status, got.Stderr)
	}
}
