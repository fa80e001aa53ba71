package expr

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/internal/gdbtest"
	"tracewell/trace"
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

// collect runs the actions of a collection over a process, which is left with what was collected alone.
func (p *process) collect(t testing.TB, actions []trace.Action) *process {
	t.Helper()
	frame := &process{registers: map[arch.Reg]uint64{}, segments: p.segments, variables: p.variables, only: []span{}}
	p.traced = nil
	for _, a := range actions {
		switch a.Kind {
		case trace.CollectRegisters:
			for _, r := range a.Registers() {
				frame.registers[r] = p.registers[r]
			}
		case trace.CollectMemory:
			p.TraceMemory(arch.Addr(a.Offset), a.Length)
		case trace.CollectExpression:
			program, err := ax.Decode(a.Code)
			if err != nil {
				t.Fatal(err)
			}
			var m ax.Machine
			if err := m.Run(program, p); err != nil {
				t.Errorf("%v: %v", program, err)
			}
		}
	}
	frame.only = append(frame.only, p.traced...)
	return frame
}

// TestFrames: what is collected for an expression suffices to evaluate it, for us and for GDB, which prints the same
// of the frame as it did when the process stood there.
func TestFrames(t *testing.T) {
	program, line := compiled(t, "values.c")
	list := slices.Clone(collections)
	var script strings.Builder
	for i, text := range list {
		fmt.Fprintf(&script, "-- live %d --\noutput %s\n", i, bare(text))
	}
	p, live := stopped(t, program, line, script.String())
	pc := arch.Addr(p.registers[16])
	s := simpleScope(t, program, pc)
	file := newTraceFile(pc)
	for i, text := range list {
		c, err := Collect(text, s)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			list[i] = "n"
			c = &Collection{}
		}
		frame := p.collect(t, Actions(c))
		file.add(p, frame)
		for _, item := range c.Items {
			compareFrame(t, p, frame, s, item.Text)
		}
	}
	path := file.write(t)
	script.Reset()
	fmt.Fprintf(&script, "target tfile %s\n", path)
	for i, text := range list {
		fmt.Fprintf(&script, "-- frame %d --\ntfind %d\n? output %s\n", i, i, bare(text))
	}
	output := gdbtest.Run(t, program, script.String())
	for i, text := range list {
		got := found.ReplaceAllString(output.Section(t, fmt.Sprintf("frame %d", i)), "")
		if want := live.Section(t, fmt.Sprintf("live %d", i)); got != want {
			t.Errorf("%s: GDB prints of the frame\n%s\nwant\n%s", text, got, want)
		}
	}
}

// bare is a collection without its options.
func bare(text string) string {
	return regexp.MustCompile(`^/s\d* `).ReplaceAllString(text, "")
}

// found is what tfind prints.
var found = regexp.MustCompile(`(?s)^Found trace frame.*?\n(#.*\n\d+\s.*?\n)?`)

// compareFrame evaluates an expression over a process and over what was collected of it.
func compareFrame(t *testing.T, p, frame *process, s Scope, text string) {
	t.Helper()
	plan, err := Compile(text, s)
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return
	}
	want, err := plan.Bytes(words{p})
	if err != nil {
		t.Errorf("%s: %v", text, err)
	}
	if got, err := plan.Bytes(words{frame}); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: % x (%v) of the frame, % x of the process", text, got, err, want)
	}
}

// traceFile makes a trace file by hand, all frames of one tracepoint.
type traceFile struct {
	pc                  arch.Addr
	definitions, frames bytes.Buffer
	count               int
}

// block is the size of the general registers and rip, which the register block ends with.
const block = 17 * 8

func newTraceFile(pc arch.Addr) *traceFile {
	f := &traceFile{pc: pc}
	fmt.Fprintf(&f.definitions, "\x7fTRACE0\nR %x\ntp T1:%x:E:0:0\n", block, uint64(pc))
	return f
}

// add appends a frame. Registers that were not collected are 0, but for the pc.
func (f *traceFile) add(p, frame *process) {
	f.count++
	little := binary.LittleEndian
	data := []byte{'R'}
	for r := range arch.Reg(block / 8) {
		value := frame.registers[r]
		if r == 16 {
			value = uint64(f.pc)
		}
		data = little.AppendUint64(data, value)
	}
	for _, s := range frame.only {
		b, err := p.Memory(arch.Addr(s.addr), int(s.size))
		if err != nil {
			continue
		}
		data = little.AppendUint16(little.AppendUint64(append(data, 'M'), s.addr), uint16(s.size))
		data = append(data, b...)
	}
	f.frames.Write(little.AppendUint32(little.AppendUint16(nil, 1), uint32(len(data))))
	f.frames.Write(data)
}

