package patch

import (
	"bytes"
	"testing"

	"tracewell/arch"
)

// TestLid puts a lid on a jump and takes it off: the program's own code shows throughout, also in copies of another time, and a
// guard would take the lid off and leave the jump.
func TestLid(t *testing.T) {
	program := []byte("the code of a program")
	mem, guard := &flat{bytes: bytes.Clone(program)}, table{}
	s := New(mem, guard)
	jump := []byte("JUMP!")
	p, err := s.InsertLasting(4, jump)
	if err != nil || len(guard) > 0 {
		t.Fatalf("%v, %d bytes guarded", err, len(guard))
	}
	plain := bytes.Clone(mem.bytes)
	if err := s.Cover(p, []byte{'#'}); err != nil || string(mem.bytes[4:9]) != "#UMP!" {
		t.Fatalf("%v, %q", err, mem.bytes)
	}
	covered := bytes.Clone(mem.bytes)
	if got := guard.rescue(mem.bytes); !bytes.Equal(got, plain) {
		t.Errorf("the guard would leave %q", got)
	}
	shadow := s.Shadow()
	for when, uncover := range map[string]func() error{"covered": func() error { return nil }, "uncovered": func() error { return s.Uncover(p) }} {
		if err := uncover(); err != nil {
			t.Fatal(err)
		}
		for _, copied := range [][]byte{plain, covered} {
			child := &flat{bytes: bytes.Clone(copied)}
			if err := s.Clean(child); err != nil || !bytes.Equal(child.bytes, program) {
				t.Errorf("%s: a child has %q, %v", when, child.bytes, err)
			}
			for at := range len(copied) {
				b := bytes.Clone(copied[at:])
				if shadow.Hide(arch.Addr(at), b); !bytes.Equal(b, program[at:]) {
					t.Errorf("%s: from %d on %q shows", when, at, b)
				}
			}
		}
	}
	if len(guard) > 0 && !bytes.Equal(guard.rescue(bytes.Clone(mem.bytes)), mem.bytes) {
		t.Errorf("the guard would change %q", mem.bytes)
	}
	if err := s.Cover(p, []byte{'#'}); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(p); err != nil || !bytes.Equal(mem.bytes, program) || len(guard) > 0 {
		t.Errorf("%v, %q, %d bytes guarded", err, mem.bytes, len(guard))
	}
}

// TestShadow has a Shadow show the patches of its time, in any part of the memory.
func TestShadow(t *testing.T) {
	mem := &flat{bytes: []byte("the code of a program")}
	s := New(mem, table{})
	s.Shadow().Hide(0, mem.bytes) // of nothing
	for _, at := range []arch.Addr{4, 9} {
		if _, err := s.Insert(at, []byte("X")); err != nil {
			t.Fatal(err)
		}
	}
	shadow := s.Shadow()
	patched := bytes.Clone(mem.bytes)
	if err := s.RemoveAll(); err != nil {
		t.Fatal(err)
	}
	for from := range patched {
		for to := from; to <= len(patched); to++ {
			part := bytes.Clone(patched[from:to])
			if shadow.Hide(arch.Addr(from), part); !bytes.Equal(part, mem.bytes[from:to]) {
				t.Errorf("from %d to %d: %q", from, to, part)
			}
		}
	}
}

// TestStaleJump has the program put other code where a jump was, some bytes of which are those of the jump: nothing is put back.
func TestStaleJump(t *testing.T) {
	for _, other := range []string{"the-JxxPxx-f a program", "----UMP!------- program", "the JUMP?e of a program"} {
		mem := &flat{bytes: []byte("the code of a program")}
		s := New(mem, table{})
		p, err := s.InsertLasting(4, []byte("JUMP!"))
		if err != nil {
			t.Fatal(err)
		}
		copy(mem.bytes, other)
		child := &flat{bytes: bytes.Clone(mem.bytes)}
		if err := s.Clean(child); err != nil || string(child.bytes) != other[:len(child.bytes)] {
			t.Errorf("a child has %q, %v", child.bytes, err)
		}
		if err := s.Remove(p); err != nil || string(mem.bytes) != other[:len(mem.bytes)] {
			t.Errorf("%q, %v", mem.bytes, err)
		}
	}
}

// TestLatePatches cleans copies from every time of an address at which a jump, a breakpoint instruction and another jump were.
func TestLatePatches(t *testing.T) {
	program := []byte("the code of a program")
	mem := &flat{bytes: bytes.Clone(program)}
	s := New(mem, table{})
	copies := [][]byte{bytes.Clone(mem.bytes)}
	note := func(p *Patch, err error) *Patch {
		if err != nil {
			t.Fatal(err)
		}
		copies = append(copies, bytes.Clone(mem.bytes))
		return p
	}
	for range 2 {
		for _, jump := range []string{"JUMP!", "JUMP?"} {
			p := note(s.InsertLasting(4, []byte(jump)))
			note(p, s.Cover(p, []byte{'#'}))
			note(p, s.Uncover(p))
			note(p, s.Remove(p))
			p = note(s.Insert(4, []byte("#")))
			note(p, s.Remove(p))
			p = note(s.Insert(6, []byte("#")))
			note(p, s.Remove(p))
		}
	}
	p := note(s.InsertLasting(4, []byte("JUMP.")))
	for range 2 {
		for i, copied := range copies {
			child := &flat{bytes: bytes.Clone(copied)}
			if err := s.Clean(child); err != nil || !bytes.Equal(child.bytes, program) {
				t.Errorf("copy %d: a child has %q, %v", i, child.bytes, err)
			}
		}
		note(p, s.Remove(p))
	}
}
