package inferior

import (
	"bytes"
	"debug/elf"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
)

// everywhere runs a test for both sizes of addresses in both byte orders.
func everywhere(t *testing.T, test func(*testing.T, *arch.ISA)) {
	t.Helper()
	for name, isa := range isas {
		t.Run(name, func(t *testing.T) { test(t, isa) })
	}
}

func open(t *testing.T, m *memory) *ProgramSpace {
	t.Helper()
	s, err := New(m, m.isa)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// usual are the objects of a program with two libraries.
var usual = []object{
	{"", programBias, dynamicAt},
	{"linux-vdso.so.1", vdsoAt, vdsoAt + 0x3e0},
	{"/lib/libc.so.6", 0xf200_0000, 0xf21d_0000},
	{"/a/longer/path/to/a/library/" + strings.Repeat("x", 600) + ".so", 0xffff_0000, 0x20_0000},
}

// expected is the link map of what generate was given.
func expected(namespaces ...[]object) LinkMap {
	m := LinkMap{Main: mapsAt}
	at := arch.Addr(mapsAt)
	for i, objects := range namespaces {
		debug := arch.Addr(debugAt + i*debugStep)
		m.Namespaces = append(m.Namespaces, Namespace{RDebug: debug, Map: at, Break: linkerBreak})
		for _, o := range objects {
			m.Objects = append(m.Objects, LinkObject{o.name, debug, at, o.bias, o.ld, strings.Contains(o.name, "vdso")})
			at += mapStep
		}
	}
	return m
}

// TestLinkMap reads lists of one and of several namespaces, whatever the process returns at a time.
func TestLinkMap(t *testing.T) {
	everywhere(t, func(t *testing.T, isa *arch.ISA) {
		for _, namespaces := range [][][]object{{usual}, {usual, usual[1:3]}, {usual, usual[2:], usual[3:]}} {
			for _, most := range []int{0, 1, 3, 7, 100} {
				m := generate(isa, namespaces...)
				m.most, m.silent = most, most%2 == 1
				links, err := open(t, m).LinkMap()
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(expected(namespaces...), links); diff != "" {
					t.Errorf("%d namespaces, %d bytes at a time (-want +got):\n%s", len(namespaces), most, diff)
				}
				if !links.Consistent() {
					t.Error("the list is not consistent")
				}
			}
		}
		libraries := slices.Collect((&LinkMap{Main: mapsAt, Objects: expected(usual).Objects}).Libraries())
		if diff := cmp.Diff(expected(usual).Objects[2:], libraries); diff != "" {
			t.Errorf("libraries (-want +got):\n%s", diff)
		}
	})
}

// TestProgram reads what is known before the dynamic linker has run.
func TestProgram(t *testing.T) {
	everywhere(t, func(t *testing.T, isa *arch.ISA) {
		s := open(t, generate(isa))
		if s.Entry() != programBias+entryOffset || s.LinkerBias() != linkerBase {
			t.Errorf("entry %v, linker at %v", s.Entry(), s.LinkerBias())
		}
		if name, err := s.Interpreter(); name != "/lib/ld.so" || err != nil {
			t.Errorf("interpreter %q, %v", name, err)
		}
		if links, err := s.LinkMap(); err != nil || links.Main != 0 || links.Objects != nil || !links.Consistent() {
			t.Errorf("%+v, %v", links, err)
		}
		if block, err := s.ThreadLocals(0, 0); !errors.Is(err, ErrNotAllocated) {
			t.Errorf("variables at %v, %v", block, err)
		}
		m := generate(isa)
		m.most, m.silent = 3, true
		if name, err := open(t, m).Interpreter(); name != "/lib/ld.so" || err != nil {
			t.Errorf("interpreter %q, %v", name, err)
		}
		// A static program: its headers end before PT_DYNAMIC, and before PT_INTERP.
		m = generate(isa, usual)
		for _, headers := range []arch.Addr{3, 1} {
			m.auxv[3].Value = headers
			if at, err := open(t, m).RDebug(); at != 0 || err != nil {
				t.Errorf("a static program has r_debug at %v, %v", at, err)
			}
		}
		if name, err := open(t, m).Interpreter(); name != "" || err != nil {
			t.Errorf("a static program has the interpreter %q, %v", name, err)
		}
		// The block of 0x13 bytes begins at an address that is 4 above a multiple of 16, as it was linked.
		if block, err := s.ThreadLocals(0xf300_0000, 0); block != 0xf300_0000-0x1c || err != nil {
			t.Errorf("variables at %v, %v", block, err)
		}
	})
}

// TestBias compares the bias by the entry point with the one by program headers, with and without PT_PHDR, also where the program
// is loaded below the address that it was linked for.
func TestBias(t *testing.T) {
	everywhere(t, func(t *testing.T, isa *arch.ISA) {
		mask := ^arch.Addr(0) >> (64 - 8*isa.AddrSize)
		for _, linked := range []arch.Addr{0, 0x1000, linkedAt, 0xf000_0000} {
			m := generate(isa)
			want := (programBias + linkedAt - linked) & mask
			for _, header := range []elf.ProgHeader{
				{Type: elf.PT_PHDR, Off: 0x40, Vaddr: uint64(linked) + 0x40},
				{Type: elf.PT_LOAD, Vaddr: uint64(linked), Memsz: 0x2000},
			} {
				m.regions[headersAt] = m.programHeader(header)
				m.auxv[3].Value = 1
				m.auxv[5] = AuxvEntry{AtEntry, programBias + entryOffset}
				if bias, err := open(t, m).Bias(linked + 0x500); bias != want || err != nil {
					t.Errorf("linked at %v: bias %v by the entry point, %v, want %v", linked, bias, err, want)
				}
				m.auxv[5] = AuxvEntry{}
				if bias, err := open(t, m).Bias(linked + 0x500); bias != want || err != nil {
					t.Errorf("linked at %v: bias %v by %v, %v, want %v", linked, bias, header.Type, err, want)
				}
			}
		}
	})
}

// TestBiasBySegment has a segment of another part of the file in front of the one that begins with it, or no other.
func TestBiasBySegment(t *testing.T) {
	everywhere(t, func(t *testing.T, isa *arch.ISA) {
		m := generate(isa)
		other := m.programHeader(elf.ProgHeader{Type: elf.PT_LOAD, Off: 1, Vaddr: 0x7000, Memsz: 0x1000})
		first := m.programHeader(elf.ProgHeader{Type: elf.PT_LOAD, Vaddr: linkedAt, Memsz: 0x1000})
		m.regions[headersAt] = slices.Concat(other, first)
		m.auxv[5] = AuxvEntry{}
		for count, want := range []arch.Addr{0, 0, programBias} {
			m.auxv[3].Value = arch.Addr(count)
			if bias, err := open(t, m).Bias(0x1234); bias != want || err != nil {
				t.Errorf("%d segments: bias %v, %v, want %v", count, bias, err, want)
			}
		}
	})
}

// TestDebugMIPS reads the r_debug of programs whose dynamic section cannot be written.
func TestDebugMIPS(t *testing.T) {
	everywhere(t, func(t *testing.T, isa *arch.ISA) {
		const cell = programBias + linkedAt + 0x3000
		m := generate(isa, usual)
		m.regions[cell] = m.words(debugAt)
		for tag, value := range map[elf.DynTag]uint64{
			elf.DT_MIPS_RLD_MAP: cell, elf.DT_MIPS_RLD_MAP_REL: uint64(cell - (dynamicAt + 2*isa.AddrSize)),
		} {
			m.set(arch.Addr(dynamicAt+2*isa.AddrSize), uint64(tag), value)
			if at, err := open(t, m).RDebug(); at != debugAt || err != nil {
				t.Errorf("%#x: r_debug at %v, %v", uint64(tag), at, err)
			}
		}
	})
}

// TestDamaged reads lists that a program has overwritten, or that its linker is about to change. None takes more than its limit,
// and what was read before comes with the error.
func TestDamaged(t *testing.T) {
	type damage struct {
		name    string
		change  func(*memory)
		err     string // "" for none
		objects int
	}
	everywhere(t, func(t *testing.T, isa *arch.ISA) {
		for _, d := range []damage{
			{"cyclic", func(m *memory) { m.set(m.wordAt(3, 3), uint64(m.wordAt(1, 0))) }, "is damaged", 4},
			{"cyclic and closed", func(m *memory) {
				m.set(m.wordAt(3, 3), mapsAt)
				m.set(m.wordAt(0, 4), uint64(m.wordAt(3, 0)))
			}, "is damaged", 0},
			{"to itself", func(m *memory) { m.set(m.wordAt(2, 3), uint64(m.wordAt(2, 0))) }, "is damaged", 3},
			{"to nowhere", func(m *memory) { m.set(m.wordAt(1, 3), 0x1230) }, "no memory there", 2},
			{"wrong way back", func(m *memory) { m.set(m.wordAt(2, 4), mapsAt) }, "is damaged", 2},
			{"cut", func(m *memory) { m.regions[m.wordAt(2, 0)] = m.regions[m.wordAt(2, 0)][:3*isa.AddrSize] }, "no memory there", 2},
			{"no name", func(m *memory) { m.set(m.wordAt(2, 1), 0) }, "", 4},
			{"name without end", func(m *memory) {
				m.set(m.wordAt(2, 1), 0xaa00_0000)
				m.regions[0xaa00_0000] = []byte(strings.Repeat("a", 2*maxName))
			}, "", 4},
			{"name that cannot be read", func(m *memory) { m.set(m.wordAt(2, 1), 0xaa00_0000) }, "", 4},
			{"not filled in", func(m *memory) { copy(m.regions[debugAt], []byte{0, 0, 0, 0}) }, "", 0},
			{"no r_debug", func(m *memory) { delete(m.regions, debugAt) }, "r_debug: no memory there", 0},
			{"half an r_debug", func(m *memory) { m.regions[debugAt] = m.regions[debugAt][:12] }, "r_debug: no memory there", 0},
			{"DT_DEBUG missing", func(m *memory) { m.set(arch.Addr(dynamicAt+2*isa.AddrSize), 5) }, ErrNoDebug.Error(), 0},
			{"dynamic section missing", func(m *memory) { delete(m.regions, dynamicAt) }, "dynamic section: no memory there", 0},
			{"huge number of headers", func(m *memory) { m.auxv[3].Value = 0xffff_ffff }, "entries of", 0},
			{"headers of another class", func(m *memory) { m.auxv[2].Value ^= 32 ^ 56 }, "entries of", 0},
			{"no headers", func(m *memory) { m.auxv[1].Value = 0 }, "AT_PHDR", 0},
			{"headers that cannot be read", func(m *memory) { m.auxv[1].Value = 0x10 }, "no memory there", 0},
		} {
			m := generate(isa, usual)
			d.change(m)
			links, err := open(t, m).LinkMap()
			if slices.ContainsFunc(links.Namespaces, func(n Namespace) bool { return n.RDebug == 0 }) {
				t.Errorf("%s: a namespace without an r_debug in %+v", d.name, links.Namespaces)
			}
			if (err == nil) != (d.err == "") || err != nil && !strings.Contains(err.Error(), d.err) || len(links.Objects) != d.objects {
				t.Errorf("%s: %d objects, %v; want %d, %q", d.name, len(links.Objects), err, d.objects, d.err)
			}
			if m.reads > 200 {
				t.Errorf("%s: %d reads", d.name, m.reads)
			}
		}
		m := generate(isa, usual)
		m.set(m.wordAt(2, 1), 0xaa00_0000)
		if links, err := open(t, m).LinkMap(); err != nil || links.Objects[2].Name != "" {
			t.Errorf("the name that cannot be read is %q, %v", links.Objects[2].Name, err)
		}
	})
}

// TestNamespacesDamaged reads lists of namespaces that lead nowhere or back, and one that is being changed.
func TestNamespacesDamaged(t *testing.T) {
	everywhere(t, func(t *testing.T, isa *arch.ISA) {
		three := [][]object{usual, usual[1:], usual[2:]}
		for want, next := range map[string]uint64{"leads back": debugAt, "no memory there": 0x777} {
			m := generate(isa, three...)
			m.set(m.debugWord(1, 5), next)
			links, err := open(t, m).LinkMap()
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the second namespace leads to %#x: %v", next, err)
			}
			if len(links.Objects) < len(usual) || links.Objects[0].LMID != debugAt {
				t.Errorf("the program's own objects are not there: %+v", links)
			}
		}
		for state, word := range map[LinkState]LinkState{Adding: 1, Deleting: 2} {
			m := generate(isa, three...)
			copy(m.regions[m.debugWord(2, 0)][3*isa.AddrSize:], m.integer(uint32(word)))
			if links, err := open(t, m).LinkMap(); err != nil || links.Consistent() || links.Namespaces[2].State != state {
				t.Errorf("state %d: %+v, %v", word, links.Namespaces, err)
			}
		}
	})
}

