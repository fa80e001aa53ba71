package arch

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/rows.txt anew")

// TestRowsAsReviewed compares every row with testdata/rows.txt. Rows are data that little else in the tree tests, and a register
// too few or a wrong size is easily written. So a change of a row has to be reviewed as a change of that file, in which each row is
// written out in the order and the words of the ABI documents.
func TestRowsAsReviewed(t *testing.T) {
	const golden = "testdata/rows.txt"
	var text bytes.Buffer
	for _, m := range Machines() {
		m.describe(&text)
	}
	if *update {
		if err := os.WriteFile(golden, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(text.String(), "\n")); diff != "" {
		t.Errorf("rows differ from the reviewed ones (-want +got):\n%s", diff)
	}
}

// describe writes the fields of a row that are not zero, one on a line, and its registers, parts and DWARF numbers in groups.
func (m *Machine) describe(out *bytes.Buffer) {
	row := reflect.ValueOf(*m)
	for i := range row.NumField() {
		name, field := row.Type().Field(i).Name, row.Field(i)
		if field.IsZero() {
			continue
		}
		switch value := field.Interface().(type) {
		case []Register:
			describeRegisters(out, "registers", value)
		case []Part:
			describeParts(out, value)
		case *Convention:
			fmt.Fprintf(out, "  convention of traces with %s\n", value.Mark)
			describeRegisters(out, "conventional registers", value.Registers)
		case ByteOrder:
			fmt.Fprintf(out, "  Order: %s\n", value)
		case []byte:
			fmt.Fprintf(out, "  %s: % x\n", name, value)
		case string:
			if name == "Name" {
				fmt.Fprintln(out, value)
				continue
			}
			fmt.Fprintf(out, "  %s: %s\n", name, value)
		case []string:
			if name == "DWARF" {
				describeDWARF(out, value)
				continue
			}
			fmt.Fprintf(out, "  %s: %s\n", name, strings.Join(value, " "))
		default:
			if field.Kind() == reflect.Func || field.Kind() == reflect.Map {
				fmt.Fprintf(out, "  %s: there is one\n", name)
				continue
			}
			fmt.Fprintf(out, "  %s: %+v\n", name, value)
		}
	}
}

// describeRegisters writes registers of the same kind and size on one line.
func describeRegisters(out *bytes.Buffer, what string, all []Register) {
	kinds := map[RegisterKind]string{General: "general", Float: "float", Vector: "vector", Status: "status"}
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(r Register) bool { return r.Kind != all[0].Kind || r.Size != all[0].Size })
		if n < 0 {
			n = len(all)
		}
		fmt.Fprintf(out, "  %s, %s, %d bytes:", what, kinds[all[0].Kind], all[0].Size)
		for _, r := range all[:n] {
			fmt.Fprintf(out, " %s", r.Name)
			if r.ABI != "" {
				fmt.Fprintf(out, "(%s)", r.ABI)
			}
			for _, name := range r.Aliases {
				fmt.Fprintf(out, "=%s", name)
			}
		}
		out.WriteByte('\n')
		all = all[n:]
	}
}

// describeParts writes a line for each register that has parts, as in ah:1@1 for the byte above the lowest one.
func describeParts(out *bytes.Buffer, parts []Part) {
	for i, p := range parts {
		if i == 0 || p.Of != parts[i-1].Of {
			fmt.Fprintf(out, "  parts of %s:", p.Of)
		}
		fmt.Fprintf(out, " %s:%d@%d", p.Name, p.Size, p.Offset)
		if p.Assembler != "" {
			fmt.Fprintf(out, "(%s)", p.Assembler)
		}
		if p.Whole {
			out.WriteString("(whole)")
		}
		if i == len(parts)-1 || p.Of != parts[i+1].Of {
			out.WriteByte('\n')
		}
	}
}

// describeDWARF writes a line for each block of numbers that have names.
func describeDWARF(out *bytes.Buffer, names []string) {
	for n, name := range names {
		switch {
		case name == "":
		case n == 0 || names[n-1] == "":
			fmt.Fprintf(out, "  DWARF %d: %s", n, name)
		default:
			fmt.Fprintf(out, " %s", name)
		}
		if name != "" && (n == len(names)-1 || names[n+1] == "") {
			out.WriteByte('\n')
		}
	}
}

