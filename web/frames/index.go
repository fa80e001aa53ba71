package frames

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"sync"

	"tracewell/arch"
	"tracewell/internal/routine"
	"tracewell/trace"
	"tracewell/view"
)

// index is what is known of each frame without reading it. Threads and addresses are numbers into tables, since there are few
// different ones.
type index struct {
	timed       bool    // some frame tells its time; then positions are times
	times       []int64 // noTime for frames that do not tell
	first, last int64   // position of the first and of the last

	threads  []thread
	threadOf []int32
	pcs      []place
	pcOf     []int32 // -1 for frames without

	byThread map[int64]int32
	byPC     map[arch.Addr]int32
	inFile   map[int]int // frames by the numbers of source files
}

// noTime stands for the time of a frame that does not tell it.
const noTime = -1 << 63

type thread struct {
	id     int64
	frames int
}

// place is an address at which frames were made.
type place struct {
	addr   arch.Addr
	frames int
	file   int // number of the source file; -1 if not known
	line   int
}

// chunk is how many frames a goroutine goes over at once.
const chunk = 4096

// newIndex goes over the frames behind those of an earlier index, which is not changed; nil for none.
func newIndex(ctx context.Context, v *view.View, earlier *index) (*index, error) {
	x := &index{byThread: make(map[int64]int32), byPC: make(map[arch.Addr]int32), inFile: make(map[int]int)}
	done := 0
	if earlier != nil {
		*x = index{
			timed: earlier.timed, times: slices.Clip(earlier.times), first: earlier.first, last: earlier.last,
			threads: slices.Clone(earlier.threads), threadOf: slices.Clip(earlier.threadOf),
			pcs: slices.Clone(earlier.pcs), pcOf: slices.Clip(earlier.pcOf),
			byThread: maps.Clone(earlier.byThread), byPC: maps.Clone(earlier.byPC), inFile: maps.Clone(earlier.inFile),
		}
		done = len(x.times)
	}
	raw, err := readIndex(ctx, v, done)
	if err != nil {
		return nil, err
	}
	for _, f := range raw {
		x.add(f)
	}
	if !x.timed {
		x.first, x.last = 0, int64(max(len(x.times)-1, 0))
	}
	return x, nil
}

// rawFrame is what is read of a frame for the index.
type rawFrame struct {
	time, thread int64
	pc           arch.Addr
	hasPC        bool
}

// readIndex reads what the index has of the frames from one on, on all processors.
func readIndex(ctx context.Context, v *view.View, from int) ([]rawFrame, error) {
	raw := make([]rawFrame, v.Content.NumFrames()-from)
	timestamp, timed := trace.VariableNumber(0), false
	for _, variable := range v.Content.Header().Variables {
		// gdbserver's has number 1, but another stub may number it otherwise: its name decides.
		if variable.Name == trace.TimestampName {
			timestamp, timed = variable.Number, true
		}
	}
	err := inChunks(ctx, len(raw), func() func(low, high int) error {
		var buf []byte
		return func(low, high int) error {
			for i := low; i < high; i++ {
				frame, err := v.Content.ReadFrame(from+i, buf)
				if err != nil {
					return err
				}
				f := v.Of(from+i, frame)
				buf = f.Bytes()
				raw[i] = rawFrame{time: noTime, pc: f.PC, hasPC: f.HasPC}
				if at, ok := f.Variable(timestamp); timed && ok {
					raw[i].time = at
				}
				raw[i].thread, _ = v.ThreadID(f)
			}
			return nil
		}
	})
	return raw, err
}

func (x *index) add(f rawFrame) {
	x.times = append(x.times, f.time)
	if f.time != noTime {
		if !x.timed {
			x.timed, x.first, x.last = true, f.time, f.time
		}
		x.first, x.last = min(x.first, f.time), max(x.last, f.time)
	}
	n, known := x.byThread[f.thread]
	if !known {
		n = int32(len(x.threads))
		x.byThread[f.thread] = n
		x.threads = append(x.threads, thread{id: f.thread})
	}
	x.threads[n].frames++
	x.threadOf = append(x.threadOf, n)
	if !f.hasPC {
		x.pcOf = append(x.pcOf, -1)
		return
	}
	p, known := x.byPC[f.pc]
	if !known {
		p = int32(len(x.pcs))
		x.byPC[f.pc] = p
		x.pcs = append(x.pcs, place{addr: f.pc, file: -1})
	}
	x.pcs[p].frames++
	x.pcOf = append(x.pcOf, p)
}

// position is where a frame is on the axis of positions; false if it tells no time where others do.
func (x *index) position(i int) (int64, bool) {
	if !x.timed {
		return int64(i), true
	}
	return x.times[i], x.times[i] != noTime
}

// inChunks has frames 0 to n gone over in chunks, on all processors. Each goroutine gets a function of its own, which may keep room
// from one chunk to the next.
func inChunks(ctx context.Context, n int, worker func() func(low, high int) error) error {
	var (
		group  routine.Group
		mu     sync.Mutex
		next   int
		failed error
	)
	take := func() (low, high int, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if failed == nil {
			failed = ctx.Err()
		}
		if failed != nil || next >= n {
			return 0, 0, false
		}
		low = next
		next = min(next+chunk, n)
		return low, next, true
	}
	for range min(runtime.GOMAXPROCS(0), n/chunk+1) {
		group.Go(func() {
			work := worker()
			for {
				low, high, ok := take()
				if !ok {
					return
				}
				if err := work(low, high); err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	return failed
}
