//go:build linux && amd64

package local

import (
	"encoding/binary"
	"flag"
	"strconv"
	"testing"

	"tracewell/internal/test/testprog"
)

var loads = flag.Int("loads", 50, "how often each thread of TestLibraryStorm loads and unloads a library")

// TestLibraryStorm has threads load and unload two libraries in turn, each of which comes to where the other was: every call in each
// of them has its frame, and nothing else has one.
func TestLibraryStorm(t *testing.T) {
	p := testprog.Build(t, "dlstorm", testprog.Variant{})
	alpha := testprog.Build(t, "alphalib", testprog.Variant{Library: true})
	beta := testprog.Build(t, "betalib", testprog.Variant{Library: true})
	const threads = 3
	for _, pads := range []bool{false, true} {
		c := config(t, "trace alpha_work\nactions\ncollect $rdi, $rsi\nend\ntrace beta_work\nactions\ncollect $rdi, $rsi\nend\n",
			p.Path, alpha.Path, beta.Path, strconv.Itoa(threads), strconv.Itoa(*loads))
		c.TrapsOnly = !pads
		o := run(t, c)
		done := testprog.OfKind(testprog.Records(o.output), "done")
		if o.Code != 0 || len(done) != 1 || done[0].Int(t, "shared") == 0 {
			t.Fatalf("%+v, output %q", o.Result, o.output)
		}
		if a, b := o.countOf(1), o.countOf(2); int64(a) != done[0].Int(t, "alpha") || int64(b) != done[0].Int(t, "beta") {
			t.Errorf("pads %v: %d frames of alpha_work and %d of beta_work; the program: %v", pads, a, b, done[0].Fields)
		}
		var next [threads + 1]uint64 // of the five numbers that a thread calls with in turn
		for i := range o.file.NumFrames() {
			f, err := o.file.Frame(i)
			if err != nil {
				t.Fatal(err)
			}
			r := f.Registers()
			thread, number := binary.LittleEndian.Uint64(r[8*5:]), binary.LittleEndian.Uint64(r[8*4:])
			if thread > threads || number != next[thread] {
				t.Fatalf("pads %v: frame %d is of call %d of thread %d", pads, i, number, thread)
			}
			next[thread] = (number + 1) % 5
		}
		for _, point := range o.Feed.Points {
			if len(point.Locations) > 3 {
				t.Errorf("pads %v: %d locations of %s", pads, len(point.Locations), point.At)
			}
		}
		t.Logf("pads %v: %d locations, %v", pads, len(o.file.Header().Tracepoints), done[0].Fields)
	}
}
