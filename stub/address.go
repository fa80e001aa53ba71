package stub

import "tracewell/arch"

// GDB has addresses of 64 bits for every machine. Those of a machine with 32 are their lower half; on some
// (arch.Machine.SignedAddr) the upper half is the sign, as in the registers of their wider sisters. GDB 13 sends such an
// address whole in QTFrame, and expects it so in traceframe-info, but sends its lower half only in m. A frame may have either.

// plainAddress is an address without what GDB puts above it.
func (s *Server) plainAddress(addr arch.Addr) arch.Addr {
	if s.target.ISA().AddrSize == 4 {
		return addr & 0xffffffff
	}
	return addr
}

// signedAddress is a plain address as GDB has it.
func (s *Server) signedAddress(addr arch.Addr) arch.Addr {
	isa := s.target.ISA()
	if isa.AddrSize == 4 && isa.Machine.SignedAddr {
		return arch.Addr(int32(addr))
	}
	return addr
}
