package gem5

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/dialecttest"
	"tracewell/itrace"
)

// museum is lines in the forms of gem5's source. Only the first of a processor is one that gem5 printed.
var museum = []struct{ producer, text string }{
	{"Exec, Arm", `**** REAL SIMULATION ****
info: Entering event queue @ 0.  Starting simulation...
      0: system.cpu: A0 T0 : 0x10000 @_start    : mov r0, r1 : IntAlu :  D=0x0000000000000000
    500: system.cpu: A0 T0 : 0x10004 @_start+4    :   ldr   r2, [r0, #8]     : MemRead :  D=0x000000000000002a A=0x20008
   1000: system.cpu: A0 T0 : 0x10008 @_start+8    :   strne   r2, [r0]       : MemWrite :  Predicated False
   1500: system.cpu: A0 T0 : 0x1000c @_start+12    :   fadd   s0, s0, s1     : SimdFloatAdd :  D=[0x1 0x2]
   1500: system.cpu.dcache: access for ReadReq
`},
	{"Exec, RISC-V, two processors and a thread", `      0: board.processor.cores0.core: A0 T0 : 0x80000000 @main    : addi a0, zero, 10         : IntAlu :  D=0x000000000000000a  flags=(IsInteger)
      0: board.processor.cores1.core: A0 T0 : 0x80000000 @main    : sd a0, 8(sp)              : MemWrite :  D=0x000000000000000a A=0x80001008
    333: board.processor.cores1.core: A1 T1 : 0x80000004 @main+4    : beq a0, zero, 8           : IntAlu :
`},
	{"ExecAll, x86: macro-operations and micro-operations", `  77000: system.cpu: A0 T0 : 0x4003f0 @_start.part.12    : push rbp
  77000: system.cpu: A0 T0 : 0x4003f0 @_start.part.12. 0 :   PUSH_R : st   rbp, SS:[rsp + 0xfffffffffffffff8] : MemWrite :  D=0x0000000000000000 A=0x7fffffffee28  FetchSeq=12  CPSeq=10  flags=(IsStore|IsMicroop)
  77000: system.cpu: A0 T0 : 0x4003f0 @_start.part.12. 1 :   PUSH_R : subi   rsp, rsp, 0x8 : IntAlu :  D=0x00007fffffffee28  FetchSeq=13  CPSeq=11  flags=(IsInteger)
  78000: system.cpu: A0 T0 : 0x4003f1. 0 :   MOV_R_I : limm   rax, 0x1 : IntAlu :  D=0x0000000000000001
  79000: system.cpu: A0 T0 : 0x4003f1. 0 :   MOV_R_I : limm   rax, 0x1 : IntAlu :  D=0x0000000000000001
`},
	{"without ticks, with flags, without all that can be left out", `ExecEnable: system.switch_cpus1: T0 : 0x1000    : nop                       : No_OpClass :
system.switch_cpus1: T0 : 0x1004    : fence
12: Exec: system.cpu: A0 T0 : 0x1008    : fld fa0, 0(a0)            : FloatMemRead :  D=1.500000 A=0x2000
`},
}

func TestMuseum(t *testing.T) {
	for _, m := range museum {
		t.Run(m.producer, func(t *testing.T) { dialecttest.Run(t, Dialect, m.text) })
	}
}

