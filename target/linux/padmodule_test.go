//go:build linux && amd64

package linux_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/sys"
	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
	"tracewell/target"
	"tracewell/trace"
	"tracewell/trace/compiled"
)

// TestPadRedZone has a pad in a function of C in a Go program, which keeps data where functions of Go have none.
func TestPadRedZone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mixed")
	build := testtool.Command(t, "go", "build", "-o", path, "testdata/mixed.go")
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r := launchPads(t, path)
	r.target.PassSignals([]target.Signal{14, 16})
	at := symbol(t, path, "leaf_site")
	r.trace(1, at)
	r.must(r.engine.Start(r.target, r.pid))
	if how := r.target.Collector().Explain(r.pid, at); !strings.HasPrefix(how, "pad") {
		t.Errorf("the tracepoint is collected by %q", how)
	}
	ev := r.resume(0)
	if out := r.output(); ev.Kind != target.Exited || ev.Code != 0 || out != "done wrong=0\n" {
		t.Errorf("%+v; the program printed %q", ev, out)
	}
	if n := r.count(1); n != 2000 {
		t.Errorf("%d frames, want 2000", n)
	}
}

// TestPadCodes has tracepoints in code of all kinds: where a pad would not do, the reason is given and the tracepoint is a trap, and
// all hits are counted either way. Memory that is shared can have neither.
func TestPadCodes(t *testing.T) {
	p := testprog.Build(t, "codes", fixed)
	r := launchPads(t, p.Path, "100")
	there := target.Breakpoint{Addr: symbol(t, p.Path, "mapped"), Length: 1}
	r.insert(there)
	r.resume(0)
	r.remove(there)
	codes := map[arch.Addr]string{
		0x10000000: "trap: the program can write its code at 0x10000000",
		0x30000000: "pad, by pun",
	}
	numbers := map[trace.Number]arch.Addr{}
	for at := range codes {
		n := trace.Number(1 + len(numbers))
		numbers[n] = at
		r.trace(n, at)
	}
	r.must(r.engine.Start(r.target, r.pid))
	shared, err := compiled.Compile(&trace.Tracepoint{Number: 9, Addr: 0x20000000, Enabled: true})
	r.must(err)
	err = r.target.Collector().Offload(r.pid, shared)
	if err == nil || err.Error() != "the code at 0x20000000 is shared with other processes" {
		t.Error(err)
	}
	for _, e := range r.engine.Explain() {
		if got, want := e.String(), codes[e.Key.Addr]; got != want {
			t.Errorf("%s: %q, want %q", e.Key.Addr, got, want)
		}
	}
	if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 {
		t.Errorf("%+v, want exit with status 0", ev)
	}
	for n := range numbers {
		if hits := r.count(n); hits != 100 {
			t.Errorf("tracepoint %d has %d hits, want 100", n, hits)
		}
	}
}

// TestPadChangedCode has the program's code change between the plan of a jump and the jump: that is not written then.
func TestPadChangedCode(t *testing.T) {
	p := testprog.Build(t, "neighbours", fixed)
	r := launchPads(t, p.Path, "1", "1000")
	s := newStreet(r, p.Path)
	s.begin()
	r.must(s.offload("row_a"))
	r.must(s.offload("row_b"))
	mem, err := sys.OpenMemory(r.pid)
	r.must(err)
	defer mem.Close()
	_, err = mem.WriteAt([]byte{0x48, 0x8b, 0xec}, int64(s.at["row_b"])) // the other encoding of the same
	r.must(err)
	refused, err := r.target.Collector().Apply()
	r.must(err)
	if len(refused) != 2 || !strings.Contains(refused[0].Err.Error(), "has changed") {
		t.Errorf("refused are %v", refused)
	}
	if ev := r.quietly(); ev.Kind != target.Exited || ev.Code != 0 {
		t.Errorf("%+v, want exit with status 0", ev)
	}
}
