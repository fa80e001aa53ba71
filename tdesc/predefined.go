package tdesc

// predefined are the types that every description can use without defining them. The list is that of GDB 13, which lacks
// the int24, uint24, i386_eflags and i386_mxcsr of the manual. The pointers get their size from the architecture.
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
}
