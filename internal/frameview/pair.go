package frameview

import (
	"slices"
	"strings"

	"tracewell/ax"
	"tracewell/internal/ctype"
	"tracewell/internal/filter"
)

// GDB 13.1 makes actions of all collect and teval commands of a tracepoint together: first one R action with every register
// that is wanted or needed to find something, then the M actions, sorted by address with neighbours merged, then an X action
// for each expression in the order of the commands. A name of a variable with a fixed address becomes part of an M action if
// its type is simple; any other expression becomes an X action, but for registers; what $args and $locals stand for becomes
// any number of either; and a variable that the compiler left out becomes nothing, with a warning.
//
// So the texts of the commands and the X actions are two sequences of which some of the first stand for one of the second,
// some for none or one, some for any number. A text is the name of an action if it is so in every way to lay the sequences
// side by side, where an action also has to look as the text can make it.

// expectation is what a text of a command can have become.
type expectation struct {
	text     string
	least    int // X actions: at least so many, at most one or, if many, any number
	many     bool
	memory   bool                // it can be part of an M action instead
	matches  func(d *draft) bool // an X action looks right
	nameless bool                // nothing is called by the text
}

// shape is what an action looks like.
type shape struct {
	memory  bool // an M action
	records bool
	plain   bool // nothing is read to find what is recorded, and only one thing is
	sets    bool // a trace state variable
}

func shapeOf(p *ax.Program) shape {
	s := shape{plain: true}
	recordings := 0
	for in := range p.Instructions() {
		switch in.Op {
		case ax.OpTrace, ax.OpTraceQuick, ax.OpTrace16, ax.OpTracenz:
			recordings++
		case ax.OpTracev:
			s.records, s.plain = true, false
		case ax.OpRef8, ax.OpRef16, ax.OpRef32, ax.OpRef64, ax.OpGetv, ax.OpGoto, ax.OpIfGoto:
			s.plain = false
		case ax.OpSetv:
			s.sets, s.plain = true, false
		}
	}
	s.records = s.records || recordings > 0
	s.plain = s.plain && recordings <= 1
	return s
}

// splitCommands takes the commands of a tracepoint apart: those at the hit and those of its while-stepping.
func splitCommands(commands []string) (hit, step []string) {
	stepping := false
	for _, command := range commands {
		switch word, _, _ := strings.Cut(strings.TrimSpace(command), " "); {
		case word == "while-stepping" || word == "stepping" || word == "ws":
			stepping = true
		case word == "end":
			stepping = false
		case stepping:
			step = append(step, command)
		default:
			hit = append(hit, command)
		}
	}
	return hit, step
}

// expectations reads commands, nil if there is one that is not understood.
func (v *View) expectations(c *collection, commands []string) []expectation {
	var all []expectation
	for _, command := range commands {
		command = strings.TrimSpace(command)
		length := strings.IndexAny(command, " \t/")
		if length < 3 {
			return nil
		}
		word, rest := command[:length], command[length:]
		switch {
		case strings.HasPrefix("collect", word):
			asText := strings.HasPrefix(rest, "/")
			if asText {
				_, rest, _ = strings.Cut(rest, " ")
			}
			for _, text := range splitList(rest) {
				e, ok := v.expectation(c, text)
				if !ok {
					return nil
				}
				if matches := e.matches; asText {
					e.matches = func(d *draft) bool { return matches(d) || d.source.kind == sourceString && e.text != "" }
				}
				all = append(all, e)
			}
		case strings.HasPrefix("teval", word):
			for range splitList(rest) {
				all = append(all, expectation{least: 1, nameless: true, matches: func(d *draft) bool { return !d.shape.records }})
			}
		default:
			return nil
		}
	}
	return all
}

