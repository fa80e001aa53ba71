package inferior

import (
	"maps"
	"slices"
	"testing"

	"tracewell/arch"
)

// FuzzProgramSpace overwrites words of a process, and its auxiliary vector, and reads everything that there is. Nothing may panic or go
// on for ever, and what is returned is within the limits.
//
// The input is a machine, the bytes that one read returns at most, and changes of eight bytes each: a region, a word in it, another
// region whose address is the basis of the new value, what is added to that, and how the value is formed.
func FuzzProgramSpace(f *testing.F) {
	f.Add(uint8(0), uint8(0), []byte{})
	f.Add(uint8(1), uint8(3), []byte{3, 0, 1, 0, 0, 0, 0, 0})
	f.Add(uint8(2), uint8(0), []byte{9, 0, 3, 9, 0, 0, 0, 0, 8, 0, 5, 8, 0, 0, 0, 1})
	f.Add(uint8(3), uint8(17), []byte{255, 0, 3, 0, 0xff, 0xff, 0, 2, 0, 0, 2, 0, 0xff, 0xff, 0, 3})
	f.Add(uint8(0), uint8(0), []byte{12, 0, 2, 12, 0x10, 0, 0, 0, 20, 0, 1, 20, 0, 0, 0, 1})
	names := slices.Sorted(maps.Keys(isas))
	f.Fuzz(func(t *testing.T, machine, most uint8, changes []byte) {
		m := withThreads(isas[names[int(machine)%len(names)]]).memory
		m.header(libcBias)
		m.auxv[4].Value = libcBias
		m.files["/lib/ld.so"] = m.linkerFile("none", 1, m.probe(0x4444, "rtld", "none"))
		m.most, m.silent = int(most), most%2 == 1
		m.overwrite(changes)
		s, err := New(m, m.isa)
		if err != nil {
			t.Fatal(err)
		}
		links, _ := s.LinkMap()
		if len(links.Objects) > maxObjects || len(links.Namespaces) > maxNamespaces {
			t.Errorf("%d objects in %d namespaces", len(links.Objects), len(links.Namespaces))
		}
		for o := range links.Libraries() {
			if len(o.Name) > maxName {
				t.Errorf("a name of %d bytes", len(o.Name))
			}
		}
		_, _ = s.LinkerBreakpoint()
		_, _ = s.Bias(0x400500)
		for i := range 4 {
			_, _ = s.ThreadLocals(threadAt, m.wordAt(i, 0))
		}
		if m.isa.AddrSize == 4 && s.wrap(1<<32) != 0 {
			t.Error("an address of more than 32 bits")
		}
	})
}

// overwrite applies changes.
func (m *memory) overwrite(changes []byte) {
	regions := slices.Sorted(maps.Keys(m.regions))
	for ; len(changes) >= 8; changes = changes[8:] {
		at := regions[int(changes[0])%len(regions)]
		base := uint64(regions[int(changes[3])%len(regions)])
		value := base + uint64(int16(uint16(changes[4])|uint16(changes[5])<<8))
		switch changes[7] % 4 {
		case 1:
			value = base
		case 2:
			value -= base
		case 3:
			i := int(changes[1]) % len(m.auxv)
			m.auxv[i].Value = arch.Addr(value)
			continue
		}
		b := m.regions[at]
		if offset := (int(changes[1])<<8 | int(changes[2])) * 4 % (len(b) + 1); offset < len(b) {
			copy(b[offset:], m.words(value))
		}
	}
}
