package tdesctest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/internal/regularfile"
	"tracewell/internal/test/gdbtest"
	"tracewell/tdesc"
	"tracewell/tdesc/fetch"
)

// coreOfM68k is a feature with the registers that m68k needs.
func coreOfM68k() string {
	var b strings.Builder
	b.WriteString("<feature name='org.gnu.gdb.m68k.core'>")
	for _, name := range core {
		fmt.Fprintf(&b, "<reg name='%s' bitsize='32'/>", name)
	}
	return b.String() + "</feature>"
}

// TestNumbers has GDB number registers with and without regnum, in any order, with gaps, and with the number of those that are in
// no packet in each way to write it.
func TestNumbers(t *testing.T) {
	const documents = 30
	r := rand.New(rand.NewPCG(13, 3))
	outside := []string{"-1", " -1", "4294967295", "0xffffffff", "18446744073709551615", "037777777777"}
	var all []described
	for i := range documents {
		var b strings.Builder
		next, used := len(core), make(map[int]bool)
		for j := range 12 {
			attribute := ""
			switch n := 20 + r.IntN(200); {
			case r.IntN(5) == 0 && j < 11: // one without a number behind it would have that of d0
				fmt.Fprintf(&b, "<reg name='o%d' bitsize='8' regnum='%s'/>", j, outside[r.IntN(len(outside))])
				fallthrough
			case r.IntN(2) == 0 || used[next]:
				for used[n] {
					n++
				}
				attribute, next = fmt.Sprintf(" regnum='%d'", n), n
			}
			used[next] = true
			next++
			fmt.Fprintf(&b, "<reg name='r%d' bitsize='%d'%s/>", j, 8<<r.IntN(4), attribute)
		}
		doc := "<target><architecture>m68k</architecture>" + coreOfM68k() + "<feature name='f'>" + b.String() + "</feature></target>"
		file := filepath.Join(t.TempDir(), "target.xml")
		if err := os.WriteFile(file, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
		target, _, err := tdesc.Parse([]byte(doc), nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		all = append(all, described{name: fmt.Sprint(i), target: target, file: file})
		if i%2 == 0 { // and as it prints itself
			all = append(all, described{name: fmt.Sprint(i, "-printed"), target: target})
		}
	}
	comparePlaces(t, all...)
}

// TestIncludeDepth has GDB read documents that include each other, up to one more than it takes.
func TestIncludeDepth(t *testing.T) {
	depths := []int{30, 31, 32, 33}
	var script strings.Builder
	dirs := make(map[int]string)
	for _, depth := range depths {
		dir := t.TempDir()
		for i := range depth + 1 {
			doc := fmt.Sprintf(`<x><xi:include href="%d.xml"/></x>`, i+1)
			switch i {
			case 0:
				doc = `<target>` + doc + coreOfM68k() + `</target>`
			case depth:
				doc = "<x/>"
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.xml", i)), []byte(doc), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		dirs[depth] = dir
		fmt.Fprintf(&script, "-- %d --\n? maint print xml-tdesc %s/0.xml\n", depth, dir)
	}
	output := gdbtest.RunMultiarch(t, script.String())
	accepted := 0
	for _, depth := range depths {
		include := fetch.Folder(regularfile.Folder(dirs[depth]))
		doc, err := include("0.xml")
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = tdesc.Parse(doc, include)
		printed := output.Section(t, fmt.Sprint(depth))
		accepts := !strings.Contains(printed, "Could not load")
		if accepts != (err == nil) {
			t.Errorf("%d documents included: GDB takes them: %v, Parse: %v\n%s", depth, accepts, err, printed)
		}
		if accepts {
			accepted++
		}
	}
	if accepted == 0 || accepted == len(depths) {
		t.Errorf("GDB takes %d of the depths %v", accepted, depths)
	}
}
