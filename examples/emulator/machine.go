package main

import (
	"encoding/binary"
	"errors"
	"sync"

	"tracewell/arch"
	"tracewell/target"
	"tracewell/tdesc"
	"tracewell/tdesc/machine"
)

// emulator is a core as a target of debuggers: it can run, stop at breakpoints, and tell an engine of tracepoints that are reached.
// What else there is, such as files and libraries, it has not; target.Base says so.
type emulator struct {
	target.Base
	isa         *arch.ISA
	description *tdesc.Target
	layout      *tdesc.Layout
	events      chan target.Event

	mu          sync.Mutex // held for each instruction and by whoever looks at what follows
	core        *core      // nil once the program has ended
	running     bool
	interrupted bool
	breakpoints map[arch.Addr]target.Breakpoint
	tracepoints map[arch.Addr]bool
	handler     target.Handler
	steps       bool // the engine wants to see the thread after its next instruction
}

// thread is the only one.
var thread = target.ThreadID{PID: 1, TID: 1}

func newEmulator() (*emulator, error) {
	description := machine.RISCV{Bits: 32}.Target()
	layout, err := description.Layout()
	if err != nil {
		return nil, err
	}
	return &emulator{
		isa:         layout.ISA(arch.ByArchitecture(description.Architecture), description.Architecture, binary.LittleEndian),
		description: description, layout: layout, core: newCore(), events: make(chan target.Event, 1),
		breakpoints: make(map[arch.Addr]target.Breakpoint), tracepoints: make(map[arch.Addr]bool),
	}, nil
}

// The core that every target has.

func (e *emulator) ISA() *arch.ISA             { return e.isa }
func (e *emulator) Description() *tdesc.Target { return e.description }

func (e *emulator) Threads() []target.ThreadID {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.core == nil {
		return nil
	}
	return []target.ThreadID{thread}
}

func (e *emulator) Thread(target.ThreadID) (target.Thread, error) {
	return target.Thread{ID: thread, Name: "core", Core: 0}, nil
}

func (e *emulator) ReadRegisters(_ target.ThreadID, block []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.core == nil {
		return target.ErrNoProcess
	}
	e.fill(block)
	return nil
}

// fill writes the g packet: x0 to x31 and pc, little-endian, 4 bytes each.
func (e *emulator) fill(block []byte) {
	whole := make([]byte, 0, 33*4)
	for _, x := range e.core.x {
		whole = binary.LittleEndian.AppendUint32(whole, x)
	}
	copy(block, binary.LittleEndian.AppendUint32(whole, e.core.pc))
}

func (e *emulator) WriteRegisters(_ target.ThreadID, block []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.core == nil {
		return target.ErrNoProcess
	}
	for i := 1; i < len(e.core.x); i++ {
		e.core.x[i] = binary.LittleEndian.Uint32(block[4*i:])
	}
	e.core.pc = binary.LittleEndian.Uint32(block[4*len(e.core.x):])
	return nil
}

var errNoMemory = errors.New("there is no memory at that address")

func (e *emulator) ReadMemory(_ target.ThreadID, addr arch.Addr, p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.read(addr, p)
	if n < len(p) {
		return n, errNoMemory
	}
	return n, nil
}

// read reads as much as there is.
func (e *emulator) read(addr arch.Addr, p []byte) int {
	if e.core == nil || addr < base || addr >= base+arch.Addr(len(e.core.memory)) {
		return 0
	}
	return copy(p, e.core.memory[addr-base:])
}

func (e *emulator) WriteMemory(_ target.ThreadID, addr arch.Addr, p []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.core == nil || e.core.at(uint32(addr), len(p)) == nil {
		return errNoMemory
	}
	copy(e.core.at(uint32(addr), len(p)), p)
	return nil
}

// Breakpoints: an emulator need not write anything into the program for one.

func (e *emulator) Breakpoints() target.Breakpoints { return e }

func (e *emulator) InsertBreakpoint(_ target.ThreadID, b target.Breakpoint) error {
	if b.Kind != target.Software && b.Kind != target.Hardware {
		return target.ErrUnsupported
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.breakpoints[b.Addr] = b
	return nil
}

func (e *emulator) RemoveBreakpoint(_ target.ThreadID, b target.Breakpoint) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.breakpoints, b.Addr)
	return nil
}

// Tracepoints: the engine is told which thread has come to one, and does the rest.

func (e *emulator) Tracer() target.Tracer             { return e }
func (e *emulator) Collector() target.Collector       { return nil }
func (e *emulator) SetHandler(handler target.Handler) { e.handler = handler }

func (e *emulator) Install(_ int, at arch.Addr, _ []arch.Addr) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tracepoints[at] = true
	return nil
}

func (e *emulator) Uninstall(_ int, at arch.Addr) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.tracepoints, at)
	return nil
}

// snapshot is what the engine sees of the thread at a hit, while the emulator waits.
type snapshot struct{ *emulator }

func (s snapshot) Thread() int64       { return int64(thread.TID) }
func (s snapshot) ID() target.ThreadID { return thread }
func (s snapshot) PC() arch.Addr       { return arch.Addr(s.core.pc) }
func (s snapshot) Err() error          { return nil }

func (s snapshot) Register(r arch.Reg) (uint64, error) {
	switch {
	case r == s.isa.PC:
		return uint64(s.core.pc), nil
	case int(r) < len(s.core.x):
		return uint64(s.core.x[r]), nil
	}
	return 0, errors.New("there is no such register")
}

func (s snapshot) Registers(block []byte) error            { s.fill(block); return nil }
func (s snapshot) ReadMemory(addr arch.Addr, p []byte) int { return s.read(addr, p) }

func (s snapshot) ReadBatch(reads []target.Read) {
	for i := range reads {
		reads[i].N = s.read(reads[i].Addr, reads[i].Dst)
	}
}
