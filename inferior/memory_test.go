package inferior

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"tracewell/arch"
)

// isas are the four forms that addresses have in memory.
var isas = map[string]*arch.ISA{
	"64-bit little-endian": {AddrSize: 8, Order: binary.LittleEndian},
	"64-bit big-endian":    {AddrSize: 8, Order: binary.BigEndian},
	"32-bit little-endian": {AddrSize: 4, Order: binary.LittleEndian},
	"32-bit big-endian":    {AddrSize: 4, Order: binary.BigEndian},
}

// memory is a generated process. Regions do not overlap.
type memory struct {
	isa     *arch.ISA
	regions map[arch.Addr][]byte
	auxv    []AuxvEntry
	files   map[string][]byte

	starts []arch.Addr // of the regions, in order

	most   int // bytes that one read returns, 0 for all
	silent bool
	reads  int
}

var errNoMemory = errors.New("no memory there")

// ReadMemory implements Process. What it returns at a time may be less than it could, without an error, as a stub's.
func (m *memory) ReadMemory(addr arch.Addr, p []byte) (int, error) {
	m.reads++
	if m.most > 0 && len(p) > m.most {
		p = p[:m.most]
	}
	n := copy(p, m.from(addr))
	if n == len(p) || m.silent {
		return n, nil
	}
	return n, fmt.Errorf("%w: %v", errNoMemory, addr+arch.Addr(n))
}

// from is what the region of an address has from there on.
func (m *memory) from(addr arch.Addr) []byte {
	if len(m.starts) != len(m.regions) {
		m.starts = slices.Sorted(maps.Keys(m.regions))
	}
	i, exact := slices.BinarySearch(m.starts, addr)
	if !exact {
		i--
	}
	if i < 0 {
		return nil
	}
	start := m.starts[i]
	b := m.regions[start]
	return b[min(addr-start, arch.Addr(len(b))):]
}

// ReadAuxv implements Process.
func (m *memory) ReadAuxv() ([]byte, error) { return AppendAuxv(nil, m.isa, m.auxv...), nil }

// openedBytes is a file.
type openedBytes struct{ *bytes.Reader }

func (openedBytes) Close() error { return nil }

