package cli

import (
	"encoding/hex"
	"fmt"
	"strings"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/internal/text"
	"tracewell/trace"
	frameview "tracewell/view"
)

// writeDefinition prints what a tracepoint is and does.
func writeDefinition(out *output, view *frameview.View, t *trace.Tracepoint) {
	title := fmt.Sprintf("Tracepoint %d at %s", t.Number, appendAddress(nil, view, t.Addr))
	if t.Source.At != "" {
		title += ", " + text.Visible(t.Source.At)
	}
	fmt.Fprintln(out, out.style.Heading(title+kind(t)))
	if t.Condition != nil || t.Source.Cond != "" {
		property(out, "condition", text.Visible(t.Source.Cond))
		property(out, "", out.style.Faint(disassembly(t.Condition)))
	}
	for _, command := range commandLines(t.Source.Commands) {
		property(out, "action", text.Visible(command))
	}
	for _, action := range t.Actions {
		property(out, "collects", out.style.Faint(actionText(view, action)))
	}
	if t.Step > 0 {
		property(out, "steps", fmt.Sprint(t.Step))
	}
	for _, action := range t.StepActions {
		property(out, "at a step", out.style.Faint(actionText(view, action)))
	}
	if t.Pass > 0 {
		property(out, "pass count", fmt.Sprint(t.Pass))
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

// property prints a line of a definition; one without a value is left out.
func property(out *output, name, value string) {
	if value != "" {
		fmt.Fprintf(out, "  %-12s%s\n", name, value)
	}
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
