package riscv

import "testing"

// TestCSRs: every name and number is there once, and those at the ends of the table's ranges are where the manual has them.
func TestCSRs(t *testing.T) {
	names, numbers := make(map[string]uint16), make(map[uint16]bool)
	for number, name := range CSRs {
		if _, twice := names[name]; twice || numbers[number] {
			t.Errorf("%#x %s is there twice", number, name)
		}
		names[name], numbers[number] = number, true
	}
	for name, want := range map[string]uint16{
		"fflags": 0x001, "scounteren": 0x106, "sireg6": 0x157, "sctrdepth": 0x15f, "satp": 0x180, "vsireg4": 0x255, "mstatus": 0x300,
		"menvcfg": 0x30a, "mieh": 0x314, "mstateen3h": 0x31f, "mhpmevent31": 0x33f, "mtval": 0x343, "miph": 0x354, "mireg6": 0x357,
		"pmpcfg15": 0x3af, "pmpaddr63": 0x3ef, "henvcfg": 0x60a, "htimedeltah": 0x615, "hviprio2h": 0x657, "mhpmevent31h": 0x73f,
		"mnstatus": 0x744, "tcontrol": 0x7a5, "mscontext": 0x7aa, "dscratch1": 0x7b3, "mhpmcounter31": 0xb1f, "hpmcounter31": 0xc1f,
		"vlenb": 0xc22, "hpmcounter31h": 0xc9f, "mhartid": 0xf14, "mconfigptr": 0xf15,
	} {
		if got, ok := names[name]; !ok || got != want {
			t.Errorf("%s is %#x, %v, want %#x", name, got, ok, want)
		}
	}
}
