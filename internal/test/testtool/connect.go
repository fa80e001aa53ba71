package testtool

import (
	"io"
	"testing"
	"time"
)

// streams are the standard streams of a process, as a connection.
type streams struct {
	io.Reader
	io.Writer
}

// Connect starts a tool and returns a connection to its standard input and output. The tool has a minute, and is to end with its input
// when the test ends.
func Connect(t testing.TB, tool string, args ...string) io.ReadWriter {
	t.Helper()
	cmd := Command(t, tool, args...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timeout := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	t.Cleanup(func() {
		stdin.Close()
		io.Copy(io.Discard, stdout)
		cmd.Wait()
		timeout.Stop()
	})
	return streams{stdout, stdin}
}
