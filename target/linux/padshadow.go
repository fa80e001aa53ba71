//go:build linux

package linux

import (
	"tracewell/target/linux/internal/patch"
	"tracewell/tfile"
)

// Pads collect memory as it is, with the patches in it. What is in frames is to be the program's own.

// publish has whoever drains the ring know which patches there are.
func (s *addrSpace) publish() {
	if s.pads != nil && s.pads.arena != nil {
		s.pads.arena.shadow.Store(s.code.Shadow())
	}
}

// unpatch puts the program's own bytes into the memory blocks of a frame in the place of those of patches.
func unpatch(frame []byte, blocks *tfile.Checker, shadow *patch.Shadow) {
	for at := tfile.FrameHeader; ; {
		addr, memory, next := blocks.NextMemory(frame, at)
		if next == 0 {
			return
		}
		if shadow.Near(addr, len(memory)) {
			shadow.Hide(addr, memory)
		}
		at = next
	}
}
