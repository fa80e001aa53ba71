package symbol

import (
	"fmt"
	"strconv"
	"strings"
)

// spec is a location as the user wrote it, in its parts.
type spec struct {
	text      string
	address   string // behind "*"
	addressAt int    // where that begins in text
	file      string
	function  string
	label     string
	line      int // 0 for none
	offset    uint64
	very      bool // the very address of the function plus offset
	pattern   bool // function is a glob, or a regular expression between slashes
	whole     bool // function is a whole name: no scopes are left out
	probe     string
	colon     string // "FUNCTION:LABEL" or "FILE:FUNCTION", when only a program knows which; what stands before the colon
}

// parseSpec reads a location. The error is a *SyntaxError.
// What a text means may depend on the program: "a:b" is a function of a file or a label of a function. The parser keeps such in
// colon, and Locate asks the program.
func parseSpec(text string) (*spec, error) {
	s := &spec{text: text}
	rest := strings.TrimSpace(text)
	at := strings.Index(text, rest)
	if rest == "" {
		return nil, &SyntaxError{Spec: text, Problem: "a location is missing"}
	}
	if strings.HasPrefix(rest, "*") {
		s.address, s.addressAt = rest[1:], at+1
		return s, nil
	}
	if strings.HasPrefix(rest, "-") {
		return s, s.readOptions(at)
	}
	return s, s.readLinespec(rest, at)
}

// fail makes the error about a part of the text, from start to end in bytes.
func (s *spec) fail(start, end int, format string, args ...any) error {
	return &SyntaxError{Spec: s.text, Start: start, End: end, Problem: fmt.Sprintf(format, args...)}
}

// options are the words that explicit locations are made of; as in GDB any beginning that is not another's will do.
var options = []string{"-source", "-function", "-qualified", "-line", "-label", "-probe", "-probe-stap", "-pstap"}

// readOptions reads an explicit location: -function push -line 12.
func (s *spec) readOptions(at int) error {
	for at < len(s.text) {
		word, end := s.word(at)
		if !strings.HasPrefix(word, "-") { // -qualified NAME
			rest := s.text[at:]
			return s.readLinespec(rest, at)
		}
		option := abbreviated(word)
		switch option {
		case "":
			return s.fail(at, at+len(word), "a location has no option %s", word)
		case "-qualified":
			s.whole = true
			at = s.blanks(end)
			continue
		case "-probe", "-probe-stap", "-pstap":
			s.probe = strings.TrimSpace(s.text[end:])
			if s.probe == "" {
				return s.fail(end, end, "%s wants the name of a probe", option)
			}
			return nil
		}
		from := s.blanks(end)
		value, to := s.word(from)
		if option == "-function" {
			value, to = s.untilOption(from)
		}
		if value == "" {
			return s.fail(end, end, "%s wants a value", option)
		}
		if err := s.set(option, value, from, to); err != nil {
			return err
		}
		at = s.blanks(to)
	}
	if s.function == "" && s.line == 0 {
		return s.fail(0, len(s.text), "a location wants a function or a line")
	}
	return nil
}

// set takes the value of an option, which stood at from to to.
func (s *spec) set(option, value string, from, to int) error {
	switch option {
	case "-source":
		s.file = value
	case "-function":
		s.function = value
	case "-label":
		s.label = value
	case "-line":
		line, err := strconv.Atoi(value)
		if err != nil || line <= 0 {
			return s.fail(from, to, "%s is no line number", value)
		}
		s.line = line
	}
	return nil
}

// abbreviated returns the option that a word stands for. An ambiguous beginning stands for the first of the list.
func abbreviated(word string) string {
	found := ""
	for _, o := range options {
		if o == word {
			return o
		}
		if strings.HasPrefix(o, word) && len(word) > 1 && found == "" {
			found = o
		}
	}
	return found
}

// blanks returns the place of the next character that is no blank.
func (s *spec) blanks(at int) int {
	for at < len(s.text) && (s.text[at] == ' ' || s.text[at] == '\t') {
		at++
	}
	return at
}

// word reads up to a blank, or what is in quotes, and returns where what follows begins. A quote that does not end is part of the
// word.
func (s *spec) word(at int) (word string, end int) {
	if at < len(s.text) && (s.text[at] == '\'' || s.text[at] == '"') {
		if n := strings.IndexByte(s.text[at+1:], s.text[at]); n >= 0 {
			return s.text[at+1 : at+1+n], at + n + 2
		}
	}
	end = at
	for end < len(s.text) && s.text[end] != ' ' && s.text[end] != '\t' {
		end++
	}
	return s.text[at:end], end
}

