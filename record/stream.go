package record

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"tracewell/arch"
	"tracewell/record/output"
	"tracewell/target"
	"tracewell/tfile"
)

const (
	// maxFrame is the size in bytes of the largest frame that is recorded.
	maxFrame = 64 << 20
	// queueLimit is how many bytes of frames wait to be written before hits do. What the processor's caches hold is copied twice
	// as fast as what they do not, and whoever writes faster than the file takes has to wait in any case.
	queueLimit = 4 << 20
	// queueRoom is what the two halves of the queue hold without growing, so that in the steady state no hit allocates.
	queueRoom = 1 << 20
	// writeEvery is how long a frame waits for others to be written with it, unless they are a quarter of queueRoom.
	writeEvery = 5 * time.Millisecond
)

// stream carries frames from the hits to the file and whoever wants to see them. A hit appends to one half of the queue while
// the writer, a goroutine of its own, empties the other.
type stream struct {
	order     arch.ByteOrder
	registers int
	file      *output.File // nil if the frames are kept elsewhere
	show      func(Frame)  // nil for nobody
	shows     func()       // called when show has had all that there are; nil for nobody
	prompt    bool         // frames are shown as soon as they can be
	whenFull  target.WhenFull
	names     *threadNames // nil if nobody wants them

	mu      sync.Mutex
	room    sync.Cond // of mu: the queue was emptied, or nothing will be written any more
	filling []byte
	queued  int64 // frames in it
	waits   int64
	lost    int64 // frames
	written int64 // times that the queue was emptied
	through int64 // how many of these the writer is done with
	sync    bool  // a hit waits until its frame has been shown
	err     error // nothing more is written
	refuses error // nothing more is taken
	kick    chan struct{}
	due     *time.Timer  // to write what is queued by then; as long as nothing is, nobody is woken
	next    func() error // to be done after the next write, nil for nothing
	stop    chan struct{}
	done    chan struct{}

	writing       []byte // the writer's half
	frames, bytes int64  // that were written; guarded by mu

	taken, kept atomic.Int64 // bytes: for the file, and in it
	shown       atomic.Int64 // frames
	showing     bool         // the writer shows frames; guarded by mu, as is the next
	deserted    bool         // it is left to itself
}

// newStream makes a stream, to which a file may be given before it is started.
func newStream(order arch.ByteOrder, registers int) *stream {
	s := &stream{
		order: order, registers: registers,
		filling: make([]byte, 0, queueRoom),
		writing: make([]byte, 0, queueRoom),
		kick:    make(chan struct{}, 1),
		due:     time.NewTimer(writeEvery),
		stop:    make(chan struct{}),
		done:    make(chan struct{}),
	}
	s.room.L = &s.mu
	return s
}

// Take implements tracepoint.Sink. Where there is no room, what becomes of the frames is for whenFull to say.
func (s *stream) Take(frames []byte, n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.takes() && len(s.filling) > 0 && len(s.filling)+len(frames) > queueLimit {
		s.rouse()
		switch s.whenFull {
		case target.StopRun:
			s.refuses = errNoRoom
		case target.DropFrame:
			s.lost += int64(n)
			return nil
		default:
			s.waits++
			s.await(&s.written)
		}
	}
	if !s.takes() {
		return cmp.Or(s.err, s.refuses)
	}
	s.taken.Add(int64(len(frames)))
	before := len(s.filling)
	switch {
	case before > 0:
	case s.prompt:
		s.rouse()
	default:
		s.due.Reset(writeEvery)
	}
	s.filling = append(s.filling, frames...)
	s.queued += int64(n)
	if before < queueRoom/4 && len(s.filling) >= queueRoom/4 {
		s.rouse()
	}
	for turn := s.written + 1; s.sync && s.takes() && s.through < turn; {
		s.await(&s.through)
	}
	return cmp.Or(s.err, s.refuses)
}

// takes reports whether frames are taken. mu is held.
func (s *stream) takes() bool { return s.err == nil && s.refuses == nil }

// part has hits wait for nobody who looks at frames any more.
func (s *stream) part() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sync = false
	s.room.Broadcast()
}

// The ends of runs whose frames nobody takes.
var (
	errNoRoom     = errors.New("there was no room for a frame (--when-full=stop)")
	errStandstill = errors.New("nobody took a frame for a second (--when-full=wait waits longer)")
	errUnread     = errors.New("nobody reads what is printed: not all frames were printed")
)

// standstill is how long a hit waits in which no frame is taken at all.
const standstill = time.Second

// await waits for the writer to move, as which this count of its work counts. A hit that waits for a writer which stands still ends
// the run, unless it is to wait in any case.
func (s *stream) await(count *int64) {
	before, until := *count, time.Now().Add(standstill)
	awake := time.AfterFunc(standstill, s.room.Broadcast)
	defer awake.Stop()
	s.room.Wait()
	if s.whenFull != target.AlwaysWait && s.err == nil && *count == before && !time.Now().Before(until) {
		s.refuses = errStandstill
	}
}

// rouse has the writer write now.
func (s *stream) rouse() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// run is the writer.
func (s *stream) run() {
	defer close(s.done)
	defer s.due.Stop()
	for {
		select {
		case <-s.kick:
		case <-s.due.C:
		case <-s.stop:
			s.write()
			return
		}
		s.write()
	}
}

