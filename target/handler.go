package target

import "tracewell/arch"

// Handler decides what happens at tracepoints; a trace engine makes them. A target calls it on a goroutine of its own, with no lock
// held that answering another session takes: reading memory through the Snapshot may take long. Hit and Stepped are called by one
// goroutine at a time.
type Handler interface {
	// Hit is called when a thread reaches an address at which a tracepoint is installed.
	Hit(at arch.Addr, s Snapshot) Verdict
	// Stepped is called when a thread has made the step that a verdict asked for; before Hit if the step led to a tracepoint.
	Stepped(s Snapshot) Verdict
	// ThreadGone is called when a thread will make no more steps: it has exited or has been detached from.
	ThreadGone(thread int64) Verdict
}

// Snapshot is a stopped thread, of which a frame is to be made. It is valid until the call that received it returns. All of it
// is called on the goroutine that called the Handler.
type Snapshot interface {
	// Thread identifies the thread among all live threads of the target.
	Thread() int64
	// ID is what expressions read as $pid and $tid.
	ID() ThreadID
	// PC is the address of the instruction about to run, never that of a copy of it nor the one behind a breakpoint.
	PC() arch.Addr
	// Register returns a register of up to eight bytes, zero-extended. Wider and unknown ones are an error.
	Register(r arch.Reg) (uint64, error)
	// Registers fills block with the registers that the g packet begins with, all of them if it is as long.
	Registers(block []byte) error
	// ReadMemory reads as many bytes of p as are readable from addr on and returns their count, in one piece: a hole
	// ends it. Breakpoints that the target inserted do not show in what it reads.
	ReadMemory(addr arch.Addr, p []byte) int
	// ReadBatch does several reads at the least cost the target has, setting each N as ReadMemory would return it.
	ReadBatch(reads []Read)
	// Err says that the connection to the thread is lost, so that nothing that was read through the snapshot is to be relied
	// on; nil as long as there is one. Memory that cannot be read is no such error.
	Err() error
}

// Read is one range of a batch.
type Read struct {
	Addr arch.Addr
	Dst  []byte
	N    int // bytes read
}

// Verdict tells a target how to go on after a hit, a step or a deposit. Bits combine.
type Verdict uint8

// What a verdict can ask for besides letting the thread go on.
const (
	// Continue asks for nothing more.
	Continue Verdict = 0
	// Step asks the target to let the thread execute one instruction and then to call Handler.Stepped.
	Step Verdict = 1 << 0
	// Halt says that the run is over: without being asked again, the target removes every tracepoint, installed or offloaded,
	// before it lets any thread go on.
	Halt Verdict = 1 << 1
)

// Tracer is a target that runs tracepoints. It serialises calls with its own run loop; they may be made whether threads run or
// not. A trace run's frames come from the process that the tracepoints were installed in, and from the child that a client
// follows when it detaches from that process at a fork.
type Tracer interface {
	// SetHandler says who decides what happens at tracepoints.
	SetHandler(h Handler)
	// Install has threads of a process that reach an address call Handler.Hit, by a breakpoint instruction. As long as it is
	// installed, one is added to each of the semaphores, 16-bit counters in the program.
	Install(pid int, at arch.Addr, semaphores []arch.Addr) error
	// Uninstall undoes Install. An address that the target removed by itself (Halt, the process gone) is no error.
	Uninstall(pid int, at arch.Addr) error
	// Collector is nil for a target that can only stop threads at tracepoints.
	Collector() Collector
}
