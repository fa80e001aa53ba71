package inferior

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"tracewell/arch"
)

// TestSymbols finds the symbols of an object in memory, before and after its linker has relocated it.
func TestSymbols(t *testing.T) {
	everywhere(t, func(t *testing.T, isa *arch.ISA) {
		for _, relocated := range []bool{false, true} {
			m := generate(isa)
			names := map[string][]byte{}
			for _, name := range strings.Fields("a b c d _dl_debug_state calloc malloc free __tls_get_addr") {
				names[name] = []byte{1}
			}
			at := m.export(linkerBase, relocated, names)
			l, err := open(t, m).library(linkerBase, linkerBase+elfDynamic)
			if err != nil {
				t.Fatal(err)
			}
			for name := range names {
				if got := l.find(name); got != at[name] {
					t.Errorf("%s at %v, want %v", name, got, at[name])
				}
			}
			for _, name := range []string{"", "e", "_dl_debug_stat", "_dl_debug_states", "only_referred_to"} {
				if got := l.find(name); got != 0 {
					t.Errorf("%q at %v", name, got)
				}
			}
		}
	})
}

// TestHash holds the hash to values that are published with descriptions of DT_GNU_HASH.
func TestHash(t *testing.T) {
	for name, want := range map[string]uint32{"": 0x1505, "printf": 0x156b2bb8, "exit": 0x7c967e3f, "syscall": 0xbac212a0} {
		if got := gnuHash(name); got != want {
			t.Errorf("%q: %#x, want %#x", name, got, want)
		}
	}
}

// TestObjectDamaged reads objects whose headers or tables are not there, and one that was linked for another address.
func TestObjectDamaged(t *testing.T) {
	everywhere(t, func(t *testing.T, isa *arch.ISA) {
		m := generate(isa)
		m.export(linkerBase, false, map[string][]byte{"_dl_debug_state": nil})
		m.header(linkerBase)
		s := open(t, m)
		if h, err := s.headersAt(linkerBase); err != nil || h.bias != linkerBase {
			t.Errorf("%+v, %v", h, err)
		}
		// The first segment's address follows its offset in both classes.
		m.set(linkerBase+arch.Addr(m.pick(52+8, 64+16)), 0x1_0000)
		if h, err := s.headersAt(linkerBase); err != nil || h.bias != linkerBase-0x1_0000 {
			t.Errorf("linked for another address: %+v, %v", h, err)
		}
		m.regions[linkerBase][m.pick(42, 54)+1] ^= 1 // of e_phentsize
		m.regions[linkerBase][m.pick(42, 54)] ^= 1
		if h, err := s.headersAt(linkerBase); err == nil {
			t.Errorf("headers of another size: %+v", h)
		}
		m.regions[linkerBase][1] = 'F'
		if _, err := s.headersAt(linkerBase); err == nil || !strings.Contains(err.Error(), "no ELF file") {
			t.Error(err)
		}
		for i := range 3 {
			m.export(linkerBase, false, map[string][]byte{"_dl_debug_state": nil})
			m.set(linkerBase+elfDynamic+arch.Addr(2*i*isa.AddrSize), 0x55)
			if l, err := s.library(linkerBase, linkerBase+elfDynamic); err == nil {
				t.Errorf("without table %d: %+v", i, l)
			}
			m.header(linkerBase)
			if at := open(t, m).exportedByLinker(linkerBase); at != 0 {
				t.Errorf("without table %d the linker exports its function at %v", i, at)
			}
		}
		m.regions[linkerBase] = m.regions[linkerBase][:len(m.regions[linkerBase])-1]
		if at := open(t, m).exportedByLinker(linkerBase); at != 0 {
			t.Errorf("with headers that are cut off the linker exports its function at %v", at)
		}
	})
}

