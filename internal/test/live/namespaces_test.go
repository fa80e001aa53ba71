package live

import (
	"fmt"
	"strings"
	"testing"

	"tracewell/internal/test/testprog"
)

// TestNamespaces has a library loaded several times into namespaces of their own. GDB must know each copy when it
// is there, and have its breakpoint in it.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	library := testprog.Build(t, "lazylocal", testprog.Variant{Library: true})
	const copies = 4
	script := toMain + "set breakpoint pending on\nbreak value_here\nbreak loaded\n"
	for n := range copies {
		script += fmt.Sprintf("continue\n-- %d --\ninfo sharedlibrary\ninfo breakpoints\n", n)
	}
	s := debug(t, testprog.Build(t, "namespaces", testprog.Variant{}), []string{library.Path, fmt.Sprint(copies - 1)}, script+`
		-- rest --
		delete
		continue
	`)
	for n := range copies {
		text := s.output.Section(t, fmt.Sprint(n))
		if got := strings.Count(text, library.Path+"\n"); got != n+1 {
			t.Errorf("%d copies are loaded, GDB knows %d:\n%s", n+1, got, text)
		}
		if got := strings.Count(text, " in value_here at "); got != n+1 {
			t.Errorf("the breakpoint in %d copies is in %d:\n%s", n+1, got, text)
		}
	}
	if loaded := s.finished(t, "library"); len(loaded) != copies {
		t.Errorf("the program loaded %v", loaded)
	}
}
