package cexpr

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tracewell/symbol/ctype"
)

// rejected has a C compiler read one declaration a line, and returns the lines, from 0, that it finds wrong, but for those of a
// value that it cannot tell.
func rejected(t *testing.T, lines []string, flags ...string) map[int]bool {
	t.Helper()
	file := filepath.Join(t.TempDir(), "lines.c")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-fsyntax-only", "-std=gnu17", "-w", "-fwrapv", "-fmax-errors=0", "-fno-diagnostics-show-caret"}, append(flags, file)...)
	output, err := exec.CommandContext(t.Context(), "/usr/bin/gcc", args...).CombinedOutput()
	wrong := make(map[int]bool)
	for line := range strings.Lines(string(output)) {
		place, message, _ := strings.Cut(strings.TrimPrefix(line, file+":"), ":")
		if n, err := strconv.Atoi(place); err == nil && strings.Contains(message, " error: ") && !strings.Contains(message, "is not constant") {
			wrong[n-1] = true
		}
	}
	if err == nil && len(wrong) > 0 {
		t.Fatalf("gcc: %v: %.2000s", err, output)
	}
	return wrong
}

// abis are those that the compiler can be asked about, by its options.
var abis = []struct {
	flag string
	abi  ctype.ABI
}{
	{"-m64", ctype.ABI{Pointer: 8, Long: 8}},
	{"-m32", ctype.ABI{Pointer: 4, Long: 4}},
}

// holds is the declaration that an expression has a type.
func holds(expression string, typ *ctype.Type) string {
	signed := 0
	if typ.Signed {
		signed = 1
	}
	return fmt.Sprintf("_Static_assert(sizeof(%s) == %d && ((__typeof__(%s))-1 < 0) == %d, \"\");", expression, typ.Size, expression, signed)
}

// literals yields integers around all boundaries, in all bases and with all suffixes, and what is none.
func literals(random *rand.Rand) (texts []string) {
	for shift := range 64 {
		for _, n := range []uint64{1<<shift - 1, 1 << shift, 1<<shift + 1, random.Uint64() >> shift} {
			for _, format := range []string{"%d", "0x%x", "0X%X", "0%o", "0b%b", "0B%b"} {
				if number := fmt.Sprintf(format, n); format != "%d" || bits.Len64(n) < 64 {
					suffix := []string{"", "u", "U", "l", "L", "ul", "lu", "UL", "Lu", "ll", "LL", "ull", "llu", "ULL", "llU"}[random.IntN(15)]
					texts = append(texts, number, number+suffix)
				}
			}
		}
	}
	for range 800 {
		b := make([]byte, 1+random.IntN(6))
		for i := range b {
			b[i] = "0123456789abcdfxXulL"[random.IntN(20)]
		}
		b[0] = "0123456789"[random.IntN(10)]
		if text := string(b); !strings.Contains(text, "lL") && !strings.Contains(text, "Ll") && !regexp.MustCompile(`^\d+[fd]|^0[xX].*\.`).MatchString(text) {
			texts = append(texts, text)
		}
	}
	return texts
}

// TestIntegersAsTheCompiler has the compiler say of integer literals whether they are any, which value and which type they have.
func TestIntegersAsTheCompiler(t *testing.T) {
	texts := literals(rand.New(rand.NewPCG(51, 52)))
	for _, target := range abis {
		var lines []string
		for _, text := range texts {
			n, typ, ok := ParseInteger(text, target.abi)
			if !ok {
				lines = append(lines, fmt.Sprintf("int a%d = (%s) | 0;", len(lines), text))
				continue
			}
			lines = append(lines, holds(text, typ)+fmt.Sprintf(" _Static_assert(%s == %dull, \"\");", text, n))
		}
		wrong := rejected(t, lines, target.flag)
		for i, text := range texts {
			if _, typ, ok := ParseInteger(text, target.abi); ok == wrong[i] {
				t.Errorf("%s: %s is an integer here: %v, of type %v; the compiler does not think so", target.flag, text, ok, typ)
			}
		}
	}
	for text, want := range map[string]bool{"18446744073709551615": true, "18446744073709551616": false, "0x10000000000000000": false, "9223372036854775808": true, "": false, "u": false} {
		if n, typ, ok := ParseInteger(text, abis[0].abi); ok != want || ok && (typ.Signed || typ.Size != 8 || fmt.Sprint(n) != text) {
			t.Errorf("%s: %d, %v, %v", text, n, typ, ok)
		}
	}
}

