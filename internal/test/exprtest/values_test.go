package exprtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/symbol/expr"
)

// expressions are those whose values are compared with what GDB's own bytecode gives.
var expressions = strings.Split(strings.TrimSpace(`
sc
uc
c
s
us
i
u
l
ul
ll
yes
no
kind
sign
limit
zero
n
small
narrow
big
letter
local
calls
hits
'values.c'::hits
sc + 1
uc + 1
us + s
uc << 24
1 << 31
u << 1
u + u
u * 2 < u
i < u
i < ul
sc < uc
-1 < 1u
l < ul
l >> 4
ul >> 4
i >> 1
u >> 1
s >> 2
i / 2
i % 4
u / 7
u % 7
l / -3
l % 10
ul / 3
ul % 1000
i * i
i * u
sc * uc
s * us
ll == -1
ul > 0
-i
-u
-uc
-s
~i
~u
~uc
~l
+c
!i
!zero
!!l
!ip
i & 0xff
i | 1
i ^ u
uc & sc
l & ul
us | s
i == -7 && u > 5
zero && i / zero
i || i / zero
zero || no
i < 0 ? l : u
zero ? 1 : 2
(zero ? sc : u) < 0
i > 5 || u > 5 && l < 0
(char)300
(unsigned char)i
(short)u
(unsigned short)i
(int)ul
(long)i
(unsigned long)i
(unsigned)l
(signed char)uc
(long)sc
(unsigned long)sc
(unsigned char)sc + 1
(long)u
(int)u
(short)uc
LATE
(enum kind)0
URGENT * 2
sizeof(int)
sizeof(struct job)
sizeof i
sizeof(j->path)
sizeof *j
sizeof(struct job *)
sizeof(int[3])
sizeof(long) * 2 - 1
sizeof j->name / sizeof j->name[0]
j
j->id
j->kind
j->at.x
j->at.y
j->path[0].x
j->path[1].x
j->path[2].y
j->path[n - 998].y
j->path[j->at.y].x
(*j).id
j[0].id
j->flags.low
j->flags.delta
j->flags.wide
j->flags.one
j->flags.far
j->flags.delta < 0
j->flags.low + j->flags.delta
flags.low
flags.delta
flags.wide
flags.one
flags.far
-flags.delta
flags.low - 6
flags.low - 6 < 0
~flags.low
j->word.whole
j->word.bytes[0]
j->word.bytes[3]
j->word.halves[1]
w.halves[0] + w.halves[1]
w.bytes[i + 9]
j->name[0]
*j->name
*(j->name + 2)
j->label[0]
*j->label
j->label == 0
j->next->id
j->next->next->id
j->next->next == j
j->next->label[1]
(*j->self)->id
*j->self == head
head->id
head->next->at.y
j->grid[0][1]
j->grid[1][0]
j->grid[1][2]
*j->grid[1]
**j->grid
table[1][0]
table[1][1] * table[0][1]
*table[1]
numbers[0]
numbers[3]
numbers[i + 8]
*(numbers + 5)
numbers + 1
&numbers[3] - numbers
&numbers[1]
&numbers
numbers[7] * numbers[6]
bytes[2]
bytes[2] + bytes[4]
*bytes
&bytes[1] - &bytes[0]
ip
*ip
**ipp
ipp[0][0]
&local == ip
&j->at.y
&j->at == &j->at
&copy.next == copy.self
copy.id
copy.path[1].x
p->id
(*pp)->id
(**pp).id
pp[0]->id
*(int *)raw
*(short *)raw
*(unsigned char *)&u
((struct job *)raw)->id
((struct job *)raw)->path[1].x
*(int *)address
*(long *)((char *)address - 8)
*(int *)(address + 4)
(int *)address - numbers
(unsigned char)*(char *)&local
p + 1
p - 1
(char *)(p + 1) - (char *)p
p == raw
p != 0
j < p
raw
text[0]
string[1]
*string
string != 0
string + 2
*&local
*&j->id
&*p
&p->path[2] - &p->path[0]
sum
sum % 1000
call == twice
j->call == call
$rip
$rsp
$rbp
$rax
$rax + 1
$rbp - 8
$rip == 5
$rsp < $rbp
*(long *)$rsp
*(int *)($rbp - 4)
i + l
i - u
i * l
uc - us
1 + 2 * 3 - 4 / 2 % 3
10 - 20u
10 - 20u > 0
0x7fffffff + 1
0xffffffff
0xffffffff == -1
2147483648
4294967295 + 1
010 + 1
1 == 1 == 1
5 > 4 > 3
1 | 2 ^ 3 & 4
1 + 2 << 3
i >= -7
i <= -8
u >= 3000000000u
u != 3000000000u
l != ll
uc >= sc
ul >= big
(numbers[1], i)
{int} &local
{short} ($rbp - 8)
j->id * 1000 + j->next->id
j->at.x + j->path[1].x * 2 - copy.path[2].y
(i + 7) || (u - 3000000000u) || !zero
-j->flags.delta * 3
~j->flags.wide
!j->flags.one
(unsigned char)(uc + 10)
(short)(s + s)
`), "\n")

