//go:build linux

package local

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"tracewell/internal/routine"
	"tracewell/internal/sys"
)

// names finds processes by what the kernel calls them (comm), first those that run and then those that begin.
//
// Nothing tells an ordinary user of new processes: the kernel's connector for that requires CAP_NET_ADMIN, and works in no
// container. So /proc is looked through, and what a process does before it is found there is not recorded.
type names struct {
	wanted []string
	came   chan int // nil if only those that run are wanted
	seen   map[int]time.Time
	full   time.Time // when all processes were looked at last, however old
	done   chan struct{}
	idle   routine.Group
}

const (
	// lookEvery is how long a process may go unnoticed.
	lookEvery = 5 * time.Millisecond
	// young is how long a process is looked at each time, since it gets its name by the exec that follows its fork. Others, which
	// may name themselves, are looked at each time that young has passed.
	young = time.Second
	// nameLength is how much the kernel keeps of a name.
	nameLength = 15
)

// newNames finds processes with one of these names; later says whether those are wanted that begin later.
func newNames(wanted []string, later bool) *names {
	n := &names{seen: make(map[int]time.Time), done: make(chan struct{})}
	for _, name := range wanted {
		n.wanted = append(n.wanted, name[:min(len(name), nameLength)])
	}
	if later {
		n.came = make(chan int)
	}
	return n
}

// present returns the processes that run now. Where there is none and later ones are wanted it calls waits, and returns the first
// that begins, unless interrupted is closed.
func (n *names) present(interrupted <-chan struct{}, waits func(name string)) ([]int, error) {
	// What has been found is not found again, so that watch goes on from here.
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	name := strings.Join(n.wanted, " or ")
	for first := true; ; first = false {
		found, err := n.look()
		switch {
		case len(found) > 0 || err != nil:
			return found, err
		case n.came == nil:
			return nil, fmt.Errorf("no process is named %s; --follow waits for one", name)
		case first:
			waits(name)
		}
		select {
		case <-interrupted:
			return nil, fmt.Errorf("no process is named %s", name)
		case <-tick.C:
		}
	}
}

// watch sends those that begin from now on, until close.
func (n *names) watch() {
	if n == nil || n.came == nil {
		return
	}
	n.idle.Go(func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			select {
			case <-n.done:
				return
			case <-tick.C:
			}
			found, _ := n.look() // without /proc there would have been none to begin with
			for _, pid := range found {
				select {
				case n.came <- pid:
				case <-n.done:
					return
				}
			}
		}
	})
}

// close ends watch.
func (n *names) close() {
	if n == nil {
		return
	}
	select {
	case <-n.done:
	default:
		close(n.done)
	}
	n.idle.Wait()
}

// look returns the processes that have one of the names and were not returned before.
func (n *names) look() (found []int, err error) {
	// To list the numbers costs little, to read the names of hundreds of processes 200 times a second would cost half a processor.
	now := time.Now()
	all := now.Sub(n.full) >= young
	if all {
		n.full = now
	}
	pids, err := sys.Processes()
	there := make(map[int]time.Time, len(pids))
	for _, pid := range pids {
		since, known := n.seen[pid]
		if !known {
			since = now
		}
		there[pid] = since
		switch {
		case known && !all && now.Sub(since) >= young, since.Equal(taken):
		case n.matches(pid):
			there[pid] = taken
			found = append(found, pid)
		}
	}
	n.seen = there // without those that have ended, whose numbers may come again
	return found, err
}

// taken stands in the place of when a process was seen first that has been returned.
var taken = time.Unix(0, 0)

// matches reports whether a process is one that is wanted: not this one, none that has ended or is the kernel's own, and no child
// that this process traces already.
func (n *names) matches(pid int) bool {
	if pid == os.Getpid() || !slices.Contains(n.wanted, sys.ThreadName(pid)) || sys.HasEnded(pid) {
		return false
	}
	if size, err := sys.StatusField(pid, "VmSize"); err != nil || size == "" {
		return false
	}
	field, _ := sys.StatusField(pid, "TracerPid")
	tracer, _ := strconv.Atoi(field) // a thread
	group, err := sys.ThreadGroup(tracer)
	return tracer == 0 || err != nil || group != os.Getpid()
}
