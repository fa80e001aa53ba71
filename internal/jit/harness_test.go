//go:build linux && amd64

package jit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/arch/x86/x86asm"

	"tracewell/arch"
	"tracewell/ax"
	asm "tracewell/internal/asm/amd64"
	"tracewell/internal/test/native"
)

// The memory that compiled code runs in: code, then what it works on.
const (
	codeSize  = 1 << 16
	regsIn    = codeSize + 0x000 // the program's registers, by hardware number
	regsOut   = codeSize + 0x080 // the same when the expression has ended
	outcome   = codeSize + 0x100 // how it ended
	value     = codeSize + 0x108 // its value, or the address that it could not read
	effects   = codeSize + 0x110 // how many effects there were
	segment   = codeSize + 0x118 // a register of 4 bytes, with others behind it
	saved     = codeSize + 0x120
	variables = codeSize + 0x200
	slots     = codeSize + 0x400 // of effects, 128 bytes each
	readable  = codeSize + 0x3000
	readSize  = 0x1000
	allSize   = readable + readSize
	slotSize  = 128
	maxSlots  = (readable - slots) / slotSize
)

// Outcomes of compiled code. Faults and failures have the number of their kind added.
const (
	isTrue  = 1
	isFalse = 2
	faults  = 1000
	failed  = 2000
)

// The trace state variables: numbers below stored are in memory, and the others that do not exist are 0.
const (
	storedVariables  = 4
	knownVariable    = 10
	computedVariable = 11
	oddValue         = -0x123456789
)

const (
	pcValue    = 0x55d4_0000_1234
	flagsValue = 0x246
)

// hardware maps GDB's register numbers to those of instructions.
var hardware = [16]asm.Reg{asm.RAX, asm.RBX, asm.RCX, asm.RDX, asm.RSI, asm.RDI, asm.RBP, asm.RSP,
	asm.R8, asm.R9, asm.R10, asm.R11, asm.R12, asm.R13, asm.R14, asm.R15}

// mode is the function that compiles.
type mode int

const (
	asRun mode = iota
	asValue
	asCondition
	modes
)

// bench compiles programs into a pad of its own, runs them, and has ax.Machine say what should have happened.
type bench struct {
	t      testing.TB
	memory native.Memory
	*rand.Rand
	machine  ax.Machine
	seed     uint64
	outcomes map[string]int // of all runs, by kind
	recorded int            // effects of all runs
}

func newBench(t testing.TB, seed uint64) *bench {
	return &bench{t: t, memory: native.Map(t, allSize), Rand: rand.New(rand.NewPCG(seed, 1)), seed: seed, outcomes: map[string]int{}}
}

// pad is one compiled program, with what the code around it is and does.
type pad struct {
	*bench
	*asm.Assembler
	mode     mode
	demand   Demand
	scratch  []asm.Reg
	result   asm.Reg   // where the value is put, NoReg if there is none
	pushed   []asm.Reg // of the clobbered ones, those that are saved on the stack
	depth    int32
	accesses []Access
	failures []*ax.Error
	later    []func() // emits code off the path
	effects  []effect
	marks    [][2]int // what Env.Fault has noted
	leave    asm.Label
}

// effect is how the slot of an effect is to be read.
type effect struct {
	kind, format string
	n            uint16
	args         int
}

func (b *bench) abs(offset int) asm.Mem { return asm.Abs(b.memory.Addr(offset)) }

func (b *bench) word(offset int) uint64 { return binary.LittleEndian.Uint64(b.memory.Bytes[offset:]) }

func (b *bench) setWord(offset int, v uint64) {
	binary.LittleEndian.PutUint64(b.memory.Bytes[offset:], v)
}

