package replay_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/itrace/execution"
	"tracewell/itrace/matcher"
	"tracewell/target"
	"tracewell/target/replay"
)

// openText opens a trace that is a text.
func openText(t *testing.T, text string, o replay.ExecutionOptions, more ...func(*execution.Source)) *replay.Execution {
	t.Helper()
	source := execution.Source{Name: "trace", Content: strings.NewReader(text), Size: int64(len(text))}
	for _, f := range more {
		f(&source)
	}
	e, _, err := replay.NewExecution(source, matcher.Dialect, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// machineTest is a target with what tests ask it.
type machineTest struct {
	*replay.ExecutionTarget
	t *testing.T
}

func newMachine(t *testing.T, text string, o replay.ExecutionOptions) machineTest {
	t.Helper()
	e, err := openText(t, text, o).Target()
	if err != nil {
		t.Fatal(err)
	}
	return machineTest{e, t}
}

// register is what a register holds, in hexadecimal as it lies in the block, with xx for bytes that are not known.
func (m machineTest) register(cpu int, name string) string {
	m.t.Helper()
	layout, err := m.Description().Layout()
	if err != nil {
		m.t.Fatal(err)
	}
	slot := layout.ByName(name)
	block, known := make([]byte, layout.Size), make([]bool, layout.Size)
	id := m.Threads()[cpu]
	if err := errors.Join(m.ReadRegisters(id, block), m.AvailableRegisters(id, known)); err != nil {
		m.t.Fatal(err)
	}
	var s string
	for i := slot.Offset; i < slot.Offset+slot.Size; i++ {
		if known[i] {
			s += fmt.Sprintf("%02x", block[i])
		} else {
			s += "xx"
		}
	}
	return s
}

// memory is so many bytes as far as they are known.
func (m machineTest) memory(addr arch.Addr, n int) string {
	b := make([]byte, n)
	known, _ := m.ReadMemory(m.Threads()[0], addr, b)
	return fmt.Sprintf("%x", b[:known])
}

// runs resumes all and returns the event.
func (m machineTest) runs(back bool, verb target.Verb) target.Event {
	m.t.Helper()
	resume := m.Resume
	if back {
		resume = m.ResumeBackwards
	}
	if err := resume([]target.Action{{Thread: m.Threads()[0], Verb: verb, Anew: true}, {Thread: target.ThreadID{PID: target.All, TID: target.All}, Anew: true}}); err != nil {
		m.t.Fatal(err)
	}
	return <-m.Events()
}

// want compares what there is with what is wanted, by names.
func want(t *testing.T, pairs ...string) {
	t.Helper()
	for i := 0; i+2 < len(pairs); i += 3 {
		if pairs[i+1] != pairs[i+2] {
			t.Errorf("%s is %s, want %s", pairs[i], pairs[i+1], pairs[i+2])
		}
	}
}

// TestWhatIsKnown has registers and memory of which parts are known.
func TestWhatIsKnown(t *testing.T) {
	m := newMachine(t, `0 clk R x9 0000000000000009
1 clk 0 IT (1) 0000000000001000 d503201f A svc : nop
1 clk R x0 11223344xx667788
1 clk R V1 000102030405060708090a0b0c0d0e0f
1 clk MW8 0000000000002000 1122334455667788
2 clk 0 IT (2) 0000000000001004 d503201f A svc : nop
2 clk R w0 aabbccdd
2 clk R V1<127:64> ffffffffffffffff
2 clk MW2 0000000000002002 xxab
3 clk 0 IT (3) 0000000000001008 d503201f A svc : nop
3 clk MR4 0000000000003000 01020304
`, replay.ExecutionOptions{Options: execution.Options{Arch: "aarch64"}})
	want(t, "x9", m.register(0, "x9"), "0900000000000000", "x0 in the beginning", m.register(0, "x0"), "xxxxxxxxxxxxxxxx",
		"pc", m.register(0, "pc"), "0010000000000000", "code", m.memory(0x1000, 8), "1f2003d5", "memory", m.memory(0x2000, 8), "")
	m.Goto(1)
	want(t, "x0", m.register(0, "x0"), "887766xx44332211", "v1", m.register(0, "v1"), "0f0e0d0c0b0a09080706050403020100",
		"memory", m.memory(0x2000, 9), "8877665544332211")
	m.Goto(2)
	want(t, "x0 by w0", m.register(0, "x0"), "ddccbbaa00000000", "v1 by its upper half", m.register(0, "v1"), "0f0e0d0c0b0a0908ffffffffffffffff",
		"memory up to what nobody knows", m.memory(0x2000, 8), "8877ab", "memory behind it", m.memory(0x2004, 4), "44332211",
		"what is read later", m.memory(0x3000, 4), "")
	m.Goto(3)
	want(t, "what was read", m.memory(0x3000, 4), "04030201", "pc behind the end", m.register(0, "pc"), "0810000000000000")
	if m.WriteMemory(m.Threads()[0], 0x2000, []byte{1}) == nil || m.WriteRegisters(m.Threads()[0], nil) == nil {
		t.Error("the past can be written")
	}
}

// TestBackfill takes later reads for what was there, unless something was written before.
func TestBackfill(t *testing.T) {
	m := newMachine(t, `1 clk 0 IT (1) 1000 00000013 A m : nop
1 clk MR4 00002000 00000001
1 clk MW4 00002004 00000002
2 clk 0 IT (2) 1004 00000013 A m : nop
2 clk MR4 00002004 00000002
2 clk MW4 00002000 00000003
`, replay.ExecutionOptions{Options: execution.Options{Arch: "riscv32"}, Backfill: true})
	want(t, "before", m.memory(0x2000, 8), "01000000", "zero", m.register(0, "zero"), "00000000")
	m.Goto(1)
	want(t, "then", m.memory(0x2000, 8), "0100000002000000")
	m.Goto(2)
	want(t, "at last", m.memory(0x2000, 8), "0300000002000000")
}

// TestSignExtended finds addresses of 32 bits in a trace that writes them with 64.
func TestSignExtended(t *testing.T) {
	m := newMachine(t, `1 clk 0 IT (1) ffffffff80001000 00000000 A svc : nop
1 clk MW4 ffffffffa0000010 11223344
2 clk 0 IT (2) 0000000080001004 00000000 A svc : nop
2 clk R t0 ffffffff80000000
`, replay.ExecutionOptions{Options: execution.Options{Arch: "mips"}})
	id := m.Threads()[0]
	want(t, "pc", m.register(0, "pc"), "80001000")
	if err := m.InsertBreakpoint(id, target.Breakpoint{Kind: target.WriteWatch, Addr: 0xa0000012, Length: 1}); err != nil {
		t.Fatal(err)
	}
	if ev := m.runs(false, target.Go); ev.Reason != target.ReasonWatch || ev.Addr != 0xa0000012 {
		t.Errorf("the watchpoint: %+v", ev)
	}
	m.Goto(2)
	want(t, "memory", m.memory(0xa0000010, 4), "11223344", "t0", m.register(0, "r8"), "80000000")
}

// TestDirections goes through a loop with a condition, forwards and backwards, and to both ends.
func TestDirections(t *testing.T) {
	var text strings.Builder
	for i := range 30 {
		fmt.Fprintf(&text, "%d clk 0 IT (%d) %08x 00000000 A svc : nop\n%d clk R t0 %08x\n", i, i, 0x1000+4*(i%3), i, i)
	}
	m := newMachine(t, text.String(), replay.ExecutionOptions{Options: execution.Options{Arch: "mips", Order: binary.LittleEndian}})
	id := m.Threads()[0]
	check := func(s target.Snapshot) bool { // in front of instruction 13, 12 is in t0
		v, err := s.Register(8)
		return err == nil && v == 12 && s.PC() == 0x1004
	}
	at := target.Breakpoint{Kind: target.Software, Addr: 0x1004, Length: 4, Check: check}
	if err := m.InsertBreakpoint(id, at); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		back   bool
		verb   target.Verb
		reason target.Reason
		t0     string
	}{
		{false, target.Go, target.ReasonSwBreak, "0c000000"},
		{false, target.StepOne, target.ReasonNone, "0d000000"},
		{false, target.Go, target.ReasonEnd, "1d000000"},
		{false, target.Go, target.ReasonEnd, "1d000000"},
		{false, target.StepOne, target.ReasonEnd, "1d000000"},
		{true, target.StepOne, target.ReasonNone, "1c000000"},
		{true, target.Go, target.ReasonSwBreak, "0c000000"},
		{true, target.Go, target.ReasonBegin, "xxxxxxxx"},
		{true, target.Go, target.ReasonBegin, "xxxxxxxx"},
		{true, target.StepOne, target.ReasonBegin, "xxxxxxxx"},
		{false, target.StepOne, target.ReasonNone, "00000000"},
	} {
		ev := m.runs(step.back, step.verb)
		if got := m.register(0, "r8"); ev.Reason != step.reason || got != step.t0 || ev.Thread != id {
			t.Errorf("%+v: event %+v, t0 %s", step, ev, got)
		}
	}
	if err := m.RemoveBreakpoint(id, at); err != nil {
		t.Fatal(err)
	}
	if err := m.Resume([]target.Action{{Thread: id, Verb: target.StepRange, Start: 0x1004, End: 0x100c}}); err != nil {
		t.Fatal(err)
	}
	if ev := <-m.Events(); ev.Reason != target.ReasonNone || m.register(0, "pc") != "00100000" {
		t.Errorf("a range was left for %s by %+v", m.register(0, "pc"), ev)
	}
	if m.SetNonStop(true) == nil {
		t.Error("threads can stand at different positions")
	}
}

// TestInterrupt interrupts a run that would not end, in both directions.
func TestInterrupt(t *testing.T) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "%d clk 0 IT (%d) 00001000 00000000 A svc : b .\n", i, i)
	}
	for _, back := range []bool{false, true} {
		m := newMachine(t, text.String(), replay.ExecutionOptions{Options: execution.Options{Arch: "mips"}})
		m.Goto(500)
		asked := 0
		never := func(target.Snapshot) bool {
			if asked++; asked == 100 {
				_ = m.Interrupt()
			}
			return false
		}
		if err := m.InsertBreakpoint(m.Threads()[0], target.Breakpoint{Addr: 0x1000, Length: 4, Check: never}); err != nil {
			t.Fatal(err)
		}
		if ev := m.runs(back, target.Go); ev.Signal != target.SignalInt || asked != 100 {
			t.Errorf("%+v when %d breakpoints had been asked", ev, asked)
		}
	}
}

