//go:build linux

package serve

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/sys"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
	"tracewell/rsp"
)

var pidText = regexp.MustCompile(`(pid = |process(?:\(es\):)? )\d+`)

// withoutPIDs replaces the process numbers in gdbserver's messages.
func withoutPIDs(s string) string { return pidText.ReplaceAllString(s, "${1}N") }

// TestStandardIO serves a client that says nothing, and programs that cannot be started, over standard input and output.
// What is printed is what gdbserver 13.1 prints.
func TestStandardIO(t *testing.T) {
	for line, want := range map[string]clitest.Outcome{
		"stdio true": {Stderr: "stdin/stdout redirected\nProcess true created; pid = N\nRemote debugging using stdio\n" +
			"Killing process(es): N\n", Status: console.StatusDone},
		"stdio non-existing-program": {Stderr: "stdin/stdout redirected\nexec: non-existing-program: not found\n" +
			"During startup program exited with code 127.\nExiting\n", Status: console.StatusFailure},
		"- /etc/passwd": {Stderr: "stdin/stdout redirected\nexec: /etc/passwd: permission denied\n" +
			"During startup program exited with code 126.\nExiting\n", Status: console.StatusFailure},
	} {
		got := clitest.Run(t, append([]string{"serve"}, strings.Fields(line)...)...)
		if got.Stderr = withoutPIDs(got.Stderr); got != want {
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
	got := clitest.Run(t, "serve", listener.Addr().String(), "true")
	if want := (clitest.Outcome{Stderr: listener.Addr().String() + ": Can't bind address: Address already in use.\nExiting\n", Status: console.StatusFailure}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestSerialLine serves a client at the other end of a pseudo-terminal, who is not offered to do without acknowledgments and
// cannot hang up: the server ends when its program does, and on monitor exit.
func TestSerialLine(t *testing.T) {
	for name, test := range map[string]struct {
		packet string
		says   string
	}{
		"exit":       {"qRcmd,65786974", "Killing process(es): N\n"},
		"kill":       {"vKill;{PID}", ""},
		"detach":     {"D;{PID}", "Detaching from process N\n"},
		"end":        {"vCont;c", "\nChild exited with status 0\n"},
		"old kill":   {"k", "Killing process(es): N\n"},
		"old detach": {"D", "Detaching from process N\n"},
	} {
		t.Run(name, func(t *testing.T) {
			master, path, err := sys.OpenTerminalPair()
			if err != nil {
				t.Fatal(err)
			}
			defer master.Close()
			messages, ended := serveOn(t, path, "true")
			pid := regexp.MustCompile(`pid = (\d+)`).FindStringSubmatch(clitest.Content(t, messages))[1]

			c := rsp.NewClient(master)
			features, err := c.Exchange("qSupported:multiprocess+")
			if err != nil || !strings.Contains(features, "PacketSize=") || strings.Contains(features, "QStartNoAckMode") {
				t.Errorf("qSupported: %q, %v", features, err)
			}
			if reply, err := c.Exchange("?"); err != nil || !strings.HasPrefix(reply, "T05") {
				t.Errorf("?: %q, %v", reply, err)
			}
			number, _ := strconv.Atoi(pid)
			packet := strings.ReplaceAll(test.packet, "{PID}", strconv.FormatInt(int64(number), 16))
			if err := c.Send([]byte(packet)); err != nil {
				t.Fatal(err)
			}
			if status := ended(); status != console.StatusDone {
				t.Errorf("exit status %d", status)
			}
			want := "Process true created; pid = N\nRemote debugging using " + path + "\n" + test.says
			if got := withoutPIDs(clitest.Content(t, messages)); got != want {
				t.Errorf("messages %q, want %q", got, want)
			}
		})
	}
}

// TestSerialGDB connects GDB and a server by a line, of which each has an end: two pseudo-terminals, master to master.
func TestSerialGDB(t *testing.T) {
	program := testprog.Build(t, "exits", testprog.Variant{})
	var masters [2]*os.File
	var ends [2]string
	for i := range masters {
		var err error
		if masters[i], ends[i], err = sys.OpenTerminalPair(); err != nil {
			t.Fatal(err)
		}
		defer masters[i].Close()
		// Somebody holds each end open, or the master could not be read before it is in use.
		held, err := sys.OpenSerial(ends[i])
		if err != nil {
			t.Fatal(err)
		}
		defer held.Close()
	}
	go io.Copy(masters[0], masters[1])
	go io.Copy(masters[1], masters[0])
	_, ended := serveOn(t, ends[0], program.Path, "3")
	output := gdbtest.Run(t, program.Path, `
		set sysroot /
		target remote `+ends[1]+`
		break step if call == 2
		continue
		-- stopped --
		backtrace
		delete
		-- end --
		continue
	`)
	if text := output.Section(t, "stopped"); !strings.Contains(text, "step (call=2)") {
		t.Errorf("GDB printed:\n%s", text)
	}
	if text := output.Section(t, "end"); !strings.Contains(text, "exited with code 07]") {
		t.Errorf("GDB printed:\n%s", text)
	}
	if status := ended(); status != console.StatusDone {
		t.Errorf("exit status %d", status)
	}
}

// serveOn serves a program on a serial line, and returns when the server is ready. Messages is the file of what it prints;
// ended waits for its end and returns the exit status.
func serveOn(t *testing.T, line string, program ...string) (messages string, ended func() int) {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { null.Close() })
	file, err := os.Create(filepath.Join(t.TempDir(), "messages"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	status := make(chan int, 1)
	go func() {
		status <- clitest.CommandLine(append([]string{"serve", line}, program...), console.Streams{In: null, Out: null, Err: file})
	}()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(clitest.Content(t, file.Name()), "using"); {
		if time.Now().After(deadline) {
			t.Fatalf("the server is not ready: %q", clitest.Content(t, file.Name()))
		}
		time.Sleep(5 * time.Millisecond)
	}
	return file.Name(), func() int {
		select {
		case got := <-status:
			return got
		case <-time.After(time.Minute):
			t.Fatal("the server does not end")
			return -1
		}
	}
}
