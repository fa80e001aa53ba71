package fake

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"tracewell/arch"
	"tracewell/inferior"
	"tracewell/target"
)

// having is a group of a program that has the ability, and nil, which is not an interface around a nil, of one that has not.
func having[Group any](has bool, group Group) (none Group) {
	if has {
		return group
	}
	return none
}

// Runner returns the ability to run the script.
func (t *Target) Runner() target.Runner { return having[target.Runner](!t.program.CoreOnly, t) }

// Breakpoints returns the ability to stop at breakpoints. Only software breakpoints are ever met by the script.
func (t *Target) Breakpoints() target.Breakpoints {
	return having[target.Breakpoints](!t.program.CoreOnly, t)
}

// TraceRun returns the trace run of long ago.
func (t *Target) TraceRun() target.TraceRun { return t.program.TraceRun }

// Availability returns the group when there are registers that are not known.
func (t *Target) Availability() target.Availability {
	return having[target.Availability](t.program.Unknown != nil, t)
}

// AvailableRegisters implements target.Availability.
func (t *Target) AvailableRegisters(_ target.ThreadID, known []bool) error {
	for i := range t.layout.Slots {
		slot := &t.layout.Slots[i]
		for at := range slot.Size {
			known[slot.Offset+at] = !slices.Contains(t.program.Unknown, slot.Reg.Name)
		}
	}
	return nil
}

// Tracer returns the ability to run tracepoints.
func (t *Target) Tracer() target.Tracer {
	return having[target.Tracer](!t.program.CoreOnly && t.program.TraceRun == nil, t)
}

// Reverser returns the ability to run the script backwards.
func (t *Target) Reverser() target.Reverser {
	return having[target.Reverser](!t.program.CoreOnly && t.program.Reversible, t)
}

// MonitorCommands returns the user's commands.
func (t *Target) MonitorCommands() target.MonitorCommands {
	return having[target.MonitorCommands](t.program.Commands != nil, t)
}

// Commands lists them.
func (t *Target) Commands() []target.MonitorCommand { return t.program.Commands }

// Relocator returns the group when there are instructions to copy.
func (t *Target) Relocator() target.Relocator {
	return having[target.Relocator](!t.program.CoreOnly && t.program.Unmovable != nil, t)
}

// Relocations returns those of the addresses that the program says to be unmovable, unless there is a copy already.
func (t *Target) Relocations(_ int, addrs []arch.Addr) []target.Relocation {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []target.Relocation
	for _, from := range addrs {
		if to, ok := t.program.Unmovable[from]; ok && t.copies[from] == 0 {
			list = append(list, target.Relocation{From: from, To: to})
		}
	}
	return list
}

// Relocated takes note of a copy, which must have one byte at least.
func (t *Target) Relocated(_ int, r target.Relocation, size int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if size == 0 {
		return errors.New("an instruction of no bytes")
	}
	if t.copies == nil {
		t.copies = make(map[arch.Addr]int)
	}
	t.copies[r.From] = size
	return nil
}

// Copied returns the size of the copy that a client has made of the instruction at an address, 0 for none.
func (t *Target) Copied(from arch.Addr) int { return locked(t, func() int { return t.copies[from] }) }

// Auxv returns the group when the program has an auxiliary vector.
func (t *Target) Auxv() target.Auxv { return having[target.Auxv](t.program.Auxv != nil, t) }

// ExecFile returns the group when the program has a path.
func (t *Target) ExecFile() target.ExecFile { return having[target.ExecFile](t.program.Exec != "", t) }

// Libraries returns the group when the program has a link map.
func (t *Target) Libraries() target.Libraries {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.program.Libraries == nil {
		return nil
	}
	return t
}

// Siginfo returns the group when the program has signal details.
func (t *Target) Siginfo() target.Siginfo { return having[target.Siginfo](t.program.Siginfo != nil, t) }

// ReadOnly returns the group that tells read-only mappings.
func (t *Target) ReadOnly() target.ReadOnly { return readOnly{t} }

// Mappings returns the group that tells of all memory.
func (t *Target) Mappings() target.Mappings { return having[target.Mappings](!t.program.CoreOnly, t) }

