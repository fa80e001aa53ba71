package stub

import (
	"fmt"
	"strings"
)

//go:generate go test . -run ^TestReference$ -update

// preface begins the reference.
const preface = `<!-- "go generate ./stub" writes this file from the table of packets in package stub. -->

# Packets

What the server answers of GDB's remote protocol (GDB manual, appendix "GDB Remote Serial Protocol"), in the groups in which
a target offers it. Every other packet gets the empty reply. Where a packet fails the reply is ` + "`E.`" + ` and a text, or
` + "`E01`" + ` where GDB would take a text for something else.

`

// Reference describes all packets in Markdown, one table a group, from the same rows that dispatch them.
func Reference() string {
	var b strings.Builder
	b.WriteString(preface)
	for _, g := range groups() {
		needs := "of every target"
		if g.needs != "" {
			needs = "of targets with a " + code(strings.ReplaceAll(g.needs, ", ", "`, `"))
		}
		fmt.Fprintf(&b, "## %s\n\nPackets %s.\n\n", strings.ToUpper(g.name[:1])+g.name[1:], needs)
		b.WriteString("| packet | what it does | reply | qSupported | refused |\n|---|---|---|---|---|\n")
		for _, p := range g.packets {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n",
				code(p.prefix+p.syntax), cell(p.about), cell(p.reply), code(p.announces()), p.refused())
		}
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// announces is the row's tokens as a client reads them.
func (p *packet) announces() string { return strings.ReplaceAll(p.tokens, "?+", "+") }

// refused says in which conditions the packet is not served.
func (p *packet) refused() string {
	var when []string
	if p.flags&whenStopped != 0 {
		when = append(when, "while the program runs")
	}
	if p.flags&outsideFrames != 0 {
		when = append(when, "while a frame is selected")
	}
	return strings.Join(when, ", ")
}

// code is a table cell in code type.
func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + cell(s) + "`"
}

// cell is text for a table cell, where a bar would end the cell.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
