package sail

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
	{"Pydrofoil with the model of 2023, from its documentation", `ELF Entry @ 0x80000000
CSR mstatus <- 0x0000000A00000000 (input: 0x0000000000000000)
mem[X,0x0000000000001004] -> 0x8593
mem[X,0x0000000000001006] -> 0x0202
[1] [M]: 0x0000000000001004 (0x02028593) addi a1, t0, 0x20
x11 <- 0x0000000000001020
mem[X,0x0000000000001008] -> 0x2573
mem[X,0x000000000000100A] -> 0xF140
[2] [M]: 0x0000000000001008 (0xF1402573) csrrs a0, mhartid, zero
CSR mhartid -> 0x0000000000000000
x10 <- 0x0000000000000000
`},
	{"sail-riscv of 2025, from its pull request 1177: symbols, no effects", `[44] [M]: 0x00000000800000EC (0x01028293) addi x5, x5, 0x10                                                reset_vector+152
[45] [M]: 0x00000000800000F0 (0x30529073) csrrw x0, mtvec, x5                                              reset_vector+156
`},
	{"sail_riscv_sim of 2026, --trace-all, RV32, from a report about vector loads", `[162] [M]: 0x80000276 (0x0FC9FB87) illegal 0xfc9fb87    VlsCustom16_vloxei64_v_cg_cp_custom_ls_indexed+0
trapping from M to M to handle illegal-instruction
handling exc#illegal-instruction at priv M with tval 0x0FC9FB87
CSR mcause (0x342) <- 0x00000002
CSR mepc (0x341) <- 0x80000276

trapping from M to M to handle fetch-access-fault
handling exc#fetch-access-fault at priv M with tval 0x00000000
CSR mcause (0x342) <- 0x00000001
CSR mepc (0x341) <- 0x00000000
`},
	{"sail_riscv_sim, from the documentation of DoomV, which writes the same", `[83] [U]: 0x00000000800001BC (0x00113023)
mem[W,0x0000000080002000] <- 0x00AA00AA00AA00AA
[37] [M]: 0x00000000800000E4 (0x74445073)
trapping from M to M to handle illegal-instruction
handling exc#illegal-instruction at priv M | tval=0x0000000074445073 | tval2=0x0000000000000000 | tinst=0x0000000000000000
CSR mcause (0x342) <- 0x0000000000000002
`},
	{"sources of the model: names of the calling convention, floats, vectors, atomic accesses, old stores, interrupts", `[5] [S]: 0x0000000080000010 (0x00052583) lw a1, 0(a0)
mem[R,0x080001000] -> 0xFFFFFFF0
a1 <- 0xFFFFFFFFFFFFFFF0
[6] [VS]: 0x0000000080000014 (0x00D5262F) amoadd.w a2, a3, (a0)
mem[RW,0x0000000080001000] -> 0x00000001
mem[RW,0x0000000080001000] <- 0x00000003
a2 <- 0x0000000000000001
[7] [M]: 0x0000000080000018 (0xE016) c.sdsp t0, 0x0
mem[0x00000000800012F0] <- 0x0000000000000005
[8] [M]: 0x000000008000001A (0x00C57553) fadd.s fa0, fa0, fa2
CSR fcsr (0x003) <- 0x0000000000000001
f10 <- 0xFFFFFFFF40400000
v1 <- 0x00000001000000020000000300000004
PTW: Success, final_ppn=0x80000, level=0
ret-ing from M to U
Handling interrupt: M_Timer
handling int#0x07 at priv M with tval 0x0000000000000000
CSR mcause (0x342) <- 0x8000000000000007
[9] [M]: 0x0000000080000184 (0x34202373) csrrs t1, mcause, zero
CSR mcause (0x342) -> 0x8000000000000007
x6 <- 0x8000000000000007
[10] [M]: 0x0000000080000188 (0x18d5262f) sc.w a2, a3, (a0)
x12 <- 0x0000000000000001
[11] [M]: 0x000000008000018C (0x00000073) ecall
CSR mcause <- 0x000000000000000B
CSR mepc <- 0x000000008000018C
[12] [M]: 0x0000000080000190 (0x34131073) csrrw zero, mepc, t1
CSR mepc <- 0x0000000080000190
[13] [M]: 0x0000000080000194 (0x34231073) csrrw zero, mcause, t1
CSR mcause <- 0x000000000000000B
`},
}