// build compiles p with registers in all kinds of places.
func (b *bench) build(p *ax.Program, m mode) (*pad, error) {
	x := &pad{bench: b, Assembler: asm.New(b.memory.Addr(0)), mode: m, result: asm.NoReg}
	if err := x.choose(p); err != nil {
		return nil, err
	}
	x.enter()
	e := x.env()
	otherwise, result := x.NewLabel(), asm.RBX
	var err error
	switch m {
	case asRun:
		err = Run(x.Assembler, e, p)
	case asCondition:
		err = Condition(x.Assembler, e, p, otherwise)
	case asValue:
		if len(x.scratch) > 0 && b.IntN(2) == 0 {
			result = x.scratch[b.IntN(len(x.scratch))]
		}
		x.result = result
		if err = Value(x.Assembler, e, p, result); err == nil {
			x.Store(8, x.abs(value), result)
		}
	}
	if err != nil {
		return nil, err
	}
	x.end(isTrue)
	x.Bind(otherwise)
	x.end(isFalse)
	for _, emit := range x.later {
		emit()
	}
	x.exit()
	code, err := x.Finish()
	if err != nil {
		return nil, err
	}
	if len(code) > codeSize {
		return nil, errTooLong
	}
	copy(b.memory.Bytes, code)
	x.checkMarks(code)
	return x, nil
}

var errTooLong = errors.New("the bench has no room for the code")

// checkMarks holds what was noted of instructions that can fault against these instructions.
func (x *pad) checkMarks(code []byte) {
	if len(x.marks) != len(x.accesses) {
		x.t.Errorf("%d marks of %d accesses", len(x.marks), len(x.accesses))
	}
	for i, mark := range x.marks {
		in, err := x86asm.Decode(code[mark[0]:mark[1]], 64)
		if err != nil {
			x.t.Fatalf("% x: %v", code[mark[0]:mark[1]], err)
		}
		a := x.accesses[i]
		m, _ := in.Args[1].(x86asm.Mem)
		base := asm.NoReg
		if m.Base != 0 {
			base = asm.Reg(m.Base - x86asm.RAX)
		}
		if in.Len != mark[1]-mark[0] || in.MemBytes != a.Size || base != a.Addr.Base || int32(m.Disp) != int32(a.Addr.Disp) {
			x.t.Errorf("%v at %#x is marked to %#x as %+v", in, mark[0], mark[1], a)
		}
	}
}

// choose measures p and chooses scratch registers, which can change what it demands.
func (x *pad) choose(p *ax.Program) error {
	var err error
	pool := []asm.Reg{asm.RBX, asm.RBP, asm.RSI, asm.RDI, asm.R8, asm.R9, asm.R10, asm.R11, asm.R12, asm.R13, asm.R14, asm.R15}
	if x.demand, err = Measure(p, x.env()); err != nil {
		return err
	}
	if !x.demand.Fixed && x.IntN(2) == 0 {
		pool = append(pool, asm.RAX, asm.RCX, asm.RDX)
	}
	x.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	for {
		for _, r := range x.clobbered() {
			if !slices.Contains(x.pushed, r) && x.IntN(2) == 0 {
				x.pushed = append(x.pushed, r)
			}
		}
		again, err := Measure(p, x.env())
		if err != nil {
			return err
		}
		if again.Scratch <= len(x.scratch) {
			x.demand = again
			return nil
		}
		x.scratch = pool[:again.Scratch]
	}
}

// clobbered are the registers that the expression changes.
func (x *pad) clobbered() []asm.Reg {
	all := slices.Clone(x.scratch)
	if x.demand.Fixed {
		all = append(all, fixed...)
	}
	return all
}

// place is where registers are: live unless they are clobbered.
func (x *pad) place(r arch.Reg) Place {
	switch {
	case r == 16:
		return Known(pcValue)
	case r == 17:
		return Computed(func(dst asm.Reg) {
			x.MovImm(dst, flagsValue-1)
			x.ArithImm(asm.Add, 8, dst, 1) // changes the flags, as it may
		})
	case r == 18:
		return Stored(4, x.abs(segment))
	case r < 0 || r > 18:
		return Place{}
	}
	h := hardware[r]
	if h == asm.RSP {
		return Sum(asm.RSP, x.depth)
	}
	if i := slices.Index(x.pushed, h); i >= 0 {
		return Stored(8, asm.At(asm.RSP, x.depth-x.at(i)))
	}
	if slices.Contains(x.clobbered(), h) {
		return Stored(8, x.abs(regsIn+8*int(h)))
	}
	return In(h)
}

