package producers

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tracewell/internal/packed"
	"tracewell/internal/test/dialecttest"
	"tracewell/itrace"
	"tracewell/itrace/dialects"
	"tracewell/itrace/index"
	"tracewell/itrace/jsonl"
	"tracewell/itrace/match"
)

// recorded is a trace of testdata, which has a page about them.
func recorded(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".log.zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, err := packed.Open(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer unpacked.Close()
	text := make([]byte, unpacked.Size())
	if _, err := unpacked.ReadAt(text, 0); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	return text
}

// TestProducers reads the traces of testdata: each is taken for its dialect, all of it can be read, in pieces and from any state, and an
// index can be made of it.
func TestProducers(t *testing.T) {
	for name, want := range map[string]struct {
		dialect      string
		instructions int64
	}{
		"plain.spike": {"spike", 6886}, "plain.spike-commits": {"spike", 6886}, "plain.spike-l": {"spike", 6886},
		"plain.picorv32": {"spike", 6881}, "rv64.spike": {"spike", 199}, "rv64.spike-commits": {"spike", 195}, "rv64.spike-l": {"spike", 199},
		"plain.ibex": {"ibex", 6881}, "plain.ibex-2024": {"ibex", 6881},
		"plain.qemu-execlog102-some": {"execlog", 6881}, "plain.qemu-execlog102-none": {"execlog", 6881},
		"plain.qemu-execlog72": {"execlog", 6888}, "rv64.qemu-execlog72": {"execlog", 188}, "a64.qemu-execlog72": {"execlog", 149},
		"x86.qemu-execlog102": {"execlog", 73},
		"plain.qemu-exec":     {"qemu", 6888}, "plain.qemu-steps": {"qemu", 6888}, "plain.qemu-blocks": {"qemu", 6888},
		"rv64.qemu-exec": {"qemu", 188}, "rv64.qemu-steps": {"qemu", 188}, "rv64.qemu-fpu": {"qemu", 188}, "rv64.qemu-blocks": {"qemu", 188},
		"plain.rvvi-0.1": {"rvvi", 6886}, "plain.rvvi-0.4": {"rvvi", 6886}, "rv64.rvvi-0.1": {"rvvi", 199}, "rv64.rvvi-0.4": {"rvvi", 199},
		"x86.tenet": {"tenet", 84}, "x86.lackey": {"lackey", 85}, "x86.gdb-steps": {"gdb", 84},
		"plain.picorv32-showtrace": {"picorv32", 6880},
		"boot.bochs":               {"bochs", 68}, "boot.qemu-steps": {"qemu", 68},
		"a64.qemu-steps": {"qemu", 149}, "rv64.dromajo": {"dromajo", 203},
		"plain.riscv-dv-ibex": {"riscv-dv", 6880}, "plain.riscv-dv-spike": {"riscv-dv", 5239},
	} {
		t.Run(name, func(t *testing.T) {
			text := recorded(t, name)
			found := dialects.All.Detect(text)
			if found.Dialect == nil || found.Dialect.Name != want.dialect || found.Known != found.Lines || found.Why == "" {
				t.Fatalf("taken for %v: %d of %d lines, %q", found.Dialect, found.Known, found.Lines, found.Why)
			}
			dialecttest.Run(t, found.Dialect, string(text))
			var out bytes.Buffer
			summary, err := index.Build(bytes.NewReader(text), found.Dialect, index.Identity{}, &out)
			if err != nil || summary.Unknown != 0 || summary.Instructions != want.instructions {
				t.Errorf("the index: %+v, %v, want %d instructions", summary, err, want.instructions)
			}
		})
	}
}

// TestSame compares a trace with itself: that the same bytes are passed over makes no difference, which a rule that never fires prevents.
func TestSame(t *testing.T) {
	for _, name := range []string{"plain.ibex", "plain.spike", "rv64.dromajo", "plain.riscv-dv-ibex", "plain.qemu-blocks"} {
		text := recorded(t, name)
		got, want := matched(t, text, text, match.Options{}), matched(t, text, text, match.Options{Ignores: []match.Ignore{{PC: &match.Range{}}}})
		want.Rules = want.Rules[:len(want.Rules)-1]
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(match.Report{}, "Seconds")); diff != "" || got.Verdict != match.Equal {
			t.Errorf("%s: %s %s (-want +got):\n%s", name, got.Verdict, got.Reason, diff)
		}
	}
}

