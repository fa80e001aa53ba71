//go:build linux && amd64

package recordtest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testtool"
)

// patience is how long a debugger may take on a busy machine; alone it takes some seconds.
const patience = 5 * time.Minute

// moving matches addresses, which differ from run to run.
var moving = regexp.MustCompile(`0x[0-9a-f]{8,}`)

// locals reads lines of the form "name = value".
func locals(text string) map[string]string {
	found := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " = "); ok && !strings.Contains(name, " ") {
			found[name] = moving.ReplaceAllString(value, "0x…")
		}
	}
	return found
}

// seenByGDB is what GDB with the printers of a library says of the variables at a line, in a locale of UTF-8.
func seenByGDB(t *testing.T, gdb, program, place string) map[string]string {
	t.Helper()
	return gdbAt(t, gdb, program, place, "info locals\n")
}

// gdbAt is what GDB prints at a line by commands.
func gdbAt(t *testing.T, gdb, program, place, commands string) map[string]string {
	t.Helper()
	script := filepath.Join(t.TempDir(), "script")
	commands = "set pagination off\nset width 0\nset print max-depth -1\nset debuginfod enabled off\nbreak " + place +
		"\nrun\n" + commands
	if err := os.WriteFile(script, []byte(commands), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, testtool.Path(t, gdb), "-nx", "-batch", "-x", script, program)
	cmd.Env = []string{"LC_ALL=C.UTF-8", "HOME=" + t.TempDir(), "PATH=" + testtool.Folder}
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("gdb: %v\n%s", err, output)
	}
	return locals(string(output))
}

// recordedAt records the variables at a line by the command line, and returns the file.
func recordedAt(t *testing.T, program, place string, options ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "run.tf")
	args := slices.Concat([]string{"record", "-q", "--at", place, "--collect", "$locals", "-o", file}, options, []string{"--", program})
	if output, err := exec.CommandContext(t.Context(), gdbtest.Binary(t), args...).CombinedOutput(); err != nil {
		t.Fatalf("record: %v\n%s", err, output)
	}
	return file
}

// shown is what show says of a file's first frame.
func shown(t *testing.T, file, program string, options ...string) string {
	t.Helper()
	args := append([]string{"show", file, "--exec", program}, options...)
	output, err := exec.CommandContext(t.Context(), gdbtest.Binary(t), args...).Output()
	if err != nil {
		t.Fatalf("show: %v", err)
	}
	return string(output)
}

// collected is the section of show --frame that has the values.
func collected(text string) string {
	_, text, _ = strings.Cut(text, "\nCollected\n")
	text, _, _ = strings.Cut(text, "\n\n")
	return text
}

// builtFrom compiles a file of testdata.
func builtFrom(t *testing.T, source, compiler string, options ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), strings.TrimSuffix(source, filepath.Ext(source)))
	args := append(options, "-g", "-o", program, filepath.Join("testdata", source))
	if output, err := testtool.Command(t, compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, output)
	}
	return program
}

// mark is the place of the line with "@here".
func mark(t *testing.T, source string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", source))
	if err != nil {
		t.Fatal(err)
	}
	before, _, ok := strings.Cut(string(text), "@here")
	if !ok {
		t.Fatalf("%s has no mark", source)
	}
	return source + ":" + strconv.Itoa(strings.Count(before, "\n")+1)
}

