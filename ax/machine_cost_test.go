package ax

import (
	"testing"

	"tracewell/arch"
)

// still is an Env that does nothing and takes no time.
type still struct{ sink uint64 }

func (s *still) Register(arch.Reg) (uint64, error)            { return 0x1000, nil }
func (s *still) Ref(addr arch.Addr, size int) (uint64, error) { return uint64(addr) + 2, nil }
func (s *still) Variable(n uint16) int64                      { return int64(n) }
func (s *still) SetVariable(n uint16, v int64)                { s.sink += uint64(v) }
func (s *still) TraceVariable(n uint16)                       { s.sink++ }
func (s *still) TraceMemory(addr arch.Addr, size uint64)      { s.sink += size }
func (s *still) TraceString(addr arch.Addr, limit uint64)     { s.sink += limit }
func (s *still) Printf(_, _ uint64, f string, a []int64) error {
	s.sink += uint64(len(f) + len(a))
	return nil
}

// condition is the shape of GDB's code for "q->length > 3", q a local: 14 operations before the end.
const condition = "reg 6; const8 16; add; const8 220; ext 8; add; ref64; const8 8; add; ref32; ext 32; " +
	"const8 3; swap; less_signed; end"

// everything uses each unit of the machine.
const everything = `const8 2; const8 3; add; ext 8; const8 2; div_signed; dup; pick 0; setv 1; getv 2; tracev 2
	trace_quick 4; const8 8; trace; const8 8; tracenz; reg 6; ref32
	const8 1; dup; printf 1 "%d"; const8 1; if_goto out; out: end`

func TestRunsDoNotAllocate(t *testing.T) {
	for _, text := range []string{condition, everything} {
		p, env, m := mustAssemble(t, text), &still{}, &Machine{}
		if err := m.Run(p, env); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if n := testing.AllocsPerRun(100, func() { _ = m.Run(p, env) }); n != 0 {
			t.Errorf("%s: %v allocations a run", text, n)
		}
	}
	p, env, m := mustAssemble(t, condition), &still{}, &Machine{}
	if n := testing.AllocsPerRun(100, func() { _, _ = m.Value(p, env) }); n != 0 {
		t.Errorf("Value: %v allocations a run", n)
	}
}

// BenchmarkCondition is the cost of a condition at each hit; the budget is 0.1 µs.
func BenchmarkCondition(b *testing.B) {
	p, env, m := mustAssemble(b, condition), &still{}, &Machine{}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Value(p, env); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDecode is the cost of taking the same condition in.
func BenchmarkDecode(b *testing.B) {
	code := mustAssemble(b, condition).Code()
	b.ReportAllocs()
	b.SetBytes(int64(len(code)))
	for b.Loop() {
		if _, err := Decode(code); err != nil {
			b.Fatal(err)
		}
	}
}
