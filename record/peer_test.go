package record_test

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/internal/demo"
	"tracewell/internal/test/recording"
	"tracewell/record"
	"tracewell/target"
	"tracewell/target/fake"
	"tracewell/tdesc/machine"
	"tracewell/tfile"
	"tracewell/trace"
)

// finish runs a session to its end.
func finish(t testing.TB, s *record.Session) record.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	result, err := s.Run(ctx)
	if err != nil {
		t.Fatalf("%+v, %v", result, err)
	}
	return result
}

// processors are two, which a stub without an operating system takes for the threads of one process.
var processors = []target.Thread{{ID: target.ThreadID{PID: 1, TID: 1}}, {ID: target.ThreadID{PID: 1, TID: 2}}}

// bare is a machine without an operating system that executes the demo program, as far as a script says so.
func bare(t testing.TB, p fake.Program) (on *fake.Target, file string) {
	t.Helper()
	p.Description = machine.Bare(arch.AMD64, false)
	layout, err := p.Description.Layout()
	if err != nil {
		t.Fatal(err)
	}
	p.ISA = layout.ISA(arch.AMD64, p.Description.Architecture, arch.AMD64.Order)
	if on, err = fake.New(p); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "firmware.elf")
	if err := os.WriteFile(file, demo.Program(), 0o600); err != nil {
		t.Fatal(err)
	}
	return on, file
}

// text is the code of the demo program, as it lies in memory.
func text(t testing.TB) fake.Region {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(demo.Program()))
	if err != nil {
		t.Fatal(err)
	}
	section := f.Section(".text")
	code, err := section.Data()
	if err != nil {
		t.Fatal(err)
	}
	return fake.Region{Start: arch.Addr(section.Addr), Bytes: code}
}

// TestBareMachine records a program without processes: two processors come to one place, which each of them has its number for, and
// memory is read there and nowhere else.
func TestBareMachine(t *testing.T) {
	handle, err := demo.Lookup("handle")
	if err != nil {
		t.Fatal(err)
	}
	const data = 0x10000
	on, file := bare(t, fake.Program{Threads: processors, Memory: []fake.Region{
		{Start: data, Bytes: make([]byte, 16)}, text(t),
	}})
	output := filepath.Join(t.TempDir(), "run.tf")
	var events []record.Event
	s, err := record.Open(record.NewPeer(on, file, nil), record.Config{
		Plan:   recording.Plan(t, "trace *handle if $rdi < 3\nactions\ncollect $rdi, *(long *) 0x10000, $tid, $trace_timestamp\nend\n"),
		Output: output, Events: func(e record.Event) { events = append(events, e) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if at := s.Points()[0].Locations; len(at) != 1 || at[0].Addr != handle.Addr {
		t.Fatalf("locations %v, want %#x, where the file has it", at, handle.Addr)
	}
	for i := range uint64(8) {
		on.Play(fake.Step{
			Thread: processors[i%2].ID, PC: handle.Addr, Registers: map[string]uint64{"rdi": i / 2},
			Memory: map[arch.Addr][]byte{data: {byte(10 * i)}},
		})
	}
	on.Play(fake.Step{Event: &target.Event{Kind: target.Exited, Code: 3}})
	result := finish(t, s)
	if result.End != record.ProgramEnded || result.Code != 3 || on.Installed(target.All) != 0 {
		t.Errorf("%+v; %d places still have a tracepoint", result, on.Installed(target.All))
	}
	if len(events) != 2 || events[0].Kind != record.Attached || events[0].Path != file || events[1].Kind != record.Exited {
		t.Errorf("events %+v", events)
	}
	f := recording.File(t, output)
	tid := slices.IndexFunc(f.Header().Variables, func(v trace.Variable) bool { return v.Name == trace.ThreadIDName })
	if f.NumFrames() != 6 || tid < 0 {
		t.Fatalf("%d frames, want 6; variables %v", f.NumFrames(), f.Header().Variables)
	}
	for i := range f.NumFrames() {
		frame, err := f.ReadFrame(i, nil)
		if err != nil {
			t.Fatal(err)
		}
		value := make([]byte, 8)
		frame.ReadMemory(data, value)
		var thread int64
		for b := range frame.Blocks() {
			if b.Kind == tfile.BlockVariable && b.Number == int32(f.Header().Variables[tid].Number) {
				thread = b.Value
			}
		}
		if got := binary.LittleEndian.Uint64(value); got != uint64(10*i) || thread != int64(1+i%2) {
			t.Errorf("frame %d has memory %d and thread %d", i, got, thread)
		}
	}
}

// TestPeerErrors: what keeps a program behind a target from being recorded is an error that says what to do.
func TestPeerErrors(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for name, c := range map[string]struct {
		program fake.Program
		file    func(string) string
		says    string
	}{
		"nobody says which program": {fake.Program{Threads: processors}, func(string) string { return "" }, "give its file (--exec)"},
		"another machine's program": {fake.Program{Threads: processors, Exec: missing}, func(string) string { return "" },
			"is not on this machine, and cannot be copied: give its file (--exec)"},
		"no file":        {fake.Program{Threads: processors}, func(string) string { return missing }, "no such file"},
		"no program":     {fake.Program{}, func(f string) string { return f }, "there is no program"},
		"cannot be run":  {fake.Program{Threads: processors, CoreOnly: true}, func(f string) string { return f }, "cannot be traced"},
		"no such symbol": {fake.Program{Threads: processors}, func(f string) string { return f }, "nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			on, file := bare(t, c.program)
			closed := 0
			host := record.NewPeer(on, c.file(file), func() error { closed++; return nil })
			_, err := record.Open(host, record.Config{Plan: recording.Plan(t, "trace nowhere\n"), Output: filepath.Join(t.TempDir(), "run.tf")})
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
			if closed != 1 {
				t.Errorf("the target was closed %d times", closed)
			}
		})
	}
}
