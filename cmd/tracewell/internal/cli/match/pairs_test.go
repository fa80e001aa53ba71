//go:build linux

package match

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
)

// manifest are pairs of the traces of traceFolder, in a folder of its own beside it, of which one cannot be compared.
const manifest = `# REFERENCE OTHER
../ref ../same
../ref ../dut

"../ref"	../several
../ref.gz ../dut.zst   # compressed
../ref ../nothing
`

// listed is what comes out of it.
const listed = `equal      ../ref ../same
different  ../ref ../dut: 1 difference, first: register t2 at dut:1751, expected d6a2d9c3, got d6a2d9cb
different  ../ref ../several: 3 differences, first: register sp at several:766, expected 7ff0, got 7ff8
different  ../ref.gz ../dut.zst: 1 difference, first: register t2 at dut.zst:1751, expected d6a2d9c3, got d6a2d9cb
failed     ../ref ../nothing: nothing: no such file or directory
5 pairs: 1 equal, 3 different, 1 failed
`

func pairsFolder(t *testing.T) {
	t.Helper()
	dir := traceFolder(t)
	t.Chdir(dir)
	if err := os.Mkdir("lists", 0o777); err != nil {
		t.Fatal(err)
	}
	clitest.Put(t, "lists/pairs.txt", []byte(manifest))
}

// TestMatchPairs: a line a pair in the order of the manifest, however many are compared at the same time, and the sum.
func TestMatchPairs(t *testing.T) {
	pairsFolder(t)
	for _, jobs := range []string{"1", "3", "9"} {
		got := clitest.Run(t, "match", "--pairs", "lists/pairs.txt", "-j", jobs)
		if diff := cmp.Diff(listed, got.Stdout); diff != "" || got.Stderr != "" || got.Status != console.StatusFailure {
			t.Errorf("-j %s: exit status %d: %s\n%s", jobs, got.Status, got.Stderr, diff)
		}
	}
	for text, want := range map[string]string{
		"":            "lists no pairs",
		"# none\n":    "lists no pairs",
		"../ref\n":    "odd:1: found 1 name, expected REFERENCE and OTHER",
		"\na b c\n":   "odd:2: found 3 names",
		"a 'b\n":      "odd:1: a name begins with '",
		"a -\n":       "odd:1: standard input cannot be one of several traces",
		"../ref same": "no such file or directory",
	} {
		clitest.Put(t, "lists/odd", []byte(text))
		if got := clitest.Run(t, "match", "--pairs", "lists/odd"); got.Status != console.StatusFailure || !strings.Contains(got.Stdout+got.Stderr, want) {
			t.Errorf("%q: want %q: %+v", text, want, got)
		}
	}
	if got := clitest.Run(t, "match", "--pairs", "lists/pairs.txt", "-q"); got.Status != console.StatusFailure || strings.Count(got.Stdout, "\n") != 4 {
		t.Errorf("--quiet: %+v", got)
	}
}

// timings are what is never twice the same in a report.
var timings = regexp.MustCompile(`time="[0-9.]+"|[0-9.]+ s, [0-9]+ MB/s`)

func timeless(report string) string { return timings.ReplaceAllString(report, "TIME") }

