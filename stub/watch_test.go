package stub

import (
	"io"
	"net"
	"strings"
	"testing"

	"tracewell/rsp"
	"tracewell/target"
	"tracewell/target/fake"
)

// watch runs Watch on one end of a connection and returns a client on the other.
func watch(s *Server) (client *rsp.Client, conn net.Conn, watched <-chan error) {
	near, far := net.Pipe()
	result := make(chan error, 1)
	go func() { result <- s.Watch(far) }()
	return rsp.NewClient(near), near, result
}

const watchRefusal = "E.this client watches: another one controls the program"

// TestWatcherReads has one client control and another look on: stops, registers, memory, the trace run and its frames are the same
// for both, and each has a selection of its own.
func TestWatcherReads(t *testing.T) {
	s, f := toyServer(t, Config{})
	c, conn, served := serve(s)
	endAcks(t, c)
	w, wconn, watched := watch(s)
	endAcks(t, w)
	for _, packet := range []string{"QTDP:1:401010:E:0:0", "QTStart"} {
		exchange(t, c, packet, "OK")
	}
	f.Play(fake.Step{PC: 0x401010}, fake.Step{PC: 0x401020, Event: &target.Event{Signal: target.SignalTrap}})
	const stop = "T0501:0000000000000000;02:0000000000000000;03:2010400000000000;thread:1a;core:1;"
	exchange(t, c, "vCont;c", stop)
	exchange(t, w, "?", stop)
	for _, packet := range []string{"g", "p3", "m404000,8", "qC", "qfThreadInfo", "qTP:1:401010", "qTStatus", "qTfP"} {
		want, err := c.Exchange(packet)
		if err != nil {
			t.Fatal(err)
		}
		exchange(t, w, packet, want)
	}
	exchange(t, w, "QTFrame:0", "F0T1")
	exchange(t, w, "p3", "1010400000000000")
	exchange(t, c, "p3", "2010400000000000")

	// One that detaches detaches itself from nothing, and the program is still there.
	exchange(t, w, "qAttached:1a", "1")
	exchange(t, w, "D;1a", "OK")
	wconn.Close()
	if err := wait(t, watched); err != nil {
		t.Errorf("Watch returned %v", err)
	}
	exchange(t, c, "qC", "QC1a")
	conn.Close()
	if err := wait(t, served); err != nil {
		t.Errorf("Serve returned %v", err)
	}
}

// TestWatcherChangesNothing sends every packet that a watcher is not allowed, by a form of it that the client in control may send.
func TestWatcherChangesNothing(t *testing.T) {
	s, f := toyServer(t, Config{Save: func(string, func(io.Writer) error) error { return nil }})
	c, conn, served := serve(s)
	endAcks(t, c)
	w, wconn, watched := watch(s)
	endAcks(t, w)
	for _, packet := range []string{
		"vCont;c", "vCont;t", "c", "s", "C05", "S05", "G00", "P0=0000000000000000", "M404000,1:ff", "X404000,1:z", "Z0,401010,1", "z0,401010,1",
		"QTinit", "QTDP:1:401010:E:0:0", "QTDPsrc:1:401010:at:0:1:61", "QTEnable:1:401010", "QTDisable:1:401010", "QTDV:1:0:0:61", "QTro:1,2",
		"QTStart", "QTStop", "QTNotes:user:61;", "QTBuffer:circular:1", "QTBuffer:size:1000", "QTSave:61", "vKill;1a", "vRun;", "vAttach;a", "k",
		"vCtrlC", "QEnvironmentReset", "QSetWorkingDir:", "QCatchSyscalls:1", "vFile:unlink:2f6574632f6d6f7464", "vFile:open:2f78,201,1a4",
		"vFile:pwrite:0,0,x",
	} {
		exchange(t, w, packet, watchRefusal)
	}
	// GDB prints no text of this one, and so it comes as the output of the command.
	reply, err := w.Exchange("qRcmd,65786974")
	if err != nil || !strings.HasPrefix(reply, "O") {
		t.Errorf("monitor exit replied %q, %v", reply, err)
	}
	if f.Inserted(leader.PID, target.Software, 0x401010) || !s.debuggee.Alive() || s.debuggee.Running() || s.engine.Status().Running {
		t.Error("the watcher has changed something")
	}
	wconn.Close()
	<-watched
	conn.Close()
	if err := wait(t, served); err != nil {
		t.Errorf("Serve returned %v", err)
	}
}

// TestWatcherOfRunningProgram: memory is read as it is, registers are unavailable, and the stop shows when it is asked for again. Close
// ends the session.
func TestWatcherOfRunningProgram(t *testing.T) {
	s, f := toyServer(t, Config{})
	c, conn, served := serve(s)
	endAcks(t, c)
	if err := c.Send([]byte("vCont;c")); err != nil {
		t.Fatal(err)
	}
	w, _, watched := watch(s)
	endAcks(t, w)
	for !s.State().Running {
		exchange(t, w, "qC", "QC1a")
	}
	exchange(t, w, "?", "T00thread:1a;")
	exchange(t, w, "m404001,2", "0102")
	exchange(t, w, "g", strings.Repeat("x", 48)+strings.Repeat("0", 16)+strings.Repeat("x", 8))
	f.Play(fake.Step{PC: 0x401020, Event: &target.Event{Signal: target.SignalTrap}})
	for s.State().Running {
		exchange(t, w, "qC", "QC1a")
	}
	exchange(t, w, "p3", "2010400000000000")
	s.dismissWatchers()
	if err := wait(t, watched); err != nil {
		t.Errorf("Watch returned %v", err)
	}
	conn.Close()
	if err := wait(t, served); err != nil {
		t.Logf("Serve returned %v", err)
	}
}