func TestMuseum(t *testing.T) {
	for _, m := range museum {
		t.Run(m.producer, func(t *testing.T) { dialecttest.Run(t, Dialect, m.text) })
	}
}

// TestRecords says what each kind of line is.
func TestRecords(t *testing.T) {
	const (
		noMemory = `"tells":"opcode mode registers system all-writes",`
		all      = `"tells":"opcode mode registers system loads load-data stores store-data all-writes events trapped",`
	)
	for i, want := range [][]string{
		{
			`1 {"remark":"ELF Entry @ 0x80000000"}`,
			`2 {"kind":"register","time":0,"cpu":0,"name":"mstatus","value":"0x0000000A00000000","system":true}`,
			`3 {"remark":"mem[X,0x0000000000001004] -> 0x8593"}`,
			`4 {"remark":"mem[X,0x0000000000001006] -> 0x0202"}`,
			`5 {"kind":"instruction","time":0,"cpu":0,"id":1,"address":"0x0000000000001004","opcode":"0x02028593",` + noMemory + `"mode":"M","disasm":"addi a1, t0, 0x20"}`,
			`6 {"kind":"register","time":0,"cpu":0,"name":"x11","value":"0x0000000000001020"}`,
			`7 {"remark":"mem[X,0x0000000000001008] -> 0x2573"}`,
			`8 {"remark":"mem[X,0x000000000000100A] -> 0xF140"}`,
			`9 {"kind":"instruction","time":0,"cpu":0,"id":2,"address":"0x0000000000001008","opcode":"0xF1402573",` + noMemory + `"mode":"M","disasm":"csrrs a0, mhartid, zero"}`,
			`10 {"kind":"register-read","time":0,"cpu":0,"name":"mhartid","value":"0x0000000000000000","system":true}`,
			`11 {"kind":"register","time":0,"cpu":0,"name":"x10","value":"0x0000000000000000"}`,
		},
		{
			`1 {"kind":"instruction","time":0,"cpu":0,"id":44,"address":"0x00000000800000EC","opcode":"0x01028293","tells":"opcode mode all-writes","mode":"M","disasm":"addi x5, x5, 0x10"}`,
			`2 {"kind":"instruction","time":0,"cpu":0,"id":45,"address":"0x00000000800000F0","opcode":"0x30529073","tells":"opcode mode all-writes","mode":"M","disasm":"csrrw x0, mtvec, x5"}`,
		},
		{
			`1 {"kind":"instruction","time":0,"cpu":0,"id":162,"address":"0x80000276","opcode":"0x0FC9FB87","trapped":true,"tells":"opcode mode all-writes events trapped","mode":"M","disasm":"illegal 0xfc9fb87"}`,
			`2 {"remark":"trapping from M to M to handle illegal-instruction"}`,
			`3 {"kind":"event","time":0,"cpu":0,"event":"exception","name":"illegal-instruction","address":"0x80000276","detail":"0x0FC9FB87","mode":"M"}`,
			`4 {"kind":"register","time":0,"cpu":0,"name":"mcause","value":"0x00000002","number":834,"system":true}`,
			`5 {"kind":"register","time":0,"cpu":0,"name":"mepc","value":"0x80000276","number":833,"system":true}`,
			`7 {"remark":"trapping from M to M to handle fetch-access-fault"}`,
			`8 {"kind":"event","time":0,"cpu":0,"event":"exception","name":"fetch-access-fault","detail":"0x00000000","mode":"M"}`,
			`9 {"kind":"register","time":0,"cpu":0,"name":"mcause","value":"0x00000001","number":834,"system":true}`,
			`10 {"kind":"register","time":0,"cpu":0,"name":"mepc","value":"0x00000000","number":833,"system":true}`,
		},
		{
			`1 {"kind":"instruction","time":0,"cpu":0,"id":83,"address":"0x00000000800001BC","opcode":"0x00113023","tells":"opcode mode loads load-data stores store-data all-writes","mode":"U"}`,
			`2 {"kind":"memory","time":0,"cpu":0,"access":"write","size":8,"address":"0x0000000080002000","data":"0x00AA00AA00AA00AA","physical":"0x80002000"}`,
			`3 {"kind":"instruction","time":0,"cpu":0,"id":37,"address":"0x00000000800000E4","opcode":"0x74445073","trapped":true,"tells":"opcode mode loads load-data stores store-data all-writes events trapped","mode":"M"}`,
			`4 {"remark":"trapping from M to M to handle illegal-instruction"}`,
			`5 {"kind":"event","time":0,"cpu":0,"event":"exception","name":"illegal-instruction","address":"0x00000000800000E4","detail":"0x0000000074445073","mode":"M"}`,
			`6 {"kind":"register","time":0,"cpu":0,"name":"mcause","value":"0x0000000000000002","number":834,"system":true}`,
		},
		{
			`1 {"kind":"instruction","time":0,"cpu":0,"id":5,"address":"0x0000000080000010","opcode":"0x00052583","tells":"opcode mode registers loads load-data stores store-data all-writes","mode":"S","disasm":"lw a1, 0(a0)"}`,
			`2 {"kind":"memory","time":0,"cpu":0,"access":"read","size":4,"address":"0x080001000","data":"0xFFFFFFF0","physical":"0x80001000"}`,
			`3 {"kind":"register","time":0,"cpu":0,"name":"a1","value":"0xFFFFFFFFFFFFFFF0"}`,
			`4 {"kind":"instruction","time":0,"cpu":0,"id":6,"address":"0x0000000080000014","opcode":"0x00D5262F","tells":"opcode mode registers loads load-data stores store-data all-writes","mode":"VS","disasm":"amoadd.w a2, a3, (a0)"}`,
			`5 {"kind":"memory","time":0,"cpu":0,"access":"read","size":4,"address":"0x0000000080001000","data":"0x00000001","physical":"0x80001000"}`,
			`6 {"kind":"memory","time":0,"cpu":0,"access":"write","size":4,"address":"0x0000000080001000","data":"0x00000003","physical":"0x80001000"}`,
			`7 {"kind":"register","time":0,"cpu":0,"name":"a2","value":"0x0000000000000001"}`,
			`8 {"kind":"instruction","time":0,"cpu":0,"id":7,"address":"0x0000000080000018","opcode":"0xE016","tells":"opcode mode registers loads load-data stores store-data all-writes","mode":"M","disasm":"c.sdsp t0, 0x0"}`,
			`9 {"kind":"memory","time":0,"cpu":0,"access":"write","size":8,"address":"0x00000000800012F0","data":"0x0000000000000005","physical":"0x800012f0"}`,
			`10 {"kind":"instruction","time":0,"cpu":0,"id":8,"address":"0x000000008000001A","opcode":"0x00C57553","tells":"opcode mode registers loads load-data stores store-data all-writes events trapped","mode":"M","disasm":"fadd.s fa0, fa0, fa2"}`,
			`11 {"kind":"register","time":0,"cpu":0,"name":"fcsr","value":"0x0000000000000001","number":3,"system":true}`,
			`12 {"kind":"register","time":0,"cpu":0,"name":"f10","value":"0xFFFFFFFF40400000"}`,
			`13 {"kind":"register","time":0,"cpu":0,"name":"v1","value":"0x00000001000000020000000300000004"}`,
			`14 {"remark":"PTW: Success, final_ppn=0x80000, level=0"}`,
			`15 {"remark":"ret-ing from M to U"}`,
			`16 {"remark":"Handling interrupt: M_Timer"}`,
			`17 {"kind":"event","time":0,"cpu":0,"event":"interrupt","name":"0x07","detail":"0x0000000000000000","mode":"M"}`,
			`18 {"kind":"register","time":0,"cpu":0,"name":"mcause","value":"0x8000000000000007","number":834,"system":true}`,
			`19 {"kind":"instruction","time":0,"cpu":0,"id":9,"address":"0x0000000080000184","opcode":"0x34202373",` + all + `"mode":"M","disasm":"csrrs t1, mcause, zero"}`,
			`20 {"kind":"register-read","time":0,"cpu":0,"name":"mcause","value":"0x8000000000000007","number":834,"system":true}`,
			`21 {"kind":"register","time":0,"cpu":0,"name":"x6","value":"0x8000000000000007"}`,
			`22 {"kind":"instruction","time":0,"cpu":0,"id":10,"address":"0x0000000080000188","opcode":"0x18d5262f",` + all + `"mode":"M","disasm":"sc.w a2, a3, (a0)"}`,
			`23 {"kind":"register","time":0,"cpu":0,"name":"x12","value":"0x0000000000000001"}`,
			`24 {"kind":"instruction","time":0,"cpu":0,"id":11,"address":"0x000000008000018C","opcode":"0x00000073","trapped":true,` +
				`"tells":"opcode mode registers loads load-data stores store-data all-writes events trapped","mode":"M","disasm":"ecall"}`,
			`25 {"kind":"register","time":0,"cpu":0,"name":"mcause","value":"0x000000000000000B","system":true}`,
			`26 {"kind":"register","time":0,"cpu":0,"name":"mepc","value":"0x000000008000018C","system":true}`,
			`27 {"kind":"instruction","time":0,"cpu":0,"id":12,"address":"0x0000000080000190","opcode":"0x34131073",` + all + `"mode":"M","disasm":"csrrw zero, mepc, t1"}`,
			`28 {"kind":"register","time":0,"cpu":0,"name":"mepc","value":"0x0000000080000190","system":true}`,
			`29 {"kind":"instruction","time":0,"cpu":0,"id":13,"address":"0x0000000080000194","opcode":"0x34231073",` + all + `"mode":"M","disasm":"csrrw zero, mcause, t1"}`,
			`30 {"kind":"register","time":0,"cpu":0,"name":"mcause","value":"0x000000000000000B","system":true}`,
		},
	} {
		if diff := cmp.Diff(want, dialecttest.Lines(t, Dialect, museum[i].text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", museum[i].producer, diff)
		}
	}
}

// TestFetch: an exception of a fetch is not one of the instruction before.
func TestFetch(t *testing.T) {
	const first = "[1] [U]: 0x80000010 (0x00000013) nop\n"
	for text, trapped := range map[string]bool{
		"handling exc#fetch-page-fault at priv M with tval 0x80000014\n":                               false,
		"handling exc#0x0C at priv M with tval 0x80000014\n":                                           false,
		"handling exc#0x02 at priv M with tval 0x80000014\n":                                           true,
		"CSR mcause (0x342) <- 0x0000000C\nCSR mepc (0x341) <- 0x80000014\n":                           false,
		"CSR scause (0x142) <- 0x00000002\nCSR sepc (0x141) <- 0x80000010\n":                           true,
		"CSR mcause (0x342) <- 0x80000007\nCSR mepc (0x341) <- 0x80000010\n":                           false,
		"handling exc#breakpoint at priv M with tval 0x0\nhandling exc#fetch-x at priv M | tval=0x0\n": true,
	} {
		records := dialecttest.Read(t, Dialect, strings.NewReader(first+text), 8)
		if records[0].Trapped != trapped {
			t.Errorf("%q: trapped %v", text, records[0].Trapped)
		}
	}
}

// TestTrappedAccess: what an exception of an instruction that writes control and status writes is not what that would write.
func TestTrappedAccess(t *testing.T) {
	const text = "[1] [U]: 0x80000010 (0x34131073) csrrw zero, mepc, t1\nhandling exc#illegal-instruction at priv M with tval 0x0\n" +
		"CSR mepc (0x341) <- 0x80000010\n"
	records := dialecttest.Read(t, Dialect, strings.NewReader(text), 8)
	if i, e := records[0], records[1]; !i.Trapped || e.Kind != itrace.Event || e.Addr != i.Addr || string(e.AddrDigits) != "80000010" {
		t.Errorf("got %+v", records)
	}
}

// TestMany: lines without an end behind an instruction do not keep it back.
func TestMany(t *testing.T) {
	text := museum[1].text + strings.Repeat("x5 <- 0x0000000000000001\n", mostLines+10)
	records := dialecttest.Read(t, Dialect, strings.NewReader(text), 1<<13)
	if len(records) != 2+mostLines+10 || records[len(records)-1].Kind != itrace.Register {
		t.Errorf("%d records", len(records))
	}
}

// TestProblems says what is wrong with lines, and where. What could be read of them is there.
func TestProblems(t *testing.T) {
	const good = "[1] [M]: 0x80000010 (0x00000013) nop\n"
	for text, want := range map[string]string{
		"hello":                    `1: column 1: found "hello", expected a step in brackets, a register, CSR or mem`,
		"[1] M":                    `1: column 3: found "]", expected a mode in brackets`,
		"[1] [m]: ":                `1: column 6: found "m]:", expected a mode`,
		"[1] [M] ":                 `1: column 7: found "]", expected "]:" and a blank`,
		"[1] [M]: 80000010":        `1: column 10: found "80000010", expected 0x and an address`,
		"[1] [M]: 0x80000010 0x13": `1: column 20: found " 0x13", expected an opcode in parentheses`,
		"[1] [M]: 0x80000010 (0x13) nop\n" + "x5 = 0x1": `2: column 3: found " =", expected "<-" between blanks`,
		good + "x32 <- 0x1":                             `2: column 1: found "x32", expected a step in brackets, a register, CSR or mem`,
		good + "x5 <- 1":                                `2: column 7: found "1", expected 0x and a value`,
		good + "x5 <- 0x1 0x2":                          `2: column 10: found " 0x2", expected the end of the line`,
		good + "CSR  <- 0x1":                            `2: column 5: found " <-", expected the name of a register of control and status`,
		good + "CSR mepc (0x1341) <- 0x1":               `2: column 11: found "0x1341)", expected the number of a register of control and status`,
		good + "CSR mepc = 0x1":                         `2: column 9: found " =", expected "<-" or "->" between blanks`,
		good + "mem[R 0x1] -> 0x1":                      `2: column 18: found the end of the line, expected the type of an access and a comma, or an address`,
		good + "mem[R,0x1 -> 0x1":                       `2: column 10: found " ->", expected "]"`,
		good + "mem[R,0x1] -> 1":                        `2: column 15: found "1", expected 0x and data`,
		good + "handling exc#":                          `2: column 14: found the end of the line, expected a cause`,
		good + "handling exc#x at M":                    `2: column 15: found " at", expected the mode that handles it`,
		good + "handling exc#x at priv M x":             `2: column 25: found " x", expected the end of the line`,
	} {
		got := ""
		for _, r := range dialecttest.Read(t, Dialect, strings.NewReader(text+"\n"), 8) {
			if r.Kind == itrace.Unknown && got == "" {
				got = fmt.Sprintf("%d: %v", r.Line, r.Problem)
			}
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	for _, state := range []string{"\x00", "\x10", "\x01\x01"} {
		if (&decoder{}).Restore([]byte(state)) == nil {
			t.Errorf("%q is taken for a state", state)
		}
	}
}

func TestAllocations(t *testing.T) {
	for _, m := range museum {
		dialecttest.Allocations(t, Dialect, m.text)
	}
}

func FuzzSail(f *testing.F) {
	var texts []string
	for _, m := range museum {
		texts = append(texts, m.text)
	}
	dialecttest.Fuzz(f, Dialect, texts...)
}

func BenchmarkRead(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[0].text) }
