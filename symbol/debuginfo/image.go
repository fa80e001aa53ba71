package debuginfo

import (
	"bytes"

	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"tracewell/arch"
	"tracewell/internal/sys"
)

// image is one ELF file, mapped.
type image struct {
	encoding
	path     string
	data     []byte
	unmap    func() error
	release  func() // gives back the memory that the mapping takes until it is read again
	elf      *elf.File
	sections map[string]*section // by name, .zdebug_x as .debug_x
	buildID  []byte
}

// section is a section of an image; its content is unpacked when it is first asked for.
type section struct {
	name    string
	addr    arch.Addr
	raw     []byte
	flags   elf.SectionFlag
	content func() ([]byte, error)
}

// openImage maps an ELF file.
func openImage(path string) (*image, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, unmap, err := sys.Map(file)
	if err != nil {
		return nil, fmt.Errorf("mapping %s: %w", path, err)
	}
	m, err := parseImage(path, data)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), unmap())
	}
	m.unmap, m.release = unmap, func() { sys.Release(data) }
	return m, nil
}

// parseImage makes an image of the bytes of an ELF file.
func parseImage(path string, data []byte) (*image, error) {
	file, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("reading an ELF file: %w", err)
	}
	m := &image{path: path, data: data, elf: file, sections: map[string]*section{}}
	m.unmap, m.release = func() error { return nil }, func() {}
	m.encoding = encoding{big: file.Data == elf.ELFDATA2MSB, addrSize: 8}
	if file.Class == elf.ELFCLASS32 {
		m.addrSize = 4
	}
	for _, s := range file.Sections {
		m.addSection(s)
	}
	m.buildID = m.findBuildID()
	return m, nil
}

func (m *image) addSection(s *elf.Section) {
	name, packed := s.Name, s.Flags&elf.SHF_COMPRESSED != 0
	old, isOld := strings.CutPrefix(name, ".zdebug_")
	if isOld {
		name = ".debug_" + old
	}
	earlier := m.sections[name]
	if earlier != nil && !strings.HasSuffix(name, ".dwo") { // the first one is meant
		return
	}
	added := &section{name: name, addr: arch.Addr(s.Addr), flags: s.Flags}
	if s.Type != elf.SHT_NOBITS {
		c := cursorAt(m.data, s.Offset)
		if added.raw = c.bytes(s.FileSize); added.raw == nil && s.FileSize > 0 {
			added.raw = c.part(0).data[:0]
		}
	}
	raw := added.raw
	added.content = sync.OnceValues(func() ([]byte, error) {
		switch {
		case earlier != nil: // each type has a section of its own, all of one name
			before, err := earlier.content()
			return slices.Concat(before, raw), err
		case packed:
			return m.unpack(raw)
		case isOld:
			return unpackOld(raw)
		}
		return raw, nil
	})
	m.sections[name] = added
}

// section returns the content of a section, nil when it is missing or damaged.
func (m *image) section(name string) []byte {
	s := m.sections[name]
	if s == nil {
		return nil
	}
	content, _ := s.content()
	return content
}

// findBuildID reads the note that names the build.
func (m *image) findBuildID() []byte {
	c := m.cursorAt(m.section(".note.gnu.build-id"), 0)
	for c.more() {
		nameSize, size, kind := c.u32(), c.u32(), c.u32()
		name := c.bytes(padded(nameSize))
		id := c.bytes(padded(size))
		if c.bad {
			return nil
		}
		if kind == 3 && bytes.HasPrefix(name, []byte("GNU\x00")) {
			return id[:size]
		}
	}
	return nil
}

// padded is the size of a part of a note, with what fills it up to whole words.
func padded(size uint32) uint64 { return (uint64(size) + 3) &^ 3 }

// expansion is how many times larger than packed a section may claim to be; both methods stay below it on real input.
const expansion = 1200

// unpack unpacks a section that is compressed as the ELF specification says.
func (m *image) unpack(raw []byte) ([]byte, error) {
	c := m.cursorAt(raw, 0)
	method := elf.CompressionType(c.u32())
	if m.addrSize == 8 {
		c.u32()
	}
	size := uint64(c.addr())
	c.addr()
	if c.bad {
		return nil, io.ErrUnexpectedEOF
	}
	return inflate(method, raw[c.at:], size)
}

// unpackOld unpacks a section called .zdebug_, as it was done before there was a specification.
func unpackOld(raw []byte) ([]byte, error) {
	packed, ok := bytes.CutPrefix(raw, []byte("ZLIB"))
	if !ok || len(packed) < 8 {
		return nil, errors.New("not a compressed section")
	}
	return inflate(elf.COMPRESS_ZLIB, packed[8:], binary.BigEndian.Uint64(packed))
}

func inflate(method elf.CompressionType, packed []byte, size uint64) ([]byte, error) {
	if size > expansion*(uint64(len(packed))+64) {
		return nil, fmt.Errorf("a section of %d bytes claims to unpack to %d", len(packed), size)
	}
	var r io.Reader
	switch method {
	case elf.COMPRESS_ZLIB:
		z, err := zlib.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		r = z
	case elf.COMPRESS_ZSTD:
		z, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		r = z
	default:
		return nil, fmt.Errorf("a section is compressed by method %v", method)
	}
	content := make([]byte, size)
	_, err := io.ReadFull(r, content)
	return content, err
}
