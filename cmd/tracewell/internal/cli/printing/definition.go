package printing

import (
	"fmt"
	"slices"
	"strings"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/internal/text"
	"tracewell/trace"
	"tracewell/view"
)

// WriteDefinition prints what a tracepoint is and does: first what the user typed (location, condition, actions), then faintly
// what GDB or record compiled of it (bytecode, registers, memory ranges). Both are in the file, and the second is what the target
// executes; a file of another stub may have the second alone. Properties without a value are left out.
func WriteDefinition(out *console.Output, v *view.View, t *trace.Tracepoint) {
	title := fmt.Sprintf("Tracepoint %d at %s", t.Number, AppendAddress(nil, v, t.Addr))
	if t.Source.At != "" {
		title += ", " + text.Visible(t.Source.At)
	}
	fmt.Fprintln(out, out.Style.Heading(title+kind(t)))
	if t.Condition != nil || t.Source.Cond != "" {
		console.Property(out, "condition", text.Visible(t.Source.Cond))
		// GDB's condition as text and the bytecode that the target executes; either may be alone in a file.
		console.Property(out, "", out.Style.Faint(view.Disassembly(t.Condition)))
	}
	for _, command := range commandLines(t.Source.Commands) {
		console.Property(out, "action", text.Visible(command))
	}
	for _, action := range t.Actions {
		console.Property(out, "collects", out.Style.Faint(v.ActionText(action)))
	}
	if t.Step > 0 {
		console.Property(out, "steps", fmt.Sprint(t.Step))
	}
	for _, action := range t.StepActions {
		console.Property(out, "at a step", out.Style.Faint(v.ActionText(action)))
	}
	if t.Pass > 0 {
		console.Property(out, "pass count", fmt.Sprint(t.Pass))
	}
}

// kind is what makes a tracepoint other than most: fast is GDB's ftrace, which jumps instead of trapping; static is strace, at a
// marker that was compiled into the program. Both say what GDB asked for.
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

// commandLines indents the body of while-stepping, as GDB lists commands. GDB has two other names for it, stepping and ws; the body
// ends with "end" and cannot contain another one.
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

// WriteTracepoints prints the definitions of a file, with the hits that the run counted and the frames that the file has of each.
func WriteTracepoints(out *console.Output, t *input.TraceFile) {
	// Hits and frames differ with while-stepping, when the buffer was full or circular, and in a file that convert has cut.
	frames := t.View.FramesByTracepoint()
	for _, tracepoint := range view.ByNumber(t.View.File.Header().Tracepoints) {
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
	// A file from which definitions are lost still has the numbers in its frames.
	if len(others) > 0 {
		slices.Sort(others)
		fmt.Fprintf(out, "\nFrames of tracepoints that the file does not define: %s\n", strings.Join(others, ", "))
	}
}

// WriteVariableDefinitions prints trace state variables and what they were at first, as their definitions say; a file holds
// values only in the frames that collected them. Built in is $trace_timestamp, which the target computes at each access.
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