// at is how far below the program's stack pointer the ith pushed register is.
func (x *pad) at(i int) int32 { return 128 + 8*int32(i+1) }

// enter saves what Go wants to have back, loads the program's registers and saves the clobbered ones.
func (x *pad) enter() {
	x.Push(asm.RBP)
	x.Push(asm.R14)
	x.Store(8, x.abs(saved), asm.RSP)
	x.Store(8, x.abs(regsIn+8*int(asm.RSP)), asm.RSP)
	for r := asm.RAX; r <= asm.R15; r++ {
		if r != asm.RSP {
			x.Mov(8, r, x.abs(regsIn+8*int(r)))
		}
	}
	x.Lea(asm.RSP, asm.At(asm.RSP, -128))
	x.depth = 128
	for _, r := range x.pushed {
		x.Push(r)
		x.depth += 8
	}
	for _, r := range x.clobbered() { // what is saved must be read where it is saved
		x.MovImm(r, 0x5a5a5a5a5a5a5a5a)
	}
	x.leave = x.NewLabel()
}

// end notes how the expression ended.
func (x *pad) end(how int32) {
	x.StoreImm(8, x.abs(outcome), how)
	x.Jmp(x.leave)
}

// exit stores all registers and returns to Go.
func (x *pad) exit() {
	x.Bind(x.leave)
	for r := asm.RAX; r <= asm.R15; r++ {
		x.Store(8, x.abs(regsOut+8*int(r)), r)
	}
	x.Mov(8, asm.RSP, x.abs(saved))
	x.Pop(asm.R14)
	x.Pop(asm.RBP)
	x.Ret()
}

// env is what the compiler sees of the pad.
func (x *pad) env() *Env {
	return &Env{
		Scratch:  x.scratch,
		Register: x.place,
		Variable: x.variable,
		Guard:    x.guard,
		Fault: func(from, to int, a Access) {
			if last := x.accesses[len(x.accesses)-1]; a != last {
				x.t.Errorf("fault of %v behind a guard of %v", a, last)
			}
			x.marks = append(x.marks, [2]int{from, to})
		},
		Failed: func(e *ax.Error) asm.Label {
			l, how := x.NewLabel(), failed+int32(len(x.failures))
			x.failures = append(x.failures, e)
			x.later = append(x.later, func() { x.Bind(l); x.end(how) })
			return l
		},
		TraceMemory:   func(addr, size Operand) error { return x.effect(effect{kind: "memory"}, addr, size) },
		TraceString:   func(addr, limit Operand) error { return x.effect(effect{kind: "string"}, addr, limit) },
		TraceVariable: func(n uint16) error { return x.effect(effect{kind: "variable", n: n}) },
		Printf: func(fn, channel Operand, format string, args []Operand) error {
			return x.effect(effect{kind: "printf", format: format, args: len(args)}, append([]Operand{fn, channel}, args...)...)
		},
	}
}

func (x *pad) variable(n uint16) Place {
	switch {
	case n < storedVariables:
		return Stored(8, x.abs(variables+8*int(n)))
	case n == knownVariable:
		return Known(oddValue)
	case n == computedVariable:
		return Computed(func(dst asm.Reg) {
			x.MovImm(dst, oddValue)
			x.Unary(asm.Neg, 8, dst)
		})
	}
	return Place{}
}

// guard checks every address, so that nothing faults.
func (x *pad) guard(a Access) {
	bad, how := x.NewLabel(), faults+int32(len(x.accesses))
	x.accesses = append(x.accesses, a)
	x.later = append(x.later, func() { x.Bind(bad); x.end(how) })
	x.Push(asm.RAX)
	x.Push(asm.RCX)
	x.behind(a.Addr, 16)
	x.Store(8, x.abs(value), asm.RAX)
	x.MovImm(asm.RCX, int64(x.memory.Addr(readable)))
	x.Arith(asm.Sub, 8, asm.RAX, asm.RCX)
	x.ArithImm(asm.Cmp, 8, asm.RAX, int32(readSize-a.Size))
	x.Pop(asm.RCX)
	x.Pop(asm.RAX)
	x.Jcc(asm.CondA, bad)
}

