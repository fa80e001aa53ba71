//go:build linux && amd64

package record

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/internal/test/testprog"
	"tracewell/view/wire"
)

// tallies are the objects of figures in an output.
func tallies(t *testing.T, output string) (all []wire.Tally) {
	t.Helper()
	for line := range strings.Lines(output) {
		if !strings.HasPrefix(line, `{"seconds"`) {
			continue
		}
		var object wire.Tally
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatal(err)
		}
		all = append(all, object)
	}
	return all
}

// said is what the program says of its calls, and found the same of figures: a line for each group and each bucket.
func said(t *testing.T, output string) map[string]int64 {
	t.Helper()
	lines := map[string]int64{}
	for _, r := range testprog.Records(output) {
		key := r.Fields["kind"] + " name " + r.Fields["name"]
		switch r.Kind {
		case "group":
			for _, of := range []string{"hits", "sum", "least", "most"} {
				lines[key+" "+of] = r.Int(t, of)
			}
		case "bucket":
			lines[key+" power "+r.Fields["power"]] = r.Int(t, "hits")
		}
	}
	return lines
}

func found(t *testing.T, object wire.Tally) map[string]int64 {
	t.Helper()
	number := func(raw json.RawMessage) (n int64) {
		if err := json.Unmarshal(raw, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	lines := map[string]int64{}
	for _, g := range object.Groups {
		var kind, name string
		if err := json.Unmarshal(g.Key[0], &kind); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(g.Key[1], &name); err != nil {
			t.Fatal(err)
		}
		key := kind + " " + name
		size, histogram := g.Values[0], g.Values[1]
		lines[key+" hits"] = int64(g.Hits)
		lines[key+" sum"] = number(size.Sum)
		lines[key+" least"], lines[key+" most"] = number(size.Min), number(size.Max)
		for _, b := range histogram.Histogram {
			power := bits.Len64(uint64(max(number(b.Low), 0))) - 1
			if b.Count > 0 {
				lines[fmt.Sprintf("%s power %d", key, power)] += int64(b.Count)
			}
		}
	}
	return lines
}

// figuresOfTallied are the options for what the program says.
var figuresOfTallied = []string{
	"--count-by", "kind, name", "--sum", "size", "--min", "size", "--max", "size", "--histogram", "size", "--quantiles", "size", "--json",
}

// TestFigures holds the figures of a run to those of the program itself, and those of show over the same frames to them. Without -o
// there is no file.
func TestFigures(t *testing.T) {
	p := testprog.Build(t, "tallied", testprog.Variant{})
	at := fmt.Sprintf("tallied.c:%d", p.Line(t, "visited"))
	t.Chdir(t.TempDir())
	for _, traps := range []bool{false, true} {
		args := append([]string{"record", "-q", "--at", at}, figuresOfTallied...)
		rounds := "20000"
		if traps {
			args, rounds = append(args, "--no-pads"), "300"
		}
		got := clitest.Run(t, append(args, "--", p.Path, rounds)...)
		want := said(t, got.Stdout)
		objects := tallies(t, got.Stdout)
		if len(objects) != 1 || len(want) < 30 {
			t.Fatalf("%d objects:\n%s%s", len(objects), got.Stdout, got.Stderr)
		}
		if diff := cmp.Diff(want, found(t, objects[0])); diff != "" {
			t.Errorf("traps %t (-program +record)\n%s", traps, diff)
		}
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) > 0 {
		t.Errorf("the run has left %v, %v", entries, err)
	}
	args := append([]string{"-q", "--at", at}, figuresOfTallied...)
	got, path := clitest.RecordInto(t, append(args, "--", p.Path, "5000")...)
	shown := clitest.Run(t, append([]string{"show", path, "--exec", p.Path}, figuresOfTallied...)...)
	live, after := tallies(t, got.Stdout), tallies(t, shown.Stdout)
	if len(live) != 1 || len(after) != 1 {
		t.Fatalf("%d objects of record and %d of show:\n%s%s", len(live), len(after), got.Stderr, shown.Stderr)
	}
	live[0].Seconds, after[0].Seconds = 0, 0
	if diff := cmp.Diff(live[0], after[0]); diff != "" {
		t.Errorf("(-record +show)\n%s", diff)
	}
}

// TestRepeats: hits that repeat one another are counted in the program, those of threads and a child, with an expression that fails at
// some and one that is never the same at others, and until the program is killed. The figures are those of the program, and a frame
// was made for few of the hits. With traps there is one for each.
func TestRepeats(t *testing.T) {
	const threads, rounds = 3, 20_000
	p := testprog.Build(t, "repeated", testprog.Variant{})
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		name    string
		options []string
		rounds  int
		mode    string
		traps   bool
	}{
		{name: "ends", rounds: rounds}, {name: "killed", rounds: rounds, mode: "kill"},
		{name: "intervals", rounds: rounds, options: []string{"--every", "2ms"}},
		{name: "condition", rounds: rounds, options: []string{"--if", "size >= -3"}},
		{name: "file", rounds: rounds, options: []string{"-o", "whole.tf"}, traps: true},
		{name: "traps", rounds: 200, options: []string{"--no-pads"}, traps: true},
	} {
		args := append([]string{"record", "--follow", "--at", "visit", "--count-by", "item->kind", "--sum", "size", "--json"}, c.options...)
		got := clitest.Run(t, append(args, "--", p.Path, strconv.Itoa(threads), strconv.Itoa(c.rounds), c.mode)...)
		objects := tallies(t, got.Stdout)
		if len(objects) == 0 || len(objects) > 1 != (c.name == "intervals") {
			t.Fatalf("%s: %d objects:\n%s%s", c.name, len(objects), got.Stdout, got.Stderr)
		}
		want, found := map[string]string{}, map[string]string{}
		for _, r := range testprog.Records(got.Stdout) {
			if r.Kind == "group" {
				want[r.Fields["kind"]] = r.Fields["hits"] + " " + r.Fields["sum"]
			}
		}
		for _, g := range objects[len(objects)-1].Groups {
			kind := "NONE"
			if string(g.Key[0]) != "null" {
				if err := json.Unmarshal(g.Key[0], &kind); err != nil {
					t.Fatal(err)
				}
			}
			found[kind] = fmt.Sprintf("%d %s", g.Hits, g.Values[0].Sum)
		}
		if diff := cmp.Diff(want, found); diff != "" || len(want) != 4 {
			t.Errorf("%s (-program +record)\n%s", c.name, diff)
		}
		hits, frames := hitsAndFrames(t, got.Stderr)
		if all := (threads + 1) * c.rounds; hits != all || (frames == all) != c.traps || !c.traps && frames > all/2 {
			t.Errorf("%s: %d hits in %d frames, want %d hits:\n%s", c.name, hits, frames, all, got.Stderr)
		}
	}
}

// hitsAndFrames are those of the one tracepoint in the table that ends a run.
func hitsAndFrames(t *testing.T, stderr string) (hits, frames int) {
	t.Helper()
	_, row, ok := strings.Cut(stderr, "\n 1  visit ")
	if n, err := fmt.Sscan(row, &hits, &frames); !ok || err != nil || n != 2 {
		t.Fatalf("no table: %v\n%s", err, stderr)
	}
	return hits, frames
}

// TestFiguresOfCalls: a call whose return is recorded counts once, when it returns, by what it was called with and how long it took.
func TestFiguresOfCalls(t *testing.T) {
	p := testprog.Build(t, "tallied", testprog.Variant{})
	options := []string{"--count-by", "kind@entry, name@entry", "--sum", "size@entry", "--min", "size@entry", "--max", "size@entry",
		"--histogram", "size@entry", "--quantiles", "$took", "--json"}
	for _, file := range []string{"", filepath.Join(t.TempDir(), "calls.tf")} {
		args := append([]string{"record", "-q", "--at", "visit", "--return"}, options...)
		if file != "" {
			args = append(args, "-o", file)
		}
		got := clitest.Run(t, append(args, "--", p.Path, "3000")...)
		objects, want := tallies(t, got.Stdout), said(t, got.Stdout)
		if file != "" {
			shown := clitest.Run(t, append([]string{"show", file, "--exec", p.Path}, options...)...)
			objects = append(objects, tallies(t, shown.Stdout)...)
		}
		if len(objects) == 0 || len(want) < 30 {
			t.Fatalf("%d objects:\n%s%s", len(objects), got.Stdout, got.Stderr)
		}
		for _, object := range objects {
			for i := range object.Groups {
				g := &object.Groups[i]
				if took := g.Values[1]; took.Count != g.Hits {
					t.Errorf("%d of %d calls took a time", took.Count, g.Hits)
				}
				g.Values = slices.Delete(g.Values, 1, 2)
			}
			if diff := cmp.Diff(want, found(t, object)); diff != "" {
				t.Errorf("(-program +calls)\n%s", diff)
			}
		}
	}
}

// TestFiguresTable: the same as text, with a key that is a field, and what does not fit among the first.
func TestFiguresTable(t *testing.T) {
	p := testprog.Build(t, "tallied", testprog.Variant{})
	at := fmt.Sprintf("tallied.c:%d", p.Line(t, "visited"))
	got := clitest.Run(t, "record", "-q", "--at", at, "--count-by", "comm, tid, function, name", "--top", "2", "--avg", "size",
		"--histogram", "size,0,1000,250", "--", p.Path, "500")
	lines := strings.Split(got.Stdout, "\n")
	title := -1
	for i, line := range lines {
		if strings.Contains(line, " 500 hits, ") && strings.HasSuffix(line, ", 3 keys") {
			title = i
		}
	}
	if title < 0 || title+4 >= len(lines) {
		t.Fatalf("no table:\n%s%s", got.Stdout, got.Stderr)
	}
	if names := strings.Fields(lines[title+1]); strings.Join(names, " ") != "comm tid function name hits % per s avg size" {
		t.Errorf("the columns are %q", names)
	}
	for _, row := range lines[title+2 : title+4] {
		if cells := strings.Fields(row); cells[0] != filepath.Base(p.Path)[:min(15, len(filepath.Base(p.Path)))] || cells[2] != "visit" || cells[3] != `"name` {
			t.Errorf("a row is %s", row)
		}
	}
	if lines[title+4] != "… 1 more keys …" || strings.Count(got.Stdout, "    1000 …") != 2 || strings.Count(got.Stdout, "   … -1") != 2 {
		t.Errorf("it is\n%s", got.Stdout)
	}
}

// TestFiguresEvery: each interval tells of the hits since the one before, which together are those of the run. So many stops take
// longer than an interval on any machine.
func TestFiguresEvery(t *testing.T) {
	p := testprog.Build(t, "ticks", testprog.Variant{})
	const rounds = 10000
	got := clitest.Run(t, "record", "-q", "--no-pads", "--at", "tick", "--max", "now->count", "--every", "10ms", "--json", "--",
		p.Path, strconv.Itoa(rounds))
	objects := tallies(t, got.Stdout)
	hits := 0
	for i, object := range objects {
		hits += object.Recent
		if last := i == len(objects)-1; object.Hits != hits || last != (object.Interval == 0) || last && hits != rounds {
			t.Errorf("object %d of %d: %d hits, %d recent, %d before", i, len(objects), object.Hits, object.Recent, hits-object.Recent)
		}
	}
	if len(objects) < 2 {
		t.Errorf("%d objects: %.300s%s", len(objects), got.Stdout, got.Stderr)
	}
}

// TestFiguresRefused: a wrong figure is an error before the program runs, which names the option.
func TestFiguresRefused(t *testing.T) {
	p := testprog.Build(t, "tallied", testprog.Variant{})
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--count-by", "kynd"}, "--count-by: "},
		{[]string{"--count-by", "kind,"}, "--count-by: "},
		{[]string{"--sum", "nowhere"}, "--sum: "},
		{[]string{"--histogram", "size,1"}, "--histogram: "},
		{[]string{"--histogram", "size,9,1,1"}, "--histogram: "},
		{[]string{"--histogram", "size,0,1000000,1"}, "--histogram: "},
		{[]string{"--max", "$took"}, "--return"},
		{[]string{"--every", "1s"}, "--every"},
		{[]string{"--count-by", "kind", "--print"}, "--print"},
		{[]string{"--count-by", "kind", "--buffer", "1M"}, "--buffer"},
	} {
		args := append([]string{"record", "--at", "visit"}, c.args...)
		got := clitest.Run(t, append(args, "--", p.Path)...)
		if got.Status != 2 || !strings.Contains(got.Stderr, c.want) || got.Stdout != "" {
			t.Errorf("%q: status %d, %s%s", c.args, got.Status, got.Stdout, got.Stderr)
		}
	}
}
