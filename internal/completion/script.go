package completion

import (
	"embed"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/template"

	"github.com/alecthomas/kong"
)

// Command is the word by which the scripts ask the program: PROGRAM Command CURSOR WORDS... prints a line for each candidate, the
// word, a tab and its help, and a line of just FilesLine where files can stand.
const Command = "__complete"

// FilesLine says that names of files can stand at the cursor, too. No candidate is like it.
const FilesLine = "\t"

//go:embed scripts
var scripts embed.FS

// Shells are those that there are scripts for.
var Shells = []string{"bash", "zsh", "fish"}

// WriteScript writes what makes a shell complete the command lines of a program.
func WriteScript(w io.Writer, shell, program string) error {
	text, err := scripts.ReadFile("scripts/" + shell)
	if err != nil {
		return fmt.Errorf("there is no completion for %s, only for %s", shell, strings.Join(Shells, ", "))
	}
	return template.Must(template.New(shell).Parse(string(text))).Execute(w, struct{ Program, Command string }{program, Command})
}

// Answer writes what a script is told that has asked with these arguments, those behind Command. Questions that are none have no
// answer: a shell is no place for errors.
func Answer(w io.Writer, app *kong.Application, kinds map[string]Values, args []string) {
	if len(args) == 0 {
		return
	}
	cursor, err := strconv.Atoi(args[0])
	if err != nil {
		return
	}
	result := Complete(app, kinds, args[1:], cursor)
	var b strings.Builder
	for _, c := range result.Candidates {
		if !strings.ContainsAny(c.Word, "\t\n") {
			b.WriteString(c.Word + "\t" + strings.Join(strings.Fields(c.Help), " ") + "\n")
		}
	}
	if result.Files {
		b.WriteString(FilesLine + "\n")
	}
	io.WriteString(w, b.String())
}