// TestDWARFBlocks holds the blocks of numbers to the tables of the ABI documents: where each begins and ends.
func TestDWARFBlocks(t *testing.T) {
	for machine, want := range map[string]map[uint64]string{
		"x86-64": {0: "rax", 1: "rdx", 2: "rcx", 3: "rbx", 4: "rsi", 5: "rdi", 6: "rbp", 7: "rsp", 8: "r8", 15: "r15", 16: "rip",
			17: "xmm0", 32: "xmm15", 33: "st0", 40: "st7", 41: "", 48: "", 49: "eflags", 50: "es", 51: "cs", 52: "ss", 53: "ds",
			54: "fs", 55: "gs", 56: "", 58: "fs_base", 59: "gs_base", 60: "", 64: "mxcsr", 65: "fctrl", 66: "fstat", 67: "xmm16",
			82: "xmm31", 83: ""},
		"i386": {0: "eax", 1: "ecx", 2: "edx", 3: "ebx", 4: "esp", 5: "ebp", 6: "esi", 7: "edi", 8: "eip", 9: "eflags", 10: "", 11: "st0",
			18: "st7", 19: "", 21: "xmm0", 28: "xmm7", 29: "", 37: "fctrl", 38: "fstat", 39: "mxcsr", 40: "es", 45: "gs", 46: ""},
		"aarch64":   {0: "x0", 30: "x30", 31: "sp", 32: "", 63: "", 64: "v0", 95: "v31", 96: ""},
		"arm":       {0: "r0", 12: "r12", 13: "sp", 14: "lr", 15: "pc", 16: "", 255: "", 256: "d0", 287: "d31", 288: ""},
		"riscv64":   {0: "zero", 1: "ra", 2: "sp", 8: "fp", 10: "a0", 31: "t6", 32: "ft0", 42: "fa0", 63: "ft11", 64: ""},
		"mips":      {0: "r0", 31: "r31", 32: "f0", 63: "f31", 64: "hi", 65: "lo", 66: ""},
		"powerpc64": {0: "r0", 31: "r31", 32: "f0", 63: "f31", 64: "", 1123: "", 1124: "vr0", 1155: "vr31", 1156: ""},
		"s390x": {0: "r0", 15: "r15", 16: "f0", 17: "f2", 20: "f1", 24: "f8", 31: "f15", 32: "", 48: "acr0",
			63: "acr15", 64: "pswm", 65: "pswa", 66: ""},
		"loongarch64": {0: "r0", 31: "r31", 32: "f0", 63: "f31", 64: ""},
	} {
		for n, name := range want {
			if got := ByName(machine).DWARFName(n); got != name {
				t.Errorf("%s: number %d is %q, want %q", machine, n, got, name)
			}
		}
	}
}

// TestFinders looks for what the table has, for what it nearly has, and for nothing.
func TestFinders(t *testing.T) {
	aarch64 := ByName("aarch64")
	for what, found := range map[string]*Machine{
		"by GOARCH": ByGOARCH("mips"), "by no GOARCH": ByGOARCH(""), "by name": ByName("x86"), "by ELF": ByELF(aarch64.ELF, 4),
		"by no size": ByELF(ByName("coldfire").ELF, 0), "by feature": ByFeature("org.gnu.gdb.aarch65.core"),
		"by no feature": ByFeature(""),
	} {
		if found != nil {
			t.Errorf("%s: found %s", what, found.Name)
		}
	}
	if ByGOARCH("amd64") != AMD64 || ByFeature("org.gnu.gdb.aarch64.core") != aarch64 {
		t.Error("x86-64 or AArch64 is not found")
	}
	if r := AMD64.Register("r15"); r == nil || r.Name != "r15" || AMD64.Register("r16") != nil {
		t.Errorf("r15 is %v, or there is an r16", r)
	}
	for _, want := range AMD64.Parts {
		if p, ok := AMD64.Part(want.Name); !ok || p != want {
			t.Errorf("%s is %v", want.Name, p)
		}
	}
	if p, ok := AMD64.Part("sph"); ok || p != (Part{}) {
		t.Errorf("sph is %v", p)
	}
	if counters := Counters(); !slices.Equal(counters, words("rip eip pc pswa")) {
		t.Errorf("program counters are called %v", counters)
	}
}

