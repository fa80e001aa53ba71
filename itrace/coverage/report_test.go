package coverage_test

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/itrace"
	"tracewell/itrace/calls"
	"tracewell/itrace/coverage"
	"tracewell/itrace/generate"
	"tracewell/itrace/matcher"
	"tracewell/itrace/program"
	"tracewell/itrace/sites"
	"tracewell/symbol/debuginfo"
)

// record is what a file in lcov's format says of a file of the source.
type record struct {
	lines     map[int]uint64
	functions map[string]uint64
	at        map[string]int
	branches  map[string]string // by line, block and direction
	totals    map[string]int
}

// parseLCOV reads lcov's format, as its manual page (geninfo) has it.
func parseLCOV(t *testing.T, text string) map[string]record {
	files := map[string]record{}
	var r record
	var name string
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for line := range strings.Lines(text) {
		key, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		first, second, _ := strings.Cut(rest, ",")
		switch key {
		case "TN":
		case "SF":
			name = rest
			r = record{map[int]uint64{}, map[string]uint64{}, map[string]int{}, map[string]string{}, map[string]int{}}
		case "FN":
			r.at[second] = number(first)
		case "FNDA":
			r.functions[second] = uint64(number(first))
		case "DA":
			r.lines[number(first)] = uint64(number(second))
		case "BRDA":
			i := strings.LastIndex(rest, ",")
			r.branches[rest[:i]] = rest[i+1:]
		case "FNF", "FNH", "BRF", "BRH", "LF", "LH":
			r.totals[key] = number(rest)
		case "end_of_record":
			files[name] = r
		default:
			t.Fatalf("%q", line)
		}
	}
	return files
}

// TestGenerated holds the coverage of a generated trace against a count over its records, with lines by another reader of DWARF.
func TestGenerated(t *testing.T) {
	for _, instructions := range []int64{5, 300, 3000} {
		var trace, object bytes.Buffer
		faults := []generate.Fault{}
		if instructions > 1000 { // an interrupt has the handler executed
			faults = append(faults, generate.Fault{Kind: generate.FaultInterrupt, At: 900})
		}
		if _, err := generate.Write(&trace, generate.Options{Instructions: instructions, Faults: faults}); err != nil {
			t.Fatal(err)
		}
		if err := generate.WriteELF(&object, "/src/program.c"); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "program.elf")
		if err := os.WriteFile(path, object.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := debuginfo.Open(path, debuginfo.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		p := program.New(file, 0)
		w := calls.New(sites.New(p, p.Set))
		pcs := read(t, w, trace.Bytes())
		totals := w.ByFunction(len(w.Functions))
		var out bytes.Buffer
		if err := coverage.Of(w.Table, p, func(f int) uint64 { return totals[f].Calls }).WriteLCOV(&out); err != nil {
			t.Fatal(err)
		}
		got := parseLCOV(t, out.String())["/src/program.c"]
		want := recount(t, object.Bytes(), pcs)
		if d := cmp.Diff(want, got.lines); d != "" {
			t.Errorf("%d instructions, lines: %s", instructions, d)
		}
		hit := 0
		for _, n := range got.lines {
			hit += int(min(n, 1))
		}
		if got.totals["LF"] != len(got.lines) || got.totals["LH"] != hit || got.totals["FNF"] != 3 || got.at["mix"] != 27 {
			t.Errorf("totals %v, functions %v", got.totals, got.at)
		}
		if got.totals["BRF"] != 12 || len(got.branches) != 12 {
			t.Errorf("branches %v of %v", got.totals, got.branches)
		}
		checkCalls(t, got, pcs)
	}
}

// The addresses of the program's functions and of its last branch, with what is behind its delay slot.
const (
	mixBegin, handlerBegin   = 0x800080bc, 0x800081f0
	busyWait, busy, busyDone = 0x800080ac, 0x800080a8, 0x800080b4
)

func checkCalls(t *testing.T, got record, pcs []uint64) {
	var mixed, handled, again, done uint64
	for i, pc := range pcs {
		switch {
		case pc == mixBegin:
			mixed++
		case pc == handlerBegin:
			handled++
		case i >= 2 && pcs[i-2] == busyWait && pc == busy:
			again++
		case i >= 2 && pcs[i-2] == busyWait && pc == busyDone:
			done++
		}
	}
	if got.functions["mix"] != mixed || got.functions["handler"] != handled || got.functions["start"] != 1 {
		t.Errorf("calls: %v, not %d and %d", got.functions, mixed, handled)
	}
	taken, past := fmt.Sprint(again), fmt.Sprint(done)
	if again+done == 0 {
		taken, past = "-", "-"
	}
	if got.branches["23,0,0"] != taken || got.branches["23,0,1"] != past {
		t.Errorf("the last branch: %v, not %s and %s", got.branches, taken, past)
	}
}

// read reads a trace, and returns the addresses that were executed.
func read(t *testing.T, w *calls.Walker, text []byte) (pcs []uint64) {
	r := itrace.NewReader(bytes.NewReader(text), matcher.Dialect)
	records := make([]itrace.Record, 64)
	for {
		n, err := r.Read(records)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range records[:n] {
			if records[i].Kind == itrace.Instruction {
				pcs = append(pcs, records[i].Addr&0xffffffff)
			}
		}
		w.Add(records[:n])
	}
	w.Finish()
	return pcs
}

// recount counts lines one by one: how often the first instruction of any of their rows was executed.
func recount(t *testing.T, object []byte, pcs []uint64) map[int]uint64 {
	file, err := elf.NewFile(bytes.NewReader(object))
	if err != nil {
		t.Fatal(err)
	}
	data, err := file.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[uint64]uint64{}
	for _, pc := range pcs {
		counts[pc]++
	}
	lines := map[int]uint64{}
	for units := data.Reader(); ; {
		unit, err := units.Next()
		if err != nil {
			t.Fatal(err)
		}
		if unit == nil {
			return lines
		}
		if r, err := data.LineReader(unit); err == nil && r != nil && unit.Tag == dwarf.TagCompileUnit {
			for row := (dwarf.LineEntry{}); r.Next(&row) == nil; {
				if !row.EndSequence {
					lines[row.Line] = max(lines[row.Line], counts[row.Address])
				}
			}
		}
		units.SkipChildren()
	}
}
