package plan

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
)

// TestAbbreviations: what is taken for a command is one that GDB takes for the same, and where GDB takes an abbreviation of one
// so is it here.
func TestAbbreviations(t *testing.T) {
	var script strings.Builder
	beginnings := map[string]command{} // with the command that each is of
	for _, c := range commands {
		for _, name := range append([]string{c.name}, c.aliases...) {
			fmt.Fprintf(&script, "-- %s --\n? help %s\n", name, name)
			for n := 1; n < len(name); n++ {
				beginnings[name[:n]] = c
				fmt.Fprintf(&script, "-- %s --\n? help %s\n", name[:n], name[:n])
			}
		}
	}
	out := gdbtest.Run(t, "", script.String())
	for beginning, c := range beginnings {
		same := strings.SplitN(out.Section(t, beginning), "\n", 3)[0] == strings.SplitN(out.Section(t, c.name), "\n", 3)[0]
		found, err := lookUp(Text{Value: beginning}, commands)
		switch {
		case err == nil && found.name == c.name && !same:
			t.Errorf("%q is taken for %s, but not by GDB", beginning, c.name)
		case err != nil && same:
			t.Errorf("%q is %s for GDB", beginning, c.name)
		}
	}
}

// saved are definitions that GDB accepts for the program queue.
const saved = `tvariable $count = 3
trace push if item->number > 2 && q->head != 0
actions
collect $regs,*q, q->length@4
collect/s16 item->label
teval $count = $count + 1
while-stepping 3
collect $rip, $rsp
teval $count += 2
end
end
passcount 3
trace queue.c:40
trace *main
disable 2
condition 3 1 == 2
set default-collect $rip, pending
`

// TestGDBSaves: what GDB's "save tracepoints" writes is read as what GDB was told, and what is written here GDB reads as the
// same.
func TestGDBSaves(t *testing.T) {
	program := testprog.Build(t, "queue", testprog.Variant{NoPIE: true})
	folder := t.TempDir()
	save := func(name, script string) string {
		source := filepath.Join(folder, name+".gdb")
		if err := os.WriteFile(source, []byte(script), 0o644); err != nil {
			t.Fatal(err)
		}
		target := filepath.Join(folder, name+".saved")
		server := gdbtest.Serve(t, program.Path) // collect/s needs a target
		gdbtest.Run(t, program.Path, fmt.Sprintf("target remote %s\nsource %s\nsave tracepoints %s\n", server.Address, source, target))
		text, err := os.ReadFile(target)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	read := func(script string) string {
		var p Plan
		if err := p.AddScript("script", script); err != nil {
			t.Fatal(err)
		}
		return p.Script()
	}
	first := save("first", saved)
	if diff := gocmp.Diff(read(saved), read(first)); diff != "" {
		t.Errorf("what GDB saved is read as another plan (-told +saved):\n%s", diff)
	}
	second := save("second", read(first))
	if diff := gocmp.Diff(strings.ReplaceAll(first, "$regs,*q", "$regs, *q"), second); diff != "" {
		t.Errorf("GDB reads another plan (-first +second):\n%s", diff)
	}
}
