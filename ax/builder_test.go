package ax

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBuilder(t *testing.T) {
	var b Builder
	out, again := b.NewLabel(), b.NewLabel()
	b.Bind(again)
	b.Emit(OpReg, 6)
	b.Jump(OpIfGoto, out)
	b.Jump(OpGoto, again)
	b.Bind(out)
	b.Printf(0, "out")
	b.Emit(OpGoto, 0)
	p, err := b.Program()
	if err != nil {
		t.Fatal(err)
	}
	want := "   0  reg 6\n   3  if_goto 9\n   6  goto 0\n   9  printf 0 `out`\n  17  goto 0\n"
	if diff := cmp.Diff(want, p.String()); diff != "" {
		t.Errorf("program (-want +got):\n%s", diff)
	}
}

func TestBuilderConst(t *testing.T) {
	tests := []struct {
		v    int64
		want string
	}{
		{0, "const8 0"},
		{255, "const8 255"},
		{256, "const16 256"},
		{65535, "const16 65535"},
		{65536, "const32 65536"},
		{math.MaxUint32, "const32 4294967295"},
		{math.MaxUint32 + 1, "const64 4294967296"},
		{math.MaxInt64, "const64 9223372036854775807"},
		{-1, "const8 255; ext 8"},
		{-36, "const8 220; ext 8"},
		{-128, "const8 128; ext 8"},
		{-129, "const16 65407; ext 16"},
		{-32768, "const16 32768; ext 16"},
		{-32769, "const32 4294934527; ext 32"},
		{math.MinInt32, "const32 2147483648; ext 32"},
		{math.MinInt32 - 1, "const64 18446744071562067967"},
		{math.MinInt64, "const64 9223372036854775808"},
	}
	for _, test := range tests {
		var b Builder
		b.Const(test.v)
		b.Emit(OpEnd)
		p, err := b.Program()
		if err != nil {
			t.Errorf("Const(%d): %v", test.v, err)
			continue
		}
		if diff := cmp.Diff(mustAssemble(t, test.want+"; end").String(), p.String()); diff != "" {
			t.Errorf("Const(%d) (-want +got):\n%s", test.v, diff)
		}
		if v, err := new(Machine).Value(p, &world{}); err != nil || v != test.v {
			t.Errorf("Const(%d) evaluates to %d, %v", test.v, v, err)
		}
	}
}

func TestBuilderMistakes(t *testing.T) {
	tests := []struct {
		name  string
		build func(b *Builder)
		want  string
	}{
		{"operand missing", func(b *Builder) { b.Emit(OpConst8) }, "const8 takes 1 operands, 0 given"},
		{"operand not wanted", func(b *Builder) { b.Emit(OpAdd, 1) }, "add takes 0 operands, 1 given"},
		{"operand too large", func(b *Builder) { b.Emit(OpPick, 256) }, "operand 256 of pick does not fit into 1 bytes"},
		{"no opcode", func(b *Builder) { b.Emit(0) }, "unrecognized opcode: 0x00 at offset 0"},
		{"printf as such", func(b *Builder) { b.Emit(OpPrintf, 1) }, "printf needs a format"},
		{"printf of less than nothing", func(b *Builder) { b.Printf(-1, "a") }, "printf of -1 arguments"},
		{"jump that is none", func(b *Builder) { b.Jump(OpAdd, b.NewLabel()) }, "add is no jump"},
		{"label without place", func(b *Builder) { b.Jump(OpGoto, b.NewLabel()) },
			"invalid goto: goto at offset 0: the label is bound nowhere"},
		{"label of two places", func(b *Builder) {
			l := b.NewLabel()
			b.Bind(l)
			b.Emit(OpEnd)
			b.Bind(l)
		}, "label is bound twice, to offsets 0 and 1"},
		{"the first counts", func(b *Builder) { b.Emit(OpAdd, 1); b.Emit(OpConst8) }, "add takes 0 operands, 1 given"},
		{"structure", func(b *Builder) { b.Emit(OpAdd) }, "missing end: add at offset 0: control runs off the end at offset 1"},
		{"nothing", func(*Builder) {}, "empty expression"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var b Builder
			test.build(&b)
			p, err := b.Program()
			if err == nil || err.Error() != test.want {
				t.Errorf("Program = %v, error %v, want %s", p, err, test.want)
			}
		})
	}
}

func TestErrorUnwraps(t *testing.T) {
	cause := errors.New("cause")
	err := error(&Error{Kind: ErrMemory, Op: OpRef8, Cause: cause})
	if !errors.Is(err, ErrMemory) || !errors.Is(err, cause) || errors.Is(err, ErrRegister) {
		t.Errorf("%v does not unwrap to its kind and cause alone", err)
	}
	if err = (&Error{Kind: ErrEmptyStack}); !errors.Is(err, ErrEmptyStack) {
		t.Errorf("%v does not unwrap to its kind", err)
	}
}
