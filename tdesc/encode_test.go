package tdesc_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/tdesc"
)

// only is a description of one register of a type of types.xml, or of a predefined one.
func only(t *testing.T, typ string, size int, architecture string) *tdesc.Layout {
	t.Helper()
	types := readFile(t, "testdata/values/types.xml")
	reg := fmt.Sprintf("<reg name='r' bitsize='%d' type='%s'/></feature>", 8*size, typ)
	doc := "<target><architecture>" + architecture + `</architecture><osabi>GNU/Linux</osabi><xi:include href="types.xml"/></target>`
	target, _, err := tdesc.Parse([]byte(doc), func(string) ([]byte, error) {
		return []byte(strings.Replace(types, "</feature>", reg, 1)), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return layoutOf(t, target)
}

// TestSetTakesWhatIsPrinted sets each sampled value to what it prints: where it is that already nothing changes, and from
// zero it becomes a value that prints the same. The fields of the type strange are not as wide as their types say.
func TestSetTakesWhatIsPrinted(t *testing.T) {
	for _, order := range []arch.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, s := range samples(t) {
			slot := only(t, s.typ, len(s.bytes), "i386:x86-64").ByName("r")
			block := slices.Clone(s.bytes)
			v, _ := slot.Value(block, order)
			text := v.String()
			want := text
			if err := v.Set(text); err != nil {
				t.Errorf("%s %s: %v", s.typ, text, err)
			}
			if !slices.Equal(block, s.bytes) {
				t.Errorf("%s: setting it to itself, %s, made %x of %x", s.typ, text, block, s.bytes)
			}
			first, _ := slot.Columns(block, order)
			if strings.Contains(text, "...") || strings.Contains(text, "invalid") || s.typ == "strange" {
				continue
			}
			for _, text := range []string{text, first} {
				clear(block)
				if err := v.Set(text); err != nil {
					t.Errorf("%s %s: %v", s.typ, text, err)
				}
				if got := v.String(); got != want {
					t.Errorf("%s: set to %s, is %s", s.typ, text, got)
				}
			}
		}
	}
}

func TestSet(t *testing.T) {
	tests := []struct {
		typ, before, text, want string // bytes little-endian; want begins with "!" for an error
	}{
		{"int16", "0000", "-2", "feff"},
		{"int16", "0000", "0xfffe", "feff"},
		{"int16", "0000", "65536", "!does not fit 16 bits"},
		{"int16", "0000", "-32769", "!does not fit 16 bits"},
		{"int16", "0000", "two", `!found "two", expected a number`},
		{"int16", "0000", "", "!expected a number"},
		{"int16", "0100", "2 3", `!found "3" behind it`},
		{"bool", "00", "true", "01"},
		{"bool", "01", "maybe", "!expected a bool"},
		{"int128", "00*16", "-1", "ff*16"},
		{"few", "00000000", "SEVEN", "07000000"},
		{"few", "00000000", "EIGHT", "!expected a enum"},
		{"mixed", "ffffffff", "[ X M=TWO N=3 ]", "3b0effff"},
		{"mixed", "00000000", "[ Y ]", `!there is no flag "Y"`},
		{"mixed", "00000000", "[ N=16 ]", `!flag "N": 16 does not fit 4 bits`},
		{"mixed", "00000000", "[ X", `!there is no flag ""`},
		{"v3i8", "000000", "{1, 2, -1}", "0102ff"},
		{"v3i8", "000000", "{1, 2}", "!2 elements of 3"},
		{"v3i8", "000000", "{1, 2, 3, 4}", `!expected "}"`},
		{"v3i8", "000000", "{7 <repeats 3 times>}", "070707"},
		{"v3i8", "000000", "{7 <repeats 4 times>}", "!repeats 4 times"},
		{"v3i8", "000000", "{7 <repeats 0 times>}", "!repeats 0 times"},
		{"v3i8", "010203", "{9...}", "090203"},
		{"v3i8", "000000", "0x030201", "010203"},
		{"plain", "00*29", "{b = 2, d = 1.5}", "00 02000000 00*16 000000000000f83f"},
		{"plain", "00*29", "{z = 2}", `!there is no field "z"`},
		{"unnamed", "0000", "{1, a = 2}", "0102"},
		{"signed", "00000000", "{lo = -1, e = TWO}", "ff020000"},
		{"vec", "00*16", "{d = {1, 2}}", "000000000000f03f 0000000000000040"},
		{"strange", "00*8", "{f = 0x3fc00000}", "0000c03f 00000000"},
		{"strange", "00*8", "{f = 1.5}", "!expected a floating-point number"},
		{"ieee_half", "0000", "65504", "ff7b"},
		{"ieee_half", "0000", "65519.99", "ff7b"},
		{"ieee_half", "0000", "65520", "007c"},
		{"ieee_half", "0000", "1e-20", "0000"},
		{"ieee_half", "0000", "5.96e-8", "0100"},
		{"ieee_half", "0000", "6.1035e-5", "0004"},
		{"ieee_half", "0000", "2049", "0068"},
		{"ieee_half", "0000", "2051", "0268"},
		{"ieee_half", "0000", "1e999999999999", "!expected a floating-point number"},
		{"ieee_half", "0000", "-inf", "00fc"},
		{"ieee_half", "0000", "nan(0x1)", "017c"},
		{"ieee_half", "0000", "nan(0x400)", "!at most 10 bits"},
		{"bfloat16", "0000", "-1.5", "c0bf"},
		{"ieee_double", "00*8", "-0", "00*7 80"},
		{"i387_ext", "00*10", "inf", "00*7 80 ff7f"},
		{"i387_ext", "00*10", "1e5000", "00*7 80 ff7f"},
		{"i387_ext", "00*10", "<invalid float value>", "!expected a floating-point number"},
		{"arm_fpa_ext", "00*12", "-1.5", "ff3f0080 000000c0 00000000"},
	}
	for _, test := range tests {
		var before []byte
		for _, w := range strings.Fields(test.before) {
			before = append(before, expand(t, w)...)
		}
		block := slices.Clone(before)
		v, _ := only(t, test.typ, len(block), "i386:x86-64").ByName("r").Value(block, binary.LittleEndian)
		err := v.Set(test.text)
		if reason, bad := strings.CutPrefix(test.want, "!"); bad {
			if err == nil || !strings.Contains(err.Error(), reason) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("%s: set to %s: error %v, want %s", test.typ, test.text, err, reason)
			}
			if !slices.Equal(block, before) {
				t.Errorf("%s: set to %s: changed in spite of the error", test.typ, test.text)
			}
			continue
		}
		var want []byte
		for _, w := range strings.Fields(test.want) {
			want = append(want, expand(t, w)...)
		}
		if err != nil || !slices.Equal(block, want) {
			t.Errorf("%s: set to %s: is %x, error %v, want %x", test.typ, test.text, block, err, want)
		}
	}
}

