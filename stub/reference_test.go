package stub

import (
	"fmt"
	"strings"

	"tracewell/arch"
)

//go:generate go test . -run ^TestReference$ -update

// preface begins the reference.
var preface = `<!-- "go generate ./stub" writes this file from the table of packets in package stub. -->

# Packets

What the server answers of GDB's remote protocol (GDB manual, appendix "GDB Remote Serial Protocol"), in the groups in which
a target offers it. Every other packet gets the empty reply.

CAPITALS stand for fields, square brackets for parts that may be missing, a bar for a choice, three dots for more of the
same. Blanks are for the reader and not sent. Numbers and addresses are hexadecimal without 0x; HEX in front of a name means
that each byte of it is a pair of digits; BINARY is bytes with the escapes of the protocol. The token is what the reply to
qSupported says of the packet.

A packet that fails is answered by ` + "`E.`" + ` and a text, or, where GDB would take a text for something else, by ` + "`E01`" + `.
Two reasons hold for every packet and are not repeated: its arguments are not well formed, or it is about a process and there
is none. A client that connects while another one controls the program watches: it may send the packets that have "yes" in the
column of watchers; those with "own reply" do not touch the program for it, or only read.

The last column is what ` + "gdbserver 13.1 on " + arch.AMD64.Title + ` does otherwise, as far as a client can tell; its errors have numbers
and no text.

`

// reference describes all packets in Markdown, one table a group and one line a packet, from the rows that dispatch them.
func reference() string {
	var b strings.Builder
	b.WriteString(preface)
	for _, g := range groups() {
		fmt.Fprintf(&b, "## %s\n\n%s\n\n", strings.ToUpper(g.name[:1])+g.name[1:], g.offered())
		// The columns are those that a person who ports a client or compares two servers asks for.
		b.WriteString("| packet | what it does | reply | errors | token | watchers | gdbserver 13.1 |\n|---|---|---|---|---|---|---|\n")
		for _, p := range g.packets {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", code(p.grammar()), cell(p.about), cell(p.reply),
				cell(p.failures()), code(p.announces()), p.watchers(), cell(p.differs))
		}
		b.WriteByte('\n')
	}
	b.WriteString(departures)
	for _, g := range groups() {
		for _, p := range g.packets {
			if p.manual != "" {
				fmt.Fprintf(&b, "| %s | %s |\n", code(p.Name()), cell(p.manual))
			}
		}
	}
	return b.String()
}

// departures begins the last table of the reference.
const departures = `## Where the manual is not followed

Where the words of GDB's manual and what GDB does with a packet part, GDB decides. Each of these was chosen.

| packet | the manual, and what is done instead |
|---|---|
`

// offered says which targets have the group.
func (g *group) offered() string {
	var needs []string
	for _, a := range g.needs {
		if a.name != "" {
			needs = append(needs, "`"+strings.ReplaceAll(a.name, "|", "` or `")+"`")
		}
	}
	if len(needs) == 0 {
		return "Every target has them."
	}
	return "A target has them by way of " + strings.Join(needs, ", ") + "."
}

// grammar is the whole packet, with a blank between a name and a field that would look like one word.
func (p *packet) grammar() string {
	// "H g|c THREAD" is easier on the eye than "Hg|c THREAD", and no packet has such a blank.
	if p.Syntax != "" && isLetter(p.Prefix[len(p.Prefix)-1]) && isLetter(p.Syntax[0]) {
		return p.Prefix + " " + p.Syntax
	}
	return p.Prefix + p.Syntax
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// announces is the row's tokens as a client reads them.
func (p *packet) announces() string { return strings.ReplaceAll(p.tokens, "?+", "+") }

// failures says why the packet may be refused or fail.
func (p *packet) failures() string {
	var when []string
	if p.flags&numericErrors != 0 {
		when = append(when, "E01")
	}
	if p.flags&whenStopped != 0 {
		when = append(when, "while the program runs")
	}
	if p.flags&outsideFrames != 0 {
		when = append(when, "while a frame is selected")
	}
	if p.flags&changesRun != 0 {
		when = append(when, "the run is a recording")
	}
	for _, why := range []string{p.errors, p.always} {
		if why != "" {
			when = append(when, why)
		}
	}
	return strings.Join(when, "; ")
}

// watchers says what the packet is to clients that watch.
func (p *packet) watchers() string {
	switch {
	case p.watcher != nil:
		return "own reply"
	case p.flags&forWatchers != 0:
		return "yes"
	}
	return ""
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
