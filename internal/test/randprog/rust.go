package randprog

import (
	"fmt"
	"slices"
	"strings"
)

// rustScalars are the types of Rust that are numbers.
var rustScalars = []*typ{
	{kind: integer, name: "i8", bits: 8, signed: true, size: 1},
	{kind: integer, name: "u8", bits: 8, size: 1},
	{kind: integer, name: "i16", bits: 16, signed: true, size: 2},
	{kind: integer, name: "u16", bits: 16, size: 2},
	{kind: integer, name: "i32", bits: 32, signed: true, size: 4},
	{kind: integer, name: "u32", bits: 32, size: 4},
	{kind: integer, name: "i64", bits: 64, signed: true, size: 8},
	{kind: integer, name: "u64", bits: 64, size: 8},
	{kind: integer, name: "isize", bits: 64, signed: true, size: 8},
	{kind: integer, name: "usize", bits: 64, size: 8},
	{kind: integer, name: "i128", bits: 128, signed: true, size: 16},
	{kind: integer, name: "u128", bits: 128, size: 16},
	{kind: boolean, name: "bool", bits: 1, size: 1},
	{kind: float, name: "f32", size: 4},
	{kind: float, name: "f64", size: 8},
	{kind: pointer, name: "*const u8", size: 8},
}

// rust writes a program in Rust. All structures are members of one, to which its function has a reference.
func (g *generator) rust() {
	g.print("#![allow(warnings)]\nuse std::arch::asm;\nstatic mut SINK: i64 = 0;\n" +
		"fn sink(n: i64) { unsafe { std::ptr::write_volatile(&mut SINK, n) } }\n")
	var all, fill strings.Builder
	var members []Member
	for len(members) < g.enough*2/3 {
		g.rustEnum()
		g.rustVariants()
		if g.chance(3) {
			g.rustUnion()
		}
		g.rustRecord()
		t, name := g.rustRecord(), g.fresh("v")
		fmt.Fprintf(&all, "  %s: %s,\n", name, t.name)
		if !t.mixed() {
			members = append(members, Member{Path: "(*all)." + name})
		}
		g.leaves(name, t, -1, func(path string, t *typ, bits int) {
			source, want, test := g.value(t, bits)
			fmt.Fprintf(&fill, "    all.%s = %s;\n", path, source)
			path = "(*all)." + path
			members = append(members, Member{path, want, condition(path, t, test)})
		})
	}
	g.print("struct All {\n%s}\n#[inline(never)]\nfn structures(all: &All) {\n", all.String())
	g.mark(g.line+1, members)
	g.print("  unsafe { asm!(\"nop /* {0} */\", in(reg) all) };\n}\n")
	var calls []string
	for len(calls) < 3 || g.members < g.enough {
		calls = append(calls, g.rustConstants())
	}
	g.print("fn main() {\n  let mut all = Box::new(std::mem::MaybeUninit::<All>::zeroed());\n"+
		"  let all = unsafe { &mut *all.as_mut_ptr() };\n  unsafe {\n%s  }\n  structures(all);\n", fill.String())
	for _, call := range calls {
		g.print("  %s(3);\n", call)
	}
	g.print("}\n")
}

// rustEnum declares an enumeration of numbers.
func (g *generator) rustEnum() {
	of := pick(g, rustScalars[:10])
	t := &typ{kind: enumeration, name: g.fresh("E"), bits: of.bits, size: of.size, signed: of.signed}
	seen := map[string]bool{}
	var texts []string
	for len(texts) < 2 || g.chance(2) {
		n := g.number(t.bits, t.signed)
		if seen[n.String()] {
			continue
		}
		seen[n.String()] = true
		v := enumerator{g.fresh("K"), n}
		t.values = append(t.values, v)
		texts = append(texts, v.name+" = "+n.String())
	}
	g.print("#[repr(%s)]\n#[derive(Clone, Copy)]\nenum %s { %s }\n", of.name, t.name, strings.Join(texts, ", "))
	g.enums = append(g.enums, t)
}

// rustVariants declares an enumeration with values in it. Which it is may be told by what they never are.
func (g *generator) rustVariants() {
	t := &typ{kind: variants, name: g.fresh("D"), size: 24}
	var texts []string
	for range 1 + g.IntN(4) {
		v := field{name: g.fresh("W"), typ: g.scalar(), bits: -1}
		t.fields = append(t.fields, v)
		texts = append(texts, v.name+"("+v.typ.name+")")
	}
	if g.chance(2) {
		t.fields = append(t.fields, field{name: g.fresh("W"), bits: -1})
		texts = append(texts, t.fields[len(t.fields)-1].name)
	}
	layout := ""
	if g.chance(3) {
		layout = fmt.Sprintf("#[repr(%s)]\n", pick(g, rustScalars[:8]).name)
	}
	g.print("%s#[derive(Clone, Copy)]\nenum %s { %s }\n", layout, t.name, strings.Join(texts, ", "))
	g.variants = append(g.variants, t)
}

// variant chooses one of the values of such an enumeration, or of an option that may hold nothing.
func (g *generator) variant(t *typ) (source, want string) {
	v := pick(g, t.fields)
	scope := t.name + "::"
	if t.elem != nil {
		scope = ""
	}
	if v.typ == nil {
		return scope + v.name, v.name
	}
	inner := v.typ
	if inner.kind == variants {
		source, _ = g.variant(inner)
		return scope + v.name + "(" + source + ")", ""
	}
	source, want, _ = g.value(inner, inner.bits)
	if inner.kind == enumeration {
		want = ""
	} else {
		want = v.name + "(" + want + ")"
	}
	return scope + v.name + "(" + source + ")", want
}

