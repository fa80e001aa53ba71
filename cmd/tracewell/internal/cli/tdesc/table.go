package tdesc

import (
	"fmt"
	"strconv"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/text"
	"tracewell/tdesc"
)

// row adds a row to a table. The texts come from a document, which may come from a stub, so they are made visible: no name of a
// register may command the terminal.
func row(table *text.Table, texts ...string) error {
	var cells [][]byte
	for _, t := range texts {
		cells = append(cells, []byte(text.Visible(t)))
	}
	return table.Row(cells)
}

// writeLayout prints a line for each register in the order of the g packet. Offsets and sizes are in bytes.
func writeLayout(out *console.Output, layout *tdesc.Layout) error {
	table := text.NewTable(out, out.Width, out.Style, text.Column{Title: "offset", Right: true},
		text.Column{Title: "size", Right: true}, text.Column{Title: "number", Right: true}, text.Column{Title: "register"},
		text.Column{Title: "type"}, text.Column{Title: "feature"})
	// The number is how p, P and the masks of tracepoint actions name the register; GDB's own number may be another.
	for i := range layout.Slots {
		s := &layout.Slots[i]
		if err := row(table, strconv.Itoa(s.Offset), strconv.Itoa(s.Size), fmt.Sprint(s.Reg.Num), s.Reg.Name, s.Reg.Type,
			s.Feature.Name); err != nil {
			return err
		}
	}
	return table.Flush()
}

// writeDescription prints a description as a header and a table of its registers, in the order of the document. "saved" is the
// attribute save-restore: whether GDB restores the register after a call that it makes in the program.
func writeDescription(out *console.Output, t *tdesc.Target) error {
	console.Entry(out, "architecture", "%s", console.OrUnknown(text.Visible(t.Architecture)))
	console.Entry(out, "OS ABI", "%s", console.OrUnknown(text.Visible(t.OSABI)))
	for _, c := range t.Compatible {
		console.Entry(out, "compatible with", "%s", text.Visible(c))
	}
	fmt.Fprintln(out)
	table := text.NewTable(out, out.Width, out.Style, text.Column{Title: "number", Right: true}, text.Column{Title: "register"},
		text.Column{Title: "bits", Right: true}, text.Column{Title: "type"}, text.Column{Title: "group"},
		text.Column{Title: "saved"}, text.Column{Title: "feature"})
	// Registers are listed with the feature that they are in: GDB looks up the standard registers by both names.
	for f, r := range t.Registers() {
		saved := "yes"
		if !r.SaveRestore {
			saved = "no"
		}
		if err := row(table, fmt.Sprint(r.Num), r.Name, strconv.Itoa(r.Bits), r.Type, r.Group, saved, f.Name); err != nil {
			return err
		}
	}
	return table.Flush()
}
