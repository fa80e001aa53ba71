package debuginfo

import (
	"sort"

	"tracewell/arch"
)

// searchTable is the table of .eh_frame_hdr, by which a program that throws finds its FDEs: pairs of where code begins and where
// its FDE is, in order, four bytes each and relative to the header. All linkers write it so. An empty one has nothing.
type searchTable struct {
	encoding
	rows []byte
	base arch.Addr
}

// The encodings that tables are written in.
const (
	pointerCount = 0x03                        // four bytes
	pointerRow   = 0x30 | 0x03 | pointerSigned // four signed bytes, relative to the header
	rowSize      = 8
)

// searchTable reads a header: a version, three encodings, the address of .eh_frame, and the number of rows (Linux Standard Base,
// 10.6.2).
func (s *frameSection) searchTable(header []byte, at arch.Addr) searchTable {
	reader := frameSection{encoding: s.encoding, addr: at}
	c := reader.cursorAt(header, 0)
	version, frames, count, rows := c.u8(), c.u8(), c.u8(), c.u8()
	if version != 1 || count != pointerCount || rows != pointerRow || reader.pointer(&c, frames) != s.addr {
		return searchTable{}
	}
	n := uint64(c.u32())
	return searchTable{s.encoding, c.bytes(n * rowSize), at} // none if there are fewer rows
}

// find returns where the FDE of the last row is that begins at a pc or below.
func (t *searchTable) find(pc arch.Addr) (arch.Addr, bool) {
	pointer := func(at int) arch.Addr {
		c := t.cursorAt(t.rows, uint64(at))
		return t.truncate(uint64(t.base) + uint64(int32(c.u32())))
	}
	i := sort.Search(len(t.rows)/rowSize, func(i int) bool { return pointer(i*rowSize) > pc })
	if i == 0 {
		return 0, false
	}
	return pointer((i-1)*rowSize + rowSize/2), true
}
