package arch

import (
	"slices"
	"testing"
)

// TestRows holds every row to what its readers take for granted.
func TestRows(t *testing.T) {
	rows := map[string]bool{}
	for _, m := range Machines() {
		t.Run(m.Name, func(t *testing.T) {
			if rows[m.Name] {
				t.Error("there are two rows of this name")
			}
			rows[m.Name] = true
			if ByName(m.Name) != m || ByArchitecture(m.Architectures[0]) != m || m.ELF != 0 && m.AddrSize != 0 && ByELF(m.ELF, m.AddrSize) != m {
				t.Error("it is not found by its name, architecture and ELF machine")
			}
			if m.Order == nil || m.Title == "" || m.Family == "" {
				t.Error("it lacks a byte order, a title or a family")
			}
			if m.Prologue != nil && m.Prologue(nil) != 0 {
				t.Error("no code has a prologue")
			}
			m.checkRegisters(t)
			m.checkRoles(t)
		})
	}
}

// checkRegisters looks for names that mean two things, numbers that do, and parts that reach beyond their register.
func (m *Machine) checkRegisters(t *testing.T) {
	for _, all := range [][]Register{m.Registers, m.conventional()} {
		meaning := map[string]string{}
		for _, r := range all {
			for _, name := range slices.Compact(append([]string{r.Name, r.ABI}, r.Aliases...)) {
				if other := meaning[name]; name != "" && other != "" && other != r.Name {
					t.Errorf("%s names %s and %s", name, other, r.Name)
				}
				meaning[name] = r.Name
			}
		}
		for _, p := range m.Parts {
			for _, name := range []string{p.Name, p.Assembler} {
				if name != "" && meaning[name] != "" {
					t.Errorf("%s is a part of %s and names %s or another part", name, p.Of, meaning[name])
				}
				meaning[name] = p.Of
			}
			r := m.Register(p.Of)
			if r == nil && p.Of != m.Zero || r != nil && (p.Size < 1 || p.Offset < 0 || r.Size != 0 && p.Offset+p.Size > r.Size) {
				t.Errorf("%s is not a part of %s: %d bytes at %d", p.Name, p.Of, p.Size, p.Offset)
			}
		}
	}
	if n := len(m.DWARF); n > 0 && m.DWARF[n-1] == "" {
		t.Errorf("DWARF has names for numbers up to %d, and the last has none", n-1)
	}
	for n, name := range m.DWARF {
		if name == "" {
			continue
		}
		if i := slices.Index(m.DWARF, name); i != n {
			t.Errorf("%s has the numbers %d and %d", name, i, n)
		}
		if m.Register(name) == nil {
			t.Errorf("number %d is %s, which is no register", n, name)
		}
	}
}

func (m *Machine) conventional() []Register {
	if m.Convention == nil {
		return nil
	}
	return m.Convention.Registers
}

// checkRoles looks for roles of registers that there are not. Rows without registers know some roles all the same.
func (m *Machine) checkRoles(t *testing.T) {
	if len(m.Registers) == 0 {
		return
	}
	for _, name := range slices.Concat([]string{m.PC, m.SP}, m.Arguments, m.CalleeSaved) {
		if m.Register(name) == nil {
			t.Errorf("%q has a role and is no register", name)
		}
	}
	for _, name := range []string{m.FP, m.LastUsed} {
		if name != "" && m.Register(name) == nil {
			t.Errorf("%q has a role and is no register", name)
		}
	}
	if slices.Contains(m.CalleeSaved, m.SP) || slices.ContainsFunc(m.CalleeSaved, func(r string) bool { return m.Register(r).Kind != General }) {
		t.Error("the stack pointer, or a register that is not general, is among those that a function gives back")
	}
}

func TestByArchitecture(t *testing.T) {
	for architecture, want := range map[string]string{
		"i386:x86-64": "x86-64", "i386:x86-64:intel": "x86-64", "i386:x64-32": "x32", "i386": "i386", "i8086": "i386",
		"mips": "mips", "mips:isa64r2": "mips64", "mips:4000": "mips", "riscv": "riscv:any", "riscv:rv64": "riscv64",
		"powerpc:common": "powerpc", "powerpc:common64": "powerpc64", "rs6000:6000": "powerpc", "s390": "s390:any",
		"s390:64-bit": "s390x", "sparc:v9a": "sparc64", "sparc:v8plus": "sparc", "m68k:5407": "coldfire", "m68k:68040": "m68k",
		"Loongarch64": "loongarch64", "loongarch32": "loongarch32", "armv8-a": "arm", "aarch64:ilp32": "aarch64",
	} {
		if m := ByArchitecture(architecture); m == nil || m.Name != want {
			t.Errorf("%s: %v, want %s", architecture, m, want)
		}
	}
	for _, architecture := range []string{"", "tic6x", "i38", "x86-64"} {
		if m := ByArchitecture(architecture); m != nil {
			t.Errorf("%q: %s", architecture, m.Name)
		}
	}
}