// TestContainers records variables of all kinds of containers, and compares what show says of them. For libstdc++ GDB says what is
// right, by the printers of that library; for libc++ GDB says it of the same program with libstdc++, and LLDB by its formatters.
func TestContainers(t *testing.T) {
	const source = "containers.cc"
	place := mark(t, source)
	gcc := builtFrom(t, source, "g++", "-O0", "-std=c++20")
	testimony := seenByGDB(t, "gdb", gcc, place)
	alternate := "clang++ -O0 -stdlib=libc++ -D_LIBCPP_ABI_ALTERNATE_STRING_LAYOUT -D_LIBCPP_DISABLE_EXTERN_TEMPLATE"
	builds := []string{"g++ -O0", "clang++ -O0", "clang++ -O0 -stdlib=libc++"}
	if *whole {
		builds = append(builds, "g++ -O2", "clang++ -O2", "clang++ -O2 -stdlib=libc++", alternate)
	}
	for i, build := range builds {
		t.Run(build, func(t *testing.T) {
			t.Parallel()
			program, want := gcc, testimony
			if i > 0 {
				options := strings.Fields(build)
				program = builtFrom(t, source, options[0], append(options[1:], "-std=c++20")...)
			}
			llvm := strings.Contains(build, "libc++")
			if i > 0 && !llvm {
				want = seenByGDB(t, "gdb", program, place)
			}
			file := recordedAt(t, program, place)
			got := locals(collected(shown(t, file, program, "--frame", "0")))
			if llvm {
				want, got = withoutLibrary(want), withoutLibrary(got)
				for _, other := range []string{"a0", "maybe", "p300", "point", "um300", "us300"} { // other in LLVM's library
					delete(want, other)
				}
				compareWithLLDB(t, program, place, shown(t, file, program, "--json"))
			}
			compareContainers(t, got, want)
		})
	}
}

// compareContainers compares what show says of the variables of containers.cc with what GDB says.
func compareContainers(t *testing.T, got, want map[string]string) {
	compared := 0
	for _, name := range slices.Sorted(maps.Keys(want)) {
		// GDB's printers do not know paths in a file that does not say what their components are.
		if strings.Contains(want[name], "<optimized out>") || strings.Contains(want[name], "<synthetic pointer>") ||
			strings.Contains(want[name], "<incomplete type>") {
			continue
		}
		// GDB 13's printer writes the title of what is contained even if there is none.
		want[name] = strings.ReplaceAll(want[name], "containing None = ", "containing ")
		if strings.HasPrefix(want[name], "filesystem::path") {
			want[name], _, _ = strings.Cut(want[name], " = ") // the components, which are the text's
		}
		if compared++; !sameContainer(got[name], want[name]) {
			t.Errorf("%s is\n%s, for GDB\n%s", name, got[name], want[name])
		}
	}
	t.Logf("%d variables", compared)
	if compared < 50 {
		t.Errorf("only %d variables were compared", compared)
	}
}

// sameContainer reports whether what show says of a variable is what GDB says. Of many elements GDB prints as many as are collected, fewer of
// maps, and then show says how many more there are.
func sameContainer(got, want string) bool {
	shown, isCut := strings.CutSuffix(want, "...}")
	_, rest, hasRest := strings.Cut(got, shown)
	return got == want || isCut && hasRest && strings.HasPrefix(got, shown) && notCollected.MatchString(rest)
}

// notCollected matches what ends a container that has more elements.
var notCollected = regexp.MustCompile(`<not collected: ([0-9]+ elements?|what follows)>\}$`)

// index matches the number of an element of a set.
var index = regexp.MustCompile(`\[[0-9]+\] = `)

// withoutLibrary is what is said of containers, without what differs between the libraries: the names of namespaces and members, and
// the order in a hash table.
func withoutLibrary(values map[string]string) map[string]string {
	same := map[string]string{}
	names := strings.NewReplacer("std::__1::", "std::", "std::__cxx11::", "std::", "_M_elems", "__elems_", "{__r = ", "{__rep_ = ", "__d = ", "__d_ = ")
	for name, text := range values {
		same[name] = names.Replace(text)
		if strings.HasPrefix(text, "std::unordered") {
			if strings.Contains(text, "set with ") {
				same[name] = index.ReplaceAllString(same[name], "")
			}
			same[name] = sorted(same[name])
		}
	}
	return same
}

