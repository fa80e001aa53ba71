package inferior

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"tracewell/arch"
)

// Limits for what a program may have overwritten.
const (
	maxHeaders = 1024    // program headers; a program has about 13
	maxDynamic = 1 << 16 // bytes of a dynamic section; the largest known has 2 kB
)

// headers are the program headers of a loaded object, and its bias: the difference between where it is loaded and where it was
// linked for.
type headers struct {
	segments []elf.ProgHeader
	bias     arch.Addr
}

// Bias returns the bias of the program, whose file names entry as its entry point. Where the process does not tell its entry point,
// the bias comes from its program headers.
func (s *ProgramSpace) Bias(entry arch.Addr) (arch.Addr, error) {
	if at := s.Entry(); at != 0 {
		return s.wrap(at - entry), nil
	}
	return s.BiasByHeaders()
}

// BiasByHeaders returns the bias of the program as its program headers in memory tell it, without its file.
func (s *ProgramSpace) BiasByHeaders() (arch.Addr, error) {
	h, err := s.programHeaders()
	if err != nil {
		return 0, err
	}
	return h.bias, nil
}

// programHeaders reads those of the program, which the kernel points to.
func (s *ProgramSpace) programHeaders() (*headers, error) {
	if s.headers != nil {
		return s.headers, nil
	}
	at := s.value(AtPhdr)
	if at == 0 {
		return nil, errors.New("the auxiliary vector has no program headers (AT_PHDR)")
	}
	segments, err := s.segments(at, uint64(s.value(AtPhent)), uint64(s.value(AtPhnum)))
	if err != nil {
		return nil, fmt.Errorf("the program's headers: %w", err)
	}
	s.headers = &headers{segments, s.programBias(segments, at)}
	return s.headers, nil
}

// programBias compares the address of the program headers with where their file has them. Static programs may lack PT_PHDR; then
// the headers are in the first page of the segment that begins with the file.
func (s *ProgramSpace) programBias(segments []elf.ProgHeader, at arch.Addr) arch.Addr {
	for _, h := range segments {
		if h.Type == elf.PT_PHDR {
			return s.wrap(at - arch.Addr(h.Vaddr))
		}
	}
	const offset = pageSize - 1
	for _, h := range segments {
		if h.Type == elf.PT_LOAD && h.Off == 0 {
			return s.wrap(at&^offset - arch.Addr(h.Vaddr)&^offset)
		}
	}
	return 0
}

// segments reads a table of program headers. The size of an entry tells the class: a program of 32 bits on a machine of 64 has
// another than its ISA here.
func (s *ProgramSpace) segments(at arch.Addr, size, count uint64) ([]elf.ProgHeader, error) {
	var one elf.Prog64
	var half elf.Prog32
	want := uint64(binary.Size(one))
	if s.isa.AddrSize == 4 {
		want = uint64(binary.Size(half))
	}
	if size != want || count > maxHeaders {
		return nil, fmt.Errorf("%d entries of %d bytes, expected at most %d of %d", count, size, maxHeaders, want)
	}
	b := make([]byte, size*count)
	if err := s.read(at, b); err != nil {
		return nil, err
	}
	segments := make([]elf.ProgHeader, count)
	for i := range segments {
		entry := b[uint64(i)*size:]
		if s.isa.AddrSize == 4 {
			_, _ = binary.Decode(entry, s.isa.Order, &half) // b is as long as its entries
			segments[i] = elf.ProgHeader{
				Type: elf.ProgType(half.Type), Flags: elf.ProgFlag(half.Flags), Off: uint64(half.Off), Vaddr: uint64(half.Vaddr),
				Filesz: uint64(half.Filesz), Memsz: uint64(half.Memsz), Align: uint64(half.Align),
			}
			continue
		}
		_, _ = binary.Decode(entry, s.isa.Order, &one)
		segments[i] = elf.ProgHeader{
			Type: elf.ProgType(one.Type), Flags: elf.ProgFlag(one.Flags), Off: one.Off, Vaddr: one.Vaddr,
			Filesz: one.Filesz, Memsz: one.Memsz, Align: one.Align,
		}
	}
	return segments, nil
}

// headersAt reads the headers of an object whose file begins at an address of memory, by the ELF header there.
func (s *ProgramSpace) headersAt(base arch.Addr) (*headers, error) {
	head := make([]byte, 64)
	if err := s.read(base, head[:s.pick(52, 64)]); err != nil {
		return nil, err
	}
	if string(head[:4]) != elf.ELFMAG {
		return nil, fmt.Errorf("no ELF file begins at %s", base)
	}
	// e_phoff follows e_entry, and e_phentsize and e_phnum follow e_flags and e_ehsize.
	table := arch.Uint(head[s.pick(28, 32):][:s.isa.AddrSize], s.isa.Order)
	size, count := s.isa.Order.Uint16(head[s.pick(42, 54):]), s.isa.Order.Uint16(head[s.pick(44, 56):])
	segments, err := s.segments(base+arch.Addr(table), uint64(size), uint64(count))
	if err != nil {
		return nil, err
	}
	h := &headers{segments: segments, bias: base}
	if i := slices.IndexFunc(segments, func(p elf.ProgHeader) bool { return p.Type == elf.PT_LOAD && p.Off == 0 }); i >= 0 {
		h.bias = s.wrap(base - arch.Addr(segments[i].Vaddr))
	}
	return h, nil
}

// pick chooses an offset by the size of addresses.
func (s *ProgramSpace) pick(narrow, wide int) int {
	if s.isa.AddrSize == 4 {
		return narrow
	}
	return wide
}

// segment is where the segment of a type was loaded, and its size; 0, 0 if there is none.
func (s *ProgramSpace) segment(h *headers, kind elf.ProgType) (addr arch.Addr, size uint64) {
	for _, p := range h.segments {
		if p.Type == kind {
			addr, size = s.wrap(arch.Addr(p.Vaddr)+h.bias), p.Memsz
		}
	}
	return addr, size
}

// dynamic is one entry of a dynamic section, at its address.
type dynamic struct {
	at    arch.Addr
	tag   elf.DynTag
	value arch.Addr
}

// dynamicSection reads a dynamic section up to DT_NULL. One that ends with limit bytes needs no DT_NULL if its size is known.
func (s *ProgramSpace) dynamicSection(addr arch.Addr, limit uint64, sized bool) ([]dynamic, error) {
	pair := 2 * s.isa.AddrSize
	b, err := s.until(addr, int(min(limit, maxDynamic)), func(b []byte) int {
		words := s.split(b)
		for i := 0; i+1 < len(words); i += 2 {
			if elf.DynTag(words[i]) == elf.DT_NULL {
				return i * s.isa.AddrSize
			}
		}
		if sized && uint64(len(b)) >= limit {
			return len(b)
		}
		return -1
	})
	if err != nil {
		return nil, fmt.Errorf("the dynamic section: %w", err)
	}
	words := s.split(b)
	entries := make([]dynamic, len(words)/2)
	for i := range entries {
		entries[i] = dynamic{addr + arch.Addr(i*pair), elf.DynTag(words[2*i]), arch.Addr(words[2*i+1])}
	}
	return entries, nil
}
