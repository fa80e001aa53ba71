package randprog

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// cScalars are the types of C that are numbers.
var cScalars = []*typ{
	{kind: integer, name: "char", bits: 8, signed: true, size: 1},
	{kind: integer, name: "signed char", bits: 8, signed: true, size: 1},
	{kind: integer, name: "unsigned char", bits: 8, size: 1},
	{kind: integer, name: "short", bits: 16, signed: true, size: 2},
	{kind: integer, name: "unsigned short", bits: 16, size: 2},
	{kind: integer, name: "int", bits: 32, signed: true, size: 4},
	{kind: integer, name: "unsigned int", bits: 32, size: 4},
	{kind: integer, name: "long", bits: 64, signed: true, size: 8},
	{kind: integer, name: "unsigned long", bits: 64, size: 8},
	{kind: integer, name: "long long", bits: 64, signed: true, size: 8},
	{kind: integer, name: "unsigned long long", bits: 64, size: 8},
	{kind: integer, name: "__int128", bits: 128, signed: true, size: 16},
	{kind: integer, name: "unsigned __int128", bits: 128, size: 16},
	{kind: boolean, name: "bool", bits: 1, size: 1},
	{kind: float, name: "float", size: 4},
	{kind: float, name: "double", size: 8},
	{kind: float, name: "long double", size: 16},
	{kind: pointer, name: "void *", size: 8},
}

// clike writes a program in C or C++.
func (g *generator) clike() {
	g.print("#include <stdbool.h>\n#include <stddef.h>\nstatic volatile long sink;\n")
	var fill strings.Builder
	var members []Member
	for variable := 0; g.members+len(members) < g.enough*2/3; variable++ {
		g.cEnum()
		g.cEnum()
		if g.chance(2) {
			g.cUnion()
		}
		g.cRecord(0)
		members = append(members, g.cVariable(&fill, g.cRecord(0))...)
	}
	members = append(members, g.cHuge(&fill)...)
	g.print("__attribute__((noinline)) static void fill(void) {\n%s}\n", fill.String())
	g.print("__attribute__((noinline)) static void structures(void) {\n")
	g.mark(g.line+1, members)
	g.print("  __asm__ volatile (\"nop\");\n}\n")
	var calls []string
	for len(calls) < 3 || g.members < g.enough {
		calls = append(calls, g.cConstants())
	}
	g.print("int main(void) {\n  fill();\n  structures();\n  volatile int number = 3;\n")
	for _, call := range calls {
		g.print("  %s(number);\n", call)
	}
	g.print("  return 0;\n}\n")
}

// cEnum declares an enumeration.
func (g *generator) cEnum() {
	t := &typ{kind: enumeration, name: "enum " + g.fresh("e"), bits: 32, size: 4}
	under, packed := "", ""
	if g.language == CPP {
		t.name = strings.TrimPrefix(t.name, "enum ")
		if g.chance(2) {
			fixed := pick(g, cScalars[1:9])
			under, t.bits, t.size, t.signed = " : "+fixed.name, fixed.bits, fixed.size, fixed.signed
			t.scoped = g.chance(2)
		}
	} else if g.chance(3) {
		packed, t.bits, t.size = "__attribute__((packed)) ", pick(g, []int{8, 16, 32}), 1
	}
	if under == "" {
		t.signed = g.chance(2)
		if g.chance(5) {
			t.bits, t.size = 64, 8
		}
	}
	seen := map[string]bool{}
	var texts []string
	for range 2 + g.IntN(4) {
		n := g.number(t.bits, t.signed)
		if seen[n.String()] {
			continue
		}
		seen[n.String()] = true
		v := enumerator{strings.ToUpper(g.fresh("k")), n}
		t.values = append(t.values, v)
		texts = append(texts, v.name+" = "+cEnumerator(n))
	}
	if under == "" {
		t.shrink(packed != "" || g.short)
	} else if t.signed && !seen["-1"] { // without a negative value GDB 13 takes it for unsigned
		t.values = append(t.values, enumerator{strings.ToUpper(g.fresh("k")), big.NewInt(-1)})
		texts = append(texts, t.values[len(t.values)-1].name+" = -1")
	}
	keyword := strings.TrimPrefix(t.name, "enum ")
	if t.scoped {
		keyword = "class " + keyword
	}
	g.print("enum %s%s%s { %s };\n", packed, keyword, under, strings.Join(texts, ", "))
	g.enums = append(g.enums, t)
}

// cEnumerator writes a number as a constant of a type that has room for it.
func cEnumerator(n *big.Int) string {
	switch {
	case n.IsInt64() && n.Int64() == -1<<63:
		return "(-9223372036854775807ll - 1)"
	case !n.IsInt64():
		return n.String() + "ull"
	}
	return n.String() + "ll"
}