// untilOption reads the name of a function, in which there may be blanks, up to the next option.
func (s *spec) untilOption(at int) (name string, end int) {
	if at < len(s.text) && (s.text[at] == '\'' || s.text[at] == '"') {
		return s.word(at)
	}
	end = len(s.text)
	// Names of C++ contain blanks: -function ns::put(unsigned int) -line 3. So the value ends where an option begins.
	for _, o := range options {
		if n := strings.Index(s.text[at:], " "+o); n >= 0 {
			end = min(end, at+n)
		}
	}
	return strings.TrimSpace(s.text[at:end]), end
}

// readLinespec reads LINE, FILE:LINE, FILE:FUNCTION, FUNCTION, FUNCTION:LABEL, FUNCTION+BYTES.
func (s *spec) readLinespec(rest string, at int) error {
	rest = strings.TrimRight(rest, " \t")
	if n, err := strconv.Atoi(rest); err == nil {
		return s.number(n, rest, at)
	}
	before, after, split := cutColon(rest)
	if i := strings.Index(rest, ":/"); isExpression(rest) {
		split = false
	} else if i > 0 && isExpression(rest[i+1:]) { // a colon in it separates nothing
		before, after = rest[:i], rest[i+1:]
	}
	if !split {
		s.setFunction(rest)
		return nil
	}
	if after == "" {
		return s.fail(at+len(rest), at+len(rest), "a line or a function is missing behind %s", before)
	}
	// A number behind a colon is a line. No function has such a name.
	if n, err := strconv.Atoi(after); err == nil {
		s.file = unquoted(before)
		return s.number(n, after, at+len(rest)-len(after))
	}
	s.colon = unquoted(before)
	s.setFunction(after)
	return nil
}

// number takes a line. GDB has +N and -N for lines around the current one; there is none here.
func (s *spec) number(n int, text string, at int) error {
	if n <= 0 || text[0] == '+' {
		return s.fail(at, at+len(text), "%s is no line number", text)
	}
	s.line = n
	return nil
}

// setFunction takes FUNCTION or FUNCTION+BYTES.
func (s *spec) setFunction(text string) {
	text = strings.TrimSpace(text)
	if s.pattern = isPattern(text); s.pattern {
		s.function = text
		return
	}
	// operator+ is a function: only a number behind the + is an offset. GDB writes *FUNCTION+BYTES for this; without * it would
	// reject it.
	if plus := strings.LastIndexByte(text, '+'); plus > 0 {
		digits := strings.TrimSpace(text[plus+1:])
		if offset, err := strconv.ParseUint(digits, 0, 32); err == nil {
			s.function, s.offset, s.very = unquoted(strings.TrimSpace(text[:plus])), offset, true
			return
		}
	}
	s.function = unquoted(text)
}

// unquoted takes off quotes around a whole name, which GDB needs for names with blanks or colons.
func unquoted(text string) string {
	if n := len(text); n >= 2 && (text[0] == '\'' || text[0] == '"') && text[n-1] == text[0] {
		return text[1 : n-1]
	}
	return text
}

// cutColon splits at the last colon that is neither one of a pair nor in brackets or quotes.
func cutColon(text string) (before, after string, ok bool) {
	at := -1
	for i := 0; i < len(text); {
		switch c := text[i]; {
		// A quote counts at the beginning only: elsewhere it is one of Rust's lifetimes.
		case c == '(' || c == '{' || c == '[' || c == '\'' || c == '"' && i == 0:
			i = max(closing(text, i), quoteEnd(text, i))
			continue
		case strings.HasPrefix(text[i:], "::"):
			i += 2
			continue
		case c == ':':
			at = i
		}
		i++
	}
	if at <= 0 {
		return text, "", false
	}
	return strings.TrimSpace(text[:at]), strings.TrimSpace(text[at+1:]), true
}

// quoteEnd returns the place behind the quoted text that begins at i, or behind the one character there.
func quoteEnd(text string, i int) int {
	if text[i] == '"' || text[i] == '\'' {
		if n := strings.IndexByte(text[i+1:], text[i]); n >= 0 {
			return i + n + 2
		}
	}
	return i + 1
}
