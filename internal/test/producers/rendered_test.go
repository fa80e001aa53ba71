package producers

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracewell/internal/test/dialecttest"
	"tracewell/itrace"
	"tracewell/itrace/dialects"
	"tracewell/itrace/index"
	"tracewell/itrace/match"
	"tracewell/itrace/match/profile"
)

// execution is an instruction of Spike's trace, with what it did, for writing it in other forms.
type execution struct {
	itrace.Record
	n             int
	registers     []itrace.Record
	loads, stores []itrace.Record
	trap          *itrace.Record
}

// executions reads Spike's trace.
func executions(t *testing.T, text []byte) (all []*execution) {
	for _, r := range dialecttest.Read(t, dialects.All.Detect(text).Dialect, bytes.NewReader(text), 512) {
		if r.Kind == itrace.Instruction {
			all = append(all, &execution{Record: r, n: len(all)})
			continue
		}
		switch e := all[max(0, len(all)-1):]; {
		case r.Kind == itrace.Register:
			e[0].registers = append(e[0].registers, r)
		case r.Kind == itrace.Memory && r.Write:
			e[0].stores = append(e[0].stores, r)
		case r.Kind == itrace.Memory:
			e[0].loads = append(e[0].loads, r)
		case r.Kind == itrace.Event:
			e[0].trap = &r
		}
	}
	return all
}

// mode is a privilege as a number; that of an instruction with an exception Spike does not tell.
func (e *execution) mode() int { return max(0, strings.Index("US.M", string(e.Mode))) }

// opcode is as many digits as the instruction has.
func (e *execution) opcode() string {
	if e.Value&3 != 3 {
		return fmt.Sprintf("%04x", e.Value&0xffff)
	}
	return fmt.Sprintf("%08x", e.Value)
}

func (e *execution) float() bool {
	return len(e.registers) > 0 && e.registers[len(e.registers)-1].Name[0] == 'f'
}

func asRocket(w *strings.Builder, e *execution) {
	if e.trap != nil {
		return
	}
	fmt.Fprintf(w, "%d 0x%016x (0x%s)", e.mode(), e.Addr, e.opcode())
	later := ""
	for _, r := range e.registers {
		var number int
		switch {
		case r.System:
			continue
		case r.Name[0] == 'f' || len(e.loads) > 0:
			fmt.Sscan(string(r.Name[1:]), &number)
			fmt.Fprintf(w, " %c%2d p%2d 0xXXXXXXXXXXXXXXXX", r.Name[0], number, number)
			later += fmt.Sprintf("%c%2d p%2d 0x%s\n", r.Name[0], number, number, r.Digits)
		default:
			fmt.Fprintf(w, " %c%2s 0x%s", r.Name[0], r.Name[1:], r.Digits)
		}
	}
	w.WriteString("\n" + later)
}

// asRocketLater has the results of loads come some instructions later, or in front of what writes the register next.
func asRocketLater() func(w *strings.Builder, e *execution) {
	type later struct {
		left int
		line string
	}
	var waiting []later
	return func(w *strings.Builder, e *execution) {
		var out strings.Builder
		asRocket(&out, e)
		lines := strings.SplitAfter(out.String(), "\n")
		var still []later
		for _, l := range waiting {
			if l.left--; l.left == 0 || strings.Contains(lines[0], " "+l.line[:len("x10 ")]) {
				w.WriteString(l.line)
			} else {
				still = append(still, l)
			}
		}
		waiting = still
		w.WriteString(lines[0])
		for _, line := range lines[1:] {
			if line != "" {
				waiting = append(waiting, later{e.n%40 + 1, line})
			}
		}
	}
}

func asCVA6(w *strings.Builder, e *execution) {
	if e.trap != nil {
		fmt.Fprintf(w, "ILLEGAL_INSTR exception @ 0x%016x (0x%s)\n", e.Addr, e.opcode())
		return
	}
	fmt.Fprintf(w, "core   0: 0x%016x (0x%08x) DASM(%08x)\n%d 0x%016x (0x%s)", e.Addr, e.Value, e.Value, e.mode(), e.Addr, e.opcode())
	for _, r := range e.registers {
		if !r.System {
			fmt.Fprintf(w, " %c%2s 0x%s", r.Name[0], r.Name[1:], r.Digits)
		}
	}
	for _, m := range e.loads {
		if !e.float() {
			fmt.Fprintf(w, " mem 0x%016x", m.Addr)
		}
	}
	for _, m := range e.stores {
		fmt.Fprintf(w, " mem 0x%016x 0x%016x", m.Addr, m.Value)
	}
	w.WriteString("\n")
}

