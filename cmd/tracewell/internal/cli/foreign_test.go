//go:build amd64

package cli

import (
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/jsontext"
	"tracewell/internal/test/testprog"
)

// recordForeign records the texts of the program foreign, and returns the file with what the program says that they are.
func recordForeign(t *testing.T, more ...string) (got outcome, path string, texts []string) {
	t.Helper()
	p := testprog.Build(t, "foreign", testprog.Variant{})
	args := append([]string{"-q", "--at", "take", "--collect", "/s l->text", "--collect", "l->number, -l->number"}, more...)
	got, path = recordInto(t, append(args, "--", p.Path)...)
	for _, r := range testprog.OfKind(testprog.Records(got.stdout), "take") {
		b, err := hex.DecodeString(r.Fields["text"])
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(b))
	}
	if got.status != 0 || len(texts) < 10 {
		t.Fatalf("status %d, %d texts: %s", got.status, len(texts), got.stderr)
	}
	return got, path, texts
}

// TestJSONOfForeignTexts: whatever a program holds, there is nothing in JSON that a terminal obeys, and the text comes out of it.
func TestJSONOfForeignTexts(t *testing.T) {
	printed, path, texts := recordForeign(t, "--print", "--json")
	for name, output := range map[string]string{
		"record":  printed.stdout,
		"show":    run(t, "show", path, "--json").stdout,
		"diff":    run(t, "show", path, "--json", "--diff").stdout,
		"value":   run(t, "show", path, "--json", "--value", "l->text").stdout,
		"convert": run(t, "convert", path, "-", "--to", "json").stdout,
		"info":    run(t, "info", path, "--json").stdout,
	} {
		plain := strings.ReplaceAll(output, "\n", "")
		if i := strings.IndexFunc(plain, jsontext.Escaped); i >= 0 || plain == "" {
			t.Errorf("%s: %q", name, plain[max(0, i):min(len(plain), i+20)])
		}
		if name != "record" && name != "show" && name != "convert" {
			continue
		}
		frame := 0
		for line := range strings.Lines(output) {
			var object struct{ Collected map[string]any }
			if err := json.Unmarshal([]byte(line), &object); err != nil || object.Collected == nil {
				continue // the program's own lines, and what came of the run
			}
			// A text that is not all printable is given as its bytes.
			text := object.Collected["l->text"].(string)
			if raw, err := hex.DecodeString(text); err == nil && len(raw) > 0 {
				text = strings.TrimSuffix(string(raw), "\x00")
			}
			if text != texts[frame] || !strings.Contains(line, `"l->number":`) {
				t.Errorf("%s, frame %d: %q, want %q in %s", name, frame, text, texts[frame], line)
			}
			frame++
		}
		if frame != len(texts) {
			t.Errorf("%s has %d frames of %d", name, frame, len(texts))
		}
	}
}

