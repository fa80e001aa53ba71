//go:build linux && amd64

package recordtest

import (
	"flag"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/corpus"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/randprog"
	"tracewell/symbol"
	"tracewell/symbol/container"
	"tracewell/symbol/expr"
)

var seed = flag.Uint64("seed", 0, "the seed of the first random program, 0 for 1, or with -whole for another one each time")

// TestGeneratedPrograms records every variable of random programs and every part of it, and holds what show says against what the
// program stored and against what GDB prints. Conditions of C over the stored values have to be true at the same time.
func TestGeneratedPrograms(t *testing.T) {
	builds, members := randprog.Few(), 250
	if *whole {
		builds, members = randprog.Builds(), 450
	}
	next := nextSeed(t)
	var total tally
	t.Cleanup(func() { t.Logf("all programs: %v", total.counts) })
	for i, b := range builds {
		own := next + uint64(i)
		t.Run(fmt.Sprintf("%v-seed%d", b, own), func(t *testing.T) {
			t.Parallel()
			g := generated{Program: randprog.New(own, b, members), total: &total}
			g.path = g.Compile(t, b)
			g.observe(t)
			g.record(t)
			g.judge(t)
		})
	}
}

// nextSeed is what -seed says, or else.
func nextSeed(t *testing.T) uint64 {
	t.Helper()
	next := *seed
	switch {
	case next == 0 && *whole:
		next = rand.Uint64N(1e9) + 1
	case next == 0:
		next = 1
	}
	t.Logf("-seed %d", next)
	return next
}

// generated is a random program with what is known of it. All lists are by mark and then by member, as those of the program.
type generated struct {
	*randprog.Program
	path     string
	printed  [][]string // by GDB
	refused  [][]string // why a member cannot be collected, "" if it can
	recorded [][]string // what show says; "" without a value
	total    *tally
}

// observe has GDB print every member.
func (g *generated) observe(t *testing.T) {
	t.Helper()
	var script strings.Builder
	script.WriteString("set max-value-size unlimited\nset print symbol on\n")
	command := "run"
	for i, m := range g.Marks {
		fmt.Fprintf(&script, "tbreak %s\n%s\n", g.At(m), command)
		command = "continue"
		fmt.Fprintf(&script, "-- %d --\npython\nfor path in [\n", i)
		for _, member := range m.Members {
			fmt.Fprintf(&script, "%q,\n", member.Path)
		}
		script.WriteString("]:\n  try: gdb.execute('print ' + path)\n  except gdb.error as e: print('error: %s' % e)\nend\n-- rest --\n")
	}
	output := gdbtest.RunFor(t, 5*time.Minute, g.path, script.String())
	values := 1
	for i, m := range g.Marks {
		lines := slices.DeleteFunc(strings.Split(output.Section(t, fmt.Sprint(i)), "\n"), func(line string) bool {
			return !strings.HasPrefix(line, "$") && !strings.HasPrefix(line, "error: ")
		})
		if len(lines) != len(m.Members) {
			t.Fatalf("GDB prints %d lines of %d members:\n%s", len(lines), len(m.Members), lines)
		}
		for j, line := range lines {
			lines[j] = strings.TrimPrefix(line, fmt.Sprintf("$%d = ", values))
			if lines[j] != line {
				values++
			}
		}
		g.printed = append(g.printed, lines)
	}
}

// together is how many conditions are asked in one: GDB reads no longer lines in a trace file.
const together = 3

