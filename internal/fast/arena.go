package fast

import (
	"errors"
	"fmt"

	"tracewell/arch"
)

// Arena is where the shared memory lies in the program, for the pads of one neighbourhood, and how pads use it.
type Arena struct {
	Control  arch.Addr // of the control area, within 2 GiB of the pads
	Ring     arch.Addr // of the ring, mapped twice in a row; aligned to a page
	RingSize int       // of one of the two mappings in bytes, a power of two from MinRing to MaxRing
	Key      uint64    // random for each run
	WhenFull WhenFull
	// Filtered says that the program has a seccomp filter: expressions that need a system call are refused.
	Filtered bool
	// Lowest is the lowest address that a program can map (vm.mmap_min_addr): reads below are not tried. 0 stands for 4096.
	Lowest uint32
	// RDFSBase says that programs may execute rdfsbase (HWCAP2_FSGSBASE); without it neither segment bases nor thread ids can be
	// collected.
	RDFSBase bool
}

// WhenFull is what a pad does when the ring has no room for its slot.
type WhenFull uint8

const (
	// Wait has the thread wait until there is room, the tracer dies, or patience is at an end.
	Wait WhenFull = iota
	// Drop has the thread go on; the frames are counted as lost.
	Drop
)

// Bounds of the size of a ring.
const (
	MinRing = 64 << 10
	MaxRing = 1 << 30
)

// check reports what is wrong with an arena.
func (a *Arena) check() error {
	switch {
	case a.RingSize < MinRing || a.RingSize > MaxRing || a.RingSize&(a.RingSize-1) != 0:
		return fmt.Errorf("a ring of %d bytes: the size is no power of two from %d to %d", a.RingSize, MinRing, MaxRing)
	case a.Control%0x1000 != 0 || a.Ring%0x1000 != 0:
		return errors.New("shared memory that does not begin at a page")
	}
	return nil
}

// largestSlot is the size of the largest slot that a ring takes: several have to fit, or a thread would wait for a reader that
// cannot give it room.
func (a *Arena) largestSlot() int { return min(maxSlot, a.RingSize/4) }

// lowest is the lowest address that a program can map.
func (a *Arena) lowest() int32 { return int32(max(a.Lowest, 0x1000)) }
