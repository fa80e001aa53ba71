package view

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
	"tracewell/symbol/ctype"
	"tracewell/tfile"
	"tracewell/trace"
)

// recorded are the commands of tracepoints on one line of collects.c, and the names that items have: without the program's
// symbols, and with them. A name in brackets is one that there must not be: the commands do not tell it for certain.
var recordedItems = []struct {
	commands      string
	without, with []string
}{
	{
		"collect $args, $locals",
		[]string{"*(int *)($rbp - 76)", "{char[32]}($rbp - 64)"},
		[]string{"n", "x", "c", "label", "buf", "sum", "within", "calls"},
	}, {
		"collect x, n->id, *n, buf[0]@4, first, second\nteval $hits = $hits + 1\ncollect $hits, x + c, n->in.a",
		[]string{"x", "n->id", "*n", "buf[0]@4", "$hits", "x + c", "n->in.a"},
		[]string{"x", "n->id", "*n", "buf[0]@4", "first", "second", "$hits", "x + c", "n->in.a"},
	}, {
		"collect/s label, text\ncollect $rdi, first, third",
		[]string{"$rdi", "(char *)*(long *)($rbp - 88)"},
		[]string{"$rdi", "label", "text", "first", "third"},
	}, {
		"collect $args, n->next, sum",
		[]string{"n->next", "sum"},
		[]string{"n", "x", "c", "label", "n->next", "sum"},
	}, {
		"collect matrix[1][2], matrix, root, root.in, ratio, big, paint, {int}&second, *(short *)&big, calls, within, bag",
		[]string{"matrix[1][2]"},
		[]string{"matrix[1][2]", "matrix", "root", "root.in", "ratio", "big", "paint", "{int}&second", "*(short *)&big", "calls",
			"within", "bag"},
	}, {
		"collect x\nwhile-stepping 3\ncollect $regs, sum, calls\nend",
		[]string{"x", "$rax"},
		[]string{"x", "sum", "calls"},
	}, {
		"collect x > 3 ? x : c, n && x, (long)x, -x, n->name, ~c % 7, x << 2, *n->next@1",
		[]string{"x > 3 ? x : c", "n && x", "(long)x", "-x", "n->name", "~c % 7", "x << 2", "*n->next@1"},
		[]string{"x > 3 ? x : c", "n && x", "(long)x", "-x", "n->name", "~c % 7", "x << 2", "*n->next@1"},
	},
}

// optimized are commands for a program in which most variables are in registers, or nowhere.
var optimized = []string{
	"collect $args, $locals", "collect x, n->id, c, label, sum", "collect $regs, *n, first, root.in", "collect x + 1, n, calls", "collect n->in.b, *n->next@1",
}

// TestLive records a run in which tracepoints collect what there is to collect. Items must have the names above, and GDB, asked
// for the names when it has a frame of the file selected, the values.
func TestLive(t *testing.T) {
	for _, optimize := range []bool{false, true} {
		t.Run(fmt.Sprintf("optimized=%v", optimize), func(t *testing.T) {
			t.Parallel()
			program := testprog.Build(t, "collects", testprog.Variant{NoPIE: true, Optimised: optimize})
			commands := optimized
			if !optimize {
				commands = nil
				for _, r := range recordedItems {
					commands = append(commands, r.commands)
				}
			}
			saved := recordItems(t, program, commands)
			for _, exec := range []string{"", program.Path} {
				v := openView(t, saved, exec)
				if !optimize {
					checkNames(t, v, exec != "")
				}
				compareItems(t, v, program.Path, saved)
			}
		})
	}
}

// TestRecorded does the same with a file that GDB and gdbserver made, and looks at some values that GDB showed when it did.
func TestRecorded(t *testing.T) {
	const saved, program = "../tfile/testdata/queue-basic.tf", "../tfile/testdata/queue"
	for _, exec := range []string{"", program} {
		v := openView(t, saved, exec)
		compareItems(t, v, absolute(t, program), absolute(t, saved))
		for n, want := range map[int]string{
			0:  `"qq":"0x404080","j":"0x4052a0","$hits":1`,
			20: `"n":21`,
		} {
			if exec == "" && n == 0 {
				continue
			}
			frame, err := v.Frame(n, nil)
			if err != nil {
				t.Fatal(err)
			}
			r := v.NewReader()
			r.Set(frame)
			got := string(r.AppendCollected(nil))
			for member := range strings.SplitSeq(want, ",") {
				if !strings.Contains(got, member) {
					t.Errorf("frame %d: %s, without %s", n, got, member)
				}
			}
		}
	}
}

