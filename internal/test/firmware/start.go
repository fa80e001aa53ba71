package firmware

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/testtool"
)

// Limit is how long a machine may live.
const Limit = 2 * time.Minute

// An Option changes how a machine is started.
type Option func(*options)

type options struct {
	running bool
	limit   time.Duration
	values  map[string]uint32
}

// Running has a bare machine run from the start. Without it no instruction is executed before a client resumes it; a process
// waits for its client in any case.
func Running() Option { return func(o *options) { o.running = true } }

// For gives the machine another time to live than Limit.
func For(limit time.Duration) Option { return func(o *options) { o.limit = limit } }

// Set gives a global of 32 bits another initial value: "limit" is the number of calls of each hart, 0 for no end; "pauses" is how
// many turns of an empty loop there are between two calls.
func Set(name string, value uint32) Option { return func(o *options) { o.values[name] = value } }

func chosen(all []Option) *options {
	o := &options{limit: Limit, values: map[string]uint32{}}
	for _, option := range all {
		option(o)
	}
	return o
}

// Start starts a program on its board under QEMU, and LinuxX86 under Valgrind. The stub listens when Start returns, and takes one
// client at a time; qemu-user's takes one altogether. The emulator is killed when the test ends.
func Start(t testing.TB, p *Program, with ...Option) *Machine {
	t.Helper()
	o := chosen(with)
	m := &Machine{Program: p}
	switch path := p.patched(t, o.values); {
	case p.Board.Bare():
		m.startSystem(t, o, path)
	case p.Board == LinuxX86:
		m.startValgrind(t, o, path)
	default:
		m.startUser(t, o, path)
	}
	return m
}

// SemihostingText is what the program of StartSemihosting has its debugger write, SemihostingLines times.
const (
	SemihostingText  = "said by the firmware"
	SemihostingLines = 5
)

// StartSemihosting starts a program that has its debugger write a line before each call of step, and ends in done.
func StartSemihosting(t testing.TB) *Machine {
	t.Helper()
	p := Build(t, Semihosting)
	m := &Machine{Program: p}
	m.startSystem(t, chosen(nil), p.Path)
	return m
}

// startSystem starts QEMU for a whole machine. Its sockets listen before: no port can be lost to another process, and no client
// comes too early.
func (m *Machine) startSystem(t testing.TB, o *options, path string, more ...string) {
	t.Helper()
	b := boards[m.Program.Board]
	stub, stubFile := listen(t)
	monitor, monitorFile := listen(t)
	serial := "null"
	if m.init != nil {
		serial = "stdio" // the kernel's console; it reads nothing
	}
	command := append([]string{testtool.Path(t, b.tool)}, b.args...)
	command = append(command, "-nodefaults", "-nic", "none", "-display", "none", "-serial", serial, "-kernel", path,
		"-chardev", "socket,id=gdb,server=on,wait=off,nodelay=on,fd="+strconv.Itoa(inherited), "-gdb", "chardev:gdb",
		"-chardev", "socket,id=qmp,server=on,wait=off,fd="+strconv.Itoa(inherited+1), "-mon", "chardev=qmp,mode=control")
	command = append(command, more...)
	if !o.running {
		command = append(command, "-S")
	}
	m.Addr, m.monitor, m.acks = stub, monitor, ImplicitAcks
	m.process = start(t, o.limit, []*os.File{stubFile, monitorFile}, command...)
}

// listen returns the address of a socket that listens, and the socket for another process.
func listen(t testing.TB) (string, *os.File) {
	t.Helper()
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	file, err := listener.File()
	if err != nil {
		t.Fatal(err)
	}
	return listener.Addr().String(), file
}

// startUser starts QEMU for a process. It opens its port itself, so the port is one that was free a moment ago; another is tried when it
// is not any more.
func (m *Machine) startUser(t testing.TB, o *options, path string) {
	t.Helper()
	for range 5 {
		addr, file := listen(t)
		file.Close()
		_, port, _ := net.SplitHostPort(addr)
		m.Addr, m.acks = addr, SendAcks
		m.process = start(t, o.limit, nil, testtool.Path(t, boards[m.Program.Board].tool), "-g", port, path)
		if m.awaitPort(t, port) {
			return
		}
	}
	t.Fatalf("no port to listen at\n%s", m.process.messages())
}

// awaitPort waits until somebody listens at a port, without a connection: the stub would take that for its client. It reports
// false if the process has ended.
func (m *Machine) awaitPort(t testing.TB, port string) bool {
	t.Helper()
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	listening := fmt.Sprintf(":%04X 00000000:0000 0A ", number)
	return m.await(t, "an open port", func() bool {
		table, err := os.ReadFile("/proc/net/tcp")
		return err == nil && strings.Contains(string(table), listening)
	})
}

// await waits for something that the emulator does as it starts, and reports false if that ends instead.
func (m *Machine) await(t testing.TB, what string, done func() bool) bool {
	t.Helper()
	for limit := time.Now().Add(patience); time.Now().Before(limit); time.Sleep(2 * time.Millisecond) {
		switch {
		case done():
			return true
		case m.process.gone():
			return false
		}
	}
	t.Fatalf("no %s after %v\n%s", what, patience, m.process.messages())
	return false
}

// startValgrind starts a process under Valgrind, with its stub stopped before the first instruction. Clients reach it by vgdb.
// Without --vgdb=full, registers would be those of some instruction before the breakpoint.
func (m *Machine) startValgrind(t testing.TB, o *options, path string) {
	t.Helper()
	prefix := filepath.Join(t.TempDir(), "vgdb")
	m.process = start(t, o.limit, nil, testtool.Path(t, "valgrind"), "--quiet", "--vgdb=full", "--vgdb-error=0", "--vgdb-prefix="+prefix, path)
	pid := strconv.Itoa(m.process.cmd.Process.Pid)
	fifo := func() bool {
		found, err := filepath.Glob(prefix + "-to-vgdb-from-" + pid + "-*")
		return err == nil && found != nil
	}
	if !m.await(t, "FIFO of Valgrind", fifo) {
		t.Fatalf("Valgrind has ended\n%s", m.process.messages())
	}
	m.acks = NoAcks
	m.Addr = "| " + testtool.Path(t, "vgdb") + " --vgdb-prefix=" + prefix + " --pid=" + pid
}
