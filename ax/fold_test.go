package ax

import (
	"math"
	"testing"
)

// TestFold compares what is folded with what a Machine computes, for every opcode.
func TestFold(t *testing.T) {
	numbers := []int64{0, 1, -1, 2, 63, 64, 65, 255, -128, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64}
	folded := 0
	for op := range opcodes {
		for _, operand := range []uint64{0, 1, 8, 32, 63, 64, 255} {
			in := Instruction{Op: Op(op), Operand: operand}
			row := opcodes[op]
			pure := row.unit == unary || row.unit == binary || row.unit == division
			for _, x := range numbers {
				for _, y := range numbers {
					got, ok := in.Fold(x, y)
					if !pure {
						if ok {
							t.Fatalf("%v is folded", in.Op)
						}
						continue
					}
					var b Builder
					b.Const(x)
					if row.pops == 2 {
						b.Const(y)
					}
					if row.operand == none {
						b.Emit(in.Op)
					} else {
						b.Emit(in.Op, operand)
					}
					b.Emit(OpEnd)
					p, err := b.Program()
					if err != nil {
						t.Fatal(err)
					}
					var m Machine
					want, err := m.Value(p, &world{})
					if ok != (err == nil) || got != want {
						t.Errorf("%v %d of %d and %d is folded to %d, %v, and is %d, %v", in.Op, operand, x, y, got, ok, want, err)
					}
					folded++
				}
			}
		}
	}
	t.Logf("%d cases", folded)
}