// splitList splits at the commas that are in no brackets and no quotes.
func splitList(text string) []string {
	var parts []string
	depth, start := 0, 0
	quote := rune(0)
	for i, r := range text {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case strings.ContainsRune("([{", r):
			depth++
		case strings.ContainsRune(")]}", r):
			depth--
		case r == ',' && depth == 0:
			parts = append(parts, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	return append(parts, strings.TrimSpace(text[start:]))
}

func isPlain(d *draft) bool { return d.shape.plain }

// expectation says what one text of a collect command can become.
func (v *View) expectation(c *collection, text string) (e expectation, ok bool) {
	switch text {
	case "":
		return e, false
	case "$regs", "$_sdata":
		return expectation{nameless: true, matches: func(*draft) bool { return false }}, true
	case "$args", "$locals":
		return expectation{many: true, memory: true, nameless: true, matches: isPlain}, true
	case "$_ret":
		return expectation{text: text, least: 1, matches: func(d *draft) bool { return d.shape.records }}, true
	}
	name, isVariable := strings.CutPrefix(text, "$")
	switch {
	case isVariable && isName(name):
		if v.Layout != nil && v.Layout.ByName(name) != nil || slices.Contains(registerAliases, name) {
			return expectation{nameless: true, matches: func(*draft) bool { return false }}, true
		}
		if number, ok := v.variableNumber(name); ok {
			return expectation{text: text, least: 1, matches: func(d *draft) bool {
				return d.source.kind == sourceVariable && d.source.variable == number
			}}, true
		}
		return e, false
	case isName(strings.ReplaceAll(text, "::", "_")):
		return v.nameExpectation(c, text), true
	}
	return v.expressionExpectation(c, text), true
}

// nameExpectation is that of a variable. Where the program says where the variable is there is no choice.
func (v *View) nameExpectation(c *collection, name string) expectation {
	e := expectation{text: name, memory: true, matches: isPlain}
	for _, local := range c.locals {
		switch {
		case local.Name != name:
		case local.Place == ctype.InFrame:
			return expectation{text: name, least: 1, matches: func(d *draft) bool {
				return d.accesses && d.access.offset == local.Offset
			}}
		default:
			return e
		}
	}
	if addr, typ, ok := v.types.Global(name); ok && typ.Kind == ctype.Record {
		return expectation{text: name, least: 1, matches: func(d *draft) bool {
			return d.source.kind == sourceMemory && d.source.addr == addr+v.Symbols.Bias()
		}}
	} else if ok {
		e.matches = func(*draft) bool { return false }
	}
	return e
}

// expressionExpectation is that of what is more than a name. What follows a pointer is no variable of a frame itself, unless
// the pointer is an array's name. If the size is known only an action with that will do.
func (v *View) expressionExpectation(c *collection, text string) expectation {
	e := expectation{text: text, least: 1, matches: func(d *draft) bool {
		return !strings.Contains(text, "->") || !d.accesses || !d.shape.plain
	}}
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "(") {
		e.least, e.memory = 0, true
	}
	if v.types == nil {
		return e
	}
	if typ, ok := filter.TypeOf(text, &declarations{v, c}); ok {
		e.matches = func(d *draft) bool {
			return d.source.kind == sourceResult || d.source.kind == sourceString || d.source.size == uint64(typ.Size)
		}
	}
	return e
}

// registerAliases are GDB's own names for registers of any machine.
var registerAliases = []string{"pc", "sp", "fp", "ps"}

// isName reports whether a text is one word.
func isName(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !filter.IsWord(r) }) && (text[0] < '0' || text[0] > '9')
}

func (v *View) variableNumber(name string) (int32, bool) {
	for number, known := range v.variables {
		if known.text == name {
			return number, true
		}
	}
	return 0, false
}

// mostPairs bounds the work that the definition of a tracepoint can ask for. No user comes near it.
const mostPairs = 1 << 20

// pair gives actions the names of the texts that they come from, where that is certain.
func pair(drafts []*draft, texts []expectation) {
	var code []*draft
	var memory []*draft
	for _, d := range drafts {
		if d.shape.memory {
			memory = append(memory, d)
		} else {
			code = append(code, d)
		}
	}
	if len(texts)*len(code) > mostPairs {
		return
	}
	a := alignment{texts, code}
	before, behind := a.before(), a.behind()
	if !behind[0][0] {
		return
	}
	var unpaired []expectation
	groups := false
	for i, e := range texts {
		groups = groups || e.many
		if e.many {
			continue
		}
		place, certain := a.place(i, before, behind)
		switch {
		case certain && place < 0 && e.memory:
			unpaired = append(unpaired, e)
		case certain && place >= 0 && !e.nameless:
			code[place].name = e.text
		case !certain:
			groups = true
		}
	}
	if len(unpaired) == 1 && len(memory) == 1 && !groups {
		memory[0].name = unpaired[0].text
	}
}

// alignment is texts and actions to be laid side by side.
type alignment struct {
	texts []expectation
	code  []*draft
}

func (a alignment) fits(i, k int) bool { return k < len(a.code) && a.texts[i].matches(a.code[k]) }

func (a alignment) table() [][]bool {
	table := make([][]bool, len(a.texts)+1)
	for i := range table {
		table[i] = make([]bool, len(a.code)+1)
	}
	return table
}

// before says for each number of texts which numbers of actions they can have become.
func (a alignment) before() [][]bool {
	t := a.table()
	t[0][0] = true
	for i := range a.texts {
		for k := range t[i] {
			if t[i][k] && a.texts[i].least == 0 {
				t[i+1][k] = true
			}
			if k < len(a.code) && a.fits(i, k) {
				t[i+1][k+1] = t[i+1][k+1] || t[i][k] || a.texts[i].many && t[i+1][k]
			}
		}
	}
	return t
}

// behind says for each text and action whether the texts from there on can have become the actions from there on.
func (a alignment) behind() [][]bool {
	t := a.table()
	t[len(a.texts)][len(a.code)] = true
	for i := len(a.texts) - 1; i >= 0; i-- {
		for k := len(a.code); k >= 0; k-- {
			t[i][k] = a.texts[i].least == 0 && t[i+1][k] ||
				a.fits(i, k) && (t[i+1][k+1] || a.texts[i].many && t[i][k+1])
		}
	}
	return t
}

// place finds the action that a text became, -1 for none, and whether there is only one way.
func (a alignment) place(i int, before, behind [][]bool) (place int, certain bool) {
	ways := 0
	for k := range before[i] {
		if !before[i][k] {
			continue
		}
		if a.texts[i].least == 0 && behind[i+1][k] {
			place = -1
			ways++
			break
		}
	}
	for k := range a.code {
		if before[i][k] && a.fits(i, k) && behind[i+1][k+1] {
			place = k
			ways++
		}
	}
	return place, ways == 1
}
