package tracepoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/target"
	"tracewell/tfile"
	"tracewell/trace"
)

// The layout of the tests: three registers of 8 bytes, the last of them the pc.
const (
	registerCount = 3
	registerBytes = 8 * registerCount
)

func testLayout() Layout {
	return Layout{
		Order:         binary.LittleEndian,
		RegisterBlock: registerBytes,
		PCOffset:      registerBytes - 8,
		PCSize:        8,
	}
}

// timestamp is the built-in variable that is always there.
var timestamp, _ = trace.Builtin(trace.TimestampName)

// fakeThread is a Snapshot made of a few registers and stretches of memory.
type fakeThread struct {
	id        int64
	pc        arch.Addr
	registers [registerCount]uint64
	gone      bool  // registers cannot be read
	lost      error // the connection
	memory    []stretch
	batches   int // calls of ReadBatch
}

type stretch struct {
	addr  arch.Addr
	bytes []byte
}

func (f *fakeThread) Thread() int64 { return f.id }
func (f *fakeThread) ID() target.ThreadID {
	return target.ThreadID{PID: 100, TID: int(f.id)}
}
func (f *fakeThread) PC() arch.Addr { return f.pc }
func (f *fakeThread) Err() error    { return f.lost }

var errNoRegister = errors.New("no such register")

func (f *fakeThread) Register(r arch.Reg) (uint64, error) {
	if r < 0 || r >= registerCount {
		return 0, errNoRegister
	}
	return f.registers[r], nil
}

func (f *fakeThread) Registers(block []byte) error {
	if f.gone {
		return errNoRegister
	}
	for i, v := range f.registers {
		binary.LittleEndian.PutUint64(block[8*i:], v)
	}
	return nil
}

func (f *fakeThread) ReadMemory(addr arch.Addr, p []byte) int {
	for _, s := range f.memory {
		if s.addr <= addr && addr-s.addr < arch.Addr(len(s.bytes)) {
			return copy(p, s.bytes[addr-s.addr:])
		}
	}
	return 0
}

func (f *fakeThread) ReadBatch(reads []target.Read) {
	f.batches++
	for i := range reads {
		reads[i].N = f.ReadMemory(reads[i].Addr, reads[i].Dst)
	}
}

// fakeTracer keeps which addresses are installed, with their semaphores.
type fakeTracer struct {
	sites     map[arch.Addr][]arch.Addr
	refused   map[arch.Addr]error
	during    func(arch.Addr) // called within Install
	stuck     error           // of Uninstall
	collector target.Collector
}

func (f *fakeTracer) SetHandler(target.Handler)   {}
func (f *fakeTracer) Collector() target.Collector { return f.collector }

func (f *fakeTracer) Install(_ int, at arch.Addr, semaphores []arch.Addr) error {
	if f.during != nil {
		f.during(at)
	}
	if err := f.refused[at]; err != nil {
		return err
	}
	if f.sites == nil {
		f.sites = make(map[arch.Addr][]arch.Addr)
	}
	if f.has(at) {
		return errors.New("installed already")
	}
	f.sites[at] = semaphores
	return nil
}

func (f *fakeTracer) Uninstall(_ int, at arch.Addr) error {
	delete(f.sites, at)
	return f.stuck
}

func (f *fakeTracer) has(at arch.Addr) bool {
	_, has := f.sites[at]
	return has
}

func (f *fakeTracer) addresses() []arch.Addr {
	var list []arch.Addr
	for a := range f.sites {
		list = append(list, a)
	}
	slices.Sort(list)
	return list
}

// rig is an engine with a target that is all fake.
type rig struct {
	testing.TB
	*Engine
	target.Handler
	target fakeTracer
	clock  time.Time
}

func newRig(t testing.TB) *rig {
	r := &rig{TB: t, clock: time.UnixMicro(1_000_000)}
	layout := testLayout()
	layout.Now = func() time.Time { return r.clock }
	r.Engine = New(layout)
	r.Handler = r.NewHandler()
	return r
}

// must fails the test on an error.
func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// wantError fails the test unless err has the text.
func wantError(t *testing.T, err error, text string) {
	t.Helper()
	if got := fmt.Sprint(err); got != text {
		t.Errorf("got error %s\n    want %s", got, text)
	}
}

// start defines tracepoints and starts a run.
func (r *rig) start(tracepoints ...trace.Tracepoint) {
	r.Helper()
	for _, t := range tracepoints {
		r.must(r.Define(t, false))
	}
	r.must(r.Start(&r.target, 1))
}

// hit has a thread reach its pc.
func (r *rig) hit(f *fakeThread) target.Verdict {
	r.Helper()
	if !r.target.has(f.pc) {
		r.Fatalf("nothing is installed at %s", f.pc)
	}
	return r.Hit(f.pc, f)
}

// expression assembles an agent expression.
func expression(t testing.TB, text string) []byte {
	t.Helper()
	code, err := ax.Assemble(text)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func collectExpression(t testing.TB, text string) trace.Action {
	return trace.Action{Kind: trace.CollectExpression, Code: expression(t, text)}
}

func collectMemory(addr arch.Addr, length uint64) trace.Action {
	return trace.Action{Kind: trace.CollectMemory, Base: trace.Absolute, Offset: uint64(addr), Length: length}
}

var collectRegisters = trace.Action{Kind: trace.CollectRegisters, Mask: []byte{0xff}}

func tracepointAt(number trace.Number, addr arch.Addr, actions ...trace.Action) trace.Tracepoint {
	return trace.Tracepoint{Number: number, Addr: addr, Enabled: true, Actions: actions}
}

// describe gives the frames of the buffer as text, one line each.
func (r *rig) describe() []string {
	r.Helper()
	var lines []string
	for f := range r.Frames() {
		lines = append(lines, describeFrame(r.TB, f.Frame))
	}
	return lines
}

// describeFrame gives tracepoint number and blocks.
func describeFrame(t testing.TB, f tfile.Frame) string {
	t.Helper()
	if err := f.Check(); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%d:", f.Tracepoint())
	for b := range f.Blocks() {
		switch b.Kind {
		case tfile.BlockMemory:
			text += fmt.Sprintf(" M %s %x", b.Addr, b.Bytes)
		case tfile.BlockVariable:
			text += fmt.Sprintf(" V %d=%d", b.Number, b.Value)
		default:
			text += fmt.Sprintf(" %c %x", b.Kind, b.Bytes)
		}
	}
	return text
}
