// Package stubs is the real stubs with tracepoints that tests record by, and relays that change what stubs say.
package stubs

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/recording"
	"tracewell/internal/test/testtool"
	"tracewell/record"
	"tracewell/rsp/client"
	"tracewell/target/remote"
	"tracewell/tfile"
)

// Each runs a test by this tree's server (nil), and by gdbserver.
func Each(t *testing.T, test func(t *testing.T, server []string)) {
	t.Helper()
	t.Run("tracewell", func(t *testing.T) { test(t, nil) })
	t.Run("gdbserver", func(t *testing.T) { test(t, []string{testtool.Path(t, "gdbserver")}) })
}

// Start starts a program by a server, which is where the result says. The program ends with the test, also if it was let go.
func Start(t *testing.T, server []string, command ...string) *gdbtest.Server {
	t.Helper()
	s := gdbtest.Start(t, gdbtest.Config{Server: server, Comm: "localhost:0", Command: command})
	t.Cleanup(func() {
		if program, err := os.FindProcess(s.InferiorPID(t)); err == nil {
			_ = program.Kill() // most have ended
		}
	})
	return s
}

// Connect makes a target of a stub.
func Connect(address string, o remote.Options) (*remote.Target, error) {
	at, err := remote.ParseAddress(address)
	if err != nil {
		return nil, err
	}
	conn, err := at.Dial()
	if err != nil {
		return nil, err
	}
	o.Processes = true
	return remote.Open(conn, o)
}

// Open prepares a recording of the program at an address; file is its own, "" for what the stub says.
func Open(address, file string, c record.Config) (*record.Session, *remote.Target, error) {
	on, err := Connect(address, remote.Options{})
	if err != nil {
		return nil, nil, err
	}
	s, err := record.Open(record.NewPeer(on, file, on.Close), c)
	return s, on, err
}

// attempts is how often a server may die. gdbserver 13.1 does now and then, when it reads the registers of a new process, and
// when a client leaves it in the middle of a hit.
const attempts = 6

// Survive does something, again if its server dies, which the error or the target tells.
func Survive(t *testing.T, do func() (*remote.Target, error)) {
	t.Helper()
	for attempt := 1; ; attempt++ {
		on, err := do()
		switch {
		case err == nil:
			return
		case attempt == attempts || !client.IsLost(err) && (on == nil || on.Err() == nil):
			t.Fatal(err)
		}
		t.Logf("THE SERVER HAS DIED, attempt %d of %d: %v", attempt, attempts, err)
	}
}

// Record records the program of a fresh stub to the end of the run. fresh starts it, and returns where it is.
func Record(t *testing.T, script string, fresh func(c *record.Config) (address string)) (result record.Result, file *tfile.File) {
	t.Helper()
	Survive(t, func() (*remote.Target, error) {
		c := record.Config{Plan: recording.Plan(t, script), Output: filepath.Join(t.TempDir(), "run.tf")}
		s, on, err := Open(fresh(&c), "", c)
		if err != nil {
			return on, err
		}
		defer s.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		if result, err = s.Run(ctx); err == nil {
			err = s.Close()
		}
		if err == nil {
			file = recording.File(t, c.Output)
		}
		return on, err
	})
	return result, file
}