// TestMatchShards: the shards together are the whole, in whatever order, by text and by JUnit; what is missing is said.
func TestMatchShards(t *testing.T) {
	pairsFolder(t)
	whole := clitest.Run(t, "match", "--pairs", "lists/pairs.txt", "--junit", "whole.xml")
	for _, count := range []int{1, 2, 3, 8} {
		var files []string
		for i := range count {
			got := clitest.Run(t, "match", "--pairs", "lists/pairs.txt", "--shard", fmt.Sprintf("%d/%d", i, count), "--json")
			file := fmt.Sprintf("shard-%d-%d.json", count, i)
			clitest.Put(t, file, []byte(got.Stdout))
			files = append(files, file)
			if none := i >= 5; none != (got.Stdout == "") || none != strings.Contains(got.Stderr, "has no pair for shard") || none && got.Status != console.StatusDone {
				t.Errorf("shard %d/%d: %+v", i, count, got)
			}
		}
		slices.Reverse(files)
		got := clitest.Run(t, append([]string{"match", "--merge", "--junit", "merged.xml"}, files...)...)
		if diff := cmp.Diff(whole.Stdout, got.Stdout); diff != "" {
			t.Errorf("%d shards:\n%s", count, diff)
		}
		if diff := cmp.Diff(timeless(clitest.Content(t, "whole.xml")), timeless(clitest.Content(t, "merged.xml"))); diff != "" {
			t.Errorf("%d shards:\n%s", count, diff)
		}
		clitest.Put(t, "again.json", []byte(clitest.Run(t, append([]string{"match", "--merge", "--json"}, files...)...).Stdout))
		if diff := cmp.Diff(whole.Stdout, clitest.Run(t, "match", "--merge", "again.json").Stdout); diff != "" {
			t.Errorf("merged again:\n%s", diff)
		}
	}
	got := clitest.Run(t, "match", "--merge", "shard-3-2.json", "shard-3-1.json")
	if got.Status != console.StatusFailure || !strings.Contains(got.Stdout, "failed     pair 1 of lists/pairs.txt: it has no result: shard 0/3") ||
		!strings.Contains(got.Stdout, "pair 4 of lists/pairs.txt: it has") || !strings.HasSuffix(got.Stdout, "5 pairs: 0 equal, 2 different, 3 failed\n") {
		t.Errorf("without shard 0/3: %+v", got)
	}
	for want, files := range map[string][]string{
		"lists/pairs.txt there had 5 pairs in 3 shards, in shard-1-0.json it had 5 pairs in 1 shard": {"shard-3-2.json", "shard-1-0.json"},
		"pair 1 of lists/pairs.txt is both in shard-3-0.json and in shard-3-0.json":                  {"shard-3-0.json", "shard-3-0.json"},
	} {
		if got := clitest.Run(t, append([]string{"match", "--merge"}, files...)...); got.Status != console.StatusFailure || !strings.Contains(got.Stderr, want) {
			t.Errorf("want %q: %+v", want, got)
		}
	}
	text := clitest.Content(t, "shard-3-0.json")
	clitest.Put(t, "endless.json", []byte(strings.ReplaceAll(text, `"total":5`, `"total":5000000000000`)))
	if got := clitest.Run(t, "match", "--merge", "endless.json"); got.Status != console.StatusFailure || !strings.Contains(got.Stderr, "none that there is") {
		t.Errorf("%+v", got)
	}
	clitest.Put(t, "cut.json", []byte(text[:len(text)-20]))
	if got := clitest.Run(t, "match", "--merge", "cut.json"); got.Status != console.StatusFailure || !strings.Contains(got.Stderr, "unexpected EOF") {
		t.Errorf("%+v", got)
	}
}

// merging is the line of a README that merges the results.
func merging(t *testing.T, readme string) string {
	t.Helper()
	for line := range strings.Lines(clitest.Content(t, readme)) {
		if at := strings.Index(line, "tracewell match --merge"); at >= 0 {
			return strings.Trim(line[at:], "'\n")
		}
	}
	t.Fatalf("%s does not say how to merge", readme)
	return ""
}

// TestExamples runs the scripts under examples as the cluster would, each of its jobs, and then what their READMEs say.
func TestExamples(t *testing.T) {
	examples, err := filepath.Abs("../../../../../examples")
	if err != nil {
		t.Fatal(err)
	}
	clitest.AsTracewell(t)
	pairsFolder(t)
	clitest.Put(t, "pairs.txt", []byte(strings.ReplaceAll(manifest, "../", "")))
	slurm := clitest.Content(t, examples+"/match-slurm/match.sbatch")
	_, script, ok := strings.Cut(clitest.Content(t, examples+"/match-kubernetes/job.yaml"), "- |\n")
	script, _, ok2 := strings.Cut(script, "          resources:")
	if !ok || !ok2 {
		t.Fatal("job.yaml has no script where it was")
	}
	here := strings.NewReplacer("/traces/", "./", "/results/", "results/")
	for _, example := range []struct{ name, script, index, readme string }{
		{"Slurm", slurm, "SLURM_ARRAY_TASK_ID", "match-slurm"},
		{"Kubernetes", here.Replace(script), "JOB_COMPLETION_INDEX", "match-kubernetes"},
	} {
		t.Run(example.name, func(t *testing.T) {
			if err := os.MkdirAll("results", 0o777); err != nil {
				t.Fatal(err)
			}
			for i := range 8 {
				out, status := clitest.Shell(t, example.script, fmt.Sprintf("%s=%d", example.index, i), "SHARDS=8")
				if unreadable := i == 4; unreadable != (status != 0) { // the pair of a file that is not there
					t.Errorf("job %d: exit status %d: %s", i, status, out)
				}
			}
			out, status := clitest.Shell(t, here.Replace(merging(t, examples+"/"+example.readme+"/README.md")))
			if status != console.StatusFailure || !strings.HasSuffix(out, "5 pairs: 1 equal, 3 different, 1 failed\n") {
				t.Errorf("exit status %d: %s", status, out)
			}
			for _, file := range []string{"nightly.xml", "nightly.html"} {
				if err := os.Remove(file); err != nil {
					t.Error(err)
				}
			}
			if err := os.RemoveAll("results"); err != nil {
				t.Error(err)
			}
		})
	}
}
