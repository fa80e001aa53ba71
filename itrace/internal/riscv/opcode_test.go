package riscv

import "testing"

// TestOpcodes: what instructions write and access, by their opcodes.
func TestOpcodes(t *testing.T) {
	for name, test := range map[string]struct {
		opcode                uint64
		result, loads, stores bool
	}{
		"lw a1, 0(a0)":        {0x00052583, true, true, false},
		"lw zero, 0(a0)":      {0x00052003, false, true, false},
		"flw ft0, 0(a0)":      {0x00052007, true, true, false},
		"sw a1, 0(a0)":        {0x00b52023, false, false, true},
		"fsd fa0, 8(t0)":      {0x00a2b427, false, false, true},
		"lr.w a5, (a0)":       {0x100527af, true, true, false},
		"sc.w a2, a3, (a0)":   {0x18d5262f, true, false, true},
		"amoadd.w a2, a3, a0": {0x00d5262f, true, true, true},
		"beq a0, a1":          {0x00b50463, false, false, false},
		"fence":               {0x0ff0000f, false, false, false},
		"jal ra":              {0x078000ef, true, false, false},
		"j":                   {0x0000006f, false, false, false},
		"fadd.s ft0":          {0x00c57053, true, false, false},
		"fmadd.d fa1":         {0x5ad6f5c3, true, false, false},
		"feq.s zero":          {0xa0c52053, false, false, false},
		"feq.s a0":            {0xa0c52553, true, false, false},
		"fcvt.w.s a0":         {0xc0050553, true, false, false},
		"fmv.x.w a0":          {0xe0050553, true, false, false},
		"csrw fcsr":           {0x00305073, false, false, false},
		"c.addi4spn":          {0x0800, true, false, false},
		"c.lw":                {0x4188, true, true, false},
		"c.sw":                {0xc188, false, false, true},
		"c.sd":                {0xe188, false, false, true},
		"c.lbu":               {0x8188, true, true, false},
		"c.sb":                {0x8988, false, false, true},
		"c.nop":               {0x0001, false, false, false},
		"c.addi":              {0x1141, true, false, false},
		"c.jal of RV32":       {0x2001, true, false, false},
		"c.li":                {0x4401, true, false, false},
		"c.lui":               {0x6289, true, false, false},
		"c.and":               {0x8d6d, true, false, false},
		"c.j":                 {0xa001, false, false, false},
		"c.beqz":              {0xc281, false, false, false},
		"c.bnez":              {0xf5f5, false, false, false},
		"c.slli":              {0x0286, true, false, false},
		"c.lwsp":              {0x4282, true, true, false},
		"c.fldsp ft0":         {0x2002, true, true, false},
		"c.sdsp":              {0xe016, false, false, true},
		"c.jr":                {0x8082, false, false, false},
		"c.jalr":              {0x9282, true, false, false},
		"c.ebreak":            {0x9002, false, false, false},
		"c.mv":                {0x82aa, true, false, false},
		"c.add":               {0x92aa, true, false, false},
	} {
		loads, stores := Accesses(test.opcode)
		if HasResult(test.opcode) != test.result || loads != test.loads || stores != test.stores {
			t.Errorf("%s: result %v, loads %v, stores %v", name, HasResult(test.opcode), loads, stores)
		}
		if IsAtomic(test.opcode) != (loads && stores) {
			t.Errorf("%s: atomic %v", name, IsAtomic(test.opcode))
		}
	}
	for _, test := range []struct {
		size   uint32
		value  uint64
		digits string
	}{{1, 0xf0, "f0"}, {2, 0xdef0, "def0"}, {8, 0x123456789abcdef0, "123456789abcdef0"}, {0, 0x123456789abcdef0, "123456789abcdef0"}} {
		value, digits := Accessed(0x123456789abcdef0, []byte("123456789abcdef0"), test.size)
		if value != test.value || string(digits) != test.digits {
			t.Errorf("of %d bytes: %#x, %s", test.size, value, digits)
		}
	}
}

