package debuginfo

import (
	"bytes"
	"math"
	"path"

	"tracewell/arch"
)

// lineProgram is the header of a line number program, and the program that makes the rows.
type lineProgram struct {
	unit     *Unit
	version  uint16
	minInst  uint8
	isStmt   bool
	lineBase int8
	lineRange,
	opcodeBase uint8
	lengths []byte // of the standard opcodes
	dirs    [][]byte
	files   []lineFile
	program cursor
}

type lineFile struct {
	name []byte
	dir  uint64
}

// lineProgram reads the header of the unit's line number program (DWARF 5, 6.2.4), nil when it has none or one of a version that is
// not known. The header is parsed anew at each call; who needs the rows often keeps them (Unit.Lines).
func (u *Unit) lineProgram() *lineProgram {
	from := u.linked()
	if u.skeleton != nil && u.isType() || !from.hasLines {
		return nil
	}
	c := from.cursorAt(from.space.section(".debug_line"), from.linesAt)
	size, dwarf64 := c.length()
	body := c.part(size)
	p := &lineProgram{unit: from, version: body.u16()}
	if p.version < 2 || p.version > 5 {
		return nil
	}
	f := format{version: p.version, addrSize: from.format.addrSize, dwarf64: dwarf64}
	if p.version >= 5 {
		f.addrSize = body.u8()
		body.u8() // size of segment selectors: no such machine
	}
	header := body.offset(dwarf64)
	p.program = from.cursorAt(body.data, body.at)
	p.program.skip(header)
	p.minInst = body.u8()
	if p.version >= 4 {
		body.u8() // operations of an instruction: 1 on every machine without long instruction words
	}
	p.isStmt = body.u8() != 0
	p.lineBase = int8(body.u8())
	p.lineRange = body.u8()
	p.opcodeBase = body.u8()
	p.lengths = body.bytes(uint64(max(p.opcodeBase, 1)) - 1)
	if body.bad || p.lineRange == 0 {
		return nil
	}
	if p.version >= 5 {
		p.readLists(&body, f)
	} else {
		p.readOldLists(&body)
	}
	return p
}

// readOldLists reads the folders and files of versions 2 to 4. Number 0 is the unit's own folder and file.
func (p *lineProgram) readOldLists(c *cursor) {
	p.dirs = append(p.dirs, []byte(p.unit.CompDir))
	for c.more() {
		dir := c.text()
		if len(dir) == 0 {
			break
		}
		p.dirs = append(p.dirs, dir)
	}
	p.files = append(p.files, lineFile{name: []byte(p.unit.Name)})
	for c.more() {
		name := c.text()
		if len(name) == 0 {
			break
		}
		p.files = append(p.files, lineFile{name, c.uleb()})
		c.skipLeb()
		c.skipLeb()
	}
}

// The contents of the entries of version 5.
const (
	entryPath = 1
	entryDir  = 2
)

// readLists reads the folders and files of version 5, whose entries have a description of their own.
func (p *lineProgram) readLists(c *cursor, f format) {
	for _, dir := range p.readList(c, f) {
		p.dirs = append(p.dirs, dir.name)
	}
	p.files = p.readList(c, f)
}

// readList reads one of the two lists: the description of an entry, pairs of content and form, then the entries. GCC 12 and Clang
// 14 describe folders by a path and files by a path and a folder, Clang with an MD5 sum besides, which is passed over by its
// form.
func (p *lineProgram) readList(c *cursor, f format) []lineFile {
	type part struct {
		content uint64
		spec    attrSpec
	}
	parts := make([]part, c.u8())
	for i := range parts {
		parts[i] = part{c.uleb(), attrSpec{form: form(c.uleb())}}
	}
	reader := &Unit{space: p.unit.space, format: f, strOffsetsBase: p.unit.strOffsetsBase}
	var list []lineFile
	for n := c.uleb(); n > 0 && c.more(); n-- {
		var file lineFile
		begin := c.at
		for _, part := range parts {
			v, ok := reader.value(c, part.spec)
			switch {
			case c.bad:
				return list
			case part.content == entryPath && ok:
				file.name = v.bytes
			case part.content == entryDir:
				file.dir = v.num
			}
		}
		if c.at == begin { // nothing says where the list ends
			return list
		}
		list = append(list, file)
	}
	return list
}

// paths are the full paths of the files.
func (p *lineProgram) paths() []string {
	list := make([]string, len(p.files))
	for i := range p.files {
		list[i] = p.path(i)
	}
	return list
}

// matching are the full paths of the files that a name means, by number. Only files with the same last part are given a path, as a
// program of C++ lists hundreds of headers in each unit.
func (p *lineProgram) matching(file string) map[uint32]string {
	base := []byte(path.Base(file))
	var found map[uint32]string
	for i := range p.files {
		if !bytes.HasSuffix(p.files[i].name, base) {
			continue
		}
		if full := p.path(i); SamePath(file, full) {
			if found == nil {
				found = map[uint32]string{}
			}
			found[uint32(i)] = full
		}
	}
	return found
}