// TestGuess decides of what a trace is by what is in it.
func TestGuess(t *testing.T) {
	for lines, says := range map[string]string{
		"R t8 00000001;R ra 00000001":                          "mips",
		"R x31 00000001;R ra 00000001":                         "riscv:rv32",
		"R s11 0000000000000001;R ra 0000000000000001":         "riscv:rv64",
		"R x29 0000000000000001;R w3 00000001;R nzcv 60000000": "aarch64",
		"R r7 00000001;R cpsr 000001d3":                        "arm",
		"R eax 00000001":                                       "the names of registers do not tell",
		"R r1 00000001":                                        "mips",
		"MW4 00000010 00000001":                                "the names of registers do not tell",
	} {
		text := "1 clk 0 IT (1) 00001000 00000000 A svc : nop\n"
		for line := range strings.SplitSeq(lines, ";") {
			text += "1 clk " + line + "\n"
		}
		source := execution.Source{Name: "trace", Content: strings.NewReader(text), Size: int64(len(text))}
		e, _, err := replay.NewExecution(source, matcher.Dialect, replay.ExecutionOptions{})
		got := fmt.Sprint(err)
		if err == nil {
			machine, err := e.Target()
			if err != nil {
				t.Fatal(err)
			}
			got = machine.ISA().Name
		}
		if !strings.HasPrefix(got, says) {
			t.Errorf("%s: %s, want %s", lines, got, says)
		}
	}
	_, _, err := replay.NewExecution(execution.Source{Content: strings.NewReader(""), Name: "trace"}, matcher.Dialect, replay.ExecutionOptions{})
	if err == nil || !strings.Contains(err.Error(), "no instructions") {
		t.Errorf("an empty trace: %v", err)
	}
}

