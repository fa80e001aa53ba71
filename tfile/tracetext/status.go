package tracetext

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// statusValue is how the value of an item of the status line stands in the text.
type statusValue struct {
	show func(dst []byte, value string) ([]byte, bool) // false if value is not of the form
	read func(dst []byte, c *cursor) []byte
}

// The forms of a value. What show makes of one is what read expects.
var (
	countValue  = statusValue{showCount, readCount}
	timeValue   = statusValue{showTime, readTime}
	textValue   = statusValue{showText, readText}
	reasonValue = statusValue{showReason, readReason}
)

// statusValues has the form of each item that GDB 13.1 knows. The text names an item by its key.
var statusValues = map[string]statusValue{
	"tunknown":      reasonValue,
	"tnotrun":       reasonValue,
	"tstop":         reasonValue,
	"tfull":         reasonValue,
	"tdisconnected": reasonValue,
	"tpasscount":    reasonValue,
	"terror":        reasonValue,
	"tframes":       countValue,
	"tcreated":      countValue,
	"tfree":         countValue,
	"tsize":         countValue,
	"circular":      countValue,
	"disconn":       countValue,
	"starttime":     timeValue,
	"stoptime":      timeValue,
	"username":      textValue,
	"notes":         textValue,
}

// showCount shows a hexadecimal number as a decimal one.
func showCount(dst []byte, value string) ([]byte, bool) {
	n, err := strconv.ParseUint(value, 16, 64)
	return strconv.AppendUint(dst, n, 10), err == nil
}

func readCount(dst []byte, c *cursor) []byte {
	return strconv.AppendUint(dst, c.unsigned("a number", math.MaxUint64), 16)
}

// showText shows pairs of hexadecimal digits as a string.
func showText(dst []byte, value string) ([]byte, bool) {
	text, err := hex.DecodeString(value)
	return strconv.AppendQuote(dst, string(text)), err == nil
}

func readText(dst []byte, c *cursor) []byte { return fmt.Appendf(dst, "%x", c.quoted("a text")) }

// showReason shows why a run stopped: a description, if there is one, and the number of a tracepoint.
func showReason(dst []byte, value string) ([]byte, bool) {
	described := strings.Contains(value, ":")
	if described {
		var description string
		var ok bool
		description, value, _ = strings.Cut(value, ":")
		if dst, ok = showText(dst, description); !ok {
			return dst, false
		}
		dst = append(dst, ' ')
	}
	return showCount(dst, value)
}

func readReason(dst []byte, c *cursor) []byte {
	if c.peek() == '"' {
		dst = append(readText(dst, c), ':')
	}
	return readCount(dst, c)
}

// The times, in microseconds, from which and up to which one is shown as a date. An earlier one is not a date: gdbserver
// 13.1 counts from the start of the machine.
const (
	firstDate = 365 * 24 * 60 * 60 * 1e6
	lastDate  = 253402300799999999 // the last microsecond of the year 9999
)

const dateForm = "2006-01-02T15:04:05.000000Z"

// showTime shows microseconds as a date and time of day or as seconds.
func showTime(dst []byte, value string) ([]byte, bool) {
	t, err := strconv.ParseUint(value, 16, 64)
	if err != nil {
		return dst, false
	}
	if t >= firstDate && t <= lastDate {
		return time.UnixMicro(int64(t)).UTC().AppendFormat(dst, dateForm), true
	}
	return fmt.Appendf(dst, "%d.%06d s", t/1e6, t%1e6), true
}

func readTime(dst []byte, c *cursor) []byte {
	word := string(c.next())
	var t uint64
	var ok bool
	if strings.Contains(word, "-") {
		t, ok = parseDate(word)
	} else if t, ok = parseSeconds(word); ok {
		c.literal("s")
	}
	if !ok {
		c.fail("a time such as 2024-05-01T12:00:00Z or 5326.308475 s")
	}
	return strconv.AppendUint(dst, t, 16)
}

func parseDate(word string) (uint64, bool) {
	date, err := time.Parse(time.RFC3339Nano, word)
	return uint64(date.UnixMicro()), err == nil && date.UnixMicro() >= 0
}

// parseSeconds reads seconds, with up to six digits behind the point, as microseconds.
func parseSeconds(word string) (uint64, bool) {
	whole, fraction, _ := strings.Cut(word, ".")
	if len(fraction) > 6 {
		return 0, false
	}
	t, err := strconv.ParseUint(whole+(fraction + "000000")[:6], 10, 64)
	return t, err == nil
}
