//go:build linux

package proxy

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/sys"
	"tracewell/internal/test/fakestub"
	"tracewell/rsp/client"
	"tracewell/target/remote"
)

// TestDevice has the stub at the other end of a terminal line, which begins in the state that changes what passes: a run is collected
// through it, and nothing is left in the program.
func TestDevice(t *testing.T) {
	q := fakestub.Plain
	q.BinaryRead = true
	s := fakestub.New(fakestub.Config{Quirks: q, InRAM: true})
	t.Cleanup(s.Close)
	master, path, err := sys.OpenTerminalPair()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	held, err := os.OpenFile(path, os.O_RDWR, 0) // a terminal that nobody has open hangs up
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { held.Close() })
	served := make(chan struct{})
	go func() {
		_ = s.Serve(unclosed{master})
		close(served)
	}()
	t.Cleanup(func() { // ahead of the stub, which a session would have begin another run
		master.Close()
		<-served
	})
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	b := &bench{T: t, stub: s, err: file}
	b.p = &proxy{command: &Command{To: path, Patience: patient}, streams: console.Streams{Out: file, Err: file}}
	if b.p.address, err = remote.ParseAddress(path); err != nil {
		t.Fatal(err)
	}
	b.must(b.p.prepare())
	b.must(b.p.connect())
	b.session(func(c *client.Client, say func(string) string) {
		say("?")
		say("QTinit")
		b.begin(c, say)
		for s.Passes(0) < 20 {
			time.Sleep(time.Millisecond)
		}
		b.must(c.Interrupt())
		if stop, err := c.AwaitStop(time.Now().Add(patient)); err != nil || stop.Kind != 'T' {
			t.Errorf("%+v, %v", stop, err)
		}
		if got := say("QTFrame:5"); got != "F5T1" {
			t.Errorf("frame: %s", got)
		}
		say("QTFrame:ffffffff")
		say("D")
	})
	b.p.close()
	if len(s.Inserted()) > 0 {
		t.Errorf("left behind: %q\n%s", s.Inserted(), b.printed())
	}
}

// unclosed is a line that the stub keeps open when a client has gone.
type unclosed struct{ io.ReadWriter }

// Close implements io.Closer.
func (unclosed) Close() error { return nil }
