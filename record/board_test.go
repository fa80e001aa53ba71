package record_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/firmware"
	"tracewell/internal/test/recording"
	"tracewell/record"
	"tracewell/target/remote"
	"tracewell/tdesc"
	"tracewell/tfile"
)

var whole = flag.Bool("whole", false, "record every board, not only the quick ones")

// calls is how often each hart of a board calls step.
const calls = 40

// TestBoards records the same program on machines of all kinds behind QEMU and Valgrind, and compares what the frames have with what
// the program itself keeps. Of two harts each makes frames of its own. Afterwards the program has gone on to its end, and nobody has
// read its device but itself.
func TestBoards(t *testing.T) {
	for _, b := range firmware.Boards() {
		t.Run(b.String(), func(t *testing.T) {
			if !*whole && b != firmware.CortexM3 && b != firmware.RV64x2 {
				t.Skip("a board of -whole")
			}
			m := firmware.Start(t, firmware.Build(t, b), firmware.Set("limit", calls))
			on := connect(t, m)
			isa, layout := on.ISA(), layoutOf(t, on)
			o := recordBoard(t, m, on)
			kept := m.Kept(t)
			next := map[int]int{} // call of each hart
			for i := range o.NumFrames() {
				f, err := o.ReadFrame(i, nil)
				if err != nil {
					t.Fatal(err)
				}
				if f.Tracepoint() == 3 {
					continue // nothing was collected
				}
				seen := frameOf(f, isa, layout)
				switch f.Tracepoint() {
				case 1:
					call, ok := kept.Call(seen.hart, next[seen.hart])
					if !ok || seen != (frame{seen.hart, call.I, call.X, call.Y, call.Point}) {
						t.Errorf("frame %d has %+v, the program has kept %+v", i, seen, call)
					}
					next[seen.hart]++
				case 2:
					if seen.i%4 != 1 {
						t.Errorf("frame %d is of call %d, for which the condition is false", i, seen.i)
					}
				}
			}
			if next[0] != calls || b.Harts() == 2 && next[1] == 0 || recording.Count(o, 2) < calls/4 || recording.Count(o, 3) != 1 {
				t.Errorf("frames of calls by hart %v, %d with the condition, %d of done", next, recording.Count(o, 2), recording.Count(o, 3))
			}
			if kept.Tallies[0].Misreads != 0 || kept.Tallies[0].Done != 1 {
				t.Errorf("the program has kept %+v", kept.Tallies[0])
			}
		})
	}
}

// connect makes a target of a machine's stub.
func connect(t *testing.T, m *firmware.Machine) *remote.Target {
	t.Helper()
	address, err := remote.ParseAddress(m.Addr)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := address.Dial()
	if err != nil {
		t.Fatal(err)
	}
	var options remote.Options
	if err := options.ReadProgram(m.Program.Path); err != nil {
		t.Fatal(err)
	}
	on, err := remote.Open(conn, options)
	if err != nil {
		t.Fatal(err)
	}
	return on
}

