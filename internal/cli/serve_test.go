package cli

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tracewell/internal/linux"
	"tracewell/rsp"
)

var pidText = regexp.MustCompile(`(pid = |process(?:\(es\):)? )\d+`)

// withoutPIDs replaces the process numbers in gdbserver's messages.
func withoutPIDs(s string) string { return pidText.ReplaceAllString(s, "${1}N") }

// TestStandardIO serves a client that says nothing, and programs that cannot be started, over standard input and output. What is
// printed is what gdbserver 13.1 prints.
func TestStandardIO(t *testing.T) {
	for line, want := range map[string]outcome{
		"stdio true": {"", "stdin/stdout redirected\nProcess true created; pid = N\nRemote debugging using stdio\n" +
			"Killing process(es): N\n", statusDone},
		"stdio non-existing-program": {"", "stdin/stdout redirected\nexec: non-existing-program: not found\n" +
			"During startup program exited with code 127.\nExiting\n", statusFailure},
		"- /etc/passwd": {"", "stdin/stdout redirected\nexec: /etc/passwd: permission denied\n" +
			"During startup program exited with code 126.\nExiting\n", statusFailure},
	} {
		got := run(t, append([]string{"serve"}, strings.Fields(line)...)...)
		if got.stderr = withoutPIDs(got.stderr); got != want {
			t.Errorf("%q: %+v, want %+v", line, got, want)
		}
	}
}

// TestTakenPort: a harness that finds a port taken by these words tries the next one; the program is not started.
func TestTakenPort(t *testing.T) {
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	got := run(t, "serve", listener.Addr().String(), "true")
	if want := (outcome{"", "Can't bind address: Address already in use.\nExiting\n", statusFailure}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestSerialLine serves a client at the other end of a pseudo-terminal, who is not offered to do without acknowledgments.
func TestSerialLine(t *testing.T) {
	master, path, err := linux.OpenTerminalPair()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	messages, err := os.Create(filepath.Join(t.TempDir(), "messages"))
	if err != nil {
		t.Fatal(err)
	}
	defer messages.Close()
	status := make(chan int, 1)
	go func() {
		status <- Run([]string{"serve", "--once", path, "sleep", "60"}, Streams{In: null, Out: messages, Err: messages})
	}()
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(content(t, messages.Name()), "using"); {
		if time.Now().After(deadline) {
			t.Fatalf("the server is not ready: %q", content(t, messages.Name()))
		}
		time.Sleep(5 * time.Millisecond)
	}

	c := rsp.NewClient(master)
	features, err := c.Exchange("qSupported:swbreak+")
	if err != nil || !strings.Contains(features, "PacketSize=") || strings.Contains(features, "QStartNoAckMode") {
		t.Errorf("qSupported: %q, %v", features, err)
	}
	if reply, err := c.Exchange("?"); err != nil || !strings.HasPrefix(reply, "T05") {
		t.Errorf("?: %q, %v", reply, err)
	}
	if _, err := master.Write(rsp.AppendPacket(nil, rsp.AppendHexBytes([]byte("qRcmd,"), "exit"))); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-status:
		if got != statusDone {
			t.Errorf("exit status %d", got)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the server does not end")
	}
	want := fmt.Sprintf("Process sleep created; pid = N\nRemote debugging using %s\nKilling process(es): N\n", path)
	if got := withoutPIDs(content(t, messages.Name())); got != want {
		t.Errorf("messages %q, want %q", got, want)
	}
}