// TestPicorvWords: the words that PicoRV32's script was given tell with their program what its text does, but for disassembly. The text
// has each word in front.
func TestPicorvWords(t *testing.T) {
	d, err := dialects.All.ByName("picorv32-words:program=testdata/plain.elf")
	if err != nil {
		t.Fatal(err)
	}
	text := recorded(t, "plain.picorv32-showtrace")
	var words strings.Builder
	for line := range strings.Lines(string(text)) {
		bits := map[byte]int{'=': 0, '>': 1, '@': 2}[line[4]]
		if line[0] == 'I' {
			bits |= 8
		}
		fmt.Fprintf(&words, "%d%s\n", bits, line[5:13])
	}
	said := func(records []itrace.Record) (all []string) {
		for i := range records {
			if r := &records[i]; r.Kind != itrace.Remark {
				r.Disasm = nil
				all = append(all, fmt.Sprintf("%d %s", r.Line, jsonl.Append(nil, r)))
			}
		}
		return all
	}
	want := said(dialecttest.Read(t, dialects.All.Detect(text).Dialect, bytes.NewReader(text), 512))
	got := said(dialecttest.Read(t, d, strings.NewReader(words.String()), 512))
	if diff := cmp.Diff(want, got); diff != "" || len(got) < 13_000 {
		t.Errorf("%d records (-text +words):\n%.2000s", len(got), diff)
	}
}

// TestWritten: what a dialect has written it writes as it was.
func TestWritten(t *testing.T) {
	for _, name := range []string{"plain.spike", "plain.spike-commits", "plain.picorv32", "rv64.spike-commits", "x86.tenet"} {
		text := recorded(t, name)
		dialecttest.RoundTrip(t, dialects.All.Detect(text).Dialect, string(text))
	}
}

// TestConverted: what a dialect writes of a trace of another producer tells the same, as far as it tells.
func TestConverted(t *testing.T) {
	const ofOther = "other"
	for _, test := range []struct {
		from, to string
		compared match.Counts
		untold   map[string]string
		counts   map[match.Class]int64
	}{
		{"plain.spike", "rvvi", match.Counts{Instructions: 6886, Registers: 5242, Memory: 1048}, map[string]string{"data of stores": ofOther}, nil},
		{"rv64.spike", "rvvi", match.Counts{Instructions: 199, Registers: 170, Memory: 37},
			map[string]string{"data of stores": ofOther, "exceptions and interrupts": ofOther, "modes": "reference"}, nil},
		{"plain.ibex", "rvvi", match.Counts{Instructions: 6881, Registers: 5238, Memory: 1047},
			map[string]string{"data of loads": ofOther, "data of stores": ofOther, "reads of registers": ofOther}, nil},
		{"rv64.rvvi-0.4", "rvvi", match.Counts{Instructions: 199, Registers: 170, Memory: 37}, nil, nil},
		{"x86.tenet", "tenet", match.Counts{Instructions: 84, Registers: 110}, nil, nil},
		{"plain.ibex", "tenet", match.Counts{Instructions: 6881, Registers: 4080, Memory: 1047},
			map[string]string{"opcodes": ofOther, "reads of registers": ofOther, "register x0": "reference"}, nil},
		// Tarmac has to tell a state of the instruction set, and no register of it reads as zero.
		{"plain.spike", "tarmac", match.Counts{Instructions: 6886, Registers: 5242, Memory: 1048},
			map[string]string{"data of loads": "reference"}, map[match.Class]int64{match.ClassMode: 1}},
		{"plain.ibex", "tarmac", match.Counts{Instructions: 6881, Registers: 5238, Memory: 1047},
			map[string]string{"modes": "reference", "reads of registers": ofOther}, map[match.Class]int64{match.ClassRegister: 1}},
	} {
		t.Run(test.from+" "+test.to, func(t *testing.T) {
			from := recorded(t, test.from)
			d, err := dialects.All.ByName(test.to)
			if err != nil {
				t.Fatal(err)
			}
			to := d.Header + dialecttest.Written(d, dialecttest.Read(t, dialects.All.Detect(from).Dialect, bytes.NewReader(from), 512))
			if found := dialects.All.Detect([]byte(to)); found.Dialect != d || found.Known != found.Lines {
				t.Errorf("taken for %v: %d of %d lines", found.Dialect, found.Known, found.Lines)
			}
			r := matched(t, from, []byte(to), match.Options{})
			if (r.Verdict == match.Equal) != (test.counts == nil) || r.Compared != test.compared {
				t.Errorf("%s %s: %+v compared", r.Verdict, r.Reason, r.Compared)
			}
			if diff := cmp.Diff(test.counts, r.Counts, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.untold, untold(r)); diff != "" {
				t.Errorf("not told (-want +got):\n%s", diff)
			}
		})
	}
}

