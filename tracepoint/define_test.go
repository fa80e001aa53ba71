package tracepoint

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/target"
	"tracewell/trace"
)

// text gives the definitions as GDB's packets would.
func (r *rig) text() []string {
	var lines []string
	for _, t := range r.Tracepoints() {
		lines = append(lines, t.Pieces()...)
	}
	return lines
}

func (r *rig) wantText(want ...string) {
	r.Helper()
	if diff := cmp.Diff(want, r.text()); diff != "" {
		r.Errorf("definitions (-want +got):\n%s", diff)
	}
}

// packet does what a stub does with a QTDP, QTDP:- or QTDPsrc packet.
func (r *rig) packet(p string) error {
	r.Helper()
	if rest, ok := strings.CutPrefix(p, "QTDP:-"); ok {
		p, err := trace.ParseQTDPActions(rest)
		r.must(err)
		return r.AddActions(p.Key, p.Stepping, p.Actions, p.More)
	}
	if rest, ok := strings.CutPrefix(p, "QTDP:"); ok {
		t, more, err := trace.ParseQTDP(rest)
		r.must(err)
		return r.Define(t, more)
	}
	piece, err := trace.ParseQTDPSource(strings.TrimPrefix(p, "QTDPsrc:"))
	r.must(err)
	return r.AddSource(piece)
}

func (r *rig) packets(list ...string) {
	r.Helper()
	for _, p := range list {
		r.must(r.packet(p))
	}
}

// TestDefineOrder: by address, those of one address as they came.
func TestDefineOrder(t *testing.T) {
	r := newRig(t)
	r.packets("QTDP:3:20:E:0:0", "QTDP:2:10:D:0:5", "QTDP:1:20:E:0:0", "QTDP:3:10:E:0:0")
	r.wantText("T2:10:D:0:5", "T3:10:E:0:0", "T3:20:E:0:0", "T1:20:E:0:0")
}

// TestDefinePackets sends a tracepoint as GDB does, with an empty packet, stepping packets of which only the first says so,
// and a source string in parts.
func TestDefinePackets(t *testing.T) {
	r := newRig(t)
	r.packets(
		"QTDP:2:0000000000401131:E:2:0:X3,220127-",
		"QTDP:-2:0000000000401131:R07-",
		"QTDP:-2:0000000000401131:-",
		"QTDP:-2:0000000000401131:M-1,404020,4X00000003,220127-",
		"QTDP:-2:0000000000401131:SR07-",
		"QTDP:-2:0000000000401131:M-1,404030,8",
		"QTDPsrc:2:401131:at:0:6:66",
		"QTDPsrc:2:401131:at:1:6:6f6f3a3132",
		"QTDPsrc:2:401131:cond:0:1:31",
		"QTDPsrc:2:401131:cmd:0:3:616263",
		"QTDPsrc:2:401131:cmd:0:3:656e64",
	)
	r.wantText(
		"T2:401131:E:2:0:X3,220127",
		"A2:401131:R07",
		"A2:401131:M-1,404020,4",
		"A2:401131:X00000003,220127",
		"S2:401131:R07",
		"S2:401131:M-1,404030,8",
		"Z2:401131:at:0:6:666f6f3a3132",
		"Z2:401131:cond:0:1:31",
		"Z2:401131:cmd:0:3:616263",
		"Z2:401131:cmd:0:3:656e64",
	)
}

func TestDefineRefused(t *testing.T) {
	for _, test := range []struct {
		name       string
		tracepoint trace.Tracepoint
		want       string
	}{
		{"number 0", tracepointAt(0, 0x10),
			"tracepoint number 0 is not from 1 to 32767, which is what a traceframe can name"},
		{"number too large", tracepointAt(0x8000, 0x10),
			"tracepoint number 32768 is not from 1 to 32767, which is what a traceframe can name"},
		{"static", trace.Tracepoint{Number: 1, Addr: 0x10, Static: true},
			"tracepoint 1 at 0x10: there is no static tracepoint marker"},
		{"condition", trace.Tracepoint{Number: 1, Addr: 0x10, Condition: []byte{0xff}},
			"condition of tracepoint 1 at 0x10: unrecognized opcode: 0xff at offset 0"},
		{"empty condition", trace.Tracepoint{Number: 1, Addr: 0x10, Condition: []byte{}},
			"condition of tracepoint 1 at 0x10: empty expression"},
		{"action", tracepointAt(1, 0x10, collectRegisters, trace.Action{Kind: 'X', Code: []byte{0x27, 0x22}}),
			"action 2 of tracepoint 1 at 0x10: truncated instruction: const8 at offset 1"},
		{"kind of action", tracepointAt(1, 0x10, trace.Action{Kind: 'Q'}),
			"action 1 of tracepoint 1 at 0x10 is of unknown kind 'Q'"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			err := r.Define(test.tracepoint, false)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got error %v\n    want %s", err, test.want)
			}
			r.wantText()
		})
	}
}