// compareWithLLDB compares the document that show writes with what LLDB's formatters have of the same variables.
func compareWithLLDB(t *testing.T, program, place, document string) {
	t.Helper()
	folders, err := filepath.Glob("/usr/lib/llvm-*/lib/python3.*/dist-packages") // Debian's own link leads to no module
	if err != nil || len(folders) == 0 {
		t.Fatalf("LLDB has no Python: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, testtool.Path(t, "lldb"), "-b", "-o", "command script import testdata/values.py", program)
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + testtool.Folder, "PYTHONPATH=" + folders[0], "PLACE=" + place}
	output, err := cmd.CombinedOutput()
	_, values, ok := strings.Cut(string(output), "\nVALUES")
	if err != nil || !ok {
		t.Fatalf("lldb: %v\n%s", err, output)
	}
	var frame struct{ Collected map[string]any }
	var want map[string]any
	if err := json.Unmarshal([]byte(document), &frame); err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(strings.NewReader(values)).Decode(&want); err != nil {
		t.Fatal(err)
	}
	for name, value := range want { // of what is not collected show has the number
		if all, ok := value.([]any); ok && len(all) > 200 {
			want[name] = append(all[:200:200], fmt.Sprintf("<not collected: %d elements>", len(all)-200))
		}
		if text, ok := value.(string); ok && len(text) > 200 {
			want[name] = fmt.Sprintf("%s<not collected: %d characters>", text[:200], len(text)-200)
		}
	}
	delete(want, "a0")    // which has a place for characters there
	delete(want, "light") // of which LLDB 14 has a member of no size as a number
	if len(want) < 80 {
		t.Errorf("LLDB has only %d variables", len(want))
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got := frame.Collected[name]; !reflect.DeepEqual(got, want[name]) {
			t.Errorf("%s is\n%v, for LLDB\n%v", name, got, want[name])
		}
	}
}

// TestContainersReferredTo records containers behind a reference where a function is entered, which shows them where it returns, too.
func TestContainersReferredTo(t *testing.T) {
	program := builtFrom(t, "referred.cc", "g++", "-O0")
	file := filepath.Join(t.TempDir(), "run.tf")
	record := exec.CommandContext(t.Context(), gdbtest.Binary(t), "record", "-q", "-o", file, "--return=change", "--", program)
	if output, err := record.CombinedOutput(); err != nil {
		t.Fatalf("record: %v\n%s", err, output)
	}
	const text = `{name = "täglich", parts = std::vector of length 3, capacity 3 = {1, 2, 3}, ` +
		`sizes = std::map with 2 elements = {["a"] = 1, ["b"] = 2}}`
	lines := shown(t, file, program)
	if !strings.Contains(lines, " j="+text+"\n") || !strings.HasSuffix(lines, " j@entry="+text+"\n") {
		t.Errorf("lines\n%s, want %s", lines, text)
	}
	if got := shown(t, file, program, "--frame", "1"); !strings.Contains(got, text) {
		t.Errorf("frame\n%s", got)
	}
	const document = `"j@entry":{"name":"täglich","parts":[1,2,3],"sizes":{"a":1,"b":2}}`
	if got := shown(t, file, program, "--json"); !strings.Contains(got, document) {
		t.Errorf("document\n%s, want %s", got, document)
	}
}

// TestContainersOfRust compares with GDB and the printers that come with rustc, and where these know nothing with what the program
// prints of itself. The order in a hash table is another in each run.
func TestContainersOfRust(t *testing.T) {
	for _, level := range []string{"0", "2"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			containersOfRust(t, builtFrom(t, "containers.rs", "rustc", "-Copt-level="+level), level)
		})
	}
}

func containersOfRust(t *testing.T, program, level string) {
	t.Helper()
	place := mark(t, "containers.rs")
	want := seenByGDB(t, "rust-gdb", program, place)
	said, err := exec.CommandContext(t.Context(), program).Output()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range locals(string(said)) {
		if !strings.Contains(want[name], "<optimized out>") && !strings.Contains(want[name], "<synthetic pointer>") {
			want[name] = text
		}
	}
	options := []string{"--if", "unsigned == 6 && long.len == 1"}
	if level != "0" {
		options = nil // what the compiler knows the values of is nowhere
	}
	file := recordedAt(t, program, place, options...)
	all := collected(shown(t, file, program, "--frame", "0"))
	if strings.Contains(all, "agent expression") {
		t.Errorf("something has no name:\n%s", all)
	}
	if count := shown(t, file, program, "--where", "union + sizeof == 15 && double * 2 == 18", "--count"); count != "1\n" {
		t.Errorf("%s frames have a union", count)
	}
	got := locals(all)
	compared := 0
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if strings.Contains(want[name], "<optimized out>") || strings.Contains(want[name], "<synthetic pointer>") {
			continue
		}
		if strings.HasPrefix(want[name], "Hash") {
			want[name], got[name] = sorted(want[name]), sorted(got[name])
		}
		if compared++; !sameContainer(got[name], want[name]) {
			t.Errorf("%s is\n%s, for GDB\n%s", name, got[name], want[name])
		}
	}
	t.Logf("%d variables", compared)
	if compared < 50 {
		t.Errorf("only %d variables were compared", compared)
	}
}

