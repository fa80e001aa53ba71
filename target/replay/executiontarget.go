package replay

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"tracewell/arch"
	"tracewell/itrace/execution"
	"tracewell/itrace/index"
	"tracewell/target"
	"tracewell/tdesc"
)

// ExecutionTarget is an Execution as one client sees it: a program with a thread for each processor, at one position of what has
// been. Time is one for all of them.
//
// A thread stands in front of its next instruction; behind its last it stands at that, as there is no other address to tell.
type ExecutionTarget struct {
	target.Base
	e        *Execution
	trace    *index.Trace
	position int64
	err      error       // why nothing can be told any more
	gone     atomic.Bool // the client has detached from it, or ended it
	breaks   map[breakpoint]target.Breakpoint
	marks    map[string]int64
	events   chan target.Event

	states map[int32]*state // by processor, at the position
	nexts  map[int32]*index.Item

	mu     sync.Mutex
	cancel context.CancelFunc // ends what runs; guarded by mu
}

var (
	_ target.Target          = (*ExecutionTarget)(nil)
	_ target.Runner          = (*ExecutionTarget)(nil)
	_ target.Reverser        = (*ExecutionTarget)(nil)
	_ target.Breakpoints     = (*ExecutionTarget)(nil)
	_ target.MonitorCommands = (*ExecutionTarget)(nil)
	_ target.Availability    = (*ExecutionTarget)(nil)
)

// state is what the registers of a processor hold.
type state struct {
	block []byte
	known []bool
}

// Target returns a target for a client that comes, at the beginning, or where At says.
func (e *Execution) Target() (*ExecutionTarget, error) {
	trace, err := e.Trace()
	if err != nil {
		return nil, err
	}
	t := &ExecutionTarget{e: e, trace: trace, breaks: make(map[breakpoint]target.Breakpoint), marks: make(map[string]int64),
		events: make(chan target.Event, 1)}
	t.move(0)
	return t, nil
}

// move goes to a position.
func (t *ExecutionTarget) move(position int64) {
	t.position, t.states, t.nexts = position, make(map[int32]*state), make(map[int32]*index.Item)
}

// fail takes note of an error of the trace or its index: from then on nothing is told, lest it be wrong.
func (t *ExecutionTarget) fail(err error) error {
	if err != nil && t.err == nil {
		t.err = fmt.Errorf("%s: %w", t.e.Name, err)
	}
	return t.err
}

// process is the number of the one process.
const process = 1

func threadOf(cpu int32) target.ThreadID { return target.ThreadID{PID: process, TID: int(cpu) + 1} }

func cpuOf(id target.ThreadID) int32 { return int32(id.TID - 1) }

// ISA implements target.Target.
func (t *ExecutionTarget) ISA() *arch.ISA { return t.e.isa }

// Description implements target.Target.
func (t *ExecutionTarget) Description() *tdesc.Target { return t.e.Desc }

// Threads implements target.Target.
func (t *ExecutionTarget) Threads() []target.ThreadID {
	if t.gone.Load() {
		return nil
	}
	var threads []target.ThreadID
	for _, cpu := range t.trace.CPUs {
		threads = append(threads, threadOf(cpu))
	}
	return threads
}

// Thread implements target.Target.
func (t *ExecutionTarget) Thread(id target.ThreadID) (target.Thread, error) {
	for _, other := range t.Threads() {
		if other == id {
			return target.Thread{ID: id, Name: fmt.Sprintf("cpu %d", cpuOf(id)), Core: int(cpuOf(id))}, nil
		}
	}
	return target.Thread{}, fmt.Errorf("%w: %s", target.ErrNoThread, id)
}

var errPast = errors.New("what has been cannot be changed: this is an execution trace")

// WriteRegisters implements target.Target.
func (t *ExecutionTarget) WriteRegisters(target.ThreadID, []byte) error { return errPast }

// WriteMemory implements target.Target.
func (t *ExecutionTarget) WriteMemory(target.ThreadID, arch.Addr, []byte) error { return errPast }

// next returns the instruction that a processor is in front of, the last one if none is left; nil if it has none.
func (t *ExecutionTarget) next(cpu int32) (*index.Item, error) {
	if it, ok := t.nexts[cpu]; ok {
		return it, nil
	}
	wants := []index.Want{{What: index.Turn, CPU: cpu}}
	found, err := t.trace.Next(context.Background(), t.position, wants)
	if err == nil && found == nil {
		found, err = t.trace.Previous(context.Background(), t.position, wants)
	}
	if err != nil {
		return nil, t.fail(err)
	}
	t.nexts[cpu] = nil
	if found != nil {
		t.nexts[cpu] = found.Item
	}
	return t.nexts[cpu], nil
}

