package replay_test

import (
	"bufio"
	"debug/elf"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
	"tracewell/itrace/generate"
)

var tenMillion = flag.Bool("ten-million", false, "TestProveExecution: replay a trace of ten million instructions")

// TestExecution goes through a generated trace with GDB, forwards and backwards, and compares everything that it shows with what the
// generator's processor held.
func TestExecution(t *testing.T) { proveExecution(t, 100_000) }

// TestProveExecution is TestExecution with a trace of 800 MB.
func TestProveExecution(t *testing.T) {
	if !*tenMillion {
		t.Skip("takes a minute; -ten-million runs it")
	}
	proveExecution(t, 10_000_000)
}

// look has GDB print what a position is compared by.
const look = `
define look
monitor where
printf "pc %x s1 %x s2 %x t0 %x t1 %x v0 %x ra %x sp %x sum %x numbers %x %x\n", $pc, $r17, $r18, $r8, $r9, $r2, $r31, $r29, sum, numbers[0], numbers[23]
end
`

// seen is a position as look prints it, of the generator's processor.
type seen struct {
	instruction int64
	pc          uint32
	text        string
	registers   [32]uint32
}

func seenAt(m generate.Position) seen {
	word := func(at int) uint32 { return binary.BigEndian.Uint32(m.Memory[at:]) }
	r := m.Registers
	return seen{m.Instruction, m.PC, fmt.Sprintf("pc %x s1 %x s2 %x t0 %x t1 %x v0 %x ra %x sp %x sum %x numbers %x %x",
		m.PC, r[17], r[18], r[8], r[9], r[2], r[31], r[29], word(0x800), word(0x1000), word(0x1000+23*4)), *r}
}

// history is what the processor did, as far as the test asks about it.
type history struct {
	mix, line10, line11 uint32 // addresses
	anchor              int64

	total                         int64
	store, behind                 seen // of the interrupt's handler, in front of it and behind it
	entered                       seen // line 10 for the first time after that
	left                          seen // line 11 for the first time after that
	last                          seen // line 10 for the last time before that
	delayed, afterLast            seen // in front of the delay slot of its jump, and behind that
	at                            seen // the anchor
	called                        seen // mix for the first time behind it
	handler                       uint32
	stored, isEntered, isLeft, is bool
}

// observe takes note of a position.
func (h *history) observe(m generate.Position) {
	h.total = m.Instruction + 1
	switch {
	case m.PC == h.handler+4:
		h.store, h.stored = seenAt(m), true
	case m.Instruction == h.store.instruction+1 && h.stored:
		h.behind = seenAt(m)
	}
	if h.stored && !h.isLeft && h.isEntered {
		switch m.Instruction {
		case h.last.instruction + 1:
			h.delayed = seenAt(m)
		case h.last.instruction + 2:
			h.afterLast = seenAt(m)
		}
	}
	switch {
	case !h.stored || h.isLeft:
	case m.PC == h.line10:
		if h.last = seenAt(m); !h.isEntered {
			h.entered, h.isEntered = h.last, true
		}
	case m.PC == h.line11 && h.isEntered:
		h.left, h.isLeft = seenAt(m), true
	}
	if m.Instruction == h.anchor {
		h.at = seenAt(m)
	}
	if m.Instruction >= h.anchor && m.PC == h.mix && !h.is {
		h.called, h.is = seenAt(m), true
	}
}

// generatedExecution writes a trace of which an interrupt at four fifths is the only one, its program, and the history of it.
func generatedExecution(t *testing.T, n int64) (trace, program string, h *history) {
	t.Helper()
	folder := t.TempDir()
	trace, program = filepath.Join(folder, "run.log"), filepath.Join(folder, "prog.elf")
	source := filepath.Join(folder, "prog.c")
	if err := os.WriteFile(source, []byte(generate.Source()), 0o666); err != nil {
		t.Fatal(err)
	}
	writeFile(t, program, func(w io.Writer) error { return generate.WriteELF(w, source) })
	h = newHistory(t, program)
	h.anchor = n * 9 / 10
	writeFile(t, trace, func(w io.Writer) error {
		fault := generate.Fault{Kind: generate.FaultInterrupt, At: n * 79 / 100}
		_, err := generate.Write(w, generate.Options{Instructions: n, Faults: []generate.Fault{fault}, Observe: h.observe})
		return err
	})
	return trace, program, h
}

