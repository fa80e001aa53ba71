package debuginfo

import "debug/dwarf"

// form says how an attribute is written.
type form uint16

const (
	formAddr       form = 0x01
	formBlock2     form = 0x03
	formBlock4     form = 0x04
	formData2      form = 0x05
	formData4      form = 0x06
	formData8      form = 0x07
	formString     form = 0x08
	formBlock      form = 0x09
	formBlock1     form = 0x0a
	formData1      form = 0x0b
	formFlag       form = 0x0c
	formSdata      form = 0x0d
	formStrp       form = 0x0e
	formUdata      form = 0x0f
	formRefAddr    form = 0x10
	formRef1       form = 0x11
	formRef2       form = 0x12
	formRef4       form = 0x13
	formRef8       form = 0x14
	formRefUdata   form = 0x15
	formIndirect   form = 0x16
	formSecOffset  form = 0x17
	formExprloc    form = 0x18
	formPresent    form = 0x19
	formStrx       form = 0x1a
	formAddrx      form = 0x1b
	formRefSup4    form = 0x1c
	formStrpSup    form = 0x1d
	formData16     form = 0x1e
	formLineStrp   form = 0x1f
	formRefSig8    form = 0x20
	formImplicit   form = 0x21
	formLoclistx   form = 0x22
	formRnglistx   form = 0x23
	formRefSup8    form = 0x24
	formStrx1      form = 0x25
	formStrx2      form = 0x26
	formStrx3      form = 0x27
	formStrx4      form = 0x28
	formAddrx1     form = 0x29
	formAddrx2     form = 0x2a
	formAddrx3     form = 0x2b
	formAddrx4     form = 0x2c
	formGNUAddrx   form = 0x1f01
	formGNUStrx    form = 0x1f02
	formGNURefAlt  form = 0x1f20
	formGNUStrpAlt form = 0x1f21
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

// shapes has every form that there is; those beyond 0x2c are in extensions.
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

var extensions = map[form]shape{
	formGNUAddrx: {sizeLeb, ClassAddress}, formGNUStrx: {sizeLeb, ClassString},
	formGNURefAlt: {sizeOffset, ClassReference}, formGNUStrpAlt: {sizeOffset, ClassString},
}

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

// size is the number of bytes of a form, negative where that depends on them.
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

// skipForm steps over an attribute.
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
