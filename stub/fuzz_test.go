package stub

import (
	"encoding/hex"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/rsp"
	"tracewell/target"
	"tracewell/target/fake"
)

// FuzzSession sends packets, one a line, to a session over the toy program. Whatever they are and in whatever order,
// each is answered or, if it lets the program go on, is followed by an event; and Serve returns when the client leaves.
func FuzzSession(f *testing.F) {
	fuzzSession(f, func(t *testing.T) (*Server, *fake.Target) { return toyServer(t, Config{}) })
}

// FuzzRecordedSession does so with a session over a recording.
func FuzzRecordedSession(f *testing.F) {
	fuzzSession(f, func(t *testing.T) (*Server, *fake.Target) {
		p := toyProgram()
		p.TraceRun, p.Unknown = newRecording(t), []string{"rax"}
		program, err := fake.New(p)
		if err != nil {
			t.Fatal(err)
		}
		return New(Config{Target: program, Save: func(_ string, write func(io.Writer) error) error { return write(io.Discard) }}), program
	})
}

// fuzzSession begins with the packets of the transcripts.
func fuzzSession(f *testing.F, serve func(t *testing.T) (*Server, *fake.Target)) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		var packets []string
		for line := range strings.Lines(string(text)) {
			if packet, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "> "); ok {
				packets = append(packets, packet)
			}
		}
		f.Add(strings.Join(packets, "\n"))
	}
	f.Fuzz(func(t *testing.T, script string) {
		s, program := serve(t)
		near, far := net.Pipe()
		served := make(chan error, 1)
		go func() { served <- s.Serve(far) }()
		tokens := make(chan string, 16)
		go readTokens(near, tokens, false)
		for packet := range strings.SplitSeq(script, "\n") {
			if !answered(t, near, program, packet, tokens) {
				break
			}
		}
		near.Close()
		for range tokens {
		}
		if err := <-served; err != nil && !errors.Is(err, ErrExit) && !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Serve returned %v", err)
		}
		if !s.debuggee.Unattended() && s.debuggee.Running() {
			t.Error("the program runs on without a client")
		}
		s.Close()
		if err := s.debuggee.Halt(); err != nil {
			t.Error(err)
		}
	})
}

// answered sends a packet and another that is always answered, takes what comes up to that answer, and reports whether
// the session goes on.
func answered(t *testing.T, conn net.Conn, program *fake.Target, packet string, tokens <-chan string) bool {
	program.Play(fake.Step{PC: 0x401010}, fake.Step{Event: &target.Event{Signal: target.SignalTrap}})
	frames := rsp.AppendPacket(rsp.AppendPacket(nil, []byte(packet)), []byte("Hgzz"))
	if _, err := conn.Write(frames); err != nil {
		return false
	}
	for reply := range tokens {
		// LLDB's errors have texts in hexadecimal.
		if text, numbered := strings.CutPrefix(reply, "E01;"); numbered {
			plain, err := hex.DecodeString(text)
			if err != nil {
				t.Errorf("%q was answered %q: %v", packet, reply, err)
			}
			reply = "E." + string(plain)
		}
		if strings.HasPrefix(reply, "E.H packet: offset 1: found \"zz\"") {
			return true
		}
		if strings.HasPrefix(reply, "E") && reply != "E01" && !strings.HasPrefix(reply, "E.") {
			t.Errorf("%q was answered %q, which GDB takes for an error", packet, reply)
		}
	}
	return false
}

// FuzzConnection sends bytes as they are.
func FuzzConnection(f *testing.F) {
	f.Add([]byte("+$qC#b4-\x03$vCont;c#a8\x03$QStartNoAckMode#b0$m404000,4#00%Stop:#00$$$#"))
	f.Fuzz(func(t *testing.T, input []byte) {
		s, _ := toyServer(t, Config{OnLost: Kill})
		c := &deafConn{strings.NewReader(string(input))}
		if err := s.Serve(c); err != nil && !errors.Is(err, ErrExit) {
			t.Errorf("Serve returned %v", err)
		}
	})
}

// deafConn is a client that does not listen.
type deafConn struct{ io.Reader }

func (*deafConn) Write(b []byte) (int, error) { return len(b), nil }
func (*deafConn) Close() error                { return nil }
