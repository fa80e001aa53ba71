package tdesctest

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tracewell/rsp"
)

var (
	live = flag.Bool("live", false, "TestStubs: read the descriptions of the QEMU that is installed")
	save = flag.Bool("save", false, "TestStubs: keep what it read and may be kept, in testdata/stubs")
)

// startTimeout is how long an emulator may take until it accepts a connection.
const startTimeout = 20 * time.Second

// emulator is a machine of QEMU's.
type emulator struct {
	name    string // of the test and of the folder in testdata/stubs
	system  string // qemu-system-…
	machine string
	cpu     string
	big     bool
}

// emulators has a machine for each of the descriptions that QEMU 7.2 serves. The machine none has a processor and nothing
// else, which is enough for a stub.
var emulators = []emulator{
	{name: "aarch64-max", system: "aarch64", machine: "none", cpu: "max"},
	{name: "aarch64-a57", system: "aarch64", machine: "none", cpu: "cortex-a57"},
	{name: "aarch64-sve256", system: "aarch64", machine: "none", cpu: "max,sve256=on,sve128=on"},
	{name: "arm-a15", system: "arm", machine: "none", cpu: "cortex-a15"},
	{name: "arm-926", system: "arm", machine: "none", cpu: "arm926"},
	{name: "arm-m3", system: "arm", machine: "mps2-an385", cpu: "cortex-m3"},
	{name: "arm-m33", system: "arm", machine: "mps2-an505", cpu: "cortex-m33"},
	{name: "arm-m55", system: "arm", machine: "mps3-an547", cpu: "cortex-m55"},
	{name: "i386", system: "i386", machine: "pc", cpu: "qemu32"},
	{name: "x86-64", system: "x86_64", machine: "pc", cpu: "qemu64"},
	{name: "riscv32", system: "riscv32", machine: "none", cpu: "rv32"},
	{name: "riscv64", system: "riscv64", machine: "none", cpu: "rv64"},
	{name: "riscv64-v", system: "riscv64", machine: "none", cpu: "rv64,v=true,vlen=256"},
	{name: "riscv64-e51", system: "riscv64", machine: "none", cpu: "sifive-e51"},
	{name: "power-603e", system: "ppc", machine: "none", cpu: "603e", big: true},
	{name: "power-7400", system: "ppc", machine: "none", cpu: "7400", big: true},
	{name: "power-e500", system: "ppc", machine: "none", cpu: "e500v2", big: true},
	{name: "power64-970", system: "ppc64", machine: "none", cpu: "970fx", big: true},
	{name: "power64-power9", system: "ppc64", machine: "none", cpu: "power9", big: true},
	{name: "s390x", system: "s390x", machine: "none", cpu: "qemu", big: true},
	{name: "s390x-max", system: "s390x", machine: "none", cpu: "max", big: true},
	{name: "loongarch64", system: "loongarch64", machine: "none", cpu: "la464-loongarch-cpu"},
	{name: "m68k-m68040", system: "m68k", machine: "none", cpu: "m68040", big: true},
	{name: "coldfire", system: "m68k", machine: "none", cpu: "cfv4e", big: true},
	{name: "microblaze", system: "microblaze", machine: "none", cpu: "microblaze", big: true},
	{name: "rx", system: "rx", machine: "none", cpu: "rx62n"},
	{name: "avr", system: "avr", machine: "uno", cpu: "avr5-avr-cpu"},
	{name: "mips", system: "mips", machine: "none", cpu: "24Kf", big: true},
	{name: "sparc", system: "sparc", machine: "none", cpu: "LEON3", big: true},
}

// start runs the emulator, halted, until the test ends, and connects to its stub.
func (e emulator) start(t *testing.T) *rsp.Client {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "gdb")
	args := []string{
		"-machine", e.machine, "-cpu", e.cpu, "-S", "-display", "none", "-nodefaults",
		"-gdb", "unix:" + socket + ",server=on,wait=off",
	}
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, "qemu-system-"+e.system, args...)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		stop()
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { stop(); <-ended })
	for deadline := time.Now().Add(startTimeout); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			t.Cleanup(func() { conn.Close() })
			if err := conn.SetDeadline(deadline); err != nil {
				t.Fatal(err)
			}
			return rsp.NewClient(conn)
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("QEMU ended: %v\n%s", err, said.String())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("QEMU does not listen: %v", err)
		}
	}
}

// annex reads a document of the description by qXfer:features:read.
func annex(c *rsp.Client, name string) ([]byte, error) {
	const chunk = 0x800
	var document []byte
	for {
		reply, err := c.Exchange(fmt.Sprintf("qXfer:features:read:%s:%x,%x", name, len(document), chunk))
		switch {
		case err != nil:
			return nil, err
		case reply == "" || reply[0] != 'l' && reply[0] != 'm':
			return nil, fmt.Errorf("annex %q: found reply %q, expected l or m", name, reply)
		}
		document = append(document, reply[1:]...)
		if reply[0] == 'l' {
			return document, nil
		}
	}
}