// TestRefusedActionsRemove: a tracepoint must not be left with part of its actions.
func TestRefusedActionsRemove(t *testing.T) {
	r := newRig(t)
	r.packets("QTDP:1:10:E:0:0", "QTDP:2:20:E:0:0-", "QTDP:-2:20:R07-")
	if err := r.packet("QTDP:-2:20:X00000001,ff"); err == nil {
		t.Fatal("a bad expression was taken")
	}
	r.wantText("T1:10:E:0:0")
	if err := r.packet("QTDP:-1:10:X00000001,ff"); err == nil {
		t.Fatal("a bad expression was taken")
	}
	r.wantText("T1:10:E:0:0")
}

func TestUnknownTracepoint(t *testing.T) {
	r := newRig(t)
	r.packets("QTDP:1:10:E:0:0")
	const want = "there is no tracepoint 1 at 0x11"
	key := trace.Key{Number: 1, Addr: 0x11}
	wantError(t, r.AddActions(key, false, nil, false), want)
	wantError(t, r.AddSource(trace.SourcePiece{Key: key, Type: trace.SourceAt}), want)
	wantError(t, r.Enable(key, true), want)
	if _, _, ok := r.Hits(key); ok {
		t.Error("hits of a tracepoint that does not exist")
	}
}

// TestRedefine: a definition that comes again replaces the one that is there, at any time, whatever differs.
func TestRedefine(t *testing.T) {
	definition := []string{
		"QTDP:1:10:E:2:5:X3,220127-", "QTDP:-1:10:R07-", "QTDP:-1:10:M-1,20,4X3,220127-", "QTDP:-1:10:SR07",
		"QTDPsrc:1:10:at:0:1:61", "QTDPsrc:1:10:cmd:0:1:62", "QTDPsrc:1:10:cmd:0:1:63",
	}
	r := newRig(t)
	r.packets(definition...)
	r.packets("QTDP:2:10:E:0:0")
	want := r.text()
	for _, when := range []string{"idle", "running"} {
		for _, packets := range []string{
			"QTDP:1:10:E:3:5:X3,220127-", "QTDP:1:10:E:2:6:X3,220127-", "QTDP:1:10:E:2:5:F3:X3,220127-", "QTDP:1:10:D:2:5:X3,220027-",
			"QTDP:1:10:E:2:5-", "QTDP:1:10:E:2:5:X3,220127", "QTDP:1:10:E:2:5:X3,220127- QTDP:-1:10:R03",
			"QTDP:1:10:E:2:5:X3,220127- QTDP:-1:10:R07- QTDP:-1:10:R07M-1,20,4X3,220127",
			"QTDP:1:10:E:2:5:X3,220127- QTDP:-1:10:SR07R07 QTDPsrc:1:10:cond:0:1:64",
		} {
			r.packets(strings.Fields(packets)...)
			r.must(r.Enable(trace.Key{Number: 2, Addr: 0x10}, true)) // so no more is to come

			fresh := newRig(t) // with nothing else ever defined
			fresh.packets(strings.Fields(packets)...)
			fresh.packets("QTDP:2:10:E:0:0")
			if diff := cmp.Diff(fresh.text(), r.text()); diff != "" {
				t.Errorf("%s, after %s (-want +got):\n%s", when, packets, diff)
			}
		}
		for range 2 {
			r.packets(definition...)
			if diff := cmp.Diff(want, r.text()); diff != "" {
				t.Errorf("%s, after the first definition (-want +got):\n%s", when, diff)
			}
		}
		if when == "idle" {
			r.must(r.Start(&r.target, 1))
		}
	}
}

