package riscv

import "testing"

// TestExpand holds expansions to those of LLVM's assembler, which compresses each to the other, and to what the manual reserves.
func TestExpand(t *testing.T) {
	const reserved = 0
	for c, want := range map[uint16][2]uint32{ // of 32 bits, and of 64
		0x0000: {reserved, reserved}, 0x0001: {0x00000013, 0x00000013}, 0x4501: {0x00000513, 0x00000513}, 0x8082: {0x00008067, 0x00008067},
		0x2001: {0x000000ef, reserved}, 0x9002: {0x00100073, 0x00100073}, 0x9c21: {reserved, 0x0084043b},
		// Of floating point.
		0x2000: {0x00043407, 0x00043407}, 0xa008: {0x00a43027, 0x00a43027}, 0x2502: {0x00013507, 0x00013507}, 0x2002: {0x00013007, 0x00013007},
		0x6000: {0x00042407, 0x00043403}, 0xe000: {0x00842027, 0x00843023}, 0x6102: {0x00012107, 0x00013103}, 0x6002: {0x00012007, reserved}, 0x4002: {reserved, reserved},
		0xe006: {0x00112027, 0x00113023}, 0xf01a: {0x02612027, 0x02613023}, 0xb01a: {0x02613027, 0x02613027}, 0xbe02: {0x12013c27, 0x12013c27},
	} {
		for i, wide := range []bool{false, true} {
			if got, ok := Expand(c, wide); ok != (want[i] != reserved) || ok && got != want[i] {
				t.Errorf("%04x, 64 bits %v: %08x, %v, want %08x", c, wide, got, ok, want[i])
			}
		}
	}
}