// TestCharactersAsTheCompiler does so for literals of characters.
func TestCharactersAsTheCompiler(t *testing.T) {
	var texts []string
	for c := range 128 {
		if c >= ' ' && c != '\'' && c != '\\' && c < 127 {
			texts = append(texts, fmt.Sprintf("'%c'", c))
		}
		// GCC takes \( \{ and others for the character, and \E for that of \e.
		if c > ' ' && c < 127 && !strings.ContainsRune("({[%E", rune(c)) && strings.ContainsRune("abfnrtve\\'\"?x01789", rune(c)) {
			texts = append(texts, fmt.Sprintf("'\\%c'", c))
		}
	}
	for n := range 256 {
		texts = append(texts, fmt.Sprintf("'\\%o'", n), fmt.Sprintf("'\\x%x'", n), fmt.Sprintf("'\\x%02X'", n))
	}
	texts = append(texts, "'\\0'", "'\\00'", "'\\000'", "'\\x'", "''", "'\\400'", "'\\x100'")
	for _, unsigned := range []bool{false, true} {
		abi, flag := ctype.ABI{Pointer: 8, Long: 8, UnsignedChar: unsigned}, map[bool]string{false: "-fsigned-char", true: "-funsigned-char"}[unsigned]
		var lines []string
		for i, text := range texts {
			n, ok := ParseCharacter(text, abi)
			if !ok {
				lines = append(lines, fmt.Sprintf("int a%d = %s;", i, text))
				continue
			}
			lines = append(lines, fmt.Sprintf("_Static_assert(%s == %d, \"\");", text, int64(n)))
		}
		wrong := rejected(t, lines, flag, "-Werror=overflow")
		for i, text := range texts {
			n, ok := ParseCharacter(text, abi)
			large := text == "'\\400'" || text == "'\\x100'" || text == "'\\8'" || text == "'\\9'" // which GCC only warns of
			if ok == wrong[i] && !large || ok && large {
				t.Errorf("%s: %s is %d here, %v; the compiler does not think so", flag, text, int64(n), ok)
			}
		}
	}
	for _, text := range []string{"'ab'", "'a\\n'", "'\\nb'", "'\\n\\n'"} {
		if n, ok := ParseCharacter(text, abis[0].abi); ok {
			t.Errorf("%s is %d", text, n)
		}
	}
}

// TestConversionsAsTheCompiler has it say what type the sum of two integers has.
func TestConversionsAsTheCompiler(t *testing.T) {
	types := map[string]func(long int) *ctype.Type{
		"signed char": func(int) *ctype.Type { return ctype.Int(1, true) }, "unsigned char": func(int) *ctype.Type { return ctype.Int(1, false) },
		"short": func(int) *ctype.Type { return ctype.Int(2, true) }, "unsigned short": func(int) *ctype.Type { return ctype.Int(2, false) },
		"int": func(int) *ctype.Type { return ctype.Int(4, true) }, "unsigned": func(int) *ctype.Type { return ctype.Int(4, false) },
		"long": func(long int) *ctype.Type { return ctype.Int(long, true) }, "unsigned long": func(long int) *ctype.Type { return ctype.Int(long, false) },
		"long long": func(int) *ctype.Type { return ctype.Int(8, true) }, "unsigned long long": func(int) *ctype.Type { return ctype.Int(8, false) },
		"_Bool": func(int) *ctype.Type { return &ctype.Type{Kind: ctype.Bool, Size: 1} },
	}
	for _, target := range abis {
		var lines, names []string
		for a, first := range types {
			lines = append(lines, holds("+("+a+")0", Promoted(first(target.abi.Long))))
			names = append(names, a)
			for b, second := range types {
				lines = append(lines, holds(fmt.Sprintf("((%s)0 + (%s)0)", a, b), Common(first(target.abi.Long), second(target.abi.Long))))
				names = append(names, a+" and "+b)
			}
		}
		for i := range rejected(t, lines, target.flag) {
			t.Errorf("%s: %s: the compiler has another type", target.flag, names[i])
		}
	}
	if p := Promoted(ctype.PointerTo(ctype.Int(1, true), 8)); p.Size != 8 || p.Signed || p.Kind != ctype.Integer {
		t.Errorf("a pointer is promoted to %+v", p)
	}
}

