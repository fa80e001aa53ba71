package scope

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/internal/test/testtool"
	"tracewell/symbol/ctype"
	"tracewell/symbol/expr"
)

// assembly is debugging information of DWARF 5 as a source of the assembler.
type assembly struct {
	info, abbrev strings.Builder
	abbrevs      int
}

// The tags, attributes and forms that assembly has, by name.
var (
	tags = map[string]int{"array": 0x01, "enumeration": 0x04, "member": 0x0d, "structure": 0x13, "subrange": 0x21, "base": 0x24,
		"enumerator": 0x28, "variable": 0x34, "unit": 0x11}
	attrs = map[string]int{"name": 0x03, "byte_size": 0x0b, "bit_offset": 0x0c, "bit_size": 0x0d, "language": 0x13,
		"const_value": 0x1c, "lower_bound": 0x22, "upper_bound": 0x2f, "count": 0x37, "member_location": 0x38, "encoding": 0x3e,
		"type": 0x49, "data_bit_offset": 0x6b}
	forms = map[string]struct {
		code      int
		directive string
	}{
		"data1": {0x0b, ".byte"}, "data2": {0x05, ".value"}, "data4": {0x06, ".long"}, "data8": {0x07, ".quad"},
		"sdata": {0x0d, ".sleb128"}, "udata": {0x0f, ".uleb128"}, "implicit": {0x21, ""}, "string": {0x08, ".string"}, "ref": {0x13, ".long"},
	}
)

// die appends a DIE. Its attributes are written "NAME FORM VALUE".
func (a *assembly) die(tag string, children bool, attributes ...string) {
	a.abbrevs++
	open := 0
	if children {
		open = 1
	}
	fmt.Fprintf(&a.abbrev, ".uleb128 %d, %d\n.byte %d\n", a.abbrevs, tags[tag], open)
	fmt.Fprintf(&a.info, ".uleb128 %d\n", a.abbrevs)
	for _, attribute := range attributes {
		name, rest, _ := strings.Cut(attribute, " ")
		form, value, _ := strings.Cut(rest, " ")
		fmt.Fprintf(&a.abbrev, ".uleb128 %d, %d\n", attrs[name], forms[form].code)
		switch form {
		case "implicit":
			fmt.Fprintf(&a.abbrev, ".sleb128 %s\n", value)
		case "ref":
			fmt.Fprintf(&a.info, ".long %s - unit\n", value)
		default:
			fmt.Fprintf(&a.info, "%s %s\n", forms[form].directive, value)
		}
	}
	fmt.Fprintln(&a.abbrev, ".uleb128 0, 0")
}

func (a *assembly) end()              { fmt.Fprintln(&a.info, ".byte 0") }
func (a *assembly) label(name string) { fmt.Fprintf(&a.info, "%s:\n", name) }

// base appends a type of integers called by size and sign: u4, s8.
func (a *assembly) base(name string) {
	encoding := map[byte]string{'u': "7", 's': "5"}[name[0]]
	a.label(name)
	a.die("base", false, "name string \""+name+"\"", "byte_size data1 "+name[1:], "encoding data1 "+encoding)
}

