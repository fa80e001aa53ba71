package report

import (
	"strings"
	"unicode/utf8"

	"tracewell/internal/text"
)

// span is a piece of a line that is the same in the other trace, or is not. Its text is printable.
type span struct {
	text    string
	differs bool
}

// flat is the text of all.
func flat(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.text)
	}
	return b.String()
}

func characters(spans []span) (n int) {
	for _, s := range spans {
		n += utf8.RuneCountInString(s.text)
	}
	return n
}

// fit cuts spans to width characters, if width is above 0, and so that the first place that differs can be seen. An ellipsis
// stands where something was left out.
func fit(spans []span, width int) []span {
	length := characters(spans)
	if width <= 0 || length <= width {
		return spans
	}
	focus := 0
	for _, s := range spans {
		if s.differs {
			break
		}
		focus += utf8.RuneCountInString(s.text)
	}
	start := 0
	if focus < length && focus > width*2/3 {
		start = min(focus-width/3, length-width)
	}
	return cut(spans, start, start+width, length)
}

// cut keeps the characters from start to end, less those that give way to ellipses.
func cut(spans []span, start, end, length int) (kept []span) {
	if start > 0 {
		kept, start = append(kept, span{text: "…"}), start+1
	}
	shortened := end < length
	if shortened {
		end--
	}
	at := 0
	for _, s := range spans {
		runes := []rune(s.text)
		from, to := min(max(start-at, 0), len(runes)), min(max(end-at, 0), len(runes))
		if from < to {
			kept = append(kept, span{string(runes[from:to]), s.differs})
		}
		at += len(runes)
	}
	if shortened {
		kept = append(kept, span{text: "…"})
	}
	return kept
}

// markDifference shortens two values to width characters each, and marks what is between their common beginning and end.
func markDifference(a, b string, width int) (x, y []span) {
	a, b = text.Visible(clip(a)), text.Visible(clip(b))
	r, s := []rune(a), []rune(b)
	head := 0
	for head < min(len(r), len(s)) && r[head] == s[head] {
		head++
	}
	tail := 0
	for tail < min(len(r), len(s))-head && r[len(r)-1-tail] == s[len(s)-1-tail] {
		tail++
	}
	parts := func(v []rune) []span {
		return []span{{text: string(v[:head])}, {string(v[head : len(v)-tail]), true}, {text: string(v[len(v)-tail:])}}
	}
	return fit(parts(r), width), fit(parts(s), width)
}
