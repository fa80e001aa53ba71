package dap

import (
	"errors"
	"fmt"
	"strings"
)

// logMessage is the message of a log point: text, and expressions in braces, "x={x} name={s->name}". A backslash in front of a
// brace has it mean itself.
type logMessage struct {
	text  string
	parts []logPart
}

// logPart is a piece of text, or an expression.
type logPart struct {
	literal    string
	expression string // "" for text
}

// parseLog takes a message apart.
func parseLog(text string) (*logMessage, error) {
	m := &logMessage{text: text}
	var literal strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && (text[i+1] == '{' || text[i+1] == '}'):
			i++
			literal.WriteByte(text[i])
		case c == '}':
			return nil, errors.New("log message: there is a } without a { in front")
		case c == '{':
			end := closingBrace(text, i)
			if end < 0 {
				return nil, errors.New("log message: a { is not closed")
			}
			expression := strings.TrimSpace(text[i+1 : end])
			if expression == "" {
				return nil, fmt.Errorf("log message: there is no expression in %s", text[i:end+1])
			}
			if literal.Len() > 0 {
				m.parts = append(m.parts, logPart{literal: literal.String()})
				literal.Reset()
			}
			m.parts = append(m.parts, logPart{expression: expression})
			i = end
		default:
			literal.WriteByte(c)
		}
	}
	if literal.Len() > 0 {
		m.parts = append(m.parts, logPart{literal: literal.String()})
	}
	return m, nil
}

// closingBrace finds the brace that closes the one at i, -1 if none does. Braces within quotes and pairs of them are the
// expression's.
func closingBrace(text string, i int) int {
	depth, quote := 0, byte(0)
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// expressions lists the expressions, each once.
func (m *logMessage) expressions() (list []string) {
	seen := make(map[string]bool)
	for _, p := range m.parts {
		if p.expression != "" && !seen[p.expression] {
			seen[p.expression] = true
			list = append(list, p.expression)
		}
	}
	return list
}