// untold is what of two traces was not compared, by what does not tell it.
func untold(r *match.Report) map[string]string {
	if len(r.NotTold) == 0 {
		return nil
	}
	all := make(map[string]string)
	for _, u := range r.NotTold {
		all[u.What] += u.By
	}
	return all
}

// fired is how often the rules fired that did.
func fired(r *match.Report) map[string]int64 {
	all := make(map[string]int64)
	for _, u := range r.Rules {
		if u.Fired > 0 {
			all[u.Rule] = u.Fired
		}
	}
	return all
}

// riscv are the names of registers in the calling convention for those by number.
var riscv = match.AliasSets["riscv"]

// start is the first instruction of the program plain; what comes before it is the boot code of a simulator.
const (
	start     = 0x80000080
	startRV64 = 0x80000000 // that of the program rv64
)

// TestAcrossProducers compares traces of the same program that different producers wrote. What is known to be equal of them is called
// equal, and what is known to differ is told, and nothing else.
func TestAcrossProducers(t *testing.T) {
	const ofReference, ofOther = "reference", "other"
	spikeIbex := map[string]string{"modes": ofOther, "data of loads": ofReference, "reads of registers": ofReference}
	for _, test := range []struct {
		reference, other string
		options          match.Options
		compared         match.Counts
		counts           map[match.Class]int64
		untold           map[string]string
		fired            map[string]int64
		consequences     int64
	}{
		{reference: "plain.spike", other: "plain.spike-commits", compared: match.Counts{Instructions: 6886, Registers: 5242, Memory: 1048}},
		{reference: "plain.spike", other: "plain.spike-l", compared: match.Counts{Instructions: 6886},
			untold: map[string]string{"registers": ofOther, "loads": ofOther, "stores": ofOther, "modes": ofOther}},
		{reference: "plain.spike-l", other: "plain.spike-commits", compared: match.Counts{Instructions: 6886},
			untold: map[string]string{"registers": ofReference, "loads": ofReference, "stores": ofReference, "modes": ofReference}},
		{reference: "plain.spike", other: "plain.ibex", options: from(start), untold: spikeIbex,
			compared: match.Counts{Instructions: 6881, Registers: 5238, Memory: 1047}, fired: map[string]int64{"--start-addr 0x80000080": 5, "--rule zero": 49}},
		{reference: "plain.spike-commits", other: "plain.ibex-2024", options: from(start), untold: spikeIbex,
			compared: match.Counts{Instructions: 6881, Registers: 5238, Memory: 1047}, fired: map[string]int64{"--start-addr 0x80000080": 5, "--rule zero": 49}},
		{reference: "plain.ibex", other: "plain.ibex-2024", compared: match.Counts{Instructions: 6881, Registers: 15387, Memory: 1047},
			fired: map[string]int64{"--rule zero": 98}},
		{reference: "plain.spike-commits", other: "plain.picorv32", options: from(start),
			compared: match.Counts{Instructions: 6880, Registers: 5238, Memory: 1047},
			counts:   map[match.Class]int64{match.ClassMemory: 463, match.ClassTail: 1}, fired: map[string]int64{"--start-addr 0x80000080": 6}},
		{reference: "plain.spike-commits", other: "plain.picorv32", options: match.Options{Start: from(start).Start, Rules: []match.Rule{match.RuleAligned}},
			compared: match.Counts{Instructions: 6880, Registers: 5238, Memory: 1047},
			counts:   map[match.Class]int64{match.ClassTail: 1}, fired: map[string]int64{"--start-addr 0x80000080": 6, "--rule aligned": 463}},
		// What the 47 calls write to x1 the core does not trace.
		{reference: "plain.spike", other: "plain.picorv32-showtrace", options: from(start),
			compared: match.Counts{Instructions: 6880, Registers: 5238 - 47, Memory: 1047}, counts: map[match.Class]int64{match.ClassTail: 1},
			untold: map[string]string{"data of loads": ofReference, "modes": ofOther, "registers": ofOther},
			fired:  map[string]int64{"--start-addr 0x80000080": 5}},
		// 5238 writes of Spike's are 4038 different ones of execlog, and 1200 that it does not tell: of the value that was there, or of
		// registers that it was not asked for. It tells sp twice, 42 times.
		{reference: "plain.spike", other: "plain.qemu-execlog102-some", options: match.Options{Start: from(start).Start, Aliases: riscv},
			compared: match.Counts{Instructions: 6881, Registers: 4038, Memory: 1047},
			untold:   map[string]string{"data of stores": ofOther, "modes": ofOther, "register s0": ofOther, "register tp": ofOther},
			fired: map[string]int64{"--start-addr 0x80000080": 5, "--rule changes": 1200 - 41 - 1 + 42,
				"--alias: names taken for others": 31}},
		{reference: "plain.qemu-execlog102-none", other: "plain.spike-commits", options: from(start),
			compared: match.Counts{Instructions: 6881, Memory: 1047},
			untold:   map[string]string{"data of stores": ofReference, "modes": ofReference, "registers": ofReference},
			fired:    map[string]int64{"--start-addr 0x80000080": 5}},
		{reference: "plain.spike-l", other: "plain.qemu-execlog72", options: from(start), compared: match.Counts{Instructions: 6881},
			untold: map[string]string{"loads": ofReference, "stores": ofReference}, fired: map[string]int64{"--start-addr 0x80000080": 12}},
		// QEMU begins with 6 instructions and a jump of its own.
		{reference: "plain.spike", other: "plain.qemu-exec", options: from(start), compared: match.Counts{Instructions: 6881},
			untold: map[string]string{"opcodes": ofOther, "modes": ofOther, "registers": ofOther, "loads": ofOther, "stores": ofOther},
			fired:  map[string]int64{"--start-addr 0x80000080": 5 + 7}},
		{reference: "plain.spike", other: "plain.qemu-blocks", options: from(start), compared: match.Counts{Instructions: 6881},
			untold: map[string]string{"registers": ofOther, "loads": ofOther, "stores": ofOther},
			fired:  map[string]int64{"--start-addr 0x80000080": 5 + 7}},
		// 5238 writes of Spike's are 4079 of other values, 1158 of the value that was there, and one of x4, which never changes.
		{reference: "plain.spike", other: "plain.qemu-steps", options: from(start),
			compared: match.Counts{Instructions: 6881, Registers: 4079},
			untold:   map[string]string{"loads": ofOther, "stores": ofOther, "register x4": ofOther},
			fired:    map[string]int64{"--start-addr 0x80000080": 5 + 7, "--rule changes": 1158}},
		{reference: "plain.qemu-blocks", other: "plain.qemu-steps", compared: match.Counts{Instructions: 6888},
			untold: map[string]string{"registers": ofReference, "registers of control and status": ofReference}},
		// A misaligned store traps on Spike alone, whose handler is of 12 instructions.
		{reference: "rv64.spike", other: "rv64.qemu-exec", options: from(startRV64), compared: match.Counts{Instructions: 182},
			counts: map[match.Class]int64{match.ClassMissing: 1},
			untold: map[string]string{"opcodes": ofOther, "modes": ofOther, "registers": ofOther, "registers of control and status": ofOther,
				"loads": ofOther, "stores": ofOther, "exceptions and interrupts": ofOther},
			fired: map[string]int64{"--start-addr 0x80000000": 11}},
		{reference: "rv64.qemu-exec", other: "rv64.qemu-blocks", compared: match.Counts{Instructions: 188},
			untold: map[string]string{"opcodes": ofReference, "modes": ofReference}},
		{reference: "a64.qemu-steps", other: "a64.qemu-execlog72", compared: match.Counts{Instructions: 149},
			untold: map[string]string{"exceptions and interrupts": ofOther, "registers": ofOther, "registers of control and status": ofOther,
				"loads": ofReference, "stores": ofReference}},
		// The trapped instructions of -l are no lines of the commit log.
		{reference: "rv64.spike", other: "rv64.spike-commits", compared: match.Counts{Instructions: 195, Registers: 170, Memory: 37},
			fired: map[string]int64{"--rule trapped": 4}},
		// rep movsb is a line of execlog and 12 of the other, which the first write of rcx and what follows from it show; and Linux
		// leaves rcx and r11 changed by a system call, of which QEMU's user mode writes nothing.
		{reference: "x86.qemu-execlog102", other: "x86.tenet", options: from(0x401000), compared: match.Counts{Instructions: 73, Registers: 59},
			counts: map[match.Class]int64{match.ClassLoop: 1, match.ClassRegister: 2}, consequences: 2,
			untold: map[string]string{"loads": ofOther, "stores": ofOther, "registers of control and status": ofOther,
				"register xmm0": ofOther, "register r11": ofReference}},
		// Valgrind begins rep movsb once more, to find nothing left.
		{reference: "x86.lackey", other: "x86.gdb-steps", compared: match.Counts{Instructions: 84},
			counts: map[match.Class]int64{match.ClassLoop: 1}, untold: map[string]string{"loads": ofOther, "stores": ofOther}},
		{reference: "x86.tenet", other: "x86.gdb-steps", compared: match.Counts{Instructions: 84},
			untold: map[string]string{"registers": ofOther}},
		{reference: "x86.lackey", other: "x86.tenet", compared: match.Counts{Instructions: 84},
			counts: map[match.Class]int64{match.ClassLoop: 1},
			untold: map[string]string{"loads": ofOther, "stores": ofOther, "registers": ofReference}},
		{reference: "x86.qemu-execlog102", other: "x86.gdb-steps", compared: match.Counts{Instructions: 73},
			counts: map[match.Class]int64{match.ClassLoop: 1},
			untold: map[string]string{"loads": ofOther, "stores": ofOther, "registers": ofOther, "registers of control and status": ofOther}},
		// The line of execlog has the accesses of all rounds, of which the other tells two in each.
		{reference: "x86.qemu-execlog102", other: "x86.lackey", compared: match.Counts{Instructions: 73, Memory: 31}, consequences: 22,
			counts: map[match.Class]int64{match.ClassLoop: 1, match.ClassMemory: 1},
			untold: map[string]string{"registers": ofOther, "registers of control and status": ofOther}},
		// Bochs has the registers of 64 bits, QEMU those of 32.
		{reference: "boot.bochs", other: "boot.qemu-steps", compared: match.Counts{Instructions: 68},
			untold: untoldRegisters("eflags rax rbx rcx rdx rsi rdi rsp rbp r8 r9 r10 r11 r12 r13 r14 r15",
				"efl eax ebx ecx edx esi edi esp ebp cs ds es ss gdt cr0 cr4", "loads", "stores")},
		// RVVI-TEXT, converted of Spike's log: 0.1 has no accesses, 0.4 has them without data.
		{reference: "plain.spike", other: "plain.rvvi-0.1", compared: match.Counts{Instructions: 6886, Registers: 5242},
			untold: map[string]string{"loads": ofOther, "stores": ofOther}},
		{reference: "plain.spike", other: "plain.rvvi-0.4", compared: match.Counts{Instructions: 6886, Registers: 5242, Memory: 1048},
			untold: map[string]string{"data of stores": ofOther}},
		{reference: "rv64.spike", other: "rv64.rvvi-0.4", compared: match.Counts{Instructions: 199, Registers: 170, Memory: 37},
			untold: map[string]string{"data of stores": ofOther, "exceptions and interrupts": ofOther, "modes": ofReference}},
		{reference: "rv64.rvvi-0.1", other: "rv64.rvvi-0.4", compared: match.Counts{Instructions: 199, Registers: 170},
			untold: map[string]string{"loads": ofReference, "stores": ofReference}},
		{reference: "rv64.spike-commits", other: "rv64.rvvi-0.1", compared: match.Counts{Instructions: 195, Registers: 170},
			untold: map[string]string{"loads": ofOther, "stores": ofOther}, fired: map[string]int64{"--rule trapped": 4}},
		{reference: "plain.rvvi-0.4", other: "plain.ibex", options: from(start),
			untold:   map[string]string{"modes": ofOther, "data of loads": ofReference, "data of stores": ofReference, "reads of registers": ofReference},
			compared: match.Counts{Instructions: 6881, Registers: 5238, Memory: 1047}, fired: map[string]int64{"--start-addr 0x80000080": 5, "--rule zero": 49}},
		// Dromajo begins with 10 instructions of its own, and ends one before Spike does.
		{reference: "rv64.spike", other: "rv64.dromajo", options: from(startRV64),
			compared: match.Counts{Instructions: 193, Registers: 142}, counts: map[match.Class]int64{match.ClassTail: 1},
			untold: map[string]string{"registers of control and status": ofOther, "loads": ofOther, "stores": ofOther, "modes": ofReference},
			fired:  map[string]int64{"--start-addr 0x80000000": 5 + 10}},
		{reference: "rv64.spike-commits", other: "rv64.dromajo", options: from(startRV64),
			compared: match.Counts{Instructions: 189, Registers: 142}, counts: map[match.Class]int64{match.ClassTail: 1},
			untold: map[string]string{"registers of control and status": ofOther, "loads": ofOther, "stores": ofOther},
			fired:  map[string]int64{"--start-addr 0x80000000": 5 + 10, "--rule trapped": 4}},
		// The converter stops in front of the last wfi.
		{reference: "plain.spike", other: "plain.riscv-dv-ibex", options: match.Options{Start: from(start).Start, Aliases: riscv},
			compared: match.Counts{Instructions: 6880, Registers: 5238}, counts: map[match.Class]int64{match.ClassTail: 1},
			untold: map[string]string{"loads": ofOther, "stores": ofOther, "modes": ofOther},
			fired:  map[string]int64{"--start-addr 0x80000080": 5, "--alias: names taken for others": 31}},
		{reference: "plain.ibex", other: "plain.riscv-dv-ibex", options: match.Options{Aliases: riscv},
			compared: match.Counts{Instructions: 6880, Registers: 5238}, counts: map[match.Class]int64{match.ClassTail: 1},
			untold: map[string]string{"loads": ofOther, "stores": ofOther, "reads of registers": ofOther},
			fired:  map[string]int64{"--rule zero": 49, "--alias: names taken for others": 32}}, // Ibex names x0, too
	} {
		t.Run(test.reference+" "+test.other, func(t *testing.T) {
			r := matched(t, recorded(t, test.reference), recorded(t, test.other), test.options)
			want := match.Equal
			if len(test.counts) > 0 {
				want = match.Different
			}
			got := maps.Clone(r.Counts)
			if len(got) == 0 {
				got = nil
			}
			if r.Verdict != want || r.Consequences != test.consequences || r.Compared != test.compared {
				t.Errorf("%s %s: %+v compared, %d consequences", r.Verdict, r.Reason, r.Compared, r.Consequences)
			}
			if diff := cmp.Diff(test.counts, got); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.untold, untold(r)); diff != "" {
				t.Errorf("not told (-want +got):\n%s", diff)
			}
			if test.fired == nil {
				test.fired = map[string]int64{}
			}
			if diff := cmp.Diff(test.fired, fired(r)); diff != "" {
				t.Errorf("rules (-want +got):\n%s", diff)
			}
		})
	}
}

