package remote_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"tracewell/internal/test/fakestub"
)

// switches has a row for each switch of a stub, set by itself or with what it takes to show.
var switches = []fakestub.Quirks{
	{KeepsAcks: true}, {KeepsAcks: true, Acks: fakestub.Resends}, {KeepsAcks: true, Acks: fakestub.Drops},
	{NoSupported: true}, {PacketSize: 256}, {PacketSize: 1024, DecimalSize: true}, {RunLength: true},
	{Running: fakestub.Answers}, {Running: fakestub.StopsAtAnyByte}, {Running: fakestub.Swallows},
	{KeepsAcks: true, Running: fakestub.StopsAtAnyByte}, {KeepsAcks: true, Running: fakestub.Swallows},
	{Delay: 100 * time.Millisecond}, {SlowBlock: 2 * time.Millisecond}, {StopNotice: 100 * time.Millisecond},
	{ConsoleEach: 1}, {ConsoleEach: 1, KeepAlive: true}, {ConsoleOnRun: true}, {ConsoleOnRun: true, KeepAlive: true},

	{Software: fakestub.InRAM}, {Software: fakestub.Refused}, {Software: fakestub.Unknown},
	{Software: fakestub.Unknown, Hardware: fakestub.None}, {Software: fakestub.Refused, Hardware: 5},
	{InMemory: true}, {InMemory: true, Shown: true}, {Watchpoints: fakestub.None},
	{Conditions: fakestub.Ignored}, {Conditions: fakestub.Obeyed}, {Conditions: fakestub.Rejected},
	{UnknownZDrops: true}, {QueryClears: true}, {StepStays: true}, {StepStays: true, InMemory: true}, {ContinuePasses: true},

	{DetachKeeps: true}, {NoVCont: true}, {ActsAsOne: true}, {NoVCont: true, OtherFails: true}, {RangeSteps: true}, {KillResumes: true},
	{Stop: fakestub.BareT}, {Stop: fakestub.BareS}, {Reasons: true}, {Expedites: true}, {Multiprocess: true},
	{ThreadDigits: 2}, {ThreadDigits: 16}, {SelectFails: true}, {NoThreadXfer: true}, {NoThreadXfer: true, ThreadsAtOnce: true},
	{NoThreads: true}, {NoThreadList: true},

	{NoRegister: true}, {NoWriteRegister: true}, {MemoryLimit: 5}, {LongReadFails: true}, {NoBinaryWrite: true}, {BinaryRead: true},
	{NoFeatures: true}, {NoMemoryMap: true}, {NoFlash: true}, {NoMonitor: true}, {MonitorInReply: true}, {NoChecksum: true},
	{NoRestart: true}, {NoSymbols: true}, {Features: "QPassSignals+;QNonStop+"}, {Replies: map[string]string{"?": "S05"}},
	{ResetClears: true}, {FilesEach: 3},
}

// TestSwitches traces one program over stubs that have one habit each, and wants the frames of a stub that has none.
func TestSwitches(t *testing.T) {
	type program struct {
		harts  int
		inRAM  bool
		passes uint64
		most   int // of the tracepoints
	}
	machine := func(p program, q fakestub.Quirks) fakestub.Config {
		return fakestub.Config{Quirks: q, Harts: p.harts, InRAM: p.inRAM, Passes: p.passes}
	}
	wants := make(map[program]map[uint64][]string)
	for _, q := range switches {
		p := program{2, q.Software != fakestub.InRAM, passes, 5}
		if q.NoThreads {
			p.harts = 1 // nobody could tell them apart
		}
		if q.Delay > 0 || q.StopNotice > 0 {
			p = program{1, true, 2, 2}
		}
		if wants[p] == nil {
			wants[p] = open(t, machine(p, fakestub.Plain)).some(p.harts, p.most)
			if len(wants[p]) != p.harts {
				t.Fatalf("%+v without any habit:\n%s", p, lines(wants[p]))
			}
		}
		want := wants[p]
		t.Run(set(q), func(t *testing.T) {
			t.Parallel()
			r := open(t, machine(p, q))
			if got := r.some(p.harts, p.most); !maps.EqualFunc(got, want, slices.Equal) {
				t.Errorf("frames\n%s\nwant\n%s\n%s", lines(got), lines(want), r.transcript())
			}
			r.clean()
		})
	}
	all := reflect.TypeFor[fakestub.Quirks]()
	for i := range all.NumField() {
		if !slices.ContainsFunc(switches, func(q fakestub.Quirks) bool { return !reflect.ValueOf(q).Field(i).IsZero() }) {
			t.Errorf("no row sets %s", all.Field(i).Name)
		}
	}
}

// set says which switches are set, and to what.
func set(q fakestub.Quirks) (names string) {
	v := reflect.ValueOf(q)
	for i := range v.NumField() {
		if f := v.Field(i); !f.IsZero() {
			if names != "" {
				names += ","
			}
			names += fmt.Sprintf("%s=%v", v.Type().Field(i).Name, f)
		}
	}
	return names
}
