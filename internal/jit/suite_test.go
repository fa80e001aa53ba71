//go:build linux && amd64

package jit

import (
	"bufio"
	_ "embed"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracewell/ax"
)

// gdbsuite has the expressions that GDB 13.1 sent in the files of gdb.trace and of gdb.base about conditions and dprintf of its own
// test-suite, and those in recordings of sessions, one a line in hexadecimal.
//
//go:embed testdata/gdbsuite.txt
var gdbsuite string

// suite decodes them.
func suite(t testing.TB) (list []*ax.Program) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(gdbsuite))
	for lines.Scan() {
		code, err := hex.DecodeString(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		p, err := ax.Decode(code)
		if err != nil {
			t.Fatalf("%x: %v", code, err)
		}
		list = append(list, p)
	}
	return list
}

// TestSuite compiles all that GDB's own test-suite makes: nothing is refused, and all does what ax.Machine does.
func TestSuite(t *testing.T) {
	b := newBench(t, 4)
	list := suite(t)
	for _, p := range list {
		for m := range modes {
			if diff, err := b.differs(p, m, 20); err != nil || diff != "" {
				t.Errorf("%v\n%s%v", err, diff, p)
			}
		}
	}
	t.Logf("%d expressions: %v", len(list), b.outcomes)
}

// inPackets matches an expression in a packet or in a line of a trace file, and inCorpus one in the corpus of a fuzz target.
var (
	inPackets = regexp.MustCompile(`X([0-9a-f]{1,4}),((?:[0-9a-f]{2})+)`)
	inCorpus  = regexp.MustCompile(`(?m)^\[\]byte\((".*")\)$`)
)

// TestTestdata compiles whatever the test data of the whole tree has that decodes.
func TestTestdata(t *testing.T) {
	b, seen, compiled, refused := newBench(t, 5), map[string]bool{}, 0, map[string]int{}
	try := func(code []byte) {
		p, err := ax.Decode(code)
		if err != nil || seen[string(code)] {
			return
		}
		seen[string(code)] = true
		for m := range modes {
			diff, err := b.differs(p, m, 5)
			var refusal *Refusal
			switch {
			case errors.As(err, &refusal):
				refused[refusal.Why]++
			case err != nil || diff != "":
				t.Errorf("%v\n%s%v", err, diff, p)
			default:
				compiled++
			}
		}
	}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !slices.Contains(strings.Split(path, "/"), "testdata") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range inPackets.FindAllSubmatch(text, -1) {
			code, _ := hex.DecodeString(string(found[2]))
			if n, _ := strconv.ParseUint(string(found[1]), 16, 16); int(n) <= len(code) {
				try(code[:n])
			}
		}
		if strings.HasPrefix(path, filepath.Join("..", "..", "ax")) {
			for _, found := range inCorpus.FindAllSubmatch(text, -1) {
				code, _ := strconv.Unquote(string(found[1]))
				try([]byte(code))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d programs compiled %d times, refused: %v", len(seen), compiled, refused)
	if len(seen) < 20 {
		t.Error("that is not all that there is")
	}
}
