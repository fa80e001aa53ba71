package patch

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
)

// TestFaults has memory that is partly unmapped or cannot be written, at every place of every patch and write.
func TestFaults(t *testing.T) {
	const at, length = 4, 6
	program := []byte("the program's own")
	inserted := bytes.Repeat([]byte{0xcc}, length)
	for bad := range len(program) {
		fault := func(addr int) bool { return addr == bad }
		within := at <= bad && bad < at+length

		mem, guard := &flat{bytes: slices.Clone(program), readOnly: fault}, table{}
		s := New(mem, guard)
		_, err := s.Insert(at, inserted)
		if (err != nil) != within {
			t.Errorf("insert with %d not writable: %v", bad, err)
		}
		if within && (!bytes.Equal(mem.bytes, program) || len(guard) > 0 || s.At(at) != nil) {
			t.Errorf("a failed insert leaves %q, %d bytes guarded", mem.bytes, len(guard))
		}

		mem, guard = &flat{bytes: slices.Clone(program)}, table{}
		s = New(mem, guard)
		p, err := s.Insert(at, inserted)
		if err != nil {
			t.Fatal(err)
		}
		mem.readOnly = fault
		next := []byte("ANOTHER PROGRAM'S")
		n, err := s.Write(0, next)
		if n != bad || err == nil {
			t.Errorf("write with %d not writable: %d, %v", bad, n, err)
		}
		want := append(slices.Clone(next[:bad]), program[bad:]...)
		got := make([]byte, len(program))
		if s.Read(0, got); !bytes.Equal(got, want) || !bytes.Equal(guard.rescue(mem.bytes), want) {
			t.Errorf("write with %d not writable: %q, the guard would leave %q, want %q", bad, got, guard.rescue(mem.bytes), want)
		}
		err = s.Remove(p)
		if (err != nil) != within || within && !strings.Contains(err.Error(), "the program's own code at 0x4: "+errFault.Error()) {
			t.Errorf("remove with %d not writable: %v", bad, err)
		}
		if s.At(at) != nil || len(guard) > 0 {
			t.Errorf("remove with %d not writable: the patch is still there", bad)
		}

		mem = &flat{bytes: slices.Clone(program)}
		s = New(mem, table{})
		if p, err = s.Insert(at, inserted); err != nil {
			t.Fatal(err)
		}
		mem.unmapped = fault
		if err := s.Remove(p); err != nil {
			t.Errorf("remove with %d unmapped: %v", bad, err)
		}
		if end := min(max(bad, at), at+length); !bytes.Equal(mem.bytes[:end], program[:end]) {
			t.Errorf("remove with %d unmapped leaves %q", bad, mem.bytes)
		}
		if _, err := s.Insert(at, inserted); (err != nil) != within {
			t.Errorf("insert with %d unmapped: %v", bad, err)
		}
	}
}

// TestBorrowFails has memory that can be changed and not be put back, and memory that is gone by then.
func TestBorrowFails(t *testing.T) {
	mem := &flat{bytes: []byte("code")}
	s := New(mem, table{})
	giveBack, err := s.Borrow(1, []byte("XY"))
	if err != nil || string(mem.bytes) != "cXYe" {
		t.Fatalf("%q, %v", mem.bytes, err)
	}
	mem.readOnly = func(int) bool { return true }
	if err := giveBack(); !errors.Is(err, errFault) {
		t.Errorf("giving back: %v", err)
	}
	mem.unmapped = mem.readOnly
	if err := giveBack(); err != nil {
		t.Errorf("giving back what is unmapped: %v", err)
	}
	if _, err := s.Borrow(1, []byte("XY")); err == nil {
		t.Error("unmapped memory was borrowed")
	}
	mem.unmapped, mem.readOnly = nil, func(addr int) bool { return addr == 2 }
	if _, err := s.Borrow(1, []byte("XY")); err == nil || !strings.HasPrefix(err.Error(), "cannot write memory at 0x2: ") {
		t.Errorf("memory that ends at 0x2 was borrowed: %v", err)
	}
}

