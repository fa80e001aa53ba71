package tfiletest

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/internal/test/gdbtest"
	"tracewell/tdesc"
	"tracewell/tfile"
	"tracewell/trace"
)

// collected is what one frame holds, as GDB or tfile tells it.
type collected struct {
	Tracepoint trace.Number
	Registers  map[string]string // as info registers prints them, without symbols; only what was collected
	Memory     []string          // "0x404080: a0524000…", by address, ranges that touch or overlap joined
	Variables  []string          // "hits = 1", sorted
}

// collectedScript has GDB select frame i and tell all that it holds, into a section of its own. The registers are all only in
// frame 0, since those of vectors take GDB long to print. Variables are not those of the machine interface, for which GDB 13.1
// reads their numbers in the host's byte order.
func collectedScript(i int) string {
	registers := "info registers"
	if i == 0 {
		registers = "info all-registers"
	}
	return fmt.Sprintf("-- collected %d --\ntfind %[1]d\n", i) +
		`interpreter-exec mi "-trace-frame-collected --memory-contents --registers-format r"` +
		"\ninfo tvariables\n? " + registers + "\n"
}

var (
	foundFrame     = regexp.MustCompile(`Found trace frame \d+, tracepoint (-?\d+)\n`)
	memoryRange    = regexp.MustCompile(`\{address="0x0*([0-9a-f]+)",length="(\d+)",contents="([0-9a-f]*)"\}`)
	stateVariable  = regexp.MustCompile(`(?m)^\$(\w+) +-?\d+ +(-?\d+) *$`)
	registerLine   = regexp.MustCompile(`(?m)^(\w+) +(.+)$`)
	symbol         = regexp.MustCompile(` <[^<>]*>$`)
	tracepointsMap = regexp.MustCompile(`(?:Created|Assuming) tracepoint (\d+) (?:for|is same as) target's tracepoint (\d+) `)
)

// targetNumbers returns what GDB's own numbers of tracepoints are in the file that it opened, from what it said of that.
func targetNumbers(t *testing.T, printed string) map[string]trace.Number {
	t.Helper()
	numbers := map[string]trace.Number{}
	for _, match := range tracepointsMap.FindAllStringSubmatch(printed, -1) {
		numbers[match[1]] = number(t, match[2])
	}
	return numbers
}

func number(t *testing.T, digits string) trace.Number {
	t.Helper()
	n, err := strconv.Atoi(digits)
	if err != nil {
		t.Fatal(err)
	}
	return trace.Number(n)
}

// toldByGDB reads the section of collectedScript. numbers is nil in a live session, where GDB goes by the target's.
func toldByGDB(t *testing.T, output *gdbtest.Output, i int, layout *tdesc.Layout,
	numbers map[string]trace.Number) collected {
	t.Helper()
	text := output.Section(t, fmt.Sprint("collected ", i))
	found := foundFrame.FindStringSubmatch(text)
	_, told, ok := strings.Cut(text, "^done,")
	if found == nil || !ok {
		t.Fatalf("GDB does not show frame %d:\n%s", i, text)
	}
	told, printed, _ := strings.Cut(told, "\n")
	c := collected{Tracepoint: number(t, found[1]), Registers: map[string]string{}}
	if numbers != nil {
		c.Tracepoint = numbers[found[1]]
	}
	for _, match := range stateVariable.FindAllStringSubmatch(printed, -1) {
		c.Variables = append(c.Variables, match[1]+" = "+match[2])
	}
	for _, match := range memoryRange.FindAllStringSubmatch(told[strings.LastIndex(told, ",memory=["):], -1) {
		c.Memory = append(c.Memory, "0x"+match[1]+": "+match[3])
	}
	slices.Sort(c.Variables)
	for _, match := range registerLine.FindAllStringSubmatch(printed, -1) {
		name, value := match[1], match[2]
		if layout.ByName(name) != nil && !strings.Contains(value, "<unavailable>") {
			c.Registers[name] = symbol.ReplaceAllString(strings.TrimSpace(value), "")
		}
	}
	return c
}

// toldByFrame is what tfile reads in the frame. Of the registers it takes those that GDB showed, since GDB hides some that are
// parts of others, and since it guesses a pc where none was collected.
func toldByFrame(frame tfile.Frame, h tfile.Header, layout *tdesc.Layout, shown map[string]string) collected {
	c := collected{Tracepoint: frame.Tracepoint(), Registers: map[string]string{}}
	registers := frame.Registers()
	for name := range shown {
		slot := layout.ByName(name)
		if _, whole := slot.Bytes(registers); whole {
			c.Registers[name] = slot.Format(registers, h.Order)
		}
	}
	for _, v := range h.Variables {
		if value, ok := frame.Variable(v.Number); ok {
			c.Variables = append(c.Variables, fmt.Sprint(v.Name, " = ", value))
		}
	}
	slices.Sort(c.Variables)
	for _, r := range ranges(frame) {
		memory := make([]byte, r.end-r.start)
		n := frame.ReadMemory(r.start, memory)
		c.Memory = append(c.Memory, fmt.Sprintf("%v: %s", r.start, hex.EncodeToString(memory[:n])))
	}
	return c
}

// span is memory from start up to but not including end.
type span struct{ start, end arch.Addr }

// ranges returns where the frame has memory, by address and joined.
func ranges(frame tfile.Frame) []span {
	var all []span
	for b := range frame.Blocks() {
		if b.Kind == tfile.BlockMemory && len(b.Bytes) > 0 {
			all = append(all, span{b.Addr, b.Addr + arch.Addr(len(b.Bytes))})
		}
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	joined := all[:0]
	for _, s := range all {
		if last := len(joined) - 1; last >= 0 && s.start <= joined[last].end {
			joined[last].end = max(joined[last].end, s.end)
		} else {
			joined = append(joined, s)
		}
	}
	return joined
}

// layoutOf is where the registers are in a file that describes its target.
func layoutOf(t *testing.T, h tfile.Header) *tdesc.Layout {
	t.Helper()
	target, _, err := tdesc.Parse([]byte(h.Description), nil)
	if err != nil {
		t.Fatal(err)
	}
	layout, err := target.Layout()
	if err != nil {
		t.Fatal(err)
	}
	return layout
}

// openScript opens a trace file and tells its frames, or the first of every so many.
func openScript(path string, frames, every int) string {
	var script strings.Builder
	script.WriteString("-- open --\ntarget tfile " + path + "\n")
	for i := 0; i < frames; i += every {
		script.WriteString(collectedScript(i))
	}
	return script.String()
}

// compareFile holds frames of a file against what GDB told by openScript.
func compareFile(t *testing.T, f *tfile.File, output *gdbtest.Output, every int) {
	t.Helper()
	layout := layoutOf(t, f.Header())
	numbers := targetNumbers(t, output.Section(t, "open"))
	for i := 0; i < f.NumFrames(); i += every {
		frame, err := f.Frame(i)
		if err != nil {
			t.Fatal(err)
		}
		told := toldByGDB(t, output, i, layout, numbers)
		if frame.Registers() == nil {
			clear(told.Registers) // GDB makes up a pc
		}
		if diff := gocmp.Diff(told, toldByFrame(frame, f.Header(), layout, told.Registers)); diff != "" {
			t.Errorf("frame %d (-GDB +ours):\n%s", i, diff)
		}
	}
}
