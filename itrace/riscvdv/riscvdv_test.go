package riscvdv

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/dialecttest"
	"tracewell/itrace"
)

// museum is lines as producers wrote them, and as their sources say where that is noted.
var museum = []struct{ producer, text string }{
	{"the converter of Spike's log, RV32", header + "\n" +
		`80000080,,sp:80001080,,00001117,3,"auipc   sp, 0x1",,
80000194,,t0:00000009,mem:80001080,00064283,3,"lbu     t0, 0(a2)",,
80000198,,t1:000000c8,mem:80001081,00164303,3,"lbu     t1, 1(a2)",,
800001a8,,a4:00000001,,00170713,3,"addi    a4, a4, 1",,
80000174,,,,10500073,,wfi,,
`},
	{"the converter of Ibex's log", header + "\r\n" +
		"80000080,auipc,sp:80001080,,00001117,,\"auipc\tx2,0x1\",\"sp,0x1\",\r\n" +
		"8000019c,bgeu,,,00537863,,\"bgeu\tx6,x5,800001ac\",\"t1,t0,0x10\",\r\n" +
		"800001a0,sb,,,00660023,,\"sb\tx6,0(x12)\",\"t1,a2,0\",\r\n" +
		"80000000,addi,t0:80001000,,e9c28293,,\"addi\tx5,x5,-356\",\"t0,t0,-356\",\r\n"},
	{"sources of the converter of Spike's log: registers of control and status, atomic accesses", header + "\n" +
		`8000000080000016,,t0:0000000000002000;fa0:ffffffff3f800000,c768_mstatus:8000000a00006000;mtvec:80000184,3002a073,0,"csrs    mstatus, t0",,
800000008000001a,,a0:0000000000000000,mem:80001080,1805262f,1,"sc.w    a2, a3, (a0)",,
`},
	{"sources of 2019: other columns", `instr,rd,rd_val,rs1,rs1_val,rs2,rs2_val,imm,str,addr,binary,csr,mode
addi,t0,80001000,t0,80001164,,,-356,"addi    t0, t0, -356",80000168,e9c28293,,3
csrrw,zero,0,t0,80001000,,,,"csrw    mtvec, t0",8000016c,30529073,mtvec,3
`},
}

func TestMuseum(t *testing.T) {
	for _, m := range museum {
		t.Run(m.producer, func(t *testing.T) { dialecttest.Run(t, Dialect, m.text) })
	}
}

const (
	all   = `"tells":"opcode mode registers all-writes",`
	loads = `"tells":"opcode mode registers loads all-writes",`
)

