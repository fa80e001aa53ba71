package exprtest

import (
	"fmt"
	"strings"
	"testing"

	"tracewell/symbol/container"
	"tracewell/symbol/expr"
)

// classes are expressions over a program in C++, of which most are beyond GDB's bytecode.
var classes = strings.Split(strings.TrimSpace(`
id
this->id
(*this).id
this
local
alias
alias + 1
&alias == &local
*pointer
moved
p.x
p.y
p.x + alias
&p
sizeof p
flag
!flag
flag && ready
ready + 1
j.id
j.ready
j.at.y
j.where.x
where.y
&where == &at
this->where.x
j.low
high
j.high - 100
hidden
::hidden
this->hidden
plain
first
second
j.first
j.second
base->first
base->second
base == this
(Plain *)this
static_cast<Plain *>(this)->second
(Plain *)&j == base
left
right
deep
j.deep
this->deep
j.Left::shared
j.Right::shared
Left::shared
ns::limit
ns::limit + id
ns::inner::depth
ns::Point::made
at.made
total
Job::total
this->total
j.total + 1
color
(int)color
color == ns::Color::Green
ns::Color::Red
(int)ns::Color::Red
stack.count
stack.items[1]
stack.items[stack.count]
other->items[1]
other->count
Stack<int>::top
numbers[1]
array[2]
sizeof array
array == numbers
points.items[1].y
points.count
self == this
self->id
self->at.x
*label
label[1]
list._M_impl._M_start[1]
list._M_impl._M_finish - list._M_impl._M_start
text._M_string_length
*text._M_dataplus._M_p
reinterpret_cast<long>(this) == (long)this
static_cast<short>(local)
sizeof(Job)
sizeof(ns::Point)
sizeof(Stack<int>)
((ns::Point *)&at)->y
true
false || true
`), "\n")

// wholes are values of classes that a frame has to show. None lies in a virtual base class: GDB 13.1 dies of an internal error
// (loc_bitpos) when it looks for one in a frame.
var wholes = strings.Split(strings.TrimSpace(`
p
j.at
where
stack
*other
numbers
array
points
j.where
*base
color
ready
alias
moved
total
j.stack.items[1]@2
id
at.made
high
`), "\n")

// TestClasses compares with what GDB prints, and over frames that hold no more than was collected.
func TestClasses(t *testing.T) {
	program, line := Compile(t, "classes.cc")
	var script strings.Builder
	for i, text := range classes {
		fmt.Fprintf(&script, "-- print %d --\n? print/d (long)(%s)\n", i, text)
	}
	for i, text := range wholes {
		fmt.Fprintf(&script, "-- whole %d --\n? output %s\n", i, text)
	}
	p, output := Stop(t, program, line, script.String())
	s := scopeOf(t, program, p.PC())
	for i, text := range classes {
		code, err := expr.Condition(text, s)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got, err := p.Run(t, code)
		if want := Printed(t, output.Section(t, fmt.Sprintf("print %d", i))); err != nil || got != want {
			t.Errorf("%s: %d (%v), GDB prints %d", text, got, err, want)
		}
		comparePlan(t, p, s, text, got)
	}
	file := NewTraceFile(p.PC())
	for _, text := range wholes {
		c, err := expr.Collect(text, s, container.Limits{})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		frame := p.Collect(t, expr.Actions(c))
		file.Add(frame)
		compareFrame(t, p, frame, s, text)
	}
	for i, got := range file.Print(t, program, wholes) {
		if want := output.Section(t, fmt.Sprintf("whole %d", i)); got != want {
			t.Errorf("%s: GDB prints of the frame\n%s\nwant\n%s", wholes[i], got, want)
		}
	}
}
