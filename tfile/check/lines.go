package check

import (
	"slices"
	"strings"

	"tracewell/tfile"
	"tracewell/trace"
)

// lineIndex has the offsets of the definition lines, ascending.
// Findings of tfile have offsets only; people count lines.
type lineIndex []int64

// number is that of the line that begins at offset, 0 if none does.
func (x lineIndex) number(offset int64) int {
	i, found := slices.BinarySearch(x, offset)
	if !found {
		return 0
	}
	return i + 2 // the magic is line 1
}

// line is a definition line, cut in keyword and rest.
type line struct {
	tfile.Definition
	keyword, rest string
}

// lineChecks look at each line with a keyword that is known. What they need to know of other lines is in the checker.
var lineChecks = map[string]func(*checker, line){
	"R":      (*checker).repeated,
	"status": (*checker).statusLine,
	"tsv":    (*checker).variableLine,
	"tp":     (*checker).pieceLine,
}

// definitions checks the definition lines, and all that follows from them alone.
// Lines come first, since what a line means for GDB may depend on one that stands behind it.
func (c *checker) definitions() {
	definitions := c.file.Definitions()
	for _, d := range definitions {
		c.lines = append(c.lines, d.Offset)
	}
	c.returns(definitions)
	for _, d := range definitions {
		keyword, rest, spaced := strings.Cut(d.Text, " ")
		// GDB, too, compares most keywords with the blank behind them.
		if check := lineChecks[keyword]; check != nil && spaced {
			check(c, line{d, keyword, strings.TrimSuffix(rest, "\r")})
		}
	}
	c.found(definitions)
	c.description()
	c.order()
	c.defined()
}

// returns looks for lines that end in CR LF. GDB 13.1 takes the CR for part of the line: it refuses a status line, does not
// see the empty line that ends the definitions, and does not mind elsewhere.
func (c *checker) returns(definitions []tfile.Definition) {
	refused := slices.ContainsFunc(definitions, func(d tfile.Definition) bool {
		return d.Text == "\r" || strings.HasSuffix(d.Text, "\r") && strings.HasPrefix(d.Text, "status ")
	})
	rule := ruleReturn
	if refused {
		rule = ruleReturnRefused
	}
	for _, d := range definitions {
		if strings.HasSuffix(d.Text, "\r") {
			c.addFolded(rule, d.Offset, "the line ends in CR LF")
		}
	}
}

// found takes over what opening the file has found. Where GDB makes more or less of a line than its rule says that is put
// right.
func (c *checker) found(definitions []tfile.Definition) {
	for _, f := range c.file.Findings() {
		i, inLine := slices.BinarySearch(c.lines, f.Offset)
		switch {
		case !inLine:
			c.outside(f.Rule, f.Offset, "%s", f.Text)
		case f.Rule == tfile.RuleUndefined && c.mentioned(definitions[i].Text).defined:
			// the T piece is there, and has a finding of its own
		case f.Rule == tfile.RuleBadLine || f.Rule == tfile.RuleUnknownLine:
			c.badLine(f, definitions[i].Text)
		default:
			c.add(f.Rule, f.Offset, "%s", f.Text)
		}
	}
}

// badLine reports a line that could not be read by what GDB 13.1 makes of it.
func (c *checker) badLine(f tfile.Finding, text string) {
	if strings.HasSuffix(text, "\r") {
		return // the CR has been told, and may be all that is wrong
	}
	rule := f.Rule
	keyword, rest, _ := strings.Cut(text, " ")
	switch {
	case keyword == "status" && refusedStatus(rest), keyword == "tsv" && refusedVariable(rest), keyword == "tp" && refusedSource(rest):
		rule = ruleRefusedLine
	case keyword == "tp" && strings.HasPrefix(rest, "T") && c.mentioned(text).defined:
		rule = ruleOption
	case keyword == "tp" && (strings.HasPrefix(rest, "A") || strings.HasPrefix(rest, "S")):
		rule = ruleUnread
	}
	c.add(rule, f.Offset, "%s", f.Text)
}

// refusedStatus reports whether GDB 13.1 gives up at a status: at an item without a colon, and at a text that is not in pairs of
// digits. Of numbers it reads as many digits as there are.
// GDB stops with an error, and opens nothing; a line that it merely misunderstands is another rule's.
func refusedStatus(rest string) bool {
	_, items, _ := strings.Cut(rest, ";")
	for item := range strings.SplitSeq(items, ";") {
		key, text, ok := strings.Cut(item, ":")
		if !ok && item != "" {
			return true
		}
		switch key {
		case "tstop", "terror":
			if text, _, ok = strings.Cut(text, ":"); !ok {
				continue // it is the number
			}
			fallthrough
		case "username", "notes":
			// GDB converts pairs of digits and does not look at a last one that stands alone.
			if !hexadecimal(text[:len(text)&^1]) {
				return true
			}
		}
	}
	return false
}

