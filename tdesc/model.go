package tdesc

import (
	"cmp"

	"tracewell/arch"
)

// model is what an architecture's C types are, as far as registers depend on them.
type model struct {
	pointer      int    // bytes
	long         int    // bytes
	longDouble   *shape // what type float means at its size
	unsignedChar bool
}

const linuxABI = "GNU/Linux"

// OnLinux reports whether the description says that its target runs Linux.
func (t *Target) OnLinux() bool { return t.OSABI == linuxABI }

// longDoubles are the formats of long double; a register of type float has one if it is as wide.
var longDoubles = map[arch.LongDouble]*shape{
	arch.LongDoubleQuad:     {kind: kindFloat, size: 16, float: &ieeeQuad},
	arch.LongDoublePlain:    predefined["ieee_double"],
	arch.LongDoublePadded:   {kind: kindFloat, size: 16, float: &ieeeDouble},
	arch.LongDoublePair:     {kind: kindFloat, size: 16, float: &ibmPair},
	arch.LongDoubleX87:      {kind: kindFloat, size: 16, float: &i387Ext},
	arch.LongDoubleX87Short: {kind: kindFloat, size: 12, float: &i387Ext},
	arch.LongDoubleM68k:     {kind: kindFloat, size: 12, float: &m68881Ext},
}

// Machine is the row of arch's table that the description belongs to: by its architecture or, where it names none, by its
// standard features. GDB has then to be told the architecture. It is arch.Unknown where nothing tells.
func (t *Target) Machine() *arch.Machine {
	if t.Architecture != "" {
		return cmp.Or(arch.ByArchitecture(t.Architecture), arch.Unknown)
	}
	for _, f := range t.Features {
		if m := arch.ByFeature(f.Name); m != nil {
			return m
		}
	}
	return arch.Unknown
}

// modelOf finds the sizes for a description. Where the table has no types of C for its machine, the bitsize of the first
// pointer register tells the size of a pointer, and a long is as wide but at least 32 bits; without one both have 64 bits.
// One thing is not followed: without a program GDB takes the words of a double on arm in the order of the FPA, where type
// float asks for one.
func modelOf(t *Target) model {
	if c := t.Machine().CTypes(t.OnLinux()); c.Pointer != 0 {
		return model{c.Pointer, c.Long, longDoubles[c.LongDouble], c.UnsignedChar}
	}
	size := 8
	for _, r := range t.Registers() {
		if (r.Type == "code_ptr" || r.Type == "data_ptr") && (r.Bits == 16 || r.Bits == 32 || r.Bits == 64) {
			size = r.Bits / 8
			break
		}
	}
	return model{pointer: size, long: max(size, 4), longDouble: longDoubles[arch.LongDoubleQuad]}
}
