package symbol

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/testprog"
)

// TestPatterns: a pattern means the functions that match it, one by one, of the executable, a source file, or a library.
func TestPatterns(t *testing.T) {
	built := testprog.Build(t, "kinds", testprog.Variant{})
	p := openProgram(t, built.Path)
	const library = "/lib/x86_64-linux-gnu/libc.so.6"
	libc, err := p.Add(library, 0x7f0000000000)
	if err != nil {
		t.Fatal(err)
	}
	take := testprog.Symbols(t, built.Path)["take"]
	for spec, means := range map[string][]string{
		"tak*":                     {"take"},
		"t?ke":                     {"take"},
		"/^(take|late)$/":          {"take", "late"},
		"kinds.c:*":                {"hex", "take", "late", "run", "main"},
		"kinds.c:/^l|^m/":          {"late", "main"},
		"kinds:/^(take|late)$/":    {"take", "late"},
		"kinds:take":               {"take"},
		"libc.so.6:getpid":         {"getpid"},
		"libc:getpid":              {"getpid"},
		"libc.so:getpid+4":         {"getpid+4"},
		library + ":getpid":        {"getpid"},
		"libc:/^getp(p|g)id$/":     {"getppid", "getpgid"},
		"kinds:" + hex(take.Value): {"*take"},
		"memcpy@GLIBC_2.2.5":       {"memcpy@GLIBC_2.2.5"},
		"memcpy@GLIBC_2.14":        {"memcpy@@GLIBC_2.14"},
		"take(int*)":               nil,
		"operator*":                nil,
		"nos*":                     nil,
		"getpi*":                   nil, // a pattern alone is of the executable
		"libc:tak*":                nil,
		"libc:take":                nil,
		"kinds:0x1":                nil,
		"nonsuch.so:*":             nil,
	} {
		var want []arch.Addr
		for _, name := range means {
			some, err := locate(p, name)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			want = append(want, some...)
		}
		slices.Sort(want)
		want = slices.Compact(want)
		got, err := locate(p, spec)
		if !slices.Equal(got, want) || (err == nil) != (len(want) > 0) {
			t.Errorf("%s: %v (%v), want %v", spec, got, err, want)
		}
	}
	if got, err := p.Locate("libc:str*"); err != nil || slices.ContainsFunc(got, func(l Location) bool { return l.Resolver || l.Object != libc }) {
		t.Errorf("libc:str* gives %v, error %v", got, err)
	}
	if _, err := p.Locate("/(/"); err == nil || !strings.Contains(err.Error(), "no regular expression") || !strings.Contains(err.Error(), "^~~") {
		t.Errorf("/(/: %v", err)
	}
}

// TestObjectAddress: an address of a file is found without a look at the names of the program, which would take milliseconds, and a
// file that the program does not have yet is reported as quickly.
func TestObjectAddress(t *testing.T) {
	p := openProgram(t, testprog.Build(t, "kinds", testprog.Variant{}).Path)
	libc, err := p.Add("/lib/x86_64-linux-gnu/libc.so.6", 0x7f0000000000)
	if err != nil {
		t.Fatal(err)
	}
	getpid, err := locate(p, "*getpid")
	if err != nil {
		t.Fatal(err)
	}
	function := "libc.so.6:" + (getpid[0] - libc.bias).String()
	if got, err := locate(p, function); err != nil || !slices.Equal(got, getpid) {
		t.Fatalf("%s: %v (%v), want %v", function, got, err, getpid)
	}
	for _, spec := range []string{function, "libnonsuch.so:0x1234"} {
		if n := testing.AllocsPerRun(10, func() { p.Locate(spec) }); n > 200 { // with all names it would be some ten thousand
			t.Errorf("%v allocations for %s", n, spec)
		}
	}
	if _, err := p.Locate("kinds.c:0x1"); err == nil || err.Error() != "no executable or library kinds.c; did you mean kinds?" {
		t.Errorf("an address in a source file: %v", err)
	}
}

// TestLinkedNames: a file of the program may be given by a symbolic link, beside it or by its path.
func TestLinkedNames(t *testing.T) {
	built, dir := testprog.Build(t, "kinds", testprog.Variant{}), t.TempDir()
	content, err := os.ReadFile(built.Path)
	if err != nil {
		t.Fatal(err)
	}
	real, link := filepath.Join(dir, "check-rdb"), filepath.Join(dir, "server")
	if err := errors.Join(os.WriteFile(real, content, 0o700), os.Symlink("check-rdb", link)); err != nil {
		t.Fatal(err)
	}
	p := openProgram(t, real)
	want, err := locate(p, "take")
	if err != nil {
		t.Fatal(err)
	}
	for spec, found := range map[string]bool{"check-rdb:take": true, "server:take": true, link + ":tak*": true, "serve:take": false} {
		if got, err := locate(p, spec); found != slices.Equal(got, want) || found != (err == nil) {
			t.Errorf("%s: %v (%v), of %v", spec, got, err, want)
		}
	}
}

func hex(n uint64) string { return arch.Addr(n).String() }
