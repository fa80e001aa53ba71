package record

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/record/definition"
	"tracewell/target"
	"tracewell/trace"
	"tracewell/trace/compiled"
	"tracewell/tracepoint"
)

// several is a target with processes, each of which can refuse addresses, at once or late. It notes what it is asked for.
type several struct {
	bulk
	calls        []string
	refused      map[int]arch.Addr
	late         map[int]arch.Addr
	offloads     map[int][]arch.Addr // prepared since the last Apply
	trapped, has map[string]bool
}

func (s *several) Collector() target.Collector { return s }

func (s *several) Offload(pid int, t *compiled.Tracepoint) error {
	if s.refused[pid] == t.Addr {
		return errors.New("no")
	}
	s.offloads[pid] = append(s.offloads[pid], t.Addr)
	return nil
}

func (s *several) Recall(pid int, at arch.Addr) {
	delete(s.has, fmt.Sprint(pid, at))
	s.offloads[pid] = slices.DeleteFunc(s.offloads[pid], func(a arch.Addr) bool { return a == at })
}

func (s *several) Apply() (refusals []target.Refusal, err error) {
	s.calls = append(s.calls, "apply")
	for pid, addrs := range s.offloads {
		for _, at := range addrs {
			if s.late[pid] == at {
				refusals = append(refusals, target.Refusal{PID: pid, Addr: at, Err: errors.New("late")})
				continue
			}
			s.has[fmt.Sprint(pid, at)] = true
		}
	}
	clear(s.offloads)
	return refusals, nil
}

func (s *several) Explain(pid int, at arch.Addr) string {
	if s.has[fmt.Sprint(pid, at)] {
		return "pad"
	}
	return ""
}

func (s *several) Install(pid int, at arch.Addr, _ []arch.Addr) error {
	s.trapped[fmt.Sprint(pid, at)] = true
	return nil
}

func (s *several) Uninstall(pid int, at arch.Addr) error {
	delete(s.trapped, fmt.Sprint(pid, at))
	return nil
}

// places is what is where: "1 0x10" for process 1 at 0x10.
func places(all map[string]bool) string {
	var list []string
	for place := range all {
		list = append(list, place)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// TestSeveralProcesses: a location is a pad in all processes that there are or a trap in all; what comes later follows, by traps where
// it must; and nothing is left in the end.
func TestSeveralProcesses(t *testing.T) {
	on := &several{
		refused: map[int]arch.Addr{2: 0x20, 3: 0x10}, late: map[int]arch.Addr{2: 0x30, 3: 0x40}, offloads: make(map[int][]arch.Addr),
		trapped: make(map[string]bool), has: make(map[string]bool),
	}
	addrs := []arch.Addr{0x10, 0x20, 0x30, 0x40, 0x50}
	sites := func() map[arch.Addr]bool {
		all := make(map[arch.Addr]bool)
		for _, at := range addrs {
			all[at] = true
		}
		return all
	}
	s := &Session{
		tracer: on, finder: &definition.Finder{}, trapped: make(map[arch.Addr]bool),
		offloaded: make(map[arch.Addr][]*compiled.Tracepoint), processes: map[int]*process{1: {pid: 1, sites: sites()}, 2: {pid: 2, sites: sites()}},
	}
	e := tracepoint.New(tracepoint.Layout{})
	for i, at := range addrs {
		must(t, e.Define(trace.Tracepoint{Number: trace.Number(i + 1), Addr: at, Enabled: true}, false))
	}
	must(t, e.Start(tracer{on, s}, 1))
	want := func(when, pads, traps string) {
		t.Helper()
		if places(on.has) != pads || places(on.trapped) != traps {
			t.Errorf("%s: pads %s\ntraps %s\nwant  %s\nand   %s", when, places(on.has), places(on.trapped), pads, traps)
		}
	}
	want("at the start", "1 0x10, 1 0x40, 1 0x50, 2 0x10, 2 0x40, 2 0x50", "1 0x20, 1 0x30, 2 0x20, 2 0x30")
	if len(on.calls) != 2 { // one for all, and one behind the refusal
		t.Errorf("calls %q", on.calls)
	}
	s.processes[3] = &process{pid: 3, sites: sites()}
	for _, err := range s.follow(3, addrs) {
		must(t, err)
	}
	want("with a child", "1 0x10, 1 0x40, 1 0x50, 2 0x10, 2 0x40, 2 0x50, 3 0x50",
		"1 0x20, 1 0x30, 2 0x20, 2 0x30, 3 0x10, 3 0x20, 3 0x30, 3 0x40")
	if got := e.Explain(); got[0].String() != "pad" || got[1].String() != "trap: no" || got[2].String() != "trap: late" {
		t.Errorf("explanations %v", got)
	}
	if got := e.Explain(3, 2); len(got) != 2 || got[0].String() != "trap: no" || got[1].String() != "trap: late" {
		t.Errorf("explanations of tracepoints 2 and 3: %v", got)
	}
	must(t, s.unfollow(3, []arch.Addr{0x50}))
	must(t, s.unfollow(3, []arch.Addr{0x20}))
	want("without a library of the child", "1 0x10, 1 0x40, 1 0x50, 2 0x10, 2 0x40, 2 0x50",
		"1 0x20, 1 0x30, 2 0x20, 2 0x30, 3 0x10, 3 0x30, 3 0x40")
	must(t, e.Stop(trace.ReasonStop, ""))
	want("in the end", "", "")
}