// TestIncompleteCSV: riscv-dv's converter of Spike's log leaves out instructions that write no register, and it is seen which: the first
// branch comes behind line 43.
func TestIncompleteCSV(t *testing.T) {
	csv := recorded(t, "plain.riscv-dv-spike")
	if found := dialects.All.Detect(csv); found.Dialect == nil || !strings.Contains(found.Why, "incomplete") {
		t.Errorf("taken for %v, %q", found.Dialect, found.Why)
	}
	r := matched(t, recorded(t, "plain.spike"), csv, match.Options{Start: from(start).Start, Aliases: riscv})
	if want := "is incomplete: it does not tell all instructions behind line 43"; r.Verdict != match.Failed || !strings.HasSuffix(r.Reason, want) {
		t.Errorf("%s, %q", r.Verdict, r.Reason)
	}
	if full := dialects.All.Detect(recorded(t, "plain.riscv-dv-ibex")); strings.Contains(full.Why, "incomplete") {
		t.Errorf("all instructions: %q", full.Why)
	}
}

// TestWrittenCSV: what is written of Spike's log as riscv-dv's CSV has all instructions and registers.
func TestWrittenCSV(t *testing.T) {
	spike := recorded(t, "plain.spike")
	d, err := dialects.All.ByName("riscv-dv")
	if err != nil {
		t.Fatal(err)
	}
	csv := d.Header + dialecttest.Written(d, dialecttest.Read(t, dialects.All.Detect(spike).Dialect, bytes.NewReader(spike), 512))
	r := matched(t, spike, []byte(csv), match.Options{Aliases: riscv})
	if r.Verdict != match.Equal || r.Compared != (match.Counts{Instructions: 6886, Registers: 5242}) {
		t.Errorf("%s %v, %+v", r.Verdict, r.Counts, r.Compared)
	}
}

