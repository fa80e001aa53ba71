package fakestub

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
)

var (
	disassembled = regexp.MustCompile(`^\s*(0x[0-9a-f]+):\s*(.*)$`)
	copying      = regexp.MustCompile(`^add\t(\w+),(?:zero,(\w+)|(\w+),0)$`) // which has a name of its own
	absolute     = regexp.MustCompile(`0x[0-9a-f]+$`)
)

// TestCompressed holds expand against GDB's disassembler: a compressed instruction must read as what it stands for.
func TestCompressed(t *testing.T) {
	const pairs, at = 4000, RAMAt + 0x100
	s := New(Config{})
	r := rand.New(rand.NewPCG(1, 2))
	var program []byte
	for len(program) < 6*pairs {
		c := uint16(r.Uint32())
		if whole, ok := expand(c); ok && c&3 != 3 {
			program = binary.LittleEndian.AppendUint16(program, c)
			program = binary.LittleEndian.AppendUint32(program, whole)
		}
	}
	s.machine.poke(at, program, true, false)
	out := gdbtest.RunMultiarch(t, fmt.Sprintf("set architecture riscv:rv64\ntarget remote %s\n-- code --\nx/%di %#x\n", s.Listen(t), 2*pairs, at))
	lines := strings.Split(out.Section(t, "code"), "\n")
	if len(lines) != 2*pairs {
		t.Fatalf("%d lines:\n%.1000s", len(lines), out.All)
	}
	// relative has what a jump goes to as a distance.
	relative := func(line string) (string, string) {
		m := disassembled.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("strange line %q", line)
		}
		pc, _ := strconv.ParseInt(m[1][2:], 16, 64)
		text := m[2]
		if op, _, _ := strings.Cut(text, "\t"); strings.HasPrefix(op, "b") || op == "j" {
			text = absolute.ReplaceAllStringFunc(text, func(to string) string {
				target, _ := strconv.ParseUint(to[2:], 16, 64)
				return fmt.Sprint(int64(target) - pc)
			})
		}
		return m[1], copying.ReplaceAllString(text, "mv\t$1,$2$3")
	}
	for i := 0; i < len(lines); i += 2 {
		pc, short := relative(lines[i])
		_, whole := relative(lines[i+1])
		if short != whole && !strings.HasPrefix(short, "c.") { // hints, which change nothing
			t.Errorf("%s: %q is taken for %q", pc, short, whole)
		}
	}
}

// TestInstructions executes instructions of which GDB's disassembler says nothing: what they compute.
func TestInstructions(t *testing.T) {
	const x, y = 5, 6
	minus := func(n int64) uint64 { return uint64(-n) }
	for _, test := range []struct {
		name       string
		code       uint32
		x, y, want uint64
		ok         bool
	}{
		{"addi", encodeI(0x13, 0, 7, x, 0xfff), 1, 0, 0, true},
		{"addiw", encodeI(0x1b, 0, 7, x, 1), 0x7fffffff, 0, minus(0x80000000), true},
		{"slli", encodeI(0x13, 1, 7, x, 63), 3, 0, 1 << 63, true},
		{"srli", encodeI(0x13, 5, 7, x, 63), minus(1), 0, 1, true},
		{"srai", encodeI(0x13, 5, 7, x, 63|0x400), minus(2), 0, minus(1), true},
		{"slliw", encodeI(0x1b, 1, 7, x, 31), 3, 0, minus(0x80000000), true},
		{"srliw", encodeI(0x1b, 5, 7, x, 4), 0xf_80000000, 0, 0x08000000, true},
		{"sraiw", encodeI(0x1b, 5, 7, x, 4|0x400), 0x80000000, 0, minus(0x8000000), true},
		{"slti", encodeI(0x13, 2, 7, x, 0), minus(1), 0, 1, true},
		{"sltiu", encodeI(0x13, 3, 7, x, 0xfff), 5, 0, 1, true},
		{"xori", encodeI(0x13, 4, 7, x, 0xfff), 5, 0, minus(6), true},
		{"sub", encodeR(0x33, 0, 0x20, 7, x, y), 3, 5, minus(2), true},
		{"subw", encodeR(0x3b, 0, 0x20, 7, x, y), 0, 1 << 31, minus(1 << 31), true},
		{"sra", encodeR(0x33, 5, 0x20, 7, x, y), minus(8), 65, minus(4), true},
		{"and", encodeR(0x33, 7, 0, 7, x, y), 12, 10, 8, true},
		{"lui", 0x80000<<12 | 7<<7 | 0x37, 0, 0, minus(0x80000000), true},
		{"auipc", 1<<12 | 7<<7 | 0x17, 0, 0, RAMAt + 0x1000, true},
		{"jalr", encodeI(0x67, 0, 7, x, 3), RAMAt, 0, RAMAt + 4, true},
		{"lb", encodeI(0x03, 0, 7, x, 0), RAMAt + 8, 0, minus(0x80), true},
		{"lbu", encodeI(0x03, 4, 7, x, 0), RAMAt + 8, 0, 0x80, true},
		{"lhu", encodeI(0x03, 5, 7, x, 0), RAMAt + 8, 0, 0x8180, true},
		{"lw", encodeI(0x03, 2, 7, x, 0), RAMAt + 8, 0, minus(0x7c7d7e80), true},
		{"mul", encodeR(0x33, 0, 1, 7, x, y), 3, 5, 0, false},
		{"slli with a strange top", encodeI(0x13, 1, 7, x, 0x800), 3, 0, 0, false},
		{"csrr", 0xf1402373, 0, 0, 0, false},
	} {
		m := New(Config{}).machine
		h := &m.harts[0]
		m.poke(RAMAt+8, []byte{0x80, 0x81, 0x82, 0x83}, true, false)
		m.poke(RAMAt, binary.LittleEndian.AppendUint32(nil, test.code), true, false)
		h.pc, h.x[x], h.x[y] = RAMAt, test.x, test.y
		switch result := m.execute(h); {
		case (result == executed) != test.ok:
			t.Errorf("%s: outcome %d", test.name, result)
		case test.ok && h.x[7] != test.want:
			t.Errorf("%s: %#x, want %#x", test.name, h.x[7], test.want)
		}
	}
}