func (f *traceFile) write(t testing.TB) string {
	path := filepath.Join(t.TempDir(), "frames.tf")
	fmt.Fprintf(&f.definitions, "status 0;tstop::0;tframes:%x;tcreated:%x\n\n", f.count, f.count)
	f.definitions.Write(f.frames.Bytes())
	f.definitions.Write([]byte{0, 0, 0, 0})
	if err := os.WriteFile(path, f.definitions.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCollections has the actions themselves.
func TestCollections(t *testing.T) {
	program, line := compiled(t, "values.c")
	p, _ := stopped(t, program, line, "")
	s := simpleScope(t, program, arch.Addr(p.registers[16]))
	for text, want := range map[string]string{
		"$regs":               "registers 0-17",
		"$rip, $eax":          "registers 0,16",
		"n":                   "registers 6; 4",
		"limit":               "4",
		"j->id":               "registers 6; 8 4",
		"j->next->next->id":   "registers 6; 8 8 8 4",
		"*j":                  "registers 6; 8 128",
		"$args":               "registers 6; 8 4",
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
		"j->flags.low":        "registers 6; 8 4",
		"$count = $count + 1": "variable 2",
	} {
		c, err := Collect(text, s)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		p.counted = nil
		frame := p.collect(t, Actions(c))
		if got := summary(c, frame, p.counted); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// summary is what was collected: registers by their numbers, memory by its sizes.
func summary(c *Collection, frame *process, variables []uint16) string {
	var parts []string
	switch n := len(c.Registers); {
	case n > 2:
		parts = append(parts, fmt.Sprintf("registers %d-%d", c.Registers[0], c.Registers[n-1]))
	case n > 0:
		parts = append(parts, "registers "+strings.Trim(strings.ReplaceAll(fmt.Sprint(c.Registers), " ", ","), "[]"))
	}
	var sizes []string
	for _, s := range frame.only {
		sizes = append(sizes, fmt.Sprint(s.size))
	}
	if len(sizes) > 0 {
		parts = append(parts, strings.Join(sizes, " "))
	}
	for _, n := range slices.Compact(variables) {
		parts = append(parts, fmt.Sprintf("variable %d", n))
	}
	return strings.Join(parts, "; ")
}

// TestRefused has what is not compiled, and why.
func TestRefused(t *testing.T) {
	program, line := compiled(t, "values.c")
	p, _ := stopped(t, program, line, "")
	s := simpleScope(t, program, arch.Addr(p.registers[16]))
	s.objects["gone"] = Object{Name: "gone", Type: intType, Place: Absent{"optimized out"}}
	for text, want := range map[string]string{
		"n + limt":        "there is no limt\n  n + limt\n      ^~~~\nnear is limit",
		"gone":            "gone: optimized out\n  gone\n  ^~~~",
		"1 + gone":        "gone: optimized out\n  1 + gone\n      ^~~~",
		"d + 1":           "an agent expression cannot compute with floating-point numbers\n  d + 1\n  ^",
		"(int)f":          "an agent expression cannot compute with floating-point numbers\n  (int)f\n  ^~~~~~",
		"n * 1.5":         "an agent expression cannot compute with floating-point numbers\n  n * 1.5\n      ^~~",
		"twice(3)":        "a function cannot be called\n  twice(3)\n       ^\na tracepoint looks at the program and runs nothing in it",
		"n = 3":           "n is no trace state variable, and only those can be set\n  n = 3\n  ^\nto compare, write ==",
		"*j + 1":          "*j is of type struct job, which is no number\n  *j + 1\n  ^~\nname one of its members",
		"j->idd":          "struct job has no member idd\n  j->idd\n  ^~~~~~\nnear is id",
		"n.x":             "n is of type int, which has no members\n  n.x\n  ^~~",
		"$rip->x":         "",
		"$ripp":           "there is no $ripp: neither a trace state variable nor a register\n  $ripp\n  ^~~~~",
		"&$rax":           "$rax is in a register, which has no address\n  &$rax\n   ^~~~",
		"&flags.low":      "flags.low is a bit field, which has no address\n  &flags.low\n   ^~~~~~~~~",
		"&5":              "5 is not in memory and has no address\n  &5\n   ^",
		"numbers@n":       "the number of elements has to be a constant: what is collected is of a fixed size\n  numbers@n\n          ^",
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
		_, err := Collect(text, s)
		var wrong *Error
		if !errors.As(err, &wrong) || want != "" && err.Error() != want {
			t.Errorf("%s: the error is\n%v\nwant\n%s", text, err, want)
		}
	}
}
