//go:build linux

package linux

import (
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tracewell/internal/fast"
	"tracewell/internal/sys"
	"tracewell/target"
)

// A thread that finds no room for its frame should sleep, which takes a system call; and a program may filter its system calls so
// that the kernel kills it for this one. The filter may come at any time, and the kernel tells nobody. So threads sleep by leave:
//
//   - Programs in which nothing can install a filter, by what they are linked with, have it once for all. Whether they have one is
//     looked at again and again nevertheless.
//   - In others a thread spins first. Where there is no room the tracer looks whether anyone has a filter by then; if not, those
//     that are waiting may sleep: from where they are they install none. (Another thread may install one for all, but none that
//     forbids what the locks of a program of several threads need.)
//   - Where there is a filter threads spin.

// sleepers is what an arena has of that.
type sleepers struct {
	wary     bool // the program may install a filter, or has one
	filtered bool // it has
	granted  uint64
	looked   time.Time
	takes    time.Duration // a look
}

// relyFor is how long it is relied on that a program has no filter which is not expected to install any. Others are looked at more
// often: a thread that spins takes a processor, but so does a look.
const (
	relyFor   = 10 * time.Millisecond
	waryFor   = 500 * time.Microsecond
	lookShare = 20 // of the time, one part is spent on looks at most
)

// letSleep gives and takes leave to sleep.
func (c *collector) letSleep() {
	for a, waits := range c.doubtful() {
		filtered, begin := true, time.Now()
		c.t.do(func() { filtered = c.t.filtered(a) })
		c.mu.Lock()
		a.sleepers.looked, a.sleepers.takes = time.Now(), time.Since(begin)
		switch s := &a.sleepers; {
		case !slices.Contains(c.arenas, a): // its memory may be gone with the program
		case filtered:
			s.filtered = true
			a.reader.LetSleep(0)
		case s.wary:
			a.reader.LetSleep(waits)
		}
		c.mu.Unlock()
	}
}

// doubtful are the arenas whose programs have to be looked at, with how many waits there were before: a thread that begins to wait
// behind that may have installed a filter.
func (c *collector) doubtful() (list map[*arena]uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.arenas {
		s := &a.sleepers
		if s.filtered {
			continue
		}
		every, due := relyFor, a.reader.Used() > 0
		waits := a.control.Waits()
		if s.wary {
			every, due = waryFor, a.reader.Starved() && waits != s.granted
		}
		if due && time.Since(s.looked) >= max(every, lookShare*s.takes) {
			if list == nil {
				list = make(map[*arena]uint64)
			}
			s.granted = waits
			list[a] = waits
		}
	}
	return list
}

// beginSleepers decides how the threads of a new arena wait.
func (a *arena) beginSleepers(filtered, mayFilter bool) {
	a.sleepers = sleepers{filtered: filtered, wary: filtered || mayFilter}
	if !a.sleepers.wary {
		a.reader.LetSleep(fast.AllWaits)
	}
}

// filtered reports whether a task whose hits go to an arena has a filter for system calls. One of which that cannot be told counts.
func (t *Target) filtered(a *arena) bool {
	for _, k := range t.tasks {
		if k.proc.pads == nil || k.proc.pads.arena != a || k.state == zombie {
			continue
		}
		filter, err := sys.StatusField(k.tid, "Seccomp")
		if filter != "0" && (err == nil || !sys.HasEnded(k.tid)) {
			return true
		}
	}
	return false
}

// mayFilter reports whether a program may install a filter, going by the functions that its files call. It takes one of the
// C library's, or a system call of the program's own; those of programs without a C library are not told apart. It takes a
// millisecond to look.
func (p *process) mayFilter() bool {
	maps, err := sys.Mappings(p.alive())
	if err != nil {
		return true
	}
	seen := make(map[string]bool)
	for _, m := range maps {
		if !m.Exec || !strings.HasPrefix(m.Path, "/") || seen[m.Path] || isLibC(filepath.Base(m.Path)) {
			continue
		}
		seen[m.Path] = true
		f, err := files{}.Open(p.pid, m.Path, os.O_RDONLY, 0)
		if err != nil {
			return true
		}
		may := installsFilters(f)
		f.Close()
		if may {
			return true
		}
	}
	return false
}

// isLibC reports whether a file is the C library or the dynamic linker, which have the functions that install filters and do not
// call them by themselves.
func isLibC(name string) bool {
	for _, prefix := range []string{"libc.", "libc-", "ld-", "libpthread"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// installsFilters reports whether the code of a file may. A file of which it cannot be told does.
func installsFilters(f target.File) bool {
	file, err := elf.NewFile(f)
	if err != nil {
		return true
	}
	imported, err := file.ImportedSymbols()
	isGo := file.Section(".gopclntab") != nil
	var names []string
	for _, s := range imported {
		names = append(names, s.Name)
	}
	if isGo || len(names) == 0 { // the C library, if any, is in the file itself
		symbols, err2 := file.Symbols()
		if err2 != nil && (err != nil || isGo) { // without a table there is only what the dynamic linker has to know
			return true
		}
		for _, s := range symbols {
			names = append(names, s.Name)
		}
	}
	return slices.ContainsFunc(names, func(name string) bool {
		return name == "prctl" || !isGo && name == "syscall" || strings.Contains(name, "seccomp") || strings.HasSuffix(name, ".Prctl")
	})
}