// TestWritesSystem: csrrw and its like access the register that their opcode has.
// TestReadsCounter has what GNU as makes of rdcycle, csrr and others around the ends of the ranges.
func TestReadsCounter(t *testing.T) {
	for opcode, want := range map[uint64]bool{
		0xc0002573: true, 0xc0102573: true, 0xc0202573: true, 0xc8002573: true, // rdcycle, rdtime, rdinstret, rdcycleh
		0xb0002573: true, 0xb1f02573: true, 0xb2002573: false, 0xaff02573: false, // csrr a0, mcycle; 0xb1f, 0xb20, 0xaff
		0xb8002573: true, 0xb9f02573: true, 0xba002573: false, 0xc1f02573: true, 0xc2002573: false, 0xc9f02573: true,
		0xf1002573: false, 0xf1102573: true, 0xf1402573: true, 0xf1502573: true, 0xf1602573: false, // 0xf11 is mvendorid
		0x30002573: false, 0x32002573: false, // csrr a0, mstatus; mcountinhibit
		0x30102573: true, 0x015012f3: true, 0x30202573: false, 0x01402573: false, // csrr a0, misa; csrrw t0, seed, zero; medeleg; 0x14
		0xb0051573: true, 0xb0056573: true, // csrrw a0, mcycle, a0; csrrsi a0, mcycle, 10
		0x00000073: false, 0x30200073: false, 0x6c054573: false, 0xc0050513: false, 0xc000: false, // ecall, mret, hlv.d, addi, c.sw
	} {
		if got := ReadsCounter(opcode); got != want {
			t.Errorf("%08x: %t", opcode, got)
		}
	}
}

func TestWritesSystem(t *testing.T) {
	for _, test := range []struct {
		opcode uint64
		number uint16
		want   bool
	}{{0x34131073, 0x341, true}, {0x34131073, 0x342, false}, {0x00000073, 0, false}, {0x30200073, 0x302, false}, {0x34131013, 0x341, false}} {
		if got := WritesSystem(test.opcode, test.number); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
}

// TestFlow: which instructions go on with the next, return from handlers, wait and store on condition.
func TestFlow(t *testing.T) {
	const goesOn, returns, waits, conditional = 1, 2, 4, 8
	for name, test := range map[string]struct {
		opcode uint64
		is     int
	}{
		"addi": {0x00150513, goesOn}, "lw": {0x00052583, goesOn}, "ecall": {0x00000073, goesOn}, "ebreak": {0x00100073, goesOn},
		"csrw mtvec, t0": {0x30529073, goesOn}, "wfi": {0x10500073, goesOn | waits}, "sfence.vma": {0x12000073, goesOn},
		"mret": {0x30200073, returns}, "sret": {0x10200073, returns}, "dret": {0x7b200073, returns}, "mnret": {0x70200073, returns},
		"beq": {0x00b50463, 0}, "jal": {0x078000ef, 0}, "jalr": {0x000280e7, 0}, "sc.w": {0x18d5262f, goesOn | conditional},
		"sc.d.aqrl": {0x1ed5362f, goesOn | conditional}, "lr.w": {0x100527af, goesOn}, "amoadd.w": {0x00d5262f, goesOn},
		"c.nop": {0x0001, goesOn}, "c.lw": {0x4188, goesOn}, "c.sd": {0xe188, goesOn}, "c.addi4spn": {0x0800, goesOn},
		"c.addiw or c.jal": {0x2001, 0}, "c.j": {0xa001, 0}, "c.beqz": {0xc281, 0}, "c.bnez": {0xf5f5, 0}, "c.and": {0x8d6d, goesOn},
		"c.jr or c.mv": {0x8082, 0}, "c.slli": {0x0286, goesOn}, "c.lwsp": {0x4282, goesOn}, "c.swsp": {0xc016, goesOn},
	} {
		got := 0
		for bit, is := range []func(uint64) bool{GoesOn, Returns, Waits, StoresConditionally} {
			if is(test.opcode) {
				got |= 1 << bit
			}
		}
		if got != test.is {
			t.Errorf("%s: %04b, want %04b", name, got, test.is)
		}
	}
}
