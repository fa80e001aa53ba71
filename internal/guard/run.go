//go:build linux

package guard

import (
	"os"
	"runtime"
	"strings"
	"sync/atomic"

	"tracewell/internal/routine"
	"tracewell/internal/sys"
)

// namePrefix is what a guard is called, as ps shows it, but for the process id of its tracer.
const namePrefix = "tracewell: guard of "

// shortName is what the kernel calls it. It does not begin like the tracer's, so that "killall -9 tracewell" spares it.
const shortName = "tw-guard"

// ready is the guard's first message; any other says why it cannot be one.
const ready = "ready"

// available is set when this program's main function has called Run: starting it once more makes a guard, then.
var available atomic.Bool

// Run is the guard if this process was started as one, and then does not return. The main function of a program that traces
// calls it before anything else. One that does not is never started as a guard, and has none.
func Run() {
	available.Store(true)
	if len(os.Args) == 1 && strings.HasPrefix(os.Args[0], namePrefix) {
		os.Exit(stand())
	}
}

// The descriptors that a guard is started with.
const (
	channelFD = sys.Inherited
	tableFD   = sys.Inherited + 1
)

// stand is the life of a guard.
func stand() (status int) {
	runtime.LockOSThread()
	channel := sys.ChannelOf(channelFD)
	words, _, err := sys.MapShared(os.NewFile(tableFD, "traps"))
	if err == nil {
		err = sys.WritesText()
	}
	if err != nil {
		channel.Send([]byte(err.Error()), nil)
		return 1
	}
	sys.CloseInherited(tableFD + 1)
	sys.Endure()
	sys.SetName(shortName)
	r := &rescuer{table: words}
	r.spaces.Store(&map[uint32]space{})
	watching := make(chan struct{})
	routine.Go(func() { r.watch(watching) })
	<-watching
	sys.Hurry()
	if channel.Send([]byte(ready), nil) != nil {
		return 1
	}
	r.receiveSpaces(channel)
	r.finish()
	return 0
}

// watch puts traps back as soon as a thread of the tracer has died.
func (r *rescuer) watch(watching chan<- struct{}) {
	runtime.LockOSThread()
	sys.Hurry()
	close(watching)
	sys.RobustFutexIn(r.table).WaitForDeath()
	r.restore()
}

// receiveSpaces keeps the list of spaces until the tracer is gone. It may leave a message behind that nobody has read: then
// Receive returns an error other than io.EOF.
func (r *rescuer) receiveSpaces(channel sys.Channel) {
	var buf [messageSize]byte
	for {
		n, fd, err := channel.Receive(buf[:])
		if err != nil {
			return
		}
		if m := parseMessage(buf[:]); n == messageSize && m.pid != 0 {
			r.add(m.space, space{int(m.pid), sys.CodeOf(fd)})
		} else if n == messageSize {
			r.drop(m.space)
		}
	}
}
