package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/internal/packed"
)

// TestCheckGolden compares what check prints with testdata/check-NAME.golden.
func TestCheckGolden(t *testing.T) {
	dir := t.TempDir()
	wrong := filepath.Join(dir, "wrong.tf")
	clitest.Put(t, wrong, bytes.ReplaceAll([]byte(clitest.Content(t, clitest.Basic)), []byte("tp T4:"), []byte("tp Q4:")))
	for name, args := range map[string][]string{
		"basic":        {clitest.Basic},
		"pie":          {clitest.Pie},
		"pie-exec":     {clitest.Pie, "--exec", clitest.PieProgram},
		"damaged":      {clitest.Damaged},
		"damaged-exec": {clitest.Damaged, "--exec", clitest.BasicProgram},
		"damaged-json": {clitest.Damaged, "--json"},
		"damaged-fix":  {clitest.Damaged, "--fix", filepath.Join(dir, "damaged.tf")},
		"wrong-fix":    {wrong, "--fix", filepath.Join(dir, "mended.tf")},
		"other":        {clitest.BasicProgram},
		"other-json":   {clitest.BasicProgram, "--json"},
	} {
		t.Run(name, func(t *testing.T) {
			got := clitest.Run(t, append([]string{"check"}, args...)...)
			text := fmt.Sprintf("%s-- standard error --\n%s-- exit status %d --\n", got.Stdout, got.Stderr, got.Status)
			clitest.Golden(t, "check-"+name, strings.ReplaceAll(text, dir, "DIR"))
		})
	}
}

// TestCheckJSON reads the object as a program would.
func TestCheckJSON(t *testing.T) {
	for path, want := range map[string]struct {
		status  int
		verdict string
		rules   string
	}{
		clitest.Basic:        {console.StatusDone, "well-formed", ""},
		clitest.Damaged:      {console.StatusFinding, "findings", "fast-tracepoint misreads 15330 register-size-contradicted refuses 17989 "},
		clitest.BasicProgram: {console.StatusFailure, "unreadable", "magic refuses 0 "},
	} {
		got := clitest.Run(t, "check", path, "--json")
		var report struct {
			Verdict  string
			Findings []struct {
				Offset               *int64
				Rule, Severity, Text string
			}
		}
		if err := json.Unmarshal([]byte(got.Stdout), &report); err != nil {
			t.Fatalf("%s: %v in %+v", path, err, got)
		}
		rules := ""
		for _, f := range report.Findings {
			rules += fmt.Sprintf("%s %s %d ", f.Rule, f.Severity, *f.Offset)
		}
		if got.Status != want.status || report.Verdict != want.verdict || rules != want.rules {
			t.Errorf("%s: status %d, verdict %q, %q", path, got.Status, report.Verdict, rules)
		}
		if report.Findings == nil {
			t.Errorf("%s: findings are null", path)
		}
	}
}

// TestCheckFixNeverWritesOverItsInput names the input in every way that there is.
func TestCheckFixNeverWritesOverItsInput(t *testing.T) {
	dir := t.TempDir()
	file, soft, hard := filepath.Join(dir, "a.tf"), filepath.Join(dir, "soft.tf"), filepath.Join(dir, "hard.tf")
	clitest.Put(t, file, []byte(clitest.Content(t, clitest.Damaged)))
	if err := os.Symlink(file, soft); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(file, hard); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for _, args := range [][]string{{file, file}, {file, soft}, {soft, hard}, {"-", file}} {
		got := clitest.RunWith(t, in, "check", args[0], "--fix", args[1])
		if got.Status != console.StatusFailure || !strings.Contains(got.Stderr, "is read, too: write to another file") {
			t.Errorf("%v: %+v", args, got)
		}
	}
	if clitest.Content(t, file) != clitest.Content(t, clitest.Damaged) {
		t.Error("the file has changed")
	}
}

// TestCheckFixInterrupted: after Ctrl-C there is no half of a file.
func TestCheckFixInterrupted(t *testing.T) {
	source, err := input.OpenPacked(clitest.Basic, console.Streams{In: os.Stdin, Err: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	dir := t.TempDir()
	streams := console.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	c := Command{File: clitest.Basic, Fix: filepath.Join(dir, "fixed.tf")}
	examined, err := c.examine(source, streams)
	if err != nil {
		t.Fatal(err)
	}
	before := clitest.Listing(t, dir)
	source.ReaderAt = &clitest.Hurried{ReaderAt: source.ReaderAt, T: t}
	if err := c.fix(examined, clitest.Basic, streams); !errors.Is(err, console.ErrInterrupted) {
		t.Errorf("error %v", err)
	}
	if after := clitest.Listing(t, dir); !slices.Equal(after, before) {
		t.Errorf("%v is left", after)
	}
}

// TestCheckPackedAndPiped reads a compressed file from a pipe and writes one.
func TestCheckPackedAndPiped(t *testing.T) {
	dir := t.TempDir()
	compressed, out := filepath.Join(dir, "a.tf.gz"), filepath.Join(dir, "b.tf.zst")
	method, _ := packed.BySuffix(compressed)
	err := packed.Write(compressed, method, func(w io.Writer) error {
		_, err := io.WriteString(w, clitest.Content(t, clitest.Damaged))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		defer w.Close()
		io.WriteString(w, clitest.Content(t, compressed))
	}()
	got := clitest.RunWith(t, r, "check", "-", "--fix", out)
	if got.Status != console.StatusFinding || !strings.Contains(got.Stderr, "b.tf.zst: 1 frame, well-formed") {
		t.Errorf("%+v", got)
	}
	if got := clitest.Run(t, "check", out); got.Status != console.StatusDone {
		t.Errorf("%+v", got)
	}
	clitest.Put(t, compressed, []byte(clitest.Content(t, compressed)[:2000]))
	if got := clitest.Run(t, "check", compressed); got.Status != console.StatusFailure || !strings.Contains(got.Stdout, "[definitions-end]") {
		t.Errorf("cut file: %+v", got)
	}
}

// TestCheckMisuse: a wrong command line says what is wrong.
func TestCheckMisuse(t *testing.T) {
	for want, args := range map[string][]string{
		`<file> is missing (see tracewell check --help)`: {},
		"open nowhere.tf: no such file":                  {"nowhere.tf"},
		"open nowhere: no such file":                     {clitest.Basic, "--exec", "nowhere"},
		clitest.Basic + ": reading an ELF file: ":        {clitest.Basic, "--exec", clitest.Basic},
		"open no/such/folder.tf":                         {clitest.Basic, "--fix", "no/such/folder.tf"},
		"--fix -: the findings go to standard output":    {clitest.Basic, "--fix", "-"},
	} {
		if got := clitest.Run(t, append([]string{"check"}, args...)...); got.Status != console.StatusFailure || !strings.Contains(got.Stderr, want) {
			t.Errorf("%v: %+v", args, got)
		}
	}
}