// TestLinkerBreakpoint finds the function in each of the places where it can be, the best first.
func TestLinkerBreakpoint(t *testing.T) {
	const path = "/lib/ld.so"
	everywhere(t, func(t *testing.T, isa *arch.ISA) {
		m := generate(isa, usual)
		expect := func(want arch.Addr, says string) {
			t.Helper()
			at, err := open(t, m).LinkerBreakpoint()
			if at != want || (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
				t.Errorf("breakpoint at %v, %v; want %v, %q", at, err, want, says)
			}
		}
		expect(linkerBreak, "")
		m.set(m.debugWord(0, 2), 0) // r_brk is not filled in
		expect(0, path)
		m.files[path] = []byte("no ELF file")
		expect(0, "reading an ELF file")
		m.files[path] = m.linkerFile("main", 0x1111, nil)
		expect(0, "neither a function _dl_debug_state nor the probe")
		m.files[path] = m.linkerFile("main", 0x1111, m.probe(0x4444, "rtld", "init_complete")[:30])
		expect(0, "/lib/ld.so: ")
		m.files[path] = m.linkerFile("main", 0x1111, append(m.probe(0x3333, "rtld", "map_start"), m.probe(0x4444, "rtld", "init_complete")...))
		expect(linkerBase+0x4444, "")
		m.files[path] = m.linkerFile("dl_debug_state", 0x2222, m.probe(0x4444, "rtld", "init_complete"))
		expect(linkerBase+0x2222, "")
		at := m.export(linkerBase+0x10_0000, false, map[string][]byte{"_dl_debug_state": {0xc3}})
		m.header(linkerBase + 0x10_0000)
		m.auxv[4].Value = linkerBase + 0x10_0000
		expect(at["_dl_debug_state"], "")
		m = generate(isa)
		m.auxv[4].Value = 0
		expect(0, "")
	})
}

// TestThreadLocals finds blocks by the vector of a thread, and those in front of its pointer that it has not used yet.
func TestThreadLocals(t *testing.T) {
	const block, distance = 0xf600_0000, 0x140
	everywhere(t, func(t *testing.T, isa *arch.ISA) {
		var m *threads
		object := func(n int) arch.Addr { return m.wordAt(n, 0) }
		expect := func(n int, want arch.Addr, says string) {
			t.Helper()
			at, err := open(t, m.memory).ThreadLocals(threadAt, object(n))
			if err == nil && at != want || (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
				t.Errorf("object %d: variables at %v, %v; want %v, %q", n, at, err, want, says)
			}
		}
		element := func(i int) arch.Addr { return arch.Addr(vectorAt + 2*i*isa.AddrSize) }
		m = withThreads(isa)
		expect(0, threadAt-0x1c, "")
		if at, err := open(t, m.memory).ThreadLocals(threadAt, 0); at != threadAt-0x1c || err != nil {
			t.Errorf("the program's variables at %v, %v", at, err)
		}
		expect(2, 0, "") // the element is zero
		m.set(element(2), block)
		expect(2, block, "")
		m.set(element(2), ^uint64(0))
		expect(2, 0, ErrNotAllocated.Error())
		m.set(m.wordAt(2, tlsOffset), distance)
		expect(2, threadAt-distance, "")
		m.set(m.wordAt(2, tlsOffset), ^uint64(0))
		expect(2, 0, ErrNotAllocated.Error())

		// Module 3 is younger than the vector, so its element means nothing until the thread has a new one.
		m.set(element(3), block)
		expect(3, 0, ErrNotAllocated.Error())
		m.set(element(0), 2)
		expect(3, block, "")
		m.set(m.wordAt(3, tlsModid), 0)
		expect(3, 0, "no thread-local variables")
		m.set(m.wordAt(3, tlsModid), 9)
		expect(3, 0, "does not know the number")
		m.set(tablesAt+tableStep+arch.Addr(isa.AddrSize), tablesAt+tableStep)
		m.set(m.wordAt(3, tlsModid), 1<<30)
		expect(3, 0, "does not know the number")
		m.set(tablesAt+tableStep+arch.Addr(isa.AddrSize), 0x55)
		expect(3, 0, errNoMemory.Error())

		m = withThreads(isa)
		i := bytes.Index(m.regions[libcBias+elfNames], []byte(describing+"dtv_t_counter"))
		m.regions[libcBias+elfNames][i] = 'x'
		expect(2, 0, "has no symbol "+describing+"dtv_t_counter")

		delete(m.regions, libcBias+elfHash)
		m.starts = nil
		expect(2, 0, "does not describe")
		m.auxv[1].Value = 0
		if _, err := open(t, m.memory).ThreadLocals(threadAt, 0); err == nil || errors.Is(err, ErrNotAllocated) {
			t.Error(err)
		}
	})
}
