package emulatetest

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/arch/effect"
	"tracewell/arch/emulate"
	"tracewell/internal/test/firmware"
	"tracewell/rsp/client"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/tdesc"
	"tracewell/tdesc/fetch"
)

var (
	rounds = flag.Int("rounds", 600, "how many instructions TestQEMU has each board execute")
	seed   = flag.Uint64("seed", 0, "of the instructions; 0 for another each time")
)

// form makes random instructions of one kind.
type form struct {
	name string
	make func(*rand.Rand) []byte
}

// trial is a board, and what it is to execute.
type trial struct {
	board firmware.Board
	code  uint64            // where the instruction is put, in RAM
	fixed map[string]uint64 // registers that have one value
	clear map[string]uint64 // bits that registers cannot have
	flags map[string]uint64 // bits that are random, in registers whose others stay
	after string            // the symbol that the program is to reach first; "" for none
	forms []form
}

var trials = []trial{
	{board: firmware.RV64, code: 0x80100000, fixed: map[string]uint64{"zero": 0}, forms: riscvForms(true)},
	{board: firmware.RV32, code: 0x80100000, fixed: map[string]uint64{"zero": 0}, forms: riscvForms(false)},
	{
		board: firmware.CortexM3, code: 0x20008000, clear: map[string]uint64{"sp": 3}, flags: map[string]uint64{"xpsr": 0xf0000000},
		forms: thumbForms,
	},
	{
		board: firmware.AArch64, code: 0x40100000, clear: map[string]uint64{"sp": 15}, flags: map[string]uint64{"cpsr": 0xf0000000},
		forms: a64Forms,
	},
	{
		board: firmware.X86, code: 0x180000, after: "step", forms: x86Forms,
		flags: map[string]uint64{"eflags": 0x8d5, "cs": 0, "cr4": 0, "efer": 0},
	},
}

// windowSize is the memory around the addresses that registers hold, which the instructions load and store.
const windowSize = 8192

// processor is a board that executes single instructions.
type processor struct {
	testing.TB
	c         *client.Client
	layout    *tdesc.Layout
	isa       *arch.ISA
	emulator  *emulate.Processor
	block     []byte // of all registers
	window    uint64
	memory    []byte
	described []*tdesc.Slot // of the emulator's registers
}

// Register implements effect.Thread.
func (p *processor) Register(n int) (uint64, bool) {
	slot := p.described[n]
	if slot == nil {
		return 0, false
	}
	return arch.Uint(p.block[slot.Offset:slot.Offset+slot.Size], p.isa.Order), true
}

// Load implements effect.Thread: the window is all the memory that there is.
func (p *processor) Load(addr uint64, b []byte, _ bool) bool {
	if at := addr - p.window; at < windowSize && at+uint64(len(b)) <= windowSize {
		copy(b, p.memory[at:])
		return true
	}
	return false
}

// put gives a register a value in the block.
func (p *processor) put(slot *tdesc.Slot, v uint64) {
	arch.PutAddr(p.block[slot.Offset:slot.Offset+slot.Size], p.isa.Order, arch.Addr(v))
}

func (p *processor) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// open connects to a board.
func open(t testing.TB, tr trial) *processor {
	t.Helper()
	program := firmware.Build(t, tr.board)
	m := firmware.Start(t, program)
	p := &processor{TB: t, c: client.New(m.Connect(t)), window: tr.code + 16, memory: make([]byte, windowSize)}
	p.c.Patience = 20 * time.Second
	p.must(fetch.Announce(p.c, request.SwBreak))
	p.c.ImplyAcks()
	d, err := fetch.Description(p.c)
	p.must(err)
	p.layout, err = d.Layout()
	p.must(err)
	p.isa = p.layout.ISA(d.Machine(), d.Architecture, d.Machine().Order)
	p.emulator = emulate.For(p.isa, func(name string) bool { return p.layout.ByName(name) != nil })
	if p.emulator == nil {
		t.Fatal("the board has no emulator")
	}
	for _, name := range p.emulator.Registers {
		p.described = append(p.described, p.layout.ByName(name))
	}
	if tr.after != "" {
		b := request.Breakpoint{Addr: arch.Addr(program.Address(t, tr.after)), Length: 1}
		p.must(client.Command(p.c, request.InsertBreak, b))
		p.resume('c')
		p.must(client.Command(p.c, request.RemoveBreak, b))
	}
	p.block = p.registers()
	return p
}

func (p *processor) resume(verb byte) {
	p.Helper()
	p.must(p.c.Resume(request.Action{Verb: verb, All: true}))
	_, err := p.c.AwaitStop(time.Now().Add(20 * time.Second))
	p.must(err)
}

func (p *processor) registers() []byte {
	p.Helper()
	b, err := client.Do(p.c, client.Ask(request.ReadRegisters, request.None{}, reply.Registers))
	p.must(err)
	return b.Bytes
}

// boundaries are values at which arithmetic goes wrong, if it does.
var boundaries = []uint64{
	0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, ^uint64(0),
	^uint64(0) - 1, 0x5555555555555555, 0xaaaaaaaaaaaaaaaa, 31, 32, 33, 63, 64,
}

// value is one for a register: an address in the window, aligned or not, a boundary, or anything.
func (p *processor) value(r *rand.Rand) uint64 {
	switch r.IntN(8) {
	case 0:
		return r.Uint64()
	case 1, 2:
		return boundaries[r.IntN(len(boundaries))]
	case 3:
		return p.window + windowSize/2 + r.Uint64N(256)
	}
	return p.window + windowSize/2 + 16*r.Uint64N(16)
}

