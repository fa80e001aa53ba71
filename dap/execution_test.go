package dap_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	protocol "github.com/google/go-dap"

	"tracewell/dap"
	"tracewell/itrace/generate"
)

// generated is an execution trace of the generator's program, with the program and its source, in a folder of its own.
func generated(t testing.TB, o generate.Options) (log, program, source string) {
	t.Helper()
	folder := t.TempDir()
	log, program, source = filepath.Join(folder, "run.log"), filepath.Join(folder, "prog"), filepath.Join(folder, "prog.c")
	write := func(path string, f func(*os.File) error) {
		file, err := os.Create(path)
		if err == nil {
			err = f(file)
		}
		if err == nil {
			err = file.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write(log, func(f *os.File) error {
		_, err := generate.Write(f, o)
		return err
	})
	write(program, func(f *os.File) error { return generate.WriteELF(f, source) })
	write(source, func(f *os.File) error {
		_, err := f.WriteString(generate.Source())
		return err
	})
	return log, program, source
}

// lineOf is the line of a source that has a text in it.
func lineOf(t testing.TB, source, text string) int {
	t.Helper()
	content, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(strings.Split(string(content), "\n"), func(line string) bool { return strings.Contains(line, text) })
	if i < 0 {
		t.Fatalf("%s has no %q", source, text)
	}
	return i + 1
}

// openExecution opens a generated trace.
func openExecution(t testing.TB, instructions int64) (c *client, source string) {
	t.Helper()
	log, program, source := generated(t, generate.Options{Instructions: instructions})
	c = connect(t, dap.Config{})
	c.open(map[string]any{"trace": log, "program": program})
	return c, source
}

// TestExecutionSteps steps through lines and instructions, in both directions.
func TestExecutionSteps(t *testing.T) {
	c, source := openExecution(t, 3000)
	shift := lineOf(t, source, "seed ^= seed << 13")
	if got := c.breakAt("/elsewhere/prog.c", protocol.SourceBreakpoint{Line: shift}); !got[0].Verified || got[0].Line != shift {
		t.Fatalf("%+v", got)
	}
	if at := c.move("continue"); at.Reason != "breakpoint" || len(at.HitBreakpointIds) != 1 {
		t.Errorf("%+v", at)
	}
	stack := c.stack()
	if len(stack) != 2 || stack[0].Name != "mix" || stack[1].Name != "start" || stack[0].Source.Path != source {
		t.Fatalf("%+v", stack)
	}
	first := c.threads()[0].Name
	seed := c.evaluate("seed")
	if c.evaluate("seed + 1 > seed") != "1" || c.evaluate("$pc") == "" {
		t.Error("C cannot be evaluated")
	}
	c.move("stepIn")
	if line := c.stack()[0].Line; line != shift+1 {
		t.Errorf("step to line %d, want %d", line, shift+1)
	}
	c.move("stepBack")
	if got := c.evaluate("seed"); c.stack()[0].Line != shift || got != seed || c.threads()[0].Name != first {
		t.Errorf("back at %s with seed %s, not %s", c.place(), got, seed)
	}
	c.move("stepOut")
	if got := c.stack(); len(got) != 1 || got[0].Name != "start" {
		t.Errorf("out to %+v", got)
	}
	behind := c.threads()[0].Name
	c.breakAt("/elsewhere/prog.c") // one in the function would end the step over its call
	c.move("stepBack", map[string]any{"threadId": 1, "granularity": "instruction"})
	for range 2 { // the call has a delay slot
		c.move("next", map[string]any{"threadId": 1, "granularity": "instruction"})
	}
	if got := c.threads()[0].Name; got != behind {
		t.Errorf("an instruction over a call leads to %s, not %s", got, behind)
	}
	c.move("stepBack", map[string]any{"threadId": 1, "granularity": "instruction"})
	c.move("stepIn", map[string]any{"threadId": 1, "granularity": "instruction"})
	if at := c.move("continue"); at.Description != "at the end of the trace" {
		t.Errorf("%+v", at)
	}
	if at := c.move("reverseContinue"); at.Description != "at the beginning of the trace" {
		t.Errorf("%+v", at)
	}
}

// TestExecutionLines steps over lines from the beginning to the end of a trace, and back: what is passed is the same, and no call is
// entered.
func TestExecutionLines(t *testing.T) {
	c, source := openExecution(t, 3000)
	var forwards, backwards []string
	for c.place() != "" {
		forwards = append(forwards, c.threads()[0].Name+" "+c.place())
		if at := c.move("next"); at.Description != "" {
			break
		}
	}
	if len(forwards) < 20 {
		t.Fatalf("%d lines in %s: %v", len(forwards), source, forwards)
	}
	for _, place := range forwards {
		if !strings.Contains(place, "start:") {
			t.Errorf("a step over calls leads to %s", place)
		}
	}
	for {
		at := c.move("stepBack")
		backwards = append(backwards, c.threads()[0].Name+" "+c.place())
		if at.Description != "" {
			break
		}
	}
	slices.Reverse(backwards)
	// Lines that begin in the middle of others, as a loop's condition does, are told apart in one direction only.
	missed := 0
	for _, place := range forwards[:len(forwards)-1] {
		if !slices.Contains(backwards, place) {
			missed++
		}
	}
	if missed > len(forwards)/10 {
		t.Errorf("%d of %d lines are not passed backwards:\n%v\n%v", missed, len(forwards), forwards, backwards)
	}
}

// TestExecutionWriters finds who writes a variable.
func TestExecutionWriters(t *testing.T) {
	log, program, source := generated(t, generate.Options{Instructions: 3000, Faults: []generate.Fault{fault(t, "interrupt@2000")}})
	c := connect(t, dap.Config{})
	c.open(map[string]any{"trace": log, "program": program})
	info := ask[*protocol.DataBreakpointInfoResponse](c, "dataBreakpointInfo", map[string]any{"name": "interrupts[0]"}).Body
	if info.DataId == nil || len(info.AccessTypes) != 3 {
		t.Fatalf("%+v", info)
	}
	none := ask[*protocol.DataBreakpointInfoResponse](c, "dataBreakpointInfo", map[string]any{"name": "nothing"}).Body
	if none.DataId != nil || none.Description == "" {
		t.Errorf("%+v", none)
	}
	set := ask[*protocol.SetDataBreakpointsResponse](c, "setDataBreakpoints", map[string]any{"breakpoints": []any{
		map[string]any{"dataId": info.DataId, "accessType": "write"}}}).Body.Breakpoints
	if !set[0].Verified {
		t.Fatalf("%+v", set)
	}
	at := c.move("continue")
	if at.Reason != "data breakpoint" || !strings.HasPrefix(c.place(), "handler:") || c.evaluate("interrupts[0]") != "1" {
		t.Errorf("%+v at %s, %s", at, c.place(), c.evaluate("interrupts[0]"))
	}
	reason := ask[*protocol.ExceptionInfoResponse](c, "exceptionInfo", map[string]any{"threadId": 1}).Body
	if reason.ExceptionId != "data breakpoint" {
		t.Errorf("%+v", reason)
	}
	// Backwards it stops where the write is undone.
	c.move("reverseContinue")
	if got := c.stack()[0]; got.Line != lineOf(t, source, "interrupts[0] = ++count") {
		t.Errorf("%+v", got)
	}
	if got := c.console("writers interrupts"); !strings.Contains(got, "handler") || !strings.Contains(got, "here") {
		t.Error(got)
	}
}

// fault reads a fault of the generator.
func fault(t testing.TB, text string) (f generate.Fault) {
	t.Helper()
	if err := f.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestExecutionConditions stops where conditions and counts hold, prints log points, and refuses what is none.
func TestExecutionConditions(t *testing.T) {
	c, source := openExecution(t, 3000)
	shift := lineOf(t, source, "seed ^= seed << 13")
	got := c.breakAt(source, protocol.SourceBreakpoint{Line: shift, HitCondition: "3"},
		protocol.SourceBreakpoint{Line: shift, LogMessage: "seed is {seed}"}, protocol.SourceBreakpoint{Line: shift, HitCondition: "x"},
		protocol.SourceBreakpoint{Line: shift, LogMessage: "{"}, protocol.SourceBreakpoint{Line: 100000})
	for i, verified := range []bool{true, true, false, false, false} {
		if got[i].Verified != verified || got[i].Message == "" != verified {
			t.Errorf("breakpoint %d: %+v", i, got[i])
		}
	}
	if at := c.move("continue"); !slices.Equal(at.HitBreakpointIds, []int{got[0].Id}) {
		t.Errorf("%+v", at)
	}
	var lines []string
	for _, m := range c.events {
		if e, ok := m.(*protocol.OutputEvent); ok && e.Body.Category == "stdout" {
			lines = append(lines, e.Body.Output)
		}
	}
	for range 3 - len(lines) {
		lines = append(lines, event[*protocol.OutputEvent](c).Body.Output)
	}
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "seed is ") || lines[2] != "seed is "+c.evaluate("seed")+"\n" {
		t.Errorf("%q, seed is %s", lines, c.evaluate("seed"))
	}
	seed := c.evaluate("seed")
	c.move("restart")
	c.breakAt(source, protocol.SourceBreakpoint{Line: shift, Condition: "seed == " + seed})
	if at := c.move("continue"); at.Reason != "breakpoint" || c.evaluate("seed") != seed {
		t.Errorf("%+v", at)
	}
}

// TestExecutionPlaces sets breakpoints at functions and instructions, goes to lines and positions, and lists instructions.
func TestExecutionPlaces(t *testing.T) {
	c, source := openExecution(t, 3000)
	set := ask[*protocol.SetFunctionBreakpointsResponse](c, "setFunctionBreakpoints", map[string]any{"breakpoints": []any{
		map[string]any{"name": "mix"}, map[string]any{"name": "none"}}}).Body.Breakpoints
	if !set[0].Verified || set[1].Verified || set[1].Message == "" {
		t.Errorf("%+v", set)
	}
	c.move("continue")
	top := c.stack()[0]
	if top.Name != "mix" {
		t.Errorf("%+v", top)
	}
	ask[*protocol.SetFunctionBreakpointsResponse](c, "setFunctionBreakpoints", map[string]any{"breakpoints": []any{}})
	at := ask[*protocol.SetInstructionBreakpointsResponse](c, "setInstructionBreakpoints", map[string]any{"breakpoints": []any{
		map[string]any{"instructionReference": top.InstructionPointerReference, "offset": 4},
		map[string]any{"instructionReference": "nowhere"}}}).Body.Breakpoints
	if !at[0].Verified || at[1].Verified {
		t.Errorf("%+v", at)
	}
	if e := c.move("continue"); !slices.Equal(e.HitBreakpointIds, []int{at[0].Id}) {
		t.Errorf("%+v", e)
	}
	targets := ask[*protocol.GotoTargetsResponse](c, "gotoTargets", map[string]any{"source": map[string]any{"path": source},
		"line": lineOf(t, source, "seed ^= seed << 13")}).Body.Targets
	if len(targets) < 2 {
		t.Fatalf("%+v", targets)
	}
	c.move("goto", map[string]any{"threadId": 1, "targetId": targets[0].Id})
	if !strings.HasPrefix(c.place(), "mix:") {
		t.Error(c.place())
	}
	if got := c.answer(c.send("evaluate", map[string]any{"expression": "goto end", "context": "repl"})); !got.GetResponse().Success {
		t.Errorf("%+v", got)
	}
	event[*protocol.StoppedEvent](c)
	if name := c.threads()[0].Name; !strings.Contains(name, "instruction 3000 of 3000") {
		t.Error(name)
	}
	for _, wrong := range []string{"goto nowhere", "writers nothing"} {
		if why := c.refused("evaluate", map[string]any{"expression": wrong, "context": "repl"}); why == "" {
			t.Errorf("%s: no reason", wrong)
		}
	}
	list := ask[*framesResponse](c, "tracewell/frames", map[string]any{"start": 2990}).Body
	if list.Total != 3000 || len(list.Frames) != 10 || list.Frames[9].Frame != 2999 {
		t.Errorf("%+v", list)
	}
	some := ask[*framesResponse](c, "tracewell/frames", map[string]any{"count": 2, "where": "$sp == 0x7fe8"}).Body
	if len(some.Frames) != 2 || some.Next == 0 {
		t.Errorf("%+v", some)
	}
	frames := c.scopes(c.stack()[0].Id)["Frames"]
	page := c.unfold(frames.VariablesReference, 1000, 5)
	if frames.IndexedVariables != 3000 || len(page) != 5 || page[0].Name != "[1000]" {
		t.Errorf("%+v, %+v", frames, page)
	}
}

// TestExecutionCode disassembles and reads memory.
func TestExecutionCode(t *testing.T) {
	c, source := openExecution(t, 3000)
	c.breakAt(source, protocol.SourceBreakpoint{Line: lineOf(t, source, "seed ^= seed << 13")})
	c.move("continue")
	pc := c.stack()[0].InstructionPointerReference
	code := ask[*protocol.DisassembleResponse](c, "disassemble", map[string]any{"memoryReference": pc, "instructionOffset": -2,
		"instructionCount": 4}).Body.Instructions
	if len(code) != 4 || code[2].Address != pc || code[0].Symbol != "mix" || code[0].InstructionBytes == "" || code[0].Line == 0 {
		t.Errorf("%+v", code)
	}
	nothing := ask[*protocol.DisassembleResponse](c, "disassemble", map[string]any{"memoryReference": "0x10", "instructionOffset": -5,
		"instructionCount": 8}).Body.Instructions
	if len(nothing) != 8 {
		t.Errorf("%+v", nothing)
	}
	memory := ask[*protocol.ReadMemoryResponse](c, "readMemory", map[string]any{"memoryReference": pc, "count": 8}).Body
	if b, err := base64.StdEncoding.DecodeString(memory.Data); err != nil || len(b) != 8 || memory.UnreadableBytes != 0 {
		t.Errorf("%+v", memory)
	}
	unknown := ask[*protocol.ReadMemoryResponse](c, "readMemory", map[string]any{"memoryReference": "0x99990000", "count": 8}).Body
	if unknown.Data != "" || unknown.UnreadableBytes != 8 {
		t.Errorf("%+v", unknown)
	}
	for _, wrong := range []map[string]any{{"memoryReference": "x", "count": 1}, {"memoryReference": "0", "count": -1},
		{"memoryReference": "0", "count": 1 << 40}} {
		c.refused("readMemory", wrong)
	}
	c.refused("disassemble", map[string]any{"memoryReference": "0", "instructionCount": 1 << 30})
	registers := c.scopes(c.stack()[0].Id)["Registers"]
	if v := c.variable(registers.VariablesReference, "$r1"); v.Value != "<unavailable>" {
		t.Errorf("a register that was never written: %+v", v)
	}
	text := ask[*protocol.SourceResponse](c, "source", map[string]any{"source": map[string]any{"path": source}}).Body.Content
	if text != generate.Source() {
		t.Errorf("%.100q", text)
	}
	c.refused("source", map[string]any{"source": map[string]any{"path": "/etc/passwd"}})
	if list := ask[*protocol.LoadedSourcesResponse](c, "loadedSources", nil).Body.Sources; len(list) != 1 || list[0].Path != source {
		t.Errorf("%+v", list)
	}
	if list := ask[*protocol.ModulesResponse](c, "modules", nil).Body.Modules; len(list) != 1 || list[0].Name != "prog" {
		t.Errorf("%+v", list)
	}
	lines := ask[*protocol.BreakpointLocationsResponse](c, "breakpointLocations", map[string]any{
		"source": map[string]any{"path": source}, "line": 1, "endLine": 100}).Body.Breakpoints
	if len(lines) < 10 {
		t.Errorf("%+v", lines)
	}
}

// TestExecutionBare opens a trace without its program: registers and instructions are there, lines are not.
func TestExecutionBare(t *testing.T) {
	log, _, _ := generated(t, generate.Options{Instructions: 1000})
	c := connect(t, dap.Config{})
	c.open(map[string]any{"trace": log})
	c.move("next")
	if got := c.evaluate("$pc + 4"); got != "2147516424" {
		t.Error(got)
	}
	if got := c.breakAt("/x/prog.c", protocol.SourceBreakpoint{Line: 3}); got[0].Verified || got[0].Message == "" {
		t.Errorf("%+v", got)
	}
	code := ask[*protocol.DisassembleResponse](c, "disassemble", map[string]any{
		"memoryReference": c.stack()[0].InstructionPointerReference, "instructionCount": 1}).Body.Instructions
	if code[0].Instruction == "" {
		t.Errorf("%+v", code)
	}
	c.leave(nil)
}

// TestStale uses numbers of a stack that is gone: they are errors, never another thing.
func TestStale(t *testing.T) {
	c, _ := openExecution(t, 1000)
	call := c.stack()[0].Id
	scope := c.scopes(call)["Registers"].VariablesReference
	c.move("next")
	c.refused("scopes", map[string]any{"frameId": call})
	c.refused("variables", map[string]any{"variablesReference": scope})
	c.refused("evaluate", map[string]any{"expression": "1", "frameId": call})
	c.refused("stackTrace", map[string]any{"threadId": 99})
}

// TestZeroBased numbers lines from 0, as the client wants it.
func TestZeroBased(t *testing.T) {
	log, program, source := generated(t, generate.Options{Instructions: 3000})
	c := connect(t, dap.Config{})
	ask[*protocol.InitializeResponse](c, "initialize", map[string]any{"linesStartAt1": false})
	ask[*protocol.LaunchResponse](c, "launch", map[string]any{"trace": log, "program": program, "stopOnEntry": false})
	event[*protocol.InitializedEvent](c)
	line := lineOf(t, source, "seed ^= seed << 13") - 1
	if got := c.breakAt(source, protocol.SourceBreakpoint{Line: line}); got[0].Line != line {
		t.Errorf("%+v", got)
	}
	ask[*protocol.ConfigurationDoneResponse](c, "configurationDone", nil)
	event[*protocol.StoppedEvent](c)
	if got := c.stack()[0].Line; got != line {
		t.Errorf("line %d, want %d", got, line)
	}
}

// TestCancel ends a search that finds nothing for long, and a request that waits.
func TestCancel(t *testing.T) {
	c, source := openExecution(t, 200000)
	shift := lineOf(t, source, "seed ^= seed << 13")
	c.breakAt(source, protocol.SourceBreakpoint{Line: shift, Condition: "seed == 1"})
	c.answer(c.send("continue", map[string]any{"threadId": 1}))
	pause := c.send("pause", map[string]any{"threadId": 1})
	waits := c.send("threads", nil)
	cancel := c.send("cancel", map[string]any{"requestId": waits})
	answered := make(map[int]protocol.ResponseMessage)
	stopped := 0
	for len(answered) < 3 || stopped == 0 {
		switch m := c.next().(type) {
		case *protocol.StoppedEvent:
			stopped++
		case protocol.ResponseMessage:
			answered[m.GetResponse().RequestSeq] = m
		}
	}
	// The search may have ended before: then pause and threads were served as usual.
	if !answered[pause].GetResponse().Success || !answered[cancel].GetResponse().Success {
		t.Errorf("%+v", answered)
	}
	if r := answered[waits].GetResponse(); !r.Success && r.Message != "cancelled" {
		t.Errorf("%+v", r)
	}
}
