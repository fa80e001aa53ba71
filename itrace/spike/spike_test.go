package spike

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/dialecttest"
	"tracewell/itrace"
)

// museum is lines as producers wrote them.
var museum = []struct{ producer, text string }{
	{"riscv-isa-sim 1.1.1-dev of 2026, -l --log-commits, RV32", `core   0: 0x0000100c (0x0182a283) lw      t0, 24(t0)
core   0: 3 0x0000100c (0x0182a283) x5  0x80000080 mem 0x00001018
core   0: 0x00001010 (0x00028067) jr      t0
core   0: 3 0x00001010 (0x00028067)
core   0: 0x800001a0 (0x00660023) sb      t1, 0(a2)
core   0: 3 0x800001a0 (0x00660023) mem 0x80001081 0x03
`},
	{"riscv-isa-sim 1.1.1-dev of 2026, -l --log-commits, RV64 with traps", `core   0: >>>>  $xrv64i2p1_m2p0_a2p1_f2p2_d2p2_c2p0_zicsr2p0_zifencei2p0_zmmul1p0
core   0: 0x000000008000001a (0x00305073) csrwi   fcsr, 0
core   0: 3 0x000000008000001a (0x00305073) c1_fflags 0x0000000000000000 c2_frm 0x0000000000000000 c768_mstatus 0x8000000a00006000
core   0: 0x0000000080000176 (0x0062910b) sh      t1, 2(t0)
core   0: exception trap_store_address_misaligned, epc 0x0000000080000176
core   0:           tval 0x0000000080001101
core   0: 0x0000000080000184 (0x34302373) csrr    t1, mtval
core   0: 3 0x0000000080000184 (0x34302373) x6  0x0000000080001101
`},
	{"riscv-isa-sim 1.1.1-dev of 2026, --log-commits", `core   0: 3 0x00000000800000a8 (0x00c57553) c1_fflags 0x0000000000000001 f10 0xffffffff501502f9
core   0: 3 0x00000000800000d2 (0x00b2b427) mem 0x00000000800010b8 0x4202a05f20000000
core   1: 0 0x00000000800000de (0x8082)
`},
	{"its sources: a vector register, an interrupt, a program's own output and a folded loop", `warning: tohost and fromhost symbols not in ELF; can't communicate with target
core   0: exception interrupt #7, epc 0x0000000080000176
core   0: 0x0000000080000200 (0x0000a001) c.j     pc + 0
core   0: Executed 4 times
core   0: 0x0000000080000202 (0x00000013) nop
core   0: 3 0x0000000080000202 (0x00000013) e32 mf2 l4 v1  0x00000001000000020000000300000004
hello
`},
	{"riscv-isa-sim of 2020: no core, registers right-aligned", `3 0x0000000000001000 (0x00000297) x 5 0x0000000000001000
3 0x000000000000100c (0x0182b283) x 5 0x0000000080000000 mem 0x0000000000001018
0 0x000000008000219c (0x02010413) x8 0x0000000080020ff0
`},
}

func TestMuseum(t *testing.T) {
	for _, m := range museum {
		t.Run(m.producer, func(t *testing.T) { dialecttest.Run(t, Dialect, m.text) })
	}
}

