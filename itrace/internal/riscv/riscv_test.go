package riscv

import "testing"

// TestAccesses: opcodes as GNU as assembles them.
func TestAccesses(t *testing.T) {
	for _, test := range []struct {
		opcode      uint64
		load, store bool
		what        string
	}{
		{0x0182a283, true, false, "lw t0,24(t0)"}, {0x00660023, false, true, "sb t1,0(a2)"}, {0x00052607, true, false, "flw fa2,0(a0)"},
		{0x00b2b427, false, true, "fsd fa1,8(t0)"}, {0x1002a2af, true, false, "lr.w t0,(t0)"}, {0x18a2a32f, false, true, "sc.w t1,a0,(t0)"},
		{0x00a2a32f, true, true, "amoadd.w t1,a0,(t0)"}, {0x00001117, false, false, "auipc sp,1"}, {0x30529073, false, false, "csrw mtvec,t0"},
		{0x4108, true, false, "c.lw a0,0(a0)"}, {0xc108, false, true, "c.sw a0,0(a0)"}, {0x6502, true, false, "c.ldsp a0,0(sp)"},
		{0xe02a, false, true, "c.sdsp a0,0(sp)"}, {0x8082, false, false, "ret"}, {0x0511, false, false, "c.addi a0,4"},
		{0x1101, false, false, "c.addi sp,-32"}, {0x0808, false, false, "c.addi4spn a0,sp,16"}, {0x8108, true, false, "c.lbu a0,0(a0)"},
		{0x8548, true, false, "c.lh a0,0(a0)"}, {0x8908, false, true, "c.sb a0,0(a0)"}, {0x8d08, false, true, "c.sh a0,0(a0)"},
	} {
		if load, store := Accesses(test.opcode); load != test.load || store != test.store {
			t.Errorf("%#x %s: load %v, store %v", test.opcode, test.what, load, store)
		}
	}
}

// TestSystemNames: names and numbers are those of each other, and numbers without a name have a word.
func TestSystemNames(t *testing.T) {
	for name, number := range map[string]uint64{"fflags": 1, "mstatus": 0x300, "pmpaddr63": 0x3ef, "unknown_7c0": 0x7c0} {
		if got := SystemName(number); string(got) != name {
			t.Errorf("%#x is %q", number, got)
		}
		if got, ok := SystemNumber([]byte(name)); ok != (number != 0x7c0) || ok && uint64(got) != number {
			t.Errorf("%s is %#x", name, got)
		}
	}
	if SystemName(systemRegisters) != nil {
		t.Error("there is a name for a number of 13 bits")
	}
}
