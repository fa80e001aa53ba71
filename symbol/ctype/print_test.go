package ctype

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/gdbtest"
)

func print(t *Type, b []byte) string {
	return string(Printer{Order: binary.LittleEndian}.Append(nil, t, b))
}

var (
	char  = &Type{Kind: Integer, Name: "char", Size: 1, Signed: true, Char: true}
	color = &Type{Kind: Integer, Name: "enum color", Size: 4, Values: []Enumerator{{"RED", 0}, {"BLUE", 2}}}
)

// TestTextsOfGDB prints arrays of characters as GDB prints them.
func TestTextsOfGDB(t *testing.T) {
	texts := []string{
		"", "a", "job-1", "a\x00", "\x00", "\x00\x00", "job-1\x00\x00\x00", "say \"x\\y\" 'z'",
		"\a\b\f\n\r\t\v\x1b\x7f", "\x011\x019a1", "\x80\xff\xc3\xa4",
		strings.Repeat("a", 10), strings.Repeat("a", 11), strings.Repeat("a", 12) + "b", "b" + strings.Repeat("a", 12),
		"xy" + strings.Repeat("\x00", 13) + "z" + strings.Repeat("'", 11) + strings.Repeat("\"", 11) + "w\x00",
		strings.Repeat("abcdefghij", 20), strings.Repeat("abcdefghij", 20) + "k",
	}
	var script strings.Builder
	script.WriteString("set language c\n")
	for i, text := range texts {
		var elements []string
		for _, c := range []byte(text + "\x00") {
			elements = append(elements, fmt.Sprintf("(char) %d", c))
		}
		fmt.Fprintf(&script, "-- %d --\noutput {%s}\n", i, strings.Join(elements, ", "))
	}
	output := gdbtest.Run(t, "", script.String())
	for i, text := range texts {
		got := print(ArrayOf(char, len(text)+1), append([]byte(text), 0))
		if want := output.Section(t, fmt.Sprint(i)); got != want {
			t.Errorf("%q is printed as\n%s\nby GDB as\n%s", text, got, want)
		}
	}
}

// TestNumbersOfGDB prints numbers as GDB prints them.
func TestNumbersOfGDB(t *testing.T) {
	double, float := &Type{Kind: Float, Name: "double", Size: 8}, &Type{Kind: Float, Name: "float", Size: 4}
	tests := []struct {
		expression string
		typ        *Type
		bits       uint64
	}{
		{"-1", Int(4, true), 0xffffffff},
		{"4294967295U", Int(4, false), 0xffffffff},
		{"(char) 97", char, 'a'},
		{"(char) -1", char, 0xff},
		{"(char) 39", char, '\''},
		{"(char) 0", char, 0},
		{"(unsigned char) 200", &Type{Kind: Integer, Name: "unsigned char", Size: 1, Char: true}, 200},
		{"0.25", double, 0x3fd0000000000000},
		{"0.1", double, 0x3fb999999999999a},
		{"1e300", double, 0x7e37e43c8800759c},
		{"-3.0", double, 0xc008000000000000},
		{"1e-5", double, 0x3ee4f8b588e368f1},
		{"123456789012345678.0", double, 0x437b69b4ba630f35},
		{"0.1f", float, 0x3dcccccd},
		{"1.0 / 0", double, 0x7ff0000000000000},
		{"-1.0 / 0", double, 0xfff0000000000000},
	}
	var script strings.Builder
	script.WriteString("set language c\n")
	for i, test := range tests {
		fmt.Fprintf(&script, "-- %d --\noutput %s\n", i, test.expression)
	}
	output := gdbtest.Run(t, "", script.String())
	for i, test := range tests {
		got := print(test.typ, binary.LittleEndian.AppendUint64(nil, test.bits))
		if want := output.Section(t, fmt.Sprint(i)); got != want {
			t.Errorf("%s is printed as %s, by GDB as %s", test.expression, got, want)
		}
	}
}

func TestPrint(t *testing.T) {
	flags := RecordOf("struct flags", 4, []Field{
		{Name: "low", Type: Int(4, true), Bits: 3},
		{Name: "high", Type: Int(4, false), Bits: 5, Shift: 3},
		{Name: "c", Type: color, Bits: 2, Shift: 8},
	}...)
	nested := RecordOf("struct nested", 12, []Field{
		{Name: "flags", Type: flags},
		{Type: RecordOf("", 8, Field{Name: "p", Type: PointerTo(char, 8)}), Offset: 4},
	}...)
	var endless *Type
	endless = LateRecord("struct endless", 4, func() ([]Field, *Variants) { return []Field{{Name: "again", Type: endless}}, nil })
	for _, test := range []struct {
		typ    *Type
		memory string
		want   string
	}{
		{color, "\x02\x00\x00\x00", "BLUE"},
		{color, "\x01\x00\x00\x00", "1"},
		{&Type{Kind: Bool, Size: 1}, "\x01", "true"},
		{&Type{Kind: Bool, Size: 1}, "\x02", "2"},
		{flags, "\x2f\x02\x00\x00", "{low = -1, high = 5, c = BLUE}"},
		{nested, "\x2f\x02\x00\x00\x80\x40\x40\x00\x00\x00\x00\x00", "{flags = {low = -1, high = 5, c = BLUE}, {p = 0x404080 <q>}}"},
		{ArrayOf(Int(2, true), 3), "\x01\x00\x02\x00\xff\xff", "{1, 2, -1}"},
		{ArrayOf(Int(1, true), 14), "\x01\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x05", "{1, 2, 0 <repeats 11 times>, 5}"},
		{ArrayOf(Int(1, false), 11), strings.Repeat("\x07", 11), "{7 <repeats 11 times>}"},
		{ArrayOf(Int(1, true), 300), strings.Repeat("\x01\x02", 150), "{" + strings.Repeat("1, 2, ", 99) + "1, 2...}"},
		{&Type{Name: "vector", Size: 4}, "\x01\x02\x03\x04", "0x01020304"},
		{Int(8, true), "\x01", "..."},
		{RecordOf("", 4, Field{Name: "x", Type: Int(4, true), Offset: 2}), "\x01\x02\x03\x04", "{x = ...}"},
		{RecordOf("", 4, Field{Name: "a\x1b[1m", Type: Int(4, true)}, Field{Name: "b", Type: Int(4, true), Bits: 40}),
			"\x01\x00\x00\x00", "{a?[1m = 1, b = ...}"},
		{endless, "\x01\x02\x03\x04", strings.Repeat("{again = ", mostDepth) + "{...}" + strings.Repeat("}", mostDepth)},
	} {
		p := Printer{Order: binary.LittleEndian, Symbol: func(addr arch.Addr) string {
			return map[arch.Addr]string{0x404080: "q"}[addr]
		}}
		if got := string(p.Append(nil, test.typ, []byte(test.memory))); got != test.want {
			t.Errorf("%v is printed as\n%s, want\n%s", test.typ, got, test.want)
		}
	}
	big := Printer{Order: binary.BigEndian}
	if got := string(big.Append(nil, Int(4, true), []byte{0, 0, 1, 2})); got != "258" {
		t.Errorf("in big-endian order: %s", got)
	}
}
