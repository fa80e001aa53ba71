package ctype

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"strings"
	"sync"
	"testing"

	"tracewell/arch"
)

// queue is a program without optimization, whose source is in the tests of package cli.
func queue(t *testing.T) *Program {
	t.Helper()
	file, err := elf.Open("../../internal/cli/testdata/queue")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	data, err := file.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	return Read(data, &sync.Mutex{}, false)
}

// described writes a type with its members.
func described(t *Type) string {
	text := fmt.Sprintf("%v %d", t, t.Size)
	if t.Kind != Record {
		return text
	}
	var fields []string
	for _, f := range t.Fields() {
		fields = append(fields, fmt.Sprintf("%d %s %v", f.Offset, f.Name, f.Type))
	}
	return text + " {" + strings.Join(fields, "; ") + "}"
}

func TestProgram(t *testing.T) {
	p := queue(t)
	for name, want := range map[string]string{
		"q":     "0x404080 struct queue 32 {0 head struct job *; 8 tail struct job *; 16 count unsigned int; 24 checksum long unsigned int}",
		"limit": "0x404030 int 4",
		"table": "0x404040 unsigned char [16] 16",
	} {
		addr, typ, ok := p.Global(name)
		if got := addr.String() + " " + described(typ); !ok || got != want {
			t.Errorf("%s is %s (%v), want %s", name, got, ok, want)
		}
	}
	for _, name := range []string{"push", "j", "nothing"} {
		if _, _, ok := p.Global(name); ok {
			t.Errorf("%s is a variable with a fixed address", name)
		}
	}
	job, ok := p.Named("struct job")
	if want := "struct job 40 {0 id int; 4 kind enum kind; 8 weight double; 16 name char [12]; 32 next struct job *}"; !ok || described(job) != want {
		t.Errorf("%s (%v), want %s", described(job), ok, want)
	}
	if next, _ := job.Field("next"); next.Type.Elem != job {
		t.Error("next does not point to the structure that it is in")
	}
	if value, ok := p.Constant("LAST"); !ok || value != 2 {
		t.Errorf("LAST is %d (%v)", value, ok)
	}
	if names := strings.Join(p.Globals(), " "); !strings.Contains(names, "limit") || !strings.Contains(names, "q") {
		t.Errorf("the variables are %s", names)
	}
}

// TestLocals in the middle of functions, and outside of any.
func TestLocals(t *testing.T) {
	p := queue(t)
	for pc, want := range map[arch.Addr]string{
		0x4011b5: "qq struct queue * -24, j struct job * -32",
		0x401247: "n int -36, sum long int -24",
		0x401256: "n int -36, sum long int -24, i int -28",
		0x1000:   "",
	} {
		var got []string
		for _, l := range p.Locals(pc) {
			if l.Place != InFrame {
				t.Errorf("%s is in place %d", l.Name, l.Place)
			}
			got = append(got, fmt.Sprintf("%s %v %d", l.Name, l.Type, l.Offset))
		}
		if all := strings.Join(got, ", "); all != want {
			t.Errorf("at %v: %s, want %s", pc, all, want)
		}
	}
}

// TestNil: no program knows nothing.
func TestNil(t *testing.T) {
	var p *Program
	_, _, global := p.Global("q")
	_, named := p.Named("int")
	_, constant := p.Constant("LAST")
	if global || named || constant || p.Globals() != nil || p.Locals(0) != nil {
		t.Error("nothing knows something")
	}
}

// TestBitFields places a field of three bits behind five others, as DWARF 5 and DWARF 3 write it, in both byte orders.
func TestBitFields(t *testing.T) {
	unsigned := &dwarf.UintType{BasicType: dwarf.BasicType{CommonType: dwarf.CommonType{ByteSize: 4, Name: "unsigned"}}}
	for _, test := range []struct {
		big          bool
		field        dwarf.StructField
		offset, down int
	}{
		{false, dwarf.StructField{DataBitOffset: 37, BitSize: 3}, 4, 5},
		{true, dwarf.StructField{DataBitOffset: 37, BitSize: 3}, 4, 24},
		{false, dwarf.StructField{ByteOffset: 4, ByteSize: 4, BitOffset: 24, BitSize: 3}, 4, 5},
		{true, dwarf.StructField{ByteOffset: 4, ByteSize: 4, BitOffset: 5, BitSize: 3}, 4, 24},
	} {
		test.field.Name, test.field.Type = "f", unsigned
		p := &Program{bigEndian: test.big}
		got := p.convert(&dwarf.StructType{CommonType: dwarf.CommonType{ByteSize: 8}, Kind: "struct", Field: []*dwarf.StructField{&test.field}})
		fields := got.Fields()
		if len(fields) != 1 || fields[0].Offset != test.offset || fields[0].Shift != test.down || fields[0].Bits != 3 {
			t.Errorf("big endian %v, %+v: %+v", test.big, test.field, fields)
			continue
		}
		if n := fields[0].Extract(5 << test.down); n != 5 {
			t.Errorf("the field holds %d", n)
		}
	}
}

// TestEndless: types that are within themselves, which damaged debugging information can have, have an end.
func TestEndless(t *testing.T) {
	pointer := &Type{Kind: Pointer, Size: 8}
	pointer.Elem = pointer
	array := &Type{Kind: Array, Count: 1}
	array.Elem = array
	var record *Type
	record = LateRecord("", 0, func() ([]Field, *Variants) { return []Field{{Type: record}}, nil })
	if _, ok := record.Field("f"); ok {
		t.Error("a member was found")
	}
	for _, typ := range []*Type{pointer, array, record} {
		if text := typ.String(); len(text) > 1000 {
			t.Errorf("the type is %s", text)
		}
	}
}

func TestSigned(t *testing.T) {
	for want, b := range map[int64][]byte{-24: {0x68}, 63: {0x3f}, -64: {0x40}, 128: {0x80, 0x01}, -129: {0xff, 0x7e},
		-1 << 63: {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f}} {
		if got, rest := signed(b); got != want || len(rest) > 0 {
			t.Errorf("% x is %d and %d more, want %d", b, got, len(rest), want)
		}
	}
}
