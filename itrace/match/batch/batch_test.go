package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/itrace/match"
)

func TestSplitNames(t *testing.T) {
	for line, want := range map[string]string{
		"":                          "",
		"  ":                        "",
		"# a b":                     "",
		"  # a b":                   "",
		"a b":                       "a|b",
		" a   b  ":                  "a|b",
		"a b # c":                   "a|b",
		"a#1 b#2":                   "a#1|b#2",
		`"a b" 'c "d"'`:             `a b|c "d"`,
		`"" b`:                      "|b",
		"a b\tc d":                  "a b|c d",
		"a b \t\t c d # no comment": "a b|c d # no comment",
		"\"a b\"\tc\r":              "a b|c",
		"a b\r":                     "a|b",
		"a b c":                     "a|b|c",
	} {
		if names, err := splitNames(line); err != nil || strings.Join(names, "|") != want {
			t.Errorf("%q: %q, %v", line, names, err)
		}
	}
	if names, err := splitNames(`a "b c`); err == nil {
		t.Errorf("an open quote: %q", names)
	}
}

func TestShardText(t *testing.T) {
	for _, wrong := range []string{"", "1", "4/4", "-1/4", "0/0", "a/b", "1/2/3", "8/4"} {
		if err := new(Shard).UnmarshalText([]byte(wrong)); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

// TestManifestNames writes names in each of the ways that a manifest has, and reads them back.
func TestManifestNames(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	letters := []rune("ab#'\" \tä./")
	name := func(without string) string {
		for {
			b := make([]rune, 1+random.IntN(5))
			for i := range b {
				b[i] = letters[random.IntN(len(letters))]
			}
			if s := string(b); !strings.ContainsAny(s, without) && strings.TrimSpace(s) == s && s != "-" && s[0] != '/' {
				return s
			}
		}
	}
	for range 2000 {
		var line string
		var names [2]string
		switch random.IntN(3) {
		case 0: // by blanks; a name may hold quotes and # but not begin with one
			names = [2]string{"x" + name(" \t"), "y" + name(" \t")}
			line = names[0] + "  " + names[1] + " # x"
		case 1: // by a tab
			names = [2]string{"x" + name("\t"), "y" + name("\t")}
			line = names[0] + "\t" + names[1]
		default: // in quotes
			names = [2]string{name("'\t"), name("\"\t")}
			line = "'" + names[0] + "' \"" + names[1] + "\""
		}
		pairs, err := Manifest(strings.NewReader("# list\n\n"+line+"\n"), "m", "dir", Whole)
		if err != nil || len(pairs) != 1 || pairs[0].Reference != filepath.Join("dir", names[0]) || pairs[0].Other != filepath.Join("dir", names[1]) {
			t.Fatalf("%q: %q comes back as %+v, %v", line, names, pairs, err)
		}
	}
}

// TestManifestErrors: the path and the line are named, and nothing is guessed.
func TestManifestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "m lists no pairs",
		"a b\n\na\n":                           "m:3: found 1 name, expected REFERENCE and OTHER",
		"a b c\n":                              "m:1: found 3 names",
		"a 'b\n":                               "m:1: a name begins with '",
		"- b\n":                                "m:1: standard input cannot be one of several traces",
		"a b\n" + strings.Repeat("x", 1<<16+1): "m:2: ",
		strings.Repeat("a b\n", maxPairs+1):    fmt.Sprintf("m lists %d pairs: want %d at most", maxPairs+1, maxPairs),
	} {
		if _, err := Manifest(strings.NewReader(text), "m", ".", Whole); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
	pairs, err := Manifest(strings.NewReader("/a b\n"), "x/../m", "f", Whole)
	want := []Pair{{Name: "/a b", Reference: "/a", Other: "f/b", Place: &match.PairPlace{Manifest: "m", Number: 1, Total: 1, Shards: 1}}}
	if diff := cmp.Diff(want, pairs); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// pairsOf is a manifest of n pairs, read as a shard.
func pairsOf(t *testing.T, name string, n int, part Shard) []Pair {
	t.Helper()
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, "ref%d other%d\n", i, i)
	}
	pairs, err := Manifest(strings.NewReader(lines.String()), name, ".", part)
	if err != nil {
		t.Fatal(err)
	}
	return pairs
}