// TestLimits reads lists without an end.
func TestLimits(t *testing.T) {
	everywhere(t, func(t *testing.T, isa *arch.ISA) {
		m := generate(isa, slices.Repeat([]object{{"", 0, 0}}, 4096+5))
		links, err := open(t, m).LinkMap()
		if len(links.Objects) != 4096 || err == nil || !strings.Contains(err.Error(), "4096") {
			t.Errorf("%d objects, %v", len(links.Objects), err)
		}
		m = generate(isa, slices.Repeat([][]object{nil}, 256+5)...)
		if all, err := open(t, m).Namespaces(); len(all) != 256 || err == nil {
			t.Errorf("%d namespaces, %v", len(all), err)
		}
		m = generate(isa, usual)
		m.regions[dynamicAt] = m.words(slices.Repeat([]uint64{7}, (64<<10)/isa.AddrSize)...)
		if l, err := open(t, m).library(0, dynamicAt); err == nil || !strings.Contains(err.Error(), "has no end") {
			t.Errorf("%v, %v", l, err)
		}
		m.regions[dynamicAt] = m.words(0, 1) // the end is the first entry, behind which there is no memory
		if section, err := open(t, m).dynamicSection(dynamicAt, maxDynamic, false); len(section) != 0 || err != nil {
			t.Errorf("an empty dynamic section: %v, %v", section, err)
		}
		for count, says := range map[int]string{1024: "", 1025: "1025 entries of"} {
			m = generate(isa)
			m.auxv[3].Value = arch.Addr(count)
			m.regions = map[arch.Addr][]byte{headersAt: bytes.Repeat(m.programHeader(elf.ProgHeader{Type: elf.PT_NOTE}), count)}
			h, err := open(t, m).programHeaders()
			switch {
			case says == "" && (err != nil || len(h.segments) != count):
				t.Errorf("%d program headers: %v", count, err)
			case says != "" && (err == nil || !strings.Contains(err.Error(), says)):
				t.Errorf("%d program headers: %v, want %q", count, err, says)
			}
		}
		for length, want := range map[int]int{4095: 4095, 4096: 0} { // PATH_MAX counts the zero byte
			m.regions[0xaa00_0000] = append(bytes.Repeat([]byte{'a'}, length), 0)
			m.starts = nil
			if name := open(t, m).text(0xaa00_0000); len(name) != want {
				t.Errorf("of a name of %d bytes are %d left, want %d", length, len(name), want)
			}
		}
	})
}

