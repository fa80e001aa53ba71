package exprtest

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"tracewell/symbol/container"
	"tracewell/symbol/expr"
)

// collections are what is collected in a frame each.
var collections = strings.Split(strings.TrimSpace(`
n
j
*j
j->id
j->at
j->at.y
j->path
j->path[1]
j->path[n - 998].y
j->flags
j->flags.delta
j->flags.far
j->word
j->word.high
j->inner
j->name
j->grid
j->grid[1]
j->next->next->at
(*j->self)->id
copy
copy.path[2]
copy.flags.wide
numbers
numbers[i + 9]
numbers[2]@3
bytes[1]@3
numbers[0]@uc-245
j->path[0]@calls-2
*head
head->next->flags.low
(*pp)->at
**ipp
*ip + local
pp[0]->path[1].x * 2
w
flags
d
f
sum
limit
kind
sign
uc
i < 0 ? j->id : local
i < 0 && j->next->id == 8
(long)uc + *(short *)raw
*(struct job *)raw
{int} &local
call
raw
ip
table
yes
$rip
$rsp
$rbp
$rsp - 8
*(long *)$rsp
calls
'values.c'::hits
(hits, limit)
/s string
/s text
/s j->label
`), "\n")

// TestFrames: what is collected for an expression suffices to evaluate it, for us and for GDB, which prints the same
// of the frame as it did when the process stood there.
func TestFrames(t *testing.T) {
	program, line := Compile(t, "values.c")
	var script strings.Builder
	for i, text := range collections {
		fmt.Fprintf(&script, "-- live %d --\noutput %s\n", i, bare(text))
	}
	p, live := Stop(t, program, line, script.String())
	s := scopeOf(t, program, p.PC())
	file := NewTraceFile(p.PC())
	expressions := make([]string, len(collections))
	for i, text := range collections {
		c, err := expr.Collect(text, s, container.Limits{})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		frame := p.Collect(t, expr.Actions(c))
		file.Add(frame)
		expressions[i] = bare(text)
		for _, item := range c.Items {
			compareFrame(t, p, frame, s, item.Text)
		}
	}
	for i, got := range file.Print(t, program, expressions) {
		if want := live.Section(t, fmt.Sprintf("live %d", i)); got != want {
			t.Errorf("%s: GDB prints of the frame\n%s\nwant\n%s", collections[i], got, want)
		}
	}
}

// bare is a collection without its options.
func bare(text string) string {
	return regexp.MustCompile(`^/s\d* `).ReplaceAllString(text, "")
}

// compareFrame evaluates an expression over a process and over what was collected of it.
func compareFrame(t *testing.T, p, frame *Process, s expr.Scope, text string) {
	t.Helper()
	plan, err := expr.Compile(text, s)
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return
	}
	want, err := plan.Bytes(Context{Process: p})
	if err != nil {
		t.Errorf("%s: %v", text, err)
	}
	if got, err := plan.Bytes(Context{Process: frame}); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: % x (%v) of the frame, % x of the process", text, got, err, want)
	}
}

// TestCollections has the actions themselves.
func TestCollections(t *testing.T) {
	program, line := Compile(t, "values.c")
	p, _ := Stop(t, program, line, "")
	s := scopeOf(t, program, p.PC())
	for text, want := range map[string]string{
		"$regs":               "registers 0-59",
		"$rip, $eax":          "registers 0,16",
		"n":                   "registers 6; 4",
		"limit":               "4",
		"j->id":               "registers 6; 8 4",
		"j->next->next->id":   "registers 6; 8 8 8 4",
		"*j":                  "registers 6; 8 128",
		"$args":               "registers 6; 8 4 1 2 8 1",
		"$_ret":               "registers 6; 8",
		"$count":              "variable 2",
		"$count + limit":      "4; variable 2",
		"/s5 string":          "registers 6; 8 5",
		"/s string":           "registers 6; 8 9",
		"/s text":             "registers 6; 16",
		"/s4 text":            "registers 6; 4",
		"limit + 1, limit":    "4 4",
		"URGENT":              "",
		"sizeof(struct job)":  "",
		"&local":              "registers 6",
		"twice":               "",
		"$xmm0":               "registers 40",
		"yes || limit":        "1",
		"no || limit":         "1 4",
		"numbers[1]@2":        "8",
		"j->flags.low":        "registers 6; 8 1",
		"$count = $count + 1": "variable 2",
	} {
		c, err := expr.Collect(text, s, container.Limits{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		p.Collect(t, expr.Actions(c))
		if got := p.Summary(c.Registers); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestRefused has what is not compiled, and why.
func TestRefused(t *testing.T) {
	program, line := Compile(t, "values.c")
	p, _ := Stop(t, program, line, "")
	s := scopeOf(t, program, p.PC())
	for text, want := range map[string]string{
		"n + limt":        "there is no limt\n  n + limt\n      ^~~~\ndid you mean limit?",
		"d + 1":           "an agent expression cannot compute with floating-point numbers\n  d + 1\n  ^",
		"(int)f":          "an agent expression cannot compute with floating-point numbers\n  (int)f\n  ^~~~~~",
		"n * 1.5":         "an agent expression cannot compute with floating-point numbers\n  n * 1.5\n      ^~~",
		"twice(3)":        "a function cannot be called\n  twice(3)\n       ^\na tracepoint looks at the program and runs nothing in it",
		"n = 3":           "n is no trace state variable, and only those can be set\n  n = 3\n  ^\nto compare, write ==",
		"*j + 1":          "*j is of type struct job, which is no number\n  *j + 1\n  ^~\nname one of its members",
		"j->idd":          "struct job has no member idd\n  j->idd\n  ^~~~~~\ndid you mean id?",
		"n.x":             "n is of type int, which has no members\n  n.x\n  ^~~",
		"$rip->x":         "",
		"$ripp":           "there is no $ripp: neither a trace state variable nor a register\n  $ripp\n  ^~~~~",
		"&$rax":           "$rax is in a register, which has no address\n  &$rax\n   ^~~~",
		"&flags.low":      "flags.low is a bit field, which has no address\n  &flags.low\n   ^~~~~~~~~",
		"&5":              "5 is not in memory and has no address\n  &5\n   ^",
		"*raw":            "there is nothing of type void\n  *raw\n  ^~~~\na cast says what is there: *(char *)…",
		"$args + 1":       "$args stands for several values, and only alone\n  $args + 1\n  ^~~~~",
		"n, $xmm0 + 1":    "",
		"/x n":            "/x is no option\n  /x n\n  ^~\n/s collects strings, /s80 at most 80 bytes of each",
		"n +":             "found the end, expected a value\n  n +\n     ^",
		"/s8 n +":         "found the end, expected a value\n  /s8 n +\n         ^",
		"\"text\"":        "a string in an expression would have to be put into the program\n  \"text\"\n  ^~~~~~",
		"j + j":           "struct job * + struct job * means nothing\n  j + j\n  ^~~~~",
		"(struct point)n": "int cannot be converted to struct point\n  (struct point)n\n  ^~~~~~~~~~~~~~~",
	} {
		_, err := expr.Collect(text, s, container.Limits{})
		var wrong *expr.Error
		if !errors.As(err, &wrong) || want != "" && err.Error() != want {
			t.Errorf("%s: the error is\n%v\nwant\n%s", text, err, want)
		}
	}
}
