package firmware

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/testtool"
)

// Machine is a running emulator with a stub.
type Machine struct {
	Program *Program
	Addr    string // where its stub is, as GDB's "target remote" has it: "127.0.0.1:PORT" or "| COMMAND"

	acks    Acks
	process *process
	monitor string   // where QEMU's monitor listens; empty where there is none
	qmp     *monitor // the connection to it, once it is needed
	init    *Program // the only process of a kernel
}

// Kill kills the emulator with its program at once, as a crash would. It is gone when Kill returns.
func (m *Machine) Kill() { m.process.kill() }

// Connect connects to the stub. The connection ends with the test.
func (m *Machine) Connect(t testing.TB) io.ReadWriter {
	t.Helper()
	if command, ok := strings.CutPrefix(m.Addr, "| "); ok {
		words := strings.Fields(command)
		return testtool.Connect(t, filepath.Base(words[0]), words[1:]...)
	}
	conn, err := net.Dial("tcp", m.Addr)
	if err != nil {
		t.Fatalf("%v\n%s", err, m.process.messages())
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// Kept reads what the program has kept: on a bare machine so far, at any time; a process is waited for, as it writes that in its end.
func (m *Machine) Kept(t testing.TB) *Kept {
	t.Helper()
	if m.init != nil {
		t.Fatal("a kernel keeps nothing")
	}
	kept := &Kept{}
	var content []byte
	if m.Program.Board.Bare() {
		content = m.Memory(t, m.Program.Address(t, "kept"), binary.Size(kept))
	} else {
		err := m.process.wait()
		content, _ = os.ReadFile(m.process.output)
		if err != nil || len(content) != binary.Size(kept) {
			t.Fatalf("the process has ended (%v) and has written %d bytes\n%s", err, len(content), m.process.messages())
		}
	}
	if err := binary.Read(bytes.NewReader(content), binary.LittleEndian, kept); err != nil {
		t.Fatal(err)
	}
	return kept
}

// Memory reads memory of a bare machine by its physical address through QEMU's monitor, whether the program runs or not. Only RAM may
// be read: reading a device can change it.
func (m *Machine) Memory(t testing.TB, at uint64, n int) []byte {
	t.Helper()
	return m.save(t, "pmemsave", at, n)
}

// save has a command of QEMU's monitor write memory into a file, and returns that.
func (m *Machine) save(t testing.TB, command string, at uint64, n int) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory")
	m.ask(t, command, map[string]any{"val": int64(at), "size": n, "filename": path}, nil)
	content, err := os.ReadFile(path)
	if err != nil || len(content) != n {
		t.Fatalf("%d bytes of memory at %#x: %d bytes, %v", n, at, len(content), err)
	}
	return content
}

// Reset resets a bare machine, as its button would: the program begins anew.
func (m *Machine) Reset(t testing.TB) {
	t.Helper()
	m.ask(t, "system_reset", nil, nil)
}

// Runs reports whether the processors of a bare machine run: not while a client of the stub has them stopped.
func (m *Machine) Runs(t testing.TB) bool {
	t.Helper()
	var status struct{ Running bool }
	m.ask(t, "query-status", nil, &status)
	return status.Running
}

// Until waits until a condition holds for what the program has kept.
func (m *Machine) Until(t testing.TB, holds func(*Kept) bool) *Kept {
	t.Helper()
	for limit := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		kept := m.Kept(t)
		if holds(kept) {
			return kept
		}
		if time.Now().After(limit) {
			t.Fatalf("after %v the program has kept %+v", patience, kept.Tallies)
		}
	}
}

// ask has QEMU's monitor execute a command.
func (m *Machine) ask(t testing.TB, command string, arguments map[string]any, result any) {
	t.Helper()
	if m.monitor == "" {
		t.Fatalf("%v has no monitor to ask for %s", m.Program.Board, command)
	}
	if m.qmp == nil {
		qmp, err := dialMonitor(m.monitor)
		if err != nil {
			t.Fatalf("QEMU's monitor: %v\n%s", err, m.process.messages())
		}
		t.Cleanup(qmp.close)
		m.qmp = qmp
	}
	if err := m.qmp.execute(command, arguments, result); err != nil {
		t.Fatalf("QEMU's monitor: %s: %v\n%s", command, err, m.process.messages())
	}
}
