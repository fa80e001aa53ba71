package rvfi

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/dialecttest"
	"tracewell/itrace"
)

// layout is a packet as the specification has it, which encoding/binary lays out.
type layout struct {
	Order, PC, Next, Insn, RS1, RS2, RD, Addr, Loaded, Stored uint64
	RMask, WMask, RS1Addr, RS2Addr, RDAddr, Trap, Halt, Intr  uint8
}

// bytesOf are packets one behind the other.
func bytesOf(t testing.TB, packets ...layout) string {
	t.Helper()
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, packets); err != nil {
		t.Fatal(err)
	}
	if b.Len() != 88*len(packets) {
		t.Fatalf("%d packets have %d bytes", len(packets), b.Len())
	}
	return b.String()
}

// some is packets of every kind.
func some(t testing.TB) string {
	return bytesOf(t,
		layout{Halt: 1},
		layout{Order: 1, PC: 0x80000000, Next: 0x80000004, Insn: 0x00500293, RD: 5, RDAddr: 5},                                 // li x5,5
		layout{Order: 2, PC: 0x80000004, Next: 0x80000008, Insn: 0x00628333, RS1: 5, RS1Addr: 5, RS2Addr: 6, RD: 5, RDAddr: 6}, // add x6,x5,x6
		layout{Order: 3, PC: 0x80000008, Next: 0x8000000a, Insn: 0x4188, RS1: 0x80001000, RS1Addr: 11, RD: ^uint64(1), RDAddr: 10,
			Addr: 0x80001000, RMask: 0xf, Loaded: 0xfffffffe}, // c.lw x10,0(x11)
		layout{Order: 4, PC: 0x8000000a, Next: 0x8000000e, Insn: 0x00b50123, RS1: 1 << 40, RS1Addr: 10, RS2: 0x1234, RS2Addr: 11,
			Addr: 1 << 40, WMask: 4, Stored: 0x340000}, // sb x11,2(x10), as a bus has it
		layout{Order: 5, PC: 0x8000000e, Next: 0x80000012, Insn: 0x0062a02f, RD: 7, RDAddr: 0, Addr: 0x80001000, RMask: 0xf, WMask: 0xf,
			Loaded: 7, Stored: 12, RS1Addr: 5, RS1: 0x80001000, RS2Addr: 6, RS2: 5}, // amoadd.w x0,x6,(x5)
		layout{Order: 5, PC: 0x80000012, Next: 0x80000100, Insn: 0x00053283, Trap: 1, RS1: 3, RS1Addr: 10}, // ld x5,0(x10)
		layout{Order: 6, PC: 0x80000100, Next: 0x80000104, Insn: 0x00052787, Intr: 1, RS1Addr: 3},          // flw f15,0(x10)
		layout{Order: 7, PC: 0x80000200, Next: 0x80000204, Insn: 0x0000100f, Intr: 1},
		layout{Order: 9, PC: 0x80000208, Next: 0x80000208, Insn: 0x0000006f, Halt: 1},
	)
}

func TestMuseum(t *testing.T) {
	dialecttest.Run(t, Dialect, some(t))
	dialecttest.Run(t, Dialect, damaged(t))
}

// damaged is packets with damage of every kind.
func damaged(t testing.TB) string {
	text := some(t)
	bad := []byte(text)
	bad[3*88+84] = 77
	return string(bad) + "noise" + text[88:] + text[88:5*88+30] + text[88:3*88] + string(bytes.Repeat([]byte{0xff}, 200)) + text[:100]
}

