package stub

import (
	"bytes"
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/rsp"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/target"
	"tracewell/tdesc"
)

// registerBlock reads the registers of the selected frame, or of the selected thread.
func (x *session) registerBlock() (reply.Block, error) {
	layout, err := x.registers()
	if err != nil {
		return reply.Block{}, err
	}
	if x.frame != nil {
		// A frame that collected no registers is no error: all are unavailable, and GDB shows what it can.
		return x.frameRegisters(layout).Part(0, x.blockSize(layout)), nil
	}
	id, err := x.thread()
	if err != nil {
		return reply.Block{}, err
	}
	if x.watches && x.debuggee.Running() {
		return x.unknownRegisters(layout), nil
	}
	b, err := x.threadRegisters(layout, id)
	if x.watches && errors.Is(err, target.ErrRunning) { // in non-stop mode
		return x.unknownRegisters(layout), nil
	}
	return b, err
}

// threadRegisters reads the registers of a thread, whether or not a frame is selected.
func (s *Server) threadRegisters(layout *tdesc.Layout, id target.ThreadID) (reply.Block, error) {
	b := reply.Block{Bytes: make([]byte, s.blockSize(layout))}
	if err := s.target.ReadRegisters(id, b.Bytes); err != nil {
		return reply.Block{}, err
	}
	// Only a recording has registers that are not known; a process has all of them.
	availability := s.target.Availability()
	if availability == nil {
		return b, nil
	}
	b.Available = make([]bool, len(b.Bytes))
	return b, availability.AvailableRegisters(id, b.Available)
}

// blockSize is how many bytes of registers g has. GDB asks for those behind them one by one.
func (s *Server) blockSize(layout *tdesc.Layout) int {
	if single := s.target.SingleRegisters(); single != nil {
		return single.BlockSize()
	}
	return layout.Size
}

// readRegisters is g.
func (x *session) readRegisters(request.None) (reply.Block, error) { return x.registerBlock() }

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
	// A block of another length is of a client with another description: nothing in it would be in its place.
	if size := x.blockSize(layout); len(b) != size {
		return nil, fmt.Errorf("%d bytes of registers, expected %d", len(b), size)
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
	// Not even the number could be read.
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
	if slot.Offset+slot.Size > x.blockSize(x.layout) {
		single, err := x.singleRegister(slot)
		return reply.Registers.Append(nil, single), err
	}
	b, err := x.registerBlock()
	if err != nil {
		return nil, err
	}
	// LLDB reads xx as digits.
	if x.errorStrings && !b.Has(slot.Offset, slot.Size) {
		return nil, fmt.Errorf("nobody knows what %s holds here", slot.Reg.Name)
	}
	return reply.Registers.Append(nil, b.Part(slot.Offset, slot.Size)), nil
}

// singleRegister reads a register that is not in the block. No frame has it.
func (x *session) singleRegister(slot *tdesc.Slot) (reply.Block, error) {
	if x.frame != nil {
		return reply.Block{Bytes: make([]byte, slot.Size), Available: make([]bool, slot.Size)}, nil
	}
	id, err := x.thread()
	if err != nil {
		return reply.Block{}, err
	}
	b, err := x.target.SingleRegisters().ReadRegister(id, slot.Reg.Num)
	return reply.Block{Bytes: b}, err
}

// writeRegister is P.
func (x *session) writeRegister(args string) ([]byte, error) {
	r, err := request.WriteRegister.Parse(args)
	slot, err := x.slot(r.Register, err)
	if err != nil {
		return nil, err
	}
	value := r.Value
	// A shorter value would leave part of the register as it was.
	if len(value) != slot.Size {
		return nil, fmt.Errorf("%d bytes for %s, expected %d", len(value), slot.Reg.Name, slot.Size)
	}
	id, err := x.thread()
	if err != nil {
		return nil, err
	}
	if x.errorStrings && slot.Reg.Num == x.target.ISA().PC {
		if err := x.forgoRestart(id); err != nil {
			return nil, err
		}
	}
	return replyOK, x.setRegister(id, slot, value)
}

// forgoRestart has the kernel not restart the system call that a thread stopped in: the kernel would move the new program counter
// back by the length of an instruction. GDB does that by itself, LLDB does not.
func (x *session) forgoRestart(id target.ThreadID) error {
	calls := x.target.ISA().Machine.Calls
	if calls == nil || calls.Restart == "" {
		return nil
	}
	layout, err := x.registers()
	if err != nil {
		return err
	}
	slot := layout.ByName(calls.Restart)
	if slot == nil {
		return nil
	}
	return x.setRegister(id, slot, bytes.Repeat([]byte{0xff}, slot.Size))
}

// setRegister changes one register of a thread.
func (x *session) setRegister(id target.ThreadID, slot *tdesc.Slot, value []byte) error {
	layout, err := x.registers()
	if err != nil {
		return err
	}
	if single := x.target.SingleRegisters(); single != nil {
		return single.WriteRegister(id, slot.Reg.Num, value)
	}
	// Others write whole blocks only: ptrace has no request for one register of a regset.
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
	arch.PutAddr(value, x.target.ISA().Order, addr)
	return x.setRegister(id, slot, value)
}