// TestIncomplete: a log of linked blocks lacks instructions and says so, which is no difference between the executions.
func TestIncomplete(t *testing.T) {
	chained := recorded(t, "plain.qemu-chained")
	found := dialects.All.Detect(chained)
	if found.Dialect == nil || found.Dialect.Name != "qemu" || !strings.Contains(found.Why, "incomplete") {
		t.Fatalf("taken for %v, %q", found.Dialect, found.Why)
	}
	lines := strings.SplitAfter(string(chained), "\n")
	beginning := func(text string) func(string) bool {
		return func(line string) bool { return strings.HasPrefix(line, text) }
	}
	first := slices.IndexFunc(lines, beginning("Linking TBs "))
	first += 1 + slices.IndexFunc(lines[first:], beginning("Trace "))
	end := bytes.LastIndex(chained, []byte("/80000"))
	edited := slices.Concat(chained[:end], []byte("/90000"), chained[end+len("/80000"):])
	for name, traces := range map[string][2][]byte{
		"of another producer": {recorded(t, "plain.spike"), chained}, "of blocks": {chained, recorded(t, "plain.qemu-blocks")},
		"equal but at the end": {chained, edited},
	} {
		r := matched(t, traces[0], traces[1], from(start))
		if want := fmt.Sprintf("is incomplete: it does not tell all instructions behind line %d", first); r.Verdict != match.Failed ||
			!strings.HasSuffix(r.Reason, want) || len(r.Counts) == 0 {
			t.Errorf("%s: %s, %q, want %q", name, r.Verdict, r.Reason, want)
		}
	}
	if r := matched(t, chained, chained, match.Options{}); r.Verdict != match.Equal {
		t.Errorf("with itself: %s, %q", r.Verdict, r.Reason)
	}
}

