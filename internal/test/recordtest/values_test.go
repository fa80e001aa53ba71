//go:build linux && amd64

package recordtest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tracewell/internal/test/corpus"
	"tracewell/internal/test/gdbtest"
	"tracewell/record"
	"tracewell/record/local"
	"tracewell/record/plan"
	"tracewell/symbol"
	"tracewell/symbol/container"
	"tracewell/symbol/expr"
	"tracewell/target"
)

var whole = flag.Bool("whole", false, "go through all builds")

// most is how many arrivals at a mark are compared.
const most = 5

// tally counts what came of the values of GDB's testimony.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
}

func (c *tally) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[string]int{}
	}
	c.counts[what]++
}

// TestValuesOfGDB records every variable that GDB sees at the marks of the corpus, and compares what show says of the frames
// with what GDB's print said when it stopped there.
func TestValuesOfGDB(t *testing.T) {
	builds := corpus.Few()
	if *whole {
		builds = corpus.Builds
	}
	var total tally
	t.Cleanup(func() { t.Logf("all builds: %v", total.counts) })
	for _, b := range builds {
		t.Run(b.String(), func(t *testing.T) {
			t.Parallel()
			c := comparison{program: corpus.Compile(t, b), optimised: b.Optimise != "0", total: &total}
			if b.Language == corpus.Go {
				c.heap = heap{map[string]string{}, map[string]string{}}
			}
			c.seen = corpus.Observe(t, c.program, most, extras[b.Language])
			c.ask(t)
			c.record(t)
			c.judge(t)
		})
	}
}

// comparison is one build.
type comparison struct {
	program   *corpus.Program
	optimised bool
	seen      []corpus.Arrival
	refused   map[string]map[string]string // by mark, then expression: why it cannot be collected anywhere
	recorded  map[string][]frame           // by mark, in their order
	heap      heap                         // of Go
	total     *tally
}

// frame is what show says of a frame.
type frame struct {
	pc     string
	values map[string]string
}

// names are the expressions to collect at a mark: those of which GDB has a value at some arrival, and those that it has
// optimised out.
func (c *comparison) names(mark string) []string {
	var names []string
	known := map[string]bool{}
	for _, a := range c.seen {
		for _, v := range a.Values {
			if a.Mark == mark && v.Error == "" && !known[v.Name] {
				known[v.Name] = true
				names = append(names, v.Name)
			}
		}
	}
	return names
}

// whenLoaded is what is said of thread-local variables of libraries that no process has loaded. A plan with them is not refused.
const whenLoaded = "is only known when it is loaded"

