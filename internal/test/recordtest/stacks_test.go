//go:build linux && amd64

package recordtest

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/corpus"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testtool"
	"tracewell/record/plan"
	"tracewell/symbol"
	"tracewell/symbol/unwind"
	"tracewell/tfile"
	"tracewell/view"
)

//go:embed testdata/stacks.py
var stackWalker string

// gdbStack is what GDB's backtrace has of a frame.
type gdbStack struct {
	Calls []gdbCall
	Stop  string
}

type gdbCall struct {
	Type      string // normal, inline, tailcall, signal
	PC        arch.Addr
	Name      string
	Line      string // FILE:LINE
	Registers map[string]uint64
}

// TestStacksOfCorpus compares the backtraces of thousands of frames with those of GDB: at the marks, and at each of the instructions
// that follow them, so that prologues, epilogues, the dynamic linker and the C library are among them.
func TestStacksOfCorpus(t *testing.T) {
	builds, hits, steps := corpus.Few(), 1, 10
	if *whole {
		builds, hits, steps = corpus.Builds, 5, 40
	}
	for _, b := range builds {
		t.Run(b.String(), func(t *testing.T) {
			t.Parallel()
			program := corpus.Compile(t, b)
			var at []string
			for _, m := range program.Marks {
				at = append(at, m.At())
			}
			s := stacks{program: program.Path, file: recordedBy(t, stackPlan(t, 1, hits, steps, 16384, at...), false, program.Path)}
			s.compare(t)
		})
	}
}

// TestStacksOfOthers is the same for programs that nobody here has compiled, most of whose code has no debug information, called in
// ways that need deep stacks, and signal handlers.
func TestStacksOfOthers(t *testing.T) {
	document := filepath.Join(t.TempDir(), "document.xml")
	if err := os.WriteFile(document, []byte("<list>"+strings.Repeat("<n at='1'><m>text &amp; more</m></n>\n", 200)+"</list>"), 0o600); err != nil {
		t.Fatal(err)
	}
	const query = "with recursive c(x) as (select 1 union all select x+1 from c where x<300) select sum(x*x), count(distinct x%7) from c order by 1;"
	for _, other := range []struct {
		tool string
		args []string
		at   []string
	}{
		{"sqlite3", []string{":memory:", query}, []string{"malloc", "free", "sqlite3_strnicmp", "memcmp", "sqlite3_value_int64"}},
		{"xmllint", []string{"--format", document}, []string{"malloc", "xmlStrndup", "xmlStrEqual", "xmlHashLookup"}},
		{"perl", []string{"-e", `sub f { my $n = shift; $n < 2 ? $n : f($n-1) + f($n-2) } print join ",", sort map { f($_) } 1..9`},
			[]string{"malloc", "Perl_sv_setiv", "Perl_pp_entersub", "Perl_leave_scope", "qsort"}},
		{"bash", []string{"-c", `trap 'x=$(( x+1 ))' USR1; f() { (( $1 )) && f $(( $1 - 1 )); kill -USR1 $$; }; f 9; echo $x`},
			[]string{"trap_handler", "xmalloc", "execute_command", "dispose_words"}},
	} {
		t.Run(other.tool, func(t *testing.T) {
			t.Parallel()
			path := testtool.Path(t, other.tool)
			s := stacks{program: path, file: recordedBy(t, stackPlan(t, 7, 6, 8, 16384, other.at...), false, path, other.args...)}
			s.compare(t)
		})
	}
}

// stackPlan collects so many bytes of the stack at some hits of each place, one out of a number of them, and at each of the steps that
// follow, of which there may be none.
func stackPlan(t *testing.T, every, hits, steps, bytes int, at ...string) *plan.Plan {
	t.Helper()
	var items []plan.Item
	for i, place := range at {
		hit := fmt.Sprintf("$hits%d", i)
		items = append(items, plan.Item{Option: "--tvariable", Value: hit}, plan.Item{Option: "--at", Value: place},
			plan.Item{Option: "--if", Value: fmt.Sprintf("(%s = %[1]s + 1) %% %[2]d == 0 && %[1]s <= %[3]d", hit, every, every*hits)},
			plan.Item{Option: "--backtrace", Value: strconv.Itoa(bytes)})
	}
	var p plan.Plan
	if err := p.AddItems(items); err != nil {
		t.Fatal(err)
	}
	for i := range p.Tracepoints {
		if steps == 0 {
			break
		}
		tp := &p.Tracepoints[i]
		tp.Actions = append(tp.Actions, plan.Action{Kind: plan.Step, Steps: uint64(steps), Body: slices.Clone(tp.Actions)})
	}
	return &p
}