// TestRecords says what each kind of line is.
func TestRecords(t *testing.T) {
	for i, want := range [][]string{
		{
			`1 {"remark":"**** REAL SIMULATION ****"}`,
			`2 {"remark":"info: Entering event queue @ 0.  Starting simulation..."}`,
			`3 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x10000","tells":"all-writes","disasm":"mov r0, r1"}`,
			`4 {"kind":"instruction","time":500,"cpu":0,"id":0,"address":"0x10004","tells":"loads stores all-writes","disasm":"ldr   r2, [r0, #8]"}`,
			`4 {"kind":"memory","time":500,"cpu":0,"access":"read","partial":true,"address":"0x20008"}`,
			`5 {"kind":"instruction","time":1000,"cpu":0,"id":0,"skipped":true,"address":"0x10008","tells":"loads stores all-writes","disasm":"strne   r2, [r0]"}`,
			`6 {"kind":"instruction","time":1500,"cpu":0,"id":0,"address":"0x1000c","tells":"loads stores all-writes","disasm":"fadd   s0, s0, s1"}`,
			`7 {"remark":"   1500: system.cpu.dcache: access for ReadReq"}`,
		},
		{
			`1 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x80000000","tells":"all-writes","disasm":"addi a0, zero, 10"}`,
			`2 {"kind":"instruction","time":0,"cpu":1,"id":0,"address":"0x80000000","tells":"loads stores all-writes","disasm":"sd a0, 8(sp)"}`,
			`2 {"kind":"memory","time":0,"cpu":1,"access":"write","partial":true,"address":"0x80001008"}`,
			`3 {"kind":"instruction","time":333,"cpu":2,"id":0,"address":"0x80000004","tells":"loads stores all-writes","disasm":"beq a0, zero, 8"}`,
		},
		{
			`1 {"kind":"instruction","time":77000,"cpu":0,"id":0,"address":"0x4003f0","tells":"all-writes","disasm":"push rbp"}`,
			`2 {"kind":"memory","time":77000,"cpu":0,"access":"write","partial":true,"address":"0x7fffffffee28"}`,
			`3 {"remark":"  77000: system.cpu: A0 T0 : 0x4003f0 @_start.part.12. 1 :   PUSH_R : subi   rsp, rsp, 0x8 : IntAlu :  D=0x00007fffffffee28  FetchSeq=13  CPSeq=11  flags=(IsInteger)"}`,
			`4 {"kind":"instruction","time":78000,"cpu":0,"id":0,"address":"0x4003f1","tells":"loads stores all-writes","disasm":"MOV_R_I : limm   rax, 0x1"}`,
			`5 {"kind":"instruction","time":79000,"cpu":0,"id":0,"address":"0x4003f1","tells":"loads stores all-writes","disasm":"MOV_R_I : limm   rax, 0x1"}`,
		},
		{
			`1 {"kind":"instruction","time":0,"cpu":1,"id":0,"address":"0x1000","tells":"all-writes","disasm":"nop"}`,
			`2 {"kind":"instruction","time":0,"cpu":1,"id":0,"address":"0x1004","tells":"all-writes","disasm":"fence"}`,
			`3 {"kind":"instruction","time":12,"cpu":0,"id":0,"address":"0x1008","tells":"loads stores all-writes","disasm":"fld fa0, 0(a0)"}`,
			`3 {"kind":"memory","time":12,"cpu":0,"access":"read","partial":true,"address":"0x2000"}`,
		},
	} {
		if diff := cmp.Diff(want, dialecttest.Lines(t, Dialect, museum[i].text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", museum[i].producer, diff)
		}
	}
}

// TestOption: results are registers if the user says so, and only those of registers.
func TestOption(t *testing.T) {
	d, err := itrace.Registry{Dialect}.ByName("gem5:results=operand")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range museum {
		dialecttest.Run(t, d, m.text)
		for _, r := range d.Decode([]byte(m.text)) {
			if r.Kind == itrace.Instruction && r.Scope&itrace.NoRegisters != 0 {
				t.Errorf("registers are not told: %s", r.Text)
			}
			if r.Kind == itrace.Register {
				got = append(got, string(r.Name)+"="+string(r.Digits))
			}
		}
	}
	want := []string{"r0=0000000000000000", "r2=000000000000002a", "a0=000000000000000a"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestProblems says what is wrong with lines, and where.
func TestProblems(t *testing.T) {
	const good = "0: system.cpu: A0 T0 : 0x10000 @main    : mov r0, r1 : IntAlu : "
	for line, want := range map[string]string{
		"hello":                                `column 1: found "hello", expected a tick, the name of a processor and a thread, with colons behind`,
		"system.cpu: A0 B0 : 0x1":              `column 1: found "system.cpu:", expected a tick, the name of a processor and a thread, with colons behind`,
		"0: system.cpu: T0 : @main+4    : nop": `column 21: found "@main+4", expected 0x and the address of an instruction`,
		"0: system.cpu: T0 : 0x10 nop":         `column 25: found " nop", expected a colon behind the address and symbol`,
		good + " D=0xg":                        `column 68: found "0xg", expected 0x and a result`,
		good + " D=[1 2":                       `column 66: found "D=[1", expected a vector with a bracket at the end`,
		good + " A=12":                         `column 68: found "12", expected 0x and an address`,
		good + " FetchSeq=x":                   `column 75: found "x", expected a number`,
		good + " Predicated True":              `column 66: found "Predicated", expected Predicated False`,
		good + " B=0x1":                        `column 66: found "B=0x1", expected D=, A=, FetchSeq=, CPSeq= or flags=`,
	} {
		records := dialecttest.Read(t, Dialect, strings.NewReader(line+"\n"), 8)
		last := records[len(records)-1]
		if last.Kind != itrace.Unknown || last.Problem.Error() != want {
			t.Errorf("%s: got %v, want %s", line, last.Problem, want)
		}
	}
}

func TestAllocations(t *testing.T) {
	for _, m := range museum {
		dialecttest.Allocations(t, Dialect, m.text)
	}
}

func FuzzGem5(f *testing.F) {
	var texts []string
	for _, m := range museum {
		texts = append(texts, m.text)
	}
	dialecttest.Fuzz(f, Dialect, texts...)
}

// BenchmarkRead reads lines of an Arm, and of micro-operations.
func BenchmarkRead(b *testing.B) {
	b.Run("plain", func(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[1].text) })
	b.Run("micro", func(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[2].text) })
}
