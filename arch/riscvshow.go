package arch

import (
	"fmt"
	"strings"
)

// riscvShow implements Machine.Show.
var riscvShow = map[string]func(v uint64, size int) string{
	"fflags":  func(v uint64, _ int) string { return showBits(riscvFlags, v, 0) },
	"frm":     func(v uint64, _ int) string { return riscvRounding(v) },
	"fcsr":    func(v uint64, _ int) string { return showBits(riscvFlags, v, 0) + " " + riscvRounding(v>>5) },
	"mstatus": func(v uint64, size int) string { return showBits(riscvStatus, v, size) },
	"misa":    riscvISA,
	"priv":    func(v uint64, _ int) string { return fmt.Sprintf("prv:%d [%s]", v&0xff, riscvPrivilege(v&0xff)) },
}

// shownBits is a field of a register as GDB names it, in so many hexadecimal digits. One that starts at -1 is the top bit.
type shownBits struct {
	name         string
	start, width int
	digits       int
}

var riscvFlags = []shownBits{{"NV", 4, 1, 1}, {"DZ", 3, 1, 1}, {"OF", 2, 1, 1}, {"UF", 1, 1, 1}, {"NX", 0, 1, 1}}

// riscvStatus is mstatus by version 1.9 of the privileged architecture, which GDB 13 has kept.
var riscvStatus = []shownBits{
	{"SD", -1, 1, 1}, {"VM", 24, 5, 2}, {"MXR", 19, 1, 1}, {"PUM", 18, 1, 1}, {"MPRV", 17, 1, 1}, {"XS", 15, 2, 1},
	{"FS", 13, 2, 1}, {"MPP", 11, 2, 1}, {"HPP", 9, 2, 1}, {"SPP", 8, 1, 1}, {"MPIE", 7, 1, 1}, {"HPIE", 6, 1, 1},
	{"SPIE", 5, 1, 1}, {"UPIE", 4, 1, 1}, {"MIE", 3, 1, 1}, {"HIE", 2, 1, 1}, {"SIE", 1, 1, 1}, {"UIE", 0, 1, 1},
}

func showBits(fields []shownBits, v uint64, size int) string {
	var parts []string
	for _, f := range fields {
		start := f.start
		if start < 0 {
			start = 8*size - 1
		}
		parts = append(parts, fmt.Sprintf("%s:%0*X", f.name, f.digits, v>>start&(1<<f.width-1)))
	}
	return strings.Join(parts, " ")
}

var riscvRoundings = [8]string{
	"RNE (round to nearest; ties to even)", "RTZ (Round towards zero)", "RDN (Round down towards -INF)",
	"RUP (Round up towards +INF)", "RMM (Round to nearest; ties to max magnitude)", "INVALID[5]", "INVALID[6]",
	"INVALID[7] (Dynamic rounding mode)",
}

func riscvRounding(v uint64) string { return fmt.Sprintf("FRM:%d [%s]", v&7, riscvRoundings[v&7]) }

// riscvISA is the width of a register, from the top two bits, and the letters of the extensions.
func riscvISA(v uint64, size int) string {
	letters := fmt.Sprintf("RV%d", 16<<(v>>(8*size-2)&3))
	for i := range 26 {
		if v>>i&1 != 0 {
			letters += string(rune('A' + i))
		}
	}
	return letters
}

func riscvPrivilege(v uint64) string {
	if levels := []string{"User/Application", "Supervisor", "Hypervisor", "Machine"}; v < uint64(len(levels)) {
		return levels[v]
	}
	return "INVALID"
}
