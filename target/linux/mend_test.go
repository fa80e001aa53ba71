//go:build linux

package linux

import (
	"os"
	"testing"

	"tracewell/internal/fast"
)

// Sites under the jump of another have no patch of their own. A foreign one beside them is counted all the same.
func TestMendSiteWithoutPatch(t *testing.T) {
	mem, err := os.CreateTemp(t.TempDir(), "memory")
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	if err := mem.Truncate(0x2000); err != nil {
		t.Fatal(err)
	}
	site := fast.Entry{Pad: 0x1800, Patches: []fast.Patch{{Addr: 0x1000, Own: []byte{1, 2, 3, 4, 5}, Ours: []byte{5, 4, 3, 2, 1}}}}
	elsewhere := fast.Entry{Pad: 0x1900, Patches: []fast.Patch{{Addr: 0x1100, Own: []byte{1}, Ours: []byte{2}}}}
	under := fast.Entry{Pad: 0x1a00}
	m := &mender{mem: mem, done: &Mended{}, found: []*remains{{entries: []fast.Entry{under, site, elsewhere, under}}}}
	m.restoreSites()
	if m.done.Foreign != 2 || m.done.Restored != 0 {
		t.Errorf("%d foreign sites and %d restored, want 2 and none", m.done.Foreign, m.done.Restored)
	}
}
