// Package fake is a target in memory: a program that is nothing but registers, mappings and a script of what happens to it.
// Sessions, tracepoints and examples run on it whole, without a process.
//
// The script is a queue of steps. A Resume takes steps off it until one ends with an event; while the queue is empty the
// program counts as running, and steps that are added then happen at once. So a test can script the program beforehand, or
// play the program while a client waits for it.
//
// It keeps to what package target promises: a goroutine of its own runs the program, one event answers each Resume,
// and calls of the tracepoint engine and calls of the session are serialised by one mutex. It never touches anything
// outside itself. It executes no instructions: a step says where a thread arrives, and a single-step moves the pc on by one.
package fake

import (
	"sync"

	"tracewell/arch"
	"tracewell/target"
	"tracewell/tdesc"
	"tracewell/tracepoint"
)

// Program is what a fake target starts with. The optional abilities are there when their value is.
type Program struct {
	ISA         *arch.ISA
	Description *tdesc.Target
	Threads     []target.Thread // leader first, all of one process
	Memory      []Region

	CoreOnly bool // no Runner, Breakpoints and Tracer: a target that can only be looked at

	Auxv      []byte
	Exec      string
	Libraries *target.LinkMap
	Siginfo   []byte           // of whichever thread is asked
	Files     map[string]*File // by absolute path
	Passing   bool             // Signals
	Tables    []target.OSTable // of the system it runs on
	// Locals are the thread-local variables. The toy has one object with some, whose entry in the linker's list is at LM; a
	// thread that is not among the blocks has not got them yet.
	Locals *Locals
}

// Locals are the places of thread-local variables.
type Locals struct {
	LM     arch.Addr
	Blocks map[target.ThreadID]arch.Addr
}

// Region is one mapping.
type Region struct {
	Start    arch.Addr
	Bytes    []byte
	ReadOnly bool
}

// Target is a program in memory. Its methods may be called from several goroutines.
type Target struct {
	target.Base
	isa    *arch.ISA
	desc   *tdesc.Target
	layout *tdesc.Layout
	events chan target.Event

	// mu guards what follows. The run goroutine holds it while the engine works on a hit, which is how Install and
	// Uninstall come to be serialised with hits.
	mu        sync.Mutex
	changed   *sync.Cond // of script, running and interrupt
	program   Program
	threads   []*thread
	breaks    map[breakpoint]target.Breakpoint
	sites     map[arch.Addr][]*tracepoint.Site
	engine    *tracepoint.Engine
	script    []Step
	running   bool
	interrupt bool
	deaf      bool // to interrupts
	passing   map[target.Signal]bool
}

// thread is a live thread and its register block.
type thread struct {
	target.Thread
	block []byte
}

// breakpoint is the key of an inserted breakpoint.
type breakpoint struct {
	kind target.BreakKind
	addr arch.Addr
}

// New makes a target of p, which it keeps. All registers are zero. The error is that of an unusable Description.
func New(p Program) (*Target, error) {
	layout, err := p.Description.Layout()
	if err != nil {
		return nil, err
	}
	t := &Target{
		isa: p.ISA, desc: p.Description, layout: layout, program: p,
		events: make(chan target.Event, 1),
		breaks: make(map[breakpoint]target.Breakpoint),
		sites:  make(map[arch.Addr][]*tracepoint.Site),
	}
	t.changed = sync.NewCond(&t.mu)
	for _, th := range p.Threads {
		t.threads = append(t.threads, &thread{th, make([]byte, layout.Size)})
	}
	return t, nil
}

// ISA returns the instruction set of the program.
func (t *Target) ISA() *arch.ISA { return t.isa }

// Description returns the description of the program's registers.
func (t *Target) Description() *tdesc.Target { return t.desc }

// Threads lists the live threads.
func (t *Target) Threads() []target.Thread {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]target.Thread, len(t.threads))
	for i, th := range t.threads {
		list[i] = th.Thread
	}
	return list
}

// AddThread starts a thread whose registers are zero.
func (t *Target) AddThread(th target.Thread) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.threads = append(t.threads, &thread{th, make([]byte, t.layout.Size)})
}

// EndThread ends a thread, and tells the engine.
func (t *Target) EndThread(id target.ThreadID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, th := range t.threads {
		if th.ID == id {
			t.threads = append(t.threads[:i:i], t.threads[i+1:]...)
			t.threadGone(id)
			return
		}
	}
}

// SetLibraries replaces the link map.
func (t *Target) SetLibraries(m *target.LinkMap) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.program.Libraries = m
}

// Inserted reports whether a breakpoint is inserted now.
func (t *Target) Inserted(kind target.BreakKind, addr arch.Addr) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, inserted := t.breaks[breakpoint{kind, addr}]
	return inserted
}

// Installed counts the tracepoint sites that are installed now.
func (t *Target) Installed() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, sites := range t.sites {
		n += len(sites)
	}
	return n
}

// find returns the live thread of id, or the first one for the zero id and for All.
func (t *Target) find(id target.ThreadID) (*thread, error) {
	if len(t.threads) == 0 {
		return nil, target.ErrNoProcess
	}
	for _, th := range t.threads {
		if id == (target.ThreadID{}) || id.Covers(th.ID) {
			return th, nil
		}
	}
	return nil, target.ErrNoThread
}

// threadGone tells the engine of the end of a thread.
func (t *Target) threadGone(id target.ThreadID) {
	if t.engine != nil && t.engine.ThreadGone(int64(id.TID))&tracepoint.Halt != 0 {
		t.removeSites()
	}
}

// clear forgets the process, its breakpoints and sites.
func (t *Target) clear() {
	for _, th := range t.threads {
		t.threadGone(th.ID)
	}
	t.threads = nil
	clear(t.breaks)
	clear(t.sites)
}
