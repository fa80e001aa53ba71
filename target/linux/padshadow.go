//go:build linux

package linux

import (
	"tracewell/target/linux/internal/patch"
	"tracewell/tfile"
)

// Pads collect memory as it is, with the patches in it. What is in frames is to be the program's own.

// publish has whoever drains the ring know which patches there are.
func (s *addrSpace) publish() {
	if s.pads != nil {
		s.pads.arena.shadow.Store(s.code.Shadow())
	}
}

// unpatch puts the program's own bytes into the memory blocks of a frame in the place of those of patches.
func unpatch(frame []byte, registers int, shadow *patch.Shadow) {
	f, err := tfile.ParseFrame(frame, host.isa().Order, registers)
	if err != nil {
		return
	}
	for b := range f.Blocks() {
		if b.Kind == tfile.BlockMemory && shadow.Near(b.Addr, len(b.Bytes)) {
			shadow.Hide(b.Addr, b.Bytes)
		}
	}
}