// eager is a process that reports the end of readable memory with the last of it.
type eager struct{ *memory }

func (m eager) ReadMemory(addr arch.Addr, p []byte) (int, error) {
	n, err := m.memory.ReadMemory(addr, p)
	if err == nil && len(m.from(addr)) == n {
		err = errNoMemory
	}
	return n, err
}

// TestReadToEnd reads all that is readable, and a byte more: what is complete has no error.
func TestReadToEnd(t *testing.T) {
	m := generate(isas["64-bit little-endian"])
	m.regions = map[arch.Addr][]byte{0x1000: {1, 2, 3}}
	for _, most := range []int{0, 2} {
		m.most = most
		s, err := New(eager{m}, m.isa)
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 4)
		if n, err := s.readPrefix(0x1000, b[:3]); n != 3 || err != nil {
			t.Errorf("%d of 3 bytes, %v", n, err)
		}
		if n, err := s.readPrefix(0x1000, b); n != 3 || !errors.Is(err, errNoMemory) || !bytes.Equal(b, []byte{1, 2, 3, 0}) {
			t.Errorf("%d of 4 bytes, %v, %v", n, b, err)
		}
	}
}

// TestAuxv reads vectors that are cut, repeat an entry, or have more behind their end.
func TestAuxv(t *testing.T) {
	everywhere(t, func(t *testing.T, isa *arch.ISA) {
		whole := AppendAuxv(nil, isa, AuxvEntry{AtBase, 0x1000}, AuxvEntry{AtBase, 0x2000}, AuxvEntry{AtEntry, 0x3000})
		for cut := range len(whole) {
			got := parseAuxv(whole[:cut], isa)
			want := map[uint64]uint64{}
			if cut >= 2*isa.AddrSize {
				want[uint64(AtBase)] = 0x1000
			}
			if cut >= 6*isa.AddrSize {
				want[uint64(AtEntry)] = 0x3000
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%d bytes (-want +got):\n%s", cut, diff)
			}
		}
		if got := parseAuxv(append(whole, AppendAuxv(nil, isa, AuxvEntry{AtPhdr, 1})...), isa); len(got) != 2 {
			t.Errorf("behind the end is %v", got)
		}
	})
}