// recordBoard records the calls of step until hart 0 has made its last.
func recordBoard(t *testing.T, m *firmware.Machine, on *remote.Target) *tfile.File {
	t.Helper()
	arguments := on.ISA().Machine.Arguments
	i, p := "$"+arguments[0], "$"+arguments[1]
	text := fmt.Sprintf(`
		trace *step
		actions
		collect %[1]s, %[2]s, *(struct point *) %[2]s
		end
		trace *step if (%[1]s & 3) == 1
		actions
		collect %[1]s, %[2]s, *(struct point *) %[2]s
		end
		trace done if %[1]s == 0
		passcount 1
	`, i, p)
	output := filepath.Join(t.TempDir(), "run.tf")
	s, err := record.Open(record.NewPeer(on, m.Program.Path, on.Close), record.Config{Plan: recording.Plan(t, text), Output: output})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	result := finish(t, s)
	if result.End != record.PassCount || len(s.Warnings()) > 0 {
		t.Errorf("%+v, warnings %v", result, s.Warnings())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	return recording.File(t, output)
}

// frame is what a frame of step has.
type frame struct {
	hart    int
	i, x, y int32
	point   uint64
}

// frameOf reads the arguments of step, and the point that is one.
func frameOf(f tfile.Frame, isa *arch.ISA, layout *tdesc.Layout) frame {
	value := func(name string) uint64 {
		slot := layout.ByName(name)
		return arch.Uint(f.Registers()[slot.Offset:slot.Offset+slot.Size], isa.Order)
	}
	seen := frame{i: int32(value(isa.Machine.Arguments[0])), point: value(isa.Machine.Arguments[1])}
	words := make([]byte, 12) // x, y, hart
	if f.ReadMemory(arch.Addr(seen.point), words) == len(words) {
		seen.x, seen.y = int32(binary.LittleEndian.Uint32(words)), int32(binary.LittleEndian.Uint32(words[4:]))
		seen.hart = int(binary.LittleEndian.Uint32(words[8:]))
	}
	return seen
}

func layoutOf(t *testing.T, on *remote.Target) *tdesc.Layout {
	t.Helper()
	layout, err := on.Description().Layout()
	if err != nil {
		t.Fatal(err)
	}
	return layout
}

// TestLeave records two hundred hits of a program without an end, in every way to keep frames. No call is missing of those that a hart has made
// meanwhile, and afterwards the program goes on by itself, at its own speed.
func TestLeave(t *testing.T) {
	m := firmware.Start(t, firmware.Build(t, firmware.RV64x2), firmware.Set("limit", 0))
	for _, buffer := range []int64{0, 1 << 20, 2000} {
		on := connect(t, m)
		isa, layout := on.ISA(), layoutOf(t, on)
		c := record.Config{
			Plan:   recording.Plan(t, "trace *step\nactions\ncollect $a0, $a1, *(struct point *) $a1\nend\n"),
			Output: filepath.Join(t.TempDir(), "run.tf"), MaxFrames: 200, Buffer: buffer, Circular: buffer == 2000,
		}
		s, err := record.Open(record.NewPeer(on, m.Program.Path, on.Close), c)
		if err != nil {
			t.Fatal(err)
		}
		before := m.Kept(t).Tallies
		result := finish(t, s)
		if err := s.Close(); err != nil || result.End != record.EnoughFrames {
			t.Errorf("%+v, %v", result, err)
		}
		f := recording.File(t, c.Output)
		last := map[int]int32{}
		for i := range f.NumFrames() {
			read, err := f.ReadFrame(i, nil)
			if err != nil {
				t.Fatal(err)
			}
			seen := frameOf(read, isa, layout)
			if previous, any := last[seen.hart]; any && seen.i != previous+1 || !any && !c.Circular && seen.i < int32(before[seen.hart].Calls) {
				t.Fatalf("buffer %d: hart %d: call %d after %d", buffer, seen.hart, seen.i, previous)
			}
			last[seen.hart] = seen.i
		}
		if n := f.NumFrames(); n != 200 && !c.Circular || n < 3 {
			t.Errorf("buffer %d: %d frames, the last calls %v", buffer, n, last)
		}
		after := m.Kept(t).Tallies[0].Calls
		m.Until(t, func(k *firmware.Kept) bool { return k.Tallies[0].Calls > after+100000 })
	}
}

// TestKilledMachine kills the machine in the middle of a run: the run ends with the reason, and the frames until then are in the file.
func TestKilledMachine(t *testing.T) {
	m := firmware.Start(t, firmware.Build(t, firmware.RV64), firmware.Set("limit", 0))
	on := connect(t, m)
	output := filepath.Join(t.TempDir(), "run.tf")
	c := record.Config{Plan: recording.Plan(t, "trace step\n"), Output: output}
	c.Frames = func(f record.Frame) {
		if f.Index == 100 {
			m.Kill()
		}
	}
	s, err := record.Open(record.NewPeer(on, m.Program.Path, on.Close), c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	result, err := s.Run(t.Context())
	if err == nil || result.End != record.Failed || !strings.Contains(err.Error(), "connection") {
		t.Errorf("%+v, %v", result, err)
	}
	if f := recording.File(t, output); f.NumFrames() <= 100 || int64(f.NumFrames()) != result.Feed.Frames {
		t.Errorf("the file has %d frames of %d", f.NumFrames(), result.Feed.Frames)
	}
}

// TestOtherBuild warns of a program that is not the one that runs: the code is another where a tracepoint goes.
func TestOtherBuild(t *testing.T) {
	p := firmware.Build(t, firmware.CortexM3)
	content, err := os.ReadFile(p.Path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	text := f.Section(".text")
	content[text.Offset+p.Address(t, "step")&^1-text.Addr] ^= 0x10
	other := filepath.Join(t.TempDir(), "other.elf")
	if err := os.WriteFile(other, content, 0o600); err != nil {
		t.Fatal(err)
	}
	m := firmware.Start(t, p)
	for file, want := range map[string]int{p.Path: 0, other: 1} {
		on := connect(t, m)
		c := record.Config{Plan: recording.Plan(t, "trace *step\n"), Output: filepath.Join(t.TempDir(), "run.tf")}
		s, err := record.Open(record.NewPeer(on, file, on.Close), c)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Warnings(); len(got) != want || want > 0 && !strings.Contains(got[0].Error(), "has other code at") {
			t.Errorf("%s: warnings %v, want %d", file, got, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