// TestQEMU has a processor execute random instructions, by the stub's step, and the emulator as well: all registers come out the same,
// and all memory.
func TestQEMU(t *testing.T) {
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	for _, tr := range trials {
		t.Run(tr.board.String(), func(t *testing.T) {
			t.Logf("-seed %d", *seed)
			r := rand.New(rand.NewPCG(*seed, 1))
			p := open(t, tr)
			emulated := make(map[string]int)
			for i := range *rounds {
				f := tr.forms[i%len(tr.forms)]
				if p.compare(r, tr, f) {
					emulated[f.name]++
				}
				if t.Failed() {
					return
				}
			}
			for _, f := range tr.forms {
				if emulated[f.name] == 0 && *rounds > 40*len(tr.forms) {
					t.Errorf("of %q none was emulated", f.name)
				}
			}
			t.Logf("emulated %d of %d: %v", sum(emulated), *rounds, emulated)
		})
	}
}

func sum(counts map[string]int) (n int) {
	for count := range maps.Values(counts) {
		n += count
	}
	return n
}

// compare executes one instruction in both ways, if it is emulated.
func (p *processor) compare(r *rand.Rand, tr trial, f form) bool {
	p.Helper()
	shared := p.value(r) // by some registers, as comparisons need it
	for n, slot := range p.described {
		if slot == nil {
			continue
		}
		v, name := p.value(r), p.emulator.Registers[n]
		if r.IntN(4) == 0 {
			v = shared
		}
		v &^= tr.clear[name]
		if mask, ok := tr.flags[name]; ok {
			old, _ := p.Register(n)
			v = old&^mask | r.Uint64()&mask
		}
		if fixed, ok := tr.fixed[name]; ok {
			v = fixed
		}
		p.put(slot, v)
	}
	pc := p.layout.ByNumber(p.isa.PC)
	p.put(pc, tr.code)
	if p.memory[0] == 0 {
		for i := range p.memory {
			p.memory[i] = byte(r.Uint32()) | 1
		}
		p.write(p.window, p.memory)
	}
	code := f.make(r)
	var s effect.Step
	if !p.emulator.Emulate(&s, p, code, arch.Addr(tr.code), true) {
		return false
	}
	if at := s.Addr - p.window; len(s.Stored) > 0 && (at < 72 || at > windowSize-256) {
		return false
	}
	p.write(tr.code, code)
	before := slices.Clone(p.block)
	p.must(client.Command(p.c, request.WriteRegisters, p.block))
	p.resume('s')
	after := p.registers()
	for _, w := range s.Registers {
		p.put(p.described[w.Register], w.Value)
	}
	p.put(pc, s.Next)
	describe := func() string {
		return fmt.Sprintf("%s % x at %#x with\n%s", f.name, code, tr.code, p.named(before))
	}
	if !bytes.Equal(after, p.block) {
		p.Errorf("%s\nemulated\n%s\nexecuted\n%s", describe(), p.changed(before, p.block), p.changed(before, after))
	}
	p.block = after
	if len(s.Stored) > 0 {
		copy(p.memory[s.Addr-p.window:], s.Stored)
		around := (s.Addr - 64) &^ 7
		there, err := p.c.ReadMemory(arch.Addr(around), 256)
		p.must(err)
		if want := p.memory[around-p.window:][:256]; !bytes.Equal(there, want) {
			p.Errorf("%s\nstored % x at %#x; memory from %#x on\n% x, want\n% x", describe(), s.Stored, s.Addr, around, there, want)
		}
	}
	return true
}

func (p *processor) write(at uint64, b []byte) {
	p.Helper()
	for part := range slices.Chunk(b, 1024) {
		p.must(p.c.WriteMemory(arch.Addr(at), part))
		at += uint64(len(part))
	}
}

// named lists the emulator's registers.
func (p *processor) named(block []byte) string {
	var b bytes.Buffer
	for i, name := range p.emulator.Registers {
		if slot := p.described[i]; slot != nil {
			fmt.Fprintf(&b, "%s=%#x ", name, arch.Uint(block[slot.Offset:slot.Offset+slot.Size], p.isa.Order))
		}
	}
	return b.String()
}

// changed lists what differs between two blocks.
func (p *processor) changed(before, after []byte) string {
	var b bytes.Buffer
	for _, slot := range p.layout.Slots {
		was, ok := slot.Bytes(before)
		is, there := slot.Bytes(after)
		if ok && there && !bytes.Equal(was, is) {
			fmt.Fprintf(&b, "%s: %x -> %x\n", slot.Reg.Name, was, is)
		}
	}
	return b.String()
}

// word is an instruction of 32 bits whose bits are fixed by a pattern and random elsewhere.
func word(name string, fixed, mask uint32) form {
	return form{name, func(r *rand.Rand) []byte {
		return binary.LittleEndian.AppendUint32(nil, fixed|r.Uint32()&^mask)
	}}
}

// half is the same of 16 bits.
func half(name string, fixed, mask uint16) form {
	return form{name, func(r *rand.Rand) []byte {
		return binary.LittleEndian.AppendUint16(nil, fixed|uint16(r.Uint32())&^mask)
	}}
}
