package debuginfo

import (
	"math"
	"slices"
	"testing"
)

// constants are all forms of constants around the numbers at which a sign begins to matter.
var constants = []struct {
	form     form
	bytes    string // the lowest byte first; of implicit_const none
	implicit int64
	signed   int64
	negative bool // the form says so
}{
	{formData1, "\x7f", 0, 127, false},
	{formData1, "\x80", 0, 128, false},
	{formData1, "\xff", 0, 255, false},
	{formData2, "\xff\x00", 0, 255, false},
	{formData2, "\x00\x80", 0, 32768, false},
	{formData2, "\xff\xff", 0, 65535, false},
	{formData4, "\xff\xff\x00\x00", 0, 65535, false},
	{formData4, "\x00\x00\x00\x80", 0, 1 << 31, false},
	{formData4, "\xff\xff\xff\xff", 0, 1<<32 - 1, false},
	{formData8, "\x00\x00\x00\x00\x01\x00\x00\x00", 0, 1 << 32, false},
	{formData8, "\xff\xff\xff\xff\xff\xff\xff\x7f", 0, math.MaxInt64, false},
	{formData8, "\xff\xff\xff\xff\xff\xff\xff\xff", 0, -1, false},
	{formUdata, "\x7f", 0, 127, false},
	{formUdata, "\x80\x01", 0, 128, false},
	{formUdata, "\xff\xff\x03", 0, 65535, false},
	{formSdata, "\x7f", 0, -1, true},
	{formSdata, "\x48", 0, -56, true},
	{formSdata, "\x80\x01", 0, 128, false},
	{formSdata, "\x80\x7f", 0, -128, true},
	{formImplicit, "", -1, -1, true},
	{formImplicit, "", 200, 200, false},
	{formIndirect, "\x0b\xc8", 0, 200, false},
	{formIndirect, "\x0d\x48", 0, -56, true},
}

// TestConstants reads every form of a constant, in both byte orders, as each kind of attribute does.
func TestConstants(t *testing.T) {
	for _, big := range []bool{false, true} {
		unit := &Unit{space: &space{image: &image{encoding: encoding{big: big}}}, format: format{version: 5, addrSize: 8}}
		for _, c := range constants {
			content := []byte(c.bytes)
			if big && (c.form == formData2 || c.form == formData4 || c.form == formData8) {
				slices.Reverse(content)
			}
			at := unit.cursorAt(content, 0)
			v, ok := unit.value(&at, attrSpec{form: c.form, implicit: c.implicit})
			signed, hasSigned := v.Signed()
			unsigned, hasUnsigned := v.Unsigned()
			if !ok || signed != c.signed || !hasSigned || unsigned != uint64(c.signed) || hasUnsigned == c.negative {
				t.Errorf("form %#x of %x: signed %d (%t), unsigned %d (%t), want %d", c.form, content, signed, hasSigned, unsigned,
					hasUnsigned, c.signed)
			}
			for size, want := range map[int][2]int64{
				1: {int64(uint8(c.signed)), int64(int8(c.signed))}, 2: {int64(uint16(c.signed)), int64(int16(c.signed))},
				4: {int64(uint32(c.signed)), int64(int32(c.signed))}, 8: {c.signed, c.signed},
			} {
				plain, _ := v.As(size, false)
				extended, ok := v.As(size, true)
				if !ok || plain != want[0] || extended != want[1] {
					t.Errorf("form %#x of %x as %d bytes: %d and with a sign %d, want %d", c.form, content, size, plain, extended, want)
				}
			}
		}
	}
}

// TestNoConstants: what is no constant is none of any kind.
func TestNoConstants(t *testing.T) {
	unit := &Unit{space: &space{image: &image{}}, format: format{version: 5, addrSize: 8}, end: 1 << 20}
	for f, content := range map[form]string{
		formAddr: "12345678", formFlag: "\x01", formPresent: "", formString: "x\x00", formBlock1: "\x01x", formExprloc: "\x01x",
		formData16: "0123456789abcdef", formRef4: "\x10\x00\x00\x00", formSecOffset: "\x00\x00\x00\x00", formLoclistx: "\x01",
	} {
		at := unit.cursorAt([]byte(content), 0)
		v, ok := unit.value(&at, attrSpec{form: f})
		_, signed := v.Signed()
		_, unsigned := v.Unsigned()
		_, typed := v.As(4, true)
		if !ok || signed || unsigned || typed {
			t.Errorf("form %#x (%t) is a constant: %t, %t, %t", f, ok, signed, unsigned, typed)
		}
	}
}
