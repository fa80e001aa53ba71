package tdesc

// predefined are the types that every description can use without defining them, see also manualOnly. The pointers get their
// size from the architecture.
var predefined = map[string]*shape{
	"bool":        {kind: kindBool, size: 1},
	"int8":        {kind: kindSigned, size: 1},
	"int16":       {kind: kindSigned, size: 2},
	"int32":       {kind: kindSigned, size: 4},
	"int64":       {kind: kindSigned, size: 8},
	"int128":      {kind: kindSigned, size: 16},
	"uint8":       {kind: kindUnsigned, size: 1},
	"uint16":      {kind: kindUnsigned, size: 2},
	"uint32":      {kind: kindUnsigned, size: 4},
	"uint64":      {kind: kindUnsigned, size: 8},
	"uint128":     {kind: kindUnsigned, size: 16},
	"code_ptr":    {kind: kindPointer},
	"data_ptr":    {kind: kindPointer},
	"ieee_half":   {kind: kindFloat, size: 2, float: &ieeeHalf},
	"ieee_single": {kind: kindFloat, size: 4, float: &ieeeSingle},
	"ieee_double": {kind: kindFloat, size: 8, float: &ieeeDouble},
	"arm_fpa_ext": {kind: kindFloat, size: 12, float: &armFPAExt},
	"i387_ext":    {kind: kindFloat, size: 10, float: &i387Ext},
	"bfloat16":    {kind: kindFloat, size: 2, float: &bfloat16},
	"int24":       {kind: kindSigned, size: 3},
	"uint24":      {kind: kindUnsigned, size: 3},
	"i386_eflags": predefinedFlags("CF", "", "PF", "", "AF", "", "ZF", "SF", "TF", "IF", "DF", "OF", "", "", "NT", "",
		"RF", "VM", "AC", "VIF", "VIP", "ID"),
	"i386_mxcsr": predefinedFlags("IE", "DE", "ZE", "OE", "UE", "PE", "DAZ", "IM", "DM", "ZM", "OM", "UM", "PM", "", "", "FZ"),
}

// manualOnly are the predefined types that GDB's manual lists and GDB 13 does not know.
var manualOnly = map[string]bool{"int24": true, "uint24": true, "i386_eflags": true, "i386_mxcsr": true}

// predefinedFlags makes the shape of a 32-bit register whose bits have these names, from bit 0 on.
func predefinedFlags(names ...string) *shape {
	s := &shape{kind: kindFlags, size: 4}
	for i, name := range names {
		if name != "" {
			bit := member{name: name, shape: &shape{kind: kindBool, size: 1}, bits: true, start: i, end: i}
			s.members = append(s.members, bit)
		}
	}
	return s
}

// model is what the sizes of an architecture's C types are, as far as registers depend on them.
type model struct {
	pointer    int    // bytes
	long       int    // bytes
	longDouble *shape // what float means at its size
}

var (
	x87LongDouble  = &shape{kind: kindFloat, size: 16, float: &i387Ext}
	x86LongDouble  = &shape{kind: kindFloat, size: 12, float: &i387Ext}
	ieeeLongDouble = &shape{kind: kindFloat, size: 16, float: &ieeeQuad}
)

// models has the architectures whose sizes do not follow from the description itself.
var models = map[string]model{
	"i386:x86-64":       {8, 8, x87LongDouble},
	"i386:x86-64:intel": {8, 8, x87LongDouble},
	"i386:x64-32":       {4, 4, x87LongDouble},
	"i386:x64-32:intel": {4, 4, x87LongDouble},
	"i386":              {4, 4, x86LongDouble},
	"i386:intel":        {4, 4, x86LongDouble},
	"i8086":             {4, 4, x86LongDouble},
}

// modelOf finds the sizes for a description. Where the architecture is not in the table, the bitsize of the first pointer
// register tells the size of a pointer, and a long is as wide but at least 32 bits; without one
// both have 64 bits.
func modelOf(t *Target) model {
	if m, ok := models[t.Architecture]; ok {
		return m
	}
	size := 8
	for _, r := range t.Registers() {
		if (r.Type == "code_ptr" || r.Type == "data_ptr") && (r.Bits == 16 || r.Bits == 32 || r.Bits == 64) {
			size = r.Bits / 8
			break
		}
	}
	return model{pointer: size, long: max(size, 4), longDouble: ieeeLongDouble}
}