// TestByFewRegisters: a description needs the registers with a role, all of them; of two rows that both have them, the
// row wins that has more registers, and the first one if both have the same.
func TestByFewRegisters(t *testing.T) {
	among := func(names ...string) func(string) bool {
		return func(name string) bool { return slices.Contains(names, name) }
	}
	roles := append(words("rip rsp"), AMD64.Arguments...)
	if m := ByRegisters(among(roles...)); m != AMD64 {
		t.Errorf("the registers with a role are taken for those of %s", m.Name)
	}
	for i, lacking := range roles {
		if m := ByRegisters(among(slices.Delete(slices.Clone(roles), i, i+1)...)); m != Unknown {
			t.Errorf("without %s they are taken for those of %s", lacking, m.Name)
		}
	}
	arm := ByName("arm")
	few := append(words("pc sp"), numbered("r", 11)...)
	many := append(few, numbered("r", 32)[11:]...)
	if m := ByRegisters(among(few...)); m != arm {
		t.Errorf("r0 to r10 with sp are taken for those of %s", m.Name)
	}
	if m := ByRegisters(among(many...)); m != MIPS { // PowerPC has as many
		t.Errorf("r0 to r31 are taken for those of %s", m.Name)
	}
	if m := ByRegisters(among(append(many, "ctr")...)); m != ByName("powerpc64") {
		t.Errorf("r0 to r31 and ctr are taken for those of %s", m.Name)
	}
}

// TestCTypes has a machine whose types are others on Linux, and one where they are the same.
func TestCTypes(t *testing.T) {
	sparc := ByName("sparc64")
	if bare, linux := sparc.CTypes(false).Pointer, sparc.CTypes(true).Pointer; bare != 4 || linux != 8 {
		t.Errorf("pointers of SPARC V9 are %d bytes, on Linux %d", bare, linux)
	}
	if AMD64.CTypes(true) != AMD64.C || AMD64.CTypes(false) != AMD64.C {
		t.Error("x86-64 has other types than its own")
	}
}

// TestRoles asks for GDB's three names, and for another.
func TestRoles(t *testing.T) {
	isa := ISA{PC: 16, SP: 7, FP: 6}
	for name, want := range map[string]Reg{"pc": 16, "sp": 7, "fp": 6, "rip": NoReg, "": NoReg} {
		if got := isa.Role(name); got != want {
			t.Errorf("%q is register %d, want %d", name, got, want)
		}
	}
}

// TestPlausible has instructions at the edges of what is one.
func TestPlausible(t *testing.T) {
	for _, c := range []struct {
		machine  string
		op, size uint64
		want     bool
	}{
		{"mips", 0, 4, true}, {"mips", 0, 3, false}, {"mips", 0, 5, false},
		{"riscv64", 0x13, 4, true}, {"riscv64", 0x12, 4, false}, {"riscv64", 0x11, 4, false}, {"riscv64", 0x13, 2, false},
		{"riscv64", 0x12, 2, true}, {"riscv64", 0x10, 2, true}, {"riscv64", 0x17, 4, true}, {"riscv64", 0x12, 3, false},
		{"arm", 0xe0000000, 4, true}, {"arm", 0xefffffff, 4, true}, {"arm", 0xdfffffff, 4, false}, {"arm", 0xf0000000, 4, false},
		{"arm", 0, 2, true}, {"arm", 0xe0000000, 3, false}, {"arm", 0xe0000000, 5, false}, {"arm", 0, 1, false},
		{"aarch64", 0x08000000, 4, true}, {"aarch64", 0x07ffffff, 4, false}, {"aarch64", 0x1e000000, 4, true},
		{"aarch64", 0xe7ffffff, 4, false}, {"aarch64", 0x08000000, 2, false}, {"aarch64", 0x08000000, 5, false},
	} {
		if got := ByName(c.machine).Plausible(c.op, c.size); got != c.want {
			t.Errorf("%s: %#x of %d bytes: %v", c.machine, c.op, c.size, got)
		}
	}
}

