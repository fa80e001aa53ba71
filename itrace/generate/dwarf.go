package generate

import (
	"debug/dwarf"
	"encoding/binary"
	"path"
)

// The forms and operations of DWARF 4 that are used; debug/dwarf has no names for them.
const (
	formAddr     = 0x01
	formData1    = 0x0b
	formString   = 0x08
	formData4    = 0x06
	formRef4     = 0x13
	formExprloc  = 0x18
	formSecOff   = 0x17
	formFlagOnly = 0x19

	opAddr = 0x03
	opReg0 = 0x50

	encodingUnsigned     = 0x07
	encodingUnsignedChar = 0x08
)

// writer appends numbers of DWARF, big endian.
type writer []byte

func (w *writer) u8(v ...byte)      { *w = append(*w, v...) }
func (w *writer) u16(v uint16)      { *w = binary.BigEndian.AppendUint16(*w, v) }
func (w *writer) u32(v uint32)      { *w = binary.BigEndian.AppendUint32(*w, v) }
func (w *writer) uleb(v uint64)     { *w = binary.AppendUvarint(*w, v) } // the same encoding
func (w *writer) text(s string)     { *w = append(append(*w, s...), 0) }
func (w *writer) sized(body writer) { w.u32(uint32(len(body))); *w = append(*w, body...) }

func (w *writer) sleb(v int64) {
	for {
		b := byte(v & 0x7f)
		v >>= 7
		if v == 0 && b&0x40 == 0 || v == -1 && b&0x40 != 0 {
			w.u8(b)
			return
		}
		w.u8(b | 0x80)
	}
}

// abbreviation is the form of an entry.
type abbreviation struct {
	tag        dwarf.Tag
	children   byte
	attributes []uint64 // attribute and form, in turn
}

// The abbreviations, counted from 1.
const (
	unitEntry = iota + 1
	baseEntry
	arrayEntry
	rangeEntry
	variableEntry
	functionEntry
	plainFunctionEntry
	parameterEntry
)

var abbreviations = []abbreviation{
	{dwarf.TagCompileUnit, 1, attributes(dwarf.AttrName, formString, dwarf.AttrLanguage, formData1, dwarf.AttrLowpc, formAddr,
		dwarf.AttrHighpc, formData4, dwarf.AttrStmtList, formSecOff, dwarf.AttrCompDir, formString)},
	{dwarf.TagBaseType, 0, attributes(dwarf.AttrName, formString, dwarf.AttrByteSize, formData1, dwarf.AttrEncoding, formData1)},
	{dwarf.TagArrayType, 1, attributes(dwarf.AttrType, formRef4)},
	{dwarf.TagSubrangeType, 0, attributes(dwarf.AttrUpperBound, formData1)},
	{dwarf.TagVariable, 0, attributes(dwarf.AttrName, formString, dwarf.AttrType, formRef4, dwarf.AttrDeclLine, formData1,
		dwarf.AttrLocation, formExprloc, dwarf.AttrExternal, formFlagOnly)},
	{dwarf.TagSubprogram, 1, attributes(dwarf.AttrName, formString, dwarf.AttrDeclLine, formData1, dwarf.AttrLowpc, formAddr,
		dwarf.AttrHighpc, formData4, dwarf.AttrType, formRef4, dwarf.AttrExternal, formFlagOnly)},
	{dwarf.TagSubprogram, 0, attributes(dwarf.AttrName, formString, dwarf.AttrDeclLine, formData1, dwarf.AttrLowpc, formAddr,
		dwarf.AttrHighpc, formData4, dwarf.AttrExternal, formFlagOnly)},
	{dwarf.TagFormalParameter, 0, attributes(dwarf.AttrName, formString, dwarf.AttrType, formRef4, dwarf.AttrLocation, formExprloc)},
}

func attributes(list ...any) (flat []uint64) {
	for _, v := range list {
		switch v := v.(type) {
		case dwarf.Attr:
			flat = append(flat, uint64(v))
		case int:
			flat = append(flat, uint64(v))
		}
	}
	return flat
}

// debugSections makes the debugging information.
func debugSections(source string) []section {
	return []section{
		{name: ".debug_abbrev", content: debugAbbrev()},
		{name: ".debug_info", content: debugUnit(source)},
		{name: ".debug_line", content: debugLine(source)},
		{name: ".debug_frame", content: debugFrame()},
	}
}

