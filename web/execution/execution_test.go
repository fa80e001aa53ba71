package execution_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/itrace/dialects"
	"tracewell/itrace/execution"
	"tracewell/itrace/generate"
	"tracewell/symbol"
	"tracewell/view/wire"
	"tracewell/web"
	subject "tracewell/web/execution"
	"tracewell/web/sources"
)

// recorded is a generated trace, and what its processor was in front of each instruction.
type recorded struct {
	*subject.Subject
	pcs  []uint32
	regs [][32]uint32
}

// record opens a generated trace of so many instructions, with its program and source.
func record(t *testing.T, n int64, withProgram bool, faults ...generate.Fault) *recorded {
	t.Helper()
	r := &recorded{}
	var text bytes.Buffer
	if _, err := generate.Write(&text, generate.Options{Instructions: n, Faults: faults, Observe: func(p generate.Position) {
		r.pcs, r.regs = append(r.pcs, p.PC), append(r.regs, *p.Registers)
	}}); err != nil {
		t.Fatal(err)
	}
	o := subject.Options{Content: bytes.NewReader(text.Bytes()), Size: int64(text.Len())}
	if withProgram {
		folder := t.TempDir()
		source, elf := filepath.Join(folder, "fw.c"), filepath.Join(folder, "fw.elf")
		var program bytes.Buffer
		if err := errors.Join(generate.WriteELF(&program, filepath.Base(source)), os.WriteFile(elf, program.Bytes(), 0o600),
			os.WriteFile(source, []byte(generate.Source()), 0o600)); err != nil {
			t.Fatal(err)
		}
		var err error
		if o.Program, err = symbol.Open(elf, symbol.Options{}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { o.Program.Close() })
		if o.Sources, err = sources.New(elf, nil); err != nil {
			t.Fatal(err)
		}
	}
	d := dialects.All.Detect(text.Bytes()[:min(text.Len(), 1<<16)]).Dialect
	e, _, err := execution.Open(execution.Source{Name: "run.log", Content: o.Content, Size: o.Size}, d, execution.Options{Arch: "mips"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	o.Execution = e
	r.Subject = subject.New(o)
	return r
}

// ask asks a question whose answer is a T, with arguments as name=value.
func ask[T any](t *testing.T, s web.Subject, question string, args ...string) T {
	t.Helper()
	answer, err := s.Answer(context.Background(), question, values(args))
	if err != nil {
		t.Fatalf("%s %v: %v", question, args, err)
	}
	return answer.(T)
}

func values(args []string) url.Values {
	v := url.Values{}
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		v.Set(name, value)
	}
	return v
}

// TestPoint holds what is said of positions against the processor that was interpreted.
func TestPoint(t *testing.T) {
	r := record(t, 20_000, true)
	summary := ask[wire.ExecutionSummary](t, r, "summary")
	if summary.Instructions != 20_000 || !summary.HasLines || len(summary.CPUs) != 1 {
		t.Errorf("%+v", summary)
	}
	for _, n := range []int64{0, 63, 64, 12345, 19_999} {
		at := fmt.Sprintf("at=%d", n)
		c := ask[wire.CursorState](t, r, "cursor", at)
		if want := fmt.Sprintf("0x%x", r.pcs[n]); c.PC != want || c.Source == nil || c.Source.File != 0 || c.Symbol == "" || c.Disassembly == "" {
			t.Errorf("%d: %+v, want pc %s", n, c.Step, want)
		}
		known := 0
		for _, register := range c.Registers {
			if i := strings.Index(" zero at v0 v1 a0 a1 a2 a3 t0 t1 t2 ", " "+register.Name+" "); i >= 0 && register.Value != nil {
				number := strings.Count(" zero at v0 v1 a0 a1 a2 a3 t0 t1 t2 "[:i], " ")
				if want := fmt.Sprintf("0x%08x", r.regs[n][number]); *register.Value != want {
					t.Errorf("%d: %s is %s, want %s", n, register.Name, *register.Value, want)
				}
				known++
			}
		}
		if n > 1000 && known < 5 {
			t.Errorf("%d: %d registers are known", n, known)
		}
		block := ask[wire.MomentBlock](t, r, "moments", fmt.Sprintf("block=%d", n/64))
		if row := block.Rows[n%64]; block.Total != 20_000 || row.Instruction != n || row.PC != c.PC {
			t.Errorf("%d: %+v", n, row)
		}
	}
	if end := ask[wire.CursorState](t, r, "cursor", "at=20000"); end.PC != "" || end.Instruction != 20_000 {
		t.Errorf("at the end: %+v", end.Step)
	}
	if block := ask[wire.MomentBlock](t, r, "moments", "block=313"); len(block.Rows) != 0 {
		t.Errorf("behind the end: %+v", block)
	}
	for question, args := range map[string][]string{
		"cursor": {"at=20001"}, "moments": nil, "memory": {"at=0", "range=0x0..0xffffff"}, "position": {"at=0", "text=nowhere"}, "move": {"at=0", "by=jump"},
		"chart": {"cpu=0", "from=0", "to=0", "pixels=1"}, "source": {"file=99"}, "accesses": {"at=0", "object=r99"}, "executions": {"at=0"},
	} {
		if _, err := r.Answer(context.Background(), question, values(args)); err == nil || errors.Is(err, web.ErrNoQuestion) {
			t.Errorf("%s %v: %v", question, args, err)
		}
	}
	if _, err := r.Answer(context.Background(), "nothing", nil); !errors.Is(err, web.ErrNoQuestion) {
		t.Errorf("a question that there is none of: %v", err)
	}
}

// TestAround: who wrote a register last is where its value changed last.
func TestAround(t *testing.T) {
	r := record(t, 5_000, true)
	const v0 = 2
	answer := ask[wire.AccessesAround](t, r, "accesses", "at=4000", "object=v0", "cpu=0")
	if len(answer.Before) != 20 || len(answer.After) != 20 || len(answer.Gaps) != 0 {
		t.Fatalf("%d in front, %d behind, %q", len(answer.Before), len(answer.After), answer.Gaps)
	}
	last := answer.Before[19]
	if want := fmt.Sprintf("0x%08x", r.regs[4000][v0]); last.Value != want || last.Instruction >= 4000 {
		t.Errorf("%+v, want %s", last, want)
	}
	if first := answer.After[0]; first.Instruction < 4000 || first.Before != last.Value {
		t.Errorf("%+v", first)
	}
	executed := ask[wire.ExecutionsAround](t, r, "executions", "at=2500", "place="+fmt.Sprintf("0x%x", r.pcs[2500]))
	if len(executed.After) == 0 || executed.After[0].Instruction != 2500 || executed.Before[len(executed.Before)-1].Instruction >= 2500 {
		t.Errorf("%+v", executed)
	}
	// A place is looked for from the cursor on, and from the other end if it is not there.
	pc := fmt.Sprintf("text=0x%x", r.pcs[0])
	if got := ask[wire.PositionFound](t, r, "position", "at=4999", pc); got.Instruction != 0 || got.Note == "" {
		t.Errorf("round the end: %+v", got)
	}
	for text, want := range map[string]int64{"700": 700, "#701": 701, "end": 5000, "begin": 0} {
		if got := ask[wire.PositionFound](t, r, "position", "at=100", "text="+text); got.Instruction != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
	back := ask[*wire.PositionFound](t, r, "position", "at=2500", "back=true", fmt.Sprintf("text=0x%x", r.pcs[2500]))
	if back.Instruction != executed.Before[len(executed.Before)-1].Instruction {
		t.Errorf("backwards: %+v", back)
	}
}

// TestMoves: a step over a call leads to where the call returns, which the stack pointer tells as well.
func TestMoves(t *testing.T) {
	r := record(t, 20_000, true)
	move := func(at int64, by string) int64 {
		t.Helper()
		return ask[wire.PositionFound](t, r, "move", fmt.Sprintf("at=%d", at), "by="+by).Instruction
	}
	calls := 0
	for n := int64(100); n < 19_000 && calls < 5; n++ {
		c := ask[wire.CursorState](t, r, "cursor", fmt.Sprintf("at=%d", n))
		if !strings.HasPrefix(c.Disassembly, "jal") {
			continue
		}
		calls++
		// The instruction behind a call is executed first.
		back := n + 2
		for r.pcs[back] != r.pcs[n]+8 {
			back++
		}
		if got := move(n+1, "next"); got != back {
			t.Errorf("next from %d: %d, want %d", n+1, got, back)
		}
		if got := move(back, "next-back"); got != n+1 {
			t.Errorf("next-back from %d: %d, want %d", back, got, n+1)
		}
		inside := (n + 2 + back) / 2
		if got := move(inside, "finish"); got != back {
			t.Errorf("finish from %d: %d, want %d", inside, got, back)
		}
		if got := move(inside, "finish-back"); got != n+1 {
			t.Errorf("finish-back from %d: %d, want %d", inside, got, n+1)
		}
		active := ask[wire.CursorState](t, r, "cursor", fmt.Sprintf("at=%d", inside)).Calls
		if innermost := active[len(active)-1]; innermost.Begin != n+2 || innermost.End != back {
			t.Errorf("at %d: %+v", inside, active)
		}
	}
	if calls == 0 {
		t.Error("no calls")
	}
	if move(0, "step-back") != 0 || move(7, "step") != 8 || move(20_000, "step") != 20_000 || move(20_000, "step-back") != 19_999 {
		t.Error("single steps")
	}
}

// TestWhole: what is counted over all of the trace.
func TestWhole(t *testing.T) {
	r := record(t, 20_000, true)
	functions := ask[wire.FunctionList](t, r, "functions")
	self, calls := uint64(0), map[string]uint64{}
	for _, f := range functions.Rows {
		self += f.Self
		calls[f.Function] = f.Calls
	}
	if functions.Total != 20_000 || self != 20_000 {
		t.Errorf("%d instructions, %d of functions", functions.Total, self)
	}
	if state := ask[wire.ReadingState](t, r, "reading"); state.Done != 1 || state.Error != "" || state.Depth < 2 {
		t.Errorf("%+v", state)
	}
	// On enough pixels each call is drawn by itself; on few they are drawn together, and none is lost.
	count := func(chart wire.CallChart) (byName map[string]uint64, all int) {
		byName = map[string]uint64{}
		for i, s := range chart.Slices {
			if s.Function >= 0 {
				byName[chart.Names[s.Function]] += uint64(s.Calls)
			}
			all += s.Calls
			if i > 0 && chart.Slices[i-1].Depth == s.Depth && chart.Slices[i-1].End > s.Begin {
				t.Errorf("%+v overlaps %+v", s, chart.Slices[i-1])
			}
		}
		return byName, all
	}
	fine, all := count(ask[wire.CallChart](t, r, "chart", "cpu=0", "from=0", "to=4000", "pixels=8000"))
	coarse := ask[wire.CallChart](t, r, "chart", "cpu=0", "from=0", "to=4000", "pixels=40")
	if _, n := count(coarse); n != all || len(coarse.Slices) >= all/2 {
		t.Errorf("%d calls in %d slices on few pixels, %d on many", n, len(coarse.Slices), all)
	}
	for name, n := range fine {
		if n > calls[name]+1 { // one was entered without a call
			t.Errorf("%s: %d slices, %d calls", name, n, calls[name])
		}
	}
	files := ask[wire.FileList](t, r, "files")
	if len(files.Rows) != 1 {
		t.Fatalf("%+v", files)
	}
	if here := ask[wire.CursorState](t, r, "cursor", "at=5000").Source; here == nil || here.File != files.Rows[0].Source {
		t.Errorf("the file at the cursor is %+v, that of the coverage %d", here, files.Rows[0].Source)
	}
	file := fmt.Sprintf("file=%d", files.Rows[0].Source)
	lines, source := ask[wire.LineCounts](t, r, "lines", file), ask[wire.SourceFile](t, r, "source", file)
	if len(lines.Lines) != files.Rows[0].Lines.All || strings.Join(source.Lines, "\n")+"\n" != generate.Source() {
		t.Errorf("%d lines; %+v", len(lines.Lines), source)
	}
	code := ask[wire.CodeListing](t, r, "code", "at=5000")
	here := 0
	for _, l := range code.Lines {
		if l.Address == fmt.Sprintf("0x%x", r.pcs[5000]) {
			here++
		}
		executions := uint64(0)
		for _, pc := range r.pcs {
			if fmt.Sprintf("0x%x", pc) == l.Address {
				executions++
			}
		}
		if l.Count == nil || *l.Count != executions || l.Source == nil || l.Branch && l.Taken+l.Past != executions {
			t.Errorf("%+v, executed %d times", l, executions)
		}
	}
	if here != 1 || code.Function == "" {
		t.Errorf("the instruction is %d times in %q", here, code.Function)
	}
}

// TestWithoutProgram: a trace alone has calls by their addresses, and code where it was executed.
func TestWithoutProgram(t *testing.T) {
	r := record(t, 3_000, false)
	if got := ask[wire.CodeListing](t, r, "code", "at=100"); len(got.Lines) != 1 || !got.Executed {
		t.Errorf("as long as the trace has not been read: %+v", got)
	}
	if list := ask[wire.FunctionList](t, r, "functions"); len(list.Rows) < 2 || list.Total != 3_000 {
		t.Errorf("%+v", list)
	}
	if got := ask[wire.CodeListing](t, r, "code", "at=100"); len(got.Lines) < 5 || got.Lines[0].Text == "" {
		t.Errorf("%+v", got)
	}
	if got := ask[wire.FileList](t, r, "files"); len(got.Rows) != 0 {
		t.Errorf("%+v", got)
	}
	if _, err := r.Answer(context.Background(), "source", values([]string{"file=0"})); err == nil {
		t.Error("a source file of no program")
	}
}

// TestStatic: a page of one file has the answers to all that is listed.
func TestStatic(t *testing.T) {
	r := record(t, 3_000, true)
	names := map[string]int{}
	for _, q := range r.Static() {
		names[q.Name]++
		if _, err := r.Answer(context.Background(), q.Name, q.Args); err != nil {
			t.Errorf("%s: %v", q.Key(), err)
		}
	}
	if names["source"] != 1 || names["lines"] != 1 || names["moments"] != 16 || names["chart"] != 1 {
		t.Errorf("%v", names)
	}
}

// TestInterrupted: a question that nobody waits for any more ends, and the reading goes on for the next.
func TestInterrupted(t *testing.T) {
	r := record(t, 3_000, true)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.Answer(ctx, "functions", nil); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	ask[wire.FunctionList](t, r, "functions")
}
