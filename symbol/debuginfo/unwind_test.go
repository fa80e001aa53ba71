package debuginfo

import (
	"debug/dwarf"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tracewell/arch"
)

var registerNames = map[uint64]string{3: "rbx", 6: "rbp", 7: "rsp", 12: "r12", 13: "r13", 14: "r14", 15: "r15", 16: "ra"}

// TestUnwindAgainstReadelf compares the rules at every row that readelf prints.
func TestUnwindAgainstReadelf(t *testing.T) {
	for name, flags := range map[string][]string{
		"eh":    {"-O2"},
		"debug": {"-O2", "-fno-asynchronous-unwind-tables", "-fno-exceptions", "-fno-unwind-tables"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := build(t, "shapes.cc", flags...)
			f := open(t, program)
			rows := 0
			var columns []string
			for line := range strings.Lines(run(t, "", "readelf", "-wF", program)) {
				fields := strings.Fields(line)
				if len(fields) > 1 && fields[0] == "LOC" {
					columns = fields
					continue
				}
				if len(fields) != len(columns) || len(fields) < 2 {
					columns = nil
					continue
				}
				pc, err := strconv.ParseUint(fields[0], 16, 64)
				if err != nil {
					t.Fatal(err)
				}
				if pc == 0 {
					continue
				}
				rows++
				compareFrame(t, f, arch.Addr(pc), columns, fields)
			}
			if rows < 10 {
				t.Errorf("only %d rows", rows)
			}
		})
	}
}

func compareFrame(t *testing.T, f *File, pc arch.Addr, columns, want []string) {
	t.Helper()
	frame, err := f.CFA(pc)
	if err != nil {
		t.Error(err)
		return
	}
	cfa := fmt.Sprintf("%s%+d", registerNames[frame.CFA.Register], frame.CFA.Offset)
	if frame.CFA.Expr != nil {
		cfa = "exp"
	}
	if cfa != want[1] {
		t.Errorf("%v: CFA %s, want %s", pc, cfa, want[1])
	}
	for i, column := range columns[2:] {
		text := "u"
		for register, rule := range frame.Registers {
			if registerNames[register] == column && rule.Kind == RuleOffset {
				text = fmt.Sprintf("c%+d", rule.Offset)
			}
		}
		if text != want[i+2] {
			t.Errorf("%v: %s %s, want %s", pc, column, text, want[i+2])
		}
	}
}

var locationRange = regexp.MustCompile(`(?m)^ +(?:[0-9a-f]{8} )?([0-9a-f]{16}) ([0-9a-f]{16}) \(DW_OP`)

// TestLocationsAgainstReadelf compares the ranges of all location lists with those that readelf prints.
func TestLocationsAgainstReadelf(t *testing.T) {
	for _, name := range []string{"4 -O2", "5 -O2"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := program(t, name)
			f := open(t, program)
			got := map[string]bool{}
			for _, u := range f.Units() {
				u.eachEntry(func(at uint64, _ *abbrev) {
					e, _ := u.entry(at)
					for _, attr := range []dwarf.Attr{dwarf.AttrLocation, dwarf.AttrFrameBase} {
						for _, l := range f.Locations(e, attr) {
							if !l.Always && len(l.Expr) > 0 && l.Begin < l.End {
								got[fmt.Sprintf("%016x %016x", uint64(l.Begin), uint64(l.End))] = true
								if expr := f.LocationAt(e, attr, l.Begin); expr == nil {
									t.Errorf("nothing at %v", l.Begin)
								}
							}
						}
					}
				})
			}
			want := map[string]bool{}
			for _, m := range locationRange.FindAllStringSubmatch(run(t, "", "readelf", "-wo", program), -1) {
				if m[1] != m[2] {
					want[m[1]+" "+m[2]] = true
				}
			}
			if len(want) < 10 {
				t.Errorf("only %d ranges", len(want))
			}
			for r := range want {
				if !got[r] {
					t.Errorf("no %s", r)
				}
			}
			for r := range got {
				if !want[r] {
					t.Errorf("also %s", r)
				}
			}
		})
	}
}
