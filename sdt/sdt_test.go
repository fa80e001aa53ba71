package sdt

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/internal/test/sdttest"
)

// object is a file with two probes whose note was written before it was prelinked by 0x10000, and one note that is not whole.
var object = sdttest.File{
	Entry: 0x1040, Base: 0x12000,
	Probes: []sdttest.Probe{
		{PC: 0x1100, Base: 0x2000, Semaphore: 0x4040, Provider: "demo", Name: "item", Arguments: "-4@%edi 8@8(%rsi) 4@total+4(%rip)"},
		{PC: 0x1200, Base: 0x2000, Provider: "demo", Name: "bare"},
		{PC: 0x1300, Base: 0x2000, Provider: "demo", Name: "lost"},
	},
	Symbol: map[string]uint64{"total": 0x14000},
	Cut:    8,
}

func TestRead(t *testing.T) {
	o, err := Read(bytes.NewReader(object.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	item := Probe{Provider: "demo", Name: "item", PC: 0x11100, Semaphore: 0x14040, Text: "-4@%edi 8@8(%rsi) 4@total+4(%rip)"}
	item.Arguments = []Argument{
		{Text: "-4@%edi", Size: 4, Signed: true, Place: InRegister, Register: Register{"rdi", 0, 4}},
		{Text: "8@8(%rsi)", Size: 8, Place: InMemory, Register: Register{"rsi", 0, 8}, Displacement: 8},
		{Text: "4@total+4(%rip)", Size: 4, Place: InMemory, Displacement: 0x14004, Symbol: "total", Linked: true},
	}
	want := &Object{Entry: 0x1040, Probes: []Probe{item, {Provider: "demo", Name: "bare", PC: 0x11200}}}
	if diff := cmp.Diff(want, o); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestReadWithout reads files in which something is missing.
func TestReadWithout(t *testing.T) {
	f := object
	f.Base, f.Symbol = 0, nil
	o, err := Read(bytes.NewReader(f.Bytes()))
	if err != nil || len(o.Probes) != 2 {
		t.Fatalf("%+v, %v", o, err)
	}
	if p := o.Probes[0]; p.PC != 0x1100 || p.Semaphore != 0x4040 {
		t.Errorf("without a base: probe at %v, semaphore at %v", p.PC, p.Semaphore)
	}
	err = o.Probes[0].Arguments[2].Err
	if want := `argument "4@total+4(%rip)": the file has no symbol "total"`; err == nil || err.Error() != want {
		t.Errorf("without symbols: %v, want %s", err, want)
	}
	if _, err := Read(strings.NewReader("#!/bin/sh")); err == nil {
		t.Error("a script was read as an ELF file")
	}
}

// thread is an Env of a few registers and bytes.
type thread struct {
	registers map[string]uint64
	at        arch.Addr
	memory    []byte
}

func (th *thread) Register(name string) (uint64, bool) {
	v, ok := th.registers[name]
	return v, ok
}

func (th *thread) ReadMemory(addr arch.Addr, p []byte) int {
	if addr < th.at || addr-th.at > arch.Addr(len(th.memory)) {
		return 0
	}
	return copy(p, th.memory[addr-th.at:])
}

// probed has memory at 0x7000 that counts up from 0xf0.
var probed = &thread{
	registers: map[string]uint64{
		"rax": 0xffffffff_fffff305, "rbp": 0x7008, "rsp": 0x7000, "rsi": 0x7ffe0000_00001234, "rdi": 2, "rip": 0x401136,
		"r9": 0x80, "xmm0": math.Float64bits(0.25), "xmm1": uint64(math.Float32bits(-1.5)), "fs_base": 0x6ffc, "gs_base": 0x6f00,
	},
	at: 0x7000, memory: []byte{0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff, 0, 1},
}

func TestArguments(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"-4@%eax", "-3323"},
		{"4@%eax", "4294963973"},
		{"-2@%ax", "-3323"},
		{"-1@%al", "5"},
		{"-1@%ah", "-13"},
		{"1@%ah", "243"},
		{"8@%rsi", "0x7ffe000000001234"},
		{"-8@%rsi", "9222809086901359156"},
		{"1@%r9b", "128"},
		{"-1@%r9b", "-128"},
		{"4@%r9d", "128"},
		{"%rdi", "2"},
		{"8@$5", "0x5"},
		{"-4@$-12", "-12"},
		{"2@$0xffff", "65535"},
		{"-8@$18446744073709551615", "-1"},
		{"4@-4(%rbp)", "4160157172"},
		{"-4@-4(%rbp)", "-134810124"},
		{"2@(%rsp)", "61936"},
		{"1@3(%rsp,%rdi)", "245"},
		{"1@(%rsp,%rdi,4)", "248"},
		{"1@(%rsp, %rdi, 4)", "248"},
		{"1@-1+2+1(%rsp)", "242"},
		{"1@0x7001", "241"},
		{"1@28671+1(,%rdi,1)", "242"},
		{"1@%fs:8", "244"},
		{"1@%fs:(%rdi)", "?"},
		{"1@%fs:4(%rdi)", "242"},
		{"8f@%xmm0", "0.25"},
		{"4f@%xmm1", "-1.5"},
		{"8@8(%rsi)", "?"},
		{"8@12(%rsp)", "?"},
		{"8@%xmm9", "?"},
		{"8@%st(0)", "<8@%st(0)>"},
		{"3@%rax", "<3@%rax>"},
		{"4@(%rax", "<4@(%rax>"},
		{"4@(%rax,%rbx,3)", "<4@(%rax,%rbx,3)>"},
		{"4@(%rax,%rbx,1,2)", "<4@(%rax,%rbx,1,2)>"},
		{"4@(%al)", "<4@(%al)>"},
		{"4@%ds:8", "<4@%ds:8>"},
		{"4@x@tpoff", "<4@x@tpoff>"},
		{"4@x+y(%rip)", "<4@x+y(%rip)>"},
		{"4@$", "<4@$>"},
		{"4@", "<4@>"},
		{"-@%eax", "<-@%eax>"},
		{"99999999999999999999@%eax", "<99999999999999999999@%eax>"},
	} {
		var e Evaluator
		got := string(e.AppendText(nil, ParseArguments(test.text), probed, 0x10000))
		if want := "arg0=" + test.want; got != want {
			t.Errorf("%s: got %s, want %s", test.text, got, want)
		}
	}
}

// TestLinkedArguments adds the bias to symbols and to nothing else.
func TestLinkedArguments(t *testing.T) {
	arguments := []Argument{
		{Size: 1, Place: InMemory, Displacement: 0x3001, Linked: true},
		{Size: 8, Place: Constant, Displacement: 0x3001, Linked: true},
		{Size: 8, Place: Constant, Displacement: 0x3001},
	}
	var e Evaluator
	const want = "arg0=241 arg1=0x7001 arg2=0x3001"
	if got := string(e.AppendText(nil, arguments, probed, 0x4000)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestOneBadArgument leaves the others alone.
func TestOneBadArgument(t *testing.T) {
	arguments := ParseArguments("  -4@%edi 8@%mm3  1@$7")
	var e Evaluator
	const want = "arg0=2 arg1=<8@%mm3> arg2=7"
	if got := string(e.AppendText(nil, arguments, probed, 0)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	const problem = `argument "8@%mm3": unknown register "%mm3"`
	if err := arguments[1].Err; err == nil || err.Error() != problem {
		t.Errorf("error %v, want %s", err, problem)
	}
}

// TestNoAllocation holds AppendText to what a hit may cost.
func TestNoAllocation(t *testing.T) {
	arguments := ParseArguments("-4@%eax 8@%rsi 8f@%xmm0 4@-4(%rbp) 1@(%rsp,%rdi,4) 8@12(%rsp)")
	e, dst := new(Evaluator), make([]byte, 0, 200)
	if n := testing.AllocsPerRun(100, func() { dst = e.AppendText(dst[:0], arguments, probed, 0) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzArguments evaluates whatever was understood: it must not panic, and each argument must show.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{"-4@%eax 8@%rsi", "8@sym+4(%rip)", "4@%fs:-8(%rax,%rbx,8)", "8f@%xmm0 2@$-1", "4@((", "@ @"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var e Evaluator
		arguments := ParseArguments(text)
		got := string(e.AppendText(nil, arguments, probed, 0))
		if shown := strings.Count(got, "arg"); shown < len(arguments) {
			t.Errorf("%q has %d arguments and shows as %q", text, len(arguments), got)
		}
	})
}

// FuzzRead reads whatever file there may be.
func FuzzRead(f *testing.F) {
	f.Add(object.Bytes())
	whole := object
	whole.Cut = 0
	f.Add(whole.Bytes())
	f.Fuzz(func(t *testing.T, file []byte) {
		o, err := Read(bytes.NewReader(file))
		if (o == nil) != (err != nil) {
			t.Errorf("object %v with error %v", o, err)
		}
	})
}