// Open implements Process.
func (m *memory) Open(path string) (File, error) {
	b, ok := m.files[path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return openedBytes{bytes.NewReader(b)}, nil
}

// words makes memory of words.
func (m *memory) words(w ...uint64) []byte {
	var b []byte
	for _, v := range w {
		if m.isa.AddrSize == 4 {
			b = m.isa.Order.AppendUint32(b, uint32(v))
		} else {
			b = m.isa.Order.AppendUint64(b, v)
		}
	}
	return b
}

// integer makes a C int with what aligns the next pointer, which holds what nobody may read as part of it.
func (m *memory) integer(v uint32) []byte {
	b := m.isa.Order.AppendUint32(nil, v)
	if m.isa.AddrSize == 8 {
		b = append(b, 0xa5, 0xa5, 0xa5, 0xa5)
	}
	return b
}

// set changes words in memory.
func (m *memory) set(addr arch.Addr, w ...uint64) {
	b := m.words(w...)
	if copy(m.from(addr), b) < len(b) {
		panic("no memory at " + addr.String())
	}
}

// programHeader is one as it lies in memory.
func (m *memory) programHeader(p elf.ProgHeader) []byte {
	var b []byte
	var err error
	if m.isa.AddrSize == 4 {
		b, err = binary.Append(nil, m.isa.Order, elf.Prog32{
			Type: uint32(p.Type), Off: uint32(p.Off), Vaddr: uint32(p.Vaddr), Filesz: uint32(p.Filesz),
			Memsz: uint32(p.Memsz), Flags: uint32(p.Flags), Align: uint32(p.Align),
		})
	} else {
		b, err = binary.Append(nil, m.isa.Order, elf.Prog64{
			Type: uint32(p.Type), Off: p.Off, Vaddr: p.Vaddr, Filesz: p.Filesz, Memsz: p.Memsz, Flags: uint32(p.Flags), Align: p.Align,
		})
	}
	if err != nil {
		panic(err)
	}
	return b
}

// Where generated processes have their parts. Biases are chosen so that 32-bit sums wrap around.
const (
	linkedAt    = 0x40_0000 // the program's first page, as its file has it
	programBias = 0xe000_0000
	headersAt   = programBias + linkedAt + 0x40
	dynamicAt   = programBias + linkedAt + 0x1000
	interpAt    = programBias + linkedAt + 0x800
	entryOffset = linkedAt + 0x500

	linkerBase  = 0xf100_0000
	linkerBreak = linkerBase + 0x2060
	debugAt     = linkerBase + 0x9000 // the first r_debug; the others follow
	debugStep   = 0x100
	mapsAt      = 0xd000_0000
	mapStep     = 0x1_0000
	vdsoAt      = 0xf0f0_0000
)

// object is what a generated link map has of an object.
type object struct {
	name     string
	bias, ld arch.Addr
}

// generate makes a process whose dynamic linker has the objects of these namespaces in its list.
func generate(isa *arch.ISA, namespaces ...[]object) *memory {
	m := &memory{isa: isa, regions: map[arch.Addr][]byte{}, files: map[string][]byte{}}
	var table []byte
	for _, p := range []elf.ProgHeader{
		{Type: elf.PT_PHDR, Off: 0x40, Vaddr: linkedAt + 0x40},
		{Type: elf.PT_INTERP, Off: 0x800, Vaddr: linkedAt + 0x800, Filesz: 9, Memsz: 9},
		{Type: elf.PT_LOAD, Vaddr: linkedAt, Memsz: 0x1000},
		{Type: elf.PT_DYNAMIC, Off: 0x1000, Vaddr: linkedAt + 0x1000, Memsz: uint64(6 * isa.AddrSize)},
		{Type: elf.PT_TLS, Vaddr: linkedAt + 0x2004, Memsz: 0x13, Align: 16},
	} {
		table = append(table, m.programHeader(p)...)
	}
	m.regions[headersAt] = table
	m.regions[interpAt] = []byte("/lib/ld.so\x00")
	debug := uint64(debugAt)
	if len(namespaces) == 0 {
		debug = 0
	}
	m.regions[dynamicAt] = m.words(uint64(elf.DT_HASH), 1, uint64(elf.DT_DEBUG), debug, 0, 0)
	m.auxv = []AuxvEntry{
		{AtSysinfoEhdr, vdsoAt}, {AtPhdr, headersAt}, {AtPhent, arch.Addr(len(table) / 5)}, {AtPhnum, 5},
		{AtBase, linkerBase}, {AtEntry, programBias + entryOffset},
	}
	at := arch.Addr(mapsAt)
	for i, objects := range namespaces {
		first := at
		for k, o := range objects {
			var prev, next uint64
			if k > 0 {
				prev = uint64(at - mapStep)
			}
			if k < len(objects)-1 {
				next = uint64(at + mapStep)
			}
			// The name ends at the end of a page behind which there is no memory.
			name := at + pageSize - arch.Addr(len(o.name)+1)
			m.regions[at] = m.words(uint64(o.bias), uint64(name), uint64(o.ld), next, prev)
			m.regions[name] = append([]byte(o.name), 0)
			at += mapStep
		}
		m.namespace(i, first, i == len(namespaces)-1)
	}
	return m
}

// namespace makes an r_debug structure. The last of several still is of version 2, and a single one of version 1, behind which
// there is no memory.
func (m *memory) namespace(i int, first arch.Addr, last bool) {
	version, next := uint32(2), uint64(debugAt+(i+1)*debugStep)
	if last {
		next = 0
	}
	if last && i == 0 {
		version = 1
	}
	b := m.integer(version)
	b = append(b, m.words(uint64(first), linkerBreak)...)
	b = append(b, m.integer(uint32(Consistent))...)
	b = append(b, m.words(linkerBase)...)
	if version == 2 {
		b = append(b, m.words(next)...)
	}
	m.regions[arch.Addr(debugAt+i*debugStep)] = b
}

// wordAt is the address of a word of the entry of an object in the link map, counted over all namespaces.
func (m *memory) wordAt(object, word int) arch.Addr {
	return arch.Addr(mapsAt + object*mapStep + word*m.isa.AddrSize)
}

// debugWord is the address of a word of an r_debug structure.
func (m *memory) debugWord(namespace, word int) arch.Addr {
	return arch.Addr(debugAt + namespace*debugStep + word*m.isa.AddrSize)
}

// Where generated objects have their tables, above the bias.
const (
	elfSymbols  = 0x1000
	elfNames    = 0x4000
	elfHash     = 0x8000
	elfDynamic  = 0xa000
	elfValues   = 0x1_0000
	valueStep   = 0x40
	elfBuckets  = 3
	elfUndef    = 2 // symbols in front of those in the table: the empty one, and one that the object only refers to
	filterWords = 4
)

// export makes an object in memory that defines these symbols, each with its value in memory, and returns their addresses.
// Relocated has its linker add the bias to the addresses in the dynamic section.
func (m *memory) export(bias arch.Addr, relocated bool, symbols map[string][]byte) map[string]arch.Addr {
	names := slices.SortedFunc(maps.Keys(symbols), func(a, b string) int {
		return cmp.Or(cmp.Compare(gnuHash(a)%elfBuckets, gnuHash(b)%elfBuckets), cmp.Compare(a, b))
	})
	order := m.isa.Order
	at := map[string]arch.Addr{}
	text := []byte("\x00only_referred_to\x00")
	table := append(m.symbol(0, 0, 0), m.symbol(1, 0, 0)...)
	buckets, hashes := make([]uint32, elfBuckets), make([]uint32, len(names))
	for i, name := range names {
		value := arch.Addr(elfValues + i*valueStep)
		table = append(table, m.symbol(len(text), uint64(value), 1)...)
		text = append(append(text, name...), 0)
		at[name] = bias + value
		m.regions[at[name]] = symbols[name]
		bucket := gnuHash(name) % elfBuckets
		if buckets[bucket] == 0 {
			buckets[bucket] = uint32(elfUndef + i)
		}
		hashes[i] = gnuHash(name) &^ 1
		if i == len(names)-1 || gnuHash(names[i+1])%elfBuckets != bucket {
			hashes[i] |= 1
		}
	}
	hash := make([]byte, 0, 1024)
	for _, v := range []uint32{elfBuckets, elfUndef, filterWords, 6} {
		hash = order.AppendUint32(hash, v)
	}
	hash = append(hash, m.words(make([]uint64, filterWords)...)...)
	for _, v := range append(buckets, hashes...) {
		hash = order.AppendUint32(hash, v)
	}
	m.regions[bias+elfSymbols], m.regions[bias+elfNames], m.regions[bias+elfHash] = table, text, hash
	moved := uint64(0)
	if relocated {
		moved = uint64(bias)
	}
	m.regions[bias+elfDynamic] = m.words(uint64(elf.DT_SYMTAB), elfSymbols+moved, uint64(elf.DT_STRTAB), elfNames+moved,
		uint64(elf.DT_GNU_HASH), elfHash+moved, 0, 0)
	return at
}

// symbol is one as it lies in memory.
func (m *memory) symbol(name int, value uint64, section uint16) []byte {
	var b []byte
	var err error
	if m.isa.AddrSize == 4 {
		b, err = binary.Append(nil, m.isa.Order, elf.Sym32{Name: uint32(name), Value: uint32(value), Shndx: section})
	} else {
		b, err = binary.Append(nil, m.isa.Order, elf.Sym64{Name: uint32(name), Value: value, Shndx: section})
	}
	if err != nil {
		panic(err)
	}
	return b
}

// header puts the ELF header and the program headers of an object made by export into memory, where its file begins.
func (m *memory) header(bias arch.Addr) {
	segments := m.programHeader(elf.ProgHeader{Type: elf.PT_LOAD, Memsz: 0x2_0000})
	size := len(segments)
	segments = append(segments, m.programHeader(elf.ProgHeader{Type: elf.PT_DYNAMIC, Vaddr: elfDynamic, Memsz: uint64(8 * m.isa.AddrSize)})...)
	m.regions[bias] = append(m.fileHeader(elf.ET_DYN, size, 2, 0), segments...)
}

// fileHeader is an ELF header, which the program headers follow.
func (m *memory) fileHeader(kind elf.Type, phentsize, phnum, sections int) []byte {
	ident := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}
	if m.isa.Order == binary.BigEndian {
		ident[elf.EI_DATA] = byte(elf.ELFDATA2MSB)
	}
	var b []byte
	var err error
	shnum := uint16(0)
	if sections > 0 {
		shnum = 4
	}
	if m.isa.AddrSize == 4 {
		ident[elf.EI_CLASS] = byte(elf.ELFCLASS32)
		b, err = binary.Append(nil, m.isa.Order, elf.Header32{
			Ident: ident, Type: uint16(kind), Version: 1, Phoff: 52, Ehsize: 52, Phentsize: uint16(phentsize), Phnum: uint16(phnum),
			Shoff: uint32(sections), Shentsize: 40, Shnum: shnum, Shstrndx: 1,
		})
	} else {
		b, err = binary.Append(nil, m.isa.Order, elf.Header64{
			Ident: ident, Type: uint16(kind), Version: 1, Phoff: 64, Ehsize: 64, Phentsize: uint16(phentsize), Phnum: uint16(phnum),
			Shoff: uint64(sections), Shentsize: 64, Shnum: shnum, Shstrndx: 1,
		})
	}
	if err != nil {
		panic(err)
	}
	return b
}