func asSail(w *strings.Builder, e *execution) {
	fmt.Fprintf(w, "mem[X,0x%016X] -> 0x0000\n[%d] [%c]: 0x%016X (0x%s) %s\n", e.Addr, e.n, "US.M"[e.mode()], e.Addr,
		strings.ToUpper(e.opcode()), e.Disasm)
	if e.trap != nil {
		fmt.Fprintf(w, "trapping from U to M\nhandling exc#0x02 at priv M with tval 0x0\nCSR mepc (0x341) <- 0x%016X\n", e.Addr)
	}
	for _, m := range e.loads {
		fmt.Fprintf(w, "mem[R,0x%016X] -> 0x00000000\n", m.Addr)
	}
	for _, r := range e.registers {
		if r.System {
			fmt.Fprintf(w, "CSR %s (0x%03X) <- 0x%s\n", r.Name, r.Number, r.Digits)
		} else {
			fmt.Fprintf(w, "%s <- 0x%s\n", r.Name, bytes.ToUpper(r.Digits))
		}
	}
	for _, m := range e.stores {
		fmt.Fprintf(w, "mem[W,0x%016X] <- 0x%s\n", m.Addr, bytes.ToUpper(m.Digits))
	}
}

func asWhisper(w *strings.Builder, e *execution) {
	var effects []string
	for _, r := range e.registers {
		var number uint64
		class := map[byte]byte{'x': 'r', 'f': 'f'}[r.Name[0]]
		if fmt.Sscan(string(r.Name[1:]), &number); r.System {
			class, number = 'c', uint64(r.Number)
		}
		effects = append(effects, fmt.Sprintf("%c %016x %s", class, number, r.Digits))
	}
	for _, m := range e.stores {
		effects = append(effects, fmt.Sprintf("m %016x %016x", m.Addr, m.Value))
	}
	behind := ""
	switch all := append(e.loads, e.stores...); {
	case e.trap != nil:
		effects, behind = append(effects, fmt.Sprintf("c %016x %016x", 0x341, e.Addr)), " (exception)"
	case len(all) > 0:
		behind = fmt.Sprintf(" [0x%x]", all[0].Addr)
	}
	if len(effects) == 0 {
		effects = []string{"r 0000000000000000 0000000000000000"}
	}
	for k, effect := range effects {
		fmt.Fprintf(w, "#%d 0  %c %016x %8s %s %s%s", e.n, "US.M"[e.mode()], e.Addr, e.opcode(), effect, e.Disasm, behind)
		if k < len(effects)-1 {
			w.WriteString("  +")
		}
		w.WriteString("\n")
	}
}

func asWhisperCSV(w *strings.Builder, e *execution) {
	if e.n == 0 {
		w.WriteString("pc, inst, modified regs, source operands, memory, inst info, privilege, trap, disassembly, hartid\n")
	}
	var registers []string
	for _, r := range e.registers {
		if r.System {
			r.Name = fmt.Appendf(nil, "c%d", r.Number)
		}
		registers = append(registers, fmt.Sprintf("%s=%x", r.Name, r.Value))
	}
	memory, trap := "", ""
	switch {
	case e.trap != nil:
		registers, trap = append(registers, fmt.Sprintf("c833=%x", e.Addr)), "2"
	case len(e.stores) > 0:
		memory = fmt.Sprintf("%x=%x", e.stores[0].Addr, e.stores[0].Value)
	case len(e.loads) > 0:
		memory = fmt.Sprintf("%x", e.loads[0].Addr)
	}
	fmt.Fprintf(w, "%x,%x,%s,,%s,,%c,%s,%s,0\n", e.Addr, e.Value, strings.Join(registers, ";"), memory, "us.m"[e.mode()], trap,
		bytes.ReplaceAll(e.Disasm, []byte{','}, []byte{';'}))
}

// asOVPsim remembers what registers hold.
func asOVPsim() func(w *strings.Builder, e *execution) {
	held := map[string]string{}
	return func(w *strings.Builder, e *execution) {
		fmt.Fprintf(w, "Info %d: 'riscvOVPsim/cpu', 0x%016x(text): %s %s %s\n", e.n, e.Addr,
			[]string{"User", "Supervisor", "", "Machine"}[e.mode()], e.opcode(), e.Disasm)
		if e.trap != nil {
			fmt.Fprintf(w, "Info   mepc 0000000000000000 -> %016x\n", e.Addr)
		}
		for _, r := range e.registers {
			name, digits := string(r.Name), string(r.Digits)
			if held[name] != digits {
				fmt.Fprintf(w, "Info   %s %016x -> %s\n", name, 0, digits)
			}
			held[name] = digits
		}
	}
}