// shrink gives an enumeration without a type of its own the one that the compiler chooses by its values.
func (t *typ) shrink(packed bool) {
	t.signed = false
	for _, v := range t.values {
		t.signed = t.signed || v.value.Sign() < 0
	}
	widths := []int{32, 64}
	if packed {
		widths = []int{8, 16, 32, 64}
	}
	for _, bits := range widths {
		t.bits, t.size = bits, bits/8
		fits := true
		for _, v := range t.values {
			fits = fits && wrap(v.value, bits, t.signed).Cmp(v.value) == 0
		}
		if fits {
			return
		}
	}
}

// cRecord declares a structure, with a layout that one in four times is packed or aligned.
func (g *generator) cRecord(depth int) *typ {
	t := &typ{kind: record, name: "struct " + g.fresh("s")}
	attribute := ""
	switch g.IntN(8) {
	case 0, 1:
		attribute, t.packed = "__attribute__((packed)) ", true
	case 2:
		attribute = "__attribute__((aligned(32))) "
	}
	var body strings.Builder
	bases := g.cBases(t)
	for range 2 + g.IntN(8) {
		g.cMember(&body, t, depth)
	}
	g.print("struct %s%s%s {\n%s};\n", attribute, strings.TrimPrefix(t.name, "struct "), bases, body.String())
	g.records = append(g.records, t)
	return t
}

// cBases gives a class of C++ base classes.
func (g *generator) cBases(t *typ) string {
	if g.language != CPP || len(g.records) < 2 || !g.chance(3) {
		return ""
	}
	base := pick(g, g.records)
	how := "public "
	if g.chance(2) && !t.packed {
		how, t.constructed = "virtual public ", true
	}
	t.constructed = t.constructed || base.constructed
	t.fields = append(t.fields, field{name: base.name, typ: base, bits: -1, base: how})
	t.size += base.size
	return " : " + how + strings.TrimPrefix(base.name, "struct ")
}

// cMember declares one or a few members.
func (g *generator) cMember(body *strings.Builder, t *typ, depth int) {
	add := func(name string, of *typ, bits int) {
		t.fields = append(t.fields, field{name: name, typ: of, bits: bits})
		t.constructed = t.constructed || of.innermost().constructed
		g.enumerated(name, of, bits)
		switch {
		case bits < 0:
			fmt.Fprintf(body, "  %s;\n", of.declare(name))
			t.size += of.size
		default:
			fmt.Fprintf(body, "  %s : %d;\n", of.declare(name), bits)
			t.size += (bits + 7) / 8
		}
	}
	switch g.IntN(10) {
	case 0, 1, 2:
		for range 1 + g.IntN(4) {
			g.cBitField(add, t.packed)
		}
	case 3:
		if n := g.padding(t.size); n > 0 {
			add(g.fresh("pad"), &typ{kind: array, elem: cScalars[0], count: n, size: n}, -1)
		}
	case 4:
		if depth < 2 {
			g.cAnonymous(body, t, depth)
		}
	default:
		add(g.fresh("m"), g.member(depth, 1<<17), -1)
	}
}

// cBitField declares a bit-field, one in eight without a name.
func (g *generator) cBitField(add func(string, *typ, int), packed bool) {
	of := pick(g, append(append([]*typ{}, cScalars[:11]...), cScalars[13]))
	if g.chance(4) && len(g.enums) > 0 {
		of = pick(g, g.enums)
	}
	switch g.IntN(16) {
	case 0:
		add("", cScalars[5], 0)
	case 1:
		add("", cScalars[6], 1+g.IntN(9))
	default:
		width := 1 + g.IntN(of.bits)
		if width == of.bits && packed { // Clang describes it as if it began at a byte
			width--
		}
		add(g.fresh("b"), of, max(width, 1))
	}
}

// cAnonymous declares a structure or union without a name.
func (g *generator) cAnonymous(body *strings.Builder, t *typ, depth int) {
	inner := &typ{kind: record}
	var text strings.Builder
	for range 2 + g.IntN(3) {
		g.cMember(&text, inner, depth+1)
	}
	name := ""
	if g.chance(2) || inner.constructed { // a structure without a name has no members with constructors
		name = g.fresh("n")
	}
	t.constructed = t.constructed || inner.constructed
	fmt.Fprintf(body, "  struct {\n%s  } %s;\n", text.String(), name)
	t.fields = append(t.fields, field{name: name, typ: inner, bits: -1})
	t.size += inner.size
}

