package fakestub

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"time"

	"tracewell/ax"
	"tracewell/internal/routine"
)

// Signals, by GDB's numbers.
const (
	interrupted = 2
	badCode     = 4
	trap        = 5
	badAddress  = 11
)

// access says why memory is touched.
type access uint8

const (
	fetching access = iota
	reading
	writing
)

// region is a piece of memory.
type region struct {
	at    uint64
	bytes []byte
}

func (r *region) has(at uint64, size int) bool {
	return at >= r.at && at-r.at < uint64(len(r.bytes)) && uint64(size) <= uint64(len(r.bytes))-(at-r.at)
}

// place names a breakpoint, as Z does.
type place struct {
	kind int
	at   uint64
}

// breakpoint is one that is inserted.
type breakpoint struct {
	place
	size       int
	under      []byte        // the bytes that it took the place of, where it is in memory
	conditions []*ax.Program // it stops if there are none, or one holds; nil where they are ignored
}

// why says what stopped a hart.
type why uint8

const (
	stepped why = iota
	atSoftware
	atHardware
	atWatch
	atFault // a signal without more to say of it
	ended
)

// event is the end of a run: what a stop reply is made of.
type event struct {
	hart   int
	signal int
	why    why
	kind   int    // of the watchpoint
	at     uint64 // watched, that was touched
	status int    // of the exit
}

// order is what a hart is to do in a run.
type order struct {
	goes       bool
	steps      bool   // one instruction, or if end is not zero until the pc leaves the range
	start, end uint64 // of the range
	passes     bool   // it does not stop at a breakpoint where it stands
}

// machine is memory and harts. A run is on a goroutine of its own, and ends by itself with an event.
type machine struct {
	mu      sync.Mutex // guards all of it but halt
	harts   []hart
	orders  []order
	flash   region
	ram     region
	device  region
	exited  bool
	start   uint64
	passes  uint64
	running bool

	breakpoints map[place]*breakpoint
	checked     int    // of the breakpoints, those that each fetch must look for
	watching    bool   // some are watchpoints
	touched     *event // a watchpoint that this instruction has met
	current     int    // the hart that executes
	evaluator   ax.Machine

	deviceReads uint64 // by debuggers
	turns       uint64 // of the device: reads by anybody
	executed    uint64 // instructions, since reset

	stops chan event
	wake  chan struct{} // ends a sleep
	halt  atomic.Bool
	runs  routine.Group
}

// sliceLength is how many instructions are executed under one lock, and calm after how many of those a run makes pauses: a program that
// meets no breakpoint is not to take a processor for itself.
const (
	sliceLength = 2000
	calm        = 500
	pause       = time.Millisecond
)

// region finds the memory of an address, nil where there is none.
func (m *machine) region(at uint64, size int) *region {
	switch {
	case m.ram.has(at, size):
		return &m.ram
	case m.flash.has(at, size):
		return &m.flash
	case m.device.has(at, size):
		return &m.device
	}
	return nil
}

// load reads memory for the program.
func (m *machine) load(at uint64, size int, why access) (uint64, bool) {
	r := m.region(at, size)
	if r == nil || why == fetching && r == &m.device {
		return 0, false
	}
	if r == &m.device {
		defer m.turn()
	}
	if why == reading && m.watching {
		m.touch(at, size, 3)
	}
	b := r.bytes[at-r.at:]
	switch size {
	case 1:
		return uint64(b[0]), true
	case 2:
		return uint64(binary.LittleEndian.Uint16(b)), true
	case 4:
		return uint64(binary.LittleEndian.Uint32(b)), true
	}
	return binary.LittleEndian.Uint64(b), true
}