// TestDynOfRust compares the values that a dyn of Rust stands for with those that GDB finds by its table of methods, and with what
// the program says of those that are counted, where GDB 13 knows only the counts.
func TestDynOfRust(t *testing.T) {
	program := builtFrom(t, "dyn.rs", "rustc")
	place := mark(t, "dyn.rs")
	direct := []string{"referred", "boxed", "number", "closure", "failure"}
	commands := ""
	for _, name := range direct {
		commands += fmt.Sprintf("printf \"%s = \"\noutput *%s\necho \\n\n", name, name)
	}
	values := gdbAt(t, "rust-gdb", program, place, commands)
	said, err := exec.CommandContext(t.Context(), program).Output()
	if err != nil {
		t.Fatal(err)
	}
	file := recordedAt(t, program, place)
	got := locals(collected(shown(t, file, program, "--frame", "0")))
	for _, name := range direct {
		if title, value, _ := strings.Cut(got[name], " = "); !strings.Contains(title, "dyn ") || value != values[name] || value == "" {
			t.Errorf("%s is\n%s, for GDB\n%s", name, got[name], values[name])
		}
	}
	want := locals(string(said))
	want["nowhere"] = "0x…" // a reference, whose address is shown
	if len(want) < 12 {
		t.Fatalf("the program says only %v", want)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s is\n%s, for the program\n%s", name, got[name], want[name])
		}
	}
	var frame struct{ Collected map[string]any }
	if err := json.Unmarshal([]byte(shown(t, file, program, "--json")), &frame); err != nil {
		t.Fatal(err)
	}
	document := map[string]any{
		"referred": map[string]any{"id": 3.0, "name": "owned"}, "number": 5.0, "slice": []any{1.0, 2.0, 3.0}, "text": "téxt", "gone": nil,
		"list": []any{1.0, map[string]any{"id": 4.0, "name": "listed"}}, "cell": "<of a type that is not known>",
	}
	for name, want := range document {
		if got, ok := frame.Collected[name]; !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v in JSON, not %v", name, got, want)
		}
	}
}

// sorted has the elements of a container in the order of their texts.
func sorted(text string) string {
	title, elements, _ := strings.Cut(strings.TrimSuffix(text, "}"), "{")
	all := strings.Split(elements, ", ")
	slices.Sort(all)
	return title + "{" + strings.Join(all, ", ") + "}"
}

// TestDamagedContainers shows containers that cannot be, and those of which the frame has only a part.
func TestDamagedContainers(t *testing.T) {
	t.Run("libstdc++", func(t *testing.T) { damagedContainers(t, builtFrom(t, "damaged.cc", "g++", "-std=c++20", "-O0")) })
	t.Run("libc++", func(t *testing.T) {
		damagedContainers(t, builtFrom(t, "damaged.cc", "clang++", "-stdlib=libc++", "-std=c++20"))
	})
}

