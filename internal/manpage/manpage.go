// Package manpage writes manual pages of a command line that kong parses, from its declarations: a page for the program and one
// for each command.
//
// The pages use the macros of man(7), which groff and mandoc both have, and not mdoc. Sections have the names of man-pages(7)
// where it has one; COMMANDS and ARGUMENTS are additions. The NAME section is one line "name - description", because mandb and
// makewhatis build from it the index that apropos searches.
//
// The page of a command is called PROGRAM-COMMAND, as git's are. The man of man-db joins words by hyphens as well, so that "man
// tracewell record" finds tracewell-record.
package manpage

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Page is one manual page, of section 1.
type Page struct {
	Name string // "tracewell-tdesc-check", without the section
	node *kong.Node
	app  *kong.Application
}

// Texts is what the pages say besides the declarations.
type Texts struct {
	Version  string                       // of the program, for the foot
	Date     string                       // of it, as 2006-01-02, or empty
	Examples func(node *kong.Node) string // of a command: lines of shell, or empty
	Exit     string                       // what the exit status says, a paragraph
}

// Pages are the pages of a program, its own first. Hidden commands have none, nor have their children.
func Pages(app *kong.Application) []Page {
	return pagesOf(app, app.Node, app.Name)
}

func pagesOf(app *kong.Application, node *kong.Node, name string) []Page {
	pages := []Page{{name, node, app}}
	for _, child := range node.Children {
		if !child.Hidden {
			pages = append(pages, pagesOf(app, child, name+"-"+child.Name)...)
		}
	}
	return pages
}

// Write writes a page in the macros of man(7). The same declarations and texts give the same bytes. The page is made in memory and
// written by one Write, whose error is returned.
func (p Page) Write(w io.Writer, t Texts) error {
	var b page
	b.line(".TH %s 1 %s %s", quoted(strings.ToUpper(p.Name)), quoted(t.Date), quoted(t.Version))
	b.line(".SH NAME")
	b.text(p.Name + " - " + strings.TrimSuffix(lowered(p.node.Help), "."))
	b.line(".SH SYNOPSIS")
	p.synopsis(&b)
	b.line(".SH DESCRIPTION")
	b.text(p.node.Help)
	if p.node.Detail != "" {
		b.line(".PP")
		b.text(p.node.Detail)
	}
	p.commands(&b)
	p.operands(&b)
	p.options(&b)
	if examples := t.Examples(p.node); examples != "" {
		b.line(".SH EXAMPLES")
		b.verbatim(examples)
	}
	b.line(".SH EXIT STATUS")
	b.text(t.Exit)
	p.related(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// synopsis writes one line: the command, its options, and its operands, in brackets if they may be left out.
func (p Page) synopsis(b *page) {
	b.line(".B %s", escaped(p.node.FullPath()))
	if len(p.node.Children) > 0 {
		b.line(".I command")
	}
	b.line(`[\fIoptions\fR]`)
	for _, operand := range p.node.Positional {
		word := `\fI` + escaped(operand.Name) + `\fR`
		if operand.IsCumulative() {
			word += " ..."
		}
		if !operand.Required {
			word = "[" + word + "]"
		}
		b.line("%s", word)
	}
}

// commands lists the commands below this one, by the names of their pages.
func (p Page) commands(b *page) {
	if len(p.node.Children) == 0 {
		return
	}
	b.line(".SH COMMANDS")
	for _, child := range p.node.Children {
		if !child.Hidden {
			b.line(".TP")
			b.line(`\fB%s\fR(1)`, escaped(p.Name+"-"+child.Name))
			b.text(child.Help)
		}
	}
}

func (p Page) operands(b *page) {
	if len(p.node.Positional) == 0 {
		return
	}
	b.line(".SH ARGUMENTS")
	for _, operand := range p.node.Positional {
		b.line(".TP")
		b.line(`\fI%s\fR`, escaped(operand.Name))
		b.text(operand.Help)
	}
}

// options are in their groups, in the order of the declarations; those without a group come first. The sort is stable, and its
// key is only whether there is a title. AllFlags(true) leaves hidden flags out.
func (p Page) options(b *page) {
	b.line(".SH OPTIONS")
	var titles []string
	groups := map[string][]*kong.Flag{}
	for _, flag := range slices.Concat(p.node.AllFlags(true)...) {
		title := ""
		if flag.Group != nil {
			title = flag.Group.Title
		}
		if !slices.Contains(titles, title) {
			titles = append(titles, title)
		}
		groups[title] = append(groups[title], flag)
	}
	slices.SortStableFunc(titles, func(a, b string) int { return min(len(a), 1) - min(len(b), 1) })
	for _, title := range titles {
		if title != "" {
			b.line(".SS %s", quoted(strings.TrimSuffix(title, ":")))
		}
		for _, flag := range groups[title] {
			option(b, flag)
		}
	}
}

// option writes an option with a hanging description (.TP): "-r, --registers=NAME". A flag without a value has no "=", and one
// that can be negated is "--[no-]name".
func option(b *page, flag *kong.Flag) {
	b.line(".TP")
	name := `\fB` + escaped("--"+flag.Name) + `\fR`
	if flag.Tag.Negatable != "" {
		name = `\fB` + escaped("--[no-]"+flag.Name) + `\fR`
	}
	if flag.Short != 0 {
		name = `\fB` + escaped("-"+string(flag.Short)) + `\fR, ` + name
	}
	if !flag.IsBool() && !flag.IsCounter() {
		name += `=\fI` + escaped(strings.Trim(flag.FormatPlaceHolder(), `"`)) + `\fR`
	}
	b.line("%s", name)
	b.text(flag.Help)
}

// related names the page of the program, or those of its commands, and for each command those beside it. Pages of other commands'
// commands are left out: the list would be as long as the program's own.
func (p Page) related(b *page) {
	b.line(".SH SEE ALSO")
	var names []string
	for _, other := range Pages(p.app) {
		near := other.node == p.node.Parent || other.node.Parent == p.node || other.node.Parent == p.node.Parent
		if near && other.node != p.node {
			names = append(names, `\fB`+escaped(other.Name)+`\fR(1)`)
		}
	}
	b.line("%s", strings.Join(append(names, `\fBgdb\fR(1), \fBgdbserver\fR(1)`), ",\n"))
}

// page is the source of a page while it is written.
type page struct{ strings.Builder }

func (b *page) line(format string, args ...any) {
	fmt.Fprintf(b, format+"\n", args...)
}

// text writes a paragraph, on one line: roff fills it.
func (b *page) text(s string) {
	b.line("%s", protected(escaped(s)))
}

// verbatim writes lines as they are: .nf turns filling off, so that lines of shell are neither joined nor broken.
func (b *page) verbatim(s string) {
	b.line(".nf")
	for line := range strings.Lines(strings.TrimRight(s, "\n")) {
		b.line("%s", protected(escaped(strings.TrimSuffix(line, "\n"))))
	}
	b.line(".fi")
}

// escaped writes text so that roff prints it as it is: ASCII quotation marks, hyphens and accents stay what a shell takes.
var escape = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`)

func escaped(s string) string { return escape.Replace(s) }

// protected keeps a line from being a request of roff. A line that begins with a dot or an apostrophe is one; escaped has replaced
// apostrophes already. \& is a character of no width.
func protected(s string) string {
	if strings.HasPrefix(s, ".") {
		return `\&` + s
	}
	return s
}

// quoted is an argument of a macro, which blanks would otherwise divide. A quotation mark inside has been escaped as \(dq.
func quoted(s string) string { return `"` + escaped(s) + `"` }

// lowered begins with a small letter, as behind a dash.
func lowered(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