// TestMonitor gives commands that are wrong, and those for marks.
func TestMonitor(t *testing.T) {
	m := newMachine(t, "1 clk 0 IT (1) 00001000 00000000 A svc : nop\n1 clk R t0 00000001\n5 clk 0 IT (2) 00001004 00000000 A svc : nop\n",
		replay.ExecutionOptions{Options: execution.Options{Arch: "mips"}})
	do := func(line string) string {
		name, args, _ := strings.Cut(line, " ")
		for _, c := range m.Commands() {
			if c.Name == name {
				says, err := c.Do(m.Threads()[0], args)
				if err != nil {
					return err.Error()
				}
				return says
			}
		}
		return "no such command"
	}
	for _, step := range []string{
		"where:#0 of 2, time 1", "goto 2:#1 of 2, time 5", "mark x:#1 of 2", "goto end:behind the last", "back x:#1 of 2", "back:behind the last",
		"goto :2:#0 of 2", "goto 9:behind the last", "goto begin:#0 of 2", "goto #2:behind the last",
		"goto #3:there is no instruction #3: the last is #1", "goto :9:there is no line 9", "goto there:\"there\" is no place", "back y:there is no mark",
		"writers $t0:line 2: 1 clk R t0", "writers r8:----- this position", "writers t1:nothing writes register t1", "writers:writers of what?",
		"writers 0x10,4:this position", "writers 0x10,0:writers of what?",
	} {
		at := strings.LastIndexByte(step, ':')
		if strings.Contains(step, "line 2: 1 clk") {
			at = strings.IndexByte(step, ':')
		} else if strings.Contains(step, "the last is #1") {
			at = strings.IndexByte(step, ':')
		}
		if got := do(step[:at]); !strings.Contains(got, step[at+1:]) {
			t.Errorf("monitor %s: %q, want %q", step[:at], got, step[at+1:])
		}
	}
}