func damagedContainers(t *testing.T, program string) {
	t.Helper()
	file := recordedAt(t, program, mark(t, "damaged.cc"), "--elements", "3", "--text", "5", "--depth", "2")
	got := withoutLibrary(locals(collected(shown(t, file, program, "--frame", "0"))))
	for name, want := range map[string]string{
		"backwards": "std::vector = {<damaged: the end lies before the beginning>}",
		"huge":      "std::vector = {<damaged: it would have 288230376151711744 elements>}",
		"wild":      "<not collected: 8 elements>}",
		"beyond":    "std::vector = {<damaged: it would have 3 elements in room for 2>}",
		"longest":   "<damaged: it would have 1152921504606846976 characters>",
		"wildtext":  "<not collected: 30 characters>",
		"cycle":     "std::list = {[0] = 1, <damaged: it leads back to an element>}",
		"map":       "std::map = {<damaged: it would have 1152921504606846976 elements>}",
		"unordered": "std::unordered_map = {<damaged: it would have 1152921504606846976 elements>}",
		"texts":     "std::vector of length 2, capacity 2 = {<not collected: 30 characters>, \"b\"}",
		"big":       "std::vector of length 1000, capacity 1000 = {3, 3, 3, <not collected: 997 elements>}",
		"text":      "\"yyyyy\"...<not collected: 995 characters>",
		"list":      "std::list = {[0] = 0, [1] = 1, [2] = 2, <not collected: 297 elements>}",
		"deep": "std::vector of length 1, capacity 1 = {std::vector of length 1, capacity 1 = " +
			"{std::vector of length 1, capacity 1 = {<not collected: 1 element>}}}",
	} {
		if !strings.HasSuffix(got[name], want) {
			t.Errorf("%s is %s, not %s", name, got[name], want)
		}
	}
	var frame struct{ Collected map[string]any }
	if err := json.Unmarshal([]byte(shown(t, file, program, "--json")), &frame); err != nil {
		t.Fatal(err)
	}
	want := []any{3.0, 3.0, 3.0, "<not collected: 997 elements>"}
	if got := frame.Collected["big"]; !reflect.DeepEqual(got, want) {
		t.Errorf("big is %v in JSON", got)
	}
}

// TestDamagedContainersOfRust shows containers of Rust that cannot be, or whose elements are nowhere.
func TestDamagedContainersOfRust(t *testing.T) {
	program := builtFrom(t, "damaged.rs", "rustc")
	file := recordedAt(t, program, mark(t, "damaged.rs"), "--elements", "3")
	got := locals(collected(shown(t, file, program, "--frame", "0")))
	for name, want := range map[string]string{
		"wild_vec":   "Vec(size=3) = {<not collected: 3 elements>}",
		"long_vec":   "Vec = {<damaged: it would have 1152921504606846976 elements>}",
		"negative":   "Vec = {<damaged: the end lies before the beginning>}",
		"over":       "Vec = {<damaged: it would have 5 elements in room for 4>}",
		"beyond":     "&[u64](size=1073741824) = {1, 2, 3, <not collected: 1073741821 elements>}",
		"wild_slice": "&[u16](size=2) = {<not collected: 2 elements>}",
		"wild_str":   "<not collected: 7 characters>",
		"wild_text":  "<not collected: 4 characters>",
		"wild_map":   "HashMap(size=1) = {<not collected>}",
		"wild_tree":  "BTreeMap(size=1) = {<not collected: 1 element>}",
		"wild_ring":  "VecDeque(size=2) = {<not collected: 2 elements>}",
		"wild_rc": "Rc(strong=<not collected>, weak=<not collected>) = {value = <not collected: 1 element>, " +
			"strong = <not collected>, weak = <not collected>}",
		"wild_box": "0x10",
		"nested":   "Vec(size=2) = {Vec(size=1) = {1}, Vec(size=2) = {<not collected: 2 elements>}}",
	} {
		if got[name] != want {
			t.Errorf("%s is %s, not %s", name, got[name], want)
		}
	}
}

