package ax

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAssemble(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"labels", "# whether to go on\nconst8 1\n if_goto yes # forward\nno:\n const8 0\n end\nyes: const8 2\n goto no",
			"2201 20 0008 2200 27 2202 21 0005"},
		{"offsets", "0 const8 1\n2 goto 5\n5 end", "2201 21 0005 27"},
		{"offsets of an edited disassembly", "0 const8 1\n pop\n const8 2\n2 goto 5\n5 end", "2201 29 2202 21 0008 27"},
		{"offset that labels no line", "const8 1\ngoto 5\nend", "2201 21 0005 27"},
		{"offset in hexadecimal", "goto 0x3\n3 end", "21 0003 27"},
		{"two labels of one place", "a:\nb: end\ngoto a\ngoto b", "27 21 0000 21 0000"},
		{"blanks", "\n\t end \t\r\n\n# nothing more\n", "27"},
		{"comment at once", "const8 0x10#16\nend#", "2210 27"},
		{"format in a raw literal", "printf 2 `a # b\\n` # %d\nend", "34 02 0008 612023 2062 5c6e 00 27"},
		{"format in an interpreted literal", `printf 0x1 "a\n\x80"` + "\nend", "34 01 0004 610a80 00 27"},
		{"label like an opcode", "end: end\ngoto end", "27 21 0000"},
		{"greatest operand", "const64 18446744073709551615\nend", "25 ffffffffffffffff 27"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := Assemble(test.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(mustHex(test.want), got); diff != "" {
				t.Errorf("bytecode (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAssembleRefuses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", "# nothing\n", "empty expression"},
		{"opcode", "end\n  ad", `line 2, column 3: "ad" is no opcode`},
		{"upper case", "END", `line 1, column 1: "END" is no opcode`},
		{"bad label", "a-b: end", `line 1, column 1: "a-b:" is no opcode`},
		{"label begins with a digit", "1a: end", `line 1, column 1: "1a:" is no opcode`},
		{"operand missing", "const8 # 3\nend", `line 1, column 8: operand of const8: want a number, got ""`},
		{"operand no number", "reg rax", `line 1, column 5: operand of reg: want a number, got "rax"`},
		{"negative operand", "const8 -1", `line 1, column 8: operand of const8: want a number, got "-1"`},
		{"operand too large", "const8 256", `line 1, column 8: operand 256 of const8 does not fit into 1 bytes`},
		{"operand much too large", "const64 18446744073709551616",
			`line 1, column 9: operand of const64: want a number, got "18446744073709551616"`},
		{"operand not wanted", "add 1", `line 1, column 5: "1" follows the instruction, want the end of the line`},
		{"label missing", "goto", `line 1, column 5: operand of goto: want a label or a number, got ""`},
		{"label not a name", "goto +1", `line 1, column 6: operand of goto: want a label or a number, got "+1"`},
		{"label unknown", "goto out\nend", `line 1, column 6: "out" labels no line`},
		{"label unknown, first use", "end\nif_goto out\ngoto out", `line 2, column 9: "out" labels no line`},
		{"label twice", "a: end\na: end", `line 2, column 1: "a:" labels two places`},
		{"number twice", "1 end\n0x1 end", `line 2, column 1: "0x1" labels two places`},
		{"offset too large", "goto 65536\nend", `line 1, column 6: "65536" labels no line`},
		{"target inside", "const16 1\ngoto 1\nend",
			"line 2, column 1: invalid goto: goto at offset 3: target 1 is inside an instruction"},
		{"target beyond", "out:\n7 goto 9\nend",
			"line 2, column 3: invalid goto: goto at offset 0: target 9 is outside the 4 bytes of the expression"},
		{"label at the end", "goto out\nout:",
			"line 1, column 1: invalid goto: goto at offset 0: target 3 is outside the 3 bytes of the expression"},
		{"no end", "end\n const8 1", "line 2, column 2: missing end: const8 at offset 1: control runs off the end at offset 3"},
		{"label out of reach", strings.Repeat("const64 0\n", 7282) + "out: end\ngoto out",
			"line 7284, column 1: invalid goto: goto at offset 65539: target 65538 is beyond the reach of 65535"},
		{"no format", "printf 1", `line 1, column 9: format of printf: want a string literal, got ""`},
		{"format no literal", "printf 1 %d", `line 1, column 10: format of printf: want a string literal, got "%d"`},
		{"format a character", "printf 1 'a'", `line 1, column 10: format of printf: want a string literal, got "'a'"`},
		{"format without end", "printf 1 \"a", `line 1, column 10: string literal without end, or with a bad escape in it`},
		{"format too long", "printf 1 `" + strings.Repeat("a", 65535) + "`",
			"line 1, column 10: printf format of 65535 bytes, at most 65534 can be encoded"},
		{"too many arguments", "printf 256 `a`", "line 1, column 12: operand 256 of printf does not fit into 1 bytes"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			code, err := Assemble(test.text)
			if err == nil {
				t.Fatalf("Assemble = % x, want error %s", code, test.want)
			}
			if err.Error() != test.want {
				t.Errorf("error %q\n want %q", err, test.want)
			}
			if fault := (*SyntaxError)(nil); test.name != "empty" && !errors.As(err, &fault) {
				t.Errorf("error of type %T, want *SyntaxError", err)
			}
		})
	}
}
