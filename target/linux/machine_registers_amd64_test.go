//go:build linux

package linux

import "testing"

func TestTagWords(t *testing.T) {
	state := make([]byte, 512)
	if got := fullTag(state); got != 0xffff {
		t.Errorf("empty stack: tag word %#x, want 0xffff", got)
	}
	state[legacyStatus+1] = 7 << 3 // top is 7: st0 is physical register 7
	state[legacyTag] = 1<<7 | 1<<0
	copy(state[legacyStack:], []byte{0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f}) // st0 = 1.0; st1 = 0.0
	if got := fullTag(state); got != 0x3ffd {
		t.Errorf("1.0 and 0.0 on the stack: tag word %#x, want 0x3ffd", got)
	}
	if got := shortTag(0x3ffd); got != 1<<7|1<<0 {
		t.Errorf("short tag %#x", got)
	}
}

// Every register of the description must have a place, and each place must be written as it was read.
func TestEveryRegisterHasAPlace(t *testing.T) {
	for _, name := range []string{"rax", "eflags", "st7", "ftag", "xmm15", "mxcsr", "orig_rax", "ymm3h", "xmm16", "ymm31h", "zmm0h", "zmm31h", "k7", "pkru"} {
		if _, ok := locate(name); !ok {
			t.Errorf("%s has no place", name)
		}
	}
	for _, name := range []string{"", "rax2", "xmm32", "k8", "st8", "zmm", "pkr1u"} {
		if f, ok := locate(name); ok {
			t.Errorf("%q is placed at %+v", name, f)
		}
	}
}