// ask finds out which expressions cannot be collected at any place of a mark: a plan with one of these would be refused.
func (c *comparison) ask(t *testing.T) {
	t.Helper()
	p, err := symbol.Open(c.program.Path, symbol.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	libraries, err := filepath.Glob(filepath.Join(filepath.Dir(c.program.Path), "lib*.so"))
	if err != nil {
		t.Fatal(err)
	}
	for _, library := range libraries {
		if _, err := p.Add(library, 1<<40); err != nil {
			t.Fatal(err)
		}
	}
	c.refused = map[string]map[string]string{}
	for _, m := range c.program.Marks {
		c.refused[m.Name] = map[string]string{}
		places, err := p.Locate(m.At())
		if err != nil {
			if len(c.names(m.Name)) > 0 {
				t.Errorf("%s: %v, and GDB stops there", m.At(), err)
			}
			continue
		}
		for _, name := range c.names(m.Name) {
			reason := ""
			for _, place := range places {
				_, err := expr.Collect(name, p.Scope(place.Addr), container.Limits{})
				if err == nil || strings.Contains(err.Error(), whenLoaded) {
					reason = ""
					break
				}
				reason = err.Error()
			}
			if reason != "" {
				c.refused[m.Name][name] = reason
			}
		}
	}
}

// record runs the program under a plan that collects all that can be, each under its own name.
func (c *comparison) record(t *testing.T) {
	t.Helper()
	var script strings.Builder
	for _, m := range c.program.Marks {
		fmt.Fprintf(&script, "trace %s\nactions\ncollect $pc\n", m.At())
		for _, name := range c.names(m.Name) {
			if c.refused[m.Name][name] == "" {
				fmt.Fprintf(&script, "collect %s\n", name)
			}
		}
		fmt.Fprintln(&script, "end")
	}
	c.show(t, recorded(t, c.program, script.String()))
}

// recorded runs a program under a plan, and returns the file that it was recorded into.
func recorded(t *testing.T, program *corpus.Program, script string) string {
	t.Helper()
	var p plan.Plan
	if err := p.AddScript("plan", script); err != nil {
		t.Fatal(err)
	}
	// A result of a Go function holds what was on the stack until it is set, and pads use the stack, too.
	traps := slices.ContainsFunc(program.Marks, func(m corpus.Mark) bool { return strings.HasSuffix(m.File, ".go") })
	return recordedBy(t, &p, traps, program.Path)
}

// recordedBy runs a program with arguments under a plan, by traps alone or not, and returns the file that it was recorded into.
func recordedBy(t *testing.T, p *plan.Plan, traps bool, path string, args ...string) string {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	output := filepath.Join(t.TempDir(), "run.tf")
	s, err := local.Open(local.Config{
		Program: target.Program{Path: path, Args: args, Env: []string{corpus.Environment}},
		Streams: target.Streams{In: null, Out: null, Err: null},
		Config:  record.Config{Plan: p, Output: output, TrapsOnly: traps},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if _, err := s.Run(ctx); err != nil {
		t.Fatal(err)
	}
	return output
}

var (
	frameLine = regexp.MustCompile(`^Frame \d+ of tracepoint (\d+) at (0x[0-9a-f]+)`)
	valueLine = regexp.MustCompile(`^(.*?) = (.*)$`)
)

// show reads what tracewell show says of all frames.
func (c *comparison) show(t *testing.T, file string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), gdbtest.Binary(t), "show", file, "--full", "--raw", "--exec", c.program.Path)
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("show: %v", err)
	}
	c.recorded = map[string][]frame{}
	var mark string
	collected := false
	for line := range strings.Lines(string(output)) {
		line = strings.TrimSuffix(line, "\n")
		if m := frameLine.FindStringSubmatch(line); m != nil {
			var number int
			fmt.Sscan(m[1], &number)
			mark = c.program.Marks[number-1].Name
			c.recorded[mark] = append(c.recorded[mark], frame{m[2], map[string]string{}})
		}
		switch {
		case line == "Collected":
			collected = true
		case line == "":
			collected = false
		case collected:
			frames := c.recorded[mark]
			values := frames[len(frames)-1].values
			for name := range c.namesOn(mark, line) {
				if m := valueLine.FindStringSubmatch(strings.TrimPrefix(line, name)); m != nil && m[1] == "" {
					values[name] = m[2]
				}
			}
		}
	}
}

// namesOn yields the names of a mark that a line begins with.
func (c *comparison) namesOn(mark, line string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, name := range c.names(mark) {
			if strings.HasPrefix(line, name+" = ") && !yield(name) {
				return
			}
		}
	}
}

// judge compares arrival by arrival.
func (c *comparison) judge(t *testing.T) {
	t.Helper()
	arrivals := map[string]int{}
	for _, a := range c.seen {
		n := arrivals[a.Mark]
		arrivals[a.Mark]++
		if elsewhere[a.Mark] && c.optimised {
			continue
		}
		if n >= len(c.recorded[a.Mark]) {
			t.Errorf("%s: arrival %d has no frame", a.Mark, n)
			continue
		}
		f := c.recorded[a.Mark][n]
		if f.pc != a.PC.String() {
			t.Errorf("%s: arrival %d is at %v, the frame at %s", a.Mark, n, a.PC, f.pc)
			continue
		}
		for _, v := range a.Values {
			c.total.add(c.verdict(t, fmt.Sprintf("%s, arrival %d", a.Mark, n), a.Mark, f, v))
		}
	}
}

// elsewhere are the marks at which GDB does not stop when the program is optimised: code of several lines begins at the address
// of this one, of which GDB knows the last only, and so it goes on to the next function.
var elsewhere = map[string]bool{"caught": true}

