package ax_test

import (
	"fmt"

	"tracewell/arch"
	"tracewell/ax"
)

// registers is an Env that has registers and nothing else.
type registers map[arch.Reg]uint64

func (r registers) Register(n arch.Reg) (uint64, error)         { return r[n], nil }
func (registers) Ref(addr arch.Addr, size int) (uint64, error)  { return 0, fmt.Errorf("no memory") }
func (registers) Variable(uint16) int64                         { return 0 }
func (registers) SetVariable(uint16, int64)                     {}
func (registers) TraceVariable(uint16)                          {}
func (registers) TraceMemory(arch.Addr, uint64)                 {}
func (registers) TraceString(arch.Addr, uint64)                 {}
func (registers) Printf(_, _ uint64, _ string, _ []int64) error { return nil }

// The condition $rdi > 100, as GDB compiles it.
func Example() {
	p, err := ax.Decode([]byte{0x26, 0, 5, 0x22, 100, 0x2b, 0x14, 0x27})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(p)
	var m ax.Machine
	for _, rdi := range []uint64{100, 101} {
		v, err := m.Value(p, registers{5: rdi})
		fmt.Println(rdi, v, err)
	}
	// Output:
	//    0  reg 5
	//    3  const8 100
	//    5  swap
	//    6  less_signed
	//    7  end
	// 100 0 <nil>
	// 101 1 <nil>
}

// A program with a jump, built for a machine that compiles expressions.
func ExampleBuilder() {
	var b ax.Builder
	done := b.NewLabel()
	b.Emit(ax.OpReg, 5)
	b.Jump(ax.OpIfGoto, done)
	b.Const(-1)
	b.Emit(ax.OpSetv, 2)
	b.Bind(done)
	b.Emit(ax.OpEnd)
	p, err := b.Program()
	fmt.Println(err)
	fmt.Print(p)
	// Output:
	// <nil>
	//    0  reg 5
	//    3  if_goto 13
	//    6  const8 255
	//    8  ext 8
	//   10  setv 2
	//   13  end
}
