package remote_test

import (
	"maps"
	"slices"
	"testing"

	"tracewell/internal/test/fakestub"
	"tracewell/target/remote"
)

// TestRecognised has the stubs that are known be taken for what they are, by what real ones have said of themselves: QEMU 7.2, OpenOCD
// 0.12, Valgrind 3.19. What is not known, and what lacks the tracepoints that gdbserver is recognised by, is not taken for any of them.
func TestRecognised(t *testing.T) {
	known := []string{"qemu-user", "qemu-system", "openocd", "vgdb"}
	openOCD := fakestub.OpenOCD
	openOCD.Replies = maps.Clone(openOCD.Replies)
	openOCD.Replies["qSupported"] = "PacketSize=4000;qXfer:memory-map:read-;qXfer:features:read+;qXfer:threads:read+;QStartNoAckMode+;vContSupported+"
	recognised := func(name string, q fakestub.Quirks) {
		r := openAs(t, fakestub.Config{Quirks: q, InRAM: true}, remote.Options{})
		want := "unknown"
		if slices.Contains(known, name) {
			want = name
		}
		if got := r.target.Profile(); got.Name != want {
			t.Errorf("%s is taken for %s", name, got)
		}
		r.must(r.target.Close())
	}
	for name, q := range fakestub.Presets {
		recognised(name, q)
	}
	recognised("openocd", openOCD) // without flash memory
}