// verdict says what came of a value, and reports what is wrong.
func (c *comparison) verdict(t *testing.T, where, mark string, f frame, v corpus.Value) string {
	t.Helper()
	got, recorded := f.values[v.Name]
	reason := c.refused[mark][v.Name]
	v.Text = dumped(v.Text)
	if c.heap.ours != nil {
		v.Text = typed.ReplaceAllString(v.Text, "$1")
	}
	switch {
	case v.Error != "":
		return "without a value in GDB"
	case v.Absent && (!recorded || got == "<optimized out>"):
		return "optimised out in both"
	case v.Absent:
		t.Errorf("%s: %s is optimised out, show says %s", where, v.Name, got)
		return "wrongly there"
	case !recorded && v.Uncollected != "":
		return "beyond GDB's tracepoints, too"
	case !recorded:
		t.Errorf("%s: %s is %s, and not recorded: %s", where, v.Name, v.Text, reason)
		return "missing"
	case got != v.Text && slices.ContainsFunc(mistakes, func(m string) bool { return strings.Contains(v.Text, m) }):
		return "GDB's mistake"
	case got != v.Text && got == strings.ReplaceAll(v.Text, synthetic, "<optimized out>"):
		return "optimised out in both"
	case got != v.Text && !agree(got, v.Text) && !c.heap.agree(got, v.Text):
		t.Errorf("%s: %s is\n%s, show says\n%s", where, v.Name, v.Text, got)
		return "different"
	}
	return "equal"
}

// pointed is what GDB prints behind a pointer to characters, and what is printed there if these were not collected.
var (
	pointed   = regexp.MustCompile(`(0x[0-9a-f]+(?: <[^>]*>)?) L?"(?:[^"\\]|\\.)*"(?:, '(?:[^'\\]|\\.)+' <repeats \d+ times>|, "(?:[^"\\]|\\.)*")*(?:\.\.\.)?`)
	uncovered = regexp.MustCompile(`(0x[0-9a-f]+(?: <[^>]*>)?) <error: Cannot access memory at address 0x[0-9a-f]+>`)
)

// agree reports whether a recorded value is what GDB printed, but for characters that pointers in it point to: a tracepoint
// collects the pointers.
func agree(ours, gdb string) bool {
	return pointed.ReplaceAllString(uncovered.ReplaceAllString(ours, "$1"), "$1") == pointed.ReplaceAllString(gdb, "$1")
}

// extras are expressions to compare besides variables, by mark.
var extras = map[corpus.Language]map[string][]string{
	corpus.C: {
		"add":      {"*i", "i->name", "s->first", "*s->first", "s->count + 1", "&i->at", "i->at.x - 3", "s->deep[1]", "seed & 0xf", "s->load[1]", "*place"},
		"records":  {"f.mode", "f.level * 2", "f.wide", "header.length", "u.bytes[1]", "i->at", "*i", "items[1]", "items[0].name[5]", "n ? n : -1"},
		"integers": {"tiny", "byte + 1", "-little", "word >> 3", "natural / 3", "huge % 1000", "most > 5", "shade == 5", "(char)byte", "sizeof huge", "~word"},
		"arrays":   {"squares[2]", "squares[0]@3", "corners[2].y", "words[1]", "name[0]", "*row", "(*row)[1]", "&squares[1]"},
		"round":    {"main_store.count", "start.x + 1", "*origin", "origin->y", "table[1]", "store_limit * 2"},
		"deeper":   {"'main.c'::counter", "'pieces.c'::counter"},
	},
	corpus.CPP: {
		"add":         {"total", "this->total", "*this", "all"},
		"references":  {"out.value", "in + 1", "&out", "name"},
		"polymorphic": {"tagged.tag", "square->sides[1]", "shape.size", "square->unit"},
		"loop":        {"geo::offset", "geo::Named::made", "Counter::all", "app::fixed.value", "numbers.slots[1]", "pair.key", "app::inner::depth"},
		"put":         {"this->next", "slots[0]"},
	},
	corpus.Rust: {
		"cost":  {"self.id", "self.price.0", "base + 1"},
		"round": {"item.id", "reading.raw[1]", "stock::LIMIT"},
	},
	corpus.Go: {
		"add":   {"made.weight", "made.at.X", "list", "weight + 1"},
		"round": {"list.weight", "main.limit", "main.table[1]"},
	},
}
