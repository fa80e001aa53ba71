//go:build linux && amd64

package recordtest

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testtool"
)

// seenByDelve is what Delve prints of expressions where main.hit is entered, each on one line.
func seenByDelve(t *testing.T, program string, expressions []string) map[string]string {
	t.Helper()
	script := filepath.Join(t.TempDir(), "script")
	commands := "config max-array-values 200\nconfig max-string-len 1000\nconfig max-variable-recurse 8\nbreak main.hit\ncontinue\n"
	for _, e := range expressions {
		commands += fmt.Sprintf("print \"@%s\"\nprint %s\n", e, e)
	}
	if err := os.WriteFile(script, []byte(commands+"print \"@\"\nexit\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	args := []string{"exec", "--allow-non-terminal-interactive=true", "--init", script, program}
	cmd := exec.CommandContext(ctx, testtool.Delve(t), args...)
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + testtool.Folder, "NO_COLOR=1"}
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("dlv: %v\n%s", err, output)
	}
	found := map[string]string{}
	for _, part := range strings.Split(string(output), "\n\"@")[1:] {
		name, value, _ := strings.Cut(part, "\"\n")
		found[name] = oneLine(value)
	}
	return found
}

// oneLine puts what Delve prints on one line, with a blank behind each comma but for the last in a row.
func oneLine(text string) string {
	var line strings.Builder
	for text != "" {
		if literal := quotation.FindString(text); literal != "" {
			line.WriteString(literal)
			text = text[len(literal):]
			continue
		}
		c := text[:1]
		rest := strings.TrimLeft(text[1:], " \t\n")
		closing := strings.HasPrefix(rest, "]") || strings.HasPrefix(rest, "}")
		switch {
		case c == "," && closing, c == "\n" && closing:
			c, text = "", rest
		case c == ",":
			c, text = ", ", rest
		case c == "\n", strings.HasPrefix(text, "[\n"), strings.HasPrefix(text, "{\n"):
			text = rest
		default:
			text = text[1:]
		}
		line.WriteString(c)
	}
	return strings.TrimSpace(line.String())
}

// quotation matches a literal of a string at the start of a text.
var quotation = regexp.MustCompile(`^"(\\.|[^"\\])*"`)

// What Delve has and show has not: the names of constants, the variables of a closure, and other words for elements that are left out.
var (
	constant  = regexp.MustCompile(`\b[\w.]+ \((-?[0-9]+)\)`)
	variables = regexp.MustCompile(`(main\.main\.func\d+|-fm) \{.*\}$`)
	notLoaded = regexp.MustCompile(`\.\.\.\+([0-9]+) more`)
)

// sortedEntries has the entries of a map in the order of their texts.
func sortedEntries(text string) string {
	title, entries, _ := strings.Cut(strings.TrimSuffix(text, "]"), " [")
	all := strings.Split(entries, ", ")
	slices.Sort(all)
	return title + " [" + strings.Join(all, ", ") + "]"
}

// TestGoAsDelve compares what show prints of values of Go with what Delve prints.
func TestGoAsDelve(t *testing.T) {
	for source, names := range map[string]string{
		"containers.go": "Empty Short UTF8 Long None One Hundred Texts Nested Array Jobs Map0 Map5 Map150 MapOfMaps MapOfSlices NilSlice NilMap " +
			"Cut Func Closure Method NilFunc Funcs Bytes Reals Complex Pointer NilPointer Numbers Mixed Anonymous Unsafe",
		"interfaces.go": "Nil Simple Wrapped Path Own Twice None Int Text Job JobAt Short Real Empty Nested Stringer Errors Func NilMap",
	} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			program := filepath.Join(t.TempDir(), "program")
			cmd := testtool.Command(t, "go", "build", "-gcflags=all=-N -l", "-o", program, filepath.Join("testdata", source))
			if output, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("go build: %v\n%s", err, output)
			}
			var all []string
			for _, name := range strings.Fields(names) {
				all = append(all, "v."+name)
			}
			file := filepath.Join(t.TempDir(), "run.tf")
			record := exec.CommandContext(t.Context(), gdbtest.Binary(t), "record", "-q", "--at", "main.hit", "--collect",
				strings.Join(all, ", "), "-o", file, "--", program)
			if output, err := record.CombinedOutput(); err != nil {
				t.Fatalf("record: %v\n%s", err, output)
			}
			got := locals(collected(shown(t, file, program, "--frame", "0")))
			want := seenByDelve(t, program, all)
			for _, name := range slices.Sorted(maps.Keys(want)) {
				text := variables.ReplaceAllString(constant.ReplaceAllString(want[name], "$1"), "$1")
				text = notLoaded.ReplaceAllString(moving.ReplaceAllString(text, "0x…"), "<not collected: $1 elements>")
				if name == "v.Map150" { // whose order is another in each process
					got[name], text = sortedEntries(got[name]), sortedEntries(text)
				}
				if name != "" && got[name] != text {
					t.Errorf("%s is\n%s, for Delve\n%s", name, got[name], text)
				}
			}
			if len(want) != len(all)+1 {
				t.Errorf("Delve has only %d values", len(want))
			}
		})
	}
}