// TestRedefineBetweenHits: the old definition is in force until the new one is complete; counts go on.
func TestRedefineBetweenHits(t *testing.T) {
	r := newRig(t)
	f := &fakeThread{pc: 0x10, memory: []stretch{{0x20, []byte{1, 2, 3, 4}}}}
	r.start(tracepointAt(1, 0x10, collectMemory(0x20, 1)))
	r.hit(f)
	r.packets("QTDP:1:10:E:0:3-")
	r.hit(f)
	r.packets("QTDP:-1:10:M-1,21,1-")
	r.hit(f)
	r.packets("QTDP:-1:10:M-1,23,1")
	if v := r.hit(f); v != target.Halt {
		t.Errorf("verdict %v at hit 4 with pass count 3, want Halt", v)
	}
	r.wantFrames("1: M 0x20 01", "1: M 0x20 01", "1: M 0x20 01", "1: M 0x21 02 M 0x23 04")
	if hits, usage, _ := r.Hits(trace.Key{Number: 1, Addr: 0x10}); hits != 4 || usage != 5*12 {
		t.Errorf("%d hits and %d bytes, want 4 and 60", hits, usage)
	}
}

// TestRedefineWhileStepping: steps in progress are made to their end, and collect what the new definition says.
func TestRedefineWhileStepping(t *testing.T) {
	r := newRig(t)
	f := &fakeThread{pc: 0x10, memory: []stretch{{0x20, []byte{1, 2}}}}
	old := steppingAt(1, 0x10, 2)
	old.StepActions = []trace.Action{collectMemory(0x20, 1)}
	r.start(old)
	r.hit(f)
	f.pc = 0x11
	r.Stepped(f)
	r.must(r.Define(tracepointAt(1, 0x10, collectMemory(0x21, 1)), false))
	if v := r.Stepped(f); v != target.Continue {
		t.Errorf("verdict %v after the last step, want Continue", v)
	}
	f.pc = 0x10
	if v := r.hit(f); v != target.Continue {
		t.Errorf("verdict %v at a hit without steps, want Continue", v)
	}
	r.wantFrames("1:", "1: M 0x20 01", "1:", "1: M 0x21 02")
}

// TestRedefineRefused: a new definition with a bad expression leaves the old one as it is.
func TestRedefineRefused(t *testing.T) {
	r := newRig(t)
	r.packets("QTDP:1:10:E:0:0-", "QTDP:-1:10:R07", "QTDPsrc:1:10:cmd:0:1:62")
	want := r.text()
	if err := r.packet("QTDP:1:10:E:0:0:X1,ff"); err == nil {
		t.Error("a bad condition was taken")
	}
	r.wantText(want...)
	r.packets("QTDP:1:10:E:0:5-")
	if err := r.packet("QTDP:-1:10:X00000001,ff-"); err == nil {
		t.Error("a bad expression was taken")
	}
	for _, rest := range []string{"QTDP:-1:10:R03", "QTDPsrc:1:10:cmd:0:1:63"} {
		wantError(t, r.packet(rest), "the new definition of tracepoint 1 at 0x10 was refused")
	}
	r.wantText(want...)
	r.must(r.Start(&r.target, 1))
	r.wantText(want...)
	r.packets("QTDP:1:10:E:0:0")
	r.wantText("T1:10:E:0:0")
}

// TestRedefineEnables: the newest word on enablement counts, with what it means for a run.
func TestRedefineEnables(t *testing.T) {
	r := newRig(t)
	r.start(tracepointAt(1, 0x10, collectRegisters))
	r.packets("QTDP:1:10:D:0:0")
	if got := r.target.addresses(); got != nil {
		t.Errorf("installed after disabling: %v", got)
	}
	again := tracepointAt(1, 0x10, collectRegisters)
	r.must(r.Define(again, false))
	if diff := cmp.Diff([]arch.Addr{0x10}, r.target.addresses()); diff != "" {
		t.Errorf("installed after enabling (-want +got):\n%s", diff)
	}
}

// TestDefineWhileRunning: a tracepoint is installed when it is complete, not before, whatever completes it.
func TestDefineWhileRunning(t *testing.T) {
	for _, test := range []struct {
		name      string
		before    []string // packets that must not install
		completes string
	}{
		{"no actions announced", nil, "QTDP:2:20:E:0:0"},
		{"last actions", []string{"QTDP:2:20:E:0:0-", "QTDP:-2:20:R07-"}, "QTDP:-2:20:M-1,20,4"},
		{"source", []string{"QTDP:2:20:E:0:0-"}, "QTDPsrc:2:20:at:0:1:61"},
		{"source of another", []string{"QTDP:2:20:E:0:0-"}, "QTDPsrc:1:10:at:0:1:61"},
		{"actions of another", []string{"QTDP:2:20:E:0:0-"}, "QTDP:-1:10:R07"},
		{"another definition", []string{"QTDP:2:20:E:0:0-"}, "QTDP:3:30:D:0:0"},
		{"the same again", []string{"QTDP:2:20:E:0:0-"}, "QTDP:2:20:E:0:0-"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			r.start(tracepointAt(1, 0x10))
			for _, p := range test.before {
				r.packets(p)
				if r.target.has(0x20) {
					t.Fatalf("installed after %s", p)
				}
			}
			r.packets(test.completes)
			if !r.target.has(0x20) {
				t.Fatalf("not installed after %s", test.completes)
			}
			r.hit(&fakeThread{pc: 0x20})
			if n := r.NumFrames(); n != 1 {
				t.Errorf("%d frames, want 1", n)
			}
		})
	}
}

