package plan

import (
	"errors"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tracewell/symbol/expr"
)

// items makes a command line of words: a word that begins with -- is an option, and the one behind it its value unless that is
// an option, too.
func items(words ...string) []Item {
	var found []Item
	for _, word := range words {
		if strings.HasPrefix(word, "--") {
			found = append(found, Item{Option: word})
		} else {
			found[len(found)-1].Value = word
		}
	}
	return found
}

// TestItems: what options come to, as the script that says the same.
func TestItems(t *testing.T) {
	for name, test := range map[string]struct {
		items []Item
		want  string
	}{
		"one of each": {items("--at", "queue.c:88", "--collect", " $args, *q,buf[0]@16 ", "--if", "n > 3", "--pass", "5",
			"--set", "$count = $count + 1"), `
tvariable $count
trace queue.c:88
  passcount 5
  condition $bpnum n > 3
  commands
    collect $args, *q, buf[0]@16
    teval $count = $count + 1
  end
`},
		"options belong to the group in front": {items("--at", "push", "--at", "pop", "--collect", "$regs",
			"--at", "main", "--collect", "argc"), `
trace push
  commands
    collect $regs
  end
trace pop
  commands
    collect $regs
  end
trace main
  commands
    collect argc
  end
`},
		"options in front of all are for all": {items("--collect", "$args", "--if", "1", "--pass", "2", "--step", "3", "--at", "push",
			"--collect", "n", "--at", "pop", "--if", "2", "--step", "4:q->n, $regs", "--pass", "9"), `
trace push
  passcount 2
  condition $bpnum 1
  commands
    collect $args
    collect n
    while-stepping 3
      collect $pc
    end
  end
trace pop
  passcount 9
  condition $bpnum 2
  commands
    collect $args
    while-stepping 4
      collect q->n, $regs
    end
  end
`},
		"conditions in locations": {items("--at", "push if n > 3", "--at", "f(int, if x)  if\tx"), `
trace push
  condition $bpnum n > 3
trace f(int, if x)
  condition $bpnum x
`},
		"commas that part nothing": {items("--at", "f", "--collect", `/s16 a[f(1,2)], "x,y", 'a.c'::b, ','==c, m<int,char>::d, {int,2}x`), `
trace f
  commands
    collect/s16 a[f(1,2)], "x,y", 'a.c'::b, ','==c, m<int,char>::d, {int,2}x
  end
`},
		"comparisons are no templates": {items("--at", "f", "--collect", "a<b,c>d"), `
trace f
  commands
    collect a<b, c>d
  end
`},
		"backtraces": {items("--at", "f", "--backtrace", "--at", "g", "--backtrace", "64"), `
trace f
  commands
    collect $pc, $sp, $fp
    collect *(unsigned char *)($sp-128)@128, *(unsigned char *)$sp@8192
  end
trace g
  commands
    collect $pc, $sp, $fp
    collect *(unsigned char *)($sp-128)@128, *(unsigned char *)$sp@64
  end
`},
		"counting": {items("--at", "f", "--set", "$a++, --$b, $c--, ++$d + 1"), `
tvariable $a
tvariable $b
tvariable $c
trace f
  commands
    teval $a++, --$b, $c--, ++$d + 1
  end
`},
		"variables": {items("--tvariable", "$x = -5", "--at", "f", "--set", "$x += 1, $y = $x == 2, $z == 3, $trace_timestamp = 0"), `
tvariable $x = -5
tvariable $y
trace f
  commands
    teval $x += 1, $y = $x == 2, $z == 3, $trace_timestamp = 0
  end
`},
	} {
		var p Plan
		if err := p.AddItems(test.items); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := gocmp.Diff(strings.TrimPrefix(test.want, "\n"), p.Script()); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

// TestItemFaults: errors say what is wrong where it was typed.
func TestItemFaults(t *testing.T) {
	for _, test := range []struct {
		items []Item
		want  string
	}{
		{items("--collect", "x"), "--collect belongs to a tracepoint: give its place by --at"},
		{items("--at", " "), "--at: where? There is no location here\n   \n  ^"},
		{items("--at", "push if "), "--at: there is no condition behind this\n  push if \n       ^~"},
		{items("--at", "push thread 3"), "--at: a tracepoint is for all threads: it can't be limited to one\n  push thread 3\n       ^~~~~~"},
		{items("--at", "push -force-condition if x"), "--at: a condition has to be right everywhere: it can't be forced\n  push -force-condition if x\n       ^~~~~~~~~~~~~~~~"},
		{items("--at", "f", "--collect", "x, ,y"), "--collect: there is no expression here\n  x, ,y\n    ^"},
		{items("--at", "f", "--collect", "x,"), "--collect: there is no expression here\n  x,\n    ^"},
		{items("--at", "f", "--collect", "x,/s y"), "--collect: this holds for all expressions and stands in front of them\n  x,/s y\n    ^~\nfor others there is a second collect"},
		{items("--at", "f", "--collect", "x,/x y"), "--collect: no expression begins with this\n  x,/x y\n    ^"},
		{items("--at", "f", "--collect", "/x y"), "--collect: a collection is modified by /s or /s and a length up to 65535, as in /s64, and by nothing else\n  /x y\n  ^~"},
		{items("--at", "f", "--collect", "/s-1 y"), "--collect: a collection is modified by /s or /s and a length up to 65535, as in /s64, and by nothing else\n  /s-1 y\n  ^~~~"},
		{items("--at", "f", "--collect", "a\nb"), "--collect: this has to be a single line of text\n  a b\n   ^"},
		{items("--at", "f", "--if", `a\`), "--if: this can't end in a backslash\n  a\\\n   ^"},
		{items("--at", "f", "--if", ""), "--if: there is no condition here\n  \n  ^"},
		{items("--at", "f if x", "--if", "y"), "--if: there is a condition already: join them by &&\n  y\n  ^"},
		{items("--at", "f", "--pass", "0"), "--pass: a pass count is a number from 1 on\n  0\n  ^"},
		{items("--at", "f", "--pass", "1", "--pass", "2"), "--pass: there is a pass count already\n  2\n  ^"},
		{items("--at", "f", "--step", "x:y"), "--step: while-stepping needs a number of steps, from 1 to 2147483647\n  x:y\n  ^"},
		{items("--at", "f", "--step", "2:"), "--step: there is no expression here\n  2:\n    ^"},
		{items("--at", "f", "--step", "2", "--step", "3"), "--step: there are steps already\n  3\n  ^"},
		{items("--at", "f", "--backtrace", "65536"),
			"--backtrace: a backtrace takes from 64 to 65535 bytes of the stack, whatever the number of calls\n  65536\n  ^~~~~"},
		{items("--at", "f", "--backtrace", "5"),
			"--backtrace: a backtrace takes from 64 to 65535 bytes of the stack, whatever the number of calls\n  5\n  ^"},
		{items("--tvariable", "count"), "--tvariable: a trace state variable is defined as $NAME or $NAME = NUMBER\n  count\n  ^~~~~"},
		{items("--tvariable", "$x = y"), "--tvariable: an initial value is a number of 64 bits\n  $x = y\n       ^"},
		{items("--what", "x"), "--what: there is no such option\n  x\n  ^"},
	} {
		var p Plan
		err := p.AddItems(test.items)
		if err == nil {
			t.Errorf("%q: no error", test.items)
			continue
		}
		if diff := gocmp.Diff(test.want, err.Error()); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", test.items, diff)
		}
	}
}

// TestExplain: an error about an expression is shown in the value of the option.
func TestExplain(t *testing.T) {
	var p Plan
	if err := p.AddItems(items("--at", "push", "--collect", "$args, *qq")); err != nil {
		t.Fatal(err)
	}
	e := p.Tracepoints[0].Actions[0].Expressions[1]
	got := e.Explain(&expr.Error{Text: "*qq", Start: 1, End: 3, Problem: "there is no qq", Hint: "did you mean q?", Unknown: "qq"})
	if want := "--collect: there is no qq\n  $args, *qq\n          ^~\ndid you mean q?"; got.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", got, want)
	}
	got = e.Explain(errors.New("it can't be had"))
	if want := "--collect: it can't be had\n  $args, *qq\n         ^~~"; got.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", got, want)
	}
}

// TestNumbers: tracepoints of several sources are counted on, and all of them collect the default.
func TestNumbers(t *testing.T) {
	var p Plan
	for _, text := range []string{"set default-collect $rip\ntrace a\ntrace b\ndelete 2\ntrace c\n", "trace d\ndisable 1\nactions $tpnum\ncollect x\nend\n"} {
		if err := p.AddScript("s", text); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.AddItems(items("--at", "e")); err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range p.Tracepoints {
		tp := &p.Tracepoints[i]
		state := ""
		if tp.Disabled {
			state = " disabled"
		}
		got = append(got, strings.Join(append([]string{tp.Location.Value + state}, Commands(p.AllActions(tp), nil)...), "; "))
		if want := []int{1, 3, 4, 5}[i]; int(tp.Number) != want {
			t.Errorf("%s has the number %d, not %d", tp.Location, tp.Number, want)
		}
	}
	want := []string{"a; collect $rip", "c; collect $rip", "d disabled; collect $rip; collect x", "e; collect $rip"}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestCommands: what a trace file keeps is what GDB can read there.
func TestCommands(t *testing.T) {
	var p Plan
	long := strings.Repeat("a", commandLength/2)
	err := p.AddItems(items("--at", "f", "--collect", "/s9 name, $pc, x?", "--collect", long+", b"+long+", "+long+long+"x",
		"--set", "$n = 1", "--step", "2:$sp, y"))
	if err != nil {
		t.Fatal(err)
	}
	got := Commands(p.Tracepoints[0].Actions, func(e Text) (string, bool) {
		return strings.NewReplacer("$pc", "$rip", "$sp", "$rsp").Replace(e.Value), !strings.HasSuffix(e.Value, "?")
	})
	want := []string{"collect name, $rip", "# collect x?", "collect " + long, "collect b" + long, "teval $n = 1", "while-stepping 2", "collect $rsp, y", "end"}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
