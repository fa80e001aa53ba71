package tarmac

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/dialecttest"
	"tracewell/itrace"
)

// museum is lines in the forms of producers, made of what is documented of these but for those of the second.
var museum = []struct{ producer, text string }{
	{"Fast Models, one processor, A32 and T32", `0 clk R cpsr 000001d3
0 clk SIGNAL: SIGNAL=DebugReset STATE=N
0 clk E 00000000:000000000000 00000001 CoreEvent_Reset
1 clk IT (1) 00008000 e92d4010 A svc_s : PUSH     {r4,lr}
1 clk MW4 000ffff8:0000000ffff8 00000000
1 clk MW4 000ffffc:0000000ffffc 0002015c
1 clk R r13_svc 000ffff8
2 clk IS (2) 00008004 13a01001 A svc_s : MOVNE    r1,#1
3 clk IT (3) 00008008:000000008008,00000000800a f000f802 T svc_ns : BL       {pc}+8 ; 0x8010
3 clk MR4 00009000 (ABORTED)
3 clk R DC CIVAC 00000000:00009000
4 clk CADI E simulation_stopped
`},
	{"Fast Models with two processors; RTL of a Cortex-A", `2 clk cpu0 IT (2) 1000184c f2c30003 T thread_s : MOVT     r0,#0x3003
2 clk cpu0 R r0 3003fe00
2 clk cpu1 R r0 00000000
178000 ns  ES  (00000164:e59f1198) A svc:            LDR      r1,{pc}+0x1a0 ; 0x304
           LD 00000300  ........ ........ 00000800 ........     0000000300    NM ISH INC
`},
	{"Fast Models, A64", `7 clk IT (7) 00010040 f9400be8 O EL3h_s : LDR      x8,[sp,#0x10]
7 clk MR8 000ffac0:0000000ffac0_NS 00000000_000ffbb8
7 clk R X8 00000000000ffbb8
8 clk IT (8) 00010044 4ea01c00 O EL3h_s : MOV      v0.16b,v0.16b
8 clk MW16 000ffac0:0000000ffac0_S 00000001_00000002 00000003_00000004
8 clk R V0 0000000100000002_0000000300000004
8 clk R FPCR 00000000:01230000
9 clk MW4X 000ffac0 0000002a
9 clk E 00010044 00000084 CoreEvent_CURRENT_SPx_IRQ
`},
	{"Cycle Models and RTL of Cortex-A and Neoverse", `Tarmac Text Rev 3t
      17000 ns  ES  EXC [0x00] Reset
                    BR (00000000) A
     800000 ns  ES  (000001a4:03a06a01) A svc:     CCFAIL MOVEQ    r6,#0x1000
     541533 ns  ES  (00000000000001b0:a9be7bfd) O el3h_s:         STP      x29,x30,[sp,#-0x20]!
                    ST 0000000004001b60 ######## 00000000 ..123456 ......20    S:0004001b60    nGnRnE OSH
                       0000000004001b50 00000007 ........ ........ ........   NS:0004001b50    nGnRnE OSH
                    R R1 (USR) 00000379
                    R V0<127:64> ffeeddccbbaa9988
                    R Q1 -------- -------- 3ff6a09e 667f3bcd
                    R X2 --------
                    EXC [0x280] IRQ Current EL with SP_ELx
     307754 tic ES  (0000aaaaabaf59f0:--------) O el0t_ns:
      12345 ns  ES  Reset
`},
	{"an emulator of a Cortex-A", `    6000000 cs IT (00000000004d6eb8) 54fffea1 O  ---_- :        b.ne	0x4d6e8c
    6000001 cs R08 0000007f99d14af4 4305000042ea0000
    6379085 cs W04 X ffffffbdc3c15c30 010c010b
    6000017 cs R cpsr 20000000 __C_
`},
	{"RTL of Cortex-M4, Cortex-M33 and Cortex-M0", `      3041 cyc IT (00022a7c:00000006) 00022a7c     48f6 T16 LDR      r0,[pc,#984]  ; [0x22e58]
      3039 cyc MNW4___D 2002fa00 efbe0102
      3037 cyc MNR4O__I 00022ae4 f7ffffcb
       3981 tic ES  (000000d8:c878)     T thrd_s:         LDMCS    r0!,{r3-r6}
                    LD 00004020  ........ 626d654d 2043424d 4545203e   S:0000000000004020  NM NSH
                       00004010  3e000a73 ........ ........ ........   S:0000000000004010  NM NSH
271ns R r13 20001fff (MSP)
272.5 ns R MSP_S 20001ff0
`},
	{"gem5 for v8 and v7", `2500 clk cpu0 IT (8) 002109cc 90ffff80 O EL3h_s :   ADRP   X0, #18446744073709486080
2500 clk cpu0 R X0 0000000000200000
2750 clk cpu0 IT (9) 0021074c:00000021074c 39400008 O EL3h_s :   LDRB   W8, [W0]
2750 clk cpu0 MR1 00200167:000000200167 3a
3000 clk IT (10) 00008008 e1a00001 A svc_s :   mov   r0, r1
`},
}