// TestRecords says what packets are.
func TestRecords(t *testing.T) {
	instruction := func(order int, address, opcode, tells string) string {
		return fmt.Sprintf(`{"kind":"instruction","time":0,"cpu":0,"id":%d,"address":"0x%s","opcode":"0x%s",`, order, address, opcode) +
			`"tells":"opcode ` + tells + ` trapped"}`
	}
	const (
		all, noReads       = "registers loads load-data stores store-data all-writes reads", "registers loads load-data stores store-data all-writes"
		memory             = `{"kind":"memory","time":0,"cpu":0,"access":`
		register, readOf   = `{"kind":"register","time":0,"cpu":0,"name":`, `{"kind":"register-read","time":0,"cpu":0,"name":`
		event, interrupted = `{"kind":"event","time":0,"cpu":0,"event":`, `"interrupt","name":"intr"}`
	)
	want := []string{
		`1 ` + event + `"reset","name":"halt"}`,
		`2 ` + instruction(1, "80000000", "00500293", noReads),
		`2 ` + register + `"x5","value":"0x00000005"}`,
		`3 ` + instruction(2, "80000004", "00628333", all),
		`3 ` + readOf + `"x5","value":"0x00000005"}`,
		`3 ` + readOf + `"x6","value":"0x00000000"}`,
		`3 ` + register + `"x6","value":"0x00000005"}`,
		`4 ` + instruction(3, "80000008", "4188", all),
		`4 ` + readOf + `"x11","value":"0x80001000"}`,
		`4 ` + register + `"x10","value":"0xfffffffffffffffe"}`,
		`4 ` + memory + `"read","size":4,"address":"0x80001000","data":"0xfffffffe"}`,
		`5 ` + instruction(4, "8000000a", "00b50123", all),
		`5 ` + readOf + `"x10","value":"0x0000010000000000"}`,
		`5 ` + readOf + `"x11","value":"0x00001234"}`,
		`5 ` + memory + `"write","size":1,"address":"0x0000010000000002","data":"0x34"}`,
		`6 ` + instruction(5, "8000000e", "0062a02f", all),
		`6 ` + readOf + `"x5","value":"0x80001000"}`,
		`6 ` + readOf + `"x6","value":"0x00000005"}`,
		`6 ` + memory + `"read","size":4,"address":"0x80001000","data":"0x00000007"}`,
		`6 ` + memory + `"write","size":4,"address":"0x80001000","data":"0x0000000c"}`,
		`7 ` + strings.Replace(instruction(5, "80000012", "00053283", all), `"tells"`, `"trapped":true,"tells"`, 1),
		`7 ` + readOf + `"x10","value":"0x00000003"}`,
		`8 ` + instruction(6, "80000100", "00052787", "stores store-data all-writes"),
		`9 ` + event + interrupted,
		`9 ` + instruction(7, "80000200", "0000100f", noReads),
		`10 {"unknown":"order=9 pc_rdata=80000208 insn=0000006f pc_wdata=80000208 halt=1"} column 1: found order 9, expected order 8, as packets before end with`,
		`10 ` + instruction(9, "80000208", "0000006f", noReads),
		`10 ` + event + `"other","name":"halt"}`,
	}
	if diff := cmp.Diff(want, dialecttest.Lines(t, Dialect, some(t))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestMasks: of every mask each bit is a byte that is accessed, with its value, and none is accessed twice.
func TestMasks(t *testing.T) {
	var packets []layout
	for mask := range 256 {
		for _, data := range []uint64{0x8877665544332211, 0x44332211, 0, ^uint64(0)} {
			const base, load, store = 0xfffffffc, 0x00053283, 0x00b53023
			n := uint64(len(packets))
			packets = append(packets,
				layout{Order: n, Insn: load, Addr: base, RMask: uint8(mask), Loaded: data},
				layout{Order: n + 1, Insn: store, Addr: base, WMask: uint8(mask), Stored: data})
		}
	}
	got := make([]map[uint64]byte, len(packets))
	for _, r := range dialecttest.Read(t, Dialect, strings.NewReader(bytesOf(t, packets...)), 512) {
		n := r.Line - 1
		switch {
		case r.Kind == itrace.Unknown:
			t.Fatal(r.Problem)
		case r.Kind == itrace.Instruction:
			got[n] = make(map[uint64]byte)
		case r.Kind == itrace.Memory:
			value, _, ok := itrace.ParseDigits(r.Digits)
			addr, _ := itrace.ParseHex(r.AddrDigits)
			if r.Write != (n%2 == 1) || !ok || value != r.Value || len(r.Digits) != 2*int(r.Size) || addr != r.Addr {
				t.Fatalf("%+v: %+v", packets[n], r)
			}
			for i := range uint64(r.Size) {
				if _, twice := got[n][r.Addr+i]; twice {
					t.Errorf("%+v: %#x is accessed twice", packets[n], r.Addr+i)
				}
				got[n][r.Addr+i] = byte(r.Value >> (8 * i))
			}
		}
	}
	for n, p := range packets {
		want := make(map[uint64]byte)
		for i := range 8 {
			if (p.RMask|p.WMask)>>i&1 != 0 {
				want[p.Addr+uint64(i)] = byte((p.Loaded | p.Stored) >> (8 * i))
			}
		}
		if diff := cmp.Diff(want, got[n]); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", p, diff)
		}
	}
}

// random is a packet with any values that the fields may have.
func random(r *rand.Rand, before *layout) (p layout) {
	value := func() uint64 { return r.Uint64() >> (8 * r.UintN(8)) }
	p = layout{Order: before.Order + 1, PC: before.Next, Next: value(), Insn: uint64(r.Uint32() | 3), RD: value(), Addr: value(),
		RMask: uint8(r.UintN(256)), WMask: uint8(r.UintN(256)), Loaded: value(), Stored: value(), RDAddr: uint8(r.UintN(32)),
		RS1: value(), RS2: value(), RS1Addr: uint8(r.UintN(32)), RS2Addr: uint8(r.UintN(32)), Trap: uint8(r.UintN(2)), Halt: uint8(r.UintN(2))}
	return p
}

// TestFields: the words of a packet have all its fields, so that what is quoted is understood as it was.
func TestFields(t *testing.T) {
	source := rand.New(rand.NewPCG(7, 7))
	packets := []layout{{Insn: 0x13}}
	for len(packets) < 1000 {
		packets = append(packets, random(source, &packets[len(packets)-1]))
	}
	text := bytesOf(t, packets...)
	all := dialecttest.Read(t, Dialect, strings.NewReader(text), 512)
	for n := range packets {
		var p, again packet
		p.parse([]byte(text[88*n:]))
		words, _ := p.appendWords(nil)
		for word := range bytes.FieldsSeq(words) {
			if !again.word(word) {
				t.Fatalf("%s: %s", words, word)
			}
		}
		if got, want := string(again.append(nil)), text[88*n:88*n+88]; got != want {
			t.Fatalf("%s\nis\n%x\nwant\n%x", words, got, want)
		}
		var records []itrace.Record
		for len(all) > 0 && all[0].Line == int64(n+1) {
			records, all = append(records, all[0]), all[1:]
		}
		quoted := Dialect.Decode(records[0].Text)
		if len(quoted) != len(records) {
			t.Fatalf("%s: %d records quoted, %d read", words, len(quoted), len(records))
		}
		for i, r := range records {
			r.Line, r.Offset, r.Text = quoted[i].Line, quoted[i].Offset, quoted[i].Text
			if !reflect.DeepEqual(r, quoted[i]) {
				t.Fatalf("%s (-read +quoted):\n%s", words, cmp.Diff(r, quoted[i]))
			}
		}
	}
}

// TestWritten: what is written of packets is these packets, where they have what records have.
func TestWritten(t *testing.T) {
	text := some(t)
	plain := text[88 : 7*88] // ahead of the jump that an interrupt hides
	if got := dialecttest.Written(Dialect, dialecttest.Read(t, Dialect, strings.NewReader(plain), 64)); len(got) != len(plain) {
		t.Fatalf("%d bytes, want %d", len(got), len(plain))
	} else if diff := cmp.Diff(strings.Split(lines88(plain), "\n"), strings.Split(lines88(got), "\n")); diff == "" {
		t.Error("an access by its word is not written by its first byte")
	}
	want := bytesOf(t,
		layout{Order: 0, PC: 0x10, Next: 0x14, Insn: 0x00b52023, Addr: 0x102, WMask: 0xf, Stored: 0x9abcdef0, RS1Addr: 10, RS1: 0x102, RS2Addr: 11,
			RS2: 0x123456789abcdef0},
		layout{Order: 1, PC: 0x14, Next: 0x16, Insn: 0x4188, Addr: 0x1003, RMask: 0x3, Loaded: 0xffee, RDAddr: 10, RD: 0xffee, RS1Addr: 11, RS1: 4},
		layout{Order: 2, PC: 0x16, Next: 0x40, Insn: 0xa02d},
		layout{Order: 3, PC: 0x40, Next: 0x80, Insn: 0x00000073, Trap: 1},
		layout{Order: 4, PC: 0x80, Next: 0x84, Insn: 0x00000013},
		layout{Order: 5, PC: 0xf0, Next: 0xf4, Insn: 0x00000013, Intr: 1, Halt: 1},
		layout{Halt: 1},
		layout{Order: 1, PC: 0x10, Next: 0x12, Insn: 0x0001},
	)
	got := dialecttest.Written(Dialect, dialecttest.Read(t, Dialect, strings.NewReader(want), 64))
	if diff := cmp.Diff(strings.Split(lines88(want), "\n"), strings.Split(lines88(got), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// lines88 is packets in words, a line for each.
func lines88(text string) string {
	var b strings.Builder
	for packetBytes := range slices.Chunk([]byte(text), 88) {
		var p packet
		p.parse(packetBytes)
		words, _ := p.appendWords(nil)
		b.Write(append(words, '\n'))
	}
	return b.String()
}

// TestDamage: what is no packet is told, and what is behind it is read.
func TestDamage(t *testing.T) {
	text := some(t)
	instructions := func(text string) (found []uint64, problems []string) {
		for _, r := range dialecttest.Read(t, Dialect, strings.NewReader(text), 64) {
			switch {
			case r.Kind == itrace.Unknown && len(r.Problem.Found) < 7 || r.Kind == itrace.Unknown && r.Problem.Found[:5] != "order":
				problems = append(problems, fmt.Sprintf("%d at %d: %v", r.Line, r.Offset, r.Problem))
			case r.Kind == itrace.Instruction:
				found = append(found, r.ID)
			}
		}
		return found, problems
	}
	spoil := func(at int, b byte) string {
		bad := []byte(text)
		bad[at] = b
		return string(bad)
	}
	for _, test := range []struct {
		name, text string
		want       []uint64
		problems   []string
	}{
		{"cut", text[:len(text)-1], []uint64{1, 2, 3, 4, 5, 5, 6, 7},
			[]string{"10 at 792: column 88: found the end after 87 bytes, expected the 88 of a packet"}},
		{"a register", spoil(2*88+84, 32), []uint64{1, 3, 4, 5, 5, 6, 7, 9},
			[]string{"3 at 176: column 85: found rd_addr 32, expected the number of a register"}},
		{"a flag", spoil(4*88+85, 2), []uint64{1, 2, 3, 5, 5, 6, 7, 9}, []string{"5 at 352: column 86: found trap 2, expected 0 or 1"}},
		{"the last", spoil(9*88+30, 2), []uint64{1, 2, 3, 4, 5, 5, 6, 7},
			[]string{"10 at 792: column 25: found insn 562949953421423, expected an opcode of 32 bits"}},
		{"bytes too many", text[:3*88] + "seven b" + text[3*88:], []uint64{1, 2, 3, 4, 5, 5, 6, 7, 9},
			[]string{"4 at 264: column 25: found insn 9799832789166587904, expected an opcode of 32 bits"}},
		{"bytes too few", text[:3*88] + text[3*88+40:], []uint64{1, 2, 4, 5, 5, 6, 7, 9},
			[]string{"4 at 264: column 49: found the beginning of a packet, expected the 88 bytes of this one"}},
	} {
		got, problems := instructions(test.text)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if diff := cmp.Diff(test.problems, problems); diff != "" && test.problems != nil || len(problems) != 1 {
			t.Errorf("%s: problems (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestDetect: packets are told from other data, also by the first alone, and a damaged one does not hide the others.
func TestDetect(t *testing.T) {
	text := some(t)
	registry := itrace.Registry{Dialect}
	for i := 1; i <= 10; i++ {
		if d := registry.Detect([]byte(text[:88*i])); d.Dialect != Dialect || d.Known != min(i, 9) || d.Lines != d.Known {
			t.Errorf("%d packets: %+v", i, d)
		}
	}
	if d := registry.Detect([]byte(damaged(t))); d.Dialect != Dialect || d.Known == d.Lines {
		t.Errorf("damaged: %+v", d)
	}
	noise := make([]byte, 1<<12)
	source := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(source.Uint32())
	}
	for _, other := range []string{
		"", text[:87], strings.Repeat("\x00", 880), strings.Repeat("\x01", 880), string(noise), "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 300),
		"\x7fTRACE0\n" + strings.Repeat("\x00", 300), strings.Repeat("core   0: 3 0x0000000080002240 (0x1141) x2  0x0000000080020fe0\n", 9),
		"trace-v2" + text[8:],
	} {
		if is([]byte(other)) {
			t.Errorf("%.20q is taken for packets", other)
		}
	}
}

func TestAllocations(t *testing.T) { dialecttest.Allocations(t, Dialect, some(t)[88:9*88]) }

func FuzzRVFI(f *testing.F) { dialecttest.Fuzz(f, Dialect, some(f), damaged(f), some(f)[:100]) }

func BenchmarkRead(b *testing.B) { dialecttest.Benchmark(b, Dialect, some(b)[88:9*88]) }
