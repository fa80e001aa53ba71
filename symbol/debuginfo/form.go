package debuginfo

import "debug/dwarf"

// form says how an attribute is written.
type form uint16

// The forms (DW_FORM_*; DWARF 5, 7.5.6). What older versions call by another class is in Value.Class.
const (
	formAddr       form = 0x01 // an address
	formBlock2     form = 0x03 // a length of 2 bytes, then as many bytes
	formBlock4     form = 0x04 // a length of 4 bytes
	formData2      form = 0x05
	formData4      form = 0x06
	formData8      form = 0x07
	formString     form = 0x08 // the text itself, up to a zero byte
	formBlock      form = 0x09 // a length in ULEB128
	formBlock1     form = 0x0a // a length of 1 byte; the expressions of DWARF 2 and 3
	formData1      form = 0x0b
	formFlag       form = 0x0c // 1 byte
	formSdata      form = 0x0d // SLEB128
	formStrp       form = 0x0e // an offset into .debug_str
	formUdata      form = 0x0f // ULEB128
	formRefAddr    form = 0x10 // an offset into .debug_info, of any unit
	formRef1       form = 0x11 // formRef1 to formRefUdata: an offset from the start of the unit
	formRef2       form = 0x12
	formRef4       form = 0x13
	formRef8       form = 0x14
	formRefUdata   form = 0x15
	formIndirect   form = 0x16 // the form itself, in ULEB128, is in the DIE
	formSecOffset  form = 0x17 // since DWARF 4; data4 and data8 before
	formExprloc    form = 0x18 // since DWARF 4; blocks before
	formPresent    form = 0x19 // DW_FORM_flag_present: true, in no byte
	formStrx       form = 0x1a // formStrx to formData16: since DWARF 5; an entry of .debug_str_offsets
	formAddrx      form = 0x1b // an entry of .debug_addr
	formRefSup4    form = 0x1c // in the supplementary file
	formStrpSup    form = 0x1d // in the supplementary file
	formData16     form = 0x1e // a block here: an MD5 sum, or a constant wider than any integer
	formLineStrp   form = 0x1f // an offset into .debug_line_str
	formRefSig8    form = 0x20 // the signature of a type unit
	formImplicit   form = 0x21 // the value is in the abbreviation declaration
	formLoclistx   form = 0x22 // an entry of the table that .debug_loclists begins with
	formRnglistx   form = 0x23 // the same of .debug_rnglists
	formRefSup8    form = 0x24 // in the supplementary file
	formStrx1      form = 0x25 // 1 to 4 bytes in place of ULEB128; Clang 14 writes strx1
	formStrx2      form = 0x26
	formStrx3      form = 0x27
	formStrx4      form = 0x28
	formAddrx1     form = 0x29
	formAddrx2     form = 0x2a
	formAddrx3     form = 0x2b
	formAddrx4     form = 0x2c
	formGNUAddrx   form = 0x1f01 // GNU: split DWARF 4
	formGNUStrx    form = 0x1f02 // GNU: split DWARF 4
	formGNURefAlt  form = 0x1f20 // GNU: dwz, in the file of .gnu_debugaltlink
	formGNUStrpAlt form = 0x1f21 // GNU: dwz
)

// shape is what a form means to whoever steps over it: how many bytes it takes, and how those are found.
type shape struct {
	size  int8 // bytes, or one of the kinds below
	class Class
}

// The sizes that depend: on the format of the unit, or on the bytes themselves.
const (
	sizeOffset  = -iota - 1 // 4 or 8, by the format of the unit
	sizeAddr                // of an address
	sizeRefAddr             // of an offset; of an address in DWARF 2
	sizeLeb                 // until a byte below 0x80
	sizeText                // until a zero byte
	sizeBlock               // a LEB128 and as many bytes
	sizeBlock1
	sizeBlock2
	sizeBlock4
	sizeIndirect
	sizeUnknown
)