// TestRecords says what each kind of line is.
func TestRecords(t *testing.T) {
	for i, want := range [][]string{
		{
			`1 {"remark":"pc,instr,gpr,csr,binary,mode,instr_str,operand,pad"}`,
			`2 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x80000080","opcode":"0x00001117","tells":"opcode mode registers all-writes gaps","mode":"M","disasm":"auipc   sp, 0x1"}`,
			`2 {"kind":"register","time":0,"cpu":0,"name":"sp","value":"0x80001080"}`,
			`3 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x80000194","opcode":"0x00064283",` + loads + `"mode":"M","disasm":"lbu     t0, 0(a2)"}`,
			`3 {"kind":"register","time":0,"cpu":0,"name":"t0","value":"0x00000009"}`,
			`3 {"kind":"memory","time":0,"cpu":0,"access":"read","partial":true,"size":1,"address":"0x80001080"}`,
			`4 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x80000198","opcode":"0x00164303","tells":"opcode mode registers loads all-writes gaps","mode":"M","disasm":"lbu     t1, 1(a2)"}`,
			`4 {"kind":"register","time":0,"cpu":0,"name":"t1","value":"0x000000c8"}`,
			`4 {"kind":"memory","time":0,"cpu":0,"access":"read","partial":true,"size":1,"address":"0x80001081"}`,
			`5 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x800001a8","opcode":"0x00170713","tells":"opcode mode registers all-writes gaps","mode":"M","disasm":"addi    a4, a4, 1"}`,
			`5 {"kind":"register","time":0,"cpu":0,"name":"a4","value":"0x00000001"}`,
			`6 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x80000174","opcode":"0x10500073","tells":"opcode registers all-writes","disasm":"wfi"}`,
		},
		{
			`1 {"remark":"pc,instr,gpr,csr,binary,mode,instr_str,operand,pad"}`,
			`2 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x80000080","opcode":"0x00001117","tells":"opcode registers all-writes gaps","disasm":"auipc\tx2,0x1"}`,
			`2 {"kind":"register","time":0,"cpu":0,"name":"sp","value":"0x80001080"}`,
			`3 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x8000019c","opcode":"0x00537863","tells":"opcode registers all-writes","disasm":"bgeu\tx6,x5,800001ac"}`,
			`4 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x800001a0","opcode":"0x00660023","tells":"opcode registers all-writes","disasm":"sb\tx6,0(x12)"}`,
			`5 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x80000000","opcode":"0xe9c28293","tells":"opcode registers all-writes","disasm":"addi\tx5,x5,-356"}`,
			`5 {"kind":"register","time":0,"cpu":0,"name":"t0","value":"0x80001000"}`,
		},
		{
			`1 {"remark":"pc,instr,gpr,csr,binary,mode,instr_str,operand,pad"}`,
			`2 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x8000000080000016","opcode":"0x3002a073",` + all + `"mode":"U","disasm":"csrs    mstatus, t0"}`,
			`2 {"kind":"register","time":0,"cpu":0,"name":"t0","value":"0x0000000000002000"}`,
			`2 {"kind":"register","time":0,"cpu":0,"name":"fa0","value":"0xffffffff3f800000"}`,
			`2 {"kind":"register","time":0,"cpu":0,"name":"mstatus","value":"0x8000000a00006000","number":768,"system":true}`,
			`2 {"kind":"register","time":0,"cpu":0,"name":"mtvec","value":"0x80000184","system":true}`,
			`3 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x800000008000001a","opcode":"0x1805262f","tells":"opcode mode registers stores all-writes","mode":"S","disasm":"sc.w    a2, a3, (a0)"}`,
			`3 {"kind":"register","time":0,"cpu":0,"name":"a0","value":"0x0000000000000000"}`,
			`3 {"kind":"memory","time":0,"cpu":0,"access":"write","partial":true,"size":4,"address":"0x80001080"}`,
		},
		{
			`1 {"remark":"instr,rd,rd_val,rs1,rs1_val,rs2,rs2_val,imm,str,addr,binary,csr,mode"}`,
			`2 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x80000168","opcode":"0xe9c28293",` + all + `"mode":"M","disasm":"addi    t0, t0, -356"}`,
			`2 {"kind":"register","time":0,"cpu":0,"name":"t0","value":"0x80001000"}`,
			`3 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x8000016c","opcode":"0x30529073",` + all + `"mode":"M","disasm":"csrw    mtvec, t0"}`,
			`3 {"kind":"register","time":0,"cpu":0,"name":"zero","value":"0x0","zero":true}`,
		},
	} {
		if diff := cmp.Diff(want, dialecttest.Lines(t, Dialect, museum[i].text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", museum[i].producer, diff)
		}
	}
}

// TestGaps: instructions are missing where one does not lead to the next, unless rows are of all.
func TestGaps(t *testing.T) {
	for _, test := range []struct {
		first, opcode, next string
		gap                 bool
	}{
		{"80000100", "00170713", "80000104", false},
		{"80000100", "00170713", "80000102", true},
		{"80000100", "00000511", "80000102", false}, // c.addi
		{"80000100", "0511", "80000104", true},
		{"80000104", "078000ef", "8000017c", false}, // jal
		{"80000104", "078000ef", "80000180", true},
		{"80000104", "ffdff06f", "80000100", false},            // jal, backwards
		{"80000104", "8010006f", "7ff00904", false},            // and far
		{"80000104", "7fffF0ef", "80100102", false},            // jal, all bits but the highest
		{"80000104", "000080e7", "90000000", false},            // jalr
		{"80000104", "00537863", "80000114", false},            // bgeu
		{"80000104", "30200073", "80000000", false},            // mret
		{"80000104", "9282", "80000000", false},                // c.jalr
		{"80000104", "92aa", "80000000", true},                 // c.add
		{"80000104", "a001", "80000104", false},                // c.j
		{"80000104", "2001", "80000104", false},                // c.jal, RV32
		{"0000000080000104", "2001", "0000000080000104", true}, // c.addiw
		{"80000104", "c281", "80000114", false},                // c.beqz
		{"80000104", "e281", "80000114", false},                // c.bnez
		{"80000104", "4281", "80000114", true},                 // c.li
	} {
		text := fmt.Sprintf("%s,,t0:1,,%s,,,,\n%s,,t0:1,,00000013,,,,\n", test.first, test.opcode, test.next)
		records := dialecttest.Read(t, Dialect, strings.NewReader(text), 8)
		if got := records[0].Scope&itrace.Gaps != 0; got != test.gap {
			t.Errorf("%+v: got %v", test, got)
		}
	}
}

// TestWhy: detection says that a trace lacks instructions.
func TestWhy(t *testing.T) {
	for i, want := range []bool{true, true, true, false} {
		if got := strings.Contains(why([]byte(museum[i].text)), "incomplete"); got != (want && i == 0) && got != (want && i == 1) {
			t.Errorf("%s: %q", museum[i].producer, why([]byte(museum[i].text)))
		}
	}
}

// TestAppend writes records of another dialect.
func TestAppend(t *testing.T) {
	reg := func(name, digits string) itrace.Record {
		v, _ := itrace.ParseHex([]byte(digits))
		return itrace.Record{Kind: itrace.Register, Name: []byte(name), Digits: []byte(digits), Value: v}
	}
	status := reg("mstatus", "0A")
	status.System, status.Numbered, status.Number = true, true, 768
	cause := reg("mcause", "b")
	cause.System = true
	records := []itrace.Record{
		{Kind: itrace.Instruction, AddrDigits: []byte("8000001A"), Digits: []byte("00C57553"), Mode: []byte("U"), Disasm: []byte(`say "f10", x1`)},
		reg("x8", "0000001F"), reg("f10", "3f800000"), reg("cpsr", "1"), status, cause,
		{Kind: itrace.Memory, AddrDigits: []byte("80001000"), Write: true},
		{Kind: itrace.Unknown, Text: []byte("what?")},
	}
	want := "8000001a,,s0:0000001f;fa0:3f800000,c768_mstatus:0a;mcause:b,00c57553,0,\"say 'f10', x1\",,\nwhat?\n"
	if got := string(Append(nil, records)); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	var told []bool
	for i := range records {
		told = append(told, writes(&records[i]))
	}
	if diff := cmp.Diff([]bool{true, true, true, false, true, true, false, true}, told); diff != "" {
		t.Errorf("what is written (-want +got):\n%s", diff)
	}
}

// TestSame: what has been written is written as it is.
func TestSame(t *testing.T) {
	dialecttest.RoundTrip(t, Dialect, `80000080,,sp:80001080,,00001117,3,"auipc   sp, 0x1",,
80000084,,,c768_mstatus:0a,00001117,,"auipc   sp, 0x1",,
80000088,,ra:80001080;fa0:1,,1117,0,,,
8000008c,,ra:80001080;fa0=1,,1117,0,,,
`)
}

// TestJoined: behind a header of other columns rows with the usual ones are read as such.
func TestJoined(t *testing.T) {
	text := museum[3].text + strings.Split(museum[0].text, "\n")[1] + "\n"
	dialecttest.Run(t, Dialect, text)
	records := dialecttest.Read(t, Dialect, strings.NewReader(text), 16)
	if last := records[len(records)-1]; last.Kind != itrace.Register || string(last.Name) != "sp" {
		t.Errorf("got %+v", last)
	}
}

// TestProblems says what is wrong with lines, and where. What could be read of them is there.
func TestProblems(t *testing.T) {
	for line, want := range map[string]string{
		"hello":                     `1 column 1: found "hello", expected an address in hexadecimal`,
		"800":                       `1 column 4: found the end of the line, expected a comma, and columns for the address and the opcode`,
		"800,,,,xyz,,":              `1 column 8: found "xyz,,", expected an opcode in hexadecimal`,
		`800,,,,13,3,"nop,,`:        `1 column 13: found "\"nop,,", expected a field that ends with a quotation mark`,
		`800,,,,13,3,"nop"x,,`:      `1 column 18: found "x,,", expected a comma or the end of the line`,
		"800,,,,13, 3,nop,,":        `1 column 11: found " 3,nop,,", expected a mode`,
		"800,,t 0:1,,13,3,,,":       `2 column 6: found "t", expected a register, a colon and a value in hexadecimal`,
		"800,,t0,,13,3,nop,,":       `2 column 6: found "t0,,13,3,nop,,", expected a register, a colon and a value in hexadecimal`,
		"800,,t0:1;t1:z,,13,3,,,":   `3 column 11: found "t1:z,,13,3,,,", expected a register, a colon and a value in hexadecimal`,
		"800,,t0:1,mtvec=1,13,3,,,": `3 column 11: found "mtvec=1,13,3,,,", expected a register, a colon and a value in hexadecimal`,
	} {
		records := dialecttest.Read(t, Dialect, strings.NewReader(line+"\n"), 8)
		last, got := records[len(records)-1], ""
		if last.Kind == itrace.Unknown {
			got = fmt.Sprintf("%d %v", len(records), last.Problem)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
	for _, state := range []string{"\x02", "\x01\x7f", "\x00" + strings.Repeat("\x00", mostColumns+1)} {
		if (&decoder{}).Restore([]byte(state)) == nil {
			t.Errorf("%q is taken for a state", state)
		}
	}
}

func TestAllocations(t *testing.T) {
	_, rows, _ := strings.Cut(museum[0].text, "\n") // headers are rare
	dialecttest.Allocations(t, Dialect, rows)
}

func FuzzRiscvDV(f *testing.F) {
	var texts []string
	for _, m := range museum {
		texts = append(texts, m.text)
	}
	dialecttest.Fuzz(f, Dialect, texts...)
}

func BenchmarkRead(b *testing.B) {
	_, rows, _ := strings.Cut(museum[0].text, "\n")
	dialecttest.Benchmark(b, Dialect, rows)
}