// TestByRegisters has each row found by its own registers, unless one with the same names stands before it.
func TestByRegisters(t *testing.T) {
	for _, m := range Machines() {
		if len(m.Registers) == 0 {
			continue
		}
		if got := ByRegisters(func(name string) bool { return m.Register(name) != nil }); got.Family != m.Family {
			t.Errorf("the registers of %s are taken for those of %s", m.Name, got.Name)
		}
	}
	if m := ByRegisters(func(string) bool { return false }); m != Unknown {
		t.Errorf("no registers are taken for those of %s", m.Name)
	}
}

func TestAliases(t *testing.T) {
	sets := AliasSets()
	for family, want := range map[string][]Alias{
		"mips":  {{"r8", "t0"}, {"$8", "t0"}, {"$t0", "t0"}, {"fp", "s8"}, {"r31", "ra"}, {"c0_cause", "cause"}},
		"riscv": {{"x8", "s0"}, {"fp", "s0"}, {"x5", "t0"}, {"f0", "ft0"}, {"f31", "ft11"}},
		"arm":   {{"w3", "x3"}, {"wsp", "sp"}, {"wzr", "xzr"}, {"r13", "sp"}, {"r14", "lr"}, {"lr", "x30"}, {"sl", "r10"}, {"fp", "r11"}, {"r15", "pc"}},
	} {
		for _, a := range want {
			if !slices.Contains(sets[family], a) {
				t.Errorf("%s: %v is not among %v", family, a, sets[family])
			}
		}
	}
	for family, set := range sets {
		names := map[string]bool{}
		for _, a := range set {
			if names[a.Name] {
				t.Errorf("%s: %s is in the set twice", family, a.Name)
			}
			names[a.Name] = true
		}
	}
	if len(sets) != 3 {
		t.Errorf("there are sets of %d families", len(sets))
	}
	newer := MIPS.TraceNames(func(name string) bool { return name == "a4" })
	older := MIPS.TraceNames(func(string) bool { return false })
	if newer["t0"] != "r12" || older["t0"] != "r8" || newer["$a4"] != "r8" || older["a4"] != "" || older["pc"] != "" {
		t.Errorf("t0 is %s and %s", older["t0"], newer["t0"])
	}
}

func TestPrologue(t *testing.T) {
	for _, c := range []struct {
		name string
		code []byte
		want int
	}{
		{"a frame", []byte{0x55, 0x48, 0x89, 0xe5, 0x90}, 4},
		{"the other encoding, behind endbr64", []byte{0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x8b, 0xec}, 8},
		{"a push only", []byte{0x55, 0x90, 0x90, 0x90}, 0},
		{"endbr64 only", []byte{0xf3, 0x0f, 0x1e, 0xfa, 0x90}, 0},
		{"cut off", []byte{0x55, 0x48, 0x89}, 0},
		{"an aligned stack", []byte{0x4c, 0x8d, 0x54, 0x24, 0x08, 0x48, 0x83, 0xe4, 0xe0, 0x41, 0xff, 0x72, 0xf8, 0x55, 0x48, 0x89, 0xe5, 0, 0, 0}, 17},
	} {
		if got := AMD64.Prologue(c.code); got != c.want {
			t.Errorf("%s: %d bytes, want %d", c.name, got, c.want)
		}
	}
}

// TestMnemonics holds the union of all machines to instructions of each.
func TestMnemonics(t *testing.T) {
	all := AllMnemonics()
	for _, list := range []struct {
		of   []string
		want string
	}{
		{all.Moves, "l c.l mov mv c.mv mf mvn neg not adr auipc csrr mrs vmov fmov fl clz rev sext zext ext uxt sxt pop jal bl"},
		{all.Injective, "add addu addi addiu addw addiw sub subu subw xor xori eor dadd daddu daddi daddiu dsub dsubu"},
		{all.Compares, "cmp cmn tst teq fcmp vcmp ccmp test ucomis comis"},
		{all.Jumps, `j jr jalr b ba bx bxj br blr ret eret eretaa eretnc mret sret uret mnret dret deret rfe rfi rfid
			rfeia rfeib rfeda rfedb iret iretd iretq sysret c.jr c.j bctr jmp jmpq`},
		{all.Returns, "eret deret mret sret dret rfe rfeia eretaa iret iretq"},
		{all.Waits, "wait pause wfi wfe yield hlt wrs.nto wrs.sto wfit wfet"},
		{all.Stores, "sc scd sc.w sc.d sc.w.aqrl strex strexd stlexb stxr stxp stlxr stlxrh"},
		{AllFlags(), "cpsr apsr nzcv psr xpsr flags eflags rflags sr ccr cr cr0 fpscr fpsr"},
	} {
		for _, word := range words(list.want) {
			if !slices.Contains(list.of, word) {
				t.Errorf("%s is not among %v", word, list.of)
			}
		}
		t.Logf("beyond: %v", slices.DeleteFunc(slices.Clone(list.of), func(w string) bool { return slices.Contains(words(list.want), w) }))
	}
}
