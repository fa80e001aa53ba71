package riscv

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/arch/riscv64/riscv64asm"

	"tracewell/arch/effect"
	"tracewell/internal/test/testtool"
)

// moves are the instructions that have another effect elsewhere, or are not to be copied, as objdump writes them without aliases.
var moves = map[string]bool{
	"auipc": true, "jal": true, "jalr": true, "beq": true, "bne": true, "blt": true, "bge": true, "bltu": true, "bgeu": true,
	"c.j": true, "c.jal": true, "c.jr": true, "c.jalr": true, "c.beqz": true, "c.bnez": true,
	"ecall": true, "ebreak": true, "c.ebreak": true,
}

// TestAgainstObjdump holds lengths, and what may be copied, to objdump: of all compressed instructions, and of random others.
func TestAgainstObjdump(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var code []byte
	for c := range 1 << 16 {
		if c&3 != 3 {
			code = binary.LittleEndian.AppendUint16(code, uint16(c))
		}
	}
	for range 40000 {
		code = binary.LittleEndian.AppendUint32(code, r.Uint32()&^0x1f|[...]uint32{3, 7, 0xf, 0x13, 0x17, 0x1b}[r.IntN(6)])
	}
	file := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(file, code, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := testtool.Command(t, "riscv64-linux-gnu-objdump", "-D", "-z", "-b", "binary", "-m", "riscv:rv64", "-M", "no-aliases",
		file).Output()
	if err != nil {
		t.Fatal(err)
	}
	seen, emulated := 0, 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		var at uint64
		if len(fields) < 3 || !strings.HasSuffix(fields[0], ":") {
			continue
		}
		if n, _ := fmt.Sscanf(fields[0], "%x:", &at); n == 0 || at >= uint64(len(code)) {
			continue
		}
		in, err := Decode(code[at:], at, true)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if in.Len() != len(fields[1])/2 {
			t.Fatalf("%s: %d bytes", line, in.Len())
		}
		seen++
		if strings.HasPrefix(fields[2], "0x") || fields[2] == ".2byte" || fields[2] == ".4byte" { // none that objdump knows
			continue
		}
		stays := moves[fields[2]] && !(fields[2] == "auipc" && strings.HasPrefix(fields[3], "zero,"))
		if in.CanCopy() == stays {
			t.Fatalf("%s: to be copied %v", line, in.CanCopy())
		}
		if in.CanEmulate() {
			emulated++
		}
		if stays && !in.CanEmulate() && !strings.Contains(fields[2], "ebreak") && fields[2] != "ecall" {
			t.Fatalf("%s: neither copied nor emulated", line)
		}
	}
	if seen < 80000 || emulated < 20000 {
		t.Errorf("%d instructions, %d emulated", seen, emulated)
	}
}

// cas is a sequence as compilers write it: lr.w a5,(a0); bne a5,a1,+20; sc.w a4,a2,(a0); bnez a4,-12.
var cas = []uint32{0x100527af, 0x00b79a63, 0x18c5272f, 0xfe071ae3}

func encode(words ...uint32) (code []byte) {
	for _, w := range words {
		code = binary.LittleEndian.AppendUint32(code, w)
	}
	return code
}

// TestSequence: a sequence is found from each place inside of it, and its copy ends in the same places.
func TestSequence(t *testing.T) {
	const at, room = 0x10000, 0x20000
	code := encode(cas...)
	around := append(append(encode(0x13, 0x13), code...), encode(0x13, 0x13)...)
	for offset := uint64(0); offset <= 16; offset += 4 {
		s := ExclusiveAround(around, at-8, at+offset, true)
		if inside := offset > 0 && offset <= 8; inside != (s != nil) {
			t.Errorf("%d: found %v", offset, s != nil)
		}
	}
	in, err := Decode(around[8:], at, true)
	if err != nil || in.Exclusive() == nil {
		t.Fatal("no sequence", err)
	}
	if s := in.Exclusive(); s.From != at || s.To != at+16 || s.Store() != at+8 {
		t.Errorf("%#x-%#x, store at %#x", s.From, s.To, s.Store())
	}
	for _, stop := range []bool{false, true} {
		copied, exits := in.Copy(room, stop)
		if len(exits) != 2 || exits[0].PC != at+16 || exits[1].PC != at+24 {
			t.Fatalf("exits %v", exits)
		}
		for _, e := range exits {
			if stop != bytes.HasPrefix(copied[e.Offset:], Breakpoint) {
				t.Errorf("stop %v: % x at exit %d", stop, copied[e.Offset:], e.Offset)
			}
			if target, ok := branchTarget(word(copied[e.Offset:], true), room+uint64(e.Offset)); !stop && (!ok || target != e.PC) {
				t.Errorf("exit %d leads to %#x, not %#x", e.Offset, target, e.PC)
			}
		}
	}
}

// TestRetarget holds branches that get another distance to x/arch.
func TestRetarget(t *testing.T) {
	for _, c := range []struct {
		code []byte
		most int
	}{
		{encode(0x00b79663), 1 << 12}, {encode(0xfe0718e3), 1 << 12}, {encode(0x0000006f), 1 << 20},
		{[]byte{0x81, 0xc3}, 1 << 8}, {[]byte{0x81, 0xe3}, 1 << 8}, {[]byte{0x01, 0xa0}, 1 << 11},
	} {
		for distance := 2; distance < c.most; distance = distance*5/3 + 2&^1 {
			distance &^= 1
			code := bytes.Clone(c.code)
			retarget(code, uint32(distance))
			in, err := riscv64asm.Decode(append(code, 0, 0))
			before, _ := riscv64asm.Decode(append(bytes.Clone(c.code), 0, 0))
			if err != nil || in.Op != before.Op || in.Args[0] != before.Args[0] {
				t.Fatalf("% x: %v, %v, was %v", code, in, err, before)
			}
			if target, ok := branchTarget(word(code, true), 0); !ok || target != uint64(distance) {
				t.Errorf("% x leads to %#x, not %#x", code, target, distance)
			}
		}
	}
}

// thread is a thread whose registers hold numbers that can be told apart.
type thread struct{}

func (thread) Register(n int) (uint64, bool)       { return uint64(n) << 32, true }
func (thread) Load(uint64, []byte, bool) (ok bool) { return false }

// TestUnguarded: where landing pads need not be minded a jump may go through any register, and to any halfword.
func TestUnguarded(t *testing.T) {
	code := encode(0x00250567) // jalr a0, 2(a0)
	var s effect.Step
	if s.Begin(thread{}); Emulate(&s, code, 0x1000, true) {
		t.Error("a jump through a0 is emulated where there may be landing pads")
	}
	in, err := Decode(code, 0x1000, true)
	if err != nil || !in.Emulate(&s, thread{}) || s.Next != 10<<32+2 || s.Registers[0] != (effect.Write{Register: 10, Value: 0x1004}) {
		t.Errorf("%v, on to %#x, %+v", err, s.Next, s.Registers)
	}
}

// TestDecodeGarbage: no bytes, few bytes and long instructions are refused.
func TestDecodeGarbage(t *testing.T) {
	for _, code := range [][]byte{nil, {1}, {0x13}, {0x13, 0, 0}, {0x1f, 0, 0, 0, 0, 0}, {0x3f, 0, 0, 0, 0, 0, 0, 0}} {
		if in, err := Decode(code, 0, true); err == nil {
			t.Errorf("% x: %d bytes", code, in.Len())
		}
	}
}