// store writes memory for the program. Flash takes nothing.
func (m *machine) store(at uint64, size int, v uint64) bool {
	r := m.region(at, size)
	if r == nil || r == &m.flash {
		return false
	}
	if m.watching {
		m.touch(at, size, 2)
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	copy(r.bytes[at-r.at:], b[:size])
	return true
}

// turn changes the device's register, as each read of it does, to how often it was read.
func (m *machine) turn() {
	m.turns++
	binary.LittleEndian.PutUint32(m.device.bytes, uint32(m.turns))
}

// touch looks for a watchpoint on what is read (kind 3) or written (kind 2).
func (m *machine) touch(at uint64, size, kind int) {
	for _, b := range m.breakpoints {
		watches := b.kind == kind || b.kind == 4
		if watches && at < b.at+uint64(b.size) && b.at < at+uint64(size) {
			m.touched = &event{hart: m.current, signal: trap, why: atWatch, kind: b.kind, at: b.at}
		}
	}
}

// reset begins the program anew. Memory stays, but for the counts of passes.
func (m *machine) reset() {
	for id := range m.harts {
		m.harts[id] = boot(id, m.start, m.passes)
		at := area(id) - m.ram.at
		clear(m.ram.bytes[at : at+firstOne])
	}
	m.exited, m.executed = false, 0
}

// resume starts a run. It ends with an event in stops. The caller holds the lock.
func (m *machine) resume(orders []order) {
	if m.running {
		return
	}
	m.orders, m.running = orders, true
	m.halt.Store(false)
	select {
	case <-m.wake: // of an interrupt that came too late for the run before
	default:
	}
	m.runs.Go(m.run)
}

// interrupt ends a run soon. Without one it does nothing.
func (m *machine) interrupt() {
	m.halt.Store(true)
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// run is a run.
func (m *machine) run() {
	for slices := 0; ; slices++ {
		m.mu.Lock()
		e, idle, ended := m.slice()
		if m.running = !ended; ended {
			m.stops <- e // before the lock is released: who sees that nothing runs finds the event
			m.mu.Unlock()
			return
		}
		m.mu.Unlock()
		switch {
		case idle:
			<-m.wake
		case slices > calm:
			select {
			case <-m.wake:
			case <-time.After(pause):
			}
		}
	}
}

// slice executes some instructions, one of each hart in turn. idle says that no hart does anything any more.
func (m *machine) slice() (e event, idle, ended bool) {
	for range sliceLength {
		if m.halt.Load() {
			return event{hart: m.current, signal: interrupted, why: atFault}, false, true
		}
		idle = true
		for id := range m.harts {
			o := &m.orders[id]
			if !o.goes || m.harts[id].parked && !o.steps {
				continue
			}
			idle = false
			m.current = id
			if e, ended = m.advance(id, o); ended {
				return e, false, true
			}
		}
		if idle {
			return e, true, false
		}
	}
	return e, false, false
}

// advance executes one instruction of a hart, unless a breakpoint stops it first.
func (m *machine) advance(id int, o *order) (event, bool) {
	h := &m.harts[id]
	passes := o.passes
	o.passes = false
	if m.checked > 0 && !passes {
		if b := m.breakpointAt(h.pc); b != nil && m.holds(b, h) {
			return event{hart: id, signal: trap, why: reasonOf(b)}, true
		} else if b != nil {
			passes = true
		}
	}
	var under *breakpoint
	if passes {
		under = m.lift(h.pc)
	}
	m.touched = nil
	result := m.execute(h)
	m.plant(under)
	m.executed++
	switch result {
	case trapped:
		return event{hart: id, signal: trap, why: atSoftware}, true // one that the client has written
	case illegal:
		return event{hart: id, signal: badCode, why: atFault}, true
	case faulted:
		return event{hart: id, signal: badAddress, why: atFault}, true
	case exited:
		m.exited = true
		return event{hart: id, why: ended, status: int(h.x[a0] & 0xff)}, true
	}
	switch {
	case m.touched != nil:
		return *m.touched, true
	case o.steps && (h.pc < o.start || h.pc >= o.end):
		return event{hart: id, signal: trap}, true
	}
	return event{}, false
}
