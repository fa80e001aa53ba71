package tracepoint

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"tracewell/target"
	"tracewell/tfile"
	"tracewell/trace"
)

// sink keeps what it is given.
type sink struct {
	bytes.Buffer
	frames int
}

func (s *sink) Take(frames []byte, n int) error {
	s.frames += n
	s.Write(frames)
	return nil
}

// TestManyInOneDeposit: hits that are deposited together come to the same as hits that are deposited one by one, whatever ends the
// run and wherever that is.
func TestManyInOneDeposit(t *testing.T) {
	ends := make(map[trace.StopReason]int)
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		layout := testLayout()
		layout.SinkOnly = rng.IntN(2) == 0
		var tracepoints []trace.Tracepoint
		for n := range 3 {
			tp := tracepointAt(trace.Number(n+1), 0x10)
			if rng.IntN(3) == 0 {
				tp.Pass = 1 + rng.Uint64N(30)
			}
			tracepoints = append(tracepoints, tp)
		}
		circular, size, limit := rng.IntN(2) == 0, 30+rng.Int64N(1000), rng.Int64N(30)
		play := func(many bool, hits []target.Deposit) string {
			r, c, sink := newRig(t), &fakeCollector{}, &sink{}
			layout.Sink, layout.Now = sink, r.layout.Now
			r.Engine = New(layout)
			r.target.collector = c
			r.must(r.SetBufferSize(size))
			r.SetCircular(circular)
			r.SetFrameLimit(limit)
			r.start(tracepoints...)
			for len(hits) > 0 {
				n := min(len(hits), 1+rng.IntN(12))
				list := hits[:n]
				hits = hits[n:]
				if many {
					list = together(list)
				}
				if c.run.Deposit(list)&target.Halt != 0 {
					break
				}
			}
			ends[r.Status().Reason]++
			text := fmt.Sprintf("%+v %d %x", r.Status(), sink.frames, sink.Bytes())
			for i := range r.NumFrames() {
				f, _ := r.Frame(i)
				text += fmt.Sprintf("\n%d %v %x", f.Number, f.PC, f.Bytes())
			}
			for _, tally := range r.Tallies(nil) {
				text += fmt.Sprintf("\n%+v", tally)
			}
			return text
		}
		hits := randomHits(rng)
		if one, many := play(false, hits), play(true, hits); one != many {
			t.Fatalf("seed %d: one by one\n%s\ntogether\n%s", seed, one, many)
		}
	}
	for _, reason := range []trace.StopReason{trace.ReasonFull, trace.ReasonPassCount, trace.ReasonStop} {
		if ends[reason] < 100 {
			t.Errorf("%d runs ended by %q", ends[reason], reason)
		}
	}
}

// randomHits makes deposits of one hit each; some hits are of two tracepoints, and some make no frame.
func randomHits(rng *rand.Rand) (list []target.Deposit) {
	out := tfile.Builder{Order: testLayout().Order}
	for range rng.IntN(80) {
		key := trace.Key{Number: 1, Addr: 0x10}
		if rng.IntN(6) == 0 {
			key.Number = trace.Number(1 + rng.IntN(3))
		}
		out.Begin(nil, key.Number)
		out.AppendMemory(0x100, make([]byte, 16+rng.IntN(50)/49))
		d := target.Deposit{Key: key, Frames: out.Finish(), Hits: 1}
		if rng.IntN(20) == 0 {
			other := d
			other.More = true
			list = append(list, other)
		}
		if rng.IntN(20) == 0 {
			d.Lost, d.Frames, d.Hits = 1, nil, 0
		}
		list = append(list, d)
	}
	return list
}

// together makes one deposit of those that follow one another and may be one.
func together(list []target.Deposit) (fewer []target.Deposit) {
	for i, d := range list {
		if n := len(fewer); n > 0 && i > 1 && d.Hits == 1 && !d.More && !list[i-1].More && !list[i-2].More {
			last := &fewer[n-1]
			if last.Key == d.Key && last.Hits > 0 && len(last.Frames) == last.Hits*len(d.Frames) {
				last.Frames = append(bytes.Clone(last.Frames), d.Frames...)
				last.Hits++
				continue
			}
		}
		fewer = append(fewer, d)
	}
	return fewer
}