// refusedVariable reports whether GDB 13.1 gives up at a tsv line: at a name that is not in pairs of digits.
func refusedVariable(rest string) bool {
	// Number, initial value, whether it is built in, and the name.
	fields := strings.SplitN(rest, ":", 4)
	return len(fields) < 4 || !hexadecimal(fields[3])
}

// refusedSource reports whether GDB 13.1 gives up at a Z piece: at a text that is not in pairs of digits.
func refusedSource(rest string) bool {
	fields := strings.Split(rest, ":")
	return strings.HasPrefix(rest, "Z") && len(fields) == 6 && !hexadecimal(fields[5])
}

func hexadecimal(s string) bool {
	return strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

// repeated looks for a line whose keyword has come before: the last counts.
func (c *checker) repeated(l line) {
	if _, before := c.last[l.keyword]; before {
		c.add(ruleRepeated, l.Offset, "this %s line replaces an earlier one", l.keyword)
	}
	c.last[l.keyword] = l.Offset
}

func (c *checker) variableLine(l line) {
	c.last[l.keyword] = l.Offset
	v, err := trace.ParseVariable(l.rest)
	if err != nil {
		return
	}
	if earlier := c.variables[v.Number]; earlier != nil {
		if rule, text := ruleRepeated, "variable %d is $%s again, and this counts"; earlier.Name == v.Name {
			c.add(rule, l.Offset, text, v.Number, v.Name)
		} else {
			c.add(ruleVariableNumber, l.Offset, "variable %d is $%s here, and $%s before", v.Number, v.Name, earlier.Name)
		}
		// The earlier name is free again, as the definition that had it is replaced.
		delete(c.names, earlier.Name)
	}
	if other, taken := c.names[v.Name]; taken && other != v.Number && v.Name != "" {
		c.add(ruleVariableName, l.Offset, "variables %d and %d are both $%s", other, v.Number, v.Name)
	}
	c.names[v.Name] = v.Number
	if !word(v.Name) {
		c.add(ruleVariableWord, l.Offset, "variable %d has the name %q", v.Number, v.Name)
	}
	if v.Number == 0 {
		c.add(ruleVariableRange, l.Offset, "variable $%s has the number 0", v.Name)
	}
	c.variables[v.Number] = &v
}

// word reports whether name can be typed behind a $.
// Bytes above ASCII are letters in GDB's expressions, which lets names be UTF-8.
func word(name string) bool {
	for i, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || r >= 0x80
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// key reads the number and the address of any piece, as far as it has them.
func key(rest string) (trace.Key, bool) {
	if rest == "" {
		return trace.Key{}, false
	}
	fields := strings.SplitN(rest[1:], ":", 3)
	if len(fields) < 2 {
		return trace.Key{}, false
	}
	// A V piece is the shortest that has a number and an address, and all kinds write these alike; so one parser
	// decides.
	p, err := trace.ParsePiece("V" + fields[0] + ":" + fields[1] + ":0:0")
	return p.Key, err == nil
}

// mentioned returns what the lines say of the tracepoint that a tp line is about.
func (c *checker) mentioned(text string) mention {
	k, _ := key(strings.TrimPrefix(text, "tp "))
	if m := c.mentions[k]; m != nil {
		return *m
	}
	return mention{}
}

func (c *checker) pieceLine(l line) {
	k, ok := key(l.rest)
	if !ok {
		return
	}
	m := c.mentions[k]
	if m == nil {
		m = &mention{first: l.Offset}
		c.mentions[k] = m
	}
	if c.tracepoints[k.Number] == nil {
		c.tracepoints[k.Number] = &tracepoint{first: l.Offset}
	}
	if trace.PieceKind(l.rest[0]) == trace.PieceDefinition {
		switch {
		case m.defined:
			c.add(ruleRepeated, l.Offset, "tracepoint %d at %v is defined again, and this counts", k.Number, k.Addr)
		case m.first < l.Offset:
			c.add(ruleLate, l.Offset, "other pieces of tracepoint %d at %v come before its T piece", k.Number, k.Addr)
		}
		m.defined, m.offset = true, l.Offset
	}
	if p, err := trace.ParsePiece(l.rest); err == nil {
		c.piece(l.Offset, m, p)
	}
}

func (c *checker) piece(offset int64, m *mention, p trace.Piece) {
	switch p.Kind {
	case trace.PieceSource:
		s := p.Source
		switch {
		case s.Start != 0:
			c.add(ruleStart, offset, "%q begins at %d of the %s string of tracepoint %d", s.Text, s.Start, s.Type, p.Key.Number)
		case s.Total != len(s.Text):
			c.add(ruleLength, offset, "%q of tracepoint %d has %d bytes and is said to have %d", s.Text, p.Key.Number, len(s.Text), s.Total)
		}
	case trace.PieceCounts:
		if m.counted {
			c.add(ruleRepeated, offset, "the counts of tracepoint %d at %v come again: GDB 13.1 adds them up", p.Key.Number, p.Key.Addr)
		}
		m.counted = true
	}
}
