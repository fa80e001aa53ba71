package cexpr

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tracewell/symbol/ctype"
)

// piece is a part of an expression that is made at random: as a person would write it, and as outline does.
type piece struct {
	text, outline string
	level         int // how tight it binds: that of its operator
}

// How tight things bind, loosest first; between them are the binary operators.
const (
	bindsComma = iota
	bindsAssign
	bindsChoice
	bindsBinary
	bindsUnary   = bindsBinary + 20
	bindsPostfix = bindsUnary + 1
)

// binaries are the binary operators by how tight they bind, after the manuals of C and GDB.
var binaries = strings.Fields("|| && | ^ & ==,!= <,>,<=,>= <<,>> @ +,- *,/,%")

// maker makes expressions of the dialect Tracing.
type maker struct{ *rand.Rand }

func (m maker) pick(words ...string) string { return words[m.IntN(len(words))] }

// at writes a piece where only those are right that bind as tight as a level.
func (p piece) at(level int) string {
	if p.level < level {
		return "(" + p.text + ")"
	}
	return p.text
}

func (m maker) leaf() piece {
	text := m.pick("a", "b", "$v", "1", "0x1f", "'c'", "ns::x", "::g", "'f.c'::s", "Stack<int>::n", "\"s\"")
	return piece{text, text, bindsPostfix}
}

func (m maker) piece(depth int) piece {
	if depth == 0 {
		return m.leaf()
	}
	sub := func() piece { return m.piece(depth - 1 - m.IntN(depth)) }
	switch m.IntN(10) {
	case 0:
		return m.loose(sub(), sub(), sub())
	case 1, 2, 3:
		return m.binary(sub(), sub())
	case 4, 5:
		return m.prefix(sub())
	case 6:
		typ := m.pick("job", "struct job *", "unsigned char", "ns::Point *", "int [4]")
		text := m.pick("sizeof(%s)", "sizeof (%s)")
		return piece{fmt.Sprintf(text, typ), "(sizeof " + typ + ")", bindsUnary}
	case 7:
		x := sub()
		typ, form := m.pick("int", "job *", "unsigned char"), m.pick("static_cast", "reinterpret_cast", "const_cast")
		return piece{form + "<" + typ + ">(" + x.text + ")", "(cast " + typ + " " + x.outline + ")", bindsPostfix}
	}
	return m.postfix(sub(), sub())
}

func (m maker) loose(x, y, z piece) piece {
	switch m.IntN(3) {
	case 0:
		return piece{x.at(bindsComma) + ", " + y.at(bindsAssign), "(, " + x.outline + " " + y.outline + ")", bindsComma}
	case 1:
		op := m.pick("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")
		return piece{x.at(bindsChoice) + op + y.at(bindsAssign), "(" + op + " " + x.outline + " " + y.outline + ")", bindsAssign}
	}
	return piece{x.at(bindsBinary) + " ? " + y.at(bindsChoice) + " : " + z.at(bindsChoice), "(? " + x.outline + " " + y.outline + " " + z.outline + ")", bindsChoice}
}

func (m maker) binary(x, y piece) piece {
	level := m.IntN(len(binaries))
	op := m.pick(strings.Split(binaries[level], ",")...)
	level += bindsBinary
	return piece{x.at(level) + " " + op + " " + y.at(level+1), "(" + op + " " + x.outline + " " + y.outline + ")", level}
}

func (m maker) prefix(x piece) piece {
	inner := " " + x.at(bindsUnary)
	switch m.IntN(4) {
	case 0:
		op := m.pick("++", "--")
		return piece{op + inner, "(" + op + " " + x.outline + ")", bindsUnary}
	case 1:
		typ := m.pick("struct job", "long", "char *", "ns::Point", "size_t", "double")
		return piece{"(" + typ + ")" + inner, "(cast " + typeOutline(typ) + " " + x.outline + ")", bindsUnary}
	case 2:
		return piece{"{int}" + inner, "(at int " + x.outline + ")", bindsUnary}
	}
	if op := m.pick("-", "+", "!", "~", "*", "&", "sizeof"); op != "sizeof" || !strings.HasPrefix(inner, " (") {
		return piece{op + inner, "(" + op + " " + x.outline + ")", bindsUnary}
	}
	return x
}

