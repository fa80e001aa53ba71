package tdesctest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/internal/test/gdbtest"
	"tracewell/tdesc"
	"tracewell/tdesc/machine"
)

// place is where a register is in the g packet.
type place struct {
	Name         string
	Offset, Size int
}

// places is what a GDB has to find of a description.
func places(t *testing.T, target *tdesc.Target) map[arch.Reg]place {
	t.Helper()
	layout, err := target.Layout()
	if err != nil {
		t.Fatal(err)
	}
	found := map[arch.Reg]place{}
	for _, s := range layout.Slots {
		found[s.Reg.Num] = place{Name: s.Reg.Name, Offset: s.Offset, Size: s.Size}
	}
	return found
}

// remoteRegister is a line of maint print remote-registers with a remote number: name, GDB's number, its number among those
// of its kind, offset, size, type, remote number, offset in the g packet.
var remoteRegister = regexp.MustCompile(`(?m)^ (\S+) +\d+ +\d+ +\d+ +(\d+) .* (\d+) +(\d+) *$`)

// unnamed is GDB's name for a register that it shows only as a part or in the shape of another.
const unnamed = "''"

// foundPlaces reads the table. A register that has no name there, or another one, goes by that of the description: it is the
// number that counts.
func foundPlaces(target *tdesc.Target, table string) map[arch.Reg]place {
	names := map[arch.Reg]string{}
	for _, r := range target.Registers() {
		names[r.Num] = r.Name
	}
	found := map[arch.Reg]place{}
	for _, m := range remoteRegister.FindAllStringSubmatch(table, -1) {
		n, _ := strconv.Atoi(m[3])
		p := place{Name: m[1]}
		p.Size, _ = strconv.Atoi(m[2])
		p.Offset, _ = strconv.Atoi(m[4])
		if p.Name == unnamed {
			p.Name = names[arch.Reg(n)]
		}
		found[arch.Reg(n)] = p
	}
	return found
}

// described is a description to hold against GDB.
type described struct {
	name   string
	target *tdesc.Target
	file   string // the document; "" for the target as it prints itself
	choose string // GDB's name of the architecture where the description does not say it
}

// comparePlaces has one GDB load each description: without a warning, with every register there, and with the same places.
// Descriptions for which an architecture is chosen come last, since GDB 13.1 may abort on choosing none again.
func comparePlaces(t *testing.T, descriptions ...described) {
	t.Helper()
	var script strings.Builder
	dir := t.TempDir()
	for _, d := range descriptions {
		file := d.file
		if file == "" {
			file = filepath.Join(dir, d.name+".xml")
			if err := os.WriteFile(file, d.target.XML(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if d.choose != "" {
			fmt.Fprintf(&script, "set architecture %s\n", d.choose)
		}
		fmt.Fprintf(&script, "-- load %s --\nset tdesc filename %s\n", d.name, file)
		fmt.Fprintf(&script, "-- registers %s --\nmaint print remote-registers\n", d.name)
		script.WriteString("-- next --\nunset tdesc filename\n")
	}
	output := gdbtest.RunMultiarch(t, script.String())
	for _, d := range descriptions {
		t.Run(d.name, func(t *testing.T) {
			if printed := output.Section(t, "load "+d.name); printed != "" {
				t.Errorf("GDB says on loading: %s", printed)
			}
			got := foundPlaces(d.target, output.Section(t, "registers "+d.name))
			if diff := cmp.Diff(places(t, d.target), got); diff != "" {
				t.Errorf("remote registers (-ours +GDB):\n%s", diff)
			}
		})
	}
}

// lent gives a description for an architecture that Debian's gdb-multiarch 13.1 is built without to RISC-V, with pointers of the same size: to GDB its
// registers are then some that RISC-V does not need, whose sizes it computes all the same. RISC-V's own come behind them.
func lent(t *testing.T, target *tdesc.Target) *tdesc.Target {
	t.Helper()
	host := machine.RISCV{Bits: 64}
	for _, r := range target.Registers() {
		if strings.HasSuffix(r.Type, "_ptr") && r.Bits == 32 {
			host.Bits = 32
		}
	}
	last := arch.Reg(0)
	for _, r := range target.Registers() {
		last = max(last, r.Num)
	}
	borrower := host.Target()
	for _, r := range borrower.Registers() {
		r.Num += last + 1
	}
	borrower.Features = append(borrower.Features, target.Features...)
	return borrower
}

func TestMachines(t *testing.T) {
	var all []described
	for _, s := range machine.Shapes() {
		target := s.Target()
		if strings.HasPrefix(s.Name, "loongarch") {
			target = lent(t, target)
		}
		all = append(all, described{name: s.Name, target: target})
	}
	comparePlaces(t, all...)
}