// TestShowRISCV has every field of a register alone, in its lowest and its highest bit. What GDB 13.1 showed of the registers in
// full is in tests of tdesc.
func TestShowRISCV(t *testing.T) {
	show := ByName("riscv64").Show
	fields := func(layout string) (names []string, at map[string][2]int) {
		at = make(map[string][2]int)
		for field := range strings.FieldsSeq(layout) {
			var name string
			var low, width int
			if _, err := fmt.Sscanf(strings.ReplaceAll(field, ":", " "), "%s %d %d", &name, &low, &width); err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
			at[name] = [2]int{low, width}
		}
		return names, at
	}
	// Name, lowest bit and width, in the order in which GDB shows them.
	const flags = "NV:4:1 DZ:3:1 OF:2:1 UF:1:1 NX:0:1"
	const status = "SD:63:1 VM:24:5 MXR:19:1 PUM:18:1 MPRV:17:1 XS:15:2 FS:13:2 MPP:11:2 HPP:9:2 SPP:8:1 MPIE:7:1 HPIE:6:1 " +
		"SPIE:5:1 UPIE:4:1 MIE:3:1 HIE:2:1 SIE:1:1 UIE:0:1"
	for register, layout := range map[string]string{"fflags": flags, "mstatus": status} {
		names, at := fields(layout)
		for bit := range 64 {
			var want []string
			for _, name := range names {
				low, width := at[name][0], at[name][1]
				digits, value := 1, 0
				if name == "VM" {
					digits = 2
				}
				if low <= bit && bit < low+width {
					value = 1 << (bit - low)
				}
				want = append(want, fmt.Sprintf("%s:%0*X", name, digits, value))
			}
			if got := show[register](1<<bit, 8); got != strings.Join(want, " ") {
				t.Errorf("bit %d of %s: %s, want %s", bit, register, got, strings.Join(want, " "))
			}
		}
	}
	for _, c := range []struct {
		register string
		value    uint64
		size     int
		want     string
	}{
		{"frm", 0, 4, "FRM:0 [RNE (round to nearest; ties to even)]"},
		{"frm", 1, 4, "FRM:1 [RTZ (Round towards zero)]"},
		{"frm", 2, 4, "FRM:2 [RDN (Round down towards -INF)]"},
		{"frm", 3, 4, "FRM:3 [RUP (Round up towards +INF)]"},
		{"frm", 4, 4, "FRM:4 [RMM (Round to nearest; ties to max magnitude)]"},
		{"frm", 5, 4, "FRM:5 [INVALID[5]]"},
		{"frm", 6, 4, "FRM:6 [INVALID[6]]"},
		{"frm", 7, 4, "FRM:7 [INVALID[7] (Dynamic rounding mode)]"},
		{"frm", 8, 4, "FRM:0 [RNE (round to nearest; ties to even)]"},
		{"fcsr", 0x3f, 4, "NV:1 DZ:1 OF:1 UF:1 NX:1 FRM:1 [RTZ (Round towards zero)]"},
		{"fcsr", 0xe0, 4, "NV:0 DZ:0 OF:0 UF:0 NX:0 FRM:7 [INVALID[7] (Dynamic rounding mode)]"},
		{"mstatus", 1 << 31, 4, "SD:1" + strings.TrimPrefix(show["mstatus"](0, 4), "SD:0")},
		{"misa", 1<<30 | 1, 4, "RV32A"},
		{"misa", 2<<62 | 1<<8 | 1<<12 | 1<<25 | 1<<26, 8, "RV64IMZ"},
		{"misa", 3 << 62, 8, "RV128"},
		{"misa", 0, 8, "RV16"},
		{"priv", 0, 8, "prv:0 [User/Application]"},
		{"priv", 1, 8, "prv:1 [Supervisor]"},
		{"priv", 2, 8, "prv:2 [Hypervisor]"},
		{"priv", 3, 8, "prv:3 [Machine]"},
		{"priv", 4, 8, "prv:4 [INVALID]"},
		{"priv", 0x1ff, 8, "prv:255 [INVALID]"},
	} {
		if got := show[c.register](c.value, c.size); got != c.want {
			t.Errorf("%s %#x: %s, want %s", c.register, c.value, got, c.want)
		}
	}
}

