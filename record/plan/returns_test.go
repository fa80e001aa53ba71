package plan

import (
	"strings"
	"testing"
)

// TestReturns: a tracepoint of returns follows that of the entry, and takes the options behind it.
func TestReturns(t *testing.T) {
	var p Plan
	err := p.AddItems([]Item{{"--at", "push"}, {"--at", "pop"}, {"--collect", "q"}, {"--return", ""}, {"--if", "$return != 0"}, {"--return", "main"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range p.Tracepoints {
		tp := &p.Tracepoints[i]
		var collected []string
		for _, a := range tp.Actions {
			for _, e := range a.Expressions {
				collected = append(collected, e.Value)
			}
		}
		line := tp.Location.Value + " " + strings.Join(collected, ",") + " " + tp.Condition.Value
		if tp.Entry != 0 {
			line += " of " + p.Tracepoints[tp.Entry-1].Location.Value
		}
		if tp.Returns {
			line += " returns"
		}
		got = append(got, line)
	}
	want := []string{"push q  returns", "pop q  returns", "push  $return != 0 of push", "pop  $return != 0 of pop", "main $args  returns", "main   of main"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q, not %q", got, want)
	}
	if all := p.AllReturn(); len(all) != 0 {
		t.Errorf("%v are warned of", all)
	}
	var limited Plan
	err = limited.AddItems([]Item{{"--at", "push"}, {"--if", "q"}, {"--return", ""}, {"--at", "pop"}, {"--return", ""}})
	if all := limited.AllReturn(); err != nil || len(all) != 1 || all[0].Number != 2 {
		t.Errorf("%v are warned of, %v", all, err)
	}
	for _, wrong := range [][]Item{
		{{"--return", ""}}, {{"--at", "f"}, {"--return", ""}, {"--return", ""}}, {{"--collect", "x"}, {"--return", ""}},
	} {
		if err := new(Plan).AddItems(wrong); err == nil {
			t.Errorf("%v is accepted", wrong)
		}
	}
}

// TestReturnsComment: what a trace file says of a tracepoint of returns can be read again, and nothing else is taken for it.
func TestReturnsComment(t *testing.T) {
	tp := Tracepoint{Number: 2, Entry: 1, Location: Text{Value: "ns::f(int) at all"}}
	entry, location, ok := ParseReturns([]string{"collect x", tp.ReturnsComment()})
	if !ok || entry != 1 || location != "ns::f(int) at all" {
		t.Errorf("%d %q %v", entry, location, ok)
	}
	for _, command := range []string{"# returns of tracepoint x at f", "# collect $return", "returns of tracepoint 1 at f", "# returns of tracepoint 1"} {
		if _, _, ok := ParseReturns([]string{command}); ok {
			t.Errorf("%q is taken for a comment of returns", command)
		}
	}
}