// option is a type that holds a value or nothing.
func (g *generator) option() *typ {
	inner := g.scalar()
	if g.chance(3) && len(g.variants) > 0 {
		inner = pick(g, g.variants)
	}
	name := "Option<" + inner.name + ">"
	return &typ{kind: variants, name: name, elem: inner, size: inner.size + 8, fields: []field{{"Some", inner, -1, ""}, {"None", nil, -1, ""}}}
}

// rustRecord declares a structure.
func (g *generator) rustRecord() *typ {
	t := &typ{kind: record, name: g.fresh("S")}
	layout := ""
	switch g.IntN(6) {
	case 0:
		layout = "#[repr(C)]\n"
	case 1:
		layout, t.packed = "#[repr(C, packed)]\n", true
	case 2:
		layout, t.aligned = "#[repr(align(32))]\n", true
	}
	var body strings.Builder
	for range 2 + g.IntN(8) {
		name, of := g.fresh("m"), g.rustMember(t)
		fmt.Fprintf(&body, "  %s: %s,\n", name, of.rustName())
		t.fields = append(t.fields, field{name, of, -1, ""})
		t.size += of.size
		t.aligned = t.aligned || of.holdsAligned()
	}
	g.print("%s#[derive(Clone, Copy)]\nstruct %s {\n%s}\n", layout, t.name, body.String())
	g.records = append(g.records, t)
	return t
}

// rustMember chooses the type of a member. A packed structure cannot have one that is aligned.
func (g *generator) rustMember(of *typ) *typ {
	switch g.IntN(8) {
	case 0:
		if n := g.padding(of.size); n > 0 {
			return &typ{kind: array, elem: rustScalars[1], count: n, size: n}
		}
	case 1:
		return g.option()
	case 2:
		if len(g.variants) > 0 {
			return pick(g, g.variants)
		}
	case 3:
		first, second := g.scalar(), g.scalar()
		return &typ{kind: record, name: "(" + first.name + ", " + second.name + ")", size: first.size + second.size,
			fields: []field{{"0", first, -1, ""}, {"1", second, -1, ""}}}
	}
	for {
		if t := g.member(0, 1<<17); !of.packed || !t.holdsAligned() {
			return t
		}
	}
}

// mixed reports whether a type has an array of what has variants. GDB 13 takes all its elements for the variant of the first, or
// ends with an internal error.
func (t *typ) mixed() bool {
	if t.kind == array {
		return t.elem.varies()
	}
	return slices.ContainsFunc(t.fields, func(f field) bool { return f.typ != nil && f.typ.mixed() })
}

func (t *typ) varies() bool {
	return t.kind == variants || t.kind == array && t.elem.varies() ||
		slices.ContainsFunc(t.fields, func(f field) bool { return f.typ != nil && f.typ.varies() })
}

func (t *typ) holdsAligned() bool { return t.innermost().aligned }

func (t *typ) rustName() string {
	if t.kind == array {
		return fmt.Sprintf("[%s; %d]", t.elem.rustName(), t.count)
	}
	return t.name
}

// rustUnion declares a union.
func (g *generator) rustUnion() {
	t := &typ{kind: union, name: g.fresh("U")}
	var body strings.Builder
	for range 2 + g.IntN(3) {
		f := field{g.fresh("m"), g.scalar(), -1, ""}
		fmt.Fprintf(&body, "  %s: %s,\n", f.name, f.typ.name)
		g.enumerated(f.name, f.typ, -1)
		t.fields = append(t.fields, f)
		t.size = max(t.size, f.typ.size)
	}
	g.print("#[repr(C)]\n#[derive(Clone, Copy)]\nunion %s {\n%s}\n", t.name, body.String())
	g.unions = append(g.unions, t)
}

// rustConstants writes a function of constants, and one that is inlined into it with constant arguments.
func (g *generator) rustConstants() string {
	var parameters, arguments, uses []string
	var inner, members []Member
	for range 4 {
		t, name := g.scalar(), g.fresh("p")
		source, want, test := g.value(t, t.bits)
		parameters, arguments = append(parameters, name+": "+t.name), append(arguments, source)
		uses = append(uses, ".wrapping_add("+name+" as i64)")
		inner = append(inner, Member{name, want, condition(name, t, test)})
	}
	inlined, function := g.fresh("inlined"), g.fresh("constants")
	g.print("#[inline(always)]\nfn %s(%s) {\n", inlined, strings.Join(parameters, ", "))
	inside := g.line + 1
	g.print("  unsafe { asm!(\"nop\") };\n  sink(0i64%s);\n}\n", strings.Join(uses, ""))
	uses = nil
	g.print("#[inline(never)]\nfn %s(number: i64) {\n", function)
	for range 12 {
		t, name := g.scalar(), g.fresh("c")
		source, want, test := g.value(t, t.bits)
		g.print("  let %s: %s = %s;\n", name, t.name, source)
		uses = append(uses, ".wrapping_add("+name+" as i64)")
		members = append(members, Member{name, want, condition(name, t, test)})
	}
	g.print("  sink(number);\n")
	g.mark(g.line+1, members)
	g.mark(inside, inner)
	g.print("  unsafe { asm!(\"nop /* {0} */\", in(reg) number) };\n  sink(number%s);\n  %s(%s);\n}\n", strings.Join(uses, ""), inlined,
		strings.Join(arguments, ", "))
	return function
}