// TestAlignment has every form of the instructions by which a function aligns its stack, each also with a bit that makes it
// something else, and cut off at every length.
func TestAlignment(t *testing.T) {
	pushes := [][]byte{nil, {0x53}, {0x41, 0x55}}
	ands := [][]byte{{0x48, 0x83, 0xe4, 0xf0}, {0x48, 0x81, 0xe4, 0x00, 0xff, 0xff, 0xff}}
	agains := [][]byte{{0xff, 0x72, 0xf8}, {0x41, 0xff, 0x75, 0xf8}}
	frame := []byte{0x55, 0x48, 0x89, 0xe5}
	for _, push := range pushes {
		for _, lea := range [][]byte{{0x48, 0x8d, 0x54, 0x24, 0x08}, {0x4c, 0x8d, 0x6c, 0x24, 0x10}} {
			for _, and := range ands {
				for _, again := range agains {
					align := slices.Concat(push, lea, and, again)
					code := slices.Concat(align, frame, make([]byte, PrologueBytes))
					if got := x86Prologue(code); got != len(align)+len(frame) {
						t.Errorf("% x: %d bytes, want %d", code[:24], got, len(align)+len(frame))
					}
					if got := x86Prologue(code[:len(align)+len(frame)]); got != len(align)+len(frame) {
						t.Errorf("% x and no more: %d bytes", code[:len(align)+len(frame)], got)
					}
					for n := range len(align) + len(frame) {
						if got := x86Prologue(code[:n]); got != 0 {
							t.Errorf("% x: %d bytes", code[:n], got)
						}
						for bit := range 8 {
							other := slices.Clone(code)
							if other[n] ^= 1 << bit; x86Prologue(other) != 0 && free(push, lea, and, again)[n]&(1<<bit) == 0 {
								t.Errorf("% x: %d bytes", other[:24], x86Prologue(other))
							}
						}
					}
				}
			}
		}
	}
}

// free are the bits, by the index of their byte, that may have any value in an alignment: numbers of registers, the displacement of
// lea and the mask.
func free(push, lea, and, again []byte) map[int]byte {
	bits := map[int]byte{len(push) - 1: 0x07}
	at := len(push)
	bits[at], bits[at+2], bits[at+4] = 0x04, 0x38, 0xff
	for i := 3; i < len(and); i++ {
		bits[at+len(lea)+i] = 0xff
	}
	at += len(lea) + len(and) + len(again)
	bits[at-2] = 0x07
	return bits
}

// TestDWARFTable puts blocks of one name and of several at numbers.
func TestDWARFTable(t *testing.T) {
	for range 10 { // blocks come in any order
		got := dwarf(map[int][]string{0: {"a"}, 1: {"b"}, 4: {"c", "d"}})
		if !slices.Equal(got, []string{"a", "b", "", "", "c", "d"}) {
			t.Errorf("%q", got)
		}
	}
}

// TestBreakKind holds the kinds of breakpoints against what GDB sends to stubs of these machines (GDB manual, ARM and RISC-V
// Breakpoint Kinds), for instructions at either end of what is short.
func TestBreakKind(t *testing.T) {
	registers := func(name string, value uint64) func(string) (uint64, bool) {
		return func(asked string) (uint64, bool) { return value, asked == name }
	}
	const thumb = 1 << 5
	for _, c := range []struct {
		machine  string
		code     []byte
		register string
		value    uint64
		want     int
	}{
		{"arm", []byte{0x00, 0x00}, "cpsr", 0, 4},
		{"arm", []byte{0x70, 0x47}, "cpsr", thumb, 2}, // bx lr
		{"arm", []byte{0xff, 0xe7}, "cpsr", thumb, 2}, // b, the last short one
		{"arm", []byte{0x00, 0xe8}, "cpsr", thumb, 3},
		{"arm", []byte{0x00, 0xf0}, "xpsr", 0, 3}, // bl; no other state
		{"arm", []byte{0x80, 0xb5}, "xpsr", 0, 2}, // push
		{"riscv64", []byte{0x02, 0x90}, "", 0, 2}, // c.ebreak
		{"riscv64", []byte{0x73, 0x00}, "", 0, 4}, // ebreak
		{"riscv32", []byte{0x01, 0x00}, "", 0, 2}, // c.nop
	} {
		if got := ByName(c.machine).BreakKind(c.code, registers(c.register, c.value)); got != c.want {
			t.Errorf("%s, % x with %s %#x: %d, want %d", c.machine, c.code, c.register, c.value, got, c.want)
		}
	}
}
