package console

import (
	"fmt"
	"io"

	"tracewell/internal/jsontext"
	"tracewell/internal/text"
)

// Property prints a line of a definition; one without a value is left out.
func Property(out *Output, name, value string) {
	if value != "" {
		fmt.Fprintf(out, "  %-12s%s\n", name, value)
	}
}

// Entry prints a line of the header or the status.
func Entry(out *Output, name, format string, args ...any) {
	fmt.Fprintf(out, "%-17s%s\n", name, fmt.Sprintf(format, args...))
}

// OrUnknown is what stands for a value that a file does not tell.
func OrUnknown(s string) string {
	if s == "" {
		return "not told"
	}
	return s
}

// WriteIndented writes a value as JSON for people, too.
func WriteIndented(out *Output, value any) error {
	return jsontext.Write(out, value, "  ")
}

// CellsOf are the cells of a row of text.Table.
func CellsOf(row []string) [][]byte {
	cells := make([][]byte, len(row))
	for i, cell := range row {
		cells[i] = []byte(cell)
	}
	return cells
}

// WriteLine formats a line.
func WriteLine(out *Output, format string, args ...any) error {
	_, err := fmt.Fprintf(out, format+"\n", args...)
	return err
}

// WarningLimit is how many warnings are printed.
const WarningLimit = 10

// Warn prints warnings about what has a name, the first WarningLimit of them.
func Warn(messages io.Writer, name string, warnings []string) {
	for i, warning := range warnings {
		if i == WarningLimit {
			fmt.Fprintf(messages, "tracewell: %s: %d more warnings\n", text.Visible(name), len(warnings)-i)
			return
		}
		fmt.Fprintf(messages, "tracewell: %s: warning: %s\n", text.Visible(name), text.Visible(warning))
	}
}