// link makes a program that has the debugging information.
func (a *assembly) link(t *testing.T) string {
	t.Helper()
	source := ".globl _start\n_start: ret\n.section .debug_abbrev\n" + a.abbrev.String() + ".byte 0\n.section .debug_info\n" +
		"unit: .long 2f - 1f\n1: .value 5\n.byte 1, 8\n.long .debug_abbrev\n" + a.info.String() + ".byte 0\n2:\n"
	dir := t.TempDir()
	file, program := filepath.Join(dir, "p.s"), filepath.Join(dir, "p")
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	if output, err := testtool.Command(t, "gcc", "-nostdlib", "-static", "-o", program, file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return program
}

// constantRow is an attribute with a value in a form, and what it means.
type constantRow struct {
	attribute string // with the form and the value
	of        string // the type of the index, the enumeration or the variable; more attributes of a member
	want      string
}

var constantRows = []constantRow{
	{"member_location data1 200", "", "200 +0"}, {"member_location data2 65535", "", "65535 +0"},
	{"member_location data4 0x80000000", "", "2147483648 +0"}, {"member_location data8 0x100000000", "", "4294967296 +0"},
	{"member_location udata 40000", "", "40000 +0"}, {"member_location sdata -8", "", "-8 +0"},
	{"member_location sdata 200", "", "200 +0"}, {"member_location implicit 128", "", "128 +0"},
	{"data_bit_offset data1 200", "bit_size data1 3", "25 +0"}, {"data_bit_offset data2 40001", "bit_size data1 3", "5000 +1"},
	{"data_bit_offset udata 255", "bit_size implicit 1", "31 +7"},
	{"bit_offset data1 29", "bit_size data1 3;byte_size data1 4;member_location data1 200", "200 +0"},
	{"bit_offset sdata -3", "bit_size udata 3;byte_size data1 4;member_location data1 128", "132 +0"},

	{"upper_bound data1 199", "u8", "200"}, {"upper_bound data1 255", "u8", "256"}, {"upper_bound data2 65535", "u8", "65536"},
	{"upper_bound data2 65535", "s4", "65536"}, {"upper_bound data4 69999", "u8", "70000"}, {"upper_bound implicit 199", "s8", "200"},
	{"upper_bound data1 255", "u1", "256"}, {"upper_bound data1 200", "", "201"}, {"upper_bound udata 128", "u4", "129"},
	{"upper_bound data8 0xffffffffffffffff", "u8", "0"}, {"upper_bound data4 0xffffffff", "u4", "0"},
	{"upper_bound data4 0xffffffff", "s4", "0"}, {"upper_bound sdata -1", "s8", "0"}, {"upper_bound implicit -1", "u8", "0"},
	{"count data1 200", "u8", "200"}, {"count data2 40000", "u8", "40000"}, {"count data4 70000", "", "70000"}, {"count udata 255", "s4", "255"},
	{"count sdata -1", "s8", "0"}, {"count data8 0xffffffffffffffff", "u8", "0"},
	{"lower_bound sdata -5", "s4", "205"}, {"lower_bound data1 100", "u8", "100"}, {"lower_bound data4 0xfffffffb", "s4", "205"},

	{"const_value data1 200", "enum u4", "200"}, {"const_value data1 255", "enum u1", "255"}, {"const_value data2 65535", "enum s4", "65535"},
	{"const_value sdata -1", "enum s4", "-1"}, {"const_value sdata -56", "enum u1", "200"}, {"const_value data1 200", "enum", "200"},
	{"const_value sdata -1", "enum", "-1 signed"}, {"const_value sdata -1", "enum8", "-1 signed"},
	{"const_value udata 0x8000000000000001", "enum8", "-9223372036854775807"},
	{"const_value data8 0x8000000000000001", "enum8", "-9223372036854775807"}, {"const_value data4 0xffffffff", "enum u4", "4294967295"},
	{"const_value data4 0xffffffff", "enum s4", "-1"}, {"const_value data8 0x100000000", "enum u8", "4294967296"},

	{"const_value data1 200", "s4", "c8 00 00 00"}, {"const_value data1 200", "u1", "c8"}, {"const_value sdata -56", "u1", "c8"},
	{"const_value data2 60000", "u4", "60 ea 00 00"}, {"const_value data4 3000000000", "s8", "00 5e d0 b2 00 00 00 00"},
	{"const_value sdata -294967296", "u4", "00 28 6b ee"}, {"const_value udata 255", "s2", "ff 00"},
	{"const_value implicit -3", "s8", "fd ff ff ff ff ff ff ff"}, {"const_value sdata -1", "s16", strings.TrimSpace(strings.Repeat("ff ", 16))},
	{"const_value data8 0xffffffffffffffff", "u16", strings.Repeat("ff ", 8) + "00 00 00 00 00 00 00 00"},
}

// write appends what has the attribute, under a name of its own.
func (r constantRow) write(a *assembly, i int) {
	name := fmt.Sprintf("name string \"x%d\"", i)
	kind, _, _ := strings.Cut(r.attribute, " ")
	switch {
	case kind == "const_value" && strings.HasPrefix(r.of, "enum"):
		attributes := []string{name, "byte_size data1 4"}
		if r.of == "enum8" {
			attributes[1] = "byte_size data1 8"
		}
		if under := strings.TrimPrefix(r.of, "enum "); under != r.of {
			attributes = []string{name, "type ref " + under, "byte_size data1 " + under[1:]}
		}
		a.die("enumeration", true, attributes...)
		a.die("enumerator", false, fmt.Sprintf("name string \"E%d\"", i), r.attribute)
	case kind == "const_value":
		a.die("variable", false, name, "type ref "+r.of, r.attribute)
		return
	case strings.Contains(kind, "bound") || kind == "count":
		array := fmt.Sprintf("array%d", i)
		a.label(array)
		a.die("array", true, "type ref s4")
		index := []string{r.attribute}
		if r.of != "" {
			index = append(index, "type ref "+r.of)
		}
		if kind == "lower_bound" {
			index = append(index, "upper_bound data1 199")
		}
		a.die("subrange", false, index...)
		a.end()
		a.die("structure", true, name, "byte_size data1 4")
		a.die("member", false, "name string \"f\"", "type ref "+array)
	default:
		a.die("structure", true, name, "byte_size data8 0x200000000")
		more := strings.FieldsFunc(r.of, func(c rune) bool { return c == ';' })
		a.die("member", false, append([]string{"name string \"f\"", "type ref u4", r.attribute}, more...)...)
	}
	a.end()
}

// read is what the types of the program say.
func (r constantRow) read(t *testing.T, m *Image, i int) string {
	t.Helper()
	name := fmt.Sprintf("x%d", i)
	switch {
	case strings.HasPrefix(r.of, "enum"):
		n, typ, ok := m.Constant(fmt.Sprintf("E%d", i))
		if !ok || typ.Values[0].Value != n {
			t.Errorf("%v: %d (%t), and %v in the type", r, n, ok, typ)
		}
		if typ.Signed && !strings.Contains(r.of, " ") { // nothing but the enumerator says so
			return fmt.Sprint(n, " signed")
		}
		return fmt.Sprint(n)
	case strings.HasPrefix(r.attribute, "const_value"):
		o, err := m.At(0).Lookup(name)
		known, ok := o.Place.(expr.Constant)
		if err != nil || !ok {
			t.Errorf("%v: %v, %v", r, o.Place, err)
		}
		return fmt.Sprintf("% x", known.Bytes)
	}
	typ, ok := m.Type("struct " + name)
	if !ok {
		t.Fatalf("%v: there is no structure", r)
	}
	f, ok := typ.Field("f")
	if !ok {
		return "nothing"
	}
	if f.Type.Kind == ctype.Array {
		return fmt.Sprint(f.Type.Count)
	}
	return fmt.Sprintf("%d +%d", f.Offset, f.Shift)
}

// TestConstants has each attribute that is a number in the forms in which compilers write it, around the numbers at which a sign
// begins to matter.
func TestConstants(t *testing.T) {
	var a assembly
	a.die("unit", true, "name string \"p.c\"", "language data1 12")
	for _, name := range []string{"u1", "u2", "u4", "u8", "u16", "s1", "s2", "s4", "s8", "s16"} {
		a.base(name)
	}
	for i, r := range constantRows {
		r.write(&a, i)
	}
	m := openImage(t, a.link(t))
	for i, r := range constantRows {
		if got := r.read(t, m, i); got != r.want {
			t.Errorf("%s of %q is %s, want %s", r.attribute, r.of, got, r.want)
		}
	}
}
