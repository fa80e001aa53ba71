package ctype

import (
	"strconv"
	"strings"
)

// String gives the type as C writes it: "struct job *", "int (*)(char)", "const char *[3]".
func (t *Type) String() string { return t.declare("", 0) }

// declare writes the type around what it declares, which begins with the stars and ends with the lengths and parameters. It
// lies so deep within another: damaged debugging information has types without end.
// C's declarators read from the inside out, so the text grows around its name: stars in front, lengths and parameters
// behind.
func (t *Type) declare(inner string, depth int) string {
	switch {
	case depth == deepest:
		return "…" + inner
	// Named types end it: what a typedef stands for is not spelled out.
	case t.Name != "":
		return t.qualifiers(" ") + join(t.Name, inner)
	case t.RValue:
		return t.Elem.behind("&&"+inner, depth)
	case t.Reference:
		return t.Elem.behind("&"+inner, depth)
	case t.Kind == Pointer:
		return t.Elem.behind("*"+t.suffix()+inner, depth)
	case t.Kind == MemberPointer:
		return t.Elem.behind(t.Class.declare("", depth+1)+"::*"+inner, depth)
	case t.Kind == Array && (t.Open || t.Bound != nil):
		return t.Elem.declare(inner+"[]", depth+1)
	case t.Kind == Array:
		return t.Elem.declare(inner+"["+strconv.Itoa(t.Count)+"]", depth+1)
	case t.Kind == Function:
		return t.Elem.declare(inner+t.parameters(depth), depth+1)
	}
	return join("unknown type", inner)
}

func join(name, inner string) string {
	if inner == "" {
		return name
	}
	return name + " " + inner
}

// behind writes the type that a pointer points to.
// [] and () bind closer than *, so that a pointer to an array or function needs parentheses.
func (t *Type) behind(pointer string, depth int) string {
	if t.Name == "" && (t.Kind == Array || t.Kind == Function) {
		pointer = "(" + pointer + ")"
	}
	return t.declare(pointer, depth+1)
}

func (t *Type) qualifiers(end string) string {
	text := ""
	if t.Const {
		text = "const" + end
	}
	if t.Volatile {
		text += "volatile" + end
	}
	if t.Restrict {
		text += "restrict" + end
	}
	return text
}

// suffix is the qualifiers of a pointer, which stand behind its star.
func (t *Type) suffix() string {
	if q := t.qualifiers(" "); q != "" {
		return " " + strings.TrimSuffix(q, " ")
	}
	return ""
}

func (t *Type) parameters(depth int) string {
	texts := make([]string, 0, len(t.Params))
	for _, p := range t.Params {
		texts = append(texts, p.declare("", depth+1))
	}
	switch {
	case t.Variadic:
		texts = append(texts, "...")
	case len(texts) == 0 && t.Prototyped:
		texts = []string{"void"}
	}
	return "(" + strings.Join(texts, ", ") + ")"
}
