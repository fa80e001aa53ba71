//go:build linux && amd64

package padtest

import (
	"debug/elf"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
	"tracewell/tfile"
)

// sameSites is how many instructions of a program are compared, and sameHits how often each is collected.
const (
	sameSites = 300
	sameHits  = 8
)

// comparable are the subjects that do the same each time. Of the others diff reads /proc/self/maps, where pads have mappings of their own,
// Go and Rust take turns and order tables by chance, and in gzip and perl vector registers hold what calls have left on the stack. In
// the libraries of these three they do as well, and some functions pop it into registers, so only the program itself is traced.
var comparable = []string{"sqlite3", "xmllint", "throws"}

// TestSameFrames traces programs of one thread by pads and by traps. The frames are the same bytes: of all registers, of data and code,
// of pointers that lead nowhere, of trace state variables, and of an expression that is computed. What the kernel gives a program at
// random, such as the canaries of its stack, is told by tracing it twice by each. What a function leaves on the stack when it returns
// is not compared: pads use that memory, too.
func TestSameFrames(t *testing.T) {
	random, rounds := seeded(t), 1
	if *whole {
		rounds = 20
	}
	for _, p := range programs(100) {
		if !slices.Contains(comparable, p.name) {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			s := p.make(t)
			s.libraries = nil
			for i := range rounds {
				s.same(t, random+uint64(i))
			}
		})
	}
}

// same compares the frames of some places in a program.
func (s subject) same(t *testing.T, random uint64) {
	t.Helper()
	sites := executed(t, s, random)
	script := sameScript(t, sites, data(t, s.path))
	traps, again := s.frames(t, script, "--no-pads"), s.frames(t, script, "--no-pads")
	pads, anew := s.frames(t, script), s.frames(t, script)
	n := traps.NumFrames()
	if n == 0 || pads.NumFrames() != n || again.NumFrames() != n || anew.NumFrames() != n {
		t.Fatalf("%d and %d frames by pads, %d and %d by traps", pads.NumFrames(), anew.NumFrames(), n, again.NumFrames())
	}
	byChance := 0
	for i := range n {
		pad, trap := frame(t, pads, i), frame(t, traps, i)
		// Two pairs: what a program makes of the second that it begins in is the same in two runs that follow closely.
		differ := append(differences(trap.Bytes(), frame(t, again, i).Bytes()),
			differences(pad.Bytes(), frame(t, anew, i).Bytes())...)
		byChance += len(differ)
		for _, at := range differences(trap.Bytes(), pad.Bytes()) {
			if !slices.ContainsFunc(differ, func(by int) bool { return at-8 < by && by < at+8 }) {
				t.Fatalf("frame %d of tracepoint %d at %v, from byte %d of %d on\n%.100x\nand by traps\n%.100x", i, pad.Tracepoint(),
					sites[pad.Tracepoint()-1], at, trap.Len(), pad.Bytes()[at:], trap.Bytes()[at:])
			}
		}
	}
	t.Logf("%d locations, %d frames, %d random bytes in them", len(sites), n, byChance)
}

// frame is the frame with an index.
func frame(t *testing.T, f *tfile.File, i int) tfile.Frame {
	t.Helper()
	frame, err := f.Frame(i)
	if err != nil {
		t.Fatal(err)
	}
	return frame
}

// differences are the places at which two frames differ, the length of the longer one if it is that.
func differences(a, b []byte) (at []int) {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			at = append(at, i)
		}
	}
	if len(a) != len(b) {
		at = append(at, max(len(a), len(b)))
	}
	return at
}

// executed draws instructions that a program executes: those of a wide net that have had a hit.
func executed(t *testing.T, s subject, random uint64) []place {
	t.Helper()
	sites := s.every(t).places
	r := rand.New(rand.NewPCG(random, 1))
	r.Shuffle(len(sites), func(i, j int) { sites[i], sites[j] = sites[j], sites[i] })
	sites = sites[:min(len(sites), 8*sameSites)]
	var b strings.Builder
	for i, at := range sites {
		fmt.Fprintf(&b, "tvariable $n%d = 0\ntrace %v if ($n%[1]d = $n%[1]d + 1) == 1\nactions\ncollect $rip\nend\n", i, at)
	}
	hit := s.frames(t, write(t, b.String()))
	var list []place
	for i := range min(hit.NumFrames(), sameSites) {
		f, err := hit.Frame(i)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, sites[f.Tracepoint()-1])
	}
	return list
}

// data is the address of a program's initialised data.
func data(t *testing.T, path string) uint64 {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	section := f.Section(".data")
	if section == nil || section.Size < 200 {
		section = f.Section(".rodata")
	}
	if f.Type == elf.ET_DYN {
		return base + section.Addr
	}
	return section.Addr
}

// sameScript writes a script of tracepoints, each of which ends by itself.
func sameScript(t *testing.T, sites []place, data uint64) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("tvariable $sum = 0\n")
	for i, at := range sites {
		fmt.Fprintf(&b, "tvariable $n%d = 0\ntrace %v if ($n%[1]d = $n%[1]d + 1) <= %[3]d\n", i, at, sameHits)
		collect := []string{
			fmt.Sprintf("$regs, *(char *)%#x@100", data),
			"$rip, $eflags, $sum, ($sum = $sum + $rsp), *(long *)($rax & 1023), *(char *)$rip@20, $rsi * 3 - $rcx",
			fmt.Sprintf("$rip, *(unsigned char *)%#x@5, *(short *)($rbp | 0x8000000000000000)", data),
		}[i%3]
		fmt.Fprintf(&b, "actions\ncollect %s\nend\n", collect)
	}
	return write(t, b.String())
}

// write writes a script.
func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "script.gdb")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// frames has a program traced, which has to end as it does untraced.
func (s subject) frames(t *testing.T, script string, flags ...string) *tfile.File {
	t.Helper()
	file := filepath.Join(t.TempDir(), "run.tf")
	command := append([]string{gdbtest.Binary(t), "record", "-q", "--bare", "--script", script, "-o", file}, flags...)
	if got := s.run(t, append(append(command, "--", s.path), s.args...)...); got.status != s.status {
		t.Fatalf("%v: status %d, %.2000q", flags, got.status, got.errors)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := tfile.OpenBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