// TestLongDoubles sets and shows the types that float is on each architecture where it has more than 64 bits.
func TestLongDoubles(t *testing.T) {
	tests := []struct {
		architecture string
		bits         int
		order        arch.ByteOrder
		text, want   string
	}{
		{"s390:64-bit", 128, binary.BigEndian, "0.333333333333333333333333333333333317", "3ffd5555555555555555555555555555"},
		{"aarch64", 128, binary.LittleEndian, "1.5", "0000000000000000000000000080ff3f"},
		{"powerpc:common64", 128, binary.BigEndian, "0.333333333333333333333333333333329", "3fd55555555555553c75555555555554"},
		{"powerpc:common64", 128, binary.LittleEndian, "-1.5", "000000000000f8bf0000000000000000"},
		{"m68k", 96, binary.BigEndian, "-1.5", "bfff0000c000000000000000"},
		{"i386", 96, binary.LittleEndian, "-1.5", "00000000000000c0ffbf0000"},
	}
	for _, test := range tests {
		slot := only(t, "float", test.bits/8, test.architecture).ByName("r")
		block := make([]byte, slot.Size)
		v, _ := slot.Value(block, test.order)
		if err := v.Set(test.text); err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(block); got != test.want || v.String() != test.text {
			t.Errorf("%s: %s became %s and shows as %s, want %s", test.architecture, test.text, got, v, test.want)
		}
	}
}

