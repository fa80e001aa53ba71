package machine

import "tracewell/tdesc"

// RISCV is a RISC-V machine, by the letters of its instruction set.
type RISCV struct {
	Bits   int    // of an integer register: 32 or 64
	E      bool   // half the integer registers
	Float  int    // bits of a floating-point register: 0, 32 (F) or 64 (D)
	Vector int    // bits of a vector register (V), a multiple of 128; 0 for none
	OSABI  string // "GNU/Linux", or "" for a machine with no system below the stub
}

// Target makes the description.
func (m RISCV) Target() *tdesc.Target {
	architecture := "riscv:rv64"
	if m.Bits == 32 {
		architecture = "riscv:rv32"
	}
	return describe(architecture, m.OSABI, []part{
		{true, riscvCPU(m.Bits, m.E)},
		{m.Float != 0, riscvFPU(m.Float, m.OSABI != "")},
		{m.Vector != 0, riscvVector(m.Vector)},
	})
}

// riscvPCAt is the number of the pc, also where half of the registers before it are not there.
const riscvPCAt = 32

// riscvCPU names the registers as the calling convention does, which GDB takes as well as x0 to x31.
func riscvCPU(width int, embedded bool) feature {
	registers := []run{
		{names: list("zero"), bits: width, typ: "int"},
		{names: list("ra"), bits: width, typ: "code_ptr"},
		{names: list("sp", "gp", "tp"), bits: width, typ: "data_ptr"},
		{names: numbered("t", 0, 2, ""), bits: width, typ: "int"},
		{names: list("fp"), bits: width, typ: "data_ptr"},
		{names: list("s1"), bits: width, typ: "int"},
		{names: numbered("a", 0, 5, ""), bits: width, typ: "int"},
		{names: list("a6", "a7"), bits: width, typ: "int"},
		{names: numbered("s", 2, 11, ""), bits: width, typ: "int"},
		{names: numbered("t", 3, 6, ""), bits: width, typ: "int"},
	}
	if embedded {
		registers = registers[:7]
	}
	return feature{
		name:      "org.gnu.gdb.riscv.cpu",
		registers: append(registers, run{names: list("pc"), bits: width, typ: "code_ptr", at: riscvPCAt}),
	}
}

// riscvFPU leaves a number free before the status registers, as GDB's own numbers do. A system has the whole status alone, of which
// GDB makes the other two.
func riscvFPU(width int, whole bool) feature {
	f := feature{name: "org.gnu.gdb.riscv.fpu"}
	typ := "ieee_single"
	if width == 64 {
		typ = "riscv_double"
		f.types = []tdesc.Type{tdesc.Union{ID: typ, Fields: []tdesc.Field{
			{Name: "float", Type: "ieee_single"}, {Name: "double", Type: "ieee_double"},
		}}}
	}
	for _, names := range [][]string{
		numbered("ft", 0, 7, ""), list("fs0", "fs1"), numbered("fa", 0, 7, ""), numbered("fs", 2, 11, ""),
		numbered("ft", 8, 11, ""),
	} {
		f.registers = append(f.registers, run{names: names, bits: width, typ: typ})
	}
	f.registers[0].at = riscvPCAt + 1
	status := run{names: list("fflags", "frm", "fcsr"), bits: 32, typ: "int", at: 66}
	if whole {
		status.names, status.at = status.names[2:], status.at+2
	}
	f.registers = append(f.registers, status)
	return f
}

func riscvVector(width int) feature {
	return feature{
		name: "org.gnu.gdb.riscv.vector",
		types: views("riscv_vector", []view{
			{"q", "quads", "uint128", width / 128},
			{"l", "longs", "uint64", width / 64},
			{"w", "words", "uint32", width / 32},
			{"s", "shorts", "uint16", width / 16},
			{"b", "bytes", "uint8", width / 8},
		}),
		registers: []run{{names: numbered("v", 0, 31, ""), bits: width, typ: "riscv_vector", group: "vector"}},
	}
}

// unsignedType is the predefined type of an unsigned number of so many bits.
func unsignedType(width int) string {
	if width == 32 {
		return "uint32"
	}
	return "uint64"
}