// TestMatchJSONOfForeignTexts is the same for what lines of execution traces hold.
func TestMatchJSONOfForeignTexts(t *testing.T) {
	folder := t.TempDir()
	trace := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("1 clk 0 IT (1) 00001000 00000013 A svc : nop "+text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const commands = "\u009b31m\x7f\u202e"
	a, b := trace("a.log", "a"+commands), trace("b"+commands+".log", commands)
	for _, args := range [][]string{{"match", "--json", a, b}, {"convert", b, "-", "--to", "jsonl"}} {
		got := run(t, args...)
		if strings.ContainsFunc(strings.TrimSuffix(got.stdout, "\n"), jsontext.Escaped) || !strings.Contains(got.stdout, `\u009b31m\u007f\u202e`) {
			t.Errorf("%s: %q, %s", args[0], got.stdout, got.stderr)
		}
	}
}

// TestCSVOfForeignTexts: no cell is a formula, and without the apostrophe each is what the program had.
func TestCSVOfForeignTexts(t *testing.T) {
	_, path, texts := recordForeign(t)
	rows, err := csv.NewReader(strings.NewReader(run(t, "convert", path, "-", "--to", "csv").stdout)).ReadAll()
	if err != nil || len(rows) != len(texts)+1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	column := slices.Index(rows[0], "l->text")
	number := slices.Index(rows[0], "l->number")
	if !slices.Contains(rows[0], "'-l->number") {
		t.Errorf("the header is %q", rows[0])
	}
	for i, row := range rows[1:] {
		for _, cell := range row {
			start := strings.TrimSpace(cell)
			if start != "" && strings.Contains("=+-@＝", string([]rune(start)[0])) && slices.ContainsFunc(strings.Fields(start), isWord) {
				t.Errorf("frame %d: a spreadsheet computes %q", i, cell)
			}
		}
		text := strings.TrimPrefix(row[column], "'")
		if raw, err := hex.DecodeString(strings.ReplaceAll(text, " ", "")); err == nil && strings.Contains(text, " ") {
			text = strings.TrimSuffix(string(raw), "\x00")
		}
		if text != texts[i] {
			t.Errorf("frame %d: %q, want %q", i, text, texts[i])
		}
		if strings.HasPrefix(row[number], "'") {
			t.Errorf("frame %d: the number %s is a text", i, row[number])
		}
	}
}

// TestConvertFindsTheProgram: as show does, by what the file says of it.
func TestConvertFindsTheProgram(t *testing.T) {
	p := testprog.Build(t, "foreign", testprog.Variant{})
	got, path := recordInto(t, "-q", "--at", "take", "--collect", "*l", "--", p.Path)
	if got.status != 0 {
		t.Fatal(got.stderr)
	}
	for _, args := range [][]string{{"--to", "csv"}, {"--to", "json"}, {"--to", "csv", "--where", "l->number == -3"}} {
		found := run(t, append([]string{"convert", path, "-"}, args...)...)
		named := run(t, append([]string{"convert", path, "-", "--exec", p.Path}, args...)...)
		if diff := cmp.Diff(named, found, cmp.AllowUnexported(outcome{})); diff != "" || named.status != 0 {
			t.Errorf("%q: (-with +without --exec)\n%s", args, diff)
		}
		if !strings.Contains(found.stdout, "-3") || !strings.Contains(found.stdout, "take+") {
			t.Errorf("%q prints\n%s", args, found.stdout)
		}
	}
}

// TestConvertDamagedIsWholeLines: where a folder stops being readable the lines in front of that are whole, and there are all of them.
func TestConvertDamagedIsWholeLines(t *testing.T) {
	folder := t.TempDir()
	merged, whole := filepath.Join(folder, "merged.tf"), filepath.Join(folder, "whole")
	for _, args := range [][]string{{basic, basic, basic, merged}, {merged, whole + "/"}} {
		if got := run(t, append([]string{"convert"}, args...)...); got.status != 0 {
			t.Fatal(got.stderr)
		}
	}
	stream := []byte(content(t, filepath.Join(whole, "datastream")))
	failed := 0
	for at := 50_000; at < len(stream)-64; at += 25_001 {
		bad := filepath.Join(folder, "bad")
		if err := os.CopyFS(bad, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		spoiled := slices.Clone(stream)
		copy(spoiled[at:], strings.Repeat("\xff", 64))
		if err := os.WriteFile(filepath.Join(bad, "datastream"), spoiled, 0o644); err != nil {
			t.Fatal(err)
		}
		got := run(t, "convert", bad, "-", "--to", "json")
		if err := os.RemoveAll(bad); err != nil {
			t.Fatal(err)
		}
		if got.status == 0 || got.stdout == "" {
			continue
		}
		failed++
		frames := 0
		for line := range strings.Lines(got.stdout) {
			var object struct{ Frame int }
			if err := json.Unmarshal([]byte(line), &object); err != nil || object.Frame != frames || !strings.HasSuffix(line, "\n") {
				t.Fatalf("damaged at %d: line %d: %v in %.60q … %q", at, frames, err, line, line[max(0, len(line)-30):])
			}
			frames++
		}
		if want := fmt.Sprintf("frame %d: ", frames); !strings.Contains(got.stderr, want) {
			t.Errorf("damaged at %d: %d frames, and %s", at, frames, got.stderr)
		}
	}
	if failed < 3 {
		t.Errorf("%d conversions failed", failed)
	}
}

// TestValueCountsTexts: of a pointer to characters it is the texts that are counted, not where they are.
func TestValueCountsTexts(t *testing.T) {
	_, path, texts := recordForeign(t)
	want := map[string]int{}
	for _, text := range texts {
		want[text]++
	}
	for _, value := range []string{"l->text", "(char *)l->text"} {
		var object figuresObject
		if err := json.Unmarshal([]byte(run(t, "show", path, "--json", "--value", value).stdout), &object); err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, m := range object.Values[0].Texts {
			got[m.Text] = m.Count
		}
		if diff := cmp.Diff(want, got); diff != "" || object.Values[0].Count != len(texts) {
			t.Errorf("%s: (-want +got)\n%s", value, diff)
		}
		shown := run(t, "show", path, "--value", value).stdout
		if !strings.Contains(shown, fmt.Sprintf("texts     %d, %d different\n", len(texts), len(want))) || !strings.Contains(shown, "\"@SUM(A1)\"  1  █") {
			t.Errorf("%s prints\n%s", value, shown)
		}
		if i := strings.IndexFunc(strings.ReplaceAll(shown, "\n", ""), jsontext.Escaped); i >= 0 {
			t.Errorf("%s prints commands: %q", value, shown)
		}
	}
}