func from(addr uint64) match.Options { return match.Options{Start: &addr} }

func matched(t testing.TB, reference, other []byte, o match.Options) *match.Report {
	t.Helper()
	return match.Compare(t.Context(), match.Input{Name: "reference", Reader: bytes.NewReader(reference), Ready: true},
		match.Input{Name: "other", Reader: bytes.NewReader(other), Ready: true}, dialects.All, o)
}

// TestFaultAcrossProducers plants a fault in the trace of one producer: it is told, and nothing else.
func TestFaultAcrossProducers(t *testing.T) {
	spike, ibex := recorded(t, "plain.spike"), string(recorded(t, "plain.ibex"))
	lines := strings.SplitAfter(ibex, "\n")
	load := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "load:0x") })
	sum := load + slices.IndexFunc(lines[load:], func(l string) bool { return strings.Contains(l, "\txor\t") })
	store := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "store:0x00000003") })
	edit := func(at int, change func(string) string) []byte {
		changed := slices.Clone(lines)
		changed[at] = change(changed[at])
		return []byte(strings.Join(changed, ""))
	}
	for name, test := range map[string]struct {
		other []byte
		want  match.Class
	}{
		"value": {edit(sum, func(l string) string { return l[:len(l)-2] + flip(l[len(l)-2:len(l)-1]) + "\n" }), match.ClassRegister},
		"store": {edit(store, func(l string) string { return strings.Replace(l, "store:0x00000003", "store:0x00000004", 1) }), match.ClassMemory},
		"opcode": {edit(sum, func(l string) string {
			f := strings.Split(l, "\t")
			f[3] = flip(f[3][:1]) + f[3][1:]
			return strings.Join(f, "\t")
		}), match.ClassOpcode},
		"drop": {edit(sum, func(string) string { return "" }), match.ClassMissing},
	} {
		r := matched(t, spike, test.other, from(start))
		if len(r.Counts) != 1 || r.Counts[test.want] != 1 {
			t.Errorf("%s: %v %v", name, r.Verdict, r.Counts)
		}
	}
}

