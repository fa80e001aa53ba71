package plan

import (
	"regexp"
	"strconv"
	"strings"
)

// collection reads what stands behind "collect": modifiers, and a list of expressions.
func collection(t Text) (Action, error) {
	a := Action{Kind: Collect}
	if strings.HasPrefix(t.Value, "/") {
		modifiers, rest := t.cut()
		digits, ok := strings.CutPrefix(modifiers.Value, "/s")
		limit, err := uint64(0), error(nil)
		if digits != "" {
			limit, err = strconv.ParseUint(digits, 10, 16)
		}
		if !ok || err != nil {
			return a, modifiers.fault("a collection is modified by /s or /s and a length up to 65535, as in /s64, and by nothing else")
		}
		a.String, a.Limit, t = true, limit, rest
	}
	var err error
	a.Expressions, err = t.list()
	return a, err
}

// evaluation reads what stands behind "teval".
func evaluation(t Text) (Action, error) {
	expressions, err := t.list()
	return Action{Kind: Evaluate, Expressions: expressions}, err
}

// assignment is the beginning of an expression that sets a trace state variable.
var assignment = regexp.MustCompile(`^\$([A-Za-z_][A-Za-z_0-9]*)\s*(?:=(?:[^=]|$)|(?:[-+*/%&|^]|<<|>>)=|\+\+|--)`)

// stepped is an expression that counts a trace state variable up or down before it is read.
var stepped = regexp.MustCompile(`^(?:\+\+|--)\s*\$([A-Za-z_][A-Za-z_0-9]*)$`)

// assigned returns the name of the variable that an expression sets.
func assigned(t Text) (name string, ok bool) {
	for _, form := range []*regexp.Regexp{assignment, stepped} {
		if m := form.FindStringSubmatch(t.Value); m != nil {
			return m[1], true
		}
	}
	return "", false
}

// definition is what stands behind "tvariable".
var definition = regexp.MustCompile(`^\$([A-Za-z_][A-Za-z_0-9]*)\s*(?:=\s*(.*))?$`)

// variable reads the definition of a trace state variable, "$count" or "$count = -5".
func variable(t Text) (Variable, error) {
	m := definition.FindStringSubmatchIndex(t.Value)
	if m == nil {
		return Variable{}, t.fault("a trace state variable is defined as $NAME or $NAME = NUMBER")
	}
	v := Variable{Name: t.Value[m[2]:m[3]]}
	if m[4] < 0 {
		return v, nil
	}
	initial := t.part(m[4], m[5])
	n, err := strconv.ParseInt(initial.Value, 0, 64)
	if err != nil {
		return v, initial.fault("an initial value is a number of 64 bits")
	}
	v.Initial = n
	return v, nil
}

// steps reads how many instructions a while-stepping follows.
func steps(t Text) (uint64, error) {
	n, err := strconv.ParseUint(t.Value, 0, 31)
	if err != nil || n == 0 {
		return 0, t.fault("while-stepping needs a number of steps, from 1 to 2147483647")
	}
	return n, nil
}

// place takes apart what stands behind "trace": a location, and a condition behind the word "if".
func place(t Text) (location, condition Text, err error) {
	location = t.part(0, len(t.Value))
	t.scan(func(i int) bool {
		blank := func(i int) bool { return strings.IndexByte(blanks, t.Value[i]) >= 0 }
		if blank(i) || i > 0 && !blank(i-1) {
			return true
		}
		word, _ := t.part(i, len(t.Value)).cut()
		switch word.Value {
		case "if":
			location, condition = t.part(0, i), t.part(i+len("if"), len(t.Value))
			if condition.Value == "" {
				err = word.fault("there is no condition behind this")
			}
			return false
		case "thread", "task", "inferior":
			err = word.fault("a tracepoint is for all threads: it can't be limited to one")
		case "-force-condition":
			err = word.fault("a condition has to be right everywhere: it can't be forced")
		}
		return err == nil
	})
	if err == nil && location.Value == "" {
		err = t.Fault(0, 0, "where? There is no location here", "")
	}
	return location, condition, err
}