func TestAny(t *testing.T) {
	third := new(big.Float).SetPrec(64).SetInt64(3)
	tests := []struct {
		typ, bytes string
		want       any
	}{
		{"int16", "feff", int64(-2)},
		{"uint16", "feff", uint64(0xfffe)},
		{"uint128", "00*8 01 00*7", new(big.Int).Lsh(big.NewInt(1), 64)},
		{"int128", "ff*16", int64(-1)},
		{"bool", "01", true},
		{"bool", "02", uint64(2)},
		{"data_ptr", "01 00*7", uint64(1)},
		{"few", "02000000", "TWO"},
		{"few", "03000000", uint64(3)},
		{"ieee_half", "003e", 1.5},
		{"ieee_half", "00fc", math.Inf(-1)},
		{"i387_ext", "00*7 c0 0040", third},
	}
	equal := cmp.Comparer(func(a, b *big.Float) bool { return a.Cmp(b) == 0 })
	equalInt := cmp.Comparer(func(a, b *big.Int) bool { return a.Cmp(b) == 0 })
	for _, test := range tests {
		var block []byte
		for _, w := range strings.Fields(test.bytes) {
			block = append(block, expand(t, w)...)
		}
		v, _ := only(t, test.typ, len(block), "i386:x86-64").ByName("r").Value(block, binary.LittleEndian)
		if diff := cmp.Diff(test.want, v.Any(), equal, equalInt); diff != "" {
			t.Errorf("%s %s: %s", test.typ, test.bytes, diff)
		}
	}
}

// TestParts walks into a union of vectors and into flags, and writes through what it finds.
func TestParts(t *testing.T) {
	block := make([]byte, 16)
	v, _ := only(t, "vec", 16, "i386:x86-64").ByName("r").Value(block, binary.LittleEndian)
	lanes, ok := v.Field("f")
	if !ok || lanes.Len() != 4 {
		t.Fatalf("field f: %v, %d lanes", ok, lanes.Len())
	}
	if err := lanes.Elem(2).Set("1.5"); err != nil {
		t.Fatal(err)
	}
	if got := v.String(); !strings.Contains(got, "f = {0, 0, 1.5, 0}") || block[10] != 0xc0 {
		t.Errorf("after setting a lane: %s", got)
	}
	if _, ok := v.Field("g"); ok || len(v.Any().([]tdesc.Member)) != 3 || len(lanes.Any().([]tdesc.Value)) != 4 {
		t.Error("wrong parts")
	}

	flags, _ := only(t, "mixed", 4, "i386:x86-64").ByName("r").Value(block[:4], binary.BigEndian)
	field, _ := flags.Field("N")
	field.SetUint64(0x1f)
	if got := flags.Uint64(); got != 0xf0 || field.Uint64() != 0xf || field.Any() != uint64(0xf) {
		t.Errorf("after setting a field: %#x, field %#x", got, field.Uint64())
	}
}

func TestParseG(t *testing.T) {
	target, _, err := tdesc.Parse([]byte(feature(`<reg name="a" bitsize="8" type="uint8"/>
		<reg name="b" bitsize="16" type="uint16"/><reg name="c" bitsize="8" type="uint8"/>`)), nil)
	if err != nil {
		t.Fatal(err)
	}
	l := layoutOf(t, target)
	tests := []struct{ payload, want string }{
		{"01020304", "a=1 b=770 c=4"},
		{"01xxxx04", "a=1 c=4"},
		{"010203", "a=1 b=770"},
		{"", ""},
		{"0102", `!end with "02", within register b, which has 4 digits`},
		{"0102030405", "!10 digits, more than the 8 of all registers"},
		{"01xx0304", `!register b: "xx03"`},
		{"0g", `!register a: "0g"`},
	}
	for _, test := range tests {
		b, err := l.ParseG(test.payload, binary.LittleEndian)
		if reason, bad := strings.CutPrefix(test.want, "!"); bad {
			if err == nil || !strings.Contains(err.Error(), reason) {
				t.Errorf("%q: error %v, want %s", test.payload, err, reason)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for s, v := range b.Values() {
			got = append(got, s.Reg.Name+"="+v.String())
		}
		if strings.Join(got, " ") != test.want || string(b.AppendG(nil)) != test.payload {
			t.Errorf("%q: %v, back %q", test.payload, got, b.AppendG(nil))
		}
		if _, ok := b.Value("b"); ok != strings.Contains(test.want, "b=") {
			t.Errorf("%q: Value(b) %v", test.payload, ok)
		}
	}
	b := l.Block([]byte{1, 2, 3}, binary.LittleEndian)
	if v, ok := b.Value("b"); !ok || v.Uint64() != 0x302 {
		t.Errorf("R block: b = %v, %v", v, ok)
	}
	if _, ok := b.Value("c"); ok {
		t.Error("a register behind the end of the block is known")
	}
}