// flip makes another digit of one.
func flip(digit string) string {
	if digit == "0" {
		return "1"
	}
	return "0"
}

// TestStartCommon finds where the programs begin behind the boot code of each producer.
func TestStartCommon(t *testing.T) {
	for _, test := range []struct {
		reference, other, rule string
		boot, compared         int64 // instructions
	}{
		{"plain.spike", "plain.ibex", "--start-addr 0x80000080", 5, 6881},
		{"rv64.spike", "rv64.dromajo", "--start-addr 0x80000000", 5 + 10, 193},
		{"plain.qemu-steps", "plain.ibex", "--start-addr 0x80000080", 6888 - 6881, 6881},
	} {
		r := matched(t, recorded(t, test.reference), recorded(t, test.other), match.Options{StartCommon: true, Aliases: riscv})
		if boot := fired(r)[test.rule]; boot != test.boot || r.Compared.Instructions != test.compared {
			t.Errorf("%s %s: %s %s, %+v compared; %v", test.reference, test.other, r.Verdict, r.Reason, r.Compared, fired(r))
		}
	}
	alone := []byte("core   0: 3 0x00001000 (0x00000297) x5  0x00001000\n")
	r := matched(t, alone, recorded(t, "plain.ibex"), match.Options{StartCommon: true})
	if r.Verdict != match.Failed || !strings.Contains(r.Reason, "no 8 instructions in a row") {
		t.Errorf("nothing is common: %s %q", r.Verdict, r.Reason)
	}
}

