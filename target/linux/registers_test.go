//go:build linux && amd64

package linux_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"tracewell/internal/test/testprog"
	"tracewell/target"
)

// TestRefusedRegister gives a segment an address that no address is: the kernel refuses that, all registers stay as they were, and
// the task runs and stops on.
func TestRefusedRegister(t *testing.T) {
	p := testprog.Build(t, "threads", fixed)
	r := launch(t, p.Path, "3")
	function := symbol(t, p.Path, "work")
	r.insert(target.Breakpoint{Addr: function, Length: 1})
	ev := r.resume(0)
	layout, err := r.target.Description().Layout()
	r.must(err)
	saved := make([]byte, layout.Size)
	r.must(r.target.ReadRegisters(ev.Thread, saved))
	for _, name := range []string{"fs_base", "gs_base"} {
		spoilt := slices.Clone(saved)
		binary.LittleEndian.PutUint64(spoilt[layout.ByName("rip").Offset:], 0)
		binary.LittleEndian.PutUint64(spoilt[layout.ByName(name).Offset:], 1<<63)
		if err := r.target.WriteRegisters(ev.Thread, spoilt); err == nil {
			t.Errorf("the kernel has taken %s", name)
		}
	}
	now := make([]byte, layout.Size)
	r.must(r.target.ReadRegisters(ev.Thread, now))
	if !slices.Equal(now, saved) {
		t.Error("registers have changed")
	}
	r.remove(target.Breakpoint{Addr: function, Length: 1})
	if ev = r.resume(0); ev.Kind != target.Exited {
		t.Fatalf("got %+v, want the end", ev)
	}
}
