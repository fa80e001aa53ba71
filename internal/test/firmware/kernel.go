package firmware

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
)

const (
	kernelPackage = "linux-image-cloud-amd64" // depends on the package of the newest version
	kernelOptions = "console=ttyS0 quiet nokaslr nopti mitigations=off panic=-1 cryptomgr.notests no_timer_check"
	bootTime      = time.Minute // how long the kernel may take to start init; 3 s on a quiet machine
)

// StartKernel boots Debian's kernel for x86-64 in QEMU, with one process, testdata/kernel/init.c, which calls umask(0), umask(1), … for
// ever. It returns when that has begun. The Program is the kernel as an executable with its text and symbols, made of /proc/kallsyms
// and the kernel's own memory, as Debian's System.map is empty. The kernel's package is downloaded by apt-get once and kept in the cache.
//
// Of the options, Set("pauses", n) is how long the process waits between its calls.
func StartKernel(t testing.TB, with ...Option) *Machine {
	t.Helper()
	o := chosen(with)
	o.running = true
	init, image := Build(t, Kernel), kernelImage(t)
	vmlinux := filepath.Join(filepath.Dir(image), "vmlinux-"+kernelKey(t, init))
	_, err := os.Stat(vmlinux)
	if wanted := err != nil; !wanted {
		o.values["wanted"] = 0
	}
	initrd := filepath.Join(t.TempDir(), "initrd")
	if err := os.WriteFile(initrd, archive(t, init.patched(t, o.values)), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &Machine{Program: &Program{Board: Kernel, Path: vmlinux}, init: init}
	m.startSystem(t, o, image, "-initrd", initrd, "-append", kernelOptions)
	m.awaitInit(t)
	if err != nil {
		m.saveKernel(t)
	}
	m.Program.symbols = testprog.Symbols(t, m.Program.Path)
	return m
}

// Calls returns how many calls of umask have returned.
func (m *Machine) Calls(t testing.TB) int {
	t.Helper()
	return int(binary.LittleEndian.Uint64(m.virtual(t, m.init.Address(t, "calls"), 8)))
}

// kernelKey tells apart what makes the kernel's text in memory and its symbols differ.
func kernelKey(t testing.TB, init *Program) string {
	t.Helper()
	sum := sha256.New()
	fmt.Fprint(sum, kernelOptions, boards[Kernel].args, filepath.Base(filepath.Dir(init.Path)))
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// awaitInit waits until init says that it is ready.
func (m *Machine) awaitInit(t testing.TB) {
	t.Helper()
	for limit := time.Now().Add(bootTime); ; time.Sleep(10 * time.Millisecond) {
		console, err := os.ReadFile(m.process.output)
		switch {
		case err != nil:
			t.Fatal(err)
		case bytes.Contains(console, []byte("init is ready")):
			return
		case m.process.gone() || time.Now().After(limit):
			t.Fatalf("the kernel has not started init\n%s\n%s", console, m.process.messages())
		}
	}
}

// virtual reads memory by its address in init, or in the kernel, through QEMU's monitor.
func (m *Machine) virtual(t testing.TB, at uint64, n int) []byte {
	t.Helper()
	return m.save(t, "memsave", at, n)
}

// saveKernel makes the kernel's executable of what init has read and of the kernel's text, all while nothing runs.
func (m *Machine) saveKernel(t testing.TB) {
	t.Helper()
	m.ask(t, "stop", nil, nil)
	length := binary.LittleEndian.Uint64(m.virtual(t, m.init.Address(t, "length"), 8))
	if length == 0 || length == uint64(m.init.symbols["symbols"].Size) {
		t.Fatalf("/proc/kallsyms has %d bytes, of which there is room for %d", length, m.init.symbols["symbols"].Size)
	}
	symbols, err := parseKallsyms(m.virtual(t, m.init.Address(t, "symbols"), int(length)))
	if err != nil {
		t.Fatal(err)
	}
	text := m.virtual(t, symbols.start, int(symbols.middle-symbols.start))
	m.ask(t, "cont", nil, nil)

	draft := filepath.Join(t.TempDir(), "vmlinux")
	if err := os.WriteFile(draft, symbols.executable(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(draft, m.Program.Path); err != nil {
		t.Fatal(err)
	}
}

// kernelImage returns the path of the kernel that the loader takes, in a folder named by its version.
func kernelImage(t testing.TB) string {
	t.Helper()
	name := kernelVersion(t)
	dir := filepath.Join(testprog.CacheDir(t), "firmware-"+name)
	path := filepath.Join(dir, "vmlinuz")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	scratch := t.TempDir()
	download := testtool.Command(t, "apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", name)
	download.Dir = scratch
	if messages, err := download.CombinedOutput(); err != nil {
		t.Fatalf("apt-get download %s: %v\n%s", name, err, messages)
	}
	found, err := filepath.Glob(filepath.Join(scratch, "*.deb"))
	if err != nil || len(found) != 1 {
		t.Fatalf("apt-get download %s has left %q (%v)", name, found, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	draft := filepath.Join(dir, "vmlinuz-"+strconv.Itoa(os.Getpid()))
	if err := os.WriteFile(draft, unpack(t, found[0], "./boot/vmlinuz-"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(draft, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// kernelVersion returns the name of the package that has the kernel.
func kernelVersion(t testing.TB) string {
	t.Helper()
	text, err := testtool.Command(t, "apt-cache", "depends", kernelPackage).Output()
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "Depends: linux-image-"); ok {
			return "linux-image-" + name
		}
	}
	t.Fatalf("apt-cache depends %s: %v: %q; has apt-get update been run, on Debian for amd64?", kernelPackage, err, text)
	return ""
}

// unpack returns the content of the first file of a package whose name begins with prefix.
func unpack(t testing.TB, path, prefix string) []byte {
	t.Helper()
	cmd := testtool.Command(t, "dpkg-deb", "--fsys-tarfile", path)
	stream, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { // the rest is not wanted
		cmd.Process.Kill()
		cmd.Wait()
	}()
	for files := tar.NewReader(stream); ; {
		header, err := files.Next()
		if err != nil {
			t.Fatalf("%s has no file %s…: %v", filepath.Base(path), prefix, err)
		}
		if strings.HasPrefix(header.Name, prefix) {
			content, err := io.ReadAll(files)
			if err != nil {
				t.Fatal(err)
			}
			return content
		}
	}
}

// archive returns an initial file system: init, and the folder where it mounts /proc. Its form is that of cpio called newc.
func archive(t testing.TB, init string) []byte {
	t.Helper()
	program, err := os.ReadFile(init)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	pad := func() { b.Write(make([]byte, -b.Len()&3)) }
	file := func(name string, mode int, content []byte) {
		fmt.Fprintf(&b, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
			0, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name)+1, 0, name)
		pad()
		b.Write(content)
		pad()
	}
	file("proc", 0o40755, nil)
	file("init", 0o100755, program)
	file("TRAILER!!!", 0, nil)
	return b.Bytes()
}
