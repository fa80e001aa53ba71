package exprtest

import (
	"fmt"
	"strings"
	"testing"

	"tracewell/symbol/expr"
)

// languages are expressions over programs in other languages, as GDB takes them there, too.
var languages = map[string]string{
	"values.rs": "self.id self.at.x self.at.y self.pair.0 self.pair.1 self.ready tiny -tiny tiny+1 *scale table[1][0] table[0][1]*2 " +
		"local.x local.y tuple.0 tuple.1 tuple.2 reference.x reference.y word.length values.length size sum *values.data_ptr " +
		"size==3 self.id>100&&tiny<0 values::LIMIT values::COUNT (*self).id sizeof(local) self.name.vec.len",
	"values.go": "j.id j.at.X j.at.Y j.next.id j.list.array[1] j.ready tiny tiny+1 table[1][0] local.X " +
		"reference.Y values.array[1] *scale sum sum*2 main.limit j.next==j tiny<0&&j.id>100",
}

// TestLanguages compares with what GDB prints of programs in Rust and Go.
func TestLanguages(t *testing.T) {
	for name, list := range languages {
		t.Run(name, func(t *testing.T) {
			program, line := Compile(t, name)
			var script strings.Builder
			texts := strings.Fields(list)
			for i, text := range texts {
				fmt.Fprintf(&script, "-- print %d --\n? print %s\n", i, text)
			}
			p, output := Stop(t, program, line, script.String())
			s := scopeOf(t, program, p.PC())
			for i, text := range texts {
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
		})
	}
}