func asRenode(w *strings.Builder, e *execution) {
	fmt.Fprintf(w, "0x%X: 0x%s\n", e.Addr, strings.ToUpper(e.opcode()))
	for _, m := range e.loads {
		fmt.Fprintf(w, "MemoryRead with address 0x%X, value 0x0\n", m.Addr)
	}
	for _, m := range e.stores {
		fmt.Fprintf(w, "MemoryWrite with address 0x%X, value 0x%X\n", m.Addr, m.Value)
	}
	if len(e.registers) > 0 {
		var states []string
		for _, r := range e.registers {
			states = append(states, fmt.Sprintf("%s: 0x%X", r.Name, r.Value))
		}
		fmt.Fprintf(w, "Post: %s\n", strings.Join(states, " | "))
	}
}

// TestRendered: of some formats there is no trace here that its producer wrote. What Spike's trace says, written in their form as
// their sources say, is equal to it in all that they tell.
func TestRendered(t *testing.T) {
	spike := recorded(t, "rv64.spike")
	for name, test := range map[string]struct {
		dialect string
		write   func(*strings.Builder, *execution)
		want    match.Counts
	}{
		"rocket":      {"rocket", asRocket, match.Counts{Instructions: 195, Registers: 146}},
		"rocket late": {"rocket", asRocketLater(), match.Counts{Instructions: 195, Registers: 146}},
		"cva6":        {"cva6", asCVA6, match.Counts{Instructions: 199, Registers: 146, Memory: 31}},
		"sail":        {"sail", asSail, match.Counts{Instructions: 199, Registers: 170, Memory: 37}},
		"whisper":     {"whisper", asWhisper, match.Counts{Instructions: 199, Registers: 170, Memory: 37}},
		"whisper csv": {"whisper", asWhisperCSV, match.Counts{Instructions: 199, Registers: 170, Memory: 37}},
		"ovpsim":      {"ovpsim", asOVPsim(), match.Counts{Instructions: 199}},
		"renode":      {"renode", asRenode, match.Counts{Instructions: 199, Registers: 150, Memory: 37}},
	} {
		var text strings.Builder
		for _, e := range executions(t, spike) {
			test.write(&text, e)
		}
		found := dialects.All.Detect([]byte(text.String()))
		if found.Dialect == nil || found.Dialect.Name != test.dialect || found.Known != found.Lines {
			t.Errorf("%s: taken for %v, %d of %d lines", name, found.Dialect, found.Known, found.Lines)
			continue
		}
		dialecttest.Run(t, found.Dialect, text.String())
		var out bytes.Buffer
		summary, err := index.Build(strings.NewReader(text.String()), found.Dialect, index.Identity{}, &out)
		if err != nil || summary.Unknown != 0 || summary.Instructions != test.want.Instructions {
			t.Errorf("%s: the index: %+v, %v", name, summary, err)
		}
		if test.dialect == "ovpsim" { // each change but those that the four exceptions make
			test.want.Registers = int64(strings.Count(text.String(), " -> ") - 4)
		}
		for _, p := range profile.All {
			if r := matched(t, spike, []byte(text.String()), p.Apply(match.Options{})); r.Verdict != match.Equal || r.Consequences > 0 {
				t.Errorf("%s under the profile %s: %s %s %v", name, p.Name, r.Verdict, r.Reason, r.Counts)
			}
		}
		r := matched(t, spike, []byte(text.String()), match.Options{})
		if r.Verdict != match.Equal || r.Compared != test.want {
			t.Errorf("%s: %s %s %v, %+v compared", name, r.Verdict, r.Reason, r.Counts, r.Compared)
			for _, d := range r.Differences {
				t.Errorf("%s: %+v %+v", d.What, d.Reference, d.Other)
			}
		}
	}
}

func asDrmemtrace(w *strings.Builder, e *execution) {
	size := len(e.opcode()) / 2
	fmt.Fprintf(w, "%12d%12d: %11d ifetch      %2d byte(s) @ 0x%016x %s   %s\n", e.n, e.n, 292, size, e.Addr, e.opcode(), e.Disasm)
	for _, m := range e.loads {
		fmt.Fprintf(w, "%12d%12d: %11d read        %2d byte(s) @ 0x%016x by PC 0x%016x\n", e.n, e.n, 292, m.Size, m.Addr, e.Addr)
	}
	for _, m := range e.stores {
		fmt.Fprintf(w, "%12d%12d: %11d write       %2d byte(s) @ 0x%016x by PC 0x%016x\n", e.n, e.n, 292, m.Size, m.Addr, e.Addr)
	}
}

func asPerf(w *strings.Builder, e *execution) {
	var code []string
	for at := 0; at < len(e.opcode()); at += 2 {
		code = append(code, e.opcode()[at:at+2])
	}
	fmt.Fprintf(w, "%16s %7d [%03d] %5d.%09d: %16x main+0x%x (/bin/a b) insn: %s\n", "Web Content", 36660, e.n%4, 1, e.n, e.Addr, e.n,
		strings.Join(code, " "))
}

