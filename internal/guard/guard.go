//go:build linux

package guard

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"tracewell/arch"
	"tracewell/internal/routine"
	"tracewell/internal/sys"
)

// Guard is the tracer's side: the table, and the process that stands by while there is anything in it. Each tracer has one. The
// zero value is ready for use.
type Guard struct {
	// The tracer's own, once Start has returned.
	table  table
	unused []uint32 // entries that were given back

	guarded atomic.Int32 // len(spaces)

	starting sync.Mutex // held by Start; mu is taken under it
	mu       sync.Mutex // guards the rest
	file     *os.File   // of the table
	unmap    func() error
	users    int // calls of Start without Rest
	spaces   map[uint32]*Space
	last     uint32        // number of a space
	channel  *sys.Channel  // nil without a guard process
	pid      int           // of it
	holder   chan struct{} // closed when the holder has ended, nil without one
	leaving  bool          // the holder is to end
	problem  error
}

const (
	// patience is how long a guard may take to start. It takes milliseconds on a machine that is not overloaded.
	patience = 10 * time.Second
	// restartPause is how long nobody stands by after the guard was killed.
	restartPause = 100 * time.Millisecond
)

// Start has a guard stand by if none does, and returns when it is ready, which is before anything needs it. Rest must follow.
// Without a guard Problem tells why.
func (g *Guard) Start() {
	g.starting.Lock()
	defer g.starting.Unlock()
	g.mu.Lock()
	g.users++
	stands, former := g.holder != nil && !g.leaving, g.holder
	g.mu.Unlock()
	if stands || !available.Load() {
		return
	}
	if former != nil {
		<-former
	}
	err := g.launch()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.problem = err; err != nil {
		g.holder = nil
	}
}

// Rest ends the guard if no space has been opened since Start, nor is one left from before.
func (g *Guard) Rest() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.users--
	g.restIfIdle()
}

// restIfIdle ends the guard when there is nothing to guard; mu is held.
func (g *Guard) restIfIdle() {
	if g.users > 0 || len(g.spaces) > 0 || g.holder == nil {
		return
	}
	g.leaving = true
	g.disconnect()
}

// disconnect closes the channel, which the guard takes for the end of the tracer; mu is held.
func (g *Guard) disconnect() {
	if g.channel != nil {
		g.channel.Close()
		g.channel = nil
	}
}

// Stands reports whether there is anything to guard, and a guard, but for moments when it is being replaced.
func (g *Guard) Stands() bool { return g.guarded.Load() > 0 }

// Problem is the reason why no guard stands by though one was wanted, nil if one does or if this program cannot be one (Run).
func (g *Guard) Problem() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.problem
}

// Close waits until the guard has ended, for a while. All spaces are closed.
func (g *Guard) Close() error {
	g.mu.Lock()
	g.restIfIdle()
	holder := g.holder
	g.mu.Unlock()
	if holder != nil {
		select {
		case <-holder:
		case <-time.After(patience):
			return errors.New("the guard process does not end")
		}
	}
	if g.file == nil {
		return nil
	}
	return errors.Join(g.unmap(), g.file.Close())
}

// launch makes the table, unless there is one, and starts the goroutine that has the guard for a child.
func (g *Guard) launch() error {
	if g.file == nil {
		file, err := sys.NewShared("traps", tableSize)
		if err != nil {
			return err
		}
		words, unmap, err := sys.MapShared(file)
		if err != nil {
			return errors.Join(err, file.Close())
		}
		g.table, g.file, g.unmap = words, file, unmap
	}
	started, ended := make(chan error, 1), make(chan struct{})
	g.mu.Lock()
	g.holder, g.leaving = ended, false
	g.mu.Unlock()
	routine.Go(func() { g.hold(started, ended) })
	return <-started
}

