//go:build linux

package local

import (
	"errors"
	"fmt"
	"slices"

	"tracewell/internal/sys"
	"tracewell/record"
	"tracewell/target"
	"tracewell/target/linux"
)

// Open launches the program or attaches to the process and prepares a run. A program that was launched stands still after it, with
// its libraries loaded and before any code of its own; one that was attached to goes on.
func Open(c Config) (*record.Session, error) {
	var later *names
	if len(c.Names) > 0 {
		later = newNames(c.Names, c.Follow)
		named, err := later.present(c.Interrupted, c.waits)
		if err != nil {
			return nil, err
		}
		c.PIDs = append(slices.Clone(c.PIDs), named...)
	}
	slices.Sort(c.PIDs)
	c.PIDs = slices.Compact(c.PIDs)
	t, err := linux.New(c.Streams)
	if err != nil {
		return nil, err
	}
	if !c.TrapsOnly {
		t.UsePads(linux.Pads{})
	}
	h := &host{on: t, config: c, names: later}
	later.watch()
	return record.Open(h, c.Config)
}

// waits reports that there is no process yet.
func (c *Config) waits(name string) {
	if c.Events != nil {
		c.Events(record.Event{Kind: record.Waiting, Path: name})
	}
}

// host implements record.Host.
type host struct {
	on     *linux.Target
	config Config
	main   int    // process that was launched or attached to
	names  *names // of processes that begin later; nil for none
}

// Target implements record.Host.
func (h *host) Target() target.Target { return h.on }

// Enter implements record.Host.
func (h *host) Enter() (record.Entry, error) {
	if len(h.config.PIDs) == 0 {
		return h.launch()
	}
	var entry record.Entry
	for _, pid := range h.config.PIDs {
		// A process that job control has stopped is recorded when somebody continues it.
		switch _, err := h.on.AttachAsIs(pid); {
		case err != nil:
			entry.Warnings = append(entry.Warnings, err)
		case entry.PID == 0:
			entry.PID = pid
		default:
			entry.Others = append(entry.Others, pid)
		}
	}
	if h.main = entry.PID; h.main == 0 {
		return entry, errors.Join(entry.Warnings...)
	}
	if err := h.on.Unguarded(); err != nil {
		entry.Warnings = append(entry.Warnings,
			fmt.Errorf("should this recorder be killed by SIGKILL, process %d dies with its next hit: %w", h.main, err))
	}
	return entry, nil
}

// Newcomers implements record.Host.
func (h *host) Newcomers() <-chan int {
	if h.names == nil {
		return nil
	}
	return h.names.came
}

// Join implements record.Host.
func (h *host) Join(pid int) error { return h.on.Join(pid) }

func (h *host) launch() (record.Entry, error) {
	id, err := h.on.Start(h.config.Program)
	if err != nil {
		return record.Entry{}, launchError(h.config.Program, err)
	}
	h.main = id.PID
	return record.Entry{PID: id.PID, Launched: true, Still: true}, nil
}

// ThreadName implements record.Host.
func (h *host) ThreadName(tid int64) string { return sys.ThreadName(int(tid)) }

// GroupStops implements record.Host.
func (h *host) GroupStops() <-chan target.GroupStop { return h.on.GroupStops() }

// Warnings implements record.Host.
func (h *host) Warnings() <-chan error { return h.on.Warnings() }

// Untold implements record.Host.
func (h *host) Untold() []target.Event { return h.on.Untold() }

// Pause implements record.Host: a full buffer would make the program wait for a process that is stopped.
func (h *host) Pause() (resume func(), any bool) { return h.on.PausePads() }

// Close implements record.Host.
func (h *host) Close() error {
	h.names.close()
	err := h.on.Close()
	for warning := range h.on.Warnings() { // of the processes that it has detached from
		err = errors.Join(err, warning)
	}
	return err
}