// typeOutline is how outline writes a type whose name the parser takes for another's.
func typeOutline(typ string) string {
	if typ == "size_t" {
		return "unsigned long"
	}
	return typ
}

func (m maker) postfix(x, y piece) piece {
	whole := x.at(bindsPostfix)
	switch m.IntN(4) {
	case 0:
		return piece{whole + "[" + y.text + "]", "([] " + x.outline + " " + y.outline + ")", bindsPostfix}
	case 1:
		op := m.pick("++", "--")
		return piece{whole + " " + op, "(after" + op + " " + x.outline + ")", bindsPostfix}
	case 2:
		return piece{whole + " .1.2", "(.__2 (.__1 " + x.outline + "))", bindsPostfix}
	}
	op, name := m.pick(".", "->"), m.pick("m", "Base::m", "A::B::m")
	return piece{whole + " " + op + " " + name, "(" + op + name + " " + x.outline + ")", bindsPostfix}
}

// treeNames are fewNames, of which size_t is not a value.
type treeNames struct{ fewNames }

func (n treeNames) Value(name string) bool { return name != "size_t" && n.fewNames.Value(name) }

// TestTrees has expressions of all forms, put together at random, read into the trees that they were made of.
func TestTrees(t *testing.T) {
	m := maker{rand.New(rand.NewPCG(61, 62))}
	for range 20_000 {
		p := m.piece(m.IntN(6))
		text := m.pick("", " ") + p.text + m.pick("", "\t")
		root, err := Parse(text, treeNames{}, Tracing)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := outline(root); got != p.outline {
			t.Fatalf("%s: %s\nwant\n%s", text, got, p.outline)
		}
		if got := text[root.Start():root.End()]; got != p.text && "("+got+")" != p.text && !strings.Contains(p.text, "(") {
			t.Fatalf("%s: the whole is %q", text, got)
		}
		checkParts(t, text, root)
		if list, err := ParseList("a, ("+text+"),b", treeNames{}, Tracing); err != nil || len(list) != 3 || outline(list[1]) != outline(root) {
			t.Fatalf("a, (%s), b: %v, %v", text, list, err)
		}
	}
}

// checkParts sees that each part of a tree is where it says, is read alone as the same, and lies in the whole.
func checkParts(t *testing.T, text string, n *Node) {
	t.Helper()
	part, err := Parse(text[n.Start():n.End()], treeNames{}, Tracing)
	if err != nil || outline(part) != outline(n) && n.Form != Member {
		t.Fatalf("%s: the part %q: %v, want %s", text, text[n.Start():n.End()], err, outline(n))
	}
	if Normal(text[n.Start():n.End()]) != n.String() && !strings.Contains(text, "\"") {
		t.Fatalf("%s: the part is written %q", text, n)
	}
	if e := n.Error(text, "p", "h"); e.Text != text || e.Start != n.Start() || e.End != n.End() || e.Problem != "p" || e.Hint != "h" {
		t.Fatalf("%s: %+v", text, e)
	}
	for _, kid := range n.Kids {
		if kid.Start() < n.Start() || kid.End() > n.End() {
			t.Fatalf("%s: a part from %d to %d lies in one from %d to %d", text, kid.Start(), kid.End(), n.Start(), n.End())
		}
		checkParts(t, text, kid)
	}
}

