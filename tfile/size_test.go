package tfile

import (
	"encoding/binary"
	"strings"
	"testing"
)

// sized returns frames with an R block of size bytes and something behind it.
func sized(size, n int) string {
	var frames []byte
	b := Builder{Order: binary.LittleEndian}
	for i := range n {
		b.Begin(frames, 1)
		clear(b.Registers(size))
		b.Variable(2, int64(i))
		frames = b.Finish()
	}
	return string(frames)
}

func TestRegisterSizeSource(t *testing.T) {
	const other = "\x01\x00\x0d\x00\x00\x00V\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	const described = `tdesc <target><feature name="a"><reg name="x" bitsize="64"/><reg name="y" bitsize="64"/></feature></target>`
	tests := []struct {
		name, line, frames string
		given, want        int
		source             SizeSource
	}{
		{"hexadecimal", "R 100", sized(256, 3), 0, 256, SizeHexadecimal},
		{"decimal", "R 100", sized(100, 3), 0, 100, SizeDecimal},
		{"decimal, after frames without registers", "R 100", other + other + sized(100, 1), 0, 100, SizeDecimal},
		{"both make sense", "R 100", sized(256, 1) + sized(100, 1), 0, 256, SizeHexadecimal},
		{"decimal makes sense of some", "R 100", sized(100, 1) + sized(90, 1), 0, 256, SizeHexadecimal},
		{"neither makes sense", "R 100", sized(90, 3), 0, 256, SizeHexadecimal},
		{"no registers", "R 100", other, 0, 256, SizeHexadecimal},
		{"no frames", "R 100", "", 0, 256, SizeHexadecimal},
		{"the same in both", "R 8", sized(8, 1), 0, 8, SizeHexadecimal},
		{"other digits", "R 10a", sized(10, 3), 0, 266, SizeHexadecimal},
		{"0x", "R 0x10", sized(10, 3), 0, 16, SizeHexadecimal},
		{"none", "tdesc ", sized(10, 3), 0, 0, SizeUnknown},
		{"described", described, sized(16, 3), 0, 16, SizeDescription},
		{"described, and some frames are so", described, sized(10, 3) + sized(16, 1), 0, 16, SizeDescription},
		{"described, but no frame is so", described, sized(10, 3), 0, 0, SizeUnknown},
		{"described, no registers", described, other, 0, 16, SizeDescription},
		{"described, no frames", described, "", 0, 16, SizeDescription},
		{"described and told", described + "\nR 0a", sized(10, 3), 0, 10, SizeHexadecimal},
		{"described and given", described, sized(10, 3), 10, 10, SizeGiven},
		{"described as too long", strings.Replace(described, "64", "9999999", 1), sized(10, 1), 0, 0, SizeUnknown},
		{"described by what is none", "tdesc <target", sized(10, 1), 0, 0, SizeUnknown},
		{"given", "R 100", sized(100, 3), 90, 90, SizeGiven},
		{"given for none", "tdesc ", sized(10, 3), 10, 10, SizeGiven},
	}
	for _, test := range tests {
		data := Magic + test.line + "\ntp T1:10:E:0:0\n\n" + test.frames + "\x00\x00"
		f, err := OpenBytes([]byte(data), WithRegisterSize(test.given))
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Header().RegisterSize; got != test.want || f.RegisterSizeSource() != test.source {
			t.Errorf("%s: %d, %v; want %d, %v", test.name, got, f.RegisterSizeSource(), test.want, test.source)
		}
		found := false
		for _, finding := range f.Findings() {
			found = found || finding.Rule == RuleDecimalSize && finding.Offset == int64(strings.Index(data, "R 100"))
		}
		if found != (test.source == SizeDecimal) {
			t.Errorf("%s: findings %v", test.name, f.Findings())
		}
	}
}
