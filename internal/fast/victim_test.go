//go:build linux && amd64

package fast

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/internal/sys"
	"tracewell/internal/test/testtool"
)

// The regions of testdata/victim.c.
const (
	controlRegion = 0x20000000
	ringRegion    = 0x30000000
	codeRegion    = 0x10000000
	stackRegion   = 0x40000000
	stackSize     = 0x1000 // of it
	dataRegion    = 0x50000000
	dataSize      = 0x2000
	nowhere       = dataRegion + dataSize // the first address behind the data is not mapped

	padAddr = codeRegion + 0x1000
)

// moved is what a pad has displaced: add $3, %r12; mov $42, %rax. Neither the flags nor any register may be wrong before it.
var moved = []byte{0x49, 0x83, 0xc4, 0x03, 0x48, 0xc7, 0xc0, 0x2a, 0, 0, 0}

// victim is a thread in a process of its own, which executes pads under the eyes of the test.
type victim struct {
	t       testing.TB
	pid     int
	memory  *os.File
	words   []uint64 // the control area, as shared with the victim
	ring    []byte
	control Control
	arena   Arena
}

// newVictim starts a victim. The test must not leave its goroutine.
func newVictim(t testing.TB) *victim {
	t.Helper()
	program := filepath.Join(t.TempDir(), "victim")
	build := testtool.Command(t, "gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-o", program, "testdata/victim.c")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build testdata/victim.c: %v\n%s", err, out)
	}
	const ringSize = MinRing
	shared, err := sys.NewShared("victim", ControlSize+2*ringSize)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shared.Close() })
	words, unmap, err := sys.MapShared(shared)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unmap() })
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	launch := sys.Launch{Path: program, Args: []string{program, fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), shared.Fd()), strconv.Itoa(ControlSize)},
		Files: []*os.File{null, null, os.Stderr}, Terminal: -1, Dir: "/"}
	pid, err := launch.Start(sys.ExitKill)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sys.KillAndReap(pid) })
	v := &victim{t: t, pid: pid, words: words[:ControlSize/8], ring: bytesOf(words[ControlSize/8:])}
	if signal := v.resume(sys.Cont); signal != sigTrap {
		t.Fatalf("the victim stops with signal %d", signal)
	}
	if v.memory, err = sys.OpenMemory(pid); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.memory.Close() })
	v.arena = Arena{Control: controlRegion, Ring: ringRegion, RingSize: ringSize, Key: rand.Uint64(), RDFSBase: true}
	return v
}

const (
	sigTrap = 5
	sigBus  = 7
	sigSegv = 11
)

// resume lets the victim go on until it stops with a signal.
func (v *victim) resume(how func(tid, signal int) error) int {
	v.t.Helper()
	if err := how(v.pid, 0); err != nil {
		v.t.Fatal(err)
	}
	_, status, err := sys.Wait(v.pid)
	if err != nil {
		v.t.Fatal(err)
	}
	signal, ok := status.Stopped()
	if !ok {
		v.t.Fatalf("the victim has ended: %v", status)
	}
	return signal
}

// begin makes the shared memory as it is at the start of a run, with nothing in it.
func (v *victim) begin() *Reader {
	clear(v.words[:0x1000/8])
	clear(v.ring)
	control, err := NewControl(v.words, &v.arena)
	if err != nil {
		v.t.Fatal(err)
	}
	v.control = control
	control.store(OwnerAt, uint64(os.Getpid()))
	control.store(NapAt+8, 1000)
	control.SetPatience(0)
	control.store(HeadAt, firstPosition)
	control.store(LimitAt, firstPosition+uint64(v.arena.RingSize))
	reader, err := NewReader(&v.arena, control, v.ring)
	if err != nil {
		v.t.Fatal(err)
	}
	reader.tail.Store(firstPosition)
	return reader
}

// firstPosition is where the head is before a hit: after many laps, so that no part of it can be lost unnoticed.
const firstPosition = 0x5_6789_0000

// ReadMemory is part of Memory.
func (v *victim) ReadMemory(addr arch.Addr, p []byte) int {
	for n := 0; n < len(p); { // byte by byte at the end, as the file refuses what is not there as a whole
		got, err := v.memory.ReadAt(p[n:], int64(addr)+int64(n))
		if n += got; err == nil || got == 0 {
			if got == 0 {
				return n + v.readSlowly(addr+arch.Addr(n), p[n:])
			}
		}
	}
	return len(p)
}

func (v *victim) readSlowly(addr arch.Addr, p []byte) int {
	for i := range p {
		if n, _ := v.memory.ReadAt(p[i:i+1], int64(addr)+int64(i)); n == 0 {
			return i
		}
	}
	return len(p)
}

// WriteMemory is part of Memory.
func (v *victim) WriteMemory(addr arch.Addr, p []byte) int {
	n, _ := v.memory.WriteAt(p, int64(addr))
	return n
}

func (v *victim) registers() (regs amd64.UserRegs) {
	v.t.Helper()
	if err := sys.GetRegs(v.pid, (*[27]uint64)(&regs)); err != nil {
		v.t.Fatal(err)
	}
	return regs
}

func (v *victim) setRegisters(regs amd64.UserRegs) {
	v.t.Helper()
	if err := sys.SetRegs(v.pid, (*[27]uint64)(&regs)); err != nil {
		v.t.Fatal(err)
	}
}

// fill gives data and stack contents that are the same each time.
func (v *victim) fill() {
	data := make([]byte, dataSize)
	for i := range data {
		data[i] = byte(i*7+i>>8) | 1
	}
	copy(data[0x100:], "a string\x00")
	binary.LittleEndian.PutUint64(data[0x200:], dataRegion+0x100)
	binary.LittleEndian.PutUint64(data[0x208:], 0)
	binary.LittleEndian.PutUint64(data[0x210:], nowhere-4)
	binary.LittleEndian.PutUint64(data[0x218:], 20)
	v.WriteMemory(dataRegion, data)
	v.WriteMemory(stackRegion, stackPattern())
}

// stackPattern is what the stack holds before a hit.
func stackPattern() []byte {
	stack := make([]byte, stackSize)
	for i := range stack {
		stack[i] = byte(i*13 + i>>8)
	}
	return stack
}