func debugAbbrev() []byte {
	var w writer
	for i, a := range abbreviations {
		w.uleb(uint64(i + 1))
		w.uleb(uint64(a.tag))
		w.u8(a.children)
		for _, v := range append(a.attributes, 0, 0) {
			w.uleb(v)
		}
	}
	w.u8(0)
	return w
}

// debugUnit makes .debug_info: one unit with types, variables and functions.
func debugUnit(source string) []byte {
	var w writer // behind the length
	w.u16(4)
	w.u32(0)
	w.u8(4)
	entry4 := func(number uint64) uint32 {
		at := uint32(len(w) + 4)
		w.uleb(number)
		return at
	}
	entry4(unitEntry)
	w.text(path.Base(source))
	w.u8(0x0c) // C99
	w.u32(entry)
	w.u32(4 * uint32(len(program)))
	w.u32(0)
	w.text(path.Dir(source))
	word := entry4(baseEntry)
	w.text("unsigned int")
	w.u8(4, encodingUnsigned)
	char := entry4(baseEntry)
	w.text("unsigned char")
	w.u8(1, encodingUnsignedChar)
	for _, v := range variables {
		typ := word
		if v.size == 1 {
			typ = char
		}
		if v.count > 0 {
			element := typ
			typ = entry4(arrayEntry)
			w.u32(element)
			entry4(rangeEntry)
			w.u8(byte(v.count-1), 0)
		}
		entry4(variableEntry)
		w.text(v.name)
		w.u32(typ)
		w.u8(byte(v.line), 5, opAddr)
		w.u32(v.addr)
	}
	for _, f := range functions() {
		number := uint64(plainFunctionEntry)
		if f.name == "mix" {
			number = functionEntry
		}
		entry4(number)
		w.text(f.name)
		w.u8(byte(f.line))
		w.u32(f.from)
		w.u32(f.to - f.from)
		if f.name == "mix" {
			w.u32(word)
			entry4(parameterEntry)
			w.text("seed")
			w.u32(word)
			w.u8(1, opReg0+a0, 0) // the end of the function's children
		}
	}
	w.u8(0)
	var out writer
	out.sized(w)
	return out
}

// debugLine makes the program of line numbers, by the plainest of its operations.
func debugLine(source string) []byte {
	var header writer
	header.u8(4, 1, 1, 0xff, 1, 10) // instructions of 4 bytes, one each, is_stmt; no special operations of use
	header.u8(0, 1, 1, 1, 1, 0, 0, 0, 1)
	header.u8(0)
	header.text(path.Base(source))
	header.u8(0, 0, 0, 0)
	var w writer
	w.u16(4)
	w.sized(header)
	w.u8(0, 5, 2) // the address
	w.u32(entry)
	line, at := 1, 0
	for i, l := range assembled.lines {
		if i > 0 && l == line {
			continue
		}
		w.u8(2) // advance the address, by instructions
		w.uleb(uint64(i - at))
		w.u8(3)
		w.sleb(int64(l - line))
		w.u8(1) // a row
		line, at = l, i
	}
	w.u8(2)
	w.uleb(uint64(len(program) - at))
	w.u8(0, 1, 1)
	var out writer
	out.sized(w)
	return out
}

// debugFrame says where callers are: of mix by its frame, and that start and the handler have none.
func debugFrame() []byte {
	var cie writer
	cie.u32(0xffffffff)
	cie.u8(4)
	cie.text("")
	cie.u8(4, 0)
	cie.uleb(4)         // of code
	cie.sleb(-4)        // of data
	cie.uleb(ra)        // where the return address is
	cie.u8(0x0c, sp, 0) // the frame begins at sp
	cie.u8(0, 0, 0)     // nothing
	var out writer
	out.sized(cie)
	for _, f := range functions() {
		var fde writer
		fde.u32(0)
		fde.u32(f.from)
		fde.u32(f.to - f.from)
		if f.name == "mix" {
			fde.u8(0x41, 0x0e, 8, 0x41, 0x80|ra, 1) // behind the first instruction 8 bytes, behind the second ra is saved at -4
			fde.u8(0x40|(mixLength-4), 0xc0|ra)     // ra is back behind the load
		} else {
			fde.u8(0x07, ra, 0)
		}
		for len(fde)%4 != 0 {
			fde.u8(0)
		}
		out.sized(fde)
	}
	return out
}