// later has the writer do something after its next write, in place of what it was to do before.
func (s *stream) later(job func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = job
	s.due.Reset(writeEvery)
}

// now has the writer do something when all frames that there are have been written, and waits for it.
func (s *stream) now(job func() error) (err error) {
	finished := make(chan struct{})
	s.later(func() error {
		defer close(finished)
		err = job()
		return err
	})
	s.rouse()
	select {
	case <-finished:
		return err
	case <-s.done:
		return s.close()
	}
}

// settle waits until what was taken is in the file, but for no longer than a hit would wait for it.
func (s *stream) settle() {
	for end := time.Now().Add(standstill); time.Now().Before(end); time.Sleep(writeEvery / 10) {
		if taken, kept := s.progress(); kept >= taken {
			return
		}
		s.rouse()
	}
}

// close writes what is left and ends the writer.
func (s *stream) close() error { return s.closeUnless(nil) }

// closeUnless is close, but once impatient is closed a writer is left to itself that shows frames to somebody who takes none for a
// second. The file gets all frames in any case.
func (s *stream) closeUnless(impatient <-chan struct{}) error {
	select {
	case <-s.stop:
	default:
		close(s.stop)
	}
	select {
	case <-s.done:
	case <-impatient:
		s.hurry()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.err, s.refuses)
}

// hurry waits for the writer as long as it moves, or writes.
func (s *stream) hurry() {
	for shown := int64(-1); ; shown = s.shown.Load() {
		select {
		case <-s.done:
			return
		case <-time.After(standstill):
		}
		if shown == s.shown.Load() && s.desert() {
			return
		}
	}
}

// desert leaves a writer to itself that is showing frames, and writes those behind them.
func (s *stream) desert() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.showing {
		return false
	}
	s.deserted = true // which the writer looks at before it does anything else
	var err error
	if s.file != nil {
		var n int64
		var size int
		n, size, err = s.file.AppendWhole(s.filling, s.queued)
		s.frames += n
		s.bytes += int64(size)
	}
	s.err = errors.Join(s.err, err, errUnread)
	return true
}

// showBegins and showEnds enclose the time in which the writer can be left to itself; the latter reports whether it was.
func (s *stream) showBegins() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.showing = true
}

func (s *stream) showEnds() (deserted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.showing = false
	return s.deserted
}

// write empties the queue.
func (s *stream) write() {
	s.mu.Lock()
	if s.deserted {
		s.mu.Unlock()
		return
	}
	s.filling, s.writing = s.writing[:0], s.filling
	n := s.queued
	s.queued = 0
	s.written++
	err := s.err
	job := s.next
	s.next = nil
	s.room.Broadcast()
	s.mu.Unlock()
	if err == nil && len(s.writing) > 0 {
		err = s.put(n)
	}
	if err == nil && job != nil {
		err = job()
	}
	if err != nil {
		s.fail(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.through++
	s.room.Broadcast()
}

// put writes and shows the n frames of the writer's half, or as many as there is room for.
func (s *stream) put(n int64) (err error) {
	if err := s.name(); err != nil {
		return err
	}
	first := s.frames
	size := len(s.writing)
	if s.file != nil {
		n, size, err = s.file.AppendWhole(s.writing, n)
		s.writing = s.writing[:size]
	}
	s.wrote(n)
	s.kept.Add(int64(size))
	if s.show != nil {
		s.showBegins()
		s.tell(first)
		if s.shows != nil {
			s.shows()
		}
		if s.showEnds() {
			return errUnread
		}
	}
	return err
}

// wrote counts the writer's half.
func (s *stream) wrote(frames int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frames += frames
	s.bytes += int64(len(s.writing))
}

// fail ends the taking of frames.
func (s *stream) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = fmt.Errorf("the frames cannot be written: %w", err)
	}
	s.kept.Store(math.MaxInt64) // nobody is to wait for it
	s.room.Broadcast()
}

// progress tells how many bytes of frames were taken, and how many are in the file: what is kept survives a kill of this process.
func (s *stream) progress() (taken, kept int64) {
	taken = s.taken.Load()
	return taken, s.kept.Load()
}

// tell shows the frames that were written, of which the first has that index in the run.
func (s *stream) tell(first int64) {
	for i, f := range s.each() {
		s.show(Frame{Frame: f, Index: first + i})
		s.shown.Add(1)
	}
}

// each yields the frames of the writer's half, by their places.
func (s *stream) each() iter.Seq2[int64, tfile.Frame] {
	return func(yield func(int64, tfile.Frame) bool) {
		rest := s.writing
		for i := int64(0); len(rest) > 0; i++ {
			length := output.FrameLength(s.order, rest)
			if f, err := tfile.ParseFrame(rest[:length], s.order, s.registers); err == nil && !yield(i, f) {
				return
			}
			rest = rest[length:]
		}
	}
}

// counts returns how many frames and bytes were written and how many bytes are to be, how many times hits have waited, and how many
// frames were dropped.
func (s *stream) counts() (frames, bytes, queued, waits, lost int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.frames, s.bytes, int64(len(s.filling)), s.waits, s.lost
}
