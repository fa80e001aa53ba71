package debuginfo

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"tracewell/arch"
)

// exercise asks everything of a file, to see that nothing panics or goes on for ever.
func exercise(data []byte) {
	m, err := parseImage("fuzzed", data)
	if err != nil {
		return
	}
	f := newFile(m, Options{DebugDirs: []string{}})
	if m.hasDWARF() {
		f.debug = m
	}
	f.load()
	f.Symbols()
	f.CFA(f.EntryPoint())
	for kind := KindFunction; kind <= KindNamespace; kind++ {
		f.EachName(kind, func(name string, off Offset) bool {
			f.lookup(kind, name)
			if kind == KindFunction {
				f.Instances(off)
			}
			return true
		})
	}
	f.LinesOf("shapes.cc", 60)
	f.SourceFiles()
	for _, u := range f.Units() {
		for _, row := range u.Lines().Rows {
			f.FunctionAt(row.Addr)
			f.LineAt(row.Addr)
		}
		u.eachEntry(func(at uint64, _ *abbrev) { exerciseEntry(f, u, at) })
	}
}

func exerciseEntry(f *File, u *Unit, at uint64) {
	e, _ := u.entry(at)
	if e == nil {
		return
	}
	for a := range e.Attributes() {
		_ = a.Value.String()
		f.Locations(e, a.Attr)
		if a.Value.Class == ClassReference {
			f.Entry(a.Value.Offset())
		}
	}
	f.Ranges(e)
	f.Lookup(e, dwarf.AttrName)
	f.Parent(e)
	for range f.Children(e) {
		break
	}
}

// small is a small program of testdata/shapes.cc, without a C library in it.
func small(t testing.TB, flags ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(build(t, "small.cc", append([]string{"-nostdlib", "-static", "-O1", "-Wl,--build-id=none"}, flags...)...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestDamaged damages the sections of debug information at random, and cuts the file off.
func TestDamaged(t *testing.T) {
	for _, name := range []string{"4", "5", "5 types", "zlib"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := small(t, layouts[name]...)
			random := rand.New(rand.NewPCG(1, 2))
			for range 150 {
				damaged := append([]byte(nil), whole...)
				damage(damaged, random)
				began := time.Now()
				exercise(damaged)
				if took := time.Since(began); took > time.Minute {
					t.Errorf("it took %v", took)
				}
			}
			for range 50 {
				exercise(whole[:random.IntN(len(whole))])
			}
		})
	}
}

// damage overwrites a few places in the sections that are read.
func damage(data []byte, random *rand.Rand) {
	m, err := parseImage("whole", data)
	if err != nil {
		return
	}
	var sections [][]byte
	for _, s := range m.elf.Sections {
		if s.Type == elf.SHT_PROGBITS && s.Size > 0 && (s.Flags&elf.SHF_ALLOC == 0 || s.Name == ".eh_frame") {
			sections = append(sections, data[s.Offset:s.Offset+s.FileSize])
		}
	}
	for range 1 + random.IntN(6) {
		s := sections[random.IntN(len(sections))]
		at := random.IntN(len(s))
		switch random.IntN(3) {
		case 0:
			s[at] = byte(random.Uint32())
		case 1:
			s[at] ^= 1 << random.IntN(8)
		default:
			if at+4 <= len(s) {
				binary.LittleEndian.PutUint32(s[at:], []uint32{0, 0xffffffff, 0x7fffffff, random.Uint32()}[random.IntN(4)])
			}
		}
	}
}

func FuzzFile(f *testing.F) {
	for _, name := range []string{"4", "5", "5 types"} {
		f.Add(small(f, layouts[name]...))
	}
	for _, kind := range kinds {
		f.Add(foreign(kind.machine, kind.big, kind.addr))
	}
	f.Fuzz(func(_ *testing.T, data []byte) {
		limit := time.AfterFunc(time.Minute, func() { panic("it goes on and on") })
		defer limit.Stop()
		exercise(data)
	})
}

func FuzzFrame(f *testing.F) {
	f.Add([]byte("\x14\x00\x00\x00\x00\x00\x00\x00\x01zR\x00\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01\x00\x00\x00"), uint64(0x1000))
	f.Fuzz(func(_ *testing.T, data []byte, pc uint64) {
		s := frameSection{encoding: encoding{addrSize: 8}, data: data, addr: 0x1000, eh: true, cies: map[uint64]*cie{}}
		s.each(func(r fde) { r.frame(arch.Addr(pc)) })
	})
}
