package tdesctest

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/testtool"
	"tracewell/rsp"
	"tracewell/tdesc"
)

var (
	live = flag.Bool("live", false, "TestStubs: read the descriptions of the QEMU that is installed")
	save = flag.Bool("save", false, "TestStubs: keep what it read and may be kept, in testdata/stubs")
)

// startTimeout is how long an emulator may take until it accepts a connection.
const startTimeout = 2 * time.Minute

// emulator is a machine of QEMU's.
type emulator struct {
	name    string // of the test and of the folder in testdata/stubs
	system  string // qemu-system-…
	machine string
	cpu     string
	unknown bool   // to GDB
	choose  string // GDB's name for the architecture, which some descriptions do not tell
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
	{name: "power-603e", system: "ppc", machine: "none", cpu: "603e"},
	{name: "power-7400", system: "ppc", machine: "none", cpu: "7400"},
	{name: "power-e500", system: "ppc", machine: "none", cpu: "e500v2"},
	{name: "power64-970", system: "ppc64", machine: "none", cpu: "970fx"},
	{name: "power64-power9", system: "ppc64", machine: "none", cpu: "power9"},
	{name: "s390x", system: "s390x", machine: "none", cpu: "qemu"},
	{name: "s390x-max", system: "s390x", machine: "none", cpu: "max"},
	{name: "loongarch64", system: "loongarch64", machine: "none", cpu: "la464-loongarch-cpu", unknown: true},
	{name: "rx", system: "rx", machine: "none", cpu: "rx62n", unknown: true},
	{name: "avr", system: "avr", machine: "uno", cpu: "avr5-avr-cpu", unknown: true},
	{name: "m68k-m68040", system: "m68k", machine: "none", cpu: "m68040", choose: "m68k:68040"},
	{name: "coldfire", system: "m68k", machine: "none", cpu: "cfv4e", choose: "m68k:isa-b"},
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
	cmd := exec.CommandContext(ctx, filepath.Join(testtool.Folder, "qemu-system-"+e.system), args...)
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

// permission is in those of QEMU's documents that are GDB's, and may be kept with it; others are under the GPL, or generated.
const permission = "Copying and distribution of this file, with or without modification"

const (
	stubs     = "../../../tdesc/testdata/stubs" // a document of ours for each emulator
	documents = "qemu-7.2"                      // those that QEMU serves and may be kept, in a folder below
)

// TestSavedStubs holds the saved descriptions against GDB.
func TestSavedStubs(t *testing.T) {
	var all []described
	for _, e := range emulators {
		file, err := filepath.Abs(filepath.Join(stubs, e.name+".xml"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e.read(t, file, func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(stubs, name)) }))
	}
	comparePlaces(t, all...)
}

// TestStubs starts each emulator, reads its description and holds it against GDB.
func TestStubs(t *testing.T) {
	if !*live {
		t.Skip("make tdesc-live runs this: it needs QEMU")
	}
	for _, e := range emulators {
		t.Run(e.name, func(t *testing.T) {
			dir := t.TempDir()
			client := e.start(t)
			comparePlaces(t, e.read(t, filepath.Join(dir, "target.xml"), func(name string) ([]byte, error) {
				text, err := annex(client, name)
				if err != nil {
					return nil, err
				}
				return text, os.WriteFile(filepath.Join(dir, name), text, 0o644)
			}))
			if *save {
				e.keep(t, dir)
			}
		})
	}
}

// read parses the description in a file, which fetch reads, or which it makes.
func (e emulator) read(t *testing.T, file string, fetch func(string) ([]byte, error)) described {
	t.Helper()
	text, err := fetch(filepath.Base(file))
	if err != nil {
		t.Fatal(err)
	}
	target, _, err := tdesc.Parse(text, fetch)
	if err != nil {
		t.Fatal(err)
	}
	d := described{name: e.name, target: target, file: file, choose: e.choose}
	if e.unknown {
		d.target, d.file = lent(t, target), ""
	}
	return d
}

var (
	architectureOf = regexp.MustCompile("<architecture>.*</architecture>")
	includeOf      = regexp.MustCompile(`href="([^"]+)"`)
)

// keep saves the documents in dir that may be kept, and writes a description that includes them.
func (e emulator) keep(t *testing.T, dir string) {
	t.Helper()
	served, err := os.ReadFile(filepath.Join(dir, "target.xml"))
	if err != nil {
		t.Fatal(err)
	}
	var includes, left []string
	for _, m := range includeOf.FindAllSubmatch(served, -1) {
		name := string(m[1])
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), permission) {
			left = append(left, name)
			continue
		}
		if err := os.WriteFile(filepath.Join(stubs, documents, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
		includes = append(includes, fmt.Sprintf("  <xi:include href=\"%s/%s\"/>\n", documents, name))
	}
	doc := fmt.Sprintf("<?xml version=\"1.0\"?>\n<!-- What QEMU 7.2 serves for qemu-system-%s -cpu %s; left out: %s. -->\n<target>\n",
		e.system, e.cpu, cmp.Or(strings.Join(left, ", "), "nothing"))
	if a := architectureOf.Find(served); a != nil {
		doc += "  " + string(a) + "\n"
	}
	doc += strings.Join(includes, "") + "</target>\n"
	if err := os.WriteFile(filepath.Join(stubs, e.name+".xml"), []byte(doc), 0o644); err != nil {
		t.Fatal(err)
	}
}