// TestLimits: what may lie within one another, and follow one another, is bounded, and the bound is what messages say.
func TestLimits(t *testing.T) {
	const most = 200
	repeat := strings.Repeat
	for _, test := range []struct {
		name    string
		text    func(n int) string
		allowed int
		problem string
	}{
		{"operators", func(n int) string { return "1" + repeat("+1", n) }, most, "more than 200 operators in a row"},
		{"commas", func(n int) string { return "1" + repeat(",1", n) }, most, "more than 200 operators in a row"},
		{"members", func(n int) string { return "a" + repeat(".m", n) }, most - 1, "more than 200 members and indexes in a row"},
		{"indexes", func(n int) string { return "a" + repeat("[1]", n) }, most - 1, "more than 200 members and indexes in a row"},
		// An expression is an assignment, a choice and an operand of unary operators, one within the other.
		{"unary operators", func(n int) string { return repeat("!", n) + "1" }, most - 3, "more than 200 parts within one another"},
		{"assignments", func(n int) string { return repeat("a=", n) + "1" }, most - 3, "more than 200 parts within one another"},
		{"choices", func(n int) string { return repeat("1?2:", n) + "3" }, most - 3, "more than 200 parts within one another"},
		{"parentheses", func(n int) string { return repeat("(", n) + "1" + repeat(")", n) }, most/3 - 1, "more than 200 parts within one another"},
	} {
		if _, err := Parse(test.text(test.allowed), fewNames{}, Tracing); err != nil {
			t.Errorf("%d %s: %v", test.allowed, test.name, err)
		}
		if _, err := Parse(test.text(test.allowed+1), fewNames{}, Tracing); err == nil || err.Problem != test.problem {
			t.Errorf("%d %s: %v", test.allowed+1, test.name, err)
		}
	}
	arguments := func(n int) string { return "Stack<" + strings.Repeat("*", n) + "int>::x" }
	if n, err := Parse(arguments(mostArguments-2), fewNames{}, Tracing); err != nil || n.Form != NameForm {
		t.Errorf("%d arguments: %v", mostArguments, err)
	}
	if n, err := Parse(arguments(mostArguments-1), fewNames{}, Tracing); err == nil && n.Form == NameForm {
		t.Error("more arguments than allowed are a name")
	}
}

// onlyTypes are the types of fewNames, and no values.
type onlyTypes struct{ fewNames }

func (onlyTypes) Value(string) bool { return false }

// TestArrays has lengths of array types, and their bounds.
func TestArrays(t *testing.T) {
	for text, want := range map[string]int{
		"sizeof(char[16])": 16, "sizeof(int[2][3])": 24, "sizeof(char *[3])": 24, "sizeof(char[2147483648])": 1 << 31, "sizeof(short[0])": 0, "sizeof(char const volatile [2])": 2,
		"sizeof(char[2147483649])": -1, "sizeof(short[1073741825])": -1, "sizeof(char[65536][32769])": -1, "sizeof(char[])": -1, "sizeof(char['a'])": -1, "sizeof(char[n])": -1,
		"sizeof(char[2)": -1, "sizeof(char[18446744073709551616])": -1, "sizeof(int8_t)": 1, "sizeof(uint16_t)": 2, "sizeof(int32_t[1])": 4, "sizeof(uint64_t)": 8,
		"sizeof(ptrdiff_t)": 8, "sizeof(double)": 8, "sizeof(float)": 4, "sizeof(struct job)": 16, "sizeof(double long)": -1, "sizeof(long float)": -1, "sizeof(union job)": -1, "sizeof(struct)": -1,
		"sizeof(short[1073741824])": 1 << 31,
	} {
		n, err := Parse(text, onlyTypes{}, Tracing)
		got := -1
		if err == nil && n.Form == SizeType {
			got = n.Type.Size
		}
		if got != want {
			t.Errorf("%s: %d, want %d: %v", text, got, want, err)
		}
	}
	for name, signed := range map[string]bool{"size_t": false, "ssize_t": true, "intptr_t": true, "uintptr_t": false, "ptrdiff_t": true, "int8_t": true, "uint8_t": false, "int16_t": true,
		"uint16_t": false, "int32_t": true, "uint32_t": false, "int64_t": true, "uint64_t": false} {
		for _, target := range abis {
			size := target.abi.Pointer
			if bits := strings.Trim(name, "uint_"); bits != "" && strings.ContainsAny(bits, "1234568") {
				fmt.Sscan(bits, &size)
				size /= 8
			}
			if n, err := Parse("sizeof("+name+")", onlyABI{target.abi}, Reading); err != nil || n.Type == nil || n.Type.Signed != signed || n.Type.Size != size {
				t.Errorf("%s: %+v, %v, want %d bytes", name, n, err, size)
			}
		}
	}
}

