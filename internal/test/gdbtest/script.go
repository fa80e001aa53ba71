package gdbtest

import (
	"strconv"
	"strings"
)

// A mark on a line of its own begins a section of the output. The lines between the marks are GDB's and the program's.
const (
	markStart = "<<<section "
	markEnd   = ">>>"
	endMark   = "end of script"
)

// compose turns a script into what GDB reads. Tabs at the beginning of a line are the test's own indentation.
func compose(script string) string {
	var b strings.Builder
	b.WriteString(settings)
	for line := range strings.Lines(script) {
		line = strings.TrimRight(strings.TrimLeft(line, "\t"), " \t\n")
		name, isMark := strings.CutPrefix(line, "-- ")
		name, closed := strings.CutSuffix(name, " --")
		failing, mayFail := strings.CutPrefix(line, "? ")
		switch {
		case isMark && closed:
			writeMark(&b, name)
		case mayFail:
			writeTry(&b, failing)
		default:
			b.WriteString(line + "\n")
		}
	}
	writeMark(&b, endMark)
	return b.String()
}

// writeMark writes the command that prints a mark, on a line of its own even if the output before it has not ended its line.
func writeMark(b *strings.Builder, name string) {
	b.WriteString(`echo \n` + markStart + name + markEnd + `\n` + "\n")
}

// writeTry wraps a command in Python, the only way to go on after an error in a script.
func writeTry(b *strings.Builder, command string) {
	b.WriteString("python\ntry:\n  gdb.execute(" + strconv.QuoteToASCII(command) +
		")\nexcept gdb.error as e:\n  print('error: %s' % e)\nend\n")
}

// split cuts output at its marks. What comes before the first one is the section "".
func split(output string) map[string]string {
	sections := map[string]string{}
	name := ""
	for line := range strings.Lines(output) {
		rest, starts := strings.CutPrefix(strings.TrimSuffix(line, "\n"), markStart)
		if mark, ends := strings.CutSuffix(rest, markEnd); starts && ends {
			name = mark
			line = ""
		}
		sections[name] += line
	}
	return sections
}
