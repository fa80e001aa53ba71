// Package rvfi is the execution packets of RVFI-DII, which TestRIG compares RISC-V processors and models by: the signals of the
// RISC-V Formal Interface at an instruction, version 1 of them. A trace is packets of 88 bytes and nothing else, without a
// beginning or an end. Numbers are little-endian:
//
//	 0  order      8 bytes   the number of the instruction
//	 8  pc_rdata   8         its address
//	16  pc_wdata   8         that of the next
//	24  insn       8         the opcode
//	32  rs1_data   8         what was read of the register rs1_addr, and of rs2_addr
//	40  rs2_data   8
//	48  rd_wdata   8         what was written to rd_addr
//	56  mem_addr   8
//	64  mem_rdata  8         bytes from mem_addr on, of which mem_rmask has a bit for each that was loaded, the lowest first
//	72  mem_wdata  8         and mem_wmask for each that was stored
//	80  mem_rmask, mem_wmask, rs1_addr, rs2_addr, rd_addr: a byte each
//	85  trap, halt, intr: a byte each, 0 or 1
//
// In messages and reports a packet is a line of words, in which those of zeros are left out:
//
//	order=7 pc_rdata=80000170 insn=0062a023 mem_addr=80001000 mem_wmask=0f mem_wdata=0000002a pc_wdata=80000174
//
// Numbers of instructions and registers are decimal there, and all others hexadecimal.
//
// A packet is an instruction and its effects. Each run of bits in a mask is an access, so that it does not matter whether mem_addr
// is aligned as on a bus. rd_addr 0 is no write. What rs1_addr and rs2_addr say is arbitrary for instructions that read no
// register: a read is a record if the opcode has it, too, and then reads are told. A load or store with masks of zero does not tell
// its access, and instructions that write registers of floating point or vectors do not tell these writes. With trap an instruction
// is trapped. intr, at the first instruction of a handler, is an interrupt ahead of it, unless the instruction before has trapped.
// A packet that has halt and no opcode answers the command to reset, and is an event; of an instruction with halt the event comes
// behind it. Modes and registers of control and status are not told.
//
// There is no magic number. A trace is taken for one by its first packets: what a byte of theirs can be, that numbers rise by one,
// and that each pc_wdata is the next pc_rdata. Packets are missing where the number rises by more and the addresses do not follow
// each other. A packet that cannot be one is told with its bytes; if the next is none either, packets begin again where two follow
// each other. Of a packet that is cut at the end the bytes are told.
//
// What is written has accesses with mem_addr at their first byte, numbers that count from 0 where the trace has none, and for
// pc_wdata the address of the next instruction; that behind the instruction at the end, ahead of an interrupt and where
// instructions are missing.
//
// No packet of these tests is from a run here: the layout is that of TestRIG's specification, and the tests put packets together by
// it.
package rvfi

import (
	"encoding/binary"

	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
)

// Dialect is the dialect of RVFI-DII.
var Dialect = &itrace.Dialect{
	Name:      "rvfi",
	Title:     "RVFI-DII's execution packets",
	Suffixes:  []string{".rvfi"},
	New:       func(itrace.Settings) itrace.Decoder { return &decoder{} },
	Binary:    &itrace.Binary{Is: is, Quoted: quoted},
	Why:       func([]byte) string { return "packets of 88 bytes whose numbers and addresses follow each other" },
	NewWriter: func() itrace.Writer { return &writer{} },
	Groups:    true,
	Writes:    writes,
}

const size = 88 // bytes of a packet

// packet is one, by its fields.
type packet struct {
	order, pc, next, insn, rs1, rs2, rd, addr, loaded, stored uint64
	rmask, wmask, rs1Addr, rs2Addr, rdAddr, trap, halt, intr  uint8
}

// wide and narrow are pointers to the fields, in the order of the packet.
func (p *packet) wide() [10]*uint64 {
	return [...]*uint64{&p.order, &p.pc, &p.next, &p.insn, &p.rs1, &p.rs2, &p.rd, &p.addr, &p.loaded, &p.stored}
}

func (p *packet) narrow() [8]*uint8 {
	return [...]*uint8{&p.rmask, &p.wmask, &p.rs1Addr, &p.rs2Addr, &p.rdAddr, &p.trap, &p.halt, &p.intr}
}

// parse reads a packet.
func (p *packet) parse(b []byte) {
	_ = b[size-1]
	le := binary.LittleEndian
	*p = packet{
		order: le.Uint64(b), pc: le.Uint64(b[8:]), next: le.Uint64(b[16:]), insn: le.Uint64(b[24:]),
		rs1: le.Uint64(b[32:]), rs2: le.Uint64(b[40:]), rd: le.Uint64(b[48:]),
		addr: le.Uint64(b[56:]), loaded: le.Uint64(b[64:]), stored: le.Uint64(b[72:]),
		rmask: b[80], wmask: b[81], rs1Addr: b[82], rs2Addr: b[83], rdAddr: b[84], trap: b[85], halt: b[86], intr: b[87],
	}
}

// append appends the bytes of the packet.
func (p *packet) append(dst []byte) []byte {
	for _, field := range p.wide() {
		dst = binary.LittleEndian.AppendUint64(dst, *field)
	}
	for _, field := range p.narrow() {
		dst = append(dst, *field)
	}
	return dst
}

const (
	registers = 32
	flags     = 2       // values of one
	opcodes   = 1 << 32 // behind the highest
)

// valid reports whether bytes can be a packet.
func (p *packet) valid() bool {
	return max(p.rs1Addr, p.rs2Addr, p.rdAddr) < registers && max(p.trap, p.halt, p.intr) < flags && p.insn < opcodes
}

// resets reports whether the packet is the answer to a command.
func (p *packet) resets() bool { return p.halt != 0 && p.insn == 0 }

// follows reports whether a packet is the next of the trace.
func (p *packet) follows(before *packet) bool {
	return before.resets() || p.resets() || p.order == before.order+1 || p.order == before.order || p.pc == before.next
}

// is reports whether a trace begins with packets: the first is none of other data, and most of some others follow each other.
func is(head []byte) bool {
	const (
		most   = 8       // packets looked at
		orders = 1 << 48 // behind the highest: other data has letters there
	)
	n := min(len(head)/size, most)
	var before, p packet
	following := 0
	for i := range n {
		p.parse(head[i*size:])
		switch ok := p.valid() && p.order < orders && p.pc&1 == 0 && (p.insn != 0 || p.halt != 0); {
		case i == 0 && !ok:
			return false
		case i > 0 && ok && p.follows(&before):
			following++
		}
		before = p
	}
	return n > 0 && 2*following >= n-1
}

// untold is what a packet does not tell of its instruction.
func (p *packet) untold() (s itrace.Scope) {
	const vector = 0x57
	load, store := riscv.Accesses(p.insn)
	if load && p.rmask == 0 {
		s |= itrace.NoLoads | itrace.NoLoaded
	}
	if store && p.wmask == 0 {
		s |= itrace.NoStores | itrace.NoStored
	}
	if p.trap != 0 { // it has had none
		s = 0
	}
	if p.rdAddr == 0 && !riscv.IsCompressed(p.insn) {
		if class, _ := riscv.Destination(p.insn); class == 'f' || p.insn&0x7f == vector {
			s |= itrace.NoRegisters
		}
	}
	return s
}
