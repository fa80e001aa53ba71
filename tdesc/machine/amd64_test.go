package machine_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tracewell/internal/test/gdbtest"
	"tracewell/tdesc"
	"tracewell/tdesc/machine"
)

var update = flag.Bool("update", false, "write golden files anew")

// shapes are the machines that there are, from the least to the most.
var shapes = map[string]machine.AMD64{
	"bare":         {},
	"sse":          machine.LinuxAMD64,
	"avx":          {OrigRAX: true, Segments: true, AVX: true},
	"avx-pku":      {OrigRAX: true, Segments: true, AVX: true, PKU: true},
	"avx512":       {OrigRAX: true, Segments: true, AVX: true, AVX512: true},
	"avx512-pku":   {OrigRAX: true, Segments: true, AVX: true, AVX512: true, PKU: true},
	"pku-only":     {OrigRAX: true, Segments: true, PKU: true},
	"without-orig": {Segments: true, AVX: true},
}

// summary lists a description in the few words that matter, one register a line.
func summary(t *testing.T, target *tdesc.Target) string {
	t.Helper()
	layout, err := target.Layout()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s, %s: %d bytes\n", target.Architecture, target.OSABI, layout.Size)
	feature := ""
	for _, s := range layout.Slots {
		if s.Feature.Name != feature {
			feature = s.Feature.Name
			fmt.Fprintf(&out, "\n%s\n", feature)
		}
		r := s.Reg
		fmt.Fprintf(&out, "%3d %-8s at %4d, %2d bytes %s %s", r.Num, r.Name, s.Offset, s.Size, r.Type, r.Group)
		if r.Bits != 8*s.Size || !r.SaveRestore {
			fmt.Fprintf(&out, "bitsize %d, save-restore %v", r.Bits, r.SaveRestore)
		}
		out.WriteString("\n")
	}
	return regexp.MustCompile(" +\n").ReplaceAllString(out.String(), "\n")
}

// TestAMD64 compares the largest machine with its golden file, and each machine with the part of it that it has.
func TestAMD64(t *testing.T) {
	for name, m := range shapes {
		t.Run(name, func(t *testing.T) {
			golden := filepath.Join("testdata", name+".golden")
			got := summary(t, m.Target())
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestPrintsAndParses(t *testing.T) {
	for name, m := range shapes {
		got, warnings, err := tdesc.Parse(m.Target().XML(), nil)
		if err != nil || len(warnings) > 0 {
			t.Fatalf("%s: error %v, warnings %v", name, err, warnings)
		}
		if diff := cmp.Diff(m.Target(), got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: -made +parsed:\n%s", name, diff)
		}
	}
}

// TestSharesNothing changes one description and looks at the next.
func TestSharesNothing(t *testing.T) {
	m := shapes["avx512-pku"]
	want := string(m.Target().XML())
	changed := m.Target()
	for f, r := range changed.Registers() {
		r.Name, f.Name = "x", "x"
		clear(f.Types)
	}
	if diff := cmp.Diff(want, string(m.Target().XML())); diff != "" {
		t.Errorf("a change reached the tables:\n%s", diff)
	}
}

// TestGDBAccepts has GDB load each machine: without a warning, with every register there, and with the same offsets.
func TestGDBAccepts(t *testing.T) {
	var script strings.Builder
	for name, m := range shapes {
		file := filepath.Join(t.TempDir(), name+".xml")
		if err := os.WriteFile(file, m.Target().XML(), 0o644); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&script, "-- load %s --\nset tdesc filename %s\n", name, file)
		fmt.Fprintf(&script, "-- registers %s --\nmaint print remote-registers\n", name)
	}
	output := gdbtest.Run(t, "", script.String())
	for name, m := range shapes {
		if printed := output.Section(t, "load "+name); printed != "" {
			t.Errorf("%s: GDB says on loading: %s", name, printed)
		}
		want := remoteRegisters(t, m.Target())
		got := readRemoteRegisters(t, m.Target(), output.Section(t, "registers "+name))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: remote registers (-ours +GDB):\n%s", name, diff)
		}
	}
}

// remoteRegisters is name, size and offset of each register by number, as GDB should find them.
func remoteRegisters(t *testing.T, target *tdesc.Target) map[string]string {
	layout, err := target.Layout()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, s := range layout.Slots {
		found[strconv.Itoa(int(s.Reg.Num))] = fmt.Sprintf("%s %d at %d", s.Reg.Name, s.Size, s.Offset)
	}
	return found
}

// remoteRegister is a line of maint print remote-registers with a remote number: name, GDB's number, its number among those
// of its kind, offset, size, type, remote number, offset in the g packet.
var remoteRegister = regexp.MustCompile(`(?m)^ (\S+) +\d+ +\d+ +\d+ +(\d+) .* (\d+) +(\d+) *$`)

// unnamed is GDB's name for a register that it shows only as a part of another: the upper half of a ymm register.
const unnamed = "''"

func readRemoteRegisters(t *testing.T, target *tdesc.Target, table string) map[string]string {
	t.Helper()
	names := map[string]string{}
	for _, r := range target.Registers() {
		names[strconv.Itoa(int(r.Num))] = r.Name
	}
	found := map[string]string{}
	for _, m := range remoteRegister.FindAllStringSubmatch(table, -1) {
		name := m[1]
		if name == unnamed && strings.HasSuffix(names[m[3]], "h") {
			name = names[m[3]]
		}
		found[m[3]] = fmt.Sprintf("%s %s at %s", name, m[2], m[4])
	}
	return found
}

// TestEqualsGDBServer asks the gdbserver that is installed for the description of the machine at hand, and makes the same.
func TestEqualsGDBServer(t *testing.T) {
	script := `set sysroot /
target remote | gdbserver --once - /bin/true
-- description --
maint print xml-tdesc
`
	printed := gdbtest.Run(t, "", script).Section(t, "description")
	served, warnings, err := tdesc.Parse([]byte(printed), nil)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("error %v, warnings %v in:\n%s", err, warnings, printed)
	}
	has := func(name string) bool { return served.Feature("org.gnu.gdb.i386."+name) != nil }
	ours := machine.AMD64{
		OrigRAX: has("linux"), Segments: has("segments"), AVX: has("avx"), AVX512: has("avx512"), PKU: has("pkeys"),
	}.Target()
	if diff := cmp.Diff(served, ours, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("-gdbserver +ours:\n%s", diff)
	}
}
