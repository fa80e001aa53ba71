package tfile

import (
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/trace"
)

// countingDisk counts how often it is written to.
type countingDisk struct {
	disk
	writes int
}

func (d *countingDisk) WriteAt(p []byte, at int64) (int, error) {
	d.writes++
	return d.disk.WriteAt(p, at)
}

// TestAppenderUpdatesWhatChanges has an Update write the status and the lines of tracepoints whose counts are others.
func TestAppenderUpdatesWhatChanges(t *testing.T) {
	var d countingDisk
	h := appendHeader(binary.LittleEndian)
	a, err := NewAppender(&d, h)
	if err != nil {
		t.Fatal(err)
	}
	for i, change := range []struct {
		hits, usage uint64
		lines       int
	}{{1, 0, len(h.Tracepoints)}, {1, 0, 0}, {2, 0, 1}, {2, 9, 1}, {2, 9, 0}} {
		h.Tracepoints[1].Hits, h.Tracepoints[1].Usage = change.hits, change.usage
		d.writes = 0
		if err := a.Update(trace.Status{}, h.Tracepoints); err != nil {
			t.Fatal(err)
		}
		if d.writes != 1+change.lines {
			t.Errorf("update %d: %d writes, want %d", i, d.writes, 1+change.lines)
		}
		f, err := OpenBytes(d.data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(h.Tracepoints, f.Header().Tracepoints); diff != "" {
			t.Errorf("update %d: tracepoints (-want +got):\n%s", i, diff)
		}
	}
}
