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
	"ieee_half":   {kind: kindFloat, name: "ieee_half", size: 2, float: &ieeeHalf},
	"ieee_single": {kind: kindFloat, name: "ieee_single", size: 4, float: &ieeeSingle},
	"ieee_double": {kind: kindFloat, name: "ieee_double", size: 8, float: &ieeeDouble},
	"arm_fpa_ext": {kind: kindFloat, name: "arm_fpa_ext", size: 12, float: &armFPAExt},
	"i387_ext":    {kind: kindFloat, name: "i387_ext", size: 10, float: &i387Ext},
	"bfloat16":    {kind: kindFloat, name: "bfloat16", size: 2, float: &bfloat16},
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