// TestReading: what only tracepoints have is an error where recorded values are read, and the message says why.
func TestReading(t *testing.T) {
	for text, want := range map[string]string{
		"a = 1": "= changes what was recorded\n  a = 1\n    ^\nto compare, write ==", "a += 1": "+= changes what was recorded\n  a += 1\n    ^~",
		"a++": "++ changes what was recorded\n  a++\n   ^~", "--a": "-- changes what was recorded\n  --a\n  ^~", "a >>= 2": ">>= changes what was recorded\n  a >>= 2\n    ^~~",
		"a, b": "found ,, expected an operator or the end\n  a, b\n   ^", "f(1)": "a function cannot be called\n  f(1)\n   ^\nnothing runs any more: only what was collected is there",
		"\"s\"": "", "\"s": "this begins nothing that an expression has\n  \"s\n  ^", "'ab'::x": "found ::, expected an operator or the end\n  'ab'::x\n      ^~",
		"é§ + 1": "this begins nothing that an expression has\n  é§ + 1\n   ^", "a\nb": "found b, expected an operator or the end\n  a b\n    ^",
		"(int": "found the end, expected )\n  (int\n      ^", "{int": "found the end, expected }\n  {int\n      ^", "a[1": "found the end, expected ]\n  a[1\n     ^",
		"a ? b c": "found c, expected :\n  a ? b c\n        ^", "'": "this begins nothing that an expression has\n  '\n  ^", "'\\'": "this begins nothing that an expression has\n  '\\'\n  ^",
		"a.0": "found .0", "sizeof(int *": "found the end, expected )\n  sizeof(int *\n              ^", "{3} a": "found 3, expected a type\n  {3} a\n   ^",
		"(unsigned signed) a": "unsigned signed is no integer type\n  (unsigned signed) a\n   ^~~~~~~~", "a ::": "found the end, expected a name\n  a ::\n      ^",
		":: 1": "found 1, expected a name\n  :: 1\n     ^", "struct": "", "static_cast<int>(a)": "", "$": "", "(struct": "found the end, expected the name of a type\n  (struct\n         ^",
	} {
		_, err := Parse(text, fewNames{}, Reading)
		switch {
		case want == "" && err == nil:
		case strings.HasPrefix(want, "found ") && !strings.Contains(want, "\n"):
			if err == nil {
				t.Errorf("%q: no error", text)
			}
		case err == nil || err.Error() != want:
			t.Errorf("%q: the message is\n%v\nwant\n%s", text, err, want)
		}
	}
	if _, err := ParseList("a, b c", fewNames{}, Reading); err == nil || err.Problem != "found c, expected an operator or the end" {
		t.Error(err)
	}
	if _, err := ParseList("§", fewNames{}, Reading); err == nil {
		t.Error("no error")
	}
	if wrong := (&Error{Text: "é\tb", Start: 3, End: 9, Problem: "p"}).Error(); wrong != "p\n  é b\n    ^" {
		t.Errorf("%q", wrong)
	}
	if wrong := (&Error{Text: "abc", Start: 9, End: 2, Problem: "p", Hint: "h"}).Error(); wrong != "p\n  abc\n     ^\nh" {
		t.Errorf("%q", wrong)
	}
}

// distanceOf is what distance has to be, by trying: the fewest letters put in, left out, replaced or swapped with the next, none
// of them twice.
func distanceOf(a, b string) int {
	switch {
	case a == "":
		return len(b)
	case b == "":
		return len(a)
	}
	last, other := a[len(a)-1], b[len(b)-1]
	replace := distanceOf(a[:len(a)-1], b[:len(b)-1])
	if last != other {
		replace++
	}
	best := min(replace, distanceOf(a[:len(a)-1], b)+1, distanceOf(a, b[:len(b)-1])+1)
	if len(a) > 1 && len(b) > 1 && last == b[len(b)-2] && other == a[len(a)-2] {
		best = min(best, distanceOf(a[:len(a)-2], b[:len(b)-2])+1)
	}
	return best
}

