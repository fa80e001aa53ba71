package manpage

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"tracewell/internal/test/testtool"
)

// commandLine has texts that roff would take for its own, were they not escaped.
type commandLine struct {
	Look struct {
		File  string   `arg:"" help:".begins with a dot, and has a \\ in it."`
		Rest  []string `arg:"" optional:"" help:"'quoted' from the first letter on."`
		Plain bool     `short:"p" help:"It's plain -- $args ~ ^ \"as is\"."`
		Value string   `group:"A group:" placeholder:"NAME" help:"Named."`
		Both  bool     `negatable:"" help:"Either."`
		Not   bool     `hidden:"" help:"Not to be seen."`
	} `cmd:"" help:"Look at a file."`
	Deep struct {
		Inner struct{} `cmd:"" help:"Inside."`
	} `cmd:"" help:"Has commands."`
	Hidden struct{} `cmd:"" hidden:"" help:"Nowhere."`
}

const exampleText = `  prog look 'a\nb' --value "$x"   # .comment
.TH at the beginning of a line
'and a quote
`

// TestPages has groff render the pages, which must have no complaint and print every text as it is.
func TestPages(t *testing.T) {
	var c commandLine
	parser := kong.Must(&c, kong.Name("prog"), kong.Description("Does things."))
	var names []string
	for _, page := range Pages(parser.Model) {
		names = append(names, page.Name)
		text := render(t, page)
		for _, want := range map[string][]string{
			"prog": {"PROG(1)", "prog - does things", "prog-look(1)", "Look at a file.", "EXIT STATUS All is well.", "Version 1", "2026-11-22"},
			"prog-look": {"prog look [options] file [rest ...]", ".begins with a dot, and has a \\ in it.", "'quoted' from the first letter on.",
				"-p, --plain It's plain -- $args ~ ^ \"as is\".", "A group", "--value=NAME Named.", "--[no-]both Either.",
				`prog look 'a\nb' --value "$x" # .comment .TH at the beginning of a line 'and a quote`, "prog(1), prog-deep(1), gdb(1)"},
			"prog-deep":       {"prog deep command [options]", "prog-deep-inner(1) Inside."},
			"prog-deep-inner": {"prog deep inner [options]", "prog-deep(1)"},
		}[page.Name] {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q:\n%s", page.Name, want, text)
			}
		}
		for _, never := range []string{"--not", "Nowhere"} {
			if strings.Contains(text, never) {
				t.Errorf("%s has %q", page.Name, never)
			}
		}
	}
	if got := strings.Join(names, " "); got != "prog prog-look prog-deep prog-deep-inner" {
		t.Errorf("pages %s", got)
	}
}

// render returns the words of a page, with one blank between them.
func render(t *testing.T, page Page) string {
	t.Helper()
	var source, warnings bytes.Buffer
	examples := func(*kong.Node) string { return exampleText }
	if err := page.Write(&source, Texts{Version: "Version 1", Date: "2026-11-22", Exit: "All is well.", Examples: examples}); err != nil {
		t.Fatal(err)
	}
	groff := testtool.Command(t, "groff", "-man", "-Tascii", "-ww", "-P-c", "-P-b", "-P-u", "-P-o")
	groff.Stdin, groff.Stderr = &source, &warnings
	out, err := groff.Output()
	if err != nil || warnings.Len() > 0 {
		t.Errorf("%s: groff: %v %s", page.Name, err, warnings.String())
	}
	out = regexp.MustCompile(`-\n\s+`).ReplaceAll(out, nil) // words that groff has parted
	return strings.Join(strings.Fields(string(out)), " ")
}
