package debuginfo

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"tracewell/arch"
	"tracewell/internal/routine"
)

// Offset identifies a DIE of a File, whichever of its files and sections it is in. Zero is no DIE.
type Offset uint64

// spaceSize is how far the offsets of two sections of DIEs lie apart.
const spaceSize = 1 << 40

// Options say where to look for separate debug files, and who wants to know how far the reading has come.
type Options struct {
	DebugDirs []string                // folders with separate debug files; DefaultDebugDir when nil
	Progress  func(done, total int64) // called now and then, from several goroutines, with bytes of debug information
}

// DefaultDebugDir is where distributions install separate debug files.
const DefaultDebugDir = "/usr/lib/debug"

// File is one ELF file with its debug information.
type File struct {
	options  Options
	main     *image
	debug    *image // has the debug information: main itself, a separate file, or nil
	why      string // there is no debug information
	images   []*image
	code     []Range // see codeOf
	warnings []string
	warning  sync.Mutex

	spaces     []*space
	units      []*Unit
	signatures map[uint64]Offset // of types, from their units
	symbols    func() []Symbol
	unitRanges func() []unitRange
	names      func() *index
	unwind     func() *unwinding
	crossUnit  func() []inlinedCopy
	ahead      routine.Group // see ReadAhead
}

// space is one section of DIEs and the sections that these refer to.
type space struct {
	file    *File
	image   *image
	name    string // of the section
	base    Offset
	refBase Offset // of what DW_FORM_ref_addr refers to
	types   bool   // .debug_types
	dwo     bool
	alt     *space // made by dwz
	units   []*Unit

	data, abbrev, str, lineStr, strOffsets, addr []byte
}

// Open opens an ELF file and finds its debug information. A file without any is no error: WhyNoDWARF says what was looked for.
func Open(path string, o Options) (*File, error) {
	main, err := openImage(path)
	if err != nil {
		return nil, err
	}
	if main.elf.Type == elf.ET_REL {
		return nil, errors.Join(fmt.Errorf("%s: an object file, whose code has no addresses before it is linked", path), main.unmap())
	}
	f := newFile(main, o)
	f.debug, f.why = f.findDebug()
	f.load()
	return f, nil
}

func newFile(main *image, o Options) *File {
	if o.DebugDirs == nil {
		o.DebugDirs = []string{DefaultDebugDir}
	}
	f := &File{options: o, main: main, images: []*image{main}, signatures: map[uint64]Offset{}}
	f.code = codeOf(main.elf)
	f.symbols = sync.OnceValue(f.readSymbols)
	f.unitRanges = sync.OnceValue(f.readUnitRanges)
	f.names = sync.OnceValue(f.readNames)
	f.unwind = sync.OnceValue(f.newUnwinding)
	f.crossUnit = sync.OnceValue(f.findCrossUnit)
	return f
}

// codeOf lists the executable sections of a file, or without section headers its executable segments, by address.
func codeOf(file *elf.File) []Range {
	var code []Range
	add := func(begin, size uint64) {
		if begin+size > begin {
			code = append(code, Range{arch.Addr(begin), arch.Addr(begin + size)})
		}
	}
	for _, s := range file.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Flags&elf.SHF_ALLOC != 0 {
			add(s.Addr, s.Size)
		}
	}
	for _, p := range file.Progs {
		if len(file.Sections) == 0 && p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			add(p.Vaddr, p.Filesz)
		}
	}
	sortRanges(code)
	return code
}

// load makes the spaces of the file that has the debug information, and reads their units.
func (f *File) load() {
	if f.debug == nil {
		return
	}
	f.unpackAll(f.debug)
	f.addSpace(f.debug, ".debug_info", "")
	f.addSpace(f.debug, ".debug_types", "")
	f.loadAlt()
	for _, s := range f.spaces {
		s.readUnits()
	}
	f.loadSplit()
	for _, s := range f.spaces {
		f.addUnits(s)
	}
}

// unpackAll unpacks the compressed sections of an image that everything needs, side by side.
func (f *File) unpackAll(m *image) {
	var all routine.Group
	for name := range m.sections {
		if strings.HasPrefix(name, ".debug_") && !strings.HasPrefix(name, ".debug_loc") {
			all.Go(func() {
				if _, err := m.sections[name].content(); err != nil {
					f.warn("%s: section %s: %v", m.path, name, err)
				}
			})
		}
	}
	all.Wait()
}

// addSpace adds a section of DIEs, if the image has it. Sections of .dwo files end in that.
func (f *File) addSpace(m *image, name, suffix string) *space {
	data := m.section(name + suffix)
	if len(data) == 0 {
		return nil
	}
	s := &space{
		file: f, image: m, name: name + suffix, base: Offset(len(f.spaces)) * spaceSize, types: name == ".debug_types", dwo: suffix != "",
		data: data, abbrev: m.section(".debug_abbrev" + suffix), str: m.section(".debug_str" + suffix),
		lineStr: m.section(".debug_line_str" + suffix), strOffsets: m.section(".debug_str_offsets" + suffix),
		addr: m.section(".debug_addr"),
	}
	s.refBase = s.base
	if n := len(f.spaces); s.types && n > 0 && f.spaces[n-1].image == m {
		s.refBase = f.spaces[n-1].base
	}
	f.spaces = append(f.spaces, s)
	return s
}