// stacks is a trace with stacks in its frames.
type stacks struct {
	program, file string
	machine       *arch.Machine
	frames        []int // those that are compared; nil for all
	described     bool  // backtraces are compared up to the first code without a description
	named         bool  // code without a name has no descriptions either, and is where GDB begins to guess
	counts        tally
}

// compare holds the backtrace of each frame against that of GDB, which is served the file by replay.
func (s *stacks) compare(t *testing.T) {
	t.Helper()
	s.machine = arch.AMD64
	s.compareIn(t, func(walk string) *gdbtest.Output {
		limit := 3 * gdbtest.Timeout
		if *whole {
			limit *= 5 // for thousands of frames
		}
		return gdbtest.RunFor(t, limit, "", fmt.Sprintf("set sysroot /\nset remotetimeout 60\ntarget remote | %s replay %s --exec %s --listen -\n%s",
			gdbtest.Binary(t), s.file, s.program, walk))
	}, "rbx", "rbp", "rsp", "r12", "r13", "r14", "r15")
	n := s.counts.counts
	if s.described {
		n["whole"] += n["ended early"]
	}
	if n["whole"] < 60 || 20*n["cut off"] > n["whole"] || n["registers"] < 10*n["whole"] {
		t.Error("too few frames, or too many that are cut off")
	}
}