// TestDamagedContainersOfGo does so for Go.
func TestDamagedContainersOfGo(t *testing.T) {
	program := filepath.Join(t.TempDir(), "damaged")
	cmd := testtool.Command(t, "go", "build", "-gcflags=all=-N -l", "-o", program, filepath.Join("testdata", "damaged.go"))
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, output)
	}
	wants := map[string]string{
		"v.WildSlice":  "[]int len: 2, cap: 2, [<not collected: 2 elements>]",
		"v.Long":       "[]int [<damaged: it would have 1152921504606846976 elements>]",
		"v.Beyond":     "[]int [<damaged: it would have 1073741824 elements in room for 1>]",
		"v.Negative":   "[]int [<damaged: the end lies before the beginning>]",
		"v.NoMemory":   "[]int [<damaged: it would have 5 elements in room for 0>]",
		"v.WildString": "<not collected: 4 characters>",
		"v.LongString": "<damaged: it would have 1152921504606846976 characters>",
		"v.WildMap":    "map[int]int [<not collected>]",
		"v.WildBig":    "map[int]int [<not collected>]",
		"v.WildChan":   "chan int <not collected>",
		"v.WildFunc":   "<not collected>",
		"v.WildTime":   "time.Time(1970-01-01T00:00:00Z)",
		"v.Nested":     "[][]int len: 2, cap: 2, [[1], [<not collected: 2 elements>]]",
	}
	names := slices.Sorted(maps.Keys(wants))
	file := filepath.Join(t.TempDir(), "run.tf")
	args := []string{"record", "-q", "--at", "main.hit", "--collect", strings.Join(names, ", "), "-o", file, "--", program}
	if output, err := exec.CommandContext(t.Context(), gdbtest.Binary(t), args...).CombinedOutput(); err != nil {
		t.Fatalf("record: %v\n%s", err, output)
	}
	got := locals(collected(shown(t, file, program, "--frame", "0")))
	for _, name := range names {
		if got[name] != wants[name] {
			t.Errorf("%s is %s, not %s", name, got[name], wants[name])
		}
	}
}

// TestContainersOfGo records variables of a Go program, and compares what show --json says of them with what the program prints by
// encoding/json.
func TestContainersOfGo(t *testing.T) {
	levels := []string{"all=-N -l"}
	if *whole {
		levels = append(levels, "")
	}
	for _, level := range levels {
		program := filepath.Join(t.TempDir(), "containers")
		cmd := testtool.Command(t, "go", "build", "-gcflags="+level, "-o", program, filepath.Join("testdata", "containers.go"))
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go build: %v\n%s", err, output)
		}
		file := filepath.Join(t.TempDir(), "run.tf")
		args := []string{"record", "-q", "--at", "main.hit", "--collect", "*v", "--text", "1000", "-o", file, "--", program}
		said, err := exec.CommandContext(t.Context(), gdbtest.Binary(t), args...).Output()
		if err != nil {
			t.Fatalf("record: %v\n%s", err, said)
		}
		var frame struct {
			Collected map[string]map[string]any
		}
		var want map[string]any
		if err := json.Unmarshal([]byte(shown(t, file, program, "--json")), &frame); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(said, &want); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if got := frame.Collected["*v"][name]; !reflect.DeepEqual(got, want[name]) {
				t.Errorf("%q: %s is\n%v, for the program\n%v", level, name, got, want[name])
			}
		}
	}
}

// TestInterfacesOfGo records what interfaces contain, and compares what show says with what the program says by %T and %v. A program
// that may lie anywhere keeps its descriptions of types elsewhere than one that may not.
func TestInterfacesOfGo(t *testing.T) {
	modes := []string{"exe"}
	if *whole {
		modes = append(modes, "pie")
	}
	for _, mode := range modes {
		program := filepath.Join(t.TempDir(), mode)
		cmd := testtool.Command(t, "go", "build", "-buildmode="+mode, "-o", program, filepath.Join("testdata", "interfaces.go"))
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go build: %v\n%s", err, output)
		}
		said, err := exec.CommandContext(t.Context(), program).Output()
		if err != nil {
			t.Fatal(err)
		}
		want := locals(string(said))
		if len(want) < 15 {
			t.Fatalf("the program says only %v", want)
		}
		names := slices.Sorted(maps.Keys(want))
		file, all := filepath.Join(t.TempDir(), "run.tf"), "v."+strings.Join(names, ", v.")
		args := []string{"record", "-q", "--at", "main.hit", "--collect", all, "-o", file, "--", program}
		if output, err := exec.CommandContext(t.Context(), gdbtest.Binary(t), args...).CombinedOutput(); err != nil {
			t.Fatalf("record: %v\n%s", err, output)
		}
		got := locals(collected(shown(t, file, program, "--frame", "0")))
		for _, name := range names {
			if got["v."+name] != want[name] {
				t.Errorf("%s: %s is\n%s, for the program\n%s", mode, name, got["v."+name], want[name])
			}
		}
	}
}
