package producers

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch/flow"
	"tracewell/itrace"
	"tracewell/itrace/calls"
	"tracewell/itrace/dialects"
	"tracewell/itrace/program"
	"tracewell/itrace/sites"
	"tracewell/symbol/debuginfo"
)

// walked is the calls of a trace, with the names of its program unless that is "".
func walked(t *testing.T, trace, elf string) *calls.Walker {
	t.Helper()
	var p *program.Program
	if elf != "" {
		file, err := debuginfo.Open(filepath.Join("testdata", elf), debuginfo.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		p = program.New(file, 0)
	}
	table := sites.New(p, nil)
	if p != nil {
		table.Set = p.Set
	}
	w := calls.New(table)
	text := recorded(t, trace)
	r := itrace.NewReader(bytes.NewReader(text), dialects.All.Detect(text).Dialect)
	records := make([]itrace.Record, 100)
	for {
		n, err := r.Read(records)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		w.Add(records[:n])
	}
	w.Finish()
	return w
}

// folded is the tree of calls as a line for each path, with calls and instructions, that begins at a function.
func folded(w *calls.Walker, from string, name func(calls.Function) string) []string {
	lines := map[string]string{}
	for i := range w.Nodes {
		var names []string
		for _, n := range w.Path(i) {
			names = append(names, name(w.Functions[w.Nodes[n].Function]))
		}
		if len(names) > 0 && names[0] == from && w.Nodes[i].Self > 0 {
			path := strings.Join(names, ";")
			lines[path] = fmt.Sprintf("%s %d %d", path, w.Nodes[i].Calls, w.Nodes[i].Self)
		}
	}
	return slices.Sorted(maps.Values(lines))
}

// plainCalls is what the program plain does from its beginning on: known from its source.
var plainCalls = []string{
	"_start 1 57", "_start;crc32 2 3978", "_start;divides 1 41", "_start;fib 1 18", "_start;fib;fib 2 36", "_start;fib;fib;fib 4 72",
	"_start;fib;fib;fib;fib 8 129", "_start;fib;fib;fib;fib;fib 14 117", "_start;fib;fib;fib;fib;fib;fib 10 45",
	"_start;fib;fib;fib;fib;fib;fib;fib 2 6", "_start;halves 1 18", "_start;shifts 1 140", "_start;sort_bytes 1 2219",
}

// TestCalls: the tree of calls is the same whoever wrote the trace, also where opcodes come from the program.
func TestCalls(t *testing.T) {
	named := func(f calls.Function) string { return f.Name }
	for _, trace := range []string{
		"plain.spike", "plain.spike-commits", "plain.spike-l", "plain.ibex", "plain.ibex-2024", "plain.picorv32", "plain.qemu-exec",
		"plain.qemu-steps", "plain.qemu-blocks", "plain.qemu-execlog72", "plain.qemu-execlog102-some", "plain.qemu-execlog102-none",
		"plain.rvvi-0.1", "plain.rvvi-0.4",
	} {
		w := walked(t, trace, "plain.elf")
		if d := cmp.Diff(plainCalls, folded(w, "_start", named)); d != "" || w.Untold > 1 || w.Missed+w.Unmatched > 0 {
			t.Errorf("%s: %+v\n%s", trace, w.Untold, d)
		}
	}
	rv64 := []string{"_start 1 28", "_start;atomics 1 16", "_start;overlap 1 9", "_start;sumf 1 54", "_start;words 1 23"}
	for _, trace := range []string{"rv64.spike", "rv64.spike-l", "rv64.dromajo", "rv64.qemu-exec", "rv64.qemu-steps", "rv64.qemu-blocks",
		"rv64.qemu-execlog72", "rv64.rvvi-0.4"} {
		w := walked(t, trace, "rv64.elf")
		if d := cmp.Diff(rv64, folded(w, "_start", named)); d != "" {
			t.Errorf("%s: %s", trace, d)
		}
	}
	x86 := []string{"_start 1 12", "_start;fact 1 9", "_start;fact;fact 1 9", "_start;fact;fact;fact 1 9", "_start;fact;fact;fact;fact 1 9",
		"_start;fact;fact;fact;fact;fact 1 9", "_start;fact;fact;fact;fact;fact;fact 1 4"}
	// The one shows a repeated instruction as often as it was repeated, the other once.
	for trace, copied := range map[string]string{"x86.tenet": "_start;copy 1 20", "x86.qemu-execlog102": "_start;copy 1 9"} {
		want := slices.Sorted(slices.Values(append(slices.Clone(x86), copied)))
		if d := cmp.Diff(want, folded(walked(t, trace, "x86.elf"), "_start", named)); d != "" {
			t.Errorf("%s: %s", trace, d)
		}
	}
}

// TestCallsWithoutNames: functions are told apart by the addresses that were called, and the instruction set by where instructions
// lead.
func TestCallsWithoutNames(t *testing.T) {
	address := func(f calls.Function) string { return fmt.Sprintf("%x", f.Begin) }
	want := []string{
		"80000080 0 62", "80000080;8000017c 1 2219", "80000080;800001c8 1 18", "80000080;800001c8;800001c8 2 36",
		"80000080;80000210 2 3978", "80000080;80000258 1 140", "80000080;800002a8 1 41", "80000080;8000031c 1 18",
	}
	for _, trace := range []string{"plain.spike", "plain.spike-commits", "plain.rvvi-0.4"} {
		w := walked(t, trace, "")
		got := slices.DeleteFunc(folded(w, "80000080", address), func(line string) bool { return strings.Count(line, ";") > 2 })
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s, %v: %s", trace, w.Table.Set, d)
		}
	}
	for trace, title := range map[string]string{"a64.qemu-steps": "AArch64", "x86.qemu-execlog102": "x86-64", "rv64.dromajo": "RISC-V",
		"x86.tenet": "", "plain.qemu-exec": ""} {
		set := walked(t, trace, "").Table.Set
		if set == nil && title != "" || set != nil && set.Title != title {
			t.Errorf("%s is of %v, not %s", trace, set, title)
		}
	}
}

// BenchmarkCalls reads traces and finds their calls, with all that is decoded of them.
func BenchmarkCalls(b *testing.B) {
	for _, trace := range []string{"plain.spike", "plain.spike-l", "plain.ibex", "plain.qemu-execlog72", "plain.rvvi-0.4"} {
		text := recorded(b, trace)
		d := dialects.All.Detect(text).Dialect
		b.Run(trace, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			w := calls.New(sites.New(nil, flow.Sets()[0]))
			records := make([]itrace.Record, 256)
			for b.Loop() {
				r := itrace.NewReader(bytes.NewReader(text), d)
				for {
					n, err := r.Read(records)
					if err != nil {
						break
					}
					w.Add(records[:n])
				}
			}
		})
	}
}
