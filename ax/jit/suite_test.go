//go:build linux && amd64

package jit

import (
	"bufio"
	_ "embed"
	"encoding/hex"
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
