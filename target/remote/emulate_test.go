package remote_test

import (
	"debug/elf"
	"encoding/binary"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/fakestub"
	"tracewell/target"
	"tracewell/target/remote"
	"tracewell/trace"
)

// stepping is a profile in which nothing is known of the stub but that breakpoints are to be passed by steps.
var stepping = remote.Profile{Name: "steps", Steps: true}

// program writes an ELF file that has the RAM of the fake machine as its segment, without the program itself: what the target takes
// from it is what memory is the program's own.
func program(t testing.TB) string {
	t.Helper()
	header := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_RISCV), Version: 1, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1}
	copy(header.Ident[:], elf.ELFMAG)
	header.Ident[elf.EI_CLASS], header.Ident[elf.EI_DATA], header.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1
	segment := elf.Prog64{
		Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_W | elf.PF_X), Vaddr: fakestub.RAMAt, Filesz: 1, Memsz: fakestub.RAMSize,
	}
	b, err := binary.Append(nil, binary.LittleEndian, header)
	if err == nil {
		b, err = binary.Append(b, binary.LittleEndian, segment)
	}
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, append(b, 0), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// everywhere is a tracepoint at every instruction of work that can have one.
func (r *rig) everywhere() {
	r.Helper()
	registers := trace.Action{Kind: trace.CollectRegisters, Mask: []byte{0xff}}
	for i, at := range r.stub.Instructions() {
		if at >= r.stub.Symbol("work") {
			r.must(r.engine.Define(trace.Tracepoint{Number: trace.Number(i + 1), Addr: arch.Addr(at), Enabled: true, Actions: []trace.Action{registers}}, false))
		}
	}
}

// walk traces every instruction of some passes, and returns the frames and how many packets resumed the program.
func (r *rig) walk() (map[uint64][]string, int) {
	r.Helper()
	r.everywhere()
	r.must(r.engine.Start(r.target.Tracer(), r.id().PID))
	r.breakAt(r.symbol("end"), nil)
	if ev := r.do(); ev.Reason == target.ReasonNone {
		r.Fatalf("%+v\n%s", ev, r.transcript())
	}
	r.must(r.engine.Stop(trace.ReasonStop, ""))
	return r.frames(), r.stub.Received("vCont") + r.stub.Received("c") + r.stub.Received("s")
}

// TestEmulated traces every instruction of a function by stubs of all kinds, by steps and by emulation: the frames are the same, and the
// program has done the same; but with emulation it was resumed much less often.
func TestEmulated(t *testing.T) {
	var o remote.Options
	if err := o.ReadProgram(program(t)); err != nil {
		t.Fatal(err)
	}
	for name, quirks := range fakestub.Presets {
		if quirks.Hardware > 0 && quirks.Software != fakestub.Anywhere && quirks.Software != fakestub.InRAM && quirks.Software != fakestub.Unknown {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := fakestub.Config{Quirks: quirks, InRAM: true, Passes: 5}
			byStep, byEmulation := o, o
			byStep.Profile = &stepping
			byEmulation.Profile = &remote.Profile{Name: "emulates"}
			s, e := openAs(t, c, byStep), openAs(t, c, byEmulation)
			want, steps := s.walk()
			got, fewer := e.walk()
			if !maps.EqualFunc(got, want, slices.Equal) {
				t.Errorf("frames\n%s\nwant\n%s\n%s", lines(got), lines(want), e.transcript())
			}
			if p := e.target.Profile(); p.Steps || fewer > steps/4 {
				t.Errorf("resumed %d times, by steps %d; %v\n%s", fewer, steps, p, e.transcript())
			}
			for pass := uint64(1); pass < 5; pass++ {
				if r, ok := e.stub.Record(0, pass); !ok || r != fakestub.Expected(0, pass) {
					t.Errorf("pass %d: %+v, %v", pass, r, ok)
				}
			}
			s.clean()
			e.clean()
		})
	}
}

// writes counts the writes to a stub.
type writes struct {
	net.Conn
	n atomic.Int64
}

// Write implements io.Writer.
func (w *writes) Write(b []byte) (int, error) {
	w.n.Add(1)
	return w.Conn.Write(b)
}

// TestWrites has the registers that pass a breakpoint go to QEMU with the packet that has the program go on: a hit takes a write for
// that, one for the registers and one for the code.
func TestWrites(t *testing.T) {
	const hits = 100
	var o remote.Options
	if err := o.ReadProgram(program(t)); err != nil {
		t.Fatal(err)
	}
	s := fakestub.New(fakestub.Config{Quirks: fakestub.QEMUSystem, InRAM: true})
	t.Cleanup(s.Close)
	w := &writes{Conn: s.Pipe()}
	target1, err := remote.Open(w, o)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{TB: t, stub: s, target: target1}
	n, began := 0, int64(0)
	r.breakAt(r.symbol("body"), func(target.Snapshot) bool {
		if n++; n == 20 {
			began = w.n.Load()
		}
		return n == 20+hits
	})
	if ev := r.do(); ev.Reason != target.ReasonSwBreak || n != 20+hits {
		t.Fatalf("%+v after %d hits\n%s", ev, n, r.transcript())
	}
	if got := float64(w.n.Load()-began) / hits; got > 3.1 { // and the look at threads behind the last
		t.Errorf("%.2f writes for a hit\n%s", got, r.transcript())
	}
	r.clean()
}

