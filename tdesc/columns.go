package tdesc

import "tracewell/arch"

// ownColumns gives the columns of a register that GDB shows in its machine's own way, false for any other: a union of
// floating-point views is shown like a number, and some registers by their fields.
func (s *Slot) ownColumns(b []byte, order arch.ByteOrder) (first, second string, ok bool) {
	show := s.machine.Show[s.Reg.Name]
	switch {
	case s.shape.kind == kindUnion && len(s.shape.members) <= 3 && s.shape.allFloat():
		return Value{shape: s.shape, bytes: b, order: order}.String(), raw(b, order), true
	case show != nil && s.shape.kind != kindFloat && !s.shape.vector:
		return string(appendHex(nil, b, order)), show(lowWord(b, order), s.Size), true
	}
	return "", "", false
}

// allFloat tells whether a shape has two members or more and they are all floating-point numbers.
func (s *shape) allFloat() bool {
	for _, m := range s.members {
		if m.shape.kind != kindFloat {
			return false
		}
	}
	return len(s.members) > 1
}
