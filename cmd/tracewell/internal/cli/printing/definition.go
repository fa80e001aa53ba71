package printing

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/internal/frameview"
	"tracewell/internal/text"
	"tracewell/trace"
)

// WriteDefinition prints what a tracepoint is and does.
func WriteDefinition(out *console.Output, view *frameview.View, t *trace.Tracepoint) {
	title := fmt.Sprintf("Tracepoint %d at %s", t.Number, AppendAddress(nil, view, t.Addr))
	if t.Source.At != "" {
		title += ", " + text.Visible(t.Source.At)
	}
	fmt.Fprintln(out, out.Style.Heading(title+kind(t)))
	if t.Condition != nil || t.Source.Cond != "" {
		console.Property(out, "condition", text.Visible(t.Source.Cond))
		console.Property(out, "", out.Style.Faint(disassembly(t.Condition)))
	}
	for _, command := range commandLines(t.Source.Commands) {
		console.Property(out, "action", text.Visible(command))
	}
	for _, action := range t.Actions {
		console.Property(out, "collects", out.Style.Faint(actionText(view, action)))
	}
	if t.Step > 0 {
		console.Property(out, "steps", fmt.Sprint(t.Step))
	}
	for _, action := range t.StepActions {
		console.Property(out, "at a step", out.Style.Faint(actionText(view, action)))
	}
	if t.Pass > 0 {
		console.Property(out, "pass count", fmt.Sprint(t.Pass))
	}
}

// kind is what makes a tracepoint other than most.
func kind(t *trace.Tracepoint) string {
	var words string
	if t.Fast {
		words += ", fast"
	}
	if t.Static {
		words += ", static"
	}
	if !t.Enabled {
		words += ", disabled"
	}
	return words
}

// commandLines indents the body of while-stepping, as GDB lists commands.
func commandLines(commands []string) []string {
	var lines []string
	indent := ""
	for _, command := range commands {
		if command == "end" {
			indent = ""
		}
		lines = append(lines, indent+command)
		if word, _, _ := strings.Cut(command, " "); word == "while-stepping" || word == "stepping" || word == "ws" {
			indent = "  "
		}
	}
	return lines
}

// actionText says what an action collects.
func actionText(view *frameview.View, a trace.Action) string {
	switch a.Kind {
	case trace.CollectRegisters:
		return registersText(view, a)
	case trace.CollectMemory:
		return text.Plural(a.Length, "byte") + " at " + baseText(view, a)
	case trace.CollectExpression:
		return "expression " + disassembly(a.Code)
	case trace.CollectStatic:
		return "data of the static marker"
	}
	return a.String()
}

// listedRegisters is how many registers are listed by name.
const listedRegisters = 8

func registersText(view *frameview.View, a trace.Action) string {
	numbers := a.Registers()
	if len(numbers) > listedRegisters {
		return text.Plural(len(numbers), "register")
	}
	if len(numbers) == 0 {
		return "no register"
	}
	var names []string
	for _, n := range numbers {
		names = append(names, registerName(view, n))
	}
	return strings.Join(names, ", ")
}

func registerName(view *frameview.View, n arch.Reg) string {
	if view.Layout != nil {
		if slot := view.Layout.ByNumber(n); slot != nil {
			return text.Visible(slot.Reg.Name)
		}
	}
	return fmt.Sprintf("register %d", n)
}

// baseText is the place of an M action: an address, or a register and an offset, which counts as signed.
func baseText(view *frameview.View, a trace.Action) string {
	if a.Base == trace.Absolute {
		return fmt.Sprintf("0x%x", a.Offset)
	}
	name := registerName(view, a.Base)
	if a.Offset == 0 {
		return name
	}
	return fmt.Sprintf("%s%+d", name, int64(a.Offset))
}

// disassembly gives an agent expression on one line, and bytecode that is none in hexadecimal with the reason.
func disassembly(code []byte) string {
	if code == nil {
		return ""
	}
	program, err := ax.Decode(code)
	if err != nil {
		return fmt.Sprintf("%s (%v)", hex.EncodeToString(code), err)
	}
	labels := jumpTargets(program)
	var b strings.Builder
	for in := range program.Instructions() {
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		if labels[in.Offset] {
			fmt.Fprintf(&b, "%d: ", in.Offset)
		}
		b.WriteString(in.String())
	}
	return b.String()
}

// jumpTargets are the offsets that a program jumps to.
func jumpTargets(program *ax.Program) map[int]bool {
	targets := make(map[int]bool)
	for in := range program.Instructions() {
		if in.Op == ax.OpGoto || in.Op == ax.OpIfGoto {
			targets[int(in.Operand)] = true
		}
	}
	return targets
}

// ByNumber returns the tracepoints in the order of their numbers and addresses; files have them the other way round for
// GDB's sake.
func ByNumber(tracepoints []trace.Tracepoint) []trace.Tracepoint {
	return slices.SortedStableFunc(slices.Values(tracepoints), func(a, b trace.Tracepoint) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Addr, b.Addr))
	})
}

// WriteTracepoints prints the definitions of a file, with the hits that the run counted and the frames that the file has of each.
func WriteTracepoints(out *console.Output, t *input.TraceFile) {
	frames := t.FramesByTracepoint()
	for _, tracepoint := range ByNumber(t.View.File.Header().Tracepoints) {
		fmt.Fprintln(out)
		WriteDefinition(out, t.View, &tracepoint)
		console.Property(out, "hits", fmt.Sprintf("%d, %s of the trace buffer", tracepoint.Hits, text.Plural(tracepoint.Usage, "byte")))
		console.Property(out, "frames", fmt.Sprintf("%d in this file", frames[tracepoint.Number]))
		delete(frames, tracepoint.Number)
	}
	var others []string
	for number, count := range frames {
		others = append(others, fmt.Sprintf("%d (%s)", number, text.Plural(count, "frame")))
	}
	if len(others) > 0 {
		slices.Sort(others)
		fmt.Fprintf(out, "\nFrames of tracepoints that the file does not define: %s\n", strings.Join(others, ", "))
	}
}

// WriteVariableDefinitions prints trace state variables and what they were at first.
func WriteVariableDefinitions(out *console.Output, variables []trace.Variable) {
	if len(variables) == 0 {
		return
	}
	fmt.Fprintln(out, "\n"+out.Style.Heading("Trace state variables"))
	for _, v := range variables {
		builtin := ""
		if v.Builtin {
			builtin = ", built in"
		}
		fmt.Fprintf(out, "$%-16s%d initially%s\n", text.Visible(v.Name), v.Initial, builtin)
	}
}
