package report

import (
	"fmt"
	"slices"
	"strings"

	"tracewell/internal/text"
	"tracewell/itrace"
	"tracewell/itrace/match"
)

// line is a line of a trace, and what it says.
type line struct {
	at    match.Position
	words []string // as they are, with the blanks in front
	sense []string // of words, in the form in which those of the same meaning are the same; empty for what does not count
	key   string   // what the line says, as far as it counts
	head  string   // the part of the key that is the same in lines that say of the same thing something else
	alone bool     // part of a stretch that the other trace does not have

	value   string // of a write of a register, whose dialect is known
	aliased bool   // the name of that is none that the comparison has: it may be an alias
}

// lineReader understands the lines of a trace.
type lineReader struct {
	dialect *itrace.Dialect // nil if it is not known
	names   map[string]bool // registers by the names that the comparison has for them
	asked   []match.Field   // that are compared besides
}

// lineReaders are those of both traces, at a difference.
func lineReaders(r *match.Report, d *match.Difference, dialects itrace.Registry) (readers [2]lineReader) {
	names := make(map[string]bool)
	for _, v := range d.Context.Registers {
		names[strings.ToLower(v.Register)] = true
	}
	for side := range readers {
		readers[side].names, readers[side].asked = names, asked(r)
		if dialect, err := dialects.ByName(r.Traces[side].Dialect); err == nil {
			readers[side].dialect = dialect
		}
	}
	return readers
}

// asked are the fields that were compared besides, as the rules in force have them.
func asked(r *match.Report) (fields []match.Field) {
	for _, u := range r.Rules {
		if field, ok := strings.CutPrefix(u.Rule, "--compare "); ok {
			fields = append(fields, match.Field(field))
		}
	}
	return fields
}

func (l lineReader) read(at *match.Position) line {
	r := line{at: *at}
	r.split(text.Visible(clip(at.Text)))
	counting := slices.DeleteFunc(slices.Clone(r.sense), func(s string) bool { return s == "" })
	r.key = strings.Join(counting, " ")
	r.head = strings.Join(counting[:min(3, max(len(counting)-1, 0))], " ")
	if l.dialect == nil {
		return r
	}
	records := l.dialect.Decode([]byte(clip(at.Text)))
	if len(records) == 0 || slices.ContainsFunc(records, func(r itrace.Record) bool { return r.Kind == itrace.Unknown }) {
		return r
	}
	l.understand(&r, records)
	return r
}

// understand has a line say what its records do. Of several the first says of what.
func (l lineReader) understand(r *line, records []itrace.Record) {
	for i := range records {
		record := &records[i]
		head, key := meaning(record)
		for _, field := range l.asked {
			key += askedText(field, record)
		}
		if i > 0 {
			r.key += " " + key
			continue
		}
		r.head, r.key = head, key
		if name := strings.ToLower(string(record.Name)); record.Kind == itrace.Register {
			r.value, r.aliased = sense(string(record.Digits)), !l.names[name]
		}
	}
}

// meaning is what a record says as far as it counts as a rule; head is of what it says it.
func meaning(r *itrace.Record) (head, key string) {
	switch r.Kind {
	case itrace.Instruction:
		head = fmt.Sprintf("instruction %d %x", r.CPU, r.Addr)
		return head, fmt.Sprintf("%s %s %t %c %s", head, sense(string(r.Digits)), r.Skipped, r.State, r.Mode)
	case itrace.Memory:
		head = fmt.Sprintf("memory %t %x", r.Write, r.Addr)
		return head, fmt.Sprintf("%s %d %s", head, r.Size, sense(string(r.Digits)))
	case itrace.Register, itrace.RegisterRead:
		head = r.Kind.String() + " " + strings.ToLower(string(r.AppendName(nil)))
		return head, head + " " + sense(string(r.Digits))
	case itrace.Event:
		head = "event " + r.Event.String()
		return head, fmt.Sprintf("%s %x", head, r.Addr)
	}
	return "", string(r.Text)
}