// Region returns the region that has an address, or the gap.
func (t *Target) Region(pid int, addr arch.Addr) (target.Region, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.region(addr); r != nil {
		access := target.Access{Read: true, Write: !r.ReadOnly, Exec: r.ReadOnly}
		return target.Region{Start: r.Start, Size: uint64(len(r.Bytes)), Access: access, Name: t.program.Exec}, nil
	}
	gap := target.Region{Size: math.MaxUint64}
	for _, r := range t.program.Memory {
		if end := r.Start + arch.Addr(len(r.Bytes)); end <= addr && end > gap.Start {
			gap.Start, gap.Size = end, -uint64(end)
		}
	}
	for _, r := range t.program.Memory {
		if r.Start > addr {
			gap.Size = min(gap.Size, uint64(r.Start-gap.Start))
		}
	}
	return gap, nil
}

// Allocator returns the group when there is a place for what it allocates.
func (t *Target) Allocator() target.Allocator {
	return having[target.Allocator](t.program.Heap != 0, t)
}

// Allocate adds a region at the end of the heap.
func (t *Target) Allocate(_ int, size uint64, access target.Access) (arch.Addr, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := t.program.Heap
	t.program.Memory = append(t.program.Memory, Region{Start: at, Bytes: make([]byte, size), ReadOnly: !access.Write})
	t.program.Heap += arch.Addr(size)
	return at, nil
}

// Release removes a region of the heap.
func (t *Target) Release(_ int, addr arch.Addr) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.program.Memory, func(r Region) bool { return r.Start == addr })
	if i < 0 {
		return &noMemoryError{addr}
	}
	t.program.Memory = slices.Delete(slices.Clone(t.program.Memory), i, i+1)
	return nil
}

// Files returns the group when the program has files.
func (t *Target) Files() target.Files { return having[target.Files](t.program.Files != nil, files{t}) }

// Signals returns the group when the program is to have it.
func (t *Target) Signals() target.Signals { return having[target.Signals](t.program.Passing, t) }

// OS returns the group when the program's system has tables.
func (t *Target) OS() target.OS { return having[target.OS](t.program.Tables != nil, t) }

// ThreadLocals returns the group when the program has thread-local variables.
func (t *Target) ThreadLocals() target.ThreadLocals {
	return having[target.ThreadLocals](t.program.Locals != nil, t)
}

// PassSignals sets the signals that events of the script are passed over for.
func (t *Target) PassSignals(signals []target.Signal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.passing = make(map[target.Signal]bool)
	for _, s := range signals {
		t.passing[s] = true
	}
}

// ProgramSignals remembers the signals; no thread is ever let go with one.
func (t *Target) ProgramSignals(signals []target.Signal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken = signals
}

// Taken lists the signals that were last given to ProgramSignals.
func (t *Target) Taken() []target.Signal { return locked(t, func() []target.Signal { return t.taken }) }

// Passed lists the signals that were last given to PassSignals, in order.
func (t *Target) Passed() []target.Signal {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.passing))
}

// InsertBreakpoint inserts a breakpoint, in a process that exists. Memory is not looked at: a script meets a breakpoint wherever
// a thread arrives, mapped or not. Read watchpoints are refused, so that sessions are tested with a kind that a target has not.
func (t *Target) InsertBreakpoint(id target.ThreadID, b target.Breakpoint) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := t.find(id); err != nil {
		return err
	}
	if b.Kind == target.ReadWatch { // x86 has none either
		return target.ErrUnsupported
	}
	t.breaks[breakpoint{b.Kind, place{id.PID, b.Addr}}] = b
	return nil
}

// RemoveBreakpoint removes a breakpoint.
func (t *Target) RemoveBreakpoint(id target.ThreadID, b target.Breakpoint) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.breaks, breakpoint{b.Kind, place{id.PID, b.Addr}})
	return nil
}

// SetHandler says who is told of hits, steps and ended threads.
func (t *Target) SetHandler(h target.Handler) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.handler = h
}

// Collector returns the ability to collect when the program is to have it.
func (t *Target) Collector() target.Collector {
	return having[target.Collector](t.program.Batch != 0, &t.collector)
}

// Install takes note of tracepoints at an address. There must be a process, and memory.
func (t *Target) Install(pid int, at arch.Addr, semaphores []arch.Addr) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.checkPlace(place{pid, at}); err != nil {
		return err
	}
	if err := t.raise(semaphores); err != nil {
		return err
	}
	t.sites[place{pid, at}] = semaphores
	return nil
}

// checkPlace says why tracepoints cannot go to a place.
func (t *Target) checkPlace(at place) error {
	if _, err := t.find(target.ThreadID{PID: at.pid, TID: target.All}); err != nil {
		return target.ErrNoProcess
	}
	if t.region(at.addr) == nil {
		return &noMemoryError{at.addr}
	}
	return nil
}

