package riscv

import (
	"strconv"
	"strings"
)

// csrNames lists the registers of control and status from each number on, by The RISC-V Instruction Set Manual and the extensions
// that have been ratified. r1..3h stands for r1h, r2h and r3h, and _ leaves a number out.
var csrNames = map[uint16]string{
	0x001: "fflags frm fcsr",
	0x008: "vstart vxsat vxrm",
	0x00f: "vcsr",
	0x011: "ssp",
	0x015: "seed",
	0x017: "jvt",
	0x100: "sstatus _ sedeleg sideleg sie stvec scounteren",
	0x10a: "senvcfg",
	0x10c: "sstateen0..3",
	0x120: "scountinhibit",
	0x140: "sscratch sepc scause stval sip",
	0x14d: "stimecmp sctrctl sctrstatus siselect sireg sireg2..3 _ sireg4..6",
	0x15c: "stopei stimecmph _ sctrdepth",
	0x180: "satp srmcfg",
	0x200: "vsstatus",
	0x204: "vsie vstvec",
	0x240: "vsscratch vsepc vscause vstval vsip",
	0x24d: "vstimecmp vsctrctl _ vsiselect vsireg vsireg2..3 _ vsireg4..6",
	0x25c: "vstopei vstimecmph",
	0x280: "vsatp",
	0x300: "mstatus misa medeleg mideleg mie mtvec mcounteren _ mvien mvip menvcfg",
	0x30c: "mstateen0..3",
	0x310: "mstatush _ medelegh midelegh mieh",
	0x318: "mvienh mviph menvcfgh",
	0x31c: "mstateen0..3h",
	0x320: "mcountinhibit",
	0x323: "mhpmevent3..31",
	0x340: "mscratch mepc mcause mtval mip",
	0x34a: "mtinst mtval2",
	0x34e: "mctrctl _ miselect mireg mireg2..3 miph mireg4..6",
	0x35c: "mtopei",
	0x3a0: "pmpcfg0..15 pmpaddr0..63",
	0x5a8: "scontext",
	0x600: "hstatus _ hedeleg hideleg hie htimedelta hcounteren hgeie hvien hvictl henvcfg",
	0x60c: "hstateen0..3 _ _ hedelegh hidelegh _ htimedeltah",
	0x618: "hvienh _ henvcfgh",
	0x61c: "hstateen0..3h",
	0x643: "htval hip hvip hviprio1..2",
	0x64a: "htinst",
	0x655: "hviph hviprio1..2h",
	0x680: "hgatp",
	0x6a8: "hcontext",
	0x723: "mhpmevent3..31h mnscratch mnepc mncause _ mnstatus",
	0x747: "mseccfg",
	0x757: "mseccfgh",
	0x7a0: "tselect tdata1..3 tinfo tcontrol",
	0x7a8: "mcontext _ mscontext",
	0x7b0: "dcsr dpc dscratch0..1",
	0xb00: "mcycle _ minstret mhpmcounter3..31",
	0xb80: "mcycleh _ minstreth mhpmcounter3..31h",
	0xc00: "cycle time instret hpmcounter3..31 vl vtype vlenb",
	0xc80: "cycleh timeh instreth hpmcounter3..31h",
	0xda0: "scountovf",
	0xdb0: "stopi",
	0xe12: "hgeip",
	0xeb0: "vstopi",
	0xf11: "mvendorid marchid mimpid mhartid mconfigptr",
	0xfb0: "mtopi",
}

// CSRs yields the registers of control and status that there are, by number and name.
func CSRs(yield func(number uint16, name string) bool) {
	for number, words := range csrNames {
		for word := range strings.FieldsSeq(words) {
			from, to, several := strings.Cut(word, "..")
			if !several {
				if word != "_" && !yield(number, word) {
					return
				}
				number++
				continue
			}
			name := strings.TrimRight(from, "0123456789")
			letter := strings.TrimLeft(to, "0123456789")
			first, _ := strconv.Atoi(from[len(name):])
			last, _ := strconv.Atoi(to[:len(to)-len(letter)])
			for ; first <= last; first++ {
				if !yield(number, name+strconv.Itoa(first)+letter) {
					return
				}
				number++
			}
		}
	}
}