// askedText is what a record has in a field that is compared only if it was asked for.
func askedText(field match.Field, r *itrace.Record) string {
	isInstruction := r.Kind == itrace.Instruction
	switch {
	case field == match.FieldTime:
		return fmt.Sprintf(" time %d %s", r.Time, r.Scale)
	case field == match.FieldID && isInstruction:
		return fmt.Sprintf(" id %d", r.ID)
	case field == match.FieldDisasm && isInstruction:
		return fmt.Sprintf(" disasm %s", r.Disasm)
	case field == match.FieldSecurity && isInstruction:
		return fmt.Sprintf(" security %s", r.Security)
	case field == match.FieldPrivilege && r.Kind == itrace.Memory:
		return fmt.Sprintf(" privilege %d", r.Privilege)
	}
	return ""
}

// split takes a line apart, behind commas and before blanks.
func (r *line) split(text string) {
	for text != "" {
		blanks := len(text) - len(strings.TrimLeft(text, " "))
		end := strings.IndexAny(text[blanks:], " ,")
		switch {
		case end < 0:
			end = len(text) - blanks
		case text[blanks+end] == ',':
			end++
		}
		r.words, text = append(r.words, text[:blanks+end]), text[blanks+end:]
	}
	r.sense = make([]string, len(r.words))
	for i, word := range r.words {
		r.sense[i] = sense(strings.TrimLeft(word, " "))
	}
	if len(r.words) > 1 && number(r.words[0]) && !number(r.words[1]) {
		r.sense[0], r.sense[1] = "", "" // time and scale
	}
}

// unasked are the beginnings of what counts only if it is asked for, in lines that are objects of JSON.
var unasked = []string{`"time":`, `"scale":`, `"id":`, `"security":`}

// sense gives a word without what makes no difference to its meaning: case, zeros in front, the number of an instruction, which
// is in parentheses, and the security behind a mode.
func sense(word string) string {
	if len(word) > 2 && word[0] == '(' && word[len(word)-1] == ')' && number(word[1:len(word)-1]) {
		return ""
	}
	if slices.ContainsFunc(unasked, func(key string) bool { return strings.HasPrefix(word, key) }) {
		return ""
	}
	word = strings.ToLower(word)
	mode, security, ok := strings.Cut(word, "_")
	if ok && (security == "s" || security == "ns") {
		word = mode
	}
	if short := strings.TrimLeft(strings.TrimPrefix(word, "0x"), "0"); short != "" {
		return short
	}
	return word
}

func number(word string) bool {
	word = strings.TrimLeft(word, " ")
	return word != "" && strings.Trim(word, "0123456789") == ""
}

// equal reports whether two lines are the same but for what is not compared as a rule.
func (r *line) equal(s *line) bool {
	if r.alone || s.alone {
		return false
	}
	return r.key == s.key || r.aliased != s.aliased && r.value == s.value && r.value != ""
}

func (r *line) plain() []span { return []span{{text: strings.Join(r.words, "")}} }

// marked gives two lines with the words marked in which they are not alike: those that do not mean the same, or, if that is none,
// those that are not the same but for their case. Lines without any word in common, as those of two dialects, are left as they
// are.
func marked(x, y *line) (left, right []span) {
	left, right = markedBy(x, y, func(i, j int) bool { return x.sense[i] == y.sense[j] })
	if slices.ContainsFunc(slices.Concat(left, right), func(s span) bool { return s.differs }) {
		return left, right
	}
	return markedBy(x, y, func(i, j int) bool {
		return strings.EqualFold(strings.TrimLeft(x.words[i], " "), strings.TrimLeft(y.words[j], " "))
	})
}

// markedBy marks the words that are not alike, one by one if both lines have as many, and else those between a common beginning
// and a common end.
func markedBy(x, y *line, alike func(i, j int) bool) (left, right []span) {
	head, tail := 0, 0
	shorter := min(len(x.words), len(y.words))
	for head < shorter && alike(head, head) {
		head++
	}
	for tail < shorter-head && alike(len(x.words)-1-tail, len(y.words)-1-tail) {
		tail++
	}
	if head+tail == 0 {
		return x.plain(), y.plain()
	}
	mark := func(r *line) (spans []span) {
		for i, word := range r.words {
			isMarked := i >= head && i < len(r.words)-tail
			if len(x.words) == len(y.words) {
				isMarked = !alike(i, i)
			}
			trimmed := strings.TrimLeft(word, " ")
			spans = append(spans, span{text: word[:len(word)-len(trimmed)]}, span{trimmed, isMarked})
		}
		return spans
	}
	return mark(x), mark(y)
}