// state returns what the registers of a processor hold.
func (t *ExecutionTarget) state(id target.ThreadID) (*state, error) {
	if t.err != nil {
		return nil, t.err
	}
	if _, err := t.Thread(id); err != nil {
		return nil, err
	}
	cpu := cpuOf(id)
	if s := t.states[cpu]; s != nil {
		return s, nil
	}
	values, err := t.trace.Registers(t.position)
	if err != nil {
		return nil, t.fail(err)
	}
	s := &state{make([]byte, t.e.Layout.Size), make([]bool, t.e.Layout.Size)}
	settled := make([]bool, len(s.known)) // also by digits that nobody knew
	for _, v := range values {
		if p := t.e.Parts[v.Name]; v.CPU == cpu && p.Slot != nil {
			t.put(s, settled, p, v.Digits)
		}
	}
	if zero := t.e.Layout.ByName(t.e.Machine.Zero); zero != nil {
		t.put(s, make([]bool, len(s.known)), execution.Part{Slot: zero, To: zero.Size}, []byte("0"))
	}
	it, err := t.next(cpu)
	if err != nil {
		return nil, err
	}
	if pc := t.e.Layout.ByNumber(t.e.isa.PC); it != nil && pc != nil {
		t.put(s, make([]bool, len(s.known)), execution.Part{Slot: pc, To: pc.Size}, fmt.Appendf(nil, "%016x", it.Addr))
	}
	t.states[cpu] = s
	return s, nil
}

// put puts the bytes of a value into those of a register that are not settled.
func (t *ExecutionTarget) put(s *state, settled []bool, p execution.Part, digits []byte) {
	for i := p.From; i < p.To; i++ {
		at := p.Slot.Offset + i
		if t.e.data.BigEndian {
			at = p.Slot.Offset + p.Slot.Size - 1 - i
		}
		if !settled[at] {
			settled[at] = true
			s.block[at], s.known[at] = index.DigitByte(digits, uint64(i-p.From))
		}
	}
}

// ReadRegisters implements target.Target.
func (t *ExecutionTarget) ReadRegisters(id target.ThreadID, block []byte) error {
	s, err := t.state(id)
	if err != nil {
		return err
	}
	copy(block, s.block)
	return nil
}

// Availability implements target.Groups.
func (t *ExecutionTarget) Availability() target.Availability { return t }

// AvailableRegisters implements target.Availability.
func (t *ExecutionTarget) AvailableRegisters(id target.ThreadID, known []bool) error {
	s, err := t.state(id)
	if err != nil {
		return err
	}
	copy(known, s.known)
	return nil
}

// ReadMemory implements target.Target: what records in front of the position tell, what the program held in the beginning, and if
// that is wanted, what was read later.
func (t *ExecutionTarget) ReadMemory(_ target.ThreadID, addr arch.Addr, p []byte) (int, error) {
	if t.err != nil {
		return 0, t.err
	}
	known := make([]index.Knowledge, len(p))
	if err := t.trace.Memory(t.position, uint64(addr), p, known, t.e.data); err != nil {
		return 0, t.fail(err)
	}
	t.seed(uint64(addr), p, known)
	if t.e.backfill {
		if err := t.trace.Later(t.position, uint64(addr), p, known, t.e.data); err != nil {
			return 0, t.fail(err)
		}
	}
	for i, k := range known {
		if k != index.Known {
			return i, fmt.Errorf("nothing is known of memory at %v at this position", addr+arch.Addr(i))
		}
	}
	return len(p), nil
}

// seed fills in what the program held in the beginning.
func (t *ExecutionTarget) seed(addr uint64, p []byte, known []index.Knowledge) {
	if t.e.program == nil {
		return
	}
	for i := range p {
		if known[i] != index.Unseen {
			continue
		}
		if b, ok := execution.Loaded(t.e.program.elf, addr+uint64(i)-uint64(t.e.program.bias)); ok {
			p[i], known[i] = b, index.Known
		}
	}
}

// symbol finds a variable of the program by its name.
func (p *program) symbol(name string) (addr, size uint64, ok bool) {
	if p == nil || name == "" {
		return 0, 0, false
	}
	symbols, _ := p.elf.Symbols() // an error is that there are none
	for _, s := range symbols {
		if s.Name == name && elf.ST_TYPE(s.Info) == elf.STT_OBJECT {
			return s.Value + uint64(p.bias), max(s.Size, 1), true
		}
	}
	return 0, 0, false
}

// ExecFile implements target.Groups.
func (t *ExecutionTarget) ExecFile() target.ExecFile {
	if t.e.program == nil {
		return nil
	}
	return t
}

// ReadExecFile implements target.ExecFile.
func (t *ExecutionTarget) ReadExecFile(int) (string, error) { return t.e.program.path, nil }

// Files implements target.Groups: of all files there is the program's, to read.
func (t *ExecutionTarget) Files() target.Files {
	if t.e.program == nil {
		return nil
	}
	return programFiles{t.e.program}
}

// Instruction is the number of the instruction that the target stands in front of, that of all instructions behind the last.
func (t *ExecutionTarget) Instruction() int64 { return t.position }
