//go:build linux && amd64

package linux

import "testing"

// TestIsCopy: adcx is 0f 38 f6 with prefix 66, movdiri 0f 38 f9 without one.
func TestIsCopy(t *testing.T) {
	for _, test := range []struct {
		name            string
		original, moved string
		away            int64
		want            bool
	}{
		{"the same", "\x66\x0f\x38\xf6\xc8", "\x66\x0f\x38\xf6\xc8", 0x1020, true},
		{"one byte", "\x66\x0f\x38\xf6\xc8", "\x66\x0f\x38\xf6\xc9", 0x1020, false},
		{"displacement", "\x0f\x38\xf9\x05\x10\x00\x00\x00", "\x0f\x38\xf9\x05\x30\x10\x00\x00", 0x1020, true},
		{"displacement and more", "\x0f\x38\xf9\x05\x10\x00\x00\x00", "\x0f\x38\xf9\x0d\x30\x10\x00\x00", 0x1020, false},
		{"backwards", "\x0f\x38\xf9\x05\x10\x00\x00\x00", "\x0f\x38\xf9\x05\xf0\xef\xff\xff", -0x1020, true},
		{"too far", "\x0f\x38\xf9\x05\x10\x00\x00\x00", "\x0f\x38\xf9\x05\x30\x10\x00\x00", 0x1_0000_1020, false},
		{"as GDB moves one with a prefix", "\x66\x0f\x38\xf6\x05\x9b\x2e\x00\x00", "\x66\x0f\x38\xf6\x05\x9b\x89\x11\x11", 0x11115b, false},
		{"right, with a prefix", "\x66\x0f\x38\xf6\x05\x10\x00\x00\x00", "\x66\x0f\x38\xf6\x05\x30\x10\x00\x00", 0x1020, false},
		{"short", "\x0f\x05", "\x0f\x06", 1, false},
	} {
		if got := host.isCopy([]byte(test.original), []byte(test.moved), test.away); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
