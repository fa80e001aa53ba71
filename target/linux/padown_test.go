//go:build linux && amd64

package linux_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"tracewell/internal/test/testprog"
	"tracewell/target"
	"tracewell/trace"
	"tracewell/trace/compiled"
)

// TestPadsCollectOwnCode has a pad collect code in which jumps come and go while it runs: frames hold the program's own bytes.
func TestPadsCollectOwnCode(t *testing.T) {
	p := testprog.Build(t, "neighbours", fixed)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	r := launchPads(t, p.Path, "1", "1000000000", "0", "0")
	s := newStreet(r, p.Path)
	first, last := s.at["row_a"], s.at["side_b"]
	for _, at := range s.at {
		first, last = min(first, at), max(last, at)
	}
	own := make([]byte, last-first+1)
	if n, err := r.target.ReadMemory(r.target.Threads()[0], first, own); n != len(own) {
		t.Fatalf("%d bytes of code, want %d: %v", n, len(own), err)
	}
	frames, wrong := 0, ""
	take := func(deposits []target.Deposit) target.Verdict {
		for _, d := range deposits {
			if d.Key.Number != 1 {
				continue
			}
			if d.Err != nil || d.Frames == nil {
				wrong = fmt.Sprintf("%+v", d)
				continue
			}
			const header = 6 + 1 + 8 + 2 // of the frame and of the block
			for frame := range slices.Chunk(d.Frames, len(d.Frames)/d.Hits) {
				frames++
				if got := frame[header:]; !bytes.Equal(got, own) {
					wrong = fmt.Sprintf("frame %d holds %x, want %x", frames, got, own)
				}
			}
		}
		return target.Continue
	}
	c := s.target.Collector()
	s.target.SetHandler(s)
	c.Begin(target.Run{Builtins: builtins, RegisterBlock: placesInBlock * 8, MaxFrame: 1 << 20, Deposit: take})
	tp, err := compiled.Compile(&trace.Tracepoint{Number: 1, Addr: s.at["row_a"], Enabled: true, Actions: []trace.Action{
		{Kind: trace.CollectMemory, Base: trace.Absolute, Offset: uint64(first), Length: uint64(len(own))}}})
	s.must(err)
	s.must(c.Offload(s.pid, tp))
	s.apply()
	s.must(s.target.Resume([]target.Action{{Thread: everything}}))
	for range 300 {
		name := neighbours[1+rng.IntN(len(neighbours)-1)]
		if s.on[name] {
			s.recall(name)
		} else if s.offload(name) != nil {
			s.recall(name)
		}
		s.apply()
	}
	s.must(s.target.Interrupt())
	s.run.next()
	s.apply()
	t.Logf("%d frames", frames)
	if wrong != "" || frames == 0 {
		t.Error(wrong)
	}
}
