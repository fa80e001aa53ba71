//go:build linux && amd64

package local

import (
	"fmt"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
)

// collected is a plan that collects in every way.
const collected = `
tvariable $hits = 0
trace push
actions
teval $hits = $hits + 1
collect *item, q->head, $hits
collect/s item->label
end
trace work if factor > 1
actions
collect $args, $locals
end
trace pop
actions
collect pops
while-stepping 2
collect $regs
end
end
`

// TestGDBReads opens a recorded file in GDB, which shows what was collected by the names in which it was asked for.
func TestGDBReads(t *testing.T) {
	for _, v := range []testprog.Variant{{NoPIE: true}, {}} {
		t.Run(v.String(), func(t *testing.T) {
			p := testprog.Build(t, "queue", v)
			o := run(t, config(t, collected, p.Path, "10"))
			if len(o.Feed.Points) != 3 || o.Feed.Points[0].Errors != 0 {
				t.Fatalf("%+v", o.Feed)
			}
			file := ""
			for line := range strings.Lines(o.file.Header().Description) {
				var at uint64
				if _, err := fmt.Sscanf(line, "<!-- object %v "+p.Path, &at); err == nil {
					file = fmt.Sprintf("symbol-file -o %#x %s", at, p.Path)
				}
			}
			script := file + "\ntarget tfile " + o.Config.Output + `
			-- points --
			info tracepoints
			-- push --
			tfind tracepoint 1
			tdump
			print $hits
			print item->label
			-- pop --
			tfind start
			tfind tracepoint 3
			tdump
			print pops
			-- step --
			tfind
			print $pc
			tfind
			print $pc
			-- work --
			tfind tracepoint 2
			tdump
			`
			program := p.Path
			if file != "" && !v.NoPIE {
				program = ""
			}
			output := gdbtest.Run(t, program, script)
			if v.NoPIE { // of what can be loaded anywhere GDB cannot read the code, and so does not know where tracepoints were
				for section, want := range map[string]string{
					"push": "*item = {next = 0x0, number = 1, label = \"item-1", "work": "factor = ", "pop": "pops = 0",
				} {
					if got := output.Section(t, section); !strings.Contains(got, want) {
						t.Errorf("section %s has no %q:\n%s", section, want, got)
					}
				}
			}
			for section, wants := range map[string][]string{
				"points": {"push", "work", "pop", "queue.c:"},
				"push":   {" = 1\n", ` = "item-1\000`},
				"pop":    {" = 0"},
				"step":   {"<pop+"},
			} {
				for _, want := range wants {
					if got := output.Section(t, section); !strings.Contains(got, want) {
						t.Errorf("section %s has no %q:\n%s", section, want, got)
					}
				}
			}
		})
	}
}