// TestRecords says what each kind of line is.
func TestRecords(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
	}{
		{museum[0].text, []string{
			`1 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x0000100c","opcode":"0x0182a283",` + both + `"mode":"M","disasm":"lw      t0, 24(t0)"}`,
			`2 {"kind":"register","time":0,"cpu":0,"name":"x5","value":"0x80000080"}`,
			`2 {"kind":"memory","time":0,"cpu":0,"access":"read","partial":true,"size":4,"address":"0x00001018"}`,
			`3 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x00001010","opcode":"0x00028067",` + both + `"mode":"M","disasm":"jr      t0"}`,
			`5 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x800001a0","opcode":"0x00660023",` + both + `"mode":"M","disasm":"sb      t1, 0(a2)"}`,
			`6 {"kind":"memory","time":0,"cpu":0,"access":"write","size":1,"address":"0x80001081","data":"0x03"}`,
		}},
		{museum[1].text, []string{
			`1 {"remark":"core   0: \u003e\u003e\u003e\u003e  $xrv64i2p1_m2p0_a2p1_f2p2_d2p2_c2p0_zicsr2p0_zifencei2p0_zmmul1p0"}`,
			`2 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x000000008000001a","opcode":"0x00305073",` + both + `"mode":"M","disasm":"csrwi   fcsr, 0"}`,
			`3 {"kind":"register","time":0,"cpu":0,"name":"fflags","value":"0x0000000000000000","number":1,"system":true}`,
			`3 {"kind":"register","time":0,"cpu":0,"name":"frm","value":"0x0000000000000000","number":2,"system":true}`,
			`3 {"kind":"register","time":0,"cpu":0,"name":"mstatus","value":"0x8000000a00006000","number":768,"system":true}`,
			`4 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x0000000080000176","opcode":"0x0062910b","trapped":true,` +
				`"tells":"opcode registers system loads stores store-data all-writes events trapped","disasm":"sh      t1, 2(t0)"}`,
			`5 {"kind":"event","time":0,"cpu":0,"event":"exception","name":"trap_store_address_misaligned","address":"0x0000000080000176","detail":"0x0000000080001101"}`,
			`7 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x0000000080000184","opcode":"0x34302373",` + both + `"mode":"M","disasm":"csrr    t1, mtval"}`,
			`8 {"kind":"register","time":0,"cpu":0,"name":"x6","value":"0x0000000080001101"}`,
		}},
		{museum[3].text, []string{
			`1 {"remark":"warning: tohost and fromhost symbols not in ELF; can't communicate with target"}`,
			`2 {"kind":"event","time":0,"cpu":0,"event":"interrupt","name":"interrupt #7","address":"0x0000000080000176"}`,
			`3 ` + loop, `4 ` + loop, `4 ` + loop, `4 ` + loop,
			`5 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x0000000080000202","opcode":"0x00000013",` + both + `"mode":"M","disasm":"nop"}`,
			`6 {"kind":"register","time":0,"cpu":0,"name":"v1","value":"0x00000001000000020000000300000004","shape":"e32 mf2 l4"}`,
			`7 {"unknown":"hello"} column 1: found "hello", expected core, or a privilege of 0, 1 or 3`,
		}},
	} {
		for i, line := range test.want {
			test.want[i] = strings.NewReplacer(`\u003e`, ">").Replace(line)
		}
		if diff := cmp.Diff(test.want, dialecttest.Lines(t, Dialect, test.text)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

const (
	both = `"tells":"opcode mode registers system loads stores store-data all-writes events trapped",`
	loop = `{"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x0000000080000200","opcode":"0x0000a001",` +
		`"tells":"opcode all-writes events trapped","disasm":"c.j     pc + 0"}`
)

// TestProblems says what is wrong with lines, and where.
func TestProblems(t *testing.T) {
	for line, want := range map[string]string{
		"core   0 3 0x1000 (0x13)":                 `column 9: found " 3", expected the number of a hart and ":"`,
		"core   0: 2 0x1000 (0x13)":                `column 11: found "2", expected core, or a privilege of 0, 1 or 3`,
		"core   0: 3 1000 (0x13)":                  `column 13: found "1000", expected 0x and hexadecimal digits`,
		"core   0: 3 0x1000 0x13":                  `column 19: found " 0x13", expected an opcode in parentheses`,
		"core   0: 3 0x1000 (0x13) x32 0x0":        `column 27: found "x32", expected a register`,
		"core   0: 3 0x1000 (0x13) y1 0x0":         `column 27: found "y1", expected x, f, v or c with the number of a register, or mem`,
		"core   0: 3 0x1000 (0x13) c5000_no 0x0":   `column 32: found "_no", expected _ and the name of a control and status register`,
		"core   0: 3 0x1000 (0x13) x5 0x":          `column 30: found "0x", expected 0x and hexadecimal digits`,
		"core   0: 3 0x1000 (0x13) mem 0x10g":      `column 35: found "g", expected a blank or the end of the line`,
		"core   0: exception trap_illegal, 0x1000": `column 21: found "trap_illegal,", expected a name and the address of an instruction`,
		"core   0: Executed times":                 `column 20: found "times", expected a number`,
		"core   0: 0x1000 (0x13":                   `column 23: found the end of the line, expected ")" and the end of the line or a blank`,
		"core   0: hello":                          `column 11: found "hello", expected 0x and an address, a privilege, >>>>, exception or Executed`,
	} {
		records := dialecttest.Read(t, Dialect, strings.NewReader(line+"\n"), 8)
		last := records[len(records)-1]
		if last.Kind != itrace.Unknown || last.Problem.Error() != want {
			t.Errorf("%s: got %v, want %s", line, last.Problem, want)
		}
	}
}

// TestSame: what Spike has written is written as it is, but for remarks.
func TestSame(t *testing.T) {
	for _, m := range museum[:3] {
		text := m.text
		if strings.Contains(text, ">>>>") {
			_, text, _ = strings.Cut(text, "\n")
		}
		dialecttest.RoundTrip(t, Dialect, text)
	}
	// The opcode of neither line loses digits, as of an instruction that is longer than 16 bits and does not look so.
	dialecttest.RoundTrip(t, Dialect, "core   0: 0x0 (0x00010000) 0\ncore   0: 3 0x0 (0x10000)\n")
	// A commit line that can be read in part is an instruction all the same, and written once.
	const unread = "core   0: 3 0x80000000 (0x00000013) x32 0x0\ncore   0: 3 0x80000004 (0x4529) x10 0x0000000a\n"
	if got := dialecttest.Written(Dialect, dialecttest.Read(t, Dialect, strings.NewReader(unread), 8)); got != unread {
		t.Errorf("got\n%s, want\n%s", got, unread)
	}
}

func TestAllocations(t *testing.T) {
	dialecttest.Allocations(t, Dialect, museum[0].text+museum[2].text)
}

func FuzzSpike(f *testing.F) {
	var texts []string
	for _, m := range museum {
		texts = append(texts, m.text)
	}
	dialecttest.Fuzz(f, Dialect, texts...)
}

// BenchmarkRead reads commit lines, and those with the lines of -l.
func BenchmarkRead(b *testing.B) {
	b.Run("commits", func(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[2].text) })
	b.Run("both", func(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[0].text) })
}
