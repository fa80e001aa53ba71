//go:build linux && amd64

package printing

import (
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/internal/jsontext"
	"tracewell/internal/test/testprog"
)

// TestJSONOfForeignTexts: whatever a program holds, there is nothing in JSON that a terminal obeys, and the text comes out of it.
func TestJSONOfForeignTexts(t *testing.T) {
	printed, path, texts := clitest.RecordForeign(t, "--print", "--json")
	for name, output := range map[string]string{
		"record":  printed.Stdout,
		"show":    clitest.Run(t, "show", path, "--json").Stdout,
		"diff":    clitest.Run(t, "show", path, "--json", "--diff").Stdout,
		"value":   clitest.Run(t, "show", path, "--json", "--value", "l->text").Stdout,
		"convert": clitest.Run(t, "convert", path, "-", "--to", "json").Stdout,
		"info":    clitest.Run(t, "info", path, "--json").Stdout,
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
		got := clitest.Run(t, args...)
		if strings.ContainsFunc(strings.TrimSuffix(got.Stdout, "\n"), jsontext.Escaped) || !strings.Contains(got.Stdout, `\u009b31m\u007f\u202e`) {
			t.Errorf("%s: %q, %s", args[0], got.Stdout, got.Stderr)
		}
	}
}

// TestCSVOfForeignTexts: no cell is a formula, and without the apostrophe each is what the program had.
func TestCSVOfForeignTexts(t *testing.T) {
	_, path, texts := clitest.RecordForeign(t)
	rows, err := csv.NewReader(strings.NewReader(clitest.Run(t, "convert", path, "-", "--to", "csv").Stdout)).ReadAll()
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
			if start != "" && strings.Contains("=+-@＝", string([]rune(start)[0])) && slices.ContainsFunc(strings.Fields(start), isText) {
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
	got, path := clitest.RecordInto(t, "-q", "--at", "take", "--collect", "*l", "--", p.Path)
	if got.Status != 0 {
		t.Fatal(got.Stderr)
	}
	for _, args := range [][]string{{"--to", "csv"}, {"--to", "json"}, {"--to", "csv", "--where", "l->number == -3"}} {
		found := clitest.Run(t, append([]string{"convert", path, "-"}, args...)...)
		named := clitest.Run(t, append([]string{"convert", path, "-", "--exec", p.Path}, args...)...)
		if diff := cmp.Diff(named, found, cmp.AllowUnexported(clitest.Outcome{})); diff != "" || named.Status != 0 {
			t.Errorf("%q: (-with +without --exec)\n%s", args, diff)
		}
		if !strings.Contains(found.Stdout, "-3") || !strings.Contains(found.Stdout, "take+") {
			t.Errorf("%q prints\n%s", args, found.Stdout)
		}
	}
}

// TestConvertDamagedIsWholeLines: where a folder stops being readable the lines in front of that are whole, and there are all of them.
func TestConvertDamagedIsWholeLines(t *testing.T) {
	folder := t.TempDir()
	merged, whole := filepath.Join(folder, "merged.tf"), filepath.Join(folder, "whole")
	for _, args := range [][]string{{clitest.Basic, clitest.Basic, clitest.Basic, merged}, {merged, whole + "/"}} {
		if got := clitest.Run(t, append([]string{"convert"}, args...)...); got.Status != 0 {
			t.Fatal(got.Stderr)
		}
	}
	stream := []byte(clitest.Content(t, filepath.Join(whole, "datastream")))
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
		got := clitest.Run(t, "convert", bad, "-", "--to", "json")
		if err := os.RemoveAll(bad); err != nil {
			t.Fatal(err)
		}
		if got.Status == 0 || got.Stdout == "" {
			continue
		}
		failed++
		frames := 0
		for line := range strings.Lines(got.Stdout) {
			var object struct{ Frame int }
			if err := json.Unmarshal([]byte(line), &object); err != nil || object.Frame != frames || !strings.HasSuffix(line, "\n") {
				t.Fatalf("damaged at %d: line %d: %v in %.60q … %q", at, frames, err, line, line[max(0, len(line)-30):])
			}
			frames++
		}
		if want := fmt.Sprintf("frame %d: ", frames); !strings.Contains(got.Stderr, want) {
			t.Errorf("damaged at %d: %d frames, and %s", at, frames, got.Stderr)
		}
	}
	if failed < 3 {
		t.Errorf("%d conversions failed", failed)
	}
}

// isText reports whether something is no number.
func isText(field string) bool {
	_, err := strconv.ParseFloat(field, 64)
	return err != nil
}
