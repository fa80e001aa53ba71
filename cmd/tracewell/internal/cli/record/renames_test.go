//go:build linux && amd64

package record

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
)

// TestThreadNames: frames have the name that the thread had, as it says itself, in lines while the program runs and in whatever is
// made of the file afterwards.
func TestThreadNames(t *testing.T) {
	p := testprog.Build(t, "renames", testprog.Variant{})
	_, path := clitest.RecordInto(t, "-q", "--at", "named", "--collect", "/s name", "--collect", "round", "--", p.Path)
	var said []string // what the threads say
	for _, frame := range clitest.Objects(t, clitest.Run(t, "show", path, "--json").Stdout) {
		var name string
		if err := json.Unmarshal(frame.Collected["name"], &name); err != nil {
			t.Fatal(err)
		}
		if said = append(said, name); frame.Comm != name {
			t.Errorf("frame %d of %q has the name %q", frame.Frame, name, frame.Comm)
		}
	}
	if len(said) != 1+3*5+2*5 {
		t.Fatalf("%d calls", len(said))
	}
	rows, err := csv.NewReader(strings.NewReader(clitest.Run(t, "convert", path, "-", "--to", "csv").Stdout)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := slices.Index(rows[0], "comm")
	for i, row := range rows[1:] {
		if column < 0 || row[column] != said[i] {
			t.Fatalf("row %d of CSV is %q under %q", i, row, rows[0])
		}
	}
	count := func(name string) (n int) {
		for _, s := range said {
			if s == name {
				n++
			}
		}
		return n
	}
	for condition, want := range map[string]int{
		`comm == "first"`: count("first"), `comm != "first"`: len(said) - count("first"), `comm == "a--b <x> %" && round > 1`: 3,
		`comm=="nobody"`: 0, `!(comm == "worker/1")`: len(said) - 5,
	} {
		got := clitest.Run(t, "show", path, "--where", condition, "--count")
		if strings.TrimSpace(got.Stdout) != strconv.Itoa(want) {
			t.Errorf("%s: %s%s, not %d", condition, got.Stdout, got.Stderr, want)
		}
	}
	for args, want := range map[string]string{"": "  worker/1  ", "--frame 0": " (renames)\n"} {
		if shown := clitest.Run(t, append([]string{"show", path}, strings.Fields(args)...)...).Stdout; !strings.Contains(shown, want) {
			t.Errorf("show %s has no %q:\n%s", args, want, shown)
		}
	}
	perfetto := filepath.Join(t.TempDir(), "run.pftrace")
	clitest.Run(t, "convert", path, perfetto, "--to", "perfetto")
	raw, err := os.Open(perfetto)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	decode := testtool.Command(t, "protoc", "--decode_raw")
	decode.Stdin = raw
	decoded, err := decode.Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(decoded), `"worker/1"`) || !strings.Contains(string(decoded), `"first"`) {
		t.Error("Perfetto's threads lack their names")
	}
	// GDB passes over the comments.
	if out := gdbtest.Run(t, p.Path, "target tfile "+path+"\n-- first --\ntfind 0\n").Section(t, "first"); !strings.Contains(out, "Found trace frame 0") {
		t.Errorf("GDB says %s", out)
	}

	live := clitest.Run(t, "record", "-q", "--at", "named", "--collect", "/s name", "--format", "{name}\t{comm}", "--", p.Path).Stdout
	for line := range strings.Lines(live) {
		if name, comm, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); name != comm {
			t.Errorf("a line of %q has the name %q", name, comm)
		}
	}
}