// behind loads an operand into RAX, whose own value is on top of pushed bytes on the stack.
func (x *pad) behind(o Operand, pushed int32) {
	switch o.Base {
	case asm.RSP:
		o.Disp += int64(pushed)
	case asm.RAX:
		x.Mov(8, asm.RAX, asm.At(asm.RSP, pushed-8))
	}
	o.Load(x.Assembler, asm.RAX)
}

// effect notes operands in the next slot, and how many effects came before.
func (x *pad) effect(e effect, operands ...Operand) error {
	slot := slots + slotSize*len(x.effects)
	if len(x.effects) == maxSlots {
		return errors.New("too many effects")
	}
	x.effects = append(x.effects, e)
	x.Push(asm.RAX)
	for i, o := range operands {
		x.behind(o, 8)
		x.Store(8, x.abs(slot+8+8*i), asm.RAX)
	}
	if e.kind == "variable" {
		switch p := x.variable(e.n); p.kind {
		case stored:
			x.Mov(8, asm.RAX, p.mem)
		case computed:
			p.emit(asm.RAX)
		default:
			x.MovImm(asm.RAX, p.value)
		}
		x.Store(8, x.abs(slot+8), asm.RAX)
	}
	x.Inc(8, x.abs(effects))
	x.Mov(8, asm.RAX, x.abs(effects))
	x.Store(8, x.abs(slot), asm.RAX)
	x.Pop(asm.RAX)
	return nil
}

// log is what the run has recorded, in order.
func (x *pad) log() []string {
	list := make([]string, x.word(effects))
	for i, e := range x.effects {
		slot := slots + slotSize*i
		order, word := x.word(slot), func(n int) uint64 { return x.word(slot + 8 + 8*n) }
		if order == 0 {
			continue
		}
		text := ""
		switch e.kind {
		case "variable":
			text = fmt.Sprintf("variable %d is %d", e.n, int64(word(0)))
		case "printf":
			args := make([]int64, e.args)
			for i := range args {
				args[i] = int64(word(2 + i))
			}
			text = fmt.Sprintf("printf %d %d %q %d", word(0), word(1), e.format, args)
		default:
			text = fmt.Sprintf("%s %#x+%d", e.kind, word(0), word(1))
		}
		list[order-1] = text
	}
	return list
}

// result is what came of a run, in words, whoever ran it.
type result struct {
	Outcome   string
	Effects   []string
	Variables [storedVariables]int64
}

// interesting are numbers at which something changes.
var interesting = []uint64{0, 1, 1<<64 - 1, 2, 7, 8, 31, 32, 63, 64, 65, 127, 128, 255, 256, 0x7fff, 1 << 31, 1<<64 - 1<<31, 1<<32 - 1, 1 << 32,
	1<<63 - 1, 1 << 63, 1<<64 - 128, 1<<30 - 1}

// number is one of them, or any number.
func (b *bench) number() uint64 {
	if b.IntN(2) == 0 {
		return interesting[b.IntN(len(interesting))]
	}
	return b.Uint64() >> b.IntN(64)
}

// fill gives the program's registers, its memory and the variables new values.
func (b *bench) fill() {
	for r := range 16 {
		v := b.number()
		if b.IntN(4) == 0 { // a pointer
			v = uint64(b.memory.Addr(readable)) + b.Uint64N(readSize)
		}
		b.setWord(regsIn+8*r, v)
	}
	for n := range storedVariables {
		b.setWord(variables+8*n, b.number())
	}
	b.setWord(segment, b.Uint64())
	for at := readable; at < readable+readSize; at += 8 {
		b.setWord(at, b.Uint64())
	}
	for at := readable + 64*b.IntN(32); at < readable+readSize; at += 512 {
		b.setWord(at, b.number())
	}
}

