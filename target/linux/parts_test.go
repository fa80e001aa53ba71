//go:build linux && amd64

package linux

import (
	"encoding/binary"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/internal/sys"
	"tracewell/target"
)

// The numbers of GDB 13's "info signals" for the signals of x86-64 Linux.
func TestSignalNumbers(t *testing.T) {
	for kernel, gdb := range map[int]target.Signal{
		1: 1, 2: 2, 7: 10, 10: 30, 11: 11, 12: 31, 15: 15, 17: 20, 18: 19, 19: 17, 20: 18, 23: 16, 29: 23, 30: 32, 31: 12,
		32: 77, 33: 45, 34: 46, 63: 75, 64: 78, 16: target.SignalOfLinux(0),
	} {
		if got := gdbSignal(kernel); got != gdb {
			t.Errorf("signal %d is %d for GDB, want %d", kernel, got, gdb)
		}
		if back := kernelSignal(gdb); gdb != target.SignalOfLinux(0) && back != kernel {
			t.Errorf("GDB's %d is signal %d, want %d", gdb, back, kernel)
		}
	}
	if got := kernelSignal(target.SignalNone); got != 0 {
		t.Errorf("no signal is %d", got)
	}
}

func TestFreeNear(t *testing.T) {
	maps := []sys.Mapping{
		{Start: 0x400000, End: 0x401000},
		{Start: 0x401000, End: 0x402000},
		{Start: 0x7f0000000000, End: 0x7f0000100000},
		{Start: 0x7f0000110000, End: 0x7f0000120000},
		{Start: 0x7f0000120000, End: 0x7f0000130000},
	}
	for addr, want := range map[arch.Addr]arch.Addr{
		0x401500:       0x400000 - scratchSize - clearance,
		0x7f0000110000: 0x7f0000110000 - scratchSize, // a hole without clearance above it
		0x7f0000125000: 0x7f0000110000 - scratchSize,
		0x7f0000050000: 0x7f0000000000 - scratchSize - clearance,
	} {
		if got, ok := freeNear(maps, addr); !ok || got != want {
			t.Errorf("near %s: %s, %v, want %s", addr, got, ok, want)
		}
	}
	full := []sys.Mapping{{Start: lowestMapping, End: 0x7fff00000000}}
	if got, ok := freeNear(full, 0x400000); ok {
		t.Errorf("found %s in a full address space", got)
	}
}

// TestRoomNear finds room for a second area where the first one is in the way, with the kernel's mapping behind everything.
func TestRoomNear(t *testing.T) {
	const size, addr = 18 << 20, 0x401500
	maps := []sys.Mapping{{Start: 0x400000, End: 0x405000}, {Start: 0x7ffff7dd1000, End: 0x7ffff7dd4000},
		{Start: 0xffffffffff600000, End: 0xffffffffff601000}}
	for range 3 {
		base, ok := roomNear(maps, addr, size)
		if !ok || distance(base, addr) >= reach {
			t.Fatalf("%s, %v", base, ok)
		}
		i := 0
		for ; maps[i].Start < uint64(base); i++ {
		}
		if maps[i-1].End > uint64(base) || uint64(base)+size > maps[i].Start {
			t.Fatalf("%s is in the way of another mapping", base)
		}
		maps = slices.Insert(maps, i, sys.Mapping{Start: uint64(base), End: uint64(base) + size})
	}
}

func TestKept(t *testing.T) {
	base := sys.ScheduleLook{Delay: time.Second, Slices: 10, Runnable: true}
	for _, test := range []struct {
		now  sys.ScheduleLook
		want bool
	}{
		{sys.ScheduleLook{Delay: time.Second, Slices: 11, Runnable: true}, false},
		{sys.ScheduleLook{Delay: time.Second, Slices: 10, Runnable: false}, false},
		{sys.ScheduleLook{Delay: time.Second, Slices: 10, Runnable: true}, true},
		{sys.ScheduleLook{Delay: time.Second + 2*tolerable, Slices: 12, Runnable: false}, true},
	} {
		if got := kept(base, test.now); got != test.want {
			t.Errorf("kept from running between %+v and %+v: %v", base, test.now, got)
		}
	}
	if asleep := (sys.ScheduleLook{Slices: 10}); kept(asleep, sys.ScheduleLook{Slices: 10, Runnable: true}) {
		t.Error("a thread that has just woken counts as kept from running")
	}
}

// TestReadsWithoutAllocation reads as a hit may: from the stack, for an emulated instruction, and where the thread ran.
func TestReadsWithoutAllocation(t *testing.T) {
	var area [64]byte
	for i := range area {
		area[i] = byte(i)
	}
	at := uint64(reflect.ValueOf(&area).Pointer())
	k := &task{tid: os.Getpid(), tgid: os.Getpid(), proc: &process{stack: stack{tid: os.Getpid()}}, rseq: at, rseqKnown: true}
	var word uint64
	var ok bool
	if n := testing.AllocsPerRun(100, func() { word, ok = k.proc.stack.ReadUint64(arch.Addr(at + 8)) }); n != 0 {
		t.Errorf("a read of the stack: %v allocations", n)
	}
	if !ok || word != 0x0f0e0d0c0b0a0908 {
		t.Errorf("read %#x, %v", word, ok)
	}
	var cpu int
	if n := testing.AllocsPerRun(100, func() { cpu = k.core() }); n != 0 {
		t.Errorf("a look where the thread ran: %v allocations", n)
	}
	if want := int(binary.LittleEndian.Uint32(area[sys.RseqCPU:])); cpu != want {
		t.Errorf("it ran on %#x, want %#x", cpu, want)
	}
}