// TestEdges: what can be read of a range comes back with the place and the reason where it ends, an overlap names the patch that is
// in the way, and what is written stays the caller's.
func TestEdges(t *testing.T) {
	mem := &flat{bytes: []byte("the code of a program")}
	mem.unmapped = func(addr int) bool { return addr >= 16 }
	s := New(mem, table{})
	if _, err := s.Insert(4, []byte("XY")); err != nil {
		t.Fatal(err)
	}
	wantError := func(what string, err error, want string) {
		t.Helper()
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", what, err, want)
		}
	}
	dst := make([]byte, 12)
	n, err := s.Read(8, dst)
	if n != 8 || string(dst[:n]) != " of a pr" {
		t.Errorf("%d bytes %q before the end of memory, want 8", n, dst[:n])
	}
	wantError("a read across the end of memory", err, "cannot read memory at 0x10: no memory there")
	if n, err := s.Read(3, dst[:4]); n != 4 || err != nil || string(dst[:4]) != " cod" {
		t.Errorf("%d bytes %q over a patch, %v", n, dst[:4], err)
	}
	_, err = s.Insert(5, []byte("Z"))
	wantError("a patch over another", err, "cannot patch memory at 0x5: there is a patch from 0x4 to 0x5")
	_, err = s.Borrow(14, []byte("four"))
	wantError("code across the end of memory", err, "cannot read memory at 0x10: EOF")
	own := []byte("CODE")
	if n, err := s.Write(4, own); n != 4 || err != nil || string(own) != "CODE" || string(mem.bytes[:8]) != "the XYDE" {
		t.Errorf("%d bytes of %q written, %v: memory is %q", n, own, err, mem.bytes)
	}
	if n, err := s.Read(4, dst[:4]); n != 4 || err != nil || string(dst[:4]) != "CODE" {
		t.Errorf("%d bytes %q where CODE was written, %v", n, dst[:4], err)
	}
}

// TestManyFaults reports the first of many failures, that of the patch inserted last, and how many others there are.
func TestManyFaults(t *testing.T) {
	for faults, want := range []string{
		"",
		"cannot put back the program's own code at 0x1: input/output error",
		"cannot put back the program's own code at 0x3: input/output error (1 more like this)",
		"cannot put back the program's own code at 0x5: input/output error (2 more like this)",
		"cannot put back the program's own code at 0x7: input/output error (3 more like this)",
	} {
		mem := &flat{bytes: make([]byte, 9)}
		s := New(mem, table{})
		for at := range arch.Addr(9) {
			if _, err := s.Insert(at, []byte("X")); err != nil {
				t.Fatal(err)
			}
		}
		mem.readOnly = func(addr int) bool { return addr%2 == 1 && addr < 2*faults }
		err := s.RemoveAll()
		if faults == 0 && err != nil || faults > 0 && (!errors.Is(err, errFault) || err.Error() != want) {
			t.Errorf("%d faults: %v, want %s", faults, err, want)
		}
		left := make([]byte, 9)
		for i := range faults {
			left[2*i+1] = 'X'
		}
		if !bytes.Equal(mem.bytes, left) || len(s.Within(0, 9)) > 0 {
			t.Errorf("% x after %d faults, with %d patches left", mem.bytes, faults, len(s.Within(0, 9)))
		}
	}
}

// TestForkFails has a child whose copy cannot be cleaned.
func TestForkFails(t *testing.T) {
	s := New(&flat{bytes: []byte("code")}, table{})
	if _, err := s.Insert(1, []byte("X")); err != nil {
		t.Fatal(err)
	}
	child, err := s.Fork(&flat{bytes: []byte("cXde"), readOnly: func(int) bool { return true }}, table{})
	if !errors.Is(err, errFault) || child == nil {
		t.Errorf("%v, %v", child, err)
	}
}

// TestSharedByProcesses removes the patches when the last process leaves.
func TestSharedByProcesses(t *testing.T) {
	mem := &flat{bytes: []byte("code")}
	s := New(mem, table{})
	if _, err := s.Insert(1, []byte("X")); err != nil {
		t.Fatal(err)
	}
	if s.Share() != s {
		t.Error("another Space")
	}
	if last, err := s.Leave(); last || err != nil || string(mem.bytes) != "cXde" {
		t.Errorf("after the first: %v, %v, %q", last, err, mem.bytes)
	}
	if last, err := s.Leave(); !last || err != nil || string(mem.bytes) != "code" {
		t.Errorf("after the last: %v, %v, %q", last, err, mem.bytes)
	}
}