// run runs what build has made, in the present state.
func (x *pad) run() result {
	clear(x.memory.Bytes[slots:readable])
	x.setWord(effects, 0)
	x.setWord(outcome, 0)
	x.memory.Call(0)
	r := result{Effects: x.log()}
	for n := range r.Variables {
		r.Variables[n] = int64(x.word(variables + 8*n))
	}
	switch how := x.word(outcome); {
	case how == isTrue && x.mode == asValue:
		r.Outcome = fmt.Sprint(int64(x.word(value)))
	case how == isTrue && x.mode == asCondition:
		r.Outcome = "true"
	case how == isTrue:
		r.Outcome = "done"
	case how == isFalse:
		r.Outcome = "false"
	case how >= failed:
		r.Outcome = x.failures[how-failed].Error()
	case how >= faults:
		r.Outcome = x.accesses[how-faults].Error(arch.Addr(x.word(value)), errHole).Error()
	default:
		r.Outcome = fmt.Sprintf("came to %d", how)
	}
	for reg := asm.RAX; reg <= asm.R15; reg++ {
		want := x.word(regsIn + 8*int(reg))
		if reg == asm.RSP {
			want -= uint64(x.depth)
		}
		if got := x.word(regsOut + 8*int(reg)); got != want && reg != x.result && !slices.Contains(x.clobbered(), reg) {
			r.Outcome += fmt.Sprintf(", changes %v from %#x to %#x", reg, want, got)
		}
	}
	return r
}

// world is the ax.Env of the same state, except that variables are copies.
type world struct {
	*bench
	variables [storedVariables]int64
	log       []string
}

var errHole = errors.New("no such page")

// interpreted is what ax.Machine makes of p.
func (b *bench) interpreted(p *ax.Program, m mode, variables [storedVariables]int64) result {
	w := &world{bench: b, variables: variables, log: []string{}}
	outcome := "done"
	var err error
	if m == asRun {
		err = b.machine.Run(p, w)
	} else {
		var v int64
		v, err = b.machine.Value(p, w)
		if outcome = fmt.Sprint(v); m == asCondition {
			outcome = fmt.Sprint(v != 0)
		}
	}
	if err != nil {
		outcome = err.Error()
	}
	return result{outcome, w.log, w.variables}
}

func (w *world) Register(r arch.Reg) (uint64, error) {
	switch {
	case r == 16:
		return pcValue, nil
	case r == 17:
		return flagsValue, nil
	case r == 18:
		return w.word(segment) & 0xffffffff, nil
	case r > 18:
		return 0, errors.New("too wide")
	}
	return w.word(regsIn + 8*int(hardware[r])), nil
}

func (w *world) Ref(addr arch.Addr, size int) (uint64, error) {
	at := addr - w.memory.Addr(readable)
	if at > readSize-arch.Addr(size) {
		return 0, errHole
	}
	var b [8]byte
	copy(b[:size], w.memory.Bytes[readable+at:])
	return binary.LittleEndian.Uint64(b[:]), nil
}

func (w *world) Variable(n uint16) int64 {
	switch {
	case n < storedVariables:
		return w.variables[n]
	case n == knownVariable:
		return oddValue
	case n == computedVariable:
		return -oddValue
	}
	return 0
}

func (w *world) SetVariable(n uint16, v int64) {
	if n < storedVariables {
		w.variables[n] = v
	}
}

func (w *world) TraceVariable(n uint16) { w.note("variable %d is %d", n, w.Variable(n)) }

func (w *world) TraceMemory(addr arch.Addr, size uint64) { w.note("memory %v+%d", addr, size) }

func (w *world) TraceString(addr arch.Addr, limit uint64) { w.note("string %v+%d", addr, limit) }

func (w *world) Printf(fn, channel uint64, format string, args []int64) error {
	w.note("printf %d %d %q %d", fn, channel, format, args)
	return nil
}

func (w *world) note(format string, args ...any) { w.log = append(w.log, fmt.Sprintf(format, args...)) }
