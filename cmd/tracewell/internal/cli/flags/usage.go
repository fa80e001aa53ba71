// Package flags is the grammar of the command line besides what kong has: operands between flags, negative numbers, what errors
// of the parser say, and the types of values that several commands take.
package flags

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"
)

// Misused puts an error of the command line into plain words, and adds which help explains the right use: that of the command if
// the parser has got so far, else that of the program.
func Misused(err error) error {
	// An error that is not the parser's has no place in the command line, so only the program's help can be named.
	command := "tracewell"
	var parse *kong.ParseError
	if !errors.As(err, &parse) {
		return fmt.Errorf("%w (see %s --help)", err, command)
	}
	var flags []*kong.Flag
	if node := parse.Context.Selected(); node != nil {
		command = node.FullPath()
		for _, group := range node.AllFlags(false) {
			flags = append(flags, group...)
		}
	}
	return fmt.Errorf("%s (see %s --help)", plainWords(parse.Error(), flags), command)
}

// jargon are the parser's own messages, which speak of tokens and types, with what they mean. In the words $1 and so on are what
// was found, and {value} is what the help calls the value of the option.
var jargon = []struct{ message, words string }{
	{`^(--\S+): expected .* value but got "EOL" \(<EOL>\)$`, "$1 needs a value: $1 {value}"},
	{`^(--\S+): missing value, expecting .*$`, "$1 needs a value: $1 {value}"},
	{`^(--\S+): expected .* value but got "(.*)" \((?:long|short) flag\); perhaps try .*$`,
		"$1 needs a value: $1 {value}, and $2 is an option"},
	{`^(--\S+): expected a valid \d+ bit int but got (".*")$`, "$1: $2 is no number"},
	{`^(--\S+): expected a valid \d+ bit uint but got (".*")$`, "$1: $2 is no number of 0 or more"},
	{`^(--\S+): expected a float but got (".*?").*$`, "$1: $2 is no number"},
	{`^(--\S+): bool value must be .* but got (".*")$`, "$1 takes no value, and $2 is one"},
	{`^(unknown flag -[^-]), did you mean .*$`, "$1"}, // any letter is near any other
	{`^expected "<(.*)>"$`, "<$1> is missing"},
	{`^expected one of (.*)$`, "one of $1 is missing"},
}

// plainWords replaces a message of the parser by the first rule of jargon that matches. A message without a rule is plain enough,
// or new in a later version of kong, and stays.
func plainWords(message string, flags []*kong.Flag) string {
	for _, j := range jargon {
		// (?s) has . match line breaks: a value that the user gave may hold one.
		form := regexp.MustCompile("(?s)" + j.message)
		m := form.FindStringSubmatch(message)
		if m == nil {
			continue
		}
		words := form.ReplaceAllString(message, j.words)
		return strings.ReplaceAll(words, "{value}", placeholderOf(m[1], flags))
	}
	return message
}

// placeholderOf is what the help calls the value of an option, so that the error and the help use one word.
func placeholderOf(option string, flags []*kong.Flag) string {
	for _, f := range flags {
		if "--"+f.Name == option && f.PlaceHolder != "" {
			return f.PlaceHolder
		}
	}
	return "VALUE"
}

// negative is a number that looks like an option.
var negative = regexp.MustCompile(`^-[0-9]`)

// JoinNegatives writes --limit -1 as --limit=-1, so that it is the option that says what is wrong with the number. What stands
// behind the first operand may belong to another program.
func JoinNegatives(app *kong.Application, args []string) []string {
	node, start := commandOf(app, args)
	joined := args[:start:start]
	for rest := args[start:]; len(rest) > 0; rest = rest[1:] {
		// A dash alone is standard input, an operand. An operand ends the search only where what follows is another program's: record and
		// serve pass it on as it is.
		word := rest[0]
		isOption := strings.HasPrefix(word, "-") && word != "-"
		if word == "--" || !isOption && isPassthrough(node) {
			return append(joined, rest...)
		}
		if len(rest) > 1 && takesNext(node, word) {
			rest = rest[1:]
			if negative.MatchString(rest[0]) {
				joined = append(joined, "--"+flagOf(node, word).Name+"="+rest[0])
				continue
			}
			joined = append(joined, word)
			word = rest[0]
		}
		joined = append(joined, word)
	}
	return joined
}

// isPassthrough reports whether the operands of a command begin with another command, whose options they are.
func isPassthrough(node *kong.Node) bool {
	last := len(node.Positional) - 1
	return last >= 0 && node.Positional[last].Passthrough
}
