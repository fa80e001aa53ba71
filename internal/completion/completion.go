// Package completion completes the words of a command line, for shells: commands, options and their values, from the
// declarations that the command line is parsed by.
//
// The shells' scripts are thin: each passes the words and the position of the cursor to the program, and offers what that
// prints. So a shell needs nothing anew when commands change, and values can be completed that only the program knows,
// such as the functions of the program that is to be traced.
package completion

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Tag is the key in the tag of a field of the command line that names the kind of its values.
const Tag = "complete"

// Files is the kind of values that are names of files, and None that of values which nobody can guess. Without a tag, operands and
// options with a placeholder of FilePlaceholders are files.
const (
	Files = "files"
	None  = "none"
)

// FilePlaceholders are the placeholders of options whose values are files.
var FilePlaceholders = []string{"FILE", "ELF", "OUT"}

// Candidate is a word that could stand at the cursor.
type Candidate struct {
	Word string
	Help string // one line, or empty
}

// Line is what stands on a command line besides the word at the cursor, as far as it could be understood: all of it, since what an
// option refers to may stand behind it.
type Line struct {
	Command  *kong.Node
	Options  map[string][]string // values, by the long name
	Operands []string
}

// Values returns the values of a kind. Those that do not begin with beginning are left out afterwards.
type Values func(line *Line, beginning string) []Candidate

// Result is what can stand at the cursor.
type Result struct {
	Candidates []Candidate
	Files      bool // names of files can, too
}

// Complete returns what can stand at words[cursor], of which the part before the cursor is there. The words are those behind the
// name of the program. A word "--option=beginning" is completed as a whole.
func Complete(app *kong.Application, kinds map[string]Values, words []string, cursor int) Result {
	if cursor < 0 || cursor >= len(words) {
		return Result{}
	}
	p := parser{line: Line{Command: app.Node, Options: map[string][]string{}}}
	for i, word := range words {
		if i == cursor {
			p.stop()
			continue
		}
		p.word(word)
	}
	return p.at.complete(&p.line, kinds, words[cursor])
}

// parser goes through the words as far as completion needs it. Wrong words are passed over.
type parser struct {
	line    Line
	pending *kong.Flag // has the next word as its value
	ended   bool       // by --, or the first operand of a command whose operands may be anything
	at      *spot
}

// spot is where the cursor is.
type spot struct {
	command  *kong.Node
	pending  *kong.Flag
	ended    bool
	operands int
}

// stop takes note of where the cursor is.
func (p *parser) stop() {
	p.at = &spot{p.line.Command, p.pending, p.ended, len(p.line.Operands)}
	p.pending = nil
}

func (p *parser) word(word string) {
	switch {
	case p.pending != nil:
		p.value(p.pending, word)
		p.pending = nil
	case p.ended:
		p.line.Operands = append(p.line.Operands, word)
	case word == "--":
		p.ended = true
	case len(word) > 1 && word[0] == '-':
		p.option(word)
	default:
		p.operand(word)
	}
}

func (p *parser) value(flag *kong.Flag, value string) {
	p.line.Options[flag.Name] = append(p.line.Options[flag.Name], value)
}

func (p *parser) option(word string) {
	name, value, valued := strings.Cut(word, "=")
	flag := findFlag(p.line.Command, name)
	switch {
	case flag == nil:
	case valued:
		p.value(flag, value)
	case takesWord(flag):
		p.pending = flag
	}
}

func (p *parser) operand(word string) {
	if len(p.line.Operands) == 0 {
		if child := findCommand(p.line.Command, word); child != nil {
			p.line.Command = child
			return
		}
	}
	p.line.Operands = append(p.line.Operands, word)
	// What follows the first operand of such a command belongs to the program that it names.
	p.ended = p.line.Command.Passthrough || slices.ContainsFunc(p.line.Command.Positional,
		func(v *kong.Value) bool { return v.Passthrough })
}

