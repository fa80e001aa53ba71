package cli

import (
	"fmt"

	"tracewell/arch"
	"tracewell/internal/frameview"
	"tracewell/internal/text"
	"tracewell/tdesc"
	"tracewell/tfile"
)

// writeFrame prints all of one frame.
func writeFrame(out *output, view *frameview.View, frame frameview.Frame) {
	title := fmt.Sprintf("Frame %d of tracepoint %d", frame.Number, frame.Tracepoint())
	if frame.HasPC {
		title += " at " + string(appendAddress(nil, view, frame.PC))
	}
	if view.Stepped(frame) {
		title += ", after a step"
	}
	fmt.Fprintln(out, out.style.Heading(title))
	if t := view.Definition(frame); t != nil {
		fmt.Fprintln(out)
		writeDefinition(out, view, t)
	}
	writeRegisters(out, view, frame.Registers())
	writeMemory(out, view, frame)
	writeVariables(out, view, frame)
	if frame.Damaged != nil {
		fmt.Fprintf(out, "\nThe rest cannot be read: %v\n", frame.Damaged)
	}
}

// registerNameWidth is the width of names in GDB's info registers.
const registerNameWidth = 15

// writeRegisters prints registers as GDB's info registers does, the pointers to code with their symbols.
func writeRegisters(out *output, view *frameview.View, block []byte) {
	if block == nil {
		return
	}
	fmt.Fprintln(out, "\n"+out.style.Heading("Registers"))
	if view.Layout == nil {
		out.Write(text.AppendHexDump(nil, "", 0, block))
		return
	}
	order := view.File.Header().Order
	for _, slot := range view.Registers() {
		value := slot.Format(block, order)
		if slot.Reg.Type == "code_ptr" {
			value += codeSymbol(view, slot, block)
		}
		fmt.Fprintf(out, "%-*s%s\n", registerNameWidth, text.Visible(slot.Reg.Name), value)
	}
}

// codeSymbol is what GDB prints behind a pointer to code: " <push+95>".
func codeSymbol(view *frameview.View, slot *tdesc.Slot, block []byte) string {
	b, ok := slot.Bytes(block)
	if !ok {
		return ""
	}
	n, _ := view.Integer(b)
	if name := view.Describe(arch.Addr(n)); name != "" {
		return " <" + text.Visible(name) + ">"
	}
	return ""
}

func writeMemory(out *output, view *frameview.View, frame frameview.Frame) {
	any := false
	for block := range frame.Blocks() {
		if block.Kind != tfile.BlockMemory && block.Kind != tfile.BlockStatic {
			continue
		}
		if !any {
			fmt.Fprintln(out, "\n"+out.style.Heading("Memory"))
			any = true
		}
		if block.Kind == tfile.BlockStatic {
			fmt.Fprintf(out, "data of a static tracepoint, %s\n", plural(len(block.Bytes), "byte"))
		} else {
			fmt.Fprintf(out, "%s, %s", appendAddress(nil, view, block.Addr), plural(len(block.Bytes), "byte"))
			if n, ok := view.Integer(block.Bytes); ok {
				fmt.Fprintf(out, ": %d, %s", n, appendAddress(nil, view, arch.Addr(n)))
			}
			fmt.Fprintln(out)
		}
		out.Write(text.AppendHexDump(nil, "  ", block.Addr, block.Bytes))
	}
}

func writeVariables(out *output, view *frameview.View, frame frameview.Frame) {
	for i, variable := range frameview.AppendVariables(nil, frame) {
		if i == 0 {
			fmt.Fprintln(out, "\n"+out.style.Heading("Variables"))
		}
		fmt.Fprintf(out, "$%s = %d\n", text.Visible(view.VariableName(variable.Number)), variable.Value)
	}
}

// plural counts things: "1 byte", "2 bytes".
func plural[N int | int64 | uint64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
