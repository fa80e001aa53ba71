package opencsd

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/dialecttest"
	"tracewell/itrace"
)

// museum is lines of OpenCSD's documentation, and lines by the grammar of its source.
var museum = []struct{ producer, text string }{
	{"OpenCSD's documentation: trc_pkt_lister -decode -id 0x10, with num_i", `Trace Packet Lister: CS Decode library testing
-----------------------------------------------
Idx:17230; ID:10; [0x04 ];	I_TRACE_ON : Trace On.
Idx:17248; ID:10; [0xf7 ];	I_ATOM_F1 : Atom format 1.; E
Idx:17230; ID:10; OCSD_GEN_TRC_ELEM_TRACE_ON( [begin or filter])
Idx:17232; ID:10; OCSD_GEN_TRC_ELEM_PE_CONTEXT((ISA=A64) EL1N; 64-bit; VMID=0x0; CTXTID=0x0; )
Idx:17248; ID:10; OCSD_GEN_TRC_ELEM_INSTR_RANGE(exec range=0xffffffc000096a00:[0xffffffc000096a10] num_i(4) last_sz(4) (ISA=A64) E ISB )
Idx:17249; ID:10; [0x9d 0x30 0x25 0x59 0x00 0xc0 0xff 0xff 0xff ];	I_ADDR_L_64IS0 : Address, Long, 64 bit, IS0.; Addr=0xFFFFFFC000594AC0;
Idx:17258; ID:10; OCSD_GEN_TRC_ELEM_ADDR_NACC( 0xffffffc000594ac0 )
`},
	{"OpenCSD's documentation, without num_i", `Idx:1676; ID:10; OCSD_GEN_TRC_ELEM_PE_CONTEXT((ISA=Unk) EL1N; 64-bit; VMID=0x0; CTXTID=0x0; )
Idx:1692; ID:10; OCSD_GEN_TRC_ELEM_INSTR_RANGE(exec range=0xffffffc000096a00:[0xffffffc000096a08] (ISA=A64) E ISB )
`},
	{"OpenCSD's source: T32, two processors, exceptions, times", `Idx:1; ID:13; OCSD_GEN_TRC_ELEM_PE_CONTEXT((ISA=T32) S; 32-bit; )
Idx:2; ID:13; OCSD_GEN_TRC_ELEM_INSTR_RANGE(exec range=0xc0018d82:[0xc0018d8a] num_i(3) last_sz(2) (ISA=T32) E BR   <cond> [CC=522]; )
Idx:3; ID:13; OCSD_GEN_TRC_ELEM_TIMESTAMP( [ TS=0x0000000000ff];  [CC=8]; )
Idx:4; ID:12; OCSD_GEN_TRC_ELEM_INSTR_RANGE(exec range=0xffc:[0x1000] num_i(2) last_sz(2) (ISA=T32) N BR   <cond>)
Idx:5; ID:13; OCSD_GEN_TRC_ELEM_INSTR_RANGE(exec range=0x100:[0x106] num_i(2) last_sz(4) (ISA=T32) E BR  b+link )
Idx:6; ID:13; OCSD_GEN_TRC_ELEM_EXCEPTION(pref ret addr:0x106 [addr also prev br tgt]; excep num (0x0f) )
Idx:7; ID:13; OCSD_GEN_TRC_ELEM_EXCEPTION(excep num (0x0b)  [CC=3]; )
Idx:8; ID:13; OCSD_GEN_TRC_ELEM_EXCEPTION_RET()
Idx:9; ID:13; OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH(first 0x200:[next 0x300] num_i(9) )
Idx:9; ID:13; OCSD_GEN_TRC_ELEM_EO_TRACE( [end-of-trace])
`},
}

func TestMuseum(t *testing.T) {
	for _, m := range museum {
		t.Run(m.producer, func(t *testing.T) { dialecttest.Run(t, Dialect, m.text) })
	}
}