// compared is a result that tells which pair it is of.
func compared(_ context.Context, p Pair) *Result {
	r := &Result{Result: match.Result{Name: p.Name, Pair: p.Place, Report: &match.Report{Verdict: match.Different, Reason: p.Other}}}
	r.Differences, r.Counts = []match.Difference{}, map[match.Class]int64{}
	return r
}

// asJSON is what match --json would have written of these.
func asJSON(t *testing.T, results []*Result) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, r := range results {
		if err := json.NewEncoder(&out).Encode(r.Result); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// TestShardsMerge: the shards of a manifest, written, read and merged in any order, are the whole, or lack just what was left out.
func TestShardsMerge(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		n, shards := 1+random.IntN(12), 1+random.IntN(8)
		whole := slices.Collect(Compare(t.Context(), pairsOf(t, "list", n, Whole), 3, compared))
		var files [][]*Result
		for i := range shards {
			files = append(files, slices.Collect(Compare(t.Context(), pairsOf(t, "list", n, Shard{i, shards}), 2, compared)))
		}
		lost := -1 // this machine has died
		if random.IntN(2) == 0 {
			lost = random.IntN(shards)
		}
		var all []*Result
		for _, i := range random.Perm(shards) {
			if i == lost {
				continue
			}
			read, err := Read(bytes.NewReader(asJSON(t, files[i])), fmt.Sprint("shard ", i))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, read...)
		}
		merged, err := Merge(all)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) == 0 {
			if len(merged) != 0 {
				t.Errorf("%d results of nothing", len(merged))
			}
			continue
		}
		if len(merged) != n {
			t.Fatalf("%d pairs, %d shards without %d: %d results", n, shards, lost, len(merged))
		}
		for i, r := range merged {
			if missing := i%shards == lost; missing != (r.Verdict == match.Failed) || !missing && (r.Name != whole[i].Name || r.Reason != whole[i].Reason) ||
				r.Pair.Number != i+1 || r.Pair.Total != n || r.Pair.Shard != i%shards {
				t.Fatalf("%d pairs, %d shards without %d: result %d is %s, %s, %+v", n, shards, lost, i, r.Name, r.Verdict, *r.Pair)
			}
		}
		if again, err := Merge(merged); err != nil || !slices.Equal(again, merged) {
			t.Errorf("merged again: %v", err)
		}
	}
}