func TestMuseum(t *testing.T) {
	for _, m := range museum {
		t.Run(m.producer, func(t *testing.T) { dialecttest.Run(t, Dialect, m.text) })
	}
}

// withEvents is what is told behind the first exception.
const withEvents = `"tells":"opcode mode registers system loads load-data stores store-data all-writes events",`

// TestRecords says what each kind of line is.
func TestRecords(t *testing.T) {
	for i, want := range [][]string{
		{
			`1 {"kind":"register","time":0,"scale":"clk","cpu":0,"name":"cpsr","value":"0x000001d3","system":true}`,
			`2 {"remark":"0 clk SIGNAL: SIGNAL=DebugReset STATE=N"}`,
			`3 {"kind":"event","time":0,"scale":"clk","cpu":0,"event":"reset","name":"CoreEvent_Reset","address":"0x00000000","value":"0x00000001"}`,
			`4 {"kind":"instruction","time":1,"scale":"clk","cpu":0,"id":1,"address":"0x00008000","opcode":"0xe92d4010",` + withEvents + `"state":"A","mode":"svc","security":"s","disasm":"PUSH     {r4,lr}"}`,
			`5 {"kind":"memory","time":1,"scale":"clk","cpu":0,"access":"write","size":4,"address":"0x000ffff8","data":"0x00000000","physical":"0xffff8"}`,
			`6 {"kind":"memory","time":1,"scale":"clk","cpu":0,"access":"write","size":4,"address":"0x000ffffc","data":"0x0002015c","physical":"0xffffc"}`,
			`7 {"kind":"register","time":1,"scale":"clk","cpu":0,"name":"r13_svc","value":"0x000ffff8"}`,
			`8 {"kind":"instruction","time":2,"scale":"clk","cpu":0,"id":2,"skipped":true,"address":"0x00008004","opcode":"0x13a01001",` + withEvents + `"state":"A","mode":"svc","security":"s","disasm":"MOVNE    r1,#1"}`,
			`9 {"kind":"instruction","time":3,"scale":"clk","cpu":0,"id":3,"address":"0x00008008","opcode":"0xf000f802","physical":"0x8008",` + withEvents + `"state":"T","mode":"svc","security":"ns","disasm":"BL       {pc}+8 ; 0x8010"}`,
			`10 {"remark":"3 clk MR4 00009000 (ABORTED)"}`,
			`11 {"remark":"3 clk R DC CIVAC 00000000:00009000"}`,
			`12 {"remark":"4 clk CADI E simulation_stopped"}`,
		},
		{
			`1 {"kind":"instruction","time":2,"scale":"clk","cpu":0,"id":2,"address":"0x1000184c","opcode":"0xf2c30003","state":"T","mode":"thread","security":"s","disasm":"MOVT     r0,#0x3003"}`,
			`2 {"kind":"register","time":2,"scale":"clk","cpu":0,"name":"r0","value":"0x3003fe00"}`,
			`3 {"kind":"register","time":2,"scale":"clk","cpu":1,"name":"r0","value":"0x00000000"}`,
			`4 {"kind":"instruction","time":178000,"scale":"ns","cpu":0,"id":0,"address":"0x00000164","opcode":"0xe59f1198","state":"A","mode":"svc","disasm":"LDR      r1,{pc}+0x1a0 ; 0x304"}`,
			`5 {"kind":"memory","time":178000,"scale":"ns","cpu":0,"access":"read","size":4,"address":"0x00000304","data":"0x00000800","physical":"0x304"}`,
		},
		{
			`1 {"kind":"instruction","time":7,"scale":"clk","cpu":0,"id":7,"address":"0x00010040","opcode":"0xf9400be8","state":"O","mode":"EL3h","security":"s","disasm":"LDR      x8,[sp,#0x10]"}`,
			`2 {"kind":"memory","time":7,"scale":"clk","cpu":0,"access":"read","size":8,"address":"0x000ffac0","data":"0x00000000000ffbb8","physical":"0xffac0","security":"NS"}`,
			`3 {"kind":"register","time":7,"scale":"clk","cpu":0,"name":"X8","value":"0x00000000000ffbb8"}`,
			`4 {"kind":"instruction","time":8,"scale":"clk","cpu":0,"id":8,"address":"0x00010044","opcode":"0x4ea01c00","state":"O","mode":"EL3h","security":"s","disasm":"MOV      v0.16b,v0.16b"}`,
			`5 {"kind":"memory","time":8,"scale":"clk","cpu":0,"access":"write","size":16,"address":"0x000ffac0","data":"0x00000001000000020000000300000004","physical":"0xffac0","security":"S"}`,
			`6 {"kind":"register","time":8,"scale":"clk","cpu":0,"name":"V0","value":"0x00000001000000020000000300000004"}`,
			`7 {"kind":"register","time":8,"scale":"clk","cpu":0,"name":"FPCR","value":"0x0000000001230000","system":true}`,
			`8 {"kind":"memory","time":9,"scale":"clk","cpu":0,"access":"write","size":4,"privilege":"X","address":"0x000ffac0","data":"0x0000002a"}`,
			`9 {"kind":"event","time":9,"scale":"clk","cpu":0,"event":"interrupt","name":"CoreEvent_CURRENT_SPx_IRQ","address":"0x00010044","value":"0x00000084"}`,
		},
		{
			`1 {"remark":"Tarmac Text Rev 3t"}`,
			`2 {"kind":"event","time":17000,"scale":"ns","cpu":0,"event":"reset","name":"Reset","value":"0x00"}`,
			`3 {"remark":"                    BR (00000000) A"}`,
			`4 {"kind":"instruction","time":800000,"scale":"ns","cpu":0,"id":0,"skipped":true,"address":"0x000001a4","opcode":"0x03a06a01",` + withEvents + `"state":"A","mode":"svc","disasm":"MOVEQ    r6,#0x1000"}`,
			`5 {"kind":"instruction","time":541533,"scale":"ns","cpu":0,"id":0,"address":"0x00000000000001b0","opcode":"0xa9be7bfd",` + withEvents + `"state":"O","mode":"el3h","security":"s","disasm":"STP      x29,x30,[sp,#-0x20]!"}`,
			`6 {"kind":"memory","time":541533,"scale":"ns","cpu":0,"access":"write","size":8,"address":"0x0000000004001b68","data":"0x########00000000","physical":"0x4001b68","security":"S"}`,
			`6 {"kind":"memory","time":541533,"scale":"ns","cpu":0,"access":"write","size":3,"address":"0x0000000004001b64","data":"0x123456","physical":"0x4001b64","security":"S"}`,
			`6 {"kind":"memory","time":541533,"scale":"ns","cpu":0,"access":"write","size":1,"address":"0x0000000004001b60","data":"0x20","physical":"0x4001b60","security":"S"}`,
			`7 {"kind":"memory","time":541533,"scale":"ns","cpu":0,"access":"write","size":4,"address":"0x0000000004001b5c","data":"0x00000007","physical":"0x4001b5c","security":"NS"}`,
			`8 {"kind":"register","time":541533,"scale":"ns","cpu":0,"name":"R1","value":"0x00000379"}`,
			`9 {"kind":"register","time":541533,"scale":"ns","cpu":0,"name":"V0","value":"0xffeeddccbbaa9988","high":127,"low":64}`,
			`10 {"kind":"register","time":541533,"scale":"ns","cpu":0,"name":"Q1","value":"0x3ff6a09e667f3bcd","high":63,"low":0}`,
			`11 {"remark":"                    R X2 --------"}`,
			`12 {"kind":"event","time":541533,"scale":"ns","cpu":0,"event":"interrupt","name":"IRQ Current EL with SP_ELx","value":"0x280"}`,
			`13 {"kind":"instruction","time":307754,"scale":"tic","cpu":0,"id":0,"address":"0x0000aaaaabaf59f0","trapped":true,"tells":"mode registers system loads load-data stores store-data all-writes events trapped","state":"O","mode":"el0t","security":"ns"}`,
			`14 {"remark":"      12345 ns  ES  Reset"}`,
		},
		{
			`1 {"kind":"instruction","time":6000000,"scale":"cs","cpu":0,"id":0,"address":"0x00000000004d6eb8","opcode":"0x54fffea1","state":"O","mode":"---_-","disasm":"b.ne\t0x4d6e8c"}`,
			`2 {"kind":"memory","time":6000001,"scale":"cs","cpu":0,"access":"read","size":8,"address":"0x0000007f99d14af4","data":"0x4305000042ea0000"}`,
			`3 {"kind":"memory","time":6379085,"scale":"cs","cpu":0,"access":"write","size":4,"privilege":"X","address":"0xffffffbdc3c15c30","data":"0x010c010b"}`,
			`4 {"kind":"register","time":6000017,"scale":"cs","cpu":0,"name":"cpsr","value":"0x20000000","system":true}`,
		},
		{
			`1 {"kind":"instruction","time":3041,"scale":"cyc","cpu":0,"id":6,"address":"0x00022a7c","opcode":"0x48f6","tells":"opcode registers system loads load-data stores store-data all-writes","state":"T","disasm":"LDR      r0,[pc,#984]  ; [0x22e58]"}`,
			`2 {"kind":"memory","time":3039,"scale":"cyc","cpu":0,"access":"write","size":4,"address":"0x2002fa00","data":"0x0201beef"}`,
			`3 {"remark":"      3037 cyc MNR4O__I 00022ae4 f7ffffcb"}`,
			`4 {"kind":"instruction","time":3981,"scale":"tic","cpu":0,"id":0,"address":"0x000000d8","opcode":"0xc878","state":"T","mode":"thrd","security":"s","disasm":"LDMCS    r0!,{r3-r6}"}`,
			`5 {"kind":"memory","time":3981,"scale":"tic","cpu":0,"access":"read","size":12,"address":"0x00004020","data":"0x626d654d2043424d4545203e","physical":"0x4020","security":"S"}`,
			`6 {"kind":"memory","time":3981,"scale":"tic","cpu":0,"access":"read","size":4,"address":"0x0000401c","data":"0x3e000a73","physical":"0x401c","security":"S"}`,
			`7 {"kind":"register","time":271,"scale":"ns","cpu":0,"name":"r13","value":"0x20001fff"}`,
			`8 {"kind":"register","time":272,"scale":"ns","cpu":0,"name":"MSP_S","value":"0x20001ff0"}`,
		},
		{
			`1 {"kind":"instruction","time":2500,"scale":"clk","cpu":0,"id":8,"address":"0x002109cc","opcode":"0x90ffff80","state":"O","mode":"EL3h","security":"s","disasm":"ADRP   X0, #18446744073709486080"}`,
			`2 {"kind":"register","time":2500,"scale":"clk","cpu":0,"name":"X0","value":"0x0000000000200000"}`,
			`3 {"kind":"instruction","time":2750,"scale":"clk","cpu":0,"id":9,"address":"0x0021074c","opcode":"0x39400008","physical":"0x21074c","state":"O","mode":"EL3h","security":"s","disasm":"LDRB   W8, [W0]"}`,
			`4 {"kind":"memory","time":2750,"scale":"clk","cpu":0,"access":"read","size":1,"address":"0x00200167","data":"0x3a","physical":"0x200167"}`,
			`5 {"kind":"instruction","time":3000,"scale":"clk","cpu":0,"id":10,"address":"0x00008008","opcode":"0xe1a00001","state":"A","mode":"svc","security":"s","disasm":"mov   r0, r1"}`,
		},
	} {
		if diff := cmp.Diff(want, dialecttest.Lines(t, Dialect, museum[i].text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", museum[i].producer, diff)
		}
	}
}

// TestOption: where lines do not tell the state, the user does.
func TestOption(t *testing.T) {
	const text = "12ns IT (3) 00000100 4601 MOV r1,r0\n13ns ES (00000102:bf00) NOP\n14ns IT (4) 00000104 bf00\n"
	d, err := itrace.Registry{Dialect}.ByName("tarmac:state=T")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`1 {"kind":"instruction","time":12,"scale":"ns","cpu":0,"id":3,"address":"0x00000100","opcode":"0x4601",` + modeless + `"state":"T","disasm":"MOV r1,r0"}`,
		`2 {"kind":"instruction","time":13,"scale":"ns","cpu":0,"id":0,"address":"0x00000102","opcode":"0xbf00",` + modeless + `"state":"T","disasm":"NOP"}`,
		`3 {"kind":"instruction","time":14,"scale":"ns","cpu":0,"id":4,"address":"0x00000104","opcode":"0xbf00",` +
			strings.TrimSuffix(modeless, ",") + `,"state":"T"}`,
	}
	if diff := cmp.Diff(want, dialecttest.Lines(t, d, text)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	dialecttest.Run(t, d, text)
	for _, r := range Dialect.Decode([]byte(text)) {
		if r.Kind != itrace.Unknown {
			t.Errorf("without the option line %d is %v", r.Line, r.Kind)
		}
	}
}

const modeless = `"tells":"opcode registers system loads load-data stores store-data all-writes",`

// TestProblems says what is wrong with lines, and where.
func TestProblems(t *testing.T) {
	for line, want := range map[string]string{
		"hello":                             `column 1: found "hello", expected IT, IS, ES, R, M with a size, LD, ST, E or another event of Tarmac`,
		"1 clk 0 IT (1) 4 3c080001 A svc :": `column 7: found "0", expected IT, IS, ES, R, M with a size, LD, ST, E or another event of Tarmac`,
		"12lightyears IT":                   `column 1: found "12lightyears", expected IT, IS, ES, R, M with a size, LD, ST, E or another event of Tarmac`,
		"1 clk IT (z) 8000 a00a T svc :":    `column 11: found "z)", expected a number or an address, and a closing bracket`,
		"1 clk IT (1) 800z a00a T svc :":    `column 14: found "800z", expected an address in hexadecimal`,
		"1 clk IT (1) 8000:z a00a T svc :":  `column 19: found "z", expected a physical address in hexadecimal`,
		"1 clk IT (1) 8000 a00? T svc :":    `column 22: found "?", expected a state of the instruction set: A, T, T16, T32 or O`,
		"1 clk IT (1) 8000 z00a T svc :":    `column 19: found "z00a", expected an opcode in hexadecimal`,
		"1 clk IT (1) 8000 a00a Q svc :":    `column 24: found "Q", expected a state of the instruction set: A, T, T16, T32 or O`,
		"1 clk IT (1) 8000 a00a T svc x":    `column 26: found "svc", expected a mode and a colon`,
		"ES 8000":                           `column 4: found "8000", expected an address and an opcode in brackets, EXC or Reset`,
		"ES (8000 a00a) T svc:":             `column 10: found "a00a)", expected a colon and an opcode`,
		"ES (8000:a00a T svc:":              `column 15: found "T", expected a closing bracket`,
		"ES (8000:a00a) Q svc:":             `column 16: found "Q", expected a state of the instruction set: A, T, T16, T32 or O`,
		"R":                                 `column 2: found the end of the line, expected the name of a register`,
		"R r0":                              `column 5: found the end of the line, expected a value in hexadecimal`,
		"R r0 0x10":                         `column 6: found "0x10", expected a value in hexadecimal`,
		"R r0 (USR 10":                      `column 11: found "10", expected a closing bracket`,
		"R V0<63:64> 10":                    `column 11: found ">", expected a bit below the highest, and >`,
		"R V0<a:0> 10":                      `column 6: found "a:0>", expected the number of a bit`,
		"R r0 10:z":                         `column 9: found "z", expected digits behind the colon`,
		"MRX 8000 10":                       `column 1: found "MRX", expected a letter for reading or writing, and a size`,
		"MR4Q 8000 10":                      `column 1: found "MR4Q", expected a letter for reading or writing, and a size`,
		"MR128 8000 10":                     `column 1: found "MR128", expected a letter for reading or writing, and a size`,
		"MR4 z 10":                          `column 5: found "z", expected an address in hexadecimal`,
		"MR4 8000 z":                        `column 10: found "z", expected data in hexadecimal`,
		"MR1 8000 1234":                     `column 10: found "1234", expected as many digits as the size says`,
		"LD 8000 ........ ........ 12":      `column 29: found the end of the line, expected 16 bytes in hexadecimal digits, dots or #`,
		"ST 8000 ........ ........ 123 1":   `column 27: found "123", expected 16 bytes in hexadecimal digits, dots or #`,
		"E":                                 `column 2: found the end of the line, expected an address or the name of an event`,
		"E 8000 z":                          `column 8: found "z", expected a number in hexadecimal`,
		"E 8000 12":                         `column 10: found the end of the line, expected the name of an event`,
		"EXC [0x12":                         `column 5: found "[0x12", expected a number in square brackets`,
		"EXC [xy] a":                        `column 6: found "xy]", expected a number in hexadecimal`,
		"EXC [0x12]":                        `column 11: found the end of the line, expected the name of an exception`,
	} {
		records := dialecttest.Read(t, Dialect, strings.NewReader(line+"\n"), 8)
		last := records[len(records)-1]
		if last.Kind != itrace.Unknown || last.Problem.Error() != want {
			t.Errorf("%s: got %v, want %s", line, last.Problem, want)
		}
	}
}

// TestWritten: what is written is the form of Fast Models, and read as what it was written of.
func TestWritten(t *testing.T) {
	const text = `1 clk IT (1) 00008000 e92d4010 A svc_s : PUSH     {r4,lr}
1 clk MW4 000ffff8:0000000ffff8 00000000
1 clk MR8X 000ffff8:1230000ffff8_NS 0000000000000001
1 clk cpu1 R r13_svc 000ffff8
2 clk cpu1 IS (2) 00008004:000000008004 13a01001 O EL3h : MOVNE    r1,#1
2 ps MW16 000ffff0 0000000000000001 0000000000000002
2 ps R V0<127:64> ffeeddccbbaa9988
3 clk E 00010044 00000084 CoreEvent_CURRENT_SPx_IRQ
3 clk E DebugEvent_HaltingDebugState 00000000
no line of the format
4 clk IT (3) 0000800a xxxxxxxx T thread_ns :
`
	dialecttest.RoundTrip(t, Dialect, text)
	for _, r := range Dialect.Decode([]byte(text)) {
		if !writes(&r) {
			t.Errorf("line %d is said not to be written: %s", r.Line, r.Text)
		}
	}
}

func TestAllocations(t *testing.T) {
	for _, m := range museum {
		dialecttest.Allocations(t, Dialect, m.text)
	}
}

func FuzzTarmac(f *testing.F) {
	var texts []string
	for _, m := range museum {
		texts = append(texts, m.text)
	}
	dialecttest.Fuzz(f, Dialect, texts...)
}

// BenchmarkRead reads lines of Fast Models, and of processors.
func BenchmarkRead(b *testing.B) {
	b.Run("IT", func(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[2].text) })
	b.Run("ES", func(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[3].text) })
}