// path is the full path of a file, cleaned. A relative folder is below the one in which the compiler ran. A path stays relative
// where that is not known, as with -fdebug-prefix-map=$PWD=.
func (p *lineProgram) path(i int) string {
	file := p.files[i]
	name := string(file.name)
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	dir := ""
	if file.dir < uint64(len(p.dirs)) {
		dir = string(p.dirs[file.dir])
	}
	if !path.IsAbs(dir) {
		dir = path.Join(p.unit.CompDir, dir)
	}
	return path.Join(dir, name)
}

// The opcodes of line number programs: the standard ones (DW_LNS_*; DWARF 5, 6.2.5.2), then the extended ones (DW_LNE_*, 6.2.5.3),
// which follow a zero byte and their length. DW_LNS_set_isa and opcodes of later versions are passed over by the number of operands
// that the header has for each.
const (
	lineCopy           = iota + 1 // append a row
	lineAdvancePC                 // ULEB128, in instructions of the minimum length
	lineAdvanceLine               // SLEB128
	lineSetFile                   // ULEB128
	lineSetColumn                 // ULEB128
	lineNegateStmt                // no operand, as those below without a comment
	lineBasicBlock                // it goes with the next row
	lineConstAddPC                // as far as special opcode 255 would
	lineFixedAdvancePC            // 2 bytes, not scaled: what an assembler without LEB128 writes
	linePrologueEnd               // since DWARF 3; Clang 14 writes it, GCC 12 does not
	lineEpilogueBegin

	lineEndSequence      = 1
	lineSetAddress       = 2 // an address; the linker relocates it, to 0 or close to it for code that it discards
	lineDefineFile       = 3 // before DWARF 5: a file behind those of the header
	lineSetDiscriminator = 4 // ULEB128, since DWARF 4: tells apart the blocks on one line
)

// run makes the rows, in the order of the program, until emit returns false. An opcode from opcodeBase on is special: it advances
// address and line by what its number says and appends a row, in one byte.
func (p *lineProgram) run(emit func(Row) bool) {
	m := lineMachine{lineProgram: p, emit: emit}
	m.reset()
	c := p.program
	for c.more() && !m.stop {
		op := c.u8()
		switch {
		case op >= p.opcodeBase:
			op -= p.opcodeBase
			m.row.Addr += arch.Addr(uint64(op/p.lineRange) * uint64(p.minInst))
			m.advance(int64(p.lineBase) + int64(op%p.lineRange))
			m.add()
		case op == 0:
			m.extended(&c)
		default:
			m.standard(&c, op)
		}
	}
}

// lineMachine is the state machine of a line number program (DWARF 5, 6.2.2); row holds its registers.
type lineMachine struct {
	*lineProgram
	row  Row
	emit func(Row) bool
	stop bool
}

// reset sets the registers as they are at the beginning of each sequence.
func (m *lineMachine) reset() {
	m.row = Row{File: 1, Line: 1}
	if m.isStmt {
		m.row.Flags = IsStmt
	}
}

// add appends a row. All flags but is_stmt, and the discriminator, hold for one row only.
func (m *lineMachine) add() {
	m.stop = !m.emit(m.row)
	m.row.Flags &= IsStmt
	m.row.Discriminator = 0
}

func (m *lineMachine) advance(lines int64) { m.row.Line = uint32(int64(m.row.Line) + lines) }

// standard executes an opcode below opcodeBase. A header may give a known opcode another number of operands than the standard has;
// no producer does, and GDB looks at that of unknown ones only, too.
func (m *lineMachine) standard(c *cursor, op uint8) {
	switch op {
	case lineCopy:
		m.add()
	case lineAdvancePC:
		m.row.Addr += arch.Addr(c.uleb() * uint64(m.minInst))
	case lineAdvanceLine:
		m.advance(c.sleb())
	case lineSetFile:
		m.row.File = uint32(min(c.uleb(), math.MaxUint32))
	case lineSetColumn:
		m.row.Column = uint32(c.uleb())
	case lineNegateStmt:
		m.row.Flags ^= IsStmt
	case lineBasicBlock:
		m.row.Flags |= BasicBlock
	case lineConstAddPC:
		m.row.Addr += arch.Addr(uint64((255-m.opcodeBase)/m.lineRange) * uint64(m.minInst))
	case lineFixedAdvancePC:
		m.row.Addr += arch.Addr(c.u16())
	case linePrologueEnd:
		m.row.Flags |= PrologueEnd
	case lineEpilogueBegin:
		m.row.Flags |= EpilogueBegin
	default:
		for range m.lengths[op-1] {
			c.skipLeb()
		}
	}
}

// extended executes an opcode that says how long it is, so that unknown ones can be passed over.
func (m *lineMachine) extended(c *cursor) {
	body := c.part(c.uleb())
	switch body.u8() {
	case lineEndSequence:
		m.row.Flags |= EndSequence
		m.add()
		m.reset()
	case lineSetAddress:
		m.row.Addr = body.addr()
	case lineDefineFile:
		m.files = append(m.files, lineFile{body.text(), body.uleb()})
	case lineSetDiscriminator:
		m.row.Discriminator = uint32(body.uleb())
	}
}
