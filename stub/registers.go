package stub

import (
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/rsp"
	"tracewell/rsp/request"
	"tracewell/target"
	"tracewell/tdesc"
)

// block is a register block and which of its bytes are known.
type block struct {
	bytes []byte
	known func(offset int) bool // nil when all are
}

// knows reports whether all bytes of a register are known.
func (b block) knows(slot *tdesc.Slot) bool {
	for i := slot.Offset; i < slot.Offset+slot.Size; i++ {
		if b.known != nil && !b.known(i) {
			return false
		}
	}
	return true
}

// appendHex appends the bytes from offset on, with xx for those that are not known: that is how GDB reads "unavailable".
func (b block) appendHex(dst []byte, offset, size int) []byte {
	for i := offset; i < offset+size; i++ {
		if b.known != nil && !b.known(i) {
			dst = append(dst, "xx"...)
		} else {
			dst = rsp.AppendHexBytes(dst, b.bytes[i:i+1])
		}
	}
	return dst
}

// registerBlock reads the registers of the selected frame, or of the selected thread.
func (x *session) registerBlock() (block, error) {
	layout, err := x.registers()
	if err != nil {
		return block{}, err
	}
	if x.frame != nil {
		return x.frameRegisters(layout), nil
	}
	id, err := x.thread()
	if err != nil {
		return block{}, err
	}
	return x.threadRegisters(layout, id)
}

// threadRegisters reads the registers of a thread, whether or not a frame is selected.
func (s *Server) threadRegisters(layout *tdesc.Layout, id target.ThreadID) (block, error) {
	b := block{bytes: make([]byte, layout.Size)}
	if err := s.target.ReadRegisters(id, b.bytes); err != nil {
		return block{}, err
	}
	availability := s.target.Availability()
	if availability == nil {
		return b, nil
	}
	known := make([]bool, layout.Size)
	b.known = func(offset int) bool { return known[offset] }
	return b, availability.AvailableRegisters(id, known)
}

// readRegisters is g.
func (x *session) readRegisters(request.None) ([]byte, error) {
	b, err := x.registerBlock()
	if err != nil {
		return nil, err
	}
	return b.appendHex(make([]byte, 0, 2*len(b.bytes)), 0, len(b.bytes)), nil
}

// writeRegisters is G. Without a process that is what is wrong, whatever the packet holds.
func (x *session) writeRegisters(args string) ([]byte, error) {
	layout, err := x.registers()
	if err != nil {
		return nil, err
	}
	b, err := request.WriteRegisters.Parse(args)
	if err != nil {
		return nil, err
	}
	if len(b) != layout.Size {
		return nil, fmt.Errorf("%d bytes of registers, expected %d", len(b), layout.Size)
	}
	id, err := x.thread()
	if err != nil {
		return nil, err
	}
	return replyOK, x.target.WriteRegisters(id, b)
}

// slot finds the place of a register in the block, where malformed is what is wrong with the packet. A register that does not
// exist comes before what is wrong behind its number, which begins the packet.
func (x *session) slot(n arch.Reg, malformed error) (*tdesc.Slot, error) {
	var syntax *rsp.SyntaxError
	if errors.As(malformed, &syntax) && syntax.Offset == 0 {
		return nil, malformed
	}
	layout, err := x.registers()
	if err != nil {
		return nil, err
	}
	slot := layout.ByNumber(n)
	if slot == nil {
		return nil, fmt.Errorf("no register has the number %d", n)
	}
	return slot, malformed
}

// readRegister is p.
func (x *session) readRegister(args string) ([]byte, error) {
	n, err := request.ReadRegister.Parse(args)
	slot, err := x.slot(n, err)
	if err != nil {
		return nil, err
	}
	b, err := x.registerBlock()
	if err != nil {
		return nil, err
	}
	return b.appendHex(nil, slot.Offset, slot.Size), nil
}

// writeRegister is P.
func (x *session) writeRegister(args string) ([]byte, error) {
	r, err := request.WriteRegister.Parse(args)
	slot, err := x.slot(r.Register, err)
	if err != nil {
		return nil, err
	}
	value := r.Value
	if len(value) != slot.Size {
		return nil, fmt.Errorf("%d bytes for %s, expected %d", len(value), slot.Reg.Name, slot.Size)
	}
	id, err := x.thread()
	if err != nil {
		return nil, err
	}
	return replyOK, x.setRegister(id, slot, value)
}

// setRegister changes one register of a thread.
func (x *session) setRegister(id target.ThreadID, slot *tdesc.Slot, value []byte) error {
	layout, err := x.registers()
	if err != nil {
		return err
	}
	b := make([]byte, layout.Size)
	if err := x.target.ReadRegisters(id, b); err != nil {
		return err
	}
	copy(b[slot.Offset:slot.Offset+slot.Size], value)
	return x.target.WriteRegisters(id, b)
}

// setPC moves a thread to addr, for the address that c and s may carry.
func (x *session) setPC(id target.ThreadID, addr arch.Addr) error {
	layout, err := x.registers()
	if err != nil {
		return err
	}
	slot := layout.ByNumber(x.target.ISA().PC)
	if slot == nil {
		return errNoPC
	}
	value := make([]byte, slot.Size)
	putAddr(x.target.ISA().Order, value, addr)
	return x.setRegister(id, slot, value)
}