// raise adds one to semaphores. One outside of memory is an error, because the program could never see that it is traced; then none
// of them is changed.
func (t *Target) raise(semaphores []arch.Addr) error {
	for i, addr := range semaphores {
		if err := t.count(addr, 1); err != nil {
			t.lower(semaphores[:i])
			return err
		}
	}
	return nil
}

// Uninstall takes them away, in the process or the child that took its place.
func (t *Target) Uninstall(_ int, at arch.Addr) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for where, semaphores := range t.sites {
		if where.addr == at {
			t.lower(semaphores)
			delete(t.sites, where)
		}
	}
	return nil
}

// removeSites takes all tracepoints away, as the end of a run demands.
func (t *Target) removeSites() {
	for _, semaphores := range t.sites {
		t.lower(semaphores)
	}
	clear(t.sites)
	t.collector.removeAll()
}

// lower subtracts one from semaphores.
func (t *Target) lower(semaphores []arch.Addr) {
	for _, addr := range semaphores {
		_ = t.count(addr, ^uint16(0))
	}
}

// count adds to a semaphore, a 16-bit counter in the byte order of the target (<sys/sdt.h>). It wraps as the program's own would.
func (t *Target) count(addr arch.Addr, by uint16) error {
	var b [2]byte
	if t.read(addr, b[:]) < len(b) {
		return &noMemoryError{addr}
	}
	t.isa.Order.PutUint16(b[:], t.isa.Order.Uint16(b[:])+by)
	return t.write(addr, b[:])
}

// noMemoryError says that nothing is mapped where a tracepoint should go.
type noMemoryError struct{ addr arch.Addr }

func (e *noMemoryError) Error() string { return "no memory at " + e.addr.String() }

// ReadAuxv returns the program's auxiliary vector.
func (t *Target) ReadAuxv(int) ([]byte, error) { return t.program.Auxv, nil }

// ReadExecFile returns the program's path.
func (t *Target) ReadExecFile(int) (string, error) { return t.program.Exec, nil }

// ReadLibraries returns the program's link map.
func (t *Target) ReadLibraries(int) (inferior.LinkMap, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.program.Libraries == nil {
		return inferior.LinkMap{}, target.ErrNoProcess
	}
	return *t.program.Libraries, nil
}

// ReadSiginfo returns the program's signal details.
func (t *Target) ReadSiginfo(target.ThreadID) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.program.Siginfo), nil
}

// WriteSiginfo replaces them.
func (t *Target) WriteSiginfo(_ target.ThreadID, b []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.program.Siginfo = slices.Clone(b)
	return nil
}

// OSTables returns the tables of the program's system, without their rows.
func (t *Target) OSTables() []target.OSTable {
	tables := slices.Clone(t.program.Tables)
	for i := range tables {
		tables[i].Rows = nil
	}
	return tables
}

// ReadOSTable returns one of them.
func (t *Target) ReadOSTable(name string) (target.OSTable, error) {
	i := slices.IndexFunc(t.program.Tables, func(table target.OSTable) bool { return table.Name == name })
	if i < 0 {
		return target.OSTable{}, fmt.Errorf("the system has no table %q", name)
	}
	return t.program.Tables[i], nil
}

// ThreadPointer returns the address of a thread's variables, 0 while it has none.
func (t *Target) ThreadPointer(id target.ThreadID) (arch.Addr, error) {
	var pointer arch.Addr
	err := t.withStopped(id, func(*thread) { pointer = t.program.Locals.Blocks[id] })
	return pointer, err
}

// ThreadLocal returns the address of one of them.
func (t *Target) ThreadLocal(id target.ThreadID, object arch.Addr, offset uint64) (arch.Addr, error) {
	pointer, err := t.ThreadPointer(id)
	switch {
	case err != nil:
		return 0, err
	case object != t.program.Locals.LM:
		return 0, fmt.Errorf("no object at %v has thread-local variables", object)
	case pointer == 0:
		return 0, inferior.ErrNotAllocated
	}
	return pointer + arch.Addr(offset), nil
}

// readOnly is a type of its own because the group and its only method have one name.
type readOnly struct{ t *Target }

// ReadOnly reports whether the n bytes from addr on lie in read-only mappings.
func (r readOnly) ReadOnly(_ target.ThreadID, addr arch.Addr, n int) bool {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	for done := 0; done < n; {
		m := r.t.region(addr + arch.Addr(done))
		if m == nil || !m.ReadOnly {
			return false
		}
		done += len(m.Bytes) - int(addr+arch.Addr(done)-m.Start)
	}
	return true
}