// TestLeavesWhileItRuns detaches from a target that runs: the run ends, with an event, and another cannot begin.
func TestLeavesWhileItRuns(t *testing.T) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "%d clk 0 IT (%d) 00001000 00000000 A svc : b .\n", i, i)
	}
	m := newMachine(t, text.String(), replay.ExecutionOptions{Options: execution.Options{Arch: "mips"}})
	id := m.Threads()[0]
	met, left := make(chan bool), make(chan bool)
	stopped := false
	at := target.Breakpoint{Addr: 0x1000, Length: 4, Check: func(target.Snapshot) bool {
		if !stopped {
			stopped = true
			met <- true
			<-left
		}
		return false
	}}
	if err := m.InsertBreakpoint(id, at); err != nil {
		t.Fatal(err)
	}
	actions := []target.Action{{Thread: id, Anew: true}}
	if err := m.Resume(actions); err != nil {
		t.Fatal(err)
	}
	<-met
	if err := m.Resume(actions); !errors.Is(err, target.ErrRunning) {
		t.Errorf("a second run: %v", err)
	}
	if err := m.Detach(id.PID); err != nil || len(m.Threads()) != 0 {
		t.Errorf("detaching: %v, %v", err, m.Threads())
	}
	left <- true
	if ev := <-m.Events(); ev.Signal != target.SignalInt {
		t.Errorf("the run ends with %+v", ev)
	}
	if err := m.Resume(actions); !errors.Is(err, target.ErrNoProcess) {
		t.Errorf("a run after that: %v", err)
	}
}
