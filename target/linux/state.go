//go:build linux

package linux

import (
	"fmt"
	"slices"
	"strings"

	"tracewell/target"
)

// The names of states, in the order of their constants.
var (
	stateNames = [...]string{"stopped", "running", "told to stop", "listening", "zombie"}
	whyNames   = [...]string{
		"", "interrupted", "in a group-stop", "at an event", "entering a system call", "leaving a system call",
		"led to the end of a system call", "at a signal",
	}
	wantedNames = [...]string{"to stay", "to run", "to halt"}
	roleNames   = [...]string{"thread", "vfork child", "parting vfork child"}
	debtNames   = [...]string{"its stop", "a resume", "a step to the engine", "an entry shown"}
)

func (s taskState) String() string  { return stateNames[s] }
func (s stopReason) String() string { return whyNames[s] }
func (w wanted) String() string     { return wantedNames[w] }
func (r role) String() string       { return roleNames[r] }

func (d debts) String() string {
	var owed []string
	for i, name := range debtNames {
		if d&(1<<i) != 0 {
			owed = append(owed, name)
		}
	}
	return strings.Join(owed, ", ")
}

// String tells of a task what the kernel does with it, what the session wants of it, and what it owes.
func (k *task) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d.%d %s", k.role, k.proc.pid, k.tid, k.state)
	if k.why != noReason {
		fmt.Fprintf(&b, " %s", k.why)
	}
	if k.why == atEvent {
		fmt.Fprintf(&b, " (%d)", k.event)
	}
	fmt.Fprintf(&b, ", %s", k.wants)
	if k.verb != target.Go {
		fmt.Fprintf(&b, " by steps in [%s, %s)", k.rangeStart, k.rangeEnd)
	}
	if k.owes != 0 {
		fmt.Fprintf(&b, "; owes %s", k.owes)
	}
	if k.has(owesStop) {
		fmt.Fprintf(&b, " (%s)", k.stop)
	}
	if k.passed != 0 {
		fmt.Fprintf(&b, "; the instruction at %s", k.passed)
	}
	if len(k.deferred) > 0 {
		fmt.Fprintf(&b, "; %d signals", len(k.deferred))
	}
	if k.diverted != nil {
		b.WriteString("; a system call")
	}
	if k.vforked != 0 {
		fmt.Fprintf(&b, "; waits for its child %d", k.vforked)
	}
	return b.String()
}

// dump tells the state of everything, for whoever has to find out how it came about.
func (t *Target) dump() string {
	var b strings.Builder
	fmt.Fprintf(&b, "non-stop %t, resumed %t, event to tell %t, %d events for later\n", t.nonStop, t.active, t.telling, len(t.backlog))
	var lines []string
	for _, k := range t.tasks {
		lines = append(lines, k.String())
	}
	slices.Sort(lines)
	for _, line := range lines {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	for _, s := range t.stops {
		fmt.Fprintf(&b, "  queued: %d\n", s.tid)
	}
	for _, e := range t.ends {
		fmt.Fprintf(&b, "  ended: %d with status %d, by signal %d\n", e.task.tid, e.code, e.signal)
	}
	for _, k := range t.ready {
		fmt.Fprintf(&b, "  ready: %d\n", k.tid)
	}
	return b.String()
}

// surprise ends the tracer, with a dump of all states, where it holds something for certain that is not so. Going on might do
// to one thread what was meant for another. Attached processes are let go first (escape).
func (t *Target) surprise(what string, k *task) {
	panic(fmt.Sprintf("%s: %s\n%s", what, k, t.dump()))
}