// TestMergeRefused: results that do not belong together, and what is no result.
func TestMergeRefused(t *testing.T) {
	of := func(file, manifest string, n int, part Shard) []*Result {
		results := slices.Collect(Compare(t.Context(), pairsOf(t, manifest, n, part), 1, compared))
		for _, r := range results {
			r.File = file
		}
		return results
	}
	for want, all := range map[string][]*Result{
		"pair 1 of list is both in a and in b":                                   slices.Concat(of("a", "list", 3, Whole), of("b", "list", 3, Whole)),
		"b: list there had 4 pairs in 2 shards, in a it had 3 pairs in 2 shards": slices.Concat(of("a", "list", 3, Shard{0, 2}), of("b", "list", 4, Shard{1, 2})),
		"b: list there had 3 pairs in 3 shards, in a it had 3 pairs in 2 shards": slices.Concat(of("a", "list", 3, Shard{0, 2}), of("b", "list", 3, Shard{1, 3})),
	} {
		if _, err := Merge(all); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	two, err := Merge(slices.Concat(of("a", "one", 2, Whole), []*Result{compared(t.Context(), Pair{Name: "x y"})}, of("b", "two", 2, Whole)))
	if err != nil || len(two) != 5 || two[0].Name != "x y" || two[1].Pair.Manifest != "one" || two[4].Pair.Manifest != "two" {
		t.Errorf("%v: %d results", err, len(two))
	}
	const place = `{"verdict":"equal","pair":{"manifest":"m","number":%d,"total":%d,"shard":%d,"shards":%d}}`
	for text, want := range map[string]string{
		`{"verdict":"equal"}`:                          "",
		fmt.Sprintf(place, 3, 4, 0, 2):                 "",
		`{}`:                                           "behind byte 0: no result of match --json: it lacks a verdict",
		`{"verdict":"fine"}`:                           "it lacks a verdict",
		`{"verdict":"equal"} {"verd`:                   "behind byte 19: no result of match --json: unexpected EOF",
		`[]`:                                           "cannot unmarshal",
		fmt.Sprintf(place, 0, 4, 0, 2):                 "pair 0 of 4 in shard 0/2 is none that there is",
		fmt.Sprintf(place, 5, 4, 0, 2):                 "none that there is",
		fmt.Sprintf(place, 3, 4, 1, 2):                 "none that there is",
		fmt.Sprintf(place, 3, 4, 0, 0):                 "none that there is",
		fmt.Sprintf(place, maxPairs, maxPairs, 0, 1):   "none that there is",
		fmt.Sprintf(place, 1, maxPairs+1, 0, 1):        "none that there is",
		fmt.Sprintf(place, 1, 5_000_000_000_000, 0, 1): "none that there is",
	} {
		if strings.Contains(text, fmt.Sprint(maxPairs, ",")) {
			want = "" // as many as a manifest may have
		}
		_, err := Read(strings.NewReader(text), "f")
		if ok := err == nil; ok != (want == "") || !ok && !(strings.HasPrefix(err.Error(), "f: ") && strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestCompare: results in the order of the pairs, no more comparisons at the same time than jobs, none after the end.
func TestCompare(t *testing.T) {
	pairs := pairsOf(t, "list", 20, Whole)
	for _, jobs := range []int{1, 3, 20, 50} {
		var running, most atomic.Int64
		release := make(chan struct{})
		go func() {
			for range pairs {
				release <- struct{}{}
			}
		}()
		i := 0
		for r := range Compare(t.Context(), pairs, jobs, func(ctx context.Context, p Pair) *Result {
			now := running.Add(1)
			for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
			}
			<-release
			running.Add(-1)
			return compared(ctx, p)
		}) {
			if r.Name != pairs[i].Name {
				t.Errorf("result %d is %s", i, r.Name)
			}
			i++
		}
		if i != len(pairs) || most.Load() > int64(jobs) {
			t.Errorf("%d jobs: %d results, %d at the same time", jobs, i, most.Load())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	begun := 0
	results := slices.Collect(Compare(ctx, pairs, 1, func(ctx context.Context, p Pair) *Result {
		if begun++; begun == 3 {
			cancel()
		}
		return compared(ctx, p)
	}))
	if begun != 3 || len(results) != len(pairs) {
		t.Fatalf("%d were compared, %d results", begun, len(results))
	}
	for i, r := range results {
		if failed := i >= 3; failed != (r.Verdict == match.Failed) || failed && r.Reason != "interrupted" {
			t.Errorf("result %d: %s %s", i, r.Verdict, r.Reason)
		}
	}
	stopped := make(chan struct{})
	for range Compare(t.Context(), pairs[:2], 2, func(ctx context.Context, p Pair) *Result {
		if p.Place.Number == 2 {
			<-ctx.Done()
			close(stopped)
		}
		return compared(ctx, p)
	}) {
		break
	}
	<-stopped // who takes no more results cancels what runs
	for range Compare(t.Context(), nil, 1, compared) {
		t.Error("a result of nothing")
	}
}
