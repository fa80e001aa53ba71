//go:build linux && amd64

package jit

import (
	"fmt"
	"strings"
	"testing"
)

// operands push a cell of each description that there is.
var operands = []string{
	"const8 5", "const8 0", "const8 63;bit_not", "const64 0x123456789abcdef0", "reg 5", "reg 0", "reg 7", "reg 16", "reg 17", "reg 18",
	"reg 5;const8 40;add", "reg 7;const16 300;sub", "reg 3;const32 0x40000000;add", "getv 1", "getv 2;const8 1;sub", "getv 9", "getv 10", "getv 11",
	"getv 1;getv 2;equal", "reg 5;reg 4;less_unsigned", "reg 2;getv 1;less_signed;log_not",
}

// TestPairs applies each opcode to cells of every description.
func TestPairs(t *testing.T) {
	b := newBench(t, 6)
	var programs []string
	add := func(format string, args ...any) { programs = append(programs, fmt.Sprintf(format, args...)) }
	for _, x := range operands {
		for _, op := range []string{"log_not", "bit_not", "dup;sub", "dup;bit_xor;log_not", "log_not;log_not", "pop;getv 3", "setv 1", "setv 99",
			"log_not;bit_not", "const8 3;mul", "ref8", "ref32", "trace_quick 3", "dup;trace", "if_goto x;tracev 1;x: reg 5", "if_goto x;goto y;x: tracev 2;y: getv 1"} {
			add("%s;%s", x, op)
		}
		for _, bits := range bitCounts {
			for _, op := range []string{"ext", "zero_ext"} {
				add("%s;%s %d", x, op, bits)
				add("%s;%s %d;log_not", x, op, bits)
			}
		}
		for _, y := range operands {
			for _, op := range binaries {
				add("%s;%s;%v", x, y, op)
			}
			for _, op := range []string{"swap;sub", "pick 1;sub;bit_xor", "trace", "tracenz", "dup;rot;sub;mul", "const8 2;rot;add;sub", "printf 0 `x`;getv 1",
				"if_goto x;const8 1;add;x: getv 1;mul"} {
				add("%s;%s;%s", x, y, op)
			}
		}
	}
	for i, text := range programs {
		p := assemble(t, text+";end")
		for _, m := range []mode{asValue, asCondition} {
			if strings.HasSuffix(text, "trace") || strings.HasSuffix(text, "tracenz") {
				m = asRun // nothing is left to look at
			}
			if diff, err := b.differs(p, m, 3); err != nil || diff != "" {
				t.Fatalf("%d: %s: %v\n%s", i, text, err, diff)
			}
		}
	}
	t.Logf("%d programs", len(programs))
}
