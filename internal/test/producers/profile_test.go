package producers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testtool"
)

// Programs of ten million instructions, of which the producer of the trace counts itself what Tracewell makes of the trace.

// packedLog has a producer write its log, which would be gigabytes, to a pipe that is compressed to a file, and returns its path.
func packedLog(t *testing.T, folder string, produce func(log string)) string {
	t.Helper()
	pipe, path := filepath.Join(folder, "log"), filepath.Join(folder, "log.zst")
	run(t, folder, 0, "mkfifo", "log")
	zstd := exec.CommandContext(t.Context(), testtool.Path(t, "zstd"), "-q", "-1", pipe, "-o", path)
	if err := zstd.Start(); err != nil {
		t.Fatal(err)
	}
	produce(pipe)
	if err := zstd.Wait(); err != nil {
		t.Fatal(err)
	}
	return path
}

// answers has the command answer a question about a trace, in lines of JSON.
func answers[Row any](t *testing.T, trace, program, question string, args ...string) (rows []Row) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), gdbtest.Binary(t), slices.Concat([]string{"query", question, "--json", trace, "--exec", program}, args)...)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil || problems.Len() > 0 {
		t.Fatalf("%v: %v\n%s", cmd, err, &problems)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var row Row
		if err := d.Decode(&row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// executed is how often a trace has the instruction at each address.
func executed(t *testing.T, trace, program string) map[uint64]uint64 {
	t.Helper()
	counts := make(map[uint64]uint64)
	for _, row := range answers[struct {
		Address      string
		Instructions uint64
	}](t, trace, program, "profile", "--limit", "0") {
		counts[parsed(t, row.Address)] += row.Instructions
	}
	return counts
}

func parsed(t *testing.T, text string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestLiveCounts: QEMU executed the instruction at each address as often as its trace says.
func TestLiveCounts(t *testing.T) {
	random := rand.New(rand.NewPCG(drawn(t), 2))
	p := processors["RISC-V"]
	program := p.build(t, "0", random.Uint32(), "-DREPEAT=650")
	folder := t.TempDir()
	trace := packedLog(t, folder, func(log string) {
		run(t, folder, 42, "qemu-"+p.qemu, "-plugin", plugin(t, "execlog"), "-plugin", plugin(t, "counts")+",to=counts", "-d", "plugin", "-D", log, program)
	})
	text, err := os.ReadFile(filepath.Join(folder, "counts"))
	if err != nil {
		t.Fatal(err)
	}
	want, total := make(map[uint64]uint64), uint64(0)
	for line := range strings.Lines(string(text)) {
		address, count, _ := strings.Cut(strings.TrimSpace(line), " ")
		want[parsed(t, address)] += parsed(t, count)
		total += parsed(t, count)
	}
	maps.DeleteFunc(want, func(_, count uint64) bool { return count == 0 }) // translated, but never executed
	if total < 10e6 {
		t.Errorf("only %d instructions", total)
	}
	if d := cmp.Diff(want, executed(t, trace, program)); d != "" {
		t.Errorf("QEMU's counts and those of its trace (-want +got):\n%s", d)
	}
}

// call is who called whom.
type call struct{ caller, function string }

// jump is a conditional jump.
type jump struct {
	address uint64
	line    string
}

// callgrind is a file of Valgrind's tool.
type callgrind struct {
	executed  map[uint64]uint64 // by address
	lines     map[string]bool   // that were executed
	self      map[string]uint64 // by function
	inclusive map[string]uint64 // without those that call themselves
	calls     map[call]uint64
	jumps     map[jump]uint64 // conditional ones, without those that never jumped
}

// readCallgrind reads a file without compressed names and positions. A line of costs has an address, a line and instructions; one
// behind "calls=" what was spent in the function that was called.
func readCallgrind(t *testing.T, path string) *callgrind {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	c := &callgrind{map[uint64]uint64{}, map[string]bool{}, map[string]uint64{}, map[string]uint64{}, map[call]uint64{}, map[jump]uint64{}}
	var function, called, jumped string
	calls := false
	recursive := make(map[string]bool)
	for lines := bufio.NewScanner(file); lines.Scan(); {
		text := lines.Text()
		key, value, named := strings.Cut(text, "=")
		fields := strings.Fields(text)
		switch {
		case named && key == "fn":
			function = value
		case named && key == "cfn":
			called = value
		case named && key == "calls":
			count, _, _ := strings.Cut(value, " ")
			c.calls[call{function, called}] += parsed(t, count)
			calls = true
			recursive[function] = recursive[function] || function == called
		case named && key == "jcnd":
			jumped, _, _ = strings.Cut(value, "/")
		case !strings.HasPrefix(text, "0x") || named:
		case jumped != "":
			c.jumps[jump{parsed(t, fields[0]), fields[1]}] += parsed(t, jumped)
			jumped = ""
		case len(fields) < 3: // where a jump that is no condition is
		case calls:
			c.inclusive[function] += parsed(t, fields[2])
			calls = false
		default:
			n := parsed(t, fields[2])
			c.executed[parsed(t, fields[0])] += n
			if fields[1] != "0" { // a line that is not known
				c.lines[fields[1]] = true
			}
			c.self[function] += n
			c.inclusive[function] += n
		}
	}
	maps.DeleteFunc(c.inclusive, func(function string, _ uint64) bool { return recursive[function] })
	return c
}

// branches is how often the conditional jumps of each line went either way. Those that always went the same way are left out:
// callgrind tells nothing of one that never jumped.
type branches map[string][]string

func (b branches) add(line string, one, other uint64) {
	if one > 0 && other > 0 {
		b[line] = append(b[line], fmt.Sprint(min(one, other), " ", max(one, other)))
		slices.Sort(b[line])
	}
}

// TestLiveCallgrind: Valgrind's callgrind counts the same instructions, calls, lines and branches as the command does in the trace
// of Valgrind's lackey.
func TestLiveCallgrind(t *testing.T) {
	random := rand.New(rand.NewPCG(drawn(t), 3))
	program := processors["x86-64"].build(t, "0", random.Uint32(), "-DREPEAT=750")
	folder := t.TempDir()
	trace := packedLog(t, folder, func(log string) {
		run(t, folder, 42, "valgrind", "--tool=lackey", "--trace-mem=yes", "--log-file="+log, program)
	})
	run(t, folder, 42, "valgrind", "--tool=callgrind", "--callgrind-out-file=callgrind", "--show-below-main=yes", "--separate-recs=1",
		"--dump-instr=yes", "--collect-jumps=yes", "--compress-pos=no", "--compress-strings=no", program)
	want := readCallgrind(t, filepath.Join(folder, "callgrind"))

	// callgrind does not count the last block, which ends with the system call by which the program ends.
	got, last := executed(t, trace, program), uint64(0)
	for _, row := range answers[struct {
		Address string
		Line    int
	}](t, trace, program, "profile", "--limit", "0") {
		if address := parsed(t, row.Address); got[address]-want.executed[address] == 1 {
			want.executed[address]++
			want.lines[strconv.Itoa(row.Line)] = true
			last++
		}
	}
	want.self["_start"] += last
	want.inclusive["_start"] += last
	total := uint64(0)
	for _, count := range got {
		total += count
	}
	if total < 10e6 || last > 8 {
		t.Errorf("%d instructions, %d of them the last block's", total, last)
	}
	if d := cmp.Diff(want.executed, got); d != "" {
		t.Errorf("instructions (-callgrind +tracewell):\n%s", d)
	}

	self, inclusive, calls := map[string]uint64{}, map[string]uint64{}, map[call]uint64{}
	for _, row := range answers[struct {
		Function        string
		Self, Inclusive uint64
	}](t, trace, program, "functions", "--limit", "0") {
		self[row.Function] = row.Self
		if _, known := want.inclusive[row.Function]; known {
			inclusive[row.Function] = row.Inclusive
		}
	}
	for _, row := range answers[struct {
		Path  []string
		Calls uint64
	}](t, trace, program, "calltree") {
		if n := len(row.Path); n > 1 {
			calls[call{row.Path[n-2], row.Path[n-1]}] += row.Calls
		}
	}
	if d := cmp.Diff(want.self, self) + cmp.Diff(want.inclusive, inclusive) + cmp.Diff(want.calls, calls, cmp.AllowUnexported(call{})); d != "" {
		t.Errorf("functions (-callgrind +tracewell):\n%s", d)
	}
	checkCoverage(t, want, folder, trace, program)
}

// checkCoverage holds the lines and branches that were executed against callgrind's.
func checkCoverage(t *testing.T, want *callgrind, folder, trace, program string) {
	t.Helper()
	answers[any](t, trace, program, "coverage", "--lcov", filepath.Join(folder, "lcov"))
	text, err := os.ReadFile(filepath.Join(folder, "lcov"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	ways := map[string][]uint64{} // of a line and a branch
	for text := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(text), ":")
		fields := strings.Split(value, ",")
		switch {
		case key == "DA" && fields[1] != "0":
			lines = append(lines, fields[0])
		case key == "BRDA" && fields[3] != "-":
			branch := fields[0] + "," + fields[1]
			ways[branch] = append(ways[branch], parsed(t, fields[3]))
		}
	}
	got, wanted := branches{}, branches{}
	for branch, counts := range ways {
		line, _, _ := strings.Cut(branch, ",")
		got.add(line, counts[0], counts[1])
	}
	for jump, count := range want.jumps {
		wanted.add(jump.line, count, want.executed[jump.address]-count)
	}
	if d := cmp.Diff(slices.Sorted(maps.Keys(want.lines)), slices.Sorted(slices.Values(lines))); d != "" {
		t.Errorf("lines (-callgrind +tracewell):\n%s", d)
	}
	if d := cmp.Diff(wanted, got); d != "" {
		t.Errorf("branches (-callgrind +tracewell):\n%s", d)
	}
}