// TestCounters compares two machines whose counters and identities differ, by what is read from them and by all else.
func TestCounters(t *testing.T) {
	trace := func(cycle, hart, status, sum string) []byte {
		return []byte("core   0: 3 0x80000000 (0xb0002573) x10 0x" + cycle + "\ncore   0: 3 0x80000004 (0xf14025f3) x11 0x" + hart +
			"\ncore   0: 3 0x80000008 (0x30002673) x12 0x" + status + "\ncore   0: 3 0x8000000c (0x00b506b3) x13 0x" + sum + "\n")
	}
	reference := trace("00000010", "00000000", "00001800", "00000010")
	counters := match.Options{Rules: []match.Rule{match.RuleCounters}}
	one, all := map[match.Class]int64{match.ClassRegister: 1}, map[string]int64{"--rule counters": 4}
	for name, test := range map[string]struct {
		other   []byte
		options match.Options
		want    map[match.Class]int64
		fired   map[string]int64
	}{
		"no rule":          {trace("00000020", "00000000", "00001800", "00000010"), match.Options{}, one, nil},
		"rule":             {trace("00000020", "00000001", "00001800", "00000010"), counters, nil, all},
		"what is computed": {trace("00000020", "00000001", "00001800", "00000021"), counters, one, all},
		"another register": {trace("00000010", "00000000", "00000080", "00000010"), counters, one, all},
	} {
		r := matched(t, reference, test.other, test.options)
		if diff := cmp.Diff(test.want, r.Counts, cmpopts.EquateEmpty()) + cmp.Diff(test.fired, fired(r), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s %s (-want +got):\n%s", name, r.Verdict, r.Reason, diff)
		}
	}
}

// untoldRegisters are registers that the other trace does not tell, those that the reference does not, and what else the other
// does not tell.
func untoldRegisters(byOther, byReference string, alsoByOther ...string) map[string]string {
	untold := make(map[string]string)
	for _, name := range strings.Fields(byOther) {
		untold["register "+name] = "other"
	}
	for _, name := range strings.Fields(byReference) {
		untold["register "+name] = "reference"
	}
	for _, what := range alsoByOther {
		untold[what] = "other"
	}
	return untold
}