// TestIncompleteCollectsNothing: on an address that is installed for another tracepoint.
func TestIncompleteCollectsNothing(t *testing.T) {
	r := newRig(t)
	r.start(tracepointAt(1, 0x10))
	r.packets("QTDP:2:10:E:0:0-")
	r.hit(&fakeThread{pc: 0x10})
	r.packets("QTDP:-2:10:M-1,0,1")
	r.hit(&fakeThread{pc: 0x10})
	r.wantFrames("1:", "1:", "2:")
}

// TestStartCompletes: no more packets will come for a tracepoint when the run starts.
func TestStartCompletes(t *testing.T) {
	r := newRig(t)
	r.packets("QTDP:2:20:E:0:0-", "QTDP:-2:20:R07-")
	r.must(r.Start(&r.target, 1))
	r.hit(&fakeThread{pc: 0x20})
	if n := r.NumFrames(); n != 1 {
		t.Errorf("%d frames, want 1", n)
	}
}

// TestSourceRefused: a part of a source string that continues nothing.
func TestSourceRefused(t *testing.T) {
	r := newRig(t)
	r.packets("QTDP:1:10:E:0:0", "QTDPsrc:1:10:at:0:4:6162")
	err := r.packet("QTDPsrc:1:10:at:3:4:64")
	if err == nil || !strings.HasPrefix(err.Error(), "tracepoint 1 at 0x10: ") {
		t.Errorf("got error %v, want one that names the tracepoint", err)
	}
}

func TestDefineWhileRunningFails(t *testing.T) {
	r := newRig(t)
	r.target.refused = map[arch.Addr]error{0x20: errors.New("no room")}
	r.start(tracepointAt(1, 0x10))
	wantError(t, r.packet("QTDP:2:20:E:0:0"), "cannot install tracepoint 2 at 0x20: no room")
	r.packets("QTDP:3:20:E:0:0-")
	wantError(t, r.packet("QTDP:4:30:E:0:0"), "cannot install tracepoint 3 at 0x20: no room")
	r.packets("QTDP:5:20:D:0:0")
	wantError(t, r.Enable(trace.Key{Number: 5, Addr: 0x20}, true), "cannot install tracepoint 5 at 0x20: no room")
	r.wantText("T1:10:E:0:0", "T5:20:D:0:0")
}

// TestInit forgets everything but the settings.
func TestInit(t *testing.T) {
	r := newRig(t)
	r.SetNotes("remember")
	r.SetCircular(true)
	r.must(r.SetBufferSize(1000))
	r.SetReadOnly([]Range{{0, 0x1000}})
	r.must(r.DefineVariable(trace.Variable{Number: 2, Name: "x"}))
	r.start(tracepointAt(1, 0x10))
	r.hit(&fakeThread{pc: 0x10})

	r.must(r.Init())
	r.wantText()
	if len(r.target.sites) > 0 || r.ReadOnly(0, 1) || r.NumFrames() > 0 {
		t.Errorf("left: sites %v, read-only %v, %d frames", r.target.sites, r.ReadOnly(0, 1), r.NumFrames())
	}
	if diff := cmp.Diff([]trace.Variable{timestamp}, r.Variables()); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	want := trace.Status{
		Reason: trace.ReasonStop, Circular: true, Size: 1000, Free: 1000, Notes: "remember",
		StartTime: 1_000_000, StopTime: 1_000_000,
	}
	if diff := cmp.Diff(want, r.Status()); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	r.must(r.Start(&r.target, 1))
	if v := r.Hit(0x10, &fakeThread{pc: 0x10}); v != target.Continue || r.NumFrames() != 0 {
		t.Errorf("a location from before: verdict %d, %d frames", v, r.NumFrames())
	}
}