// put gives the only hart a register.
func (r *rig) put(n arch.Reg, v uint64) {
	r.Helper()
	r.must(r.target.WriteRegister(r.id(), n, binary.LittleEndian.AppendUint64(nil, v)))
}

// TestDevice has tracepoints on an instruction that reads a device, each read of which changes it: the processor reads it, once.
func TestDevice(t *testing.T) {
	var o remote.Options
	if err := o.ReadProgram(program(t)); err != nil {
		t.Fatal(err)
	}
	r := openAs(t, fakestub.Config{InRAM: true}, o)
	const at, behind = fakestub.RAMAt + 0x8000, fakestub.RAMAt + 0x8004
	r.must(r.target.WriteMemory(r.id(), at, []byte{0x03, 0xa5, 0x05, 0x00, 0x01, 0xa0})) // lw a0,0(a1); j .
	r.must(r.engine.Define(trace.Tracepoint{Number: 1, Addr: at, Enabled: true}, false))
	r.must(r.engine.Start(r.target.Tracer(), r.id().PID))
	r.breakAt(behind, nil)
	for i := range uint64(3) {
		r.put(a1, fakestub.DeviceAt)
		r.put(r.target.ISA().PC, at)
		r.do(target.Action{Thread: target.ThreadID{PID: target.All, TID: target.All}})
		if got := r.stub.Register(0, a0); got != i || r.pc() != behind {
			t.Errorf("read %d of the device gives %d, at %v\n%s", i, got, r.pc(), r.transcript())
		}
	}
	r.clean()
}

// TestWatched has a watchpoint on what the instruction under a tracepoint stores: the store is the processor's, so that it is met.
func TestWatched(t *testing.T) {
	var o remote.Options
	if err := o.ReadProgram(program(t)); err != nil {
		t.Fatal(err)
	}
	r := openAs(t, fakestub.Config{InRAM: true}, o)
	r.must(r.engine.Define(trace.Tracepoint{Number: 1, Addr: r.symbol("stored"), Enabled: true}, false))
	r.must(r.engine.Start(r.target.Tracer(), r.id().PID))
	w := target.Breakpoint{Kind: target.WriteWatch, Addr: arch.Addr(r.stub.RecordAt(0, 1)), Length: 8}
	r.must(r.target.InsertBreakpoint(r.id(), w))
	if ev := r.do(); ev.Reason != target.ReasonWatch || ev.Addr != w.Addr || r.pc() != r.symbol("stored")+4 {
		t.Errorf("%+v at %v\n%s", ev, r.pc(), r.transcript())
	}
	r.clean()
}

// TestRefusedRegisters has stubs refuse registers, or keep them as they are though they say OK: from then on there are steps. One that
// refuses in the middle of an instruction ends the run.
func TestRefusedRegisters(t *testing.T) {
	for name, test := range map[string]struct {
		quirks fakestub.Quirks
		fault  fakestub.Fault
		single bool // registers are written one by one
		halved bool
	}{
		"at once":         {fault: fakestub.Fault{Kind: fakestub.Bogus, Packet: "G", At: 1}},
		"at once, single": {fault: fakestub.Fault{Kind: fakestub.Bogus, Packet: "P", At: 1}, single: true},
		"ignored":         {quirks: fakestub.Quirks{Replies: map[string]string{"G": "OK"}}},
		"ignored, single": {quirks: fakestub.Quirks{Replies: map[string]string{"P": "OK"}}, single: true},
		"neither":         {quirks: fakestub.Quirks{NoWriteRegister: true, Replies: map[string]string{"G": ""}}},
		"in the middle":   {fault: fakestub.Fault{Kind: fakestub.Bogus, Packet: "P", At: 2}, single: true, halved: true},
	} {
		t.Run(name, func(t *testing.T) {
			want, _ := openAs(t, fakestub.Config{InRAM: true, Passes: 5}, remote.Options{Profile: &stepping}).walk()
			c := fakestub.Config{InRAM: true, Passes: 5, Quirks: test.quirks, Faults: []fakestub.Fault{test.fault}}
			r := openAs(t, c, remote.Options{Profile: &remote.Profile{Name: name, Single: test.single}})
			r.everywhere()
			r.must(r.engine.Start(r.target.Tracer(), r.id().PID))
			r.breakAt(r.symbol("end"), nil)
			ev, status := r.do(), r.engine.Status()
			if test.halved {
				if ev.Reason != target.ReasonNone || status.Running || !strings.Contains(status.Description, "in part") {
					t.Errorf("%+v, %+v\n%s", ev, status, r.transcript())
				}
				return
			}
			if p := r.target.Profile(); ev.Reason == target.ReasonNone || !p.Steps || !status.Running {
				t.Errorf("%+v, %v, %+v\n%s", ev, p, status, r.transcript())
			}
			if got := r.frames(); !maps.EqualFunc(got, want, slices.Equal) {
				t.Errorf("frames\n%s\nwant\n%s\n%s", lines(got), lines(want), r.transcript())
			}
			r.clean()
		})
	}
}