func newHistory(t *testing.T, program string) *history {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	h := &history{store: seen{instruction: -2}}
	for _, s := range symbols {
		switch s.Name {
		case "mix":
			h.mix = uint32(s.Value) + 8 // behind the prologue
		case "handler":
			h.handler = uint32(s.Value)
		case "start":
			h.line10, h.line11 = uint32(s.Value)+0x1c, uint32(s.Value)+0x38
		}
	}
	return h
}

func writeFile(t *testing.T, name string, write func(io.Writer) error) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := write(w); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}

// goThrough is the session.
const goThrough = `file %s
target remote | %s replay %s --exec %s --listen -
%s
-- goto --
monitor goto #%d
maint flush register-cache
maint flush dcache
look
-- caller --
break mix
continue
look
backtrace
info args
delete
-- store --
watch interrupts[0]
reverse-continue
look
backtrace
-- behind --
continue
look
delete
-- entered --
tbreak 10
continue
look
-- left --
next
look
-- last --
reverse-next
look
-- after --
stepi
look
-- before --
reverse-stepi
look
-- end --
continue
monitor where
? stepi
monitor where
-- begin --
reverse-continue
monitor where
print $sp
? print *(int *)0x7fec
print sum
-- second --
stepi
monitor where
reverse-stepi
? reverse-stepi
monitor where
-- end again --
continue
monitor where
reverse-stepi
monitor where
-- refused --
? print $t0 = 1
? set var sum = 1
monitor where
`

func proveExecution(t *testing.T, n int64) {
	trace, program, h := generatedExecution(t, n)
	script := fmt.Sprintf(goThrough, program, gdbtest.Binary(t), trace, program, look, h.anchor)
	out := gdbtest.RunMultiarch(t, script)
	for name, want := range map[string]seen{
		"goto": h.at, "caller": h.called, "store": h.store, "behind": h.behind, "entered": h.entered, "left": h.left,
		"last": h.last, "after": h.afterLast, "before": h.delayed,
	} {
		got := out.Section(t, name)
		place := fmt.Sprintf("in front of instruction #%d of %d,", want.instruction, h.total)
		if !strings.Contains(got, place) || !strings.Contains(got, want.text) {
			t.Errorf("%s: want\n%s ...\n%s\ngot\n%s", name, place, want.text, got)
		}
	}
	inFront := func(n int64) string { return fmt.Sprintf("in front of instruction #%d of %d", n, h.total) }
	const noMore = "No more reverse-execution history."
	for name, want := range map[string][]string{
		"caller": {fmt.Sprintf("#0  mix (seed=%d) at", h.called.registers[4]), fmt.Sprintf("#1  0x%x in start () at", h.called.registers[31]),
			fmt.Sprintf("prog.c:10\nseed = %d", h.called.registers[4])},
		"store":     {"Hardware watchpoint 2: interrupts[0]", "Old value = 1", "New value = 0", "handler () at"},
		"behind":    {"Old value = 0", "New value = 1"},
		"entered":   {"*p = seed = mix(seed);"},
		"end":       {noMore, fmt.Sprintf("behind the last of %d instructions", h.total)},
		"begin":     {noMore, inFront(0), "$1 = <unavailable>", "error: Cannot access memory at address 0x7fec", "$2 = 0"},
		"second":    {inFront(1), noMore, inFront(0)},
		"end again": {noMore, "behind the last of", inFront(h.total - 1)},
		"refused":   {"what has been cannot be changed", "error: Cannot access memory at address 0x800", inFront(h.total - 1)},
	} {
		got := out.Section(t, name)
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("%s: %q is not in\n%s", name, text, got)
			}
		}
	}
}