// linkerFile is the file of a dynamic linker with one symbol, and notes.
func (m *memory) linkerFile(symbol string, value uint64, notes []byte) []byte {
	const names = "\x00.shstrtab\x00.symtab\x00.note.stapsdt\x00"
	text := names + symbol + "\x00"
	table := append(m.symbol(0, 0, 0), m.symbol(len(names), value, 1)...)
	file := m.fileHeader(elf.ET_DYN, m.pick(32, 56), 0, 512)
	file = append(file, make([]byte, 512-len(file))...)
	begin := 512 + 4*m.pick(40, 64)
	parts := []struct {
		name    int
		kind    elf.SectionType
		link    uint32
		content []byte
	}{{}, {1, elf.SHT_STRTAB, 0, []byte(text)}, {11, elf.SHT_SYMTAB, 1, table}, {19, elf.SHT_NOTE, 0, notes}}
	var content []byte
	for _, p := range parts {
		var err error
		at := begin + len(content)
		if m.isa.AddrSize == 4 {
			file, err = binary.Append(file, m.isa.Order, elf.Section32{
				Name: uint32(p.name), Type: uint32(p.kind), Off: uint32(at), Size: uint32(len(p.content)), Link: p.link, Entsize: 16,
			})
		} else {
			file, err = binary.Append(file, m.isa.Order, elf.Section64{
				Name: uint32(p.name), Type: uint32(p.kind), Off: uint64(at), Size: uint64(len(p.content)), Link: p.link, Entsize: 24,
			})
		}
		if err != nil {
			panic(err)
		}
		content = append(content, p.content...)
	}
	return append(file, content...)
}