// asOpencsd has ranges of five instructions at most. The program has no others than of four bytes.
func asOpencsd(all []*execution) func(w *strings.Builder, e *execution) {
	begins := func(n int) bool { return n == len(all) || n%5 == 0 || all[n-1].Addr+4 != all[n].Addr }
	return func(w *strings.Builder, e *execution) {
		if !begins(e.n) {
			return
		}
		end := e.n + 1
		for !begins(end) {
			end++
		}
		count := end - e.n
		fmt.Fprintf(w, "Idx:%d; ID:10; OCSD_GEN_TRC_ELEM_INSTR_RANGE(exec range=0x%x:[0x%x] num_i(%d) last_sz(4) (ISA=A64) E --- )\n", e.n, e.Addr,
			e.Addr+4*uint64(count), count)
	}
}

// asRVFI has registers x and memory, and addresses of the next instructions.
func asRVFI(all []*execution) func(w *strings.Builder, e *execution) {
	return func(w *strings.Builder, e *execution) {
		p := struct {
			Order, PC, Next, Insn, RS1, RS2, RD, Addr, Loaded, Stored uint64
			RMask, WMask, RS1Addr, RS2Addr, RDAddr, Trap, Halt, Intr  uint8
		}{Order: uint64(e.n), PC: e.Addr, Next: all[min(e.n+1, len(all)-1)].Addr, Insn: e.Value}
		for _, r := range e.registers {
			n, err := strconv.Atoi(string(r.Name[1:]))
			p.RDAddr, p.RD = uint8(n), r.Value
			if err != nil {
				panic(err)
			}
		}
		for _, m := range e.loads {
			p.Addr, p.RMask = m.Addr, 1<<(1<<(e.Value>>12&3))-1
		}
		for _, m := range e.stores {
			p.Addr, p.WMask, p.Stored = m.Addr&^3, uint8(1<<m.Size-1)<<(m.Addr&3), m.Value<<(8*(m.Addr&3)) // as on a bus
		}
		if err := binary.Write(w, binary.LittleEndian, p); err != nil {
			panic(err)
		}
	}
}

// TestRenderedFlow is TestRendered of formats that tell little, by a trace without exceptions.
func TestRenderedFlow(t *testing.T) {
	spike := recorded(t, "plain.spike")
	for dialect, test := range map[string]struct {
		write func(*strings.Builder, *execution)
		want  match.Counts
	}{
		"drmemtrace": {asDrmemtrace, match.Counts{Instructions: 6886, Memory: 1048}},
		"perf":       {asPerf, match.Counts{Instructions: 6886}},
		"opencsd":    {asOpencsd(executions(t, spike)), match.Counts{Instructions: 6886}},
		"rvfi":       {asRVFI(executions(t, spike)), match.Counts{Instructions: 6886, Registers: 5242, Memory: 1048}},
	} {
		var text strings.Builder
		for _, e := range executions(t, spike) {
			test.write(&text, e)
		}
		found := dialects.All.Detect([]byte(text.String()))
		if found.Dialect == nil || found.Dialect.Name != dialect || found.Known != found.Lines {
			t.Errorf("%s: taken for %v, %d of %d lines", dialect, found.Dialect, found.Known, found.Lines)
			continue
		}
		r := matched(t, spike, []byte(text.String()), match.Options{})
		if r.Verdict != match.Equal || r.Compared != test.want {
			t.Errorf("%s: %s %s %v, %+v compared", dialect, r.Verdict, r.Reason, r.Counts, r.Compared)
			for _, d := range r.Differences {
				t.Errorf("%s: %+v %+v", dialect, d.Reference, d.Other)
			}
		}
	}
}

// TestFaultDeferred flips a digit of each result that comes late: it is told of the instruction that it is of, and nothing else.
func TestFaultDeferred(t *testing.T) {
	spike := recorded(t, "rv64.spike")
	var text strings.Builder
	write := asRocketLater()
	for _, e := range executions(t, spike) {
		write(&text, e)
	}
	lines := strings.SplitAfter(text.String(), "\n")
	n := 0
	for i, line := range lines {
		if !strings.Contains(line, "p") || strings.Contains(line, "XXXX") {
			continue
		}
		changed := slices.Clone(lines)
		last := len(line) - 2
		changed[i] = line[:last] + string(flipped[rune(line[last])]) + "\n"
		r := matched(t, spike, []byte(strings.Join(changed, "")), match.Options{})
		if len(r.Counts) != 1 || r.Counts[match.ClassRegister] != 1 || r.Differences[0].Other.Line != int64(i+1) {
			t.Errorf("line %d, %q: %v, %d consequences", i+1, line, r.Counts, r.Consequences)
		}
		n++
	}
	if n < 30 {
		t.Errorf("%d results come late", n)
	}
}