// beyond are expressions that GDB evaluates and does not compile, or not rightly: characters, enumerations, members of
// unnamed structures, arrays and functions as addresses.
var beyond = strings.Split(strings.TrimSpace(`
c == 'x'
letter - 'A'
'\n'
'\377'
yes && !no
yes ? sc : uc
kind == URGENT
kind + 1
sign < 0
sign + MINUS
j->kind == LATE
j->word.low
j->word.high
j->hidden
j->inner
j->letter
j->name[1] == 'i'
j->grid[1]
bytes
text[6] - 'a'
&twice
twice
{unsigned char} raw
(j->kind == LATE && j->next) ? j->next->id : -1
`), "\n")

// TestAgainstGDB compares with the bytecode that GDB makes of expressions, over the same stopped process; and with the value
// that GDB prints.
func TestAgainstGDB(t *testing.T) {
	if len(expressions) < 150 {
		t.Fatalf("only %d expressions", len(expressions))
	}
	program, line := Compile(t, "values.c")
	var script strings.Builder
	all := append(slices.Clone(expressions), beyond...)
	for i, text := range all {
		fmt.Fprintf(&script, "-- agent %d --\n? maint agent-eval %s\n-- print %d --\nprint/d (long)(%s)\n", i, text, i, text)
	}
	p, output := Stop(t, program, line, script.String())
	s := scopeOf(t, program, p.PC())
	for i, text := range all {
		code, err := expr.Condition(text, s)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got, err := p.Run(t, code)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if want := Printed(t, output.Section(t, fmt.Sprintf("print %d", i))); got != want {
			t.Errorf("%s: %d, GDB prints %d", text, got, want)
		}
		want, err := p.Agent(t, output.Section(t, fmt.Sprintf("agent %d", i)))
		switch {
		case i < len(expressions) && err != nil:
			t.Errorf("%s: %v", text, err)
		case i < len(expressions) && got != want:
			t.Errorf("%s: %d, GDB's bytecode gives %d", text, got, want)
		case i >= len(expressions) && err == nil && got == want:
			t.Errorf("%s: GDB's bytecode is right, too", text)
		}
		comparePlan(t, p, s, text, got)
	}
}

// comparePlan evaluates an expression as it is shown.
func comparePlan(t *testing.T, p *Process, s expr.Scope, text string, want int64) {
	t.Helper()
	plan, err := expr.Compile(text, s)
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return
	}
	if !plan.Type.Scalar() {
		return
	}
	b, err := plan.Bytes(Context{Process: p})
	if err != nil || len(b) != plan.Type.Size {
		t.Errorf("%s: % x, %v", text, b, err)
		return
	}
	if got := int64(plan.Type.Extend(arch.Uint(b, s.Order()))); got != want {
		t.Errorf("%s: the plan gives %d, want %d", text, got, want)
	}
}