// compareIn has a GDB go through the frames by a script.
func (s *stacks) compareIn(t *testing.T, gdb func(walk string) *gdbtest.Output, registers ...string) {
	t.Helper()
	recording, err := os.ReadFile(s.file)
	if err != nil {
		t.Fatal(err)
	}
	content, err := tfile.OpenBytes(recording)
	if err != nil {
		t.Fatal(err)
	}
	program, err := symbol.Open(s.program, symbol.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	v, warnings := view.New(content, program)
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	if s.frames == nil {
		for i := range content.NumFrames() {
			s.frames = append(s.frames, i)
		}
	}
	walker := filepath.Join(t.TempDir(), "stacks.py")
	script := fmt.Sprintf("FRAMES, REGISTERS, NAMED = %s, %q.split(), %d\n%s",
		strings.ReplaceAll(fmt.Sprint(s.frames), " ", ", "), strings.Join(registers, " "), map[bool]int{true: 1}[s.named], stackWalker)
	if err := os.WriteFile(walker, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	output := gdb("-- stacks --\nsource " + walker + "\n")
	i, reader := 0, v.NewReader()
	for line := range strings.Lines(output.Section(t, "stacks")) {
		var said gdbStack
		if !strings.HasPrefix(line, "{") {
			continue
		}
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			t.Fatal(err)
		}
		if i == len(s.frames) {
			t.Fatal("GDB goes through more frames than there are")
		}
		f, err := v.Frame(s.frames[i], nil)
		if err != nil {
			t.Fatal(err)
		}
		frames, _ := unwind.New(v.Symbols, v.Layout).Stack(f.PC, f.Registers(), f)
		reader.Set(f)
		s.judge(t, s.frames[i], reader.Backtrace(), frames, said)
		i++
	}
	if t.Logf("%v", s.counts.counts); i != len(s.frames) {
		t.Errorf("GDB has unwound %d of %d frames", i, len(s.frames))
	}
}

// judge compares call by call, and register by register.
func (s *stacks) judge(t *testing.T, frame int, ours view.Backtrace, registers []unwind.Frame, said gdbStack) {
	t.Helper()
	theirs := slices.DeleteFunc(said.Calls, func(c gdbCall) bool { return c.Type == tailCall })
	if n := len(theirs); n > 0 && theirs[n-1].PC == 0 {
		theirs = theirs[:n-1] // GDB shows the zero that ends a stack
	}
	if s.described {
		ours, registers = asDescribed(ours, registers)
		if errors.Is(ours.End, errNotDescribed) { // GDB goes on by guessing
			theirs = theirs[:min(len(theirs), len(ours.Calls))]
		}
	}
	for i, c := range ours.Calls {
		if i == len(theirs) {
			break
		}
		if got, want := text(c), theirs[i].text(); got != want {
			t.Errorf("frame %d, #%d: %s, GDB has %s", frame, i, got, want)
			return
		}
	}
	if i := slices.IndexFunc(ours.Calls, func(c view.Call) bool { return c.Guessed }); s.named && i >= 0 {
		ours.Calls, ours.End, registers = ours.Calls[:i], errors.New("guesses"), registers[:i]
	}
	what := "whole"
	var missing *unwind.MissingError
	switch {
	case errors.As(ours.End, &missing):
		what = "cut off"
	case ours.End != nil:
		what = "ended early"
	}
	if n := len(theirs); n == len(ours.Calls)-1 && strings.HasSuffix(said.Stop, "is not available") {
		ours.Calls, registers = ours.Calls[:n], registers[:n] // an unwinder of GDB's failed before it had looked for a description
	}
	if len(ours.Calls) != len(theirs) {
		t.Errorf("frame %d: %d calls, %d in GDB, which ends by %q, ours by %v", frame, len(ours.Calls), len(theirs), said.Stop, ours.End)
		return
	}
	s.counts.add(what)
	theirs = slices.DeleteFunc(theirs, func(c gdbCall) bool { return c.Type == "inline" })
	for i, f := range registers {
		for name, want := range theirs[i].Registers {
			if got, ok := f.Register(slices.Index(s.machine.DWARF, name)); !ok || got != want {
				t.Errorf("frame %d, call %d: $%s is %#x, %#x in GDB", frame, i, name, got, want)
			}
			s.counts.add("registers")
		}
	}
}

// asDescribed cuts a backtrace off at the first code without a description: what is guessed behind it, or nothing.
func asDescribed(b view.Backtrace, registers []unwind.Frame) (view.Backtrace, []unwind.Frame) {
	i := slices.IndexFunc(b.Calls, func(c view.Call) bool { return c.Guessed })
	var missing *unwind.MissingError
	switch {
	case i >= 0:
		// Inlined calls have no registers of their own, so the frames are counted without them.
		frames := slices.DeleteFunc(slices.Clone(b.Calls[:i]), func(c view.Call) bool { return c.Inlined })
		b.Calls, registers = b.Calls[:i], registers[:len(frames)]
	case b.End == nil || errors.As(b.End, &missing):
		return b, registers
	}
	b.End = errNotDescribed
	return b, registers
}

// errNotDescribed ends what is compared where code has no unwinding information.
var errNotDescribed = errors.New("code without a description")

// tailCall is the type of frames that GDB makes up between a function and its caller, of calls that left no trace on the stack.
const tailCall = "tailcall"

// text is what a call has in common with one of GDB.
func text(c view.Call) string {
	line := ""
	if c.File != "" {
		line = fmt.Sprintf("%s:%d", filepath.Base(c.File), c.Line)
	}
	kind := "normal"
	switch {
	case c.Inlined:
		kind = "inline"
	case c.Signal:
		kind = "signal"
	}
	return gdbCall{Type: kind, PC: c.Addr, Name: c.Function, Line: line}.text()
}

// text leaves out the name of code without debug information: of the symbols in front of an address everybody has a favourite.
func (c gdbCall) text() string {
	if c.Line == "" {
		return fmt.Sprintf("%v %s", c.PC, c.Type)
	}
	return fmt.Sprintf("%v %s in %s at %s", c.PC, c.Type, plain(c.Name), c.Line)
}

var (
	bracketed = regexp.MustCompile(`\([^()]*\)|<[^<>]*>|\{[^{}]*\}`)
	scopes    = regexp.MustCompile(`.*(::|\.)`)
)

// inheritors are classes that inherit constructors, by their base class.
var inheritors = map[string]string{"Shape": "Square", "__uniq_ptr_impl": "__uniq_ptr_data"}

// plain is the last part of a function's name, without parameters and arguments: how names are written out is not what is tested
// here. GDB prefers names that the C library has for itself, and calls a constructor that a class inherits
// by its name in the base class.
func plain(name string) string {
	for shorter := bracketed.ReplaceAllString(name, ""); shorter != name; shorter = bracketed.ReplaceAllString(name, "") {
		name = shorter
	}
	name = strings.TrimPrefix(scopes.ReplaceAllString(name, ""), "__GI_")
	if heir := inheritors[name]; heir != "" {
		return heir
	}
	return name
}
