package show

import (
	"fmt"
	"strings"
	"time"

	"tracewell/arch"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/printing"
	"tracewell/internal/text"
	"tracewell/tdesc"
	frameview "tracewell/view"
)

// writeFrame prints all of one frame.
func writeFrame(out *console.Output, view *frameview.View, reader *frameview.Reader, frame frameview.Frame) error {
	reader.Set(frame)
	fmt.Fprintln(out, out.Style.Heading(frameTitle(view, frame)))
	if t := view.Definition(frame); t != nil {
		fmt.Fprintln(out)
		printing.WriteDefinition(out, view, t)
	}
	writeCollected(out, view, reader)
	writeRegisters(out, view, frame)
	writeMemory(out, view, frame)
	writeVariables(out, view, frame)
	if frame.Damaged != nil {
		fmt.Fprintf(out, "\nThe rest cannot be read: %v\n", frame.Damaged)
	}
	_, err := out.Write(nil) // of all that was printed
	return err
}

// frameTitle says what frame it is.
func frameTitle(view *frameview.View, frame frameview.Frame) string {
	title := fmt.Sprintf("Frame %d of tracepoint %d", frame.Number, frame.Tracepoint())
	if frame.HasPC {
		title += " at " + string(printing.AppendCode(nil, view, frame.PC))
	}
	if view.Stepped(frame) {
		title += ", after a step"
	}
	return title
}

// registerNameWidth is the width of names in GDB's info registers.
const registerNameWidth = 15

// writeRegisters prints registers as GDB's info registers does, the pointers to code with their symbols.
// Those that the frame lacks, and that nobody has asked for, share a line.
func writeRegisters(out *console.Output, view *frameview.View, frame frameview.Frame) {
	block := frame.Registers()
	if block == nil {
		return
	}
	fmt.Fprintln(out, "\n"+out.Style.Heading("Registers"))
	if view.Layout == nil {
		out.Write(text.AppendHexDump(nil, "", 0, block))
		return
	}
	order := view.Content.Header().Order
	var lacking []string
	for _, slot := range view.Registers() {
		if _, has := slot.Bytes(block); !has && !view.AsksFor(frame, slot) {
			lacking = append(lacking, text.Visible(slot.Reg.Name))
			continue
		}
		value := slot.Format(block, order)
		if slot.Reg.Type == "code_ptr" {
			value += codeSymbol(view, slot, block)
		}
		fmt.Fprintf(out, "%-*s%s\n", registerNameWidth, text.Visible(slot.Reg.Name), value)
	}
	if len(lacking) > 0 {
		fmt.Fprintf(out, "%s\n", lackingText(lacking))
	}
}

// namedLacking is how many of the registers that a frame lacks are named.
const namedLacking = 4

// lackingText is "eflags, cs, ss, ds and 128 more were not asked for".
func lackingText(names []string) string {
	if more := len(names) - namedLacking; more > 0 {
		return fmt.Sprintf("%s and %d more were not asked for", strings.Join(names[:namedLacking], ", "), more)
	}
	return strings.Join(names, ", ") + " were not asked for"
}

// codeSymbol is what GDB prints behind a pointer to code: " <push+95>".
func codeSymbol(view *frameview.View, slot *tdesc.Slot, block []byte) string {
	b, ok := slot.Bytes(block)
	if !ok {
		return ""
	}
	n, _ := view.Integer(b)
	return addressSymbol(view, n)
}

func addressSymbol(view *frameview.View, n uint64) string {
	if name := view.Describe(arch.Addr(n)); name != "" {
		return " <" + text.Visible(name) + ">"
	}
	return ""
}

// writeCollected prints what was collected by its name, besides registers and variables, as GDB's tdump does.
func writeCollected(out *console.Output, view *frameview.View, reader *frameview.Reader) {
	var line []byte
	heading := false
	values := printing.NewValuePrinter(view)
	for _, item := range reader.Items() {
		if !item.InMemory() {
			continue
		}
		var ok bool
		line = append(append(line[:0], text.Visible(item.Name)...), " = "...)
		if line, ok = values.AppendWhole(line, reader, item); !ok {
			continue
		}
		if !heading {
			heading = true
			fmt.Fprintln(out, "\n"+out.Style.Heading("Collected"))
		}
		out.Write(append(line, '\n'))
	}
}

func writeMemory(out *console.Output, view *frameview.View, frame frameview.Frame) {
	heading := false
	for block := range frame.Blocks() {
		dump := printing.AppendBlock(nil, view, "", block)
		if dump != nil && !heading {
			heading = true
			fmt.Fprintln(out, "\n"+out.Style.Heading("Memory"))
		}
		out.Write(dump)
	}
}

func writeVariables(out *console.Output, view *frameview.View, frame frameview.Frame) {
	for i, variable := range frameview.AppendVariables(nil, frame) {
		if i == 0 {
			fmt.Fprintln(out, "\n"+out.Style.Heading("Variables"))
		}
		fmt.Fprintf(out, "$%s = %d", text.Visible(view.VariableName(variable.Number)), variable.Value)
		if view.IsTimestamp(variable.Number) && printing.IsUnixTime(variable.Value) {
			fmt.Fprintf(out, " (%s)", time.UnixMicro(variable.Value).Format("2006-01-02 "+printing.ClockFormat+" MST"))
		}
		fmt.Fprintln(out)
	}
}