// TestRecords says what each kind of line is, but for remarks.
func TestRecords(t *testing.T) {
	for i, want := range [][]string{
		{
			`7 X EL1 ns 0 ffffffc000096a00`,
			`7 X EL1 ns 0 ffffffc000096a04`,
			`7 X EL1 ns 0 ffffffc000096a08`,
			`7 X EL1 ns 0 ffffffc000096a0c gap`,
		},
		{
			`2 X EL1 ns 0 ffffffc000096a00`,
			`2 X EL1 ns 0 ffffffc000096a04`,
		},
		{
			`2 T  s 0 c0018d82 gap`,
			`2 T  s 0 c0018d88`,
			`4 T   1 ffc`,
			`4 T   1 ffe skipped`,
			`5 T  s 0 100 ticks 255 cycle 530`,
			`5 T  s 0 102 ticks 255 cycle 530`,
			`6 interrupt 0 106 0f`,
			`7 exception 0  0b`,
			`8 other 0  exception return`,
			`9   s 0 200 ticks 255 cycle 533 gap`,
		},
	} {
		var got []string
		for _, r := range dialecttest.Read(t, Dialect, strings.NewReader(museum[i].text), 8) {
			switch r.Kind {
			case itrace.Instruction:
				text := fmt.Sprintf("%d %s %s %s %d %s", r.Line, strings.Trim(string(r.State), "\x00"), r.Mode, r.Security, r.CPU, r.AddrDigits)
				if r.Skipped {
					text += " skipped"
				}
				if len(r.Scale) > 0 {
					text += fmt.Sprintf(" %s %d", r.Scale, r.Time)
				}
				if r.Cycle > 0 {
					text += fmt.Sprintf(" cycle %d", r.Cycle)
				}
				if r.Scope&itrace.Gaps != 0 {
					text += " gap"
				}
				if value, _ := itrace.ParseHex(r.AddrDigits); value != r.Addr || r.Scope&itrace.FlowOnly != itrace.FlowOnly {
					t.Errorf("line %d: %#x, %v", r.Line, r.Addr, r.Scope.Names())
				}
				got = append(got, text)
			case itrace.Event:
				got = append(got, fmt.Sprintf("%d %v %d %s %s", r.Line, r.Event, r.CPU, r.AddrDigits, r.Name))
			case itrace.Remark:
			default:
				got = append(got, fmt.Sprintf("%d %v %v", r.Line, r.Kind, r.Problem))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", museum[i].producer, diff)
		}
	}
}

// TestProblems says what is wrong with lines, and where.
func TestProblems(t *testing.T) {
	const range_ = "Idx:1; ID:10; OCSD_GEN_TRC_ELEM_INSTR_RANGE(exec range="
	for line, want := range map[string]string{
		"hello":                                    `column 1: found "hello", expected Idx and the place of a packet`,
		"Idx:x":                                    `column 5: found "x", expected the place of a packet`,
		"Idx:1; 10":                                `column 6: found ";", expected a semicolon and ID`,
		"Idx:1; ID:10":                             `column 13: found the end of the line, expected a semicolon`,
		range_ + "80":                              `column 56: found "80", expected 0x and the begin of a range`,
		range_ + "0x80:0x84":                       `column 60: found ":0x84", expected ":[" and the end of a range`,
		range_ + "0x80:[0x84] num_i(1) )":          `column 75: found ")", expected last_sz`,
		range_ + "0x80:[0x84] num_i(1) E":          `column 75: found ")", expected last_sz`,
		range_ + "0x80:[0x84] (ISA=A64) X )":       `column 78: found "X", expected E or N`,
		range_ + "0x84:[0x80] (ISA=A64) E )":       `column 62: found "0x80]", expected an end that fits the instructions of a range`,
		range_ + "0x80:[0xf0000000] (ISA=A64) E )": `column 62: found "0xf0000000]", expected an end that fits the instructions of a range`,
		range_ + "0x80:[0x84] num_i(0) last_sz(4) (ISA=A64) E )":           `column 62: found "0x84]", expected an end that fits the instructions of a range`,
		"Idx:1; ID:10; OCSD_GEN_TRC_ELEM_EXCEPTION(num)":                   `column 43: found "num)", expected the number of an exception`,
		"Idx:1; ID:10; OCSD_GEN_TRC_ELEM_TIMESTAMP( [ TS=ff]; )":           `column 49: found "ff];", expected 0x and a time`,
		"Idx:1; ID:10; OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH(first f:[next 0])": `column 54: found "f:[next", expected 0x and an address`,
	} {
		if got, _ := dialecttest.Problem(t, Dialect, line+"\n"); got != want {
			t.Errorf("%q: got %s, want %s", line, got, want)
		}
	}
}

func TestAllocations(t *testing.T) {
	dialecttest.Allocations(t, Dialect, museum[0].text+museum[2].text)
}

func FuzzElements(f *testing.F) {
	var texts []string
	for _, m := range museum {
		texts = append(texts, m.text)
	}
	dialecttest.Fuzz(f, Dialect, texts...)
}

func BenchmarkRead(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[0].text) }
