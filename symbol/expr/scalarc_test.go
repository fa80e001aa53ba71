package expr

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/internal/test/testtool"
)

// declarations are the integers of sample, in C.
const declarations = `
#include <stdio.h>
#include <stdint.h>
volatile signed char c = 0xfe; volatile unsigned char uc = 0xfe; volatile short s = 0x8000; volatile unsigned short us = 0xfffe;
volatile int i = -7; volatile unsigned u = 3000000000u; volatile long l = (1ul << 63) + 5; volatile unsigned long ul = (1ul << 63) + 5;
volatile int x = 5, zero = 0; volatile double d = 2.75; volatile float f = 0.1f;
`

// handPicked are expressions in which C does what one may not expect.
var handPicked = []string{
	"i < u", "i < ul", "c < uc", "-1 < 1u", "-1 < 1ul", "(unsigned char)c == uc", "c == uc", "us + 1", "uc << 24", "u + u", "u * 2 < u",
	"1 << 31 < 0", "0x80000000 > 0", "2147483648 > 0", "-2147483648 < 0", "0xffffffff == -1", "0xffffffffffffffff == -1", "~0u == -1",
	"~0ul == -1", "1 ? -1 : 1u", "(1 ? -1 : 1u) > 0", "l >> 60", "ul >> 60", "i >> 1", "u >> 1", "(i >> 1) == -4", "i / 2", "i % 4", "-7 / 2u",
	"l / -3", "l % 10", "!i", "!!i", "!zero", "~c", "-uc", "-u", "-s", "- -5", "+c", "'a' + 1", "'\\n'", "'\\377'", "'\\x80' < 0", "'\\0'", "'\\''",
	"0x7fffffffL + 1", "10u - 20", "10 - 20u > 0", "010 + 0b11", "1 == 1 == 1", "5 > 4 > 3", "1 | 2 ^ 3 & 4", "1 + 2 << 3", "x & 1 == 1",
	"x == 5 ? i : u", "zero ? 1 : zero ? 2 : 3", "(char)300", "(short)70000", "(unsigned short)-1", "(int)ul", "(_Bool)256", "(_Bool)0",
	"(uint8_t)-1 + 1", "(int8_t)200", "(int64_t)u", "(long)i", "(unsigned long)i > 5", "(unsigned)i", "(long long)c", "(unsigned long long)c",
	"sizeof(int) - 5 > 0", "sizeof(long)", "sizeof c", "sizeof(c + c)", "sizeof(unsigned short)", "(int)(unsigned char)-1", "x / 2 * 2 == x",
	"x && zero || x", "zero || zero && x", "i < 0 && u > 0", "((x))", "(x > 3) + (x > 4) + (x > 5)", "9223372036854775807 + 0", "1ull << 63",
	"18446744073709551615u > 0", "0777", "0x7FUL", "uc ^ c", "us | s", "ul & l", "(signed char)uc", "~(unsigned char)0", "-(unsigned char)1",
}

// TestScalarAgainstC compares with what a C compiler makes of expressions: picked by hand, and many made at random.
func TestScalarAgainstC(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	expressions := handPicked
	for range 1000 {
		expressions = append(expressions, made(random, 4))
	}
	var source strings.Builder
	source.WriteString(declarations)
	calls := ""
	for i, e := range expressions { // a function each, as a compiler takes its time over a long one
		fmt.Fprintf(&source, "static void f%d(void) { printf(\"%%llx\\n\", (unsigned long long)(%s)); }\n", i, e)
		calls += fmt.Sprintf("f%d(); ", i)
	}
	source.WriteString("int main(void) { " + calls + "return 0; }\n")
	path := filepath.Join(t.TempDir(), "expressions.c")
	if err := os.WriteFile(path, []byte(source.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	program := strings.TrimSuffix(path, ".c")
	if out, err := testtool.Command(t, "gcc", "-O0", "-w", "-fwrapv", "-fsigned-char", "-o", program, path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	results := strings.Fields(string(out))
	for n, text := range expressions {
		e, err := CompileScalar(text, sample())
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		value, ok := e.Eval(sample())
		if got := fmt.Sprintf("%x", value.Bits); !ok || got != results[n] {
			t.Errorf("%s: %s (%v), of type %v, want %s", text, got, ok, e.Type(), results[n])
		}
	}
}

// made makes an expression that C defines but for signed overflow: no division by zero, no shift by too much.
func made(r *rand.Rand, depth int) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	if depth == 0 || r.IntN(8) == 0 {
		return pick("c", "uc", "s", "us", "i", "u", "l", "ul", "x", "zero", "1", "0x7fffffff", "0xffffffffu", "3000000000", "-1", "'z'", "2ul", "07l")
	}
	a, b := made(r, depth-1), made(r, depth-1)
	switch r.IntN(10) {
	case 0:
		return "(" + a + " " + pick("/", "%") + " ((" + b + ") & 15 | 1))"
	case 1:
		return "((" + a + ") " + pick("<<", ">>") + " ((" + b + ") & 7))"
	case 2:
		return pick("!", "~", "-", "+") + "(" + a + ")"
	case 3:
		return "(" + pick("char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long", "_Bool") + ")(" + a + ")"
	case 5:
		return "((" + a + ") * " + pick("1.0", "0.5f", "d", "f") + pick("<", ">", "<=", ">=", "==", "!=") + "(" + b + ") + " + pick("d", "f", "x") + ")"
	case 4:
		return "(" + a + " ? " + b + " : " + made(r, depth-1) + ")"
	}
	op := pick("+", "-", "*", "&", "|", "^", "<", ">", "<=", ">=", "==", "!=", "&&", "||")
	if r.IntN(2) == 0 {
		return a + " " + op + " " + b
	}
	return "(" + a + ") " + op + " (" + b + ")"
}