// TestOptimized: in a program that was optimized and loaded anywhere, what was collected has the names of the commands.
func TestOptimized(t *testing.T) {
	v := openView(t, "../tfile/testdata/queue-pie.tf", "../tfile/testdata/queue_pie")
	r := v.NewReader()
	for n, want := range map[int]string{
		0: `{"*j":{"id":7,"kind":0,"weight":0.25,"name":"job-1","next":"0x0"},` +
			`"q":{"head":"0x5555555592a0","tail":"0x5555555592a0","count":1,"checksum":0},"$hits":1,"qq":"0x555555558080","j":"0x5555555592a0"}`,
		3: `{"table":"01020305080d1522375990e9634c2b13","limit":40,"qq":"0x555555558080"}`,
		4: `{"n":7}`,
		5: `{}`,
	} {
		frame, err := v.Frame(n, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Set(frame)
		if got := string(r.AppendCollected(nil)); got != want {
			t.Errorf("frame %d: %s, want %s", n, got, want)
		}
	}
}

func absolute(t testing.TB, path string) string {
	t.Helper()
	full, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return full
}

func recordItems(t *testing.T, program *testprog.Program, commands []string) string {
	t.Helper()
	saved := filepath.Join(t.TempDir(), "saved.tf")
	s := gdbtest.Start(t, gdbtest.Config{Comm: "localhost:0", Command: []string{program.Path}})
	script := "target remote " + s.Address + "\ntvariable $hits = 0\n"
	for _, c := range commands {
		script += fmt.Sprintf("trace %d\nactions\n%s\nend\n", program.Line(t, "collect"), c)
	}
	script += "break printf\ntstart\ncontinue\ntstop\ntsave " + saved + "\nkill\n"
	gdbtest.Run(t, program.Path, script)
	return saved
}

func openView(t testing.TB, path, exec string) *View {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := tfile.OpenBytes(content)
	if err != nil {
		t.Fatal(err)
	}
	if exec == "" {
		return newView(t, f, nil)
	}
	return newView(t, f, openPath(t, exec))
}

func checkNames(t *testing.T, v *View, symbols bool) {
	t.Helper()
	for i, r := range recordedItems {
		want := r.without
		if symbols {
			want = r.with
		}
		items := v.Items(trace.Number(i + 1))
		names := make(map[string]bool)
		for _, item := range items {
			names[item.Name] = true
			if symbols && item.Slot == nil && strings.Contains(item.Name, "$rbp") {
				t.Errorf("tracepoint %d: %q has no better name", i, item.Name)
			}
		}
		for _, name := range want {
			if !names[name] {
				t.Errorf("tracepoint %d, with symbols %v: no item %q", i, symbols, name)
			}
		}
	}
}

// compareItems asks GDB for every item of some frames.
func compareItems(t *testing.T, v *View, program, saved string) {
	t.Helper()
	var script strings.Builder
	script.WriteString("set print elements 0\nset print repeats 0\ntarget tfile " + saved + "\n")
	want := make(map[string]string)
	r := v.NewReader()
	for i := range v.Content.NumFrames() {
		if i >= 12 && i%8 != 0 {
			continue
		}
		frame, err := v.Frame(i, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Set(frame)
		fmt.Fprintf(&script, "tfind %d\n", i)
		for j, item := range r.Items() {
			question, answer := questionFor(r, item)
			if question == "" {
				continue
			}
			key := fmt.Sprintf("%d %d", i, j)
			want[key] = item.Name + " = " + answer
			fmt.Fprintf(&script, "-- %s --\n%s\n", key, question)
		}
	}
	if len(want) < 20 {
		t.Errorf("%d items only could be compared", len(want))
	}
	output := gdbtest.Run(t, program, script.String())
	for key, answer := range want {
		name, _, _ := strings.Cut(answer, " = ")
		printed, _, _ := strings.Cut(output.Section(t, key), "Found trace frame")
		if got := name + " = " + strings.TrimSpace(printed); got != answer {
			t.Errorf("frame and item %s: %s, GDB has\n%s", key, answer, got)
		}
	}
}

// questionFor returns a command of GDB that prints an item, and what it should print; nothing for what the frame lacks.
func questionFor(r *Reader, item *Item) (question, answer string) {
	d, ok := r.Read(item)
	switch {
	case !ok, item.Slot != nil && item.Slot.Reg.Name != "rip" && item.Slot.Reg.Name != "rax":
		return "", ""
	case item.sources[0].kind == sourceString:
		text, _ := textOf(d.Bytes)
		return `printf "%s\n", ` + item.Name, string(text)
	case item.Type.Kind == ctype.Float:
		text, _ := r.Append(nil, item, StyleJSON)
		return "output " + item.Name, string(text)
	case item.Type.Scalar():
		value, _ := r.Integer(item)
		if d.HasAddr { // of a structure that was collected GDB makes no number otherwise
			types := map[int]string{1: "char", 2: "short", 4: "int", 8: "long"}
			bits := ctype.Int(len(d.Bytes), true).Extend(value.Bits)
			return fmt.Sprintf(`printf "%%lu\n", (long)*(%s *)&(%s)`, types[len(d.Bytes)], item.Name), strconv.FormatUint(bits, 10)
		}
		return `printf "%lu\n", (long)(` + item.Name + ")", strconv.FormatUint(value.Bits, 10)
	}
	var bytes strings.Builder
	for i, b := range d.Bytes {
		if i > 0 {
			bytes.WriteString(", ")
		}
		fmt.Fprintf(&bytes, "0x%s", strings.TrimPrefix(hex.EncodeToString([]byte{b}), "0"))
	}
	return fmt.Sprintf("output/x *(unsigned char (*)[%d])&(%s)", len(d.Bytes), item.Name), "{" + bytes.String() + "}"
}
