package tfile

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/trace"
)

var update = flag.Bool("update", false, "write the golden files anew")

// ripOffset is where the pc is in the register block of x86-64 Linux.
const ripOffset = 16 * 8

func ripOf(f Frame) (arch.Addr, bool) {
	r := f.Registers()
	if r == nil {
		return 0, false
	}
	return arch.Addr(binary.LittleEndian.Uint64(r[ripOffset:])), true
}

func readTestdata(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func openTestdata(t testing.TB, name string) *File {
	t.Helper()
	f, err := OpenBytes(readTestdata(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func frameOf(t testing.TB, f *File, i int) Frame {
	t.Helper()
	frame, err := f.Frame(i)
	if err != nil {
		t.Fatal(err)
	}
	return frame
}

// TestGolden compares all that is read in the real files with text that was looked through by hand.
func TestGolden(t *testing.T) {
	for _, name := range []string{"queue-basic", "queue-fast", "queue-pie"} {
		t.Run(name, func(t *testing.T) {
			got := describe(t, openTestdata(t, name+".tf"))
			golden := "testdata/" + name + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(readTestdata(t, name+".golden")), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// describe gives a file as text, long things by their length only.
func describe(t *testing.T, f *File) string {
	var out strings.Builder
	h := f.Header()
	fmt.Fprintf(&out, "order %v, %v\n", h.Order, f.OrderSource())
	fmt.Fprintf(&out, "register size %d\n", h.RegisterSize)
	fmt.Fprintf(&out, "status %+v\n", *h.Status)
	fmt.Fprintf(&out, "description of %d bytes\n", len(h.Description))
	fmt.Fprintf(&out, "other %q\n", h.Other)
	for _, v := range h.Variables {
		fmt.Fprintf(&out, "variable %+v\n", v)
	}
	for _, tp := range h.Tracepoints {
		fmt.Fprintf(&out, "tracepoint %s\n", strings.Join(append(tp.Pieces(), tp.CountsPiece()), "\n\t"))
	}
	for _, finding := range f.Findings() {
		fmt.Fprintf(&out, "finding %v\n", finding)
	}
	for i := range f.NumFrames() {
		describeFrame(&out, i, frameOf(t, f, i))
	}
	return out.String()
}

func describeFrame(out *strings.Builder, i int, f Frame) {
	fmt.Fprintf(out, "frame %d at %d: tracepoint %d, %d bytes", i, f.Offset(), f.Tracepoint(), f.Len())
	if pc, ok := ripOf(f); ok {
		fmt.Fprintf(out, ", pc %v", pc)
	}
	out.WriteByte('\n')
	for b := range f.Blocks() {
		switch b.Kind {
		case BlockVariable:
			fmt.Fprintf(out, "\tV %d = %d\n", b.Number, b.Value)
		case BlockMemory:
			fmt.Fprintf(out, "\tM %v: %s\n", b.Addr, hex.EncodeToString(b.Bytes))
		default:
			fmt.Fprintf(out, "\t%c of %d bytes\n", b.Kind, len(b.Bytes))
		}
	}
	if err := f.Check(); err != nil {
		fmt.Fprintf(out, "\t%v\n", err)
	}
}

// TestAsGDBPrinted holds what is read in queue-basic.tf against what GDB 13.1 printed while it recorded the run.
func TestAsGDBPrinted(t *testing.T) {
	f := openTestdata(t, "queue-basic.tf")
	if n := f.NumFrames(); n != 85 {
		t.Fatalf("%d frames, but GDB printed: Collected 85 trace frames.", n)
	}
	st := f.Header().Status
	if st.Reason != trace.ReasonPassCount || st.Tracepoint != 3 || st.Free != 5030859 || st.Size != 5242880 ||
		st.User != "ada" || st.Notes != `"notes: tracing the job queue"` || st.StartTime != 5326308475 {
		t.Errorf("status %+v is not what GDB printed", st)
	}

	frame := frameOf(t, f, 0) // Found trace frame 0, tracepoint 2
	if n := frame.Tracepoint(); n != 2 {
		t.Errorf("frame 0 is of tracepoint %d", n)
	}
	registers := frame.Registers()
	for i, want := range []uint64{0x404080, 0x7fffffffe7d8, 1, 1, 0x4052a0, 0x404080, 0x7fffffffe690, 0x7fffffffe690,
		0, 0x64, 0x7fffffffe3e7, 0, 0, 0x7fffffffe7e8, 0x403e00, 0x7ffff7ffd020, 0x4011b5} {
		if got := binary.LittleEndian.Uint64(registers[8*i:]); got != want {
			t.Errorf("frame 0: register %d is %#x, GDB printed %#x", i, got, want)
		}
	}
	if hits, ok := frame.Variable(2); !ok || hits != 1 {
		t.Errorf("frame 0: $hits = %d, %v; GDB printed 1", hits, ok)
	}
	var queue [16]byte // x/16xb $rdi
	if n := frame.ReadMemory(0x404080, queue[:]); n != 16 || string(queue[:]) != strings.Repeat("\xa0\x52\x40\x00\x00\x00\x00\x00", 2) {
		t.Errorf("frame 0: memory at 0x404080 is %x (%d bytes)", queue, n)
	}

	frame = frameOf(t, f, 3) // limit = 40, table = "\001\002\003\005\b\r…"
	var limit [4]byte
	if n := frame.ReadMemory(0x404030, limit[:]); n != 4 || limit != [4]byte{40} {
		t.Errorf("frame 3: limit is %x (%d bytes), GDB printed 40", limit, n)
	}
	var table [20]byte
	want := "\001\002\003\005\b\r\025\"7Y\220\351cL+\023"
	if n := frame.ReadMemory(0x404040, table[:]); string(table[:n]) != want {
		t.Errorf("frame 3: table is %q, GDB printed %q", table[:n], want)
	}

	frame = frameOf(t, f, 7) // rip 0x40127d <work+61>: after a step
	if pc, ok := ripOf(frame); !ok || pc != 0x40127d || frame.Tracepoint() != 4 {
		t.Errorf("frame 7: pc %v, %v, tracepoint %d; GDB printed 0x40127d and 4", pc, ok, frame.Tracepoint())
	}
}

// TestFind searches as GDB cannot: in frames of while-stepping and past frames that do not match.
func TestFind(t *testing.T) {
	f := openTestdata(t, "queue-basic.tf")
	tests := []struct {
		name string
		q    Query
		from int
		want int // -1 for none
	}{
		{"tracepoint", Query{Kind: ByTracepoint, Tracepoint: 3}, 0, 3},
		{"next of tracepoint", Query{Kind: ByTracepoint, Tracepoint: 3}, 4, 11},
		{"no such tracepoint", Query{Kind: ByTracepoint, Tracepoint: 9}, 0, -1},
		{"pc of a step", Query{Kind: ByPC, Low: 0x40127d}, 0, 7},
		{"range is inclusive below", Query{Kind: ByRange, Low: 0x40127d, High: 0x40127e}, 0, 7},
		{"range is inclusive above", Query{Kind: ByRange, Low: 0x40127c, High: 0x40127d}, 0, 7},
		{"range misses", Query{Kind: ByRange, Low: 0x40127e, High: 0x40127f}, 0, -1},
		{"outside", Query{Kind: ByOutside, Low: 0x4011b5, High: 0x4011e9}, 0, 4},
		{"behind the last frame", Query{Kind: ByOutside}, 85, -1},
		{"before the first frame", Query{Kind: ByPC, Low: 0x4011b5}, -1, 0},
	}
	for _, test := range tests {
		n, ok, err := f.Find(test.q, test.from, ripOf)
		if !ok {
			n = -1
		}
		if n != test.want || err != nil {
			t.Errorf("%s: frame %d, %v; want %d", test.name, n, err, test.want)
		}
	}
}

// TestDamagedFrame reads the file whose one frame holds more registers than its R line says.
func TestDamagedFrame(t *testing.T) {
	f := openTestdata(t, "queue-fast.tf")
	frame := frameOf(t, f, 0)
	err := frame.Check()
	var format *FormatError
	if !errors.Is(err, ErrDamaged) || !errors.As(err, &format) {
		t.Fatalf("Check() = %v", err)
	}
	if want := frame.Offset() + FrameHeader + 1 + int64(f.Header().RegisterSize); format.Offset != want {
		t.Errorf("damage at offset %d, but the R block ends at %d", format.Offset, want)
	}
	if pc, ok := ripOf(frame); !ok || pc != 0x401166 {
		t.Errorf("pc before the damage is %v, %v; want 0x401166", pc, ok)
	}
}
