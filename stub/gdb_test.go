package stub

import (
	"bytes"
	"context"
	"encoding/binary"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/internal/test/testtool"
	"tracewell/target"
	"tracewell/target/fake"
	"tracewell/tdesc/machine"
	"tracewell/tracepoint"
)

// TestGDB has the real GDB run testdata/*.gdb against a fake program that looks like a Linux process on x86-64, and compares
// what it prints with the .gdb.printed beside the script. The program reaches 0x401010 three times, with rax 1, 2 and 3,
// then stops with SIGTRAP, and then exits.
func TestGDB(t *testing.T) {
	gdb := testtool.Path(t, "gdb")
	if version, err := exec.Command(gdb, "--version").Output(); err != nil || !bytes.Contains(version, []byte(" 13.")) {
		t.Fatalf("what is printed was recorded from GDB 13; this is (%v)\n%s", err, version)
	}
	scripts, err := filepath.Glob("testdata/*.gdb")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".gdb"), func(t *testing.T) { runGDB(t, gdb, script) })
	}
}

func runGDB(t *testing.T, gdb, script string) {
	s := amd64Server(t)
	dir := t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(dir, "stub"))
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() {
		defer close(served)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if err := s.Serve(conn); err != nil {
				served <- err
				return
			}
		}
	}()
	path, err := filepath.Abs(script)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, gdb, "-nx", "-batch", "-x", path)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "HOME="+dir, "DEBUGINFOD_URLS=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("gdb: %v", err)
	}
	listener.Close()
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
	compareOutput(t, script+".printed", string(out))
}

// volatile is what differs from one run to another, or from one GDB to another.
var volatile = regexp.MustCompile(`(?m)^(warning: No executable has been specified and .*\n.*determining executable.*|` +
	`warning: A handler for the OS ABI .*\nof GDB.*|Trace (started|stopped) at.*|\$trace_timestamp.*)\n`)

func compareOutput(t *testing.T, file, got string) {
	got = volatile.ReplaceAllString(got, "")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("output differs (-want +got):\n%s", diff)
	}
}

// amd64Server serves the program that the scripts know.
func amd64Server(t *testing.T) *Server {
	p := toyProgram()
	p.ISA, p.Description = amd64.ISA, machine.LinuxAMD64.Target()
	p.Files = map[string]*fake.File{
		"/proc/26/maps": {Bytes: []byte("00401000-00402000 r-xp 00001000 08:01 7       /bin/toy\n")},
		"/etc":          {Mode: fs.ModeDir | 0o755},
		"/etc/motd":     {Bytes: []byte("Welcome.\n"), Mode: 0o644},
	}
	p.Programs = []string{"/toy"}
	for _, tid := range []int{42, 43} {
		p.Others = append(p.Others, target.Thread{ID: target.ThreadID{PID: 42, TID: tid}, Name: "other", Core: -1})
	}
	f, err := fake.New(p)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(3) {
		f.Play(fake.Step{
			PC: 0x401010, Registers: map[string]uint64{"rax": i + 1, "rdi": 0x404010},
			Memory: map[arch.Addr][]byte{0x404010: binary.LittleEndian.AppendUint32(nil, 100*uint32(i+1))},
		})
	}
	f.Play(fake.Step{PC: 0x401080, Event: &target.Event{Signal: target.SignalTrap}})
	f.Play(fake.Step{Event: &target.Event{Kind: target.Exited, Code: 7}})
	layout, err := p.Description.Layout()
	if err != nil {
		t.Fatal(err)
	}
	pc := layout.ByNumber(p.ISA.PC)
	engine := tracepoint.New(tracepoint.Layout{
		Order: p.ISA.Order, RegisterBlock: layout.Size, PCOffset: pc.Offset, PCSize: pc.Size,
	})
	s := New(Config{Target: f, Engine: engine})
	t.Cleanup(func() { s.Close() })
	return s
}