func findCommand(node *kong.Node, name string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == name || slices.Contains(child.Aliases, name) {
			return child
		}
	}
	return nil
}

func findFlag(node *kong.Node, name string) *kong.Flag {
	for _, flag := range flags(node) {
		if name == "--"+flag.Name || flag.Short != 0 && name == "-"+string(flag.Short) {
			return flag
		}
	}
	return nil
}

// flags are the options of a command and of those above it.
func flags(node *kong.Node) []*kong.Flag {
	return slices.Concat(node.AllFlags(true)...)
}

func takesWord(flag *kong.Flag) bool { return !flag.IsBool() && !flag.IsCounter() }

// complete says what can stand here.
func (s *spot) complete(line *Line, kinds map[string]Values, beginning string) Result {
	name, value, valued := strings.Cut(beginning, "=")
	switch {
	case s.pending != nil:
		return valuesOf(s.pending.Value, line, kinds, beginning)
	case !s.ended && strings.HasPrefix(beginning, "--") && valued:
		flag := findFlag(s.command, name)
		if flag == nil {
			return Result{}
		}
		return valuesOf(flag.Value, line, kinds, value).behind(name + "=")
	case !s.ended && strings.HasPrefix(beginning, "-"):
		return Result{Candidates: chosen(options(s.command), beginning)}
	case s.operands == 0 && len(s.command.Children) > 0:
		return Result{Candidates: chosen(commands(s.command), beginning)}
	}
	return s.completeOperand(line, kinds, beginning)
}

func (s *spot) completeOperand(line *Line, kinds map[string]Values, beginning string) Result {
	operands := s.command.Positional
	switch {
	case len(operands) == 0:
		return Result{}
	case s.operands < len(operands):
		return valuesOf(operands[s.operands], line, kinds, beginning)
	case operands[len(operands)-1].IsCumulative():
		return valuesOf(operands[len(operands)-1], line, kinds, beginning)
	}
	return Result{}
}

// behind puts the option in front of its values.
func (r Result) behind(option string) Result {
	for i := range r.Candidates {
		r.Candidates[i].Word = option + r.Candidates[i].Word
	}
	return r
}

// valuesOf completes a value of an option or an operand.
func valuesOf(v *kong.Value, line *Line, kinds map[string]Values, beginning string) Result {
	kind := v.Tag.Get(Tag)
	switch {
	case kind == "" && v.Enum != "":
		var words []Candidate
		for _, word := range v.EnumSlice() {
			words = append(words, Candidate{Word: word})
		}
		return Result{Candidates: chosen(words, beginning)}
	case kind == Files, kind == "" && (v.Flag == nil || slices.Contains(FilePlaceholders, v.Flag.PlaceHolder)):
		return Result{Files: true}
	case kinds[kind] == nil:
		return Result{}
	}
	return Result{Candidates: chosen(kinds[kind](line, beginning), beginning)}
}

// chosen are the candidates that begin in a way, in order.
func chosen(candidates []Candidate, beginning string) []Candidate {
	var fit []Candidate
	for _, c := range candidates {
		if strings.HasPrefix(c.Word, beginning) {
			fit = append(fit, c)
		}
	}
	return fit
}

func commands(node *kong.Node) []Candidate {
	var words []Candidate
	for _, child := range node.Children {
		if !child.Hidden {
			words = append(words, Candidate{child.Name, firstSentence(child.Help)})
		}
	}
	return words
}

// options are the long names, which explain themselves.
func options(node *kong.Node) []Candidate {
	var words []Candidate
	for _, flag := range flags(node) {
		words = append(words, Candidate{"--" + flag.Name, firstSentence(flag.Help)})
	}
	return words
}

// firstSentence is what has room beside a candidate.
func firstSentence(help string) string {
	for _, end := range []string{". ", ": ", "; "} {
		help, _, _ = strings.Cut(help, end)
	}
	return strings.TrimSuffix(help, ".")
}