func (m *memory) pick(narrow, wide int) int {
	if m.isa.AddrSize == 4 {
		return narrow
	}
	return wide
}

// probe is a note of <sys/sdt.h> without arguments.
func (m *memory) probe(pc uint64, provider, name string) []byte {
	desc := append(m.words(pc, 0, 0), provider+"\x00"+name+"\x00\x00"...)
	var b []byte
	for _, v := range []int{8, len(desc), 3} {
		b = m.isa.Order.AppendUint32(b, uint32(v))
	}
	b = append(append(b, "stapsdt\x00"...), desc...)
	return append(b, make([]byte, -len(b)&3)...)
}

// threads is a C library that describes its structures as glibc does, in a layout of its own.
type threads struct{ *memory }

const (
	libcBias  = 0xf200_0000
	threadAt  = 0xf300_0000
	vectorAt  = 0xf310_0000
	globalAt  = 0xf320_0000
	tablesAt  = 0xf330_0000
	tableStep = 0x1000
	tlsModid  = 7 // words of the entry in the link map behind the public ones
	tlsOffset = 8
)

// withThreads makes a process with two libraries besides the C library, of modules 2 and 3, and a thread.
func withThreads(isa *arch.ISA) *threads {
	m := generate(isa, []object{
		{"", programBias, dynamicAt}, {"/lib/libc.so.6", libcBias, libcBias + elfDynamic},
		{"/lib/early.so", 0xf400_0000, 0xf410_0000}, {"/lib/late.so", 0xf500_0000, 0xf510_0000},
	})
	for i := range 4 {
		at := m.wordAt(i, 0)
		m.regions[at] = append(m.regions[at], m.words(0, 0, uint64(i), 0)...)
	}
	word := isa.AddrSize
	field := func(bits, offset int) []byte {
		b := isa.Order.AppendUint32(nil, uint32(bits))
		return isa.Order.AppendUint32(isa.Order.AppendUint32(b, 1), uint32(offset))
	}
	symbols := map[string][]byte{
		"__nptl_rtld_global":               m.words(globalAt),
		describing + "sizeof_dtv_slotinfo": isa.Order.AppendUint32(nil, uint32(2*word)),
		"malloc":                           nil, "free": nil, "environ": nil,
	}
	for name, f := range map[string][]byte{
		"link_map_l_tls_modid": field(8*word, tlsModid*word), "link_map_l_tls_offset": field(8*word, tlsOffset*word),
		"pthread_dtvp": field(8*word, 3*word), "dtv_dtv": field(16*word, 0), "dtv_t_counter": field(8*word, 0),
		"dtv_t_pointer_val": field(8*word, 0), "__nptl_rtld_global": field(8*word, 0),
		"rtld_global__dl_tls_dtv_slotinfo_list": field(8*word, 5*word), "dtv_slotinfo_list_len": field(8*word, 0),
		"dtv_slotinfo_list_next": field(8*word, word), "dtv_slotinfo_list_slotinfo": field(16*word, 2*word),
		"dtv_slotinfo_gen": field(8*word, 0),
	} {
		symbols[describing+name] = f
	}
	m.export(libcBias, true, symbols)
	m.regions[threadAt] = m.words(0, 0, 0, vectorAt)
	m.regions[vectorAt] = m.words(1, 0, 0, 0, 0, 0, 0, 0)
	m.regions[globalAt] = m.words(0, 0, 0, 0, 0, tablesAt)
	// Two tables of two modules each, { generation; map }: modules 0 to 3, the last of generation 2.
	m.regions[tablesAt] = m.words(2, tablesAt+tableStep, 0, 0, 1, 0)
	m.regions[tablesAt+tableStep] = m.words(2, 0, 1, 0, 2, 0)
	return &threads{m}
}