// shapes has every form of the standard by its number; those of GNU are in extensions. One that is unknown ends the unit: nothing
// says how long it is.
var shapes = [...]shape{
	formAddr: {sizeAddr, ClassAddress}, formBlock2: {sizeBlock2, ClassBlock}, formBlock4: {sizeBlock4, ClassBlock},
	formData2: {2, ClassConstant}, formData4: {4, ClassConstant}, formData8: {8, ClassConstant},
	formString: {sizeText, ClassString}, formBlock: {sizeBlock, ClassBlock}, formBlock1: {sizeBlock1, ClassBlock},
	formData1: {1, ClassConstant}, formFlag: {1, ClassFlag}, formSdata: {sizeLeb, ClassSigned},
	formStrp: {sizeOffset, ClassString}, formUdata: {sizeLeb, ClassUnsigned}, formRefAddr: {sizeRefAddr, ClassReference},
	formRef1: {1, ClassReference}, formRef2: {2, ClassReference}, formRef4: {4, ClassReference}, formRef8: {8, ClassReference},
	formRefUdata: {sizeLeb, ClassReference}, formIndirect: {sizeIndirect, 0}, formSecOffset: {sizeOffset, ClassSection},
	formExprloc: {sizeBlock, ClassExpr}, formPresent: {0, ClassFlag}, formStrx: {sizeLeb, ClassString},
	formAddrx: {sizeLeb, ClassAddress}, formRefSup4: {4, ClassReference}, formStrpSup: {sizeOffset, ClassString},
	formData16: {16, ClassBlock}, formLineStrp: {sizeOffset, ClassString}, formRefSig8: {8, ClassReference},
	formImplicit: {0, ClassSigned}, formLoclistx: {sizeLeb, ClassListIndex}, formRnglistx: {sizeLeb, ClassListIndex},
	formRefSup8: {8, ClassReference}, formStrx1: {1, ClassString}, formStrx2: {2, ClassString}, formStrx3: {3, ClassString},
	formStrx4: {4, ClassString}, formAddrx1: {1, ClassAddress}, formAddrx2: {2, ClassAddress}, formAddrx3: {3, ClassAddress},
	formAddrx4: {4, ClassAddress},
}

// extensions are the forms of GNU, whose numbers begin at 0x1f01.
var extensions = map[form]shape{
	formGNUAddrx: {sizeLeb, ClassAddress}, formGNUStrx: {sizeLeb, ClassString},
	formGNURefAlt: {sizeOffset, ClassReference}, formGNUStrpAlt: {sizeOffset, ClassString},
}

// shape is that of a form, with sizeUnknown for what is none.
func (f form) shape() shape {
	if int(f) < len(shapes) && shapes[f].class != 0 || f == formIndirect {
		return shapes[f]
	}
	if s, ok := extensions[f]; ok {
		return s
	}
	return shape{sizeUnknown, 0}
}

// format is what the sizes of forms depend on.
type format struct {
	version  uint16
	addrSize uint8
	dwarf64  bool
}

func (f format) offsetSize() int {
	if f.dwarf64 {
		return 8
	}
	return 4
}

// size is the number of bytes of a form in a unit of the format, still negative where the bytes themselves decide. DW_FORM_ref_addr
// had the size of an address in DWARF 2 (7.5.4 there), and has that of an offset since DWARF 3.
func (f format) size(s int8) int {
	switch s {
	case sizeOffset:
		return f.offsetSize()
	case sizeAddr:
		return int(f.addrSize)
	case sizeRefAddr:
		if f.version <= 2 {
			return int(f.addrSize)
		}
		return f.offsetSize()
	}
	return int(s)
}

// skipForm steps over an attribute without resolving it. It must agree with Unit.value on every form: a byte too many or too few
// loses the rest of the unit.
func (f format) skipForm(c *cursor, how form) {
	size := f.size(how.shape().size)
	switch size {
	case sizeLeb:
		c.skipLeb()
	case sizeText:
		c.text()
	case sizeBlock:
		c.skip(c.uleb())
	case sizeBlock1:
		c.skip(uint64(c.u8()))
	case sizeBlock2:
		c.skip(uint64(c.u16()))
	case sizeBlock4:
		c.skip(uint64(c.u32()))
	case sizeIndirect:
		if next := form(c.uleb()); next != formIndirect && next != formImplicit {
			f.skipForm(c, next)
			return
		}
		c.fail()
	case sizeUnknown:
		c.fail()
	default:
		c.skip(uint64(size))
	}
}

// attrSpec is one attribute in the plan of a DIE.
type attrSpec struct {
	attr     dwarf.Attr
	form     form
	implicit int64 // the value, of formImplicit
}
