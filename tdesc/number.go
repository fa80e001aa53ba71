package tdesc

import (
	"encoding/xml"
	"io"
	"strconv"
	"strings"
)

// maxValue bounds names and values, in bytes of XML, so that one always fits a line of a trace file.
const maxValue = 900

// number reads an attribute as GDB does, by strtoul with base 0: blanks and a sign before it, 0x for hexadecimal, 0 for
// octal, nothing behind it. Of the numbers GDB takes, negative ones and those over the limit are errors.
func (n *node) number(name string, limit int) (int, error) {
	text := n.values[name]
	v, ok := parseNumber(text)
	if !ok {
		return 0, errorAt(n.pos, "%s=%q of <%s> is not a number", name, text, n.name)
	}
	if v > uint64(limit) {
		return 0, errorAt(n.pos, "%s=%q of <%s> is more than %d", name, text, n.name, limit)
	}
	return int(v), nil
}

func parseNumber(text string) (uint64, bool) {
	digits := strings.TrimPrefix(strings.TrimLeft(text, " "), "+")
	base := 10
	switch {
	case strings.HasPrefix(digits, "0x") || strings.HasPrefix(digits, "0X"):
		digits, base = digits[2:], 16
	case strings.HasPrefix(digits, "0"):
		base = 8
	}
	v, err := strconv.ParseUint(digits, base, 64)
	return v, err == nil
}

func checkLength(pos Position, name, value string) error {
	var n counter
	xml.EscapeText(&n, []byte(value)) // a counter never fails
	if n > maxValue {
		return errorAt(pos, "%s %.20q… has %d bytes, more than %d", name, value, n, maxValue)
	}
	return nil
}

// counter counts what is written to it.
type counter int

var _ io.Writer = new(counter)

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