// record runs the program under a plan that collects all members, and has a tracepoint for some conditions each.
func (g *generated) record(t *testing.T) {
	t.Helper()
	p, err := symbol.Open(g.path, symbol.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var script, conditions strings.Builder
	var groups []string
	for i, m := range g.Marks {
		places, err := p.Locate(g.At(m))
		if err != nil || len(places) != 1 {
			t.Fatalf("%s: %v, %v", g.At(m), places, err)
		}
		scope := p.Scope(places[0].Addr)
		fmt.Fprintf(&script, "trace %s\nactions\ncollect $pc\n", g.At(m))
		var asked []string
		g.refused = append(g.refused, make([]string, len(m.Members)))
		for j, member := range m.Members {
			if _, err := expr.Collect(member.Path, scope, container.Limits{}); err != nil {
				g.refused[i][j] = err.Error()
				continue
			}
			fmt.Fprintf(&script, "collect %s\n", member.Path)
			if member.Test == "" {
				continue
			}
			if _, err := expr.Condition(member.Test, scope); err != nil {
				t.Errorf("%s: %v", g.At(m), err)
				continue
			}
			asked = append(asked, "("+member.Test+")")
		}
		fmt.Fprintln(&script, "end")
		for group := range slices.Chunk(asked, together) {
			groups = append(groups, strings.Join(group, " && "))
			fmt.Fprintf(&conditions, "trace %s if %s\nactions\ncollect $pc\nend\n", g.At(m), groups[len(groups)-1])
		}
	}
	file := recorded(t, &corpus.Program{Path: g.path}, script.String()+conditions.String())
	hits := g.show(t, file)
	for n, group := range groups {
		if number := len(g.Marks) + n + 1; hits[number] != 1 {
			t.Errorf("tracepoint %d was hit %d times if %s", number, hits[number], group)
		}
	}
}

// show reads what tracewell show says of the frames, and how often each tracepoint was hit.
func (g *generated) show(t *testing.T, file string) (hits map[int]int) {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), gdbtest.Binary(t), "show", file, "--full", "--raw", "--exec", g.path).Output()
	if err != nil {
		t.Fatalf("show: %v", err)
	}
	for _, m := range g.Marks {
		g.recorded = append(g.recorded, make([]string, len(m.Members)))
	}
	hits = map[int]int{}
	number, collected := 0, false
	for line := range strings.Lines(string(output)) {
		line = strings.TrimSuffix(line, "\n")
		if m := frameLine.FindStringSubmatch(line); m != nil {
			fmt.Sscan(m[1], &number)
			hits[number]++
		}
		switch {
		case line == "Collected":
			collected = true
		case line == "":
			collected = false
		case collected && number <= len(g.Marks):
			path, value, _ := strings.Cut(line, " = ")
			at := slices.IndexFunc(g.Marks[number-1].Members, func(m randprog.Member) bool { return m.Path == path })
			if at < 0 {
				t.Fatalf("%q is of no member", line)
			}
			g.recorded[number-1][at] = value
		}
	}
	return hits
}

// judge compares member by member.
func (g *generated) judge(t *testing.T) {
	t.Helper()
	for i, m := range g.Marks {
		for j, member := range m.Members {
			what := g.verdict(member, g.printed[i][j], g.recorded[i][j], g.refused[i][j])
			g.total.add(what)
			if slices.Contains(good, what) {
				continue
			}
			t.Errorf("%s: %s: %s\nGDB   %s\nshow  %s\nwant  %s\n%s", g.At(m), member.Path, what, g.printed[i][j], g.recorded[i][j], member.Want, g.refused[i][j])
		}
	}
}

// good are the verdicts that are no error.
var good = []string{"equal", "equal but for what GDB cannot print", "equal but for the sign that GDB gives an enumeration", "optimised out in both",
	"refused by both", "of unknown length, so that GDB prints the address"}

// verdict is what comes of the comparison.
func (g *generated) verdict(m randprog.Member, printed, recorded, refused string) string {
	printed = hashes.ReplaceAllString(printed, "")
	switch {
	case recorded == "" && (strings.Contains(printed, "optimized out") || strings.Contains(printed, "Missing ELF symbol")), printed == "<optimized out>" && recorded == printed:
		return "optimised out in both"
	case m.Want != "" && number(recorded) != m.Want:
		return "not what the program stored"
	case printed == recorded:
		return "equal"
	case agree(recorded, printed):
		return "equal"
	case recorded == "" && strings.HasPrefix(printed, "error: "):
		return "refused by both"
	case unbounded.MatchString(refused) && address.MatchString(printed):
		return "of unknown length, so that GDB prints the address"
	case g.differInSigns(m.Path, printed, recorded):
		return "equal but for the sign that GDB gives an enumeration"
	case unprinted(printed, recorded), strings.Contains(m.Path, "->b"): // gigabytes from the start of its structure
		return "equal but for what GDB cannot print"
	}
	return "not what GDB prints"
}

