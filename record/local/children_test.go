//go:build linux && amd64

package local

import (
	"encoding/binary"
	"strings"
	"testing"

	"tracewell/internal/test/testprog"
	"tracewell/record"
	"tracewell/trace"
)

// handled is what a recording has of the calls of one worker of prefork.
type handled struct {
	next  uint64 // call
	pid   int64
	wrong int // frames that were not those of the next call of the process
}

// workers goes through the frames of a recording of prefork's calls of handle, by the number of the worker, the first argument.
func workers(t *testing.T, o *outcome) map[uint64]*handled {
	all := make(map[uint64]*handled)
	for i := range o.file.NumFrames() {
		f, err := o.file.Frame(i)
		if err != nil {
			t.Fatal(err)
		}
		const rsi, rdi = 4, 5 // places in a block of registers
		argument := func(place int) uint64 { return binary.LittleEndian.Uint64(f.Registers()[8*place:]) }
		pid, _ := f.Variable(processID(t))
		w := all[argument(rdi)]
		if w == nil {
			w = &handled{pid: pid}
			all[argument(rdi)] = w
		}
		if argument(rsi) != w.next || pid != w.pid {
			w.wrong++
		}
		w.next = argument(rsi) + 1
	}
	return all
}

// processID is the number of $pid in recordings.
func processID(t *testing.T) trace.VariableNumber {
	v, ok := trace.Builtin(trace.ProcessIDName)
	if !ok {
		t.Fatal("no $pid")
	}
	return v.Number
}

// TestChildren has workers of all kinds call a function that is traced, by traps and by pads: each frame is of the process that it
// tells, and there is one for each call, in order.
func TestChildren(t *testing.T) {
	p := testprog.Build(t, "prefork", testprog.Variant{})
	const script = "trace handle\nactions\ncollect $rdi, $rsi, $pid\nend\n"
	for _, pads := range []bool{false, true} {
		for mode, processes := range map[string]int{"plain": 8, "nested": 6, "borrow": 6, "exec": 4, "kill": 4, "orphan": 6} {
			name := mode + map[bool]string{false: " by traps", true: " by pads"}[pads]
			t.Run(name, func(t *testing.T) {
				calls := map[bool]string{false: "200", true: "5000"}[pads && mode != "kill"]
				c := config(t, script, p.Path, map[string]string{"plain": "8", "nested": "3"}[mode], calls, mode)
				if c.Program.Args[0] == "" {
					c.Program.Args[0] = map[string]string{"borrow": "6", "exec": "4", "kill": "4", "orphan": "6"}[mode]
				}
				c.Follow, c.TrapsOnly = true, !pads
				o := run(t, c)
				seen := workers(t, &o)
				printed := testprog.OfKind(testprog.Records(o.output), "worker")
				for _, r := range printed {
					w := seen[uint64(r.Int(t, "number"))]
					if w == nil {
						t.Errorf("no frames of worker %v", r.Fields)
						continue
					}
					if int64(w.next) != r.Int(t, "calls") || w.pid != r.Int(t, "pid") || w.wrong > 0 || r.Int(t, "wrong") > 0 {
						t.Errorf("%+v of worker %v", *w, r.Fields)
					}
				}
				// Those that print nothing: children that were killed, or that could not print as they had borrowed their memory.
				for number, w := range seen {
					if w.wrong > 0 || mode == "borrow" && number > 0 && number < 99 && w.next != 1 {
						t.Errorf("%+v of worker %d", *w, number)
					}
				}
				pids := make(map[int64]bool)
				for _, w := range seen {
					pids[w.pid] = true
				}
				want := processes + 1
				if mode == "nested" {
					want = 2*3 + 1
				}
				if o.Code != 0 || len(pids) != want || mode != "orphan" && !strings.Contains(o.output, "done wrong=0") {
					t.Errorf("%d processes, want %d; %+v, output %q", len(pids), want, o.Result, o.output)
				}
				for _, e := range o.events {
					if e.Kind == record.Warning && mode != "kill" { // which may lose a frame that was begun
						t.Errorf("warning: %v", e.Err)
					}
				}
			})
		}
	}
}

// TestChildrenCount has all processes count in one trace state variable, and end the run at a number of hits: no hit is lost or
// counted twice, and frames are in the order of the values.
func TestChildrenCount(t *testing.T) {
	p := testprog.Build(t, "prefork", testprog.Variant{})
	for _, pads := range []bool{false, true} {
		c := config(t, "tvariable $n\ntrace handle if ($n = $n + 1) % 10 == 0\nactions\ncollect $n\nend\n", p.Path, "4", "1000")
		c.Follow, c.TrapsOnly = true, !pads
		o := run(t, c)
		for i := range o.file.NumFrames() {
			f, err := o.file.Frame(i)
			if err != nil {
				t.Fatal(err)
			}
			var v int64
			for _, d := range o.file.Header().Variables {
				if d.Name == "n" {
					v, _ = f.Variable(d.Number)
				}
			}
			if v != int64(10*(i+1)) {
				t.Fatalf("pads %v: frame %d has the value %d", pads, i, v)
			}
		}
		if n := o.file.NumFrames(); n != 500 || o.Code != 0 {
			t.Errorf("pads %v: %d frames, want 500; %+v", pads, n, o.Result)
		}
		c = config(t, "trace handle\npasscount 1234\n", p.Path, "4", "1000")
		c.Follow, c.TrapsOnly = true, !pads
		if o = run(t, c); o.End != record.PassCount || o.file.NumFrames() != 1234 || o.Code != 0 {
			t.Errorf("pads %v: %d frames, want 1234; %+v", pads, o.file.NumFrames(), o.Result)
		}
	}
}