// TestSuggest has the distance of names, and what is said of names at any distance.
func TestSuggest(t *testing.T) {
	random := rand.New(rand.NewPCG(63, 64))
	name := func(alphabet string, most int) string {
		b := make([]byte, random.IntN(most+1))
		for i := range b {
			b[i] = alphabet[random.IntN(len(alphabet))]
		}
		return string(b)
	}
	for range 3000 {
		a, b, limit := name("abc", 6), name("abc", 6), random.IntN(8)
		if want := min(distanceOf(a, b), limit+1); Distance(a, b, limit) != want {
			t.Fatalf("from %q to %q: %d, want %d", a, b, Distance(a, b, limit), want)
		}
	}
	for range 3000 {
		asked, names := "$"[:random.IntN(2)]+name("abC", 9), make([]string, random.IntN(16))
		var close []string
		lower := func(s string) string { return strings.ToLower(strings.TrimPrefix(s, "$")) }
		for i := range names {
			names[i] = "$"[:random.IntN(2)] + name("aBc", 9)
		}
		for limit := range 12 { // by distance, then as they come
			for _, n := range names {
				kind := strings.HasPrefix(n, "$") == strings.HasPrefix(asked, "$")
				d, length := Distance(lower(asked), lower(n), 100), len(lower(asked))
				if d == limit && (d == 0 || kind && d <= 1+length/5 && d < length) {
					close = append(close, n)
				}
			}
		}
		var want string
		switch {
		case len(names) == 0:
		case len(close) == 0 && len(names) <= 12:
			want = "there are " + strings.Join(names, ", ")
		case len(close) == 0:
			want = fmt.Sprintf("there are %s and %d more", strings.Join(names[:12], ", "), len(names)-12)
		case len(close) == 1:
			want = "did you mean " + close[0] + "?"
		case len(close) == 2:
			want = "did you mean " + close[0] + " or " + close[1] + "?"
		default:
			want = "did you mean " + close[0] + ", " + close[1] + " or " + close[2] + "?"
		}
		if got := Suggest(asked, slices.Clone(names)); got != want {
			t.Fatalf("%q of %q: %s, want %s", asked, names, got, want)
		}
	}
}

