package remote_test

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/rsp"
	"tracewell/target"
	"tracewell/target/remote"
)

// parrot is a connection to a stub that has a reply for each packet, by its beginning, and that allocates nothing.
type parrot struct {
	frames [][2]string // the beginning of a packet, the frame of its reply
	out    []byte
}

func newParrot(replies [][2]string) *parrot {
	p := &parrot{}
	for _, r := range replies {
		p.frames = append(p.frames, [2]string{r[0], string(rsp.AppendPacket(nil, []byte(r[1])))})
	}
	return p
}

// Write takes a packet, and puts the reply where Read finds it.
func (p *parrot) Write(b []byte) (int, error) {
	if i := bytes.IndexByte(b, '$'); i >= 0 {
		p.out = append(p.out, '+')
		reply := "$#00"
		for _, f := range p.frames {
			if len(b)-i-1 >= len(f[0]) && string(b[i+1:i+1+len(f[0])]) == f[0] {
				reply = f[1]
				break
			}
		}
		p.out = append(p.out, reply...)
	}
	return len(b), nil
}

// Read returns what there is. With nothing there, somebody reads who has asked for nothing.
func (p *parrot) Read(b []byte) (int, error) {
	if len(p.out) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.out)
	p.out = p.out[:copy(p.out, p.out[n:])]
	return n, nil
}

// Close implements io.Closer.
func (p *parrot) Close() error { return nil }

// measuring is a handler that collects registers and memory, and measures between two of its hits.
type measuring struct {
	hits          int
	before, after runtime.MemStats
	block         []byte
	memory        [16]byte
	reads         []target.Read
	err           error
	done          chan struct{}
}

// The hits between which memory is measured.
const firstMeasured, lastMeasured = 100, 1100

// Hit implements target.Handler.
func (m *measuring) Hit(_ arch.Addr, s target.Snapshot) target.Verdict {
	switch m.hits++; m.hits {
	case firstMeasured:
		runtime.ReadMemStats(&m.before)
	case lastMeasured:
		runtime.ReadMemStats(&m.after)
		close(m.done)
		return target.Halt
	}
	if err := s.Registers(m.block); err != nil {
		m.err = err
	}
	m.reads[0] = target.Read{Addr: 0x1000 + arch.Addr(m.hits), Dst: m.memory[:]}
	if s.ReadBatch(m.reads); m.reads[0].N != len(m.memory) {
		m.err = errors.New("short memory")
	}
	return target.Continue
}

// Stepped implements target.Handler.
func (m *measuring) Stepped(target.Snapshot) target.Verdict { return target.Continue }

// ThreadGone implements target.Handler.
func (m *measuring) ThreadGone(int64) target.Verdict { return target.Continue }

// TestAllocations has a thousand hits at a stub that talks as QEMU's does, and at one without vCont and threads: nothing is
// allocated for them.
func TestAllocations(t *testing.T) {
	machine := arch.ByELF(elf.EM_X86_64, 8)
	registers := make([]byte, 8*17+4*7)
	registers[8*16] = 0x42 // the pc
	common := [][2]string{
		{"g", hex.EncodeToString(registers)}, {"m", strings.Repeat("5a", 16)}, {"Z0", "OK"}, {"z0", "OK"}, {"H", "OK"}, {"D", "OK"},
	}
	qemu := [][2]string{
		{"qSupported", "PacketSize=1000;qXfer:features:read+;vContSupported+;multiprocess+"}, {"qqemu.PhyMemMode", "0"},
		{"?", "T05thread:p1.1;"}, {"vCont?", "vCont;c;C;s;S"}, {"vCont", "T05thread:p1.1;"}, {"qfThreadInfo", "mp1.1"}, {"qsThreadInfo", "l"},
	}
	plain := [][2]string{{"qSupported", "PacketSize=1000"}, {"?", "S05"}, {"c", "S05"}, {"s", "S05"}}
	for name, replies := range map[string][][2]string{"QEMU": qemu, "plain": plain} {
		t.Run(name, func(t *testing.T) {
			profile := remote.Profile{Name: name, Step: remote.StepInPlace, Meets: true, Selects: true, Steps: true}
			measure(t, newParrot(append(replies, common...)), remote.Options{Machine: machine, Profile: &profile})
		})
	}
}

// measure has a thousand hits at a stub.
func measure(t *testing.T, conn io.ReadWriteCloser, o remote.Options) {
	t.Helper()
	target1, err := remote.Open(conn, o)
	if err != nil {
		t.Fatal(err)
	}
	defer target1.Close()
	m := &measuring{block: make([]byte, target1.BlockSize()), reads: make([]target.Read, 1), done: make(chan struct{})}
	tracer := target1.Tracer()
	tracer.SetHandler(m)
	if err := tracer.Install(1, 0x42, nil); err != nil {
		t.Fatal(err)
	}
	if err := target1.Resume([]target.Action{{Thread: target.ThreadID{PID: target.All, TID: target.All}}}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-m.done:
	case <-target1.Events():
		select {
		case <-m.done: // nobody wants the hit behind the last
		default:
			t.Fatalf("the program has stopped after %d hits", m.hits)
		}
	}
	each := float64(m.after.Mallocs-m.before.Mallocs) / (lastMeasured - firstMeasured)
	if m.err != nil || each >= 0.1 {
		t.Errorf("%v allocations for each hit, %v", each, m.err)
	}
	if p := target1.Profile(); p.Steps != o.Profile.Steps {
		t.Error("the stub was stepped")
	}
}

// storing is a parrot whose registers are those that are written until it is resumed.
type storing struct {
	*parrot
	g             *string
	start, behind string // frames of g, in front of an instruction and behind it
}

// Write takes a packet.
func (s storing) Write(b []byte) (int, error) {
	switch i := bytes.IndexByte(b, '$') + 1; b[i] {
	case 'G':
		*s.g = s.behind
	case 'c':
		*s.g = s.start
	}
	return s.parrot.Write(b)
}

// TestEmulationAllocations has the hits passed by emulation.
func TestEmulationAllocations(t *testing.T) {
	start := make([]byte, 33*8)
	start[8*32] = 0x42 // the pc
	behind := bytes.Clone(start)
	behind[8*a0], behind[8*32] = 1, 0x44
	p := newParrot([][2]string{
		{"g", hex.EncodeToString(start)}, {"G" + hex.EncodeToString(behind), "OK"}, {"m42,", "05050505"}, // c.addi a0,1
		{"m", strings.Repeat("5a", 16)}, {"Z0", "OK"}, {"z0", "OK"}, {"H", "OK"}, {"D", "OK"}, {"c", "S05"}, {"?", "S05"},
		{"qSupported", "PacketSize=1000"},
	})
	conn := storing{p, &p.frames[0][1], p.frames[0][1], newParrot([][2]string{{"", hex.EncodeToString(behind)}}).frames[0][1]}
	profile := remote.Profile{Name: "emulates", Meets: true, Selects: true}
	measure(t, conn, remote.Options{Machine: arch.ByELF(elf.EM_RISCV, 8), Profile: &profile})
}
