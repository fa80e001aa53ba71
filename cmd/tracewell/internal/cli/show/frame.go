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
	"tracewell/trace"
	"tracewell/view"
)

// writeFrame prints all of one frame: its definition, then what was collected by name, registers, memory and variables, as GDB's
// tdump does. A section without content is left out with its heading. Errors of out are kept by it, so only the last write is
// checked.
func writeFrame(out *console.Output, v *view.View, reader *view.Reader, frame view.Frame) error {
	reader.Set(frame)
	fmt.Fprintln(out, out.Style.Heading(frameTitle(v, frame)))
	if t := v.Definition(frame); t != nil {
		fmt.Fprintln(out)
		printing.WriteDefinition(out, v, t)
	}
	// The order is that of interest, not that of the blocks in the frame: named values first, raw memory near the end.
	writeCollected(out, v, reader)
	writeBacktrace(out, reader)
	writeRegisters(out, v, frame)
	writeMemory(out, v, frame)
	writeVariables(out, v, frame)
	if frame.Damaged != nil {
		fmt.Fprintf(out, "\nThe rest cannot be read: %v\n", frame.Damaged)
	}
	_, err := out.Write(nil) // returns the first error of the writes above
	return err
}

// frameTitle is the heading of a frame: "Frame 7 of tracepoint 2 at 0x401131 <push+4>, after a step". A frame need not hold the pc.
func frameTitle(v *view.View, frame view.Frame) string {
	title := fmt.Sprintf("Frame %d of tracepoint %d", frame.Number, frame.Tracepoint())
	if frame.HasPC {
		title += " at " + string(printing.AppendCode(nil, v, frame.PC))
	}
	if v.Stepped(frame) {
		title += ", after a step"
	}
	return title
}

// registerNameWidth is the width of names in GDB's "info registers", whose lines users and scripts compare with these.
const registerNameWidth = 15

// writeRegisters prints registers as GDB's "info registers" does, pointers to code with their symbols. A frame of record holds
// only the beginning of the g packet up to the last register that was asked for; registers behind it share a line. Without a
// target description the layout of the block is not known, and its bytes are dumped.
func writeRegisters(out *console.Output, v *view.View, frame view.Frame) {
	block := frame.Registers()
	if block == nil {
		return
	}
	fmt.Fprintln(out, "\n"+out.Style.Heading("Registers"))
	if v.Layout == nil {
		out.Write(text.AppendHexDump(nil, "", 0, block))
		return
	}
	order := v.Content.Header().Order
	var lacking []string
	for _, slot := range v.Registers() {
		// A register that was asked for and is missing has its line, with what Format prints for it.
		if _, has := slot.Bytes(block); !has && !v.AsksFor(frame, slot) {
			lacking = append(lacking, text.Visible(slot.Reg.Name))
			continue
		}
		value := slot.Format(block, order)
		if slot.Reg.Type == "code_ptr" {
			value += codeSymbol(v, slot, block)
		}
		fmt.Fprintf(out, "%-*s%s\n", registerNameWidth, text.Visible(slot.Reg.Name), value)
	}
	if len(lacking) > 0 {
		fmt.Fprintf(out, "%s\n", lackingText(lacking))
	}
}

// namedLacking is how many of the registers that a frame lacks are named: with AVX-512 there are more than a hundred.
const namedLacking = 4

// lackingText is "eflags, cs, ss, ds and 128 more were not asked for".
func lackingText(names []string) string {
	if more := len(names) - namedLacking; more > 0 {
		return fmt.Sprintf("%s and %d more were not asked for", strings.Join(names[:namedLacking], ", "), more)
	}
	return strings.Join(names, ", ") + " were not asked for"
}

// codeSymbol is what GDB prints behind a pointer to code: " <push+95>". Which registers are pointers to code the target description
// says, by the type "code_ptr": rip on x86-64, pc on AArch64.
func codeSymbol(v *view.View, slot *tdesc.Slot, block []byte) string {
	b, ok := slot.Bytes(block)
	if !ok {
		return ""
	}
	n, _ := v.Integer(b)
	return addressSymbol(v, n)
}

// addressSymbol is the symbol of an address as GDB prints it behind a value, or empty without symbols.
func addressSymbol(v *view.View, n uint64) string {
	if name := v.Describe(arch.Addr(n)); name != "" {
		return " <" + text.Visible(name) + ">"
	}
	return ""
}

// writeCollected prints what was collected by its name, besides registers and variables, as GDB's tdump does.
func writeCollected(out *console.Output, v *view.View, reader *view.Reader) {
	var line []byte
	heading := false
	values := printing.NewValuePrinter(v)
	for _, item := range reader.Items() {
		if !item.InMemory() {
			continue
		}
		// A frame need not hold all that its tracepoint collects: memory that could not be read is missing, and so is its line.
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

// writeMemory dumps the blocks of a frame. Blocks that writeCollected has printed by name are dumped again, since the name may be
// of a part of them only. A block of no bytes, as from a string at an unreadable address, has no dump.
func writeMemory(out *console.Output, v *view.View, frame view.Frame) {
	heading := false
	for block := range frame.Blocks() {
		dump := printing.AppendBlock(nil, v, "", block)
		if dump != nil && !heading {
			heading = true
			fmt.Fprintln(out, "\n"+out.Style.Heading("Memory"))
		}
		out.Write(dump)
	}
}

// writeVariables prints trace state variables, signed as GDB does, and $trace_timestamp also as a date where it can be one. It is
// in microseconds: Tracewell counts them from 1970, gdbserver by a monotonic clock. A value that is no time between 2000 and 2200
// is left as the number that it is.
func writeVariables(out *console.Output, v *view.View, frame view.Frame) {
	for i, variable := range view.AppendVariables(nil, frame) {
		if i == 0 {
			fmt.Fprintln(out, "\n"+out.Style.Heading("Variables"))
		}
		fmt.Fprintf(out, "$%s = %d", text.Visible(v.VariableName(variable.Number)), variable.Value)
		if v.IsTimestamp(variable.Number) && printing.IsUnixTime(variable.Value) {
			fmt.Fprintf(out, " (%s)", time.UnixMicro(variable.Value).Format("2006-01-02 "+printing.ClockFormat+" MST"))
		}
		if name, ok := v.Comm(frame); ok && variable.Number == int32(trace.ThreadID) {
			fmt.Fprintf(out, " (%s)", text.Visible(name))
		}
		fmt.Fprintln(out)
	}
}