// cUnion declares a union.
func (g *generator) cUnion() {
	t := &typ{kind: union, name: "union " + g.fresh("u")}
	var body strings.Builder
	for range 2 + g.IntN(3) {
		f := field{g.fresh("m"), g.scalar(), -1, ""}
		if f.typ.kind <= enumeration && f.typ.bits <= 64 && g.chance(3) {
			f.bits = 1 + g.IntN(f.typ.bits)
			fmt.Fprintf(&body, "  %s : %d;\n", f.typ.declare(f.name), f.bits)
		} else {
			fmt.Fprintf(&body, "  %s;\n", f.typ.declare(f.name))
		}
		g.enumerated(f.name, f.typ, f.bits)
		t.fields = append(t.fields, f)
		t.size = max(t.size, f.typ.size)
	}
	g.print("union %s {\n%s};\n", strings.TrimPrefix(t.name, "union "), body.String())
	g.unions = append(g.unions, t)
}

// declare writes the declaration of a name.
func (t *typ) declare(name string) string {
	if t.kind == array {
		return t.elem.declare(name + "[" + itoa(t.count) + "]")
	}
	return t.name + " " + name
}

// cVariable declares a variable, and writes what fills it.
func (g *generator) cVariable(fill *strings.Builder, t *typ) []Member {
	name := g.fresh("v")
	g.print("%s;\n", t.declare(name))
	members := []Member{{Path: name}}
	g.leaves(name, t, -1, func(path string, t *typ, bits int) {
		source, want, test := g.value(t, bits)
		fmt.Fprintf(fill, "  %s = %s;\n", path, source)
		members = append(members, Member{path, want, condition(path, t, test)})
	})
	return members
}

func condition(path string, t *typ, test string) string {
	switch {
	case test == "":
		return ""
	case t.kind == enumeration && t.signed:
		return "(long)" + path + " " + test
	case t.kind == enumeration:
		return "(unsigned long)" + path + " " + test
	}
	return path + " " + test
}

// cHuge declares a structure of gigabytes, of which the program has only some bytes around the members.
func (g *generator) cHuge(fill *strings.Builder) []Member {
	var members []Member
	for _, edge := range []uint64{1 << 31, 1 << 32} {
		name, pointed := g.fresh("s"), g.fresh("h")
		g.print("struct %s { char pad[%#xul]; int m1; unsigned b1 : 5; signed b2 : 7; short m2; };\n", name, edge-uint64(g.IntN(3))*4)
		g.print("static long room%s[128];\nstruct %s *%s;\n", pointed, name, pointed)
		fmt.Fprintf(fill, "  %s = (struct %s *)((unsigned long)(room%s + 64) - offsetof(struct %s, m1));\n", pointed, name, pointed, name)
		for _, f := range []field{{"m1", cScalars[5], 32, ""}, {"b1", cScalars[6], 5, ""}, {"b2", cScalars[5], 7, ""}, {"m2", cScalars[3], 16, ""}} {
			path := pointed + "->" + f.name
			source, want, test := g.value(f.typ, f.bits)
			fmt.Fprintf(fill, "  %s = %s;\n", path, source)
			members = append(members, Member{path, want, condition(path, f.typ, test)})
		}
	}
	return members
}

// cConstants writes a function of constants, and one that is inlined into it with constant arguments.
func (g *generator) cConstants() string {
	var parameters, arguments, uses []string
	var inner []Member
	for range 4 {
		t, name := g.constant(), g.fresh("p")
		source, want, test := g.value(t, t.bits)
		parameters, arguments = append(parameters, t.declare(name)), append(arguments, source)
		uses = append(uses, "(long)"+name)
		inner = append(inner, Member{name, want, condition(name, t, test)})
	}
	inlined, function := g.fresh("inlined"), g.fresh("constants")
	g.print("__attribute__((always_inline)) static inline void %s(%s) {\n", inlined, strings.Join(parameters, ", "))
	inside := g.line + 1
	g.print("  __asm__ volatile (\"nop\");\n  sink = %s;\n}\n", strings.Join(uses, " + "))
	var members []Member
	uses = []string{"number"}
	g.print("__attribute__((noinline)) static void %s(int number) {\n", function)
	for range 12 {
		t, name := g.constant(), g.fresh("c")
		source, want, test := g.value(t, t.bits)
		g.print("  %s = %s;\n", t.declare(name), source)
		uses = append(uses, "(long)"+name)
		members = append(members, Member{name, want, condition(name, t, test)})
	}
	g.print("  sink = number;\n")
	g.mark(g.line+1, members)
	g.mark(inside, inner)
	g.print("  __asm__ volatile (\"nop\" : : \"r\" (number));\n  sink = %s;\n  %s(%s);\n}\n", strings.Join(uses, " + "), inlined,
		strings.Join(arguments, ", "))
	return function
}

// constant chooses the type of a constant.
func (g *generator) constant() *typ {
	if g.chance(4) && len(g.enums) > 0 {
		return pick(g, g.enums)
	}
	return pick(g, cScalars)
}