// TestTypesAsTheCompiler puts all words of integer types together, all up to three of them, and some more at random.
func TestTypesAsTheCompiler(t *testing.T) {
	words := []string{"unsigned", "signed", "char", "short", "int", "long", "_Bool", "void", "const", "volatile"}
	var texts []string
	var add func(text string, n int)
	add = func(text string, n int) {
		if n > 0 {
			texts = append(texts, text)
		}
		for _, word := range words {
			if n < 3 {
				add(strings.TrimSpace(text+" "+word), n+1)
			}
		}
	}
	add("", 0)
	random := rand.New(rand.NewPCG(55, 56))
	for range 300 {
		texts = append(texts, texts[random.IntN(len(texts))]+" "+texts[random.IntN(len(texts))])
	}
	for _, unsigned := range []bool{false, true} {
		for _, target := range abis {
			abi := target.abi
			abi.UnsignedChar = unsigned
			read := func(text string) (*ctype.Type, bool) {
				n, err := Parse("sizeof("+text+")", onlyABI{abi}, Reading)
				if err != nil {
					return nil, false
				}
				return n.Type, n.Form == SizeType
			}
			var lines []string
			for _, text := range texts {
				typ, ok := read(text)
				if !ok || typ == ctype.Void {
					lines = append(lines, fmt.Sprintf("%s *a%d;", text, len(lines)))
					continue
				}
				lines = append(lines, holds("("+text+")0", typ))
			}
			wrong := rejected(t, lines, target.flag, map[bool]string{false: "-fsigned-char", true: "-funsigned-char"}[unsigned], "-Werror=implicit-int")
			for i, text := range texts {
				typ, ok := read(text)
				if qualifiersOnly := strings.Trim(strings.NewReplacer("const", "", "volatile", "").Replace(text), " ") == ""; qualifiersOnly {
					ok = true // int, in C of old, which the compiler says by a warning
				}
				if ok == wrong[i] {
					t.Errorf("%s: %s is the type %v here, %v; the compiler does not think so", target.flag, text, typ, ok)
				}
			}
		}
	}
}

// onlyABI are the names of a program that has none.
type onlyABI struct{ abi ctype.ABI }

func (onlyABI) Type(string) (*ctype.Type, bool) { return nil, false }
func (onlyABI) Value(string) bool               { return false }
func (o onlyABI) Keyword(string) bool           { return true }
func (o onlyABI) ABI() ctype.ABI                { return o.abi }

// constant writes an expression of constants without more parentheses than by chance.
func constant(random *rand.Rand, depth int) string {
	if depth == 0 {
		return []string{"1", "2", "3", "7", "0x10", "'a'", "100u", "5l", "0"}[random.IntN(9)]
	}
	sub := func() string { return constant(random, depth-1-random.IntN(depth)) }
	switch random.IntN(9) {
	case 0:
		return []string{"-", "+", "!", "~", "- -", "!~"}[random.IntN(6)] + constant(random, 0)
	case 1:
		return "(" + sub() + ")"
	case 2:
		return sub() + " ? " + sub() + " : " + sub()
	case 3:
		return []string{"(int)", "(unsigned char)", "sizeof ", "(long)-"}[random.IntN(4)] + constant(random, 0)
	case 4:
		return sub() + []string{" / ", " % ", " << ", " >> "}[random.IntN(4)] + []string{"1", "2", "3", "5"}[random.IntN(4)]
	}
	operators := []string{"||", "&&", "|", "^", "&", "==", "!=", "<", ">", "<=", ">=", "+", "-", "*"}
	return sub() + operators[random.IntN(len(operators))] + " " + sub()
}

// inParentheses writes a tree as C with all its parentheses.
func inParentheses(n *Node) string {
	kid := func(i int) string { return inParentheses(n.Kids[i]) }
	switch n.Form {
	case Unary:
		return "(" + n.Op + kid(0) + ")"
	case Binary:
		return "(" + kid(0) + n.Op + kid(1) + ")"
	case Choice:
		return "(" + kid(0) + "?" + kid(1) + ":" + kid(2) + ")"
	case Cast:
		return "((" + n.Type.String() + ")" + kid(0) + ")"
	case SizeExpr:
		return "(sizeof " + kid(0) + ")"
	}
	return n.Token.Text
}

// TestTreesAsTheCompiler has the compiler evaluate expressions as they are and with the parentheses that the tree stands for.
func TestTreesAsTheCompiler(t *testing.T) {
	random := rand.New(rand.NewPCG(53, 54))
	var texts, lines []string
	for range 1500 {
		text := constant(random, 1+random.IntN(4))
		for _, dialect := range []Dialect{Reading, Tracing} {
			root, err := Parse(text, fewNames{}, dialect)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			texts = append(texts, text)
			lines = append(lines, fmt.Sprintf("_Static_assert((%s) == %s, \"\");", text, inParentheses(root)))
		}
	}
	for i := range rejected(t, lines) {
		t.Errorf("%s: not %s", texts[i], lines[i])
	}
}
