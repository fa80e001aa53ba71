package packed

import (
	"encoding/binary"
	"io"
	"sort"
)

// The seekable format of Zstandard (contrib/seekable_format in its sources): frames that can be unpacked each by itself, and behind
// them one that every reader skips, which holds a table of their sizes:
//
//	u32 0x184d2a5e, the magic of a frame to be skipped
//	u32 bytes that follow
//	for each frame: u32 packed size, u32 size of its content, and u32 checksum if the descriptor says so
//	u32 number of frames
//	u8  descriptor: bit 7 for checksums, bits 2 to 6 reserved
//	u32 0x8f92eab1
//
// All numbers are little endian.
const (
	tableMagic   = 0x184d2a5e
	footerMagic  = 0x8f92eab1
	tableHeader  = 8
	tableFooter  = 9
	tableEntry   = 8
	entrySum     = 4 // more bytes of an entry with a checksum
	withSums     = 1 << 7
	reservedBits = 0x7c
)

const (
	// mostFrames is how many frames a table may have: it is kept in memory, at 16 bytes for each.
	mostFrames = 1 << 22
	// mostContent is how large the content of a frame may be. To read one byte takes to unpack a frame, so a file of larger ones
	// is unpacked as a whole.
	mostContent = 8 << 20
)

// extent is where a frame begins, in the file and in its content.
type extent struct{ packed, content int64 }

// table is where the frames are: each ends where the next begins, and one more entry is where the last ends.
type table []extent

// frames is how many there are.
func (t table) frames() int { return len(t) - 1 }

// size is that of the content in bytes.
func (t table) size() int64 { return t[len(t)-1].content }

// find returns the frame that has a byte of the content, one that is there.
func (t table) find(offset int64) int {
	return sort.Search(len(t), func(i int) bool { return t[i].content > offset }) - 1
}

// appendTable appends the table in the seekable format.
func (t table) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, tableMagic)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(t.frames()*tableEntry+tableFooter))
	for i := range t.frames() {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(t[i+1].packed-t[i].packed))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(t[i+1].content-t[i].content))
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(t.frames()))
	return binary.LittleEndian.AppendUint32(append(dst, 0), footerMagic)
}

// readTable reads the table of a file of so many bytes. It returns nil for a file without one, and for one whose table cannot be
// true or is not worth using: it is then unpacked from its beginning, as one without a table is. Two such files behind each other
// are one of these, since the last table is that of the second alone.
func readTable(r io.ReaderAt, size int64) table {
	var footer [tableFooter]byte
	if size < tableHeader+tableFooter || !readFull(r, footer[:], size-tableFooter) {
		return nil
	}
	frames, descriptor := int64(binary.LittleEndian.Uint32(footer[:])), footer[4]
	if binary.LittleEndian.Uint32(footer[5:]) != footerMagic || descriptor&reservedBits != 0 || frames == 0 || frames > mostFrames {
		return nil
	}
	entry := int64(tableEntry)
	if descriptor&withSums != 0 {
		entry += entrySum
	}
	length := frames*entry + tableFooter // behind the header
	start := size - length - tableHeader
	if start < 0 {
		return nil
	}
	text := make([]byte, tableHeader+frames*entry)
	if !readFull(r, text, start) || binary.LittleEndian.Uint32(text) != tableMagic ||
		int64(binary.LittleEndian.Uint32(text[4:])) != length {
		return nil
	}
	t := make(table, 1, frames+1)
	for at := text[tableHeader:]; len(at) > 0; at = at[entry:] {
		packed, content := int64(binary.LittleEndian.Uint32(at)), int64(binary.LittleEndian.Uint32(at[4:]))
		if content > mostContent || packed > mostPacked(content) {
			return nil
		}
		last := t[len(t)-1]
		t = append(t, extent{last.packed + packed, last.content + content})
	}
	if t[frames].packed != start {
		return nil
	}
	return t
}

// mostPacked is more than a frame takes whose content cannot be compressed: a header, a checksum, and three bytes for each block,
// which are allowed to be small.
func mostPacked(content int64) int64 { return content + content/64 + 1<<10 }

// readFull reads all of p, and reports whether there is so much.
func readFull(r io.ReaderAt, p []byte, at int64) bool {
	n, _ := r.ReadAt(p, at)
	return n == len(p)
}
