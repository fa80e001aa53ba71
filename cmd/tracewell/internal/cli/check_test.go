package cli

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

	"tracewell/internal/packed"
)

// TestCheckGolden compares what check prints with testdata/check-NAME.golden.
func TestCheckGolden(t *testing.T) {
	dir := t.TempDir()
	wrong := filepath.Join(dir, "wrong.tf")
	put(t, wrong, bytes.ReplaceAll([]byte(content(t, basic)), []byte("tp T4:"), []byte("tp Q4:")))
	for name, args := range map[string][]string{
		"basic":        {basic},
		"pie":          {pie},
		"pie-exec":     {pie, "--exec", pieProgram},
		"damaged":      {damaged},
		"damaged-exec": {damaged, "--exec", basicProgram},
		"damaged-json": {damaged, "--json"},
		"damaged-fix":  {damaged, "--fix", filepath.Join(dir, "damaged.tf")},
		"wrong-fix":    {wrong, "--fix", filepath.Join(dir, "mended.tf")},
		"other":        {basicProgram},
		"other-json":   {basicProgram, "--json"},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, append([]string{"check"}, args...)...)
			text := fmt.Sprintf("%s-- standard error --\n%s-- exit status %d --\n", got.stdout, got.stderr, got.status)
			golden(t, "check-"+name, strings.ReplaceAll(text, dir, "DIR"))
		})
	}
}

func put(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestCheckJSON reads the object as a program would.
func TestCheckJSON(t *testing.T) {
	for path, want := range map[string]struct {
		status  int
		verdict string
		rules   string
	}{
		basic:        {statusDone, "well-formed", ""},
		damaged:      {statusFinding, "findings", "fast-tracepoint misreads 15330 register-size-contradicted refuses 17989 "},
		basicProgram: {statusFailure, "unreadable", "magic refuses 0 "},
	} {
		got := run(t, "check", path, "--json")
		var report struct {
			Verdict  string
			Findings []struct {
				Offset               *int64
				Rule, Severity, Text string
			}
		}
		if err := json.Unmarshal([]byte(got.stdout), &report); err != nil {
			t.Fatalf("%s: %v in %+v", path, err, got)
		}
		rules := ""
		for _, f := range report.Findings {
			rules += fmt.Sprintf("%s %s %d ", f.Rule, f.Severity, *f.Offset)
		}
		if got.status != want.status || report.Verdict != want.verdict || rules != want.rules {
			t.Errorf("%s: status %d, verdict %q, %q", path, got.status, report.Verdict, rules)
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
	put(t, file, []byte(content(t, damaged)))
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
		got := runWith(t, in, "check", args[0], "--fix", args[1])
		if got.status != statusFailure || !strings.Contains(got.stderr, "is read, too: write to another file") {
			t.Errorf("%v: %+v", args, got)
		}
	}
	if content(t, file) != content(t, damaged) {
		t.Error("the file has changed")
	}
}

// TestCheckFixInterrupted: after Ctrl-C there is no half of a file.
func TestCheckFixInterrupted(t *testing.T) {
	source, err := openPacked(basic, Streams{In: os.Stdin, Err: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	dir := t.TempDir()
	streams := Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	c := checkCommand{File: basic, Fix: filepath.Join(dir, "fixed.tf")}
	examined, err := c.examine(source, streams)
	if err != nil {
		t.Fatal(err)
	}
	before := listing(t, dir)
	source.ReaderAt = &hurried{ReaderAt: source.ReaderAt, t: t}
	if err := c.fix(examined, basic, streams); !errors.Is(err, errInterrupted) {
		t.Errorf("error %v", err)
	}
	if after := listing(t, dir); !slices.Equal(after, before) {
		t.Errorf("%v is left", after)
	}
}

// TestCheckPackedAndPiped reads a compressed file from a pipe and writes one.
func TestCheckPackedAndPiped(t *testing.T) {
	dir := t.TempDir()
	compressed, out := filepath.Join(dir, "a.tf.gz"), filepath.Join(dir, "b.tf.zst")
	method, _ := packed.BySuffix(compressed)
	err := packed.Write(compressed, method, func(w io.Writer) error {
		_, err := io.WriteString(w, content(t, damaged))
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
		io.WriteString(w, content(t, compressed))
	}()
	got := runWith(t, r, "check", "-", "--fix", out)
	if got.status != statusFinding || !strings.Contains(got.stderr, "b.tf.zst: 1 frame, well-formed") {
		t.Errorf("%+v", got)
	}
	if got := run(t, "check", out); got.status != statusDone {
		t.Errorf("%+v", got)
	}
	put(t, compressed, []byte(content(t, compressed)[:2000]))
	if got := run(t, "check", compressed); got.status != statusFailure || !strings.Contains(got.stdout, "[definitions-end]") {
		t.Errorf("cut file: %+v", got)
	}
}

// TestCheckMisuse: a wrong command line says what is wrong.
func TestCheckMisuse(t *testing.T) {
	for want, args := range map[string][]string{
		`<file> is missing (see tracewell check --help)`: {},
		"open nowhere.tf: no such file":                  {"nowhere.tf"},
		"open nowhere: no such file":                     {basic, "--exec", "nowhere"},
		basic + ": reading an ELF file: ":                {basic, "--exec", basic},
		"open no/such/folder.tf":                         {basic, "--fix", "no/such/folder.tf"},
		"--fix -: the findings go to standard output":    {basic, "--fix", "-"},
	} {
		if got := run(t, append([]string{"check"}, args...)...); got.status != statusFailure || !strings.Contains(got.stderr, want) {
			t.Errorf("%v: %+v", args, got)
		}
	}
}
