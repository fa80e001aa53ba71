package arch

import "testing"

// TestReturnAddress takes return addresses out of what calls leave: a bit of Arm's, and signatures of AArch64 in the bits that the
// upper or the lower half of its address space leaves free.
func TestReturnAddress(t *testing.T) {
	for _, test := range []struct {
		machine     string
		saved, want Addr
		signed      bool
	}{
		{"arm", 0x8001, 0x8000, false},
		{"arm", 0x8000, 0x8000, false},
		{"aarch64", 0x003f_aaaa_1234_5678, 0x003f_aaaa_1234_5678, false},
		{"aarch64", 0x003f_aaaa_1234_5678, 0x0000_aaaa_1234_5678, true},
		{"aarch64", 0x0000_aaaa_1234_5678, 0x0000_aaaa_1234_5678, true},
		{"aarch64", 0x12bf_8000_1234_5678, 0xffff_8000_1234_5678, true},
	} {
		if got := ByName(test.machine).ReturnAddress(test.saved, test.signed); got != test.want {
			t.Errorf("%s: %v, signed %v, is %v, want %v", test.machine, test.saved, test.signed, got, test.want)
		}
	}
}
