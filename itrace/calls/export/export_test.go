package export

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tracewell/arch/flow"
	"tracewell/internal/trackevent"
	"tracewell/itrace"
	"tracewell/itrace/calls"
	"tracewell/itrace/sites"
)

// The program under test calls: main calls a twice and b once, a calls b; one interrupt comes within b. All is RISC-V without
// names.
const (
	mainAt, aAt, bAt, handlerAt = 0x1000, 0x2000, 0x3000, 0x4000
	nop, ret, mret              = 0x13, 0x8067, 0x30200073
)

func jal(from, to uint64) uint64 {
	o := to - from
	return 0xef | o&0xff000 | o>>11&1<<20 | o>>1&0x3ff<<21
}

// read reads the trace, and returns the walker with what the listener has written.
func read(timed bool, from int64) (*calls.Walker, []byte) {
	var records []itrace.Record
	add := func(pc, opcode uint64) {
		records = append(records, itrace.Record{Kind: itrace.Instruction, Addr: pc, Value: opcode, Digits: []byte("00000000"),
			Time: uint64(len(records)) * 10})
	}
	b := func(interrupted bool) {
		add(bAt, nop)
		if interrupted {
			add(handlerAt, nop)
			add(handlerAt+4, mret)
		}
		add(bAt+4, ret)
	}
	a := func(interrupted bool) {
		add(aAt, jal(aAt, bAt))
		b(interrupted)
		add(aAt+4, ret)
	}
	add(mainAt, jal(mainAt, aAt))
	a(false)
	add(mainAt+4, jal(mainAt+4, aAt))
	a(true)
	add(mainAt+8, jal(mainAt+8, bAt))
	b(false)
	add(mainAt+12, nop)
	w := calls.New(sites.New(nil, flow.Sets()[0]))
	w.From = from
	var out bytes.Buffer
	s := NewSlices(&out, w, timed)
	w.Listener = s
	w.Add(records)
	w.Finish()
	if err := s.Close(w.Position, w.Now()); err != nil {
		panic(err)
	}
	return w, out.Bytes()
}

func TestFolded(t *testing.T) {
	w, _ := read(false, 0)
	c := &Calls{Walker: w}
	for time, want := range map[bool]string{
		false: "0x1000 4\n0x1000;0x2000 4\n0x1000;0x2000;0x3000 4\n0x1000;0x3000 2\n[handler] 0x4000 2\n",
		true:  "0x1000 30\n0x1000;0x2000 40\n0x1000;0x2000;0x3000 40\n0x1000;0x3000 20\n[handler] 0x4000 20\n",
	} {
		var out strings.Builder
		if err := c.WriteFolded(&out, time); err != nil || out.String() != want {
			t.Errorf("%v\n%s, not\n%s", err, out.String(), want)
		}
	}
}

func TestCallgrind(t *testing.T) {
	w, _ := read(false, 0)
	var out strings.Builder
	c := &Calls{Walker: w, Program: "fw.elf", Line: func(pc uint64) (string, int, bool) { return fmt.Sprintf("%x.c", pc>>12), int(pc & 0xff), true }}
	if err := c.WriteCallgrind(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"positions: instr line\nevent: Ir : Instructions\nevents: Ir\nsummary: 16\n",
		"\nfl=1.c\nfn=0x1000\n0x1000 0 1\n0x1004 4 1\n0x1008 8 1\n0x100c 12 1\n" +
			"cfi=2.c\ncfn=0x2000\ncalls=2 0x2000 0\n0x1000 0 8\ncfi=3.c\ncfn=0x3000\ncalls=1 0x3000 0\n0x1000 0 2\n",
		"\nfl=3.c\nfn=0x3000\n0x3000 0 3\n0x3004 4 3\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s\ndoes not have\n%s", out.String(), want)
		}
	}
}

// fields are the fields of a message of Protocol Buffers: numbers, or bytes.
func fields(t *testing.T, message []byte) (all []struct {
	field int
	n     uint64
	b     []byte
}) {
	for len(message) > 0 {
		key, n := binary.Uvarint(message)
		message = message[n:]
		value, n := binary.Uvarint(message)
		if message = message[n:]; n <= 0 {
			t.Fatal("a number is cut off")
		}
		f := struct {
			field int
			n     uint64
			b     []byte
		}{field: int(key >> 3), n: value}
		if key&7 == 2 {
			f.b, message = message[:value], message[value:]
		}
		all = append(all, f)
	}
	return all
}

// TestSlices: slices lie within one another, and are as long as their calls.
func TestSlices(t *testing.T) {
	for _, test := range []struct {
		timed bool
		from  int64
		want  string
	}{
		{false, 0, "0 0x1000(1 0x2000(2 0x3000(4 )5 )6 0x2000(7 0x3000(8 [handler] 0x4000(10 )11 )12 )13 0x3000(15 )16 )"},
		{true, 0, "0 0x1000(10 0x2000(20 0x3000(40 )50 )60 0x2000(70 0x3000(80 [handler] 0x4000(100 )110 )120 )130 0x3000(150 )150 )"},
		{false, 9, "9 0x1000(9 0x2000(9 0x3000(9 [handler] 0x4000(10 )11 )12 )13 0x3000(15 )16 )"},
	} {
		_, out := read(test.timed, test.from)
		var got []string
		for _, packet := range fields(t, out) {
			var time uint64
			for _, f := range fields(t, packet.b) {
				switch f.field {
				case trackevent.PacketTimestamp:
					time = f.n
				case trackevent.PacketEvent:
					text := ""
					for _, e := range fields(t, f.b) {
						switch e.field {
						case trackevent.EventType:
							text = map[uint64]string{trackevent.TypeBegin: "(", trackevent.TypeEnd: ")"}[e.n]
						case trackevent.EventName:
							text = string(e.b) + text
						}
					}
					got = append(got, fmt.Sprintf("%d %s", time, text))
				}
			}
		}
		if text := strings.Join(got, ""); text != test.want {
			t.Errorf("from %d:\n%s, not\n%s", test.from, text, test.want)
		}
	}
}

// TestProfile: samples have the stacks, and their values add up.
func TestProfile(t *testing.T) {
	w, _ := read(false, 0)
	var out bytes.Buffer
	if err := (&Calls{Walker: w}).WriteProfile(&out, "clk"); err != nil {
		t.Fatal(err)
	}
	const sample, texts, locations, values = 2, 6, 1, 2
	var depths []int
	var names []string
	var time, instructions uint64
	for _, f := range fields(t, out.Bytes()) {
		switch f.field {
		case texts:
			names = append(names, string(f.b))
		case sample:
			for _, s := range fields(t, f.b) {
				switch s.field {
				case locations:
					depths = append(depths, len(s.b))
				case values:
					time, instructions = time+uint64(s.b[0]), instructions+uint64(s.b[1])
				}
			}
		}
	}
	if !slices.Equal(depths, []int{1, 2, 3, 1, 2}) || instructions != 16 || time != 150 || !slices.Contains(names, "[handler] 0x4000") {
		t.Errorf("depths %v, %d instructions, %d clk, names %q", depths, instructions, time, names)
	}
}
