package view

// GDB 13.1 makes actions of all collect and teval commands of a tracepoint together: first one R action with every register
// that is wanted or needed to find something, then the M actions, sorted by address with neighbours merged, then an X action
// for each expression in the order of the commands. A name of a variable with a fixed address becomes part of an M action if
// its type is simple; any other expression becomes an X action, but for registers; what $args and $locals stand for becomes
// any number of either; and a variable that the compiler left out becomes nothing, with a warning.
//
// So the texts of the commands and the X actions are two sequences of which some of the first stand for one of the second,
// some for none or one, some for any number. A text is the name of an action if it is so in every way to lay the sequences
// side by side, where an action also has to look as the text can make it.

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
	// Names are left away then; the items keep what their bytecode says.
	if len(texts)*len(code) > mostPairs {
		return
	}
	// before and behind are the two halves of a dynamic program: text i became action k in some way if the texts ahead
	// of i can have become the actions ahead of k, and those behind likewise.
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
	// One text without an expression and one M action: it can have become nothing else.
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