// hold is the thread whose death the guard waits for. It is also the guard's parent, so that a tracer which waits for any child of
// its own thread never hears of the guard, and it starts another one when that is killed.
func (g *Guard) hold(started chan<- error, ended chan<- struct{}) {
	defer close(ended)
	runtime.LockOSThread()
	drop, err := sys.RobustFutexIn(g.table).Hold()
	if err != nil {
		started <- err
		return
	}
	defer drop()
	for first := true; ; first = false {
		pid, channel, err := g.spawn()
		if err == nil {
			g.connect(pid, channel)
		}
		if first {
			started <- err
		}
		if err != nil {
			g.giveUp(err)
			return
		}
		sys.Hurry() // without that the guard is slower on a busy machine
		sys.WaitChild(pid)
		if !g.again() {
			return
		}
		time.Sleep(restartPause)
	}
}

// spawn starts a guard process and waits until it is ready.
func (g *Guard) spawn() (pid int, channel sys.Channel, err error) {
	ours, theirs, err := sys.NewChannel()
	if err != nil {
		return 0, channel, err
	}
	pid, err = sys.Respawn(namePrefix+strconv.Itoa(os.Getpid()), theirs, g.file)
	theirs.Close()
	if err == nil {
		if err = await(ours); err != nil {
			sys.KillAndReap(pid)
		}
	}
	if err != nil {
		ours.Close()
		return 0, channel, err
	}
	return pid, ours, nil
}

// await waits for a guard's first message.
func await(channel sys.Channel) error {
	if err := channel.Patience(patience); err != nil {
		return err
	}
	var buf [256]byte
	n, _, err := channel.Receive(buf[:])
	switch {
	case err != nil:
		return fmt.Errorf("the guard process does not start: %w", err)
	case string(buf[:n]) != ready:
		return errors.New(string(buf[:n]))
	}
	return nil
}

// connect tells a new guard what there is to guard.
func (g *Guard) connect(pid int, channel sys.Channel) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.channel, g.pid = &channel, pid
	for _, s := range g.spaces {
		g.send(message{s.id, uint32(s.pid)}, s.mem)
	}
	if g.leaving {
		g.disconnect()
	}
}

// again reports whether a guard that has ended is to have a successor.
func (g *Guard) again() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.disconnect()
	return !g.leaving
}

// giveUp notes that there is no guard and will be none.
func (g *Guard) giveUp(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.problem, g.holder = err, nil
}

// send sends a message, if there is a guard process; mu is held. One that receives nothing any more is killed, and the next one is
// told everything. (If the channel was closed to it, it would take the tracer for dead.)
func (g *Guard) send(m message, file *os.File) {
	if g.channel != nil && g.channel.Send(m.bytes(), file) != nil {
		sys.Kill(g.pid, sys.SIGKILL)
	}
}

// Open has the memory of a process guarded, through its memory file, which stays open until Space.Close. It returns nil where no
// guard has been started.
func (g *Guard) Open(pid int, mem *os.File) *Space {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.holder == nil || g.leaving {
		return nil
	}
	g.last++
	s := &Space{guard: g, id: g.last, pid: pid, mem: mem, entries: make(map[arch.Addr]uint32), raised: make(map[arch.Addr]uint32)}
	if g.spaces == nil {
		g.spaces = make(map[uint32]*Space)
	}
	g.spaces[s.id] = s
	g.guarded.Store(int32(len(g.spaces)))
	g.send(message{s.id, uint32(pid)}, mem)
	return s
}

// forget takes a space off the list.
func (g *Guard) forget(s *Space) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.spaces, s.id)
	g.guarded.Store(int32(len(g.spaces)))
	g.send(message{space: s.id}, nil)
	g.restIfIdle()
}

// take returns an entry that is not in use.
func (g *Guard) take() (i uint32, ok bool) {
	if n := len(g.unused); n > 0 {
		i = g.unused[n-1]
		g.unused = g.unused[:n-1]
		return i, true
	}
	return g.table.extend()
}

// release frees an entry.
func (g *Guard) release(i uint32) {
	g.table.remove(i)
	g.unused = append(g.unused, i)
}
