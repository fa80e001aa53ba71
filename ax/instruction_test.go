package ax

import (
	"bytes"
	"strings"
	"testing"
)

// encodings has each opcode at least once, with the least and the greatest of each form of operand.
var encodings = []struct{ code, text string }{
	{"01", "float"},
	{"02", "add"},
	{"03", "sub"},
	{"04", "mul"},
	{"05", "div_signed"},
	{"06", "div_unsigned"},
	{"07", "rem_signed"},
	{"08", "rem_unsigned"},
	{"09", "lsh"},
	{"0a", "rsh_signed"},
	{"0b", "rsh_unsigned"},
	{"0c", "trace"},
	{"0d 00", "trace_quick 0"},
	{"0d ff", "trace_quick 255"},
	{"0e", "log_not"},
	{"0f", "bit_and"},
	{"10", "bit_or"},
	{"11", "bit_xor"},
	{"12", "bit_not"},
	{"13", "equal"},
	{"14", "less_signed"},
	{"15", "less_unsigned"},
	{"16 20", "ext 32"},
	{"17", "ref8"},
	{"18", "ref16"},
	{"19", "ref32"},
	{"1a", "ref64"},
	{"1b", "ref_float"},
	{"1c", "ref_double"},
	{"1d", "ref_long_double"},
	{"1e", "l_to_d"},
	{"1f", "d_to_l"},
	{"20 00 00", "if_goto 0"},
	{"21 12 34", "goto 4660"},
	{"22 00", "const8 0"},
	{"22 ff", "const8 255"},
	{"23 01 00", "const16 256"},
	{"23 ff ff", "const16 65535"},
	{"24 00 01 02 03", "const32 66051"},
	{"24 ff ff ff ff", "const32 4294967295"},
	{"25 00 00 00 00 00 00 00 00", "const64 0"},
	{"25 01 02 03 04 05 06 07 08", "const64 72623859790382856"},
	{"25 ff ff ff ff ff ff ff ff", "const64 18446744073709551615"},
	{"26 00 06", "reg 6"},
	{"27", "end"},
	{"28", "dup"},
	{"29", "pop"},
	{"2a 08", "zero_ext 8"},
	{"2b", "swap"},
	{"2c 00 02", "getv 2"},
	{"2d 01 00", "setv 256"},
	{"2e ff ff", "tracev 65535"},
	{"2f", "tracenz"},
	{"30 02 00", "trace16 512"},
	{"32 02", "pick 2"},
	{"33", "rot"},
	{"34 00 0001 00", "printf 0 ``"},
	{"34 01 0006 783d25 5c6e 00", "printf 1 `x=%\\n`"},
	{"34 ff 0003 600a 00", "printf 255 \"`\\n\""},
	{"34 02 0005 2500ff22 00", `printf 2 "%\x00\xff\""`},
}

func TestEncodings(t *testing.T) {
	seen := make(map[Op]bool)
	for _, test := range encodings {
		code := mustHex(test.code)
		in, err := instructionAt(code, 0)
		if err != nil {
			t.Errorf("instructionAt(% x): %v", code, err)
			continue
		}
		seen[in.Op] = true
		if got := in.String(); got != test.text {
			t.Errorf("instructionAt(% x) = %s, want %s", code, got, test.text)
		}
		if in.Size() != len(code) {
			t.Errorf("%s: Size() = %d, want %d", in, in.Size(), len(code))
		}
		if got, err := in.Append(nil); err != nil || !bytes.Equal(got, code) {
			t.Errorf("%s: Append = % x, %v, want % x", in, got, err, code)
		}
	}
	for op := range 256 {
		if Op(op).Known() != seen[Op(op)] {
			t.Errorf("opcode %v: Known() = %v, and in the table of encodings is %v", Op(op), Op(op).Known(), seen[Op(op)])
		}
	}
}

// TestAssembleEncodings assembles each row of the table among others, with jumps to where it can go.
func TestAssembleEncodings(t *testing.T) {
	for _, test := range encodings {
		if strings.Contains(test.text, "goto") {
			continue // has no target here
		}
		got, err := Assemble(test.text + "\nend")
		if want := append(mustHex(test.code), byte(OpEnd)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("Assemble(%q + end) = % x, %v, want % x", test.text, got, err, want)
		}
	}
}

func TestEvaluable(t *testing.T) {
	not := map[Op]bool{OpFloat: true, OpRefFloat: true, OpRefDouble: true, OpRefLongDouble: true, OpLToD: true, OpDToL: true}
	for op := range 256 {
		if want := Op(op).Known() && !not[Op(op)]; Op(op).Evaluable() != want {
			t.Errorf("%v.Evaluable() = %v, want %v", Op(op), !want, want)
		}
	}
}

func TestAppendRefuses(t *testing.T) {
	tests := []struct {
		in   Instruction
		want string
	}{
		{Instruction{Op: 0x31, Offset: 7}, "unrecognized opcode: 0x31 at offset 7"},
		{Instruction{Op: OpAdd, Operand: 1}, "operand 1 of add does not fit into 0 bytes"},
		{Instruction{Op: OpConst8, Operand: 256}, "operand 256 of const8 does not fit into 1 bytes"},
		{Instruction{Op: OpGoto, Operand: 65536}, "operand 65536 of goto does not fit into 2 bytes"},
		{Instruction{Op: OpConst32, Operand: 1 << 32}, "operand 4294967296 of const32 does not fit into 4 bytes"},
		{Instruction{Op: OpPrintf, Operand: 256}, "operand 256 of printf does not fit into 1 bytes"},
		{Instruction{Op: OpPrintf, Format: strings.Repeat("a", 65535)},
			"printf format of 65535 bytes, at most 65534 can be encoded"},
	}
	for _, test := range tests {
		dst := []byte{42}
		got, err := test.in.Append(dst)
		if err == nil || err.Error() != test.want {
			t.Errorf("Append of %v %d: error %v, want %s", test.in.Op, test.in.Operand, err, test.want)
		}
		if !bytes.Equal(got, dst) {
			t.Errorf("Append of %v %d left % x, want what was there", test.in.Op, test.in.Operand, got)
		}
	}
}

func TestLongestFormat(t *testing.T) {
	in := Instruction{Op: OpPrintf, Format: strings.Repeat("a", 65534)}
	code, err := in.Append(nil)
	if err != nil || len(code) != in.Size() {
		t.Fatalf("Append: %d bytes, %v, want %d", len(code), err, in.Size())
	}
	if again, err := instructionAt(code, 0); err != nil || again != in {
		t.Errorf("instructionAt: a format of %d bytes, %v, want %d", len(again.Format), err, len(in.Format))
	}
}