// TestNormal writes expressions without blanks, but for those between words, and leaves alone what is none.
func TestNormal(t *testing.T) {
	for text, want := range map[string]string{
		" a +  b ": "a+b", "struct  job * p": "struct job*p", "sizeof x": "sizeof x", "$a $b": "$a $b", "1 2": "1 2", "'a' 'b'": "'a''b'", "a 1": "a 1", "1e+5+x": "1e+5+x", "0x1e +5": "0x1e+5",
		"1 e": "1 e", "a§": "a§", "": "", "\t\r\n x": "x", "0x1p-3-1": "0x1p-3-1", "0X1P+3": "0X1P+3", "1.5 .m": "1.5.m", "a...b": "a...b", "é1": "é1", "1_000u": "1_000u", "'\\''+1": "'\\''+1",
	} {
		if got := Normal(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]int{"1e+5": 1, "1E-5": 1, "0x1e+5": 3, "1p+5": 3, "0x1p+5": 1, "1+5": 3, "a+1e": 3, "1..2": 1} {
		if tokens, err := lex(text); err != nil || len(tokens) != want+1 {
			t.Errorf("%s: %v, %v", text, tokens, err)
		}
	}
	if n := NewName("count"); n.String() != "count" || n.Form != NameForm || n.Token.Text != "count" || n.Start() != 0 || n.End() != 5 {
		t.Errorf("%+v", n)
	}
	for text, want := range map[string]string{"ns :: x": "ns :: x", "'f.c' :: s": "'f.c' :: s", "a . Base :: m": "Base :: m", ":: g": ":: g"} {
		if n, err := Parse(text, fewNames{}, Tracing); err != nil || n.Token.Text != want || text[n.Token.Start:n.Token.End()] != want || n.Token.Kind != Name {
			t.Errorf("%s: %+v, %v", text, n, err)
		}
	}
}

// longInt are the names of a program whose int has eight bytes, as Go's has.
type longInt struct{ onlyTypes }

func (l longInt) Type(name string) (*ctype.Type, bool) {
	if name == "int" {
		return ctype.Int(8, true), true
	}
	return l.onlyTypes.Type(name)
}

// TestAmbiguous has what may be a name or something else, depending on what the program has and what follows.
func TestAmbiguous(t *testing.T) {
	for _, test := range []struct {
		text    string
		names   Names
		dialect Dialect
		want    string // outline, or what the message begins with
	}{
		{"job(x) + 1", onlyTypes{}, Tracing, "(+ (cast job x) 1)"}, {"size_t(x).m", onlyTypes{}, Tracing, "(.m (cast unsigned long x))"}, {"ns::Point(x)", onlyTypes{}, Tracing, "(cast ns::Point x)"},
		{"job(x)", fewNames{}, Reading, "a function cannot be called"}, {"size_t(x)", fewNames{}, Tracing, "a function cannot be called"}, {"int x", onlyTypes{}, Tracing, "found x, expected ("},
		{"job + 1", onlyTypes{}, Tracing, "(+ job 1)"}, {"unsigned char(x)", onlyTypes{}, Tracing, "(cast unsigned char x)"},
		{"'ab' + 1", fewNames{}, Tracing, "(+ 'ab' 1)"}, {"'ab'", fewNames{}, Tracing, "'ab'"}, {"'\\400'", fewNames{}, Tracing, "'\\400'"}, {"''", fewNames{}, Tracing, "''"},
		{"a.0x1", fewNames{}, Tracing, "found 0x1, expected the name of a member"}, {"a.1u", fewNames{}, Tracing, "found 1u, expected the name of a member"},
		{"Stack<int>", fewNames{}, Tracing, "Stack<int>"}, {"Heap<int> + 1", fewNames{}, Tracing, "found >, expected"}, {"a < b >> c", fewNames{}, Tracing, "(< a (>> b c))"},
		{"Map<int, Stack<int>>", fewNames{}, Tracing, "Map<int,Stack<int>>"}, {"Heap<a, 1>::x", fewNames{}, Tracing, "Heap<a,1>::x"}, {"Heap<\"a\">::x", fewNames{}, Tracing, "(> (< Heap \"a\") ::x)"},
		{"sizeof job", onlyTypes{}, Reading, "(sizeof job)"}, {"sizeof (x)", onlyTypes{}, Reading, "(sizeof x)"},
	} {
		n, err := Parse(test.text, test.names, test.dialect)
		if err == nil && strings.ReplaceAll(outline(n), ", ", ",") != test.want || err != nil && !strings.HasPrefix(err.Problem, test.want) {
			t.Errorf("%s: %v, %v, want %s", test.text, n, err, test.want)
		}
	}
	for text, want := range map[string]Form{"'ab'": NameForm, "'abc'": NameForm, "'a'": Literal, "'\\400'": Literal, "''": Literal, "'a'::x": NameForm, "\"s\"": Literal, "$1": NameForm} {
		if n, err := Parse(text, fewNames{}, Tracing); err != nil || n.Form != want {
			t.Errorf("%s: %+v, %v", text, n, err)
		}
	}
	for text, want := range map[string]int{"sizeof(int)": 8, "sizeof(const int)": 8, "sizeof(unsigned int)": 4, "sizeof(long)": 8, "sizeof(int *)": 8, "sizeof(int[2])": 16} {
		if n, err := Parse(text, longInt{}, Tracing); err != nil || n.Type.Size != want {
			t.Errorf("%s: %+v, %v", text, n, err)
		}
	}
	if n, err := Parse("sizeof(int)", longInt{}, Reading); err != nil || n.Type.Size != 4 {
		t.Errorf("%+v, %v", n, err)
	}
	if _, err := Parse("a + § b", fewNames{}, Reading); err == nil || err.Start != 4 || err.End != 6 {
		t.Errorf("%+v", err)
	}
	record := ctype.RecordOf("job", 8, ctype.Field{Name: "count"}, ctype.Field{Name: "next"})
	if near, all := SuggestMember("cuont", record), SuggestMember("previous", record); near != "did you mean count?" || all != "there are count, next" {
		t.Errorf("%s; %s", near, all)
	}
}
