package sites

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tracewell/arch/flow"
	"tracewell/itrace"
)

// TestTable holds counts against a map.
func TestTable(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	table, want := New(nil, flow.Sets()[0]), map[uint64]uint64{}
	for range 100000 {
		pc := r.Uint64N(1<<14) << (r.Uint64N(3) * 20) &^ 1
		table.Number(&itrace.Record{Kind: itrace.Instruction, Addr: pc, Value: 0x13, Digits: []byte("00000013")})
		want[pc]++
	}
	for pc, n := range want {
		if at := table.Find(pc); at < 0 || table.Sites[at].Count != n || table.Sites[at].PC != pc {
			t.Fatalf("0x%x: %d", pc, at)
		}
	}
	if at := table.Find(1); at >= 0 || len(table.Executed()) != len(want) {
		t.Errorf("%d sites, not %d; 1 is %d", len(table.Executed()), len(want), at)
	}
	last := uint64(0)
	for i, n := range table.Executed() {
		if pc := table.Sites[n].PC; i > 0 && pc <= last {
			t.Fatalf("0x%x behind 0x%x", pc, last)
		}
		last = table.Sites[n].PC
	}
}

// TestGuess: widths of one machine are told apart by calls that only one has, else by how addresses are written.
func TestGuess(t *testing.T) {
	for _, test := range []struct {
		digits string
		call   bool
		want   string
	}{
		{"80000000", false, "RISC-V of 32 bits"}, {"0000000080000000", false, "RISC-V"}, {"0000000080000000", true, "RISC-V of 32 bits"},
	} {
		var records []itrace.Record
		add := func(pc, opcode uint64, digits string) {
			records = append(records, itrace.Record{Kind: itrace.Instruction, Addr: pc, AddrDigits: []byte(test.digits), Value: opcode,
				Digits: []byte(digits)})
		}
		for i := range uint64(20) {
			add(0x100+i*4, 0x13, "00000013")
		}
		if test.call {
			add(0x150, 0x2009, "2009") // c.jal 2, or c.addiw
			add(0x152, 0x1, "0001")
			add(0x154, 0x2011, "2011") // c.jal 4
			add(0x158, 0x1, "0001")
		}
		if set := Guess(records); set == nil || set.Title != test.want {
			t.Errorf("%+v: %v", test, set)
		}
	}
	if set := Guess([]itrace.Record{{Kind: itrace.Instruction}}); set != nil {
		t.Errorf("of nothing: %v", set)
	}
}

// TestClassified: what an instruction does comes from its opcode, else from disassembly, and is looked for again where the opcode
// changes.
func TestClassified(t *testing.T) {
	riscv := flow.Sets()[0]
	for _, test := range []struct {
		set      *flow.Set
		opcode   uint64
		digits   string
		disasm   string
		want     flow.Kind
		told     bool
		mnemonic string
	}{
		{riscv, 0x8067, "00008067", "", flow.Return, true, "jalr"},
		{riscv, 0x8067, "00008067", "ret", flow.Return, true, "ret"},
		{nil, 0x8067, "00008067", "RET", flow.Return, true, "ret"},
		{nil, 0, "", "", flow.Next, false, ""},
		{riscv, 0, "", "c.jr ra", flow.Return, true, "c.jr"},
	} {
		table := New(nil, test.set)
		for _, opcode := range []uint64{0x13, test.opcode} {
			table.Number(&itrace.Record{Kind: itrace.Instruction, Addr: 0x10, Value: opcode, Digits: []byte(test.digits), Disasm: []byte(test.disasm)})
		}
		s, name := table.Sites[0], table.Mnemonic(0)
		if s.Flow.Kind != test.want || s.Told != test.told || s.Count != 2 || name != test.mnemonic {
			t.Errorf("%s %q: %+v, %q", test.digits, test.disasm, s, name)
		}
	}
}

// TestBlocks: blocks end behind branches, in front of what is led to, and where something is missing.
func TestBlocks(t *testing.T) {
	table := New(nil, flow.Sets()[0])
	for i, opcode := range []uint64{0x13, 0x13, 0x63, 0x13, 0x13, 0x13} { // a branch is the third
		pc := 0x100 + uint64(i)*4
		if i == 5 {
			pc += 8
		}
		for range i + 1 {
			table.Number(&itrace.Record{Kind: itrace.Instruction, Addr: pc, Value: opcode, Digits: []byte("00000013")})
		}
	}
	table.Sites[table.Find(0x104)].Leader = true
	var got []uint64
	for _, b := range table.Blocks() {
		got = append(got, table.Sites[b.Sites[0]].PC, uint64(len(b.Sites)), b.Count, b.Instructions)
	}
	if want := []uint64{0x100, 1, 1, 1, 0x104, 2, 2, 5, 0x10c, 2, 4, 9, 0x11c, 1, 6, 6}; !slices.Equal(got, want) {
		t.Errorf("%x, not %x", got, want)
	}
}