// addUnits lists the units of a space: those of types by their signature, and of split ones the full unit only.
func (f *File) addUnits(s *space) {
	for _, u := range s.units {
		if u.isType() && u.typeAt < u.end-u.start {
			f.signatures[u.signature] = s.base + Offset(u.start+u.typeAt)
		}
		if u.split == nil {
			f.units = append(f.units, u)
		}
	}
}

// ReadAhead begins to read names and symbols, which take longest, and returns at once. Whoever asks for them waits.
func (f *File) ReadAhead() {
	f.ahead.Go(func() { f.names() })
	f.ahead.Go(func() { f.symbols() })
}

// Close takes back all mappings. Nothing of the file, values included, may be used any more.
func (f *File) Close() error {
	f.ahead.Wait()
	var errs []error
	for _, m := range f.images {
		errs = append(errs, m.unmap())
	}
	f.images = nil
	return errors.Join(errs...)
}

func (f *File) warn(format string, args ...any) {
	f.warning.Lock()
	defer f.warning.Unlock()
	const enough = 20 // a damaged file may have no end of them
	if len(f.warnings) < enough {
		f.warnings = append(f.warnings, fmt.Sprintf(format, args...))
	}
}

// Warnings are what was found wrong, such as a .dwo file that is missing; debug information may be missing for that.
func (f *File) Warnings() []string {
	f.warning.Lock()
	defer f.warning.Unlock()
	return slices.Clone(f.warnings)
}

// Path is the name that the file was opened by.
func (f *File) Path() string { return f.main.path }

// DebugPath is the file that has the debug information, the same one mostly; empty when there is none.
func (f *File) DebugPath() string {
	if f.debug == nil {
		return ""
	}
	return f.debug.path
}

// HasDWARF reports whether there is debug information.
func (f *File) HasDWARF() bool { return f.debug != nil }

// WhyNoDWARF says why there is no debug information; empty when there is.
func (f *File) WhyNoDWARF() string { return f.why }

// BuildID is the identifier that the linker gave the file, nil without one.
func (f *File) BuildID() []byte { return f.main.buildID }

// PIE reports whether the file may be loaded anywhere: a shared library, or an executable that is position-independent.
func (f *File) PIE() bool { return f.main.elf.Type == elf.ET_DYN }

// Machine is the processor that the file is for.
func (f *File) Machine() elf.Machine { return f.main.elf.Machine }

// Arch is the row of the processor in the table of machines, arch.Unknown if it has none.
func (f *File) Arch() *arch.Machine {
	return cmp.Or(arch.ByELF(f.Machine(), f.AddrSize()), arch.Unknown)
}

// Order is the byte order of the file and of the memory of a program that runs it.
func (f *File) Order() arch.ByteOrder { return f.main.order() }

// AddrSize is the size of an address of the program, in bytes.
func (f *File) AddrSize() int { return int(f.main.addrSize) }

// EntryPoint is where execution begins.
func (f *File) EntryPoint() arch.Addr { return arch.Addr(f.main.elf.Entry) }

// Base is the address of the first loaded segment: what the beginning of the file is mapped to at a bias of zero.
func (f *File) Base() arch.Addr {
	base := arch.Addr(0)
	found := false
	for _, p := range f.main.elf.Progs {
		if at := arch.Addr(p.Vaddr - p.Off); p.Type == elf.PT_LOAD && (!found || at < base) {
			base, found = at, true
		}
	}
	return base
}

// Section is the content of a section as it is loaded, and its address. There is none of sections without content (.bss).
func (f *File) Section(name string) (content []byte, addr arch.Addr, ok bool) {
	s := f.main.sections[name]
	if s == nil || s.raw == nil {
		return nil, 0, false
	}
	content, err := s.content()
	return content, s.addr, err == nil
}

// Code returns the code at an address, as the file has it, up to the end of its section; without section headers, of its segment.
// It is nil where there is none.
func (f *File) Code(addr arch.Addr) []byte {
	i := slices.IndexFunc(f.code, func(r Range) bool { return r.Has(addr) })
	if i < 0 {
		return nil
	}
	for _, p := range f.main.elf.Progs {
		if offset := uint64(addr) - p.Vaddr; p.Type == elf.PT_LOAD && offset < p.Filesz {
			c := cursorAt(f.main.data, p.Off+offset)
			return c.bytes(min(p.Filesz-offset, uint64(f.code[i].End-addr)))
		}
	}
	return nil
}

// Units are all units, those in .dwo files in place of what the linked file has of them.
func (f *File) Units() []*Unit { return slices.Clone(f.units) }

// HasCode reports whether there is code at an address. Descriptions of code that the linker has thrown away are left with
// addresses of other places: 0, 1, or close to the end.
func (f *File) HasCode(addr arch.Addr) bool {
	for _, r := range f.code {
		if addr >= r.Begin && addr < r.End {
			return true
		}
	}
	return false
}
