package fast

import (
	"encoding/binary"
	"errors"
	"fmt"

	"tracewell/arch"
)

// Directory is what a tracer leaves in the control area for whoever comes after it: which code it has overwritten and with what,
// and how slots are laid out. It is a log, so that a tracer can be killed at any moment: an entry is there once the word before it
// says so, and that is written last. It is the tracer's to write and not the program's, but the program can: nothing in it is
// relied on.
//
//	0  64 bits: bytes of entries
//	8  the entries: 32 bits of length, 32 bits of kind, contents up to a multiple of 8
type Directory struct{ control Control }

// Directory returns the directory of an area.
func (c Control) Directory() Directory { return Directory{c} }

type entryKind uint32

const (
	entryPatch   entryKind = 1 // Patch: address, length, original bytes, bytes written
	entryUnpatch entryKind = 2 // address
	entrySite    entryKind = 3 // Slots
	entryForget  entryKind = 4 // index of a site, 32 bits
)

const (
	directorySize = ControlSize - DirectoryAt - 8
	entryHeader   = 8
)

// MaxPatch is the most bytes that one Patch overwrites.
const MaxPatch = 32

// Patch is code that a tracer has overwritten.
type Patch struct {
	Addr     arch.Addr
	Original []byte
	Written  []byte // as many
}

var (
	errDirectoryFull = errors.New("no room for more in the directory of fast tracepoints")
	errDirectory     = errors.New("the directory of fast tracepoints is damaged")
)

// Reset forgets all entries.
func (d Directory) Reset() { d.control.store(DirectoryAt, 0) }

// Patch notes a patch, before it is written.
func (d Directory) Patch(p Patch) error {
	if len(p.Original) != len(p.Written) || len(p.Original) > MaxPatch || len(p.Original) == 0 {
		return fmt.Errorf("a patch of %d bytes by %d", len(p.Original), len(p.Written))
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(p.Addr))
	b = append(b, byte(len(p.Original)))
	return d.add(entryPatch, append(append(b, p.Original...), p.Written...))
}

// Unpatch notes that the code at an address is the original again, after it is.
func (d Directory) Unpatch(addr arch.Addr) error {
	return d.add(entryUnpatch, binary.LittleEndian.AppendUint64(nil, uint64(addr)))
}

// Define notes a site, before its jump is patched in.
func (d Directory) Define(s *Slots) error { return d.add(entrySite, s.Encode(nil)) }

// Forget notes that a site is no more.
func (d Directory) Forget(site int) error {
	return d.add(entryForget, binary.LittleEndian.AppendUint32(nil, uint32(site)))
}

// add appends an entry.
func (d Directory) add(kind entryKind, contents []byte) error {
	// The entry is behind what counts, so a tracer that is killed here has written nothing.
	used := d.control.load(DirectoryAt)
	size := uint64(entryHeader+len(contents)+7) &^ 7
	if used+size > directorySize {
		return errDirectoryFull
	}
	at := DirectoryAt + 8 + int(used)
	d.control.store(at, uint64(len(contents))|uint64(kind)<<32)
	for len(contents) > 0 {
		var word [8]byte
		contents = contents[copy(word[:], contents):]
		at += 8
		d.control.store(at, binary.LittleEndian.Uint64(word[:]))
	}
	d.control.store(DirectoryAt, used+size)
	return nil
}

// Read returns the patches that are in force, in the order in which they were made, and the sites. What is damaged ends it with an
// error, and with what came before.
func (d Directory) Read() (patches []Patch, sites []*Slots, err error) {
	used := d.control.load(DirectoryAt)
	if used > directorySize {
		return nil, nil, errDirectory
	}
	for at := uint64(0); at < used; {
		head := d.control.load(DirectoryAt + 8 + int(at))
		length, kind := head&0xffffffff, entryKind(head>>32)
		size := (entryHeader + length + 7) &^ 7
		if at+size > used {
			return patches, sites, errDirectory
		}
		contents := make([]byte, 0, size)
		for i := uint64(entryHeader); i < size; i += 8 {
			contents = binary.LittleEndian.AppendUint64(contents, d.control.load(DirectoryAt+8+int(at+i)))
		}
		if patches, sites, err = replay(patches, sites, kind, contents[:length]); err != nil {
			return patches, sites, err
		}
		at += size
	}
	return patches, sites, nil
}

// replay applies an entry.
func replay(patches []Patch, sites []*Slots, kind entryKind, b []byte) ([]Patch, []*Slots, error) {
	switch {
	case kind == entryPatch && len(b) > 9 && int(b[8]) <= MaxPatch && len(b) == 9+2*int(b[8]):
		n := int(b[8])
		return append(patches, Patch{arch.Addr(binary.LittleEndian.Uint64(b)), b[9:][:n], b[9+n:]}), sites, nil
	case kind == entryUnpatch && len(b) == 8:
		return without(patches, func(p Patch) bool { return p.Addr == arch.Addr(binary.LittleEndian.Uint64(b)) }), sites, nil
	case kind == entrySite:
		s, err := DecodeSlots(b)
		if err != nil {
			return patches, sites, fmt.Errorf("%w: %w", errDirectory, err)
		}
		return patches, append(without(sites, func(old *Slots) bool { return old.site == s.site }), s), nil
	case kind == entryForget && len(b) == 4:
		return patches, without(sites, func(s *Slots) bool { return uint32(s.site) == binary.LittleEndian.Uint32(b) }), nil
	}
	return patches, sites, errDirectory
}

// without removes members from the end of a list first: what is taken back is mostly what came last.
func without[T any](l []T, is func(T) bool) []T {
	for i := len(l) - 1; i >= 0; i-- {
		if is(l[i]) {
			return append(l[:i], l[i+1:]...)
		}
	}
	return l
}
