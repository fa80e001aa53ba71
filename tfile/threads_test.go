package tfile

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracewell/trace"
)

// TestThreads: comments of names are read back whatever is in the names, and all have the same length.
func TestThreads(t *testing.T) {
	threads := []Thread{{1, 0, "init"}, {math.MaxInt64, math.MaxInt64, "-->\n<!-- \xff\x01%"}, {3, 5, strings.Repeat("\xfe", 15)}, {3, 6, " "}}
	text := WithThreads("<target/>\n"+ThreadPlace(), threads)
	if got := Threads(text); !slices.Equal(got, threads) {
		t.Errorf("%v became %v", threads, got)
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line != "<target/>" && len(line) != len(ThreadPlace()) || strings.Contains(strings.Trim(line, "<>!-"), "--") {
			t.Errorf("%q", line)
		}
	}
	if got := WithThreads(text, nil); got != "<target/>" {
		t.Errorf("without threads it is %q", got)
	}
}

// TestAppendNames: names are put into a file while it is written, as many as there is room for.
func TestAppendNames(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "t.tf"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	a, err := NewAppender(file, Header{Order: binary.LittleEndian, RegisterSize: 8, Status: &trace.Status{},
		Description: strings.Join([]string{"<target>", ThreadPlace(), "</target>", ThreadPlace()}, "\n")})
	if err != nil {
		t.Fatal(err)
	}
	want := []Thread{{7, 0, "a"}, {8, 9, "b-c"}}
	for _, thread := range want {
		if ok, err := a.Name(thread); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	if ok, err := a.Name(want[0]); ok || err != nil {
		t.Error("there is room for a third name", err)
	}
	content, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	f, err := OpenBytes(content)
	if err != nil {
		t.Fatal(err)
	}
	if got := Threads(f.Header().Description); !slices.Equal(got, want) {
		t.Errorf("the file has %v", got)
	}
}