// An array whose bound the debug information cannot say, as one of variable length in strict DWARF 3, is refused with these words; an
// address alone is what GDB makes of it.
var (
	unbounded = regexp.MustCompile(`^the size of .*\[\].* is not known`)
	address   = regexp.MustCompile(`^0x[0-9a-f]+$`)
)

// hashes are what GDB has behind the names of Rust's variables, and we leave out.
var hashes = regexp.MustCompile(`::h[0-9a-f]{16}\b`)

// wide is what GDB 13.1 says of a bit-field of which nine bytes have a bit.
const wide = "That operation is not available on integers of more than 8 bytes."

// refusals are what GDB 13.1 says instead of a value, or behind a part of it: of bit-fields in nine bytes and in structures that
// it cannot read whole, of the scope of an enumeration in DWARF 2, and of Members::method where it has no symbols by the linker's
// names.
var refusals = []string{"error: Cannot access memory", "error: " + wide, "is not defined as an aggregate type", "warning: (Internal error"}

// unprinted reports whether two values are equal but for bit-fields that GDB 13.1 cannot print: those in nine bytes, and those of
// which it cannot read the whole structure, which it needs. It leaves out what stands behind the former in their structure.
func unprinted(printed, recorded string) bool {
	if slices.ContainsFunc(refusals, func(text string) bool { return strings.Contains(printed, text) }) {
		return recorded != ""
	}
	texts := strings.Split(printed, "<error reading variable: "+wide+">")
	for i, text := range texts {
		texts[i] = regexp.QuoteMeta(text)
	}
	return len(texts) > 1 && regexp.MustCompile("^"+strings.Join(texts, "(?:-?[0-9]|[A-Za-z_:(]).*")+"$").MatchString(recorded)
}

// differInSigns reports whether two values differ only in members of enumeration types to which GDB 13.1 gives a sign of its own
// making: a number that is no enumerator it prints as a signed one of 64 bits; an int it takes for unsigned if no enumerator is
// negative; and where DWARF 2 leaves out the type of the numbers, an enumerator of 2^63 or more for a negative one.
func (g *generated) differInSigns(path, printed, recorded string) bool {
	if len(g.Enumerations) == 0 {
		return false
	}
	names := slices.Sorted(maps.Keys(g.Enumerations))
	member := regexp.MustCompile(`\b(` + strings.Join(names, "|") + `)(?: = |: )([^,{}]+)`)
	texts := [2]string{path + " = " + printed, path + " = " + recorded}
	var members [2][][]string
	for i, text := range texts {
		members[i] = member.FindAllStringSubmatch(text, -1)
		texts[i] = member.ReplaceAllString(text, "$1")
	}
	if unprinted(texts[0], texts[1]) { // GDB leaves out members, so the rest cannot be paired; each is compared by itself
		return true
	}
	return texts[0] == texts[1] && slices.EqualFunc(members[0], members[1], func(printed, recorded []string) bool {
		return printed[2] == recorded[2] || sameBits(printed[2], recorded[2], g.Enumerations[printed[1]])
	})
}

// sameBits reports whether two numbers have the same lowest bits. An enumerator has no number here, and the other may show one where
// the sign makes another number of the bits: the member by itself is held against what the program stored.
func sameBits(printed, recorded string, bits int) bool {
	a, first := new(big.Int).SetString(printed, 10)
	b, second := new(big.Int).SetString(recorded, 10)
	if !first || !second {
		return first && a.Sign() < 0 || second && !first
	}
	a.Sub(a, b)
	return a.Sign() == 0 || a.TrailingZeroBits() >= uint(bits)
}

// number is a value without its type, the scope of its name, and the character that stands behind a number.
func number(text string) string {
	if strings.HasPrefix(text, "(") {
		if _, value, ok := strings.Cut(text, ") "); ok {
			text = value
		}
	}
	text, _, _ = strings.Cut(text, " '")
	text, _, _ = strings.Cut(text, " <")
	if scope := strings.LastIndex(text, "::"); scope >= 0 {
		text = text[scope+len("::"):]
	}
	return text
}
