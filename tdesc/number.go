package tdesc

import (
	"encoding/xml"
	"io"
	"math"
	"strconv"
	"strings"
)

// maxValue bounds names and values, in bytes of XML, so that one always fits a line of a trace file.
const maxValue = 900

// number reads an attribute as GDB does, by strtoul with base 0: blanks and a sign before it, 0x for hexadecimal, 0 for
// octal, nothing behind it. Of the numbers GDB takes, negative ones and those over the limit are errors.
func (n *node) number(name string, limit int) (int, error) {
	text := n.value(name)
	v, ok := parseNumber(text)
	switch {
	case !ok && wraps(text):
		return 0, errorAt(ruleWrap, n.pos, "%s=%q of <%s> is not a number from 0 on", name, text, n.name)
	case !ok:
		return 0, errorAt(ruleNumber, n.pos, "%s=%q of <%s> is not a number", name, text, n.name)
	case v > uint64(limit) && limit == math.MaxInt32 && name != "value":
		return 0, errorAt(ruleWrap, n.pos, "%s=%q of <%s> is more than %d", name, text, n.name, limit)
	case v > uint64(limit):
		return 0, errorAt(ruleLimit, n.pos, "%s=%q of <%s> is more than %d", name, text, n.name, limit)
	}
	return int(v), nil
}

// wraps tells whether GDB takes a text for some number or other: one with a minus, or an 0x without digits, which is 0.
func wraps(text string) bool {
	digits := strings.TrimLeft(text, " ")
	_, ok := parseNumber(strings.TrimPrefix(digits, "-"))
	return ok && strings.HasPrefix(digits, "-") || strings.EqualFold(digits, "0x")
}

// outside tells whether a regnum is -1 to GDB, which keeps 32 bits of it.
func outside(text string) bool {
	v, ok := parseNumber(text)
	return ok && uint32(v) == math.MaxUint32 || strings.TrimLeft(text, " ") == "-1"
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
	const longest = len("&#34;") // that a byte can become
	if longest*len(value) <= maxValue {
		return nil
	}
	if n := escapedLength(value); n > maxValue {
		return errorAt(ruleLongName, pos, "%s %.20q… has %d bytes, more than %d", name, value, n, maxValue)
	}
	return nil
}

// escapedLength is how many bytes of XML a text takes.
func escapedLength(s string) int {
	var n counter
	xml.EscapeText(&n, []byte(s)) // a counter never fails
	return int(n)
}

// counter counts what is written to it.
type counter int

var _ io.Writer = new(counter)

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