// TestHide has patches in two objects, far apart, and reads around and between them.
func TestHide(t *testing.T) {
	mem := &flat{bytes: make([]byte, 0x8000)}
	s := New(mem, table{})
	for i, addr := range []arch.Addr{0x7f00, 0x1003, 0x1000, 0x7f01, 0x1001} {
		mem.bytes[addr] = byte(0xf0 + i)
		if _, err := s.Insert(addr, []byte{0xcc}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Remove(s.At(0x1001)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		addr arch.Addr
		want []byte
	}{
		{0xffe, []byte{0, 0, 0xf2, 0xf4, 0, 0xf1, 0}},
		{0x1000, []byte{0xf2}},
		{0x1001, []byte{0xf4, 0}},
		{0x1003, []byte{0xf1, 0}},
		{0x2000, []byte{0, 0, 0}},
		{0x7eff, []byte{0, 0xf0, 0xf3, 0}},
		{0x7f02, []byte{0, 0}},
	} {
		got := make([]byte, len(test.want))
		mem.ReadAt(got, int64(test.addr))
		s.Hide(test.addr, got)
		if !bytes.Equal(got, test.want) {
			t.Errorf("at %s: % x, want % x", test.addr, got, test.want)
		}
	}
}

// between is a Space with patches of the program and of a library, and the heap between them.
func between(t testing.TB) *Space {
	mem := &flat{bytes: make([]byte, 0x2_0000)}
	s := New(mem, table{})
	for i := range arch.Addr(500) {
		for _, addr := range []arch.Addr{0x1000 + 16*i, 0x1_0000 + 16*i} {
			if _, err := s.Insert(addr, []byte{0xcc}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

// TestHideAllocates nothing, for it is done at every hit.
func TestHideAllocates(t *testing.T) {
	s := between(t)
	var b [64]byte
	if n := testing.AllocsPerRun(100, func() { s.Hide(0x1008, b[:]) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkHide reads between the patches of the program and those of a library, where the heap is.
func BenchmarkHide(b *testing.B) {
	s := between(b)
	var heap [64]byte
	b.ReportAllocs()
	for b.Loop() {
		s.Hide(0x8000, heap[:])
	}
}

// TestBuffers maps each pc of buffers to the program's and back, in a Space and in its fork.
func TestBuffers(t *testing.T) {
	mem := &flat{bytes: make([]byte, 0x400)}
	s := New(mem, table{})
	s.AddArea(0x100, 0x40)
	s.AddArea(0x200, 0x100)
	near := func(base arch.Addr) bool { return base < 0x200 }
	var all []*Buffer
	for i, want := range []arch.Addr{0x100, 0x120} {
		at, ok := s.Reserve(0x20, near)
		if !ok || at != want {
			t.Fatalf("room at %s, %v, want %s", at, ok, want)
		}
		// Two instructions of 3 and 4 bytes behind 5 bytes of ours, and a jump back of 5.
		program := arch.Addr(0x10 + 0x10*i)
		b, err := s.Place(at, 0x20, bytes.Repeat([]byte{byte(i + 1)}, 17), Point{0, program}, Point{8, program + 3}, Point{12, program + 7})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	if at, ok := s.Reserve(0x20, near); ok {
		t.Errorf("room at %s in a full area", at)
	}
	if at, ok := s.Reserve(0x20, func(arch.Addr) bool { return true }); !ok || at != 0x200 {
		t.Errorf("room at %s, %v in the second area", at, ok)
	}
	if mem.bytes[0x110] != 1 || mem.bytes[0x111] != 0 || mem.bytes[0x120] != 2 {
		t.Errorf("code at % x", mem.bytes[0x100:0x140])
	}
	child, err := s.Fork(&flat{bytes: mem.bytes}, table{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.DropAreas(func(base arch.Addr, size int) error { return errFault }); err != errFault {
		t.Errorf("a failed unmap: %v", err)
	}
	checkBuffers(t, s, all)
	var unmapped []arch.Addr
	err = s.DropAreas(func(base arch.Addr, size int) error {
		unmapped = append(unmapped, base, arch.Addr(size))
		return nil
	})
	if err != nil || !slices.Equal(unmapped, []arch.Addr{0x100, 0x40, 0x200, 0x100}) {
		t.Errorf("unmapped %v, %v", unmapped, err)
	}
	if _, ok := s.Original(0x100); ok || len(s.Copies(0x10)) > 0 {
		t.Error("buffers are there after their areas")
	}
	checkBuffers(t, child, all)
	if _, ok := child.Reserve(0x20, near); ok {
		t.Error("the child takes room twice")
	}
}

func checkBuffers(t *testing.T, s *Space, all []*Buffer) {
	t.Helper()
	for pc := arch.Addr(0xf0); pc < 0x150; pc++ {
		var want arch.Addr
		if 0x100 <= pc && pc < 0x140 {
			offset := (pc - 0x100) % 0x20
			want = 0x10 + (pc-0x100)/0x20*0x10
			switch {
			case offset >= 12:
				want += 7
			case offset >= 8:
				want += 3
			}
		}
		if got, ok := s.Original(pc); got != want || ok != (want != 0) {
			t.Errorf("pc %s: %s, %v, want %s", pc, got, ok, want)
		}
	}
	for i, b := range all {
		program := arch.Addr(0x10 + 0x10*i)
		for _, p := range []struct{ pc, want arch.Addr }{{program, 0}, {program + 3, 8}, {program + 7, 12}, {program + 1, 0}} {
			got, ok := b.Displaced(p.pc)
			if known := p.pc != program+1; ok != known || known && got != b.Addr()+p.want || !known && got != 0 {
				t.Errorf("%s is displaced to %s, %v", p.pc, got, ok)
			}
		}
		if got := s.Copies(program); len(got) != 1 || got[0] != b {
			t.Errorf("copies of %s: %v", program, got)
		}
	}
}

// TestPlaceFails has a buffer where nothing can be written.
func TestPlaceFails(t *testing.T) {
	s := New(&flat{bytes: make([]byte, 8), readOnly: func(addr int) bool { return addr == 6 }}, table{})
	if _, err := s.Place(4, 4, []byte("code"), Point{0, 1}); err == nil || len(s.Copies(1)) > 0 {
		t.Errorf("%v", err)
	}
}
