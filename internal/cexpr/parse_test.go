package cexpr

import (
	"errors"
	"strings"
	"testing"

	"tracewell/symbol/ctype"
)

// fewNames has the types job, ns::Point and Stack<int>, and a value of any other name.
type fewNames struct{}

func (fewNames) Type(name string) (*ctype.Type, bool) {
	switch name {
	case "job", "struct job", "ns::Point", "Stack<int>", "Map<int,Stack<int>>":
		return &ctype.Type{Kind: ctype.Record, Name: name, Size: 16}, true
	}
	return nil, false
}

func (n fewNames) Value(name string) bool {
	_, isType := n.Type(name)
	return !isType && !strings.Contains(name, "<")
}

func (fewNames) Keyword(word string) bool { return word != "bool" && word != "union" }

func (fewNames) ABI() ctype.ABI { return ctype.ABI{Pointer: 8, Long: 8} }

// outline writes a tree with all its parentheses.
func outline(n *Node) string {
	var kids []string
	for _, kid := range n.Kids {
		kids = append(kids, outline(kid))
	}
	list := strings.Join(kids, " ")
	switch n.Form {
	case NameForm, Literal:
		return n.String()
	case Member:
		return "(" + n.Op + n.Token.Text + " " + list + ")"
	case Cast, Memory, SizeType:
		return "(" + [...]string{Cast: "cast", Memory: "at", SizeType: "sizeof"}[n.Form] + " " + strings.TrimSpace(n.Type.String()+" "+list) + ")"
	case Index:
		return "([] " + list + ")"
	case Choice:
		return "(? " + list + ")"
	case SizeExpr:
		return "(sizeof " + list + ")"
	case StepAfter:
		return "(after" + n.Op + " " + list + ")"
	}
	return "(" + n.Op + " " + list + ")"
}

var parsed = map[string]string{
	"a + b * c":                        "(+ a (* b c))",
	"$count = $count + 1":              "(= $count (+ $count 1))",
	"$a = $b += 2, $c":                 "(, (= $a (+= $b 2)) $c)",
	"$n++ + ++$m":                      "(+ (after++ $n) (++ $m))",
	"bool + (union)*2":                 "(+ bool (* union 2))",
	"(a, b)":                           "(, a b)",
	"buf[0]@16":                        "(@ ([] buf 0) 16)",
	"x @ n + 1":                        "(@ x (+ n 1))",
	"{int} p + 1":                      "(+ (at int p) 1)",
	"(struct job *) p":                 "(cast struct job * p)",
	"(job) + 1":                        "(cast job (+ 1))",
	"(jab) + 1":                        "(+ jab 1)",
	"static_cast<unsigned char>(x).y":  "(.y (cast unsigned char x))",
	"reinterpret_cast<ns::Point *>(p)": "(cast ns::Point * p)",
	"int(x) + 1":                       "(+ (cast int x) 1)",
	"ns :: x":                          "ns::x",
	"::x":                              "::x",
	"'queue.c'::count + 1":             "(+ 'queue.c'::count 1)",
	"'github.com/x/y.Var'":             "'github.com/x/y.Var'",
	"'a' + '\\n'":                      "(+ 'a' '\\n')",
	"(Stack<int> *) p":                 "(cast Stack<int> * p)",
	"(Map<int, Stack<int>> *) p":       "(cast Map<int,Stack<int>> * p)",
	"Stack<char>::limit < 3":           "(< Stack<char>::limit 3)",
	"a < b > c":                        "(> (< a b) c)",
	"a < b":                            "(< a b)",
	"t.0":                              "(.__0 t)",
	"t.0.1":                            "(.__1 (.__0 t))",
	"p->Base::x":                       "(->Base::x p)",
	"*this.y[3]":                       "(* ([] (.y this) 3))",
	"main.count":                       "(.count main)",
	"sizeof (job) + sizeof x":          "(+ (sizeof job) (sizeof x))",
	"a ? b : c ? d : e":                "(? a b (? c d e))",
	"puts + \"text\"":                  "(+ puts \"text\")",
}

func TestParse(t *testing.T) {
	for text, want := range parsed {
		root, err := Parse(text, fewNames{}, Tracing)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := outline(root); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestParseList(t *testing.T) {
	list, err := ParseList("a, b + (c, d), $e", fewNames{}, Tracing)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range list {
		got = append(got, outline(n))
	}
	if text := strings.Join(got, "; "); text != "a; (+ b (, c d)); $e" {
		t.Error(text)
	}
}

// TestMistakes has where a message points to.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"a +":                "found the end, expected a value\n  a +\n     ^",
		"f(3)":               "a function cannot be called\n  f(3)\n   ^\na tracepoint looks at the program and runs nothing in it",
		"a::":                "found the end, expected a name\n  a::\n     ^",
		"static_cast<x>(y)":  "there is no type x\n  static_cast<x>(y)\n              ^\ninteger types of C are known, and those in the program's debugging information",
		"(struct pear *)a":   "there is no type struct pear\n  (struct pear *)a\n   ^~~~~~\ninteger types of C are known, and those in the program's debugging information",
		"\"open":             "this begins nothing that an expression has\n  \"open\n  ^",
		"a.":                 "found the end, expected the name of a member\n  a.\n    ^",
		"a, , b":             "found ,, expected a value\n  a, , b\n     ^",
		"x ? y":              "found the end, expected :\n  x ? y\n       ^",
		"(unsigned float) x": "found float, expected )\n  (unsigned float) x\n            ^~~~~",
	} {
		_, err := Parse(text, fewNames{}, Tracing)
		if err == nil || err.Error() != want {
			t.Errorf("%q: the message is\n%v\nwant\n%s", text, err, want)
		}
	}
}

// TestBounded: what is nested deeply or goes on for long is refused, and does not take long.
func TestBounded(t *testing.T) {
	for _, text := range []string{"(", "-", "$a=", "a,", "a<", "a[", "sizeof ", "{int}", "a?", "++", "t.0.", "*&"} {
		if _, err := Parse(strings.Repeat(text, 50_000)+"1", fewNames{}, Tracing); err == nil {
			t.Errorf("%s…: no error", text)
		}
	}
}

// FuzzParse: any text is an expression or an *Error that points into it, and no part lies outside of the text.
func FuzzParse(f *testing.F) {
	for text := range parsed {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseList(text, fewNames{}, Tracing)
		if err != nil {
			var wrong *Error
			if !errors.As(err, &wrong) || wrong.Start < 0 || wrong.Start > len(text) || wrong.End > len(text) || wrong.Error() == "" {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		for _, n := range list {
			if n.Start() < 0 || n.End() > len(text) || n.Start() >= n.End() || outline(n) == "" {
				t.Fatalf("%q: from %d to %d", text, n.Start(), n.End())
			}
		}
	})
}
