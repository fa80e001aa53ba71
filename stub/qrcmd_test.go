package stub

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"

	"tracewell/rsp"
	"tracewell/target"
)

// command types a monitor command and returns what it prints and its reply.
func command(t *testing.T, c *rsp.Client, typed string) (says, reply string) {
	t.Helper()
	if err := c.Send(rsp.AppendHexBytes([]byte("qRcmd,"), typed)); err != nil {
		t.Fatal(err)
	}
	for {
		payload, err := c.Receive()
		if err != nil {
			t.Fatalf("%q: %v", typed, err)
		}
		printed, ok := strings.CutPrefix(string(payload), "O")
		text, err := hex.DecodeString(printed)
		if !ok || err != nil {
			return says, string(payload)
		}
		says += string(text)
	}
}

// TestMonitor types what GDB's test-suite and scripts for gdbserver do, and expects gdbserver 13.1's words.
func TestMonitor(t *testing.T) {
	log := NewDebugLog(io.Discard)
	s, _ := toyServer(t, Config{Debug: log})
	help := (&session{Server: s}).monitorHelp()
	unknown := "Unknown monitor command.\n\n" + help
	c, conn, served := serve(s)
	for _, test := range []struct {
		typed, says, reply string
	}{
		{"help", help, "OK"},
		{"", unknown, "E01"},
		{"helpme", unknown, "E01"},
		{"exit now", unknown, "E01"},
		{"set", unknown, "E01"},
		{"set debug 1", "Debug output enabled.\n", "OK"},
		{"set debug 0", "Debug output disabled.\n", "OK"},
		{"set debug 2", unknown, "E01"},
		{"set debug", unknown, "E01"},
		{"set debug-hw-points 1", "H/W point debugging output enabled.\n", "OK"},
		{"set debug-hw-points 0", "H/W point debugging output disabled.\n", "OK"},
		{"set remote-debug 1", "Protocol debug output enabled.\n", "OK"},
		{"set remote-debug 0", "Protocol debug output disabled.\n", "OK"},
		{"set event-loop-debug 1", "Event loop debug output enabled.\n", "OK"},
		{"set event-loop-debug 0", "Event loop debug output disabled.\n", "OK"},
		{"set debug-format all", "All extra debug format options enabled.\n", "OK"},
		{"set debug-format none", "All extra debug format options disabled.\n", "OK"},
		{"set debug-format  timestamp,,none", "Timestamps will be added to debug output.\n" +
			"All extra debug format options disabled.\n", "OK"},
		{"set debug-format time", "Unknown debug-format argument: \"time\"\n" + help, "E01"},
		{"set debug-file", "", "OK"},
		{"set debug-file /tmp/x", "Cannot open debug-file: cannot write to \"/tmp/x\": this server opens no files\n", "E01"},
		{"set libthread-db-search-path /foo/bar", "libthread-db-search-path set to `/foo/bar'\n", "OK"},
	} {
		if says, reply := command(t, c, test.typed); says != test.says || reply != test.reply {
			t.Errorf("monitor %s: %q, %q, want %q, %q", test.typed, says, reply, test.says, test.reply)
		}
	}
	if log.Events || log.Packets || log.HardwarePoints || log.EventLoop || log.Timestamps {
		t.Errorf("everything was switched off in the end, but the log is %+v", log)
	}
	conn.Close()
	wait(t, served)
}

// recorder is a file of the debugging output.
type recorder struct {
	bytes.Buffer
	closed bool
}

func (r *recorder) Close() error {
	r.closed = true
	return nil
}

// TestDebugLog looks for what a session leaves in the log, first in the usual output and then in a file.
func TestDebugLog(t *testing.T) {
	var usual bytes.Buffer
	var file recorder
	log := NewDebugLog(&usual)
	log.Open = func(path string) (io.WriteCloser, error) {
		if path != "log" {
			return nil, errors.New("no such folder")
		}
		return &file, nil
	}
	log.Packets = true
	s, _ := toyServer(t, Config{Debug: log})
	c, conn, served := serve(s)
	exchange(t, c, "qC", "QC1a")
	command(t, c, "set debug-file nowhere/log")
	command(t, c, "set debug-file log")
	command(t, c, "set debug 1")
	exchange(t, c, "vCont;t", "OK")
	command(t, c, "set debug-file")
	conn.Close()
	wait(t, served)

	if want := "received \"qC\"\nsent     \"QC1a\"\n"; !strings.HasPrefix(usual.String(), want) {
		t.Errorf("the usual output begins %.60q, want %q", usual.String(), want)
	}
	if strings.Contains(usual.String(), "vCont;t") {
		t.Errorf("the usual output goes on when there is a file:\n%s", usual.String())
	}
	if want := "\nreceived \"vCont;t\"\nsent     \"OK\"\n"; !strings.Contains(file.String(), want) {
		t.Errorf("the file lacks %q:\n%s", want, file.String())
	}
	if !file.closed {
		t.Error("the file is still open")
	}
}

// TestDebugLogLines has each switch let its own lines through and no others.
func TestDebugLogLines(t *testing.T) {
	for name, test := range map[string]struct {
		log     DebugLog
		packets []string
		want    string
	}{
		"silent":     {DebugLog{EventLoop: true, Timestamps: true}, []string{"g", "Z1,10,1"}, ""},
		"events":     {DebugLog{Events: true}, []string{"g"}, "resume   p1.2 verb 1, signal 5\nevent    p1.2 kind 0, signal 2\n"},
		"packets":    {DebugLog{Packets: true}, []string{"m0,\x01"}, "received \"m0,\\x01\"\nsent     \"E01\"\n"},
		"breakpoint": {DebugLog{HardwarePoints: true}, []string{"Z0,10,1", "Z2,10,4", "z1,10,1", "Z", "z"}, "received \"Z2,10,4\"\nreceived \"z1,10,1\"\n"},
	} {
		var out strings.Builder
		d := &test.log
		d.usual = &out
		thread := target.ThreadID{PID: 1, TID: 2}
		for _, packet := range test.packets {
			d.received([]byte(packet))
		}
		d.sent([]byte("E01"))
		d.resumed([]target.Action{{Thread: thread, Verb: target.StepOne, Signal: target.SignalTrap}})
		d.happened(target.Event{Thread: thread, Signal: target.SignalInt})
		if out.String() != test.want {
			t.Errorf("%s: %q, want %q", name, out.String(), test.want)
		}
	}
}

// TestSilentLogIsFree: a log that is off costs a session no allocation.
func TestSilentLogIsFree(t *testing.T) {
	log := NewDebugLog(io.Discard)
	payload := []byte("qC")
	if n := testing.AllocsPerRun(100, func() {
		log.received(payload)
		log.sent(payload)
	}); n != 0 {
		t.Errorf("%v allocations a packet", n)
	}
}
