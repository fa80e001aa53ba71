package record

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"tracewell/target"
	"tracewell/tfile"
)

// numbered makes a frame of n bytes that holds a number.
func numbered(number uint64, n int) []byte {
	b := tfile.Builder{Order: binary.LittleEndian}
	b.Begin(nil, 1)
	m := make([]byte, n-tfile.FrameHeader-11)
	binary.LittleEndian.PutUint64(m, number)
	b.AppendMemory(0x1000, m)
	return b.Finish()
}

// TestSlowReader takes frames while the reader does not go on with the first before a hit has to wait. Nothing is lost.
func TestSlowReader(t *testing.T) {
	const frames, size = 5000, 32 << 10
	s := newStream(binary.LittleEndian, 8)
	var next uint64
	waiting := make(chan struct{})
	go func() {
		defer close(waiting)
		for _, _, _, waits, _ := s.counts(); waits == 0; _, _, _, waits, _ = s.counts() {
			time.Sleep(time.Millisecond)
		}
	}()
	s.show = func(f Frame) {
		var b [8]byte
		if f.ReadMemory(0x1000, b[:]); binary.LittleEndian.Uint64(b[:]) != next || uint64(f.Index) != next {
			t.Errorf("frame %d comes as number %d", next, f.Index)
		}
		next++
		<-waiting
	}
	go s.run()
	for i := range uint64(frames) {
		if err := s.Take(numbered(i, size), 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	if n, bytes, queued, waits, _ := s.counts(); n != frames || next != frames || bytes != frames*size || queued != 0 || waits == 0 {
		t.Errorf("%d frames of %d, %d bytes, %d queued, %d waits", n, frames, bytes, queued, waits)
	}
}

var errFull = errors.New("no space left on device")

// TestFullDisk ends the taking of frames with the error, whoever waits.
func TestFullDisk(t *testing.T) {
	s := newStream(binary.LittleEndian, 8)
	go s.run()
	s.later(func() error { return errFull })
	frame := numbered(1, 64<<10)
	var err error
	for i := 0; err == nil && i < 1e6; i++ {
		err = s.Take(frame, 1)
	}
	if !errors.Is(err, errFull) || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("%v, want %v", err, errFull)
	}
	if err := s.close(); !errors.Is(err, errFull) {
		t.Errorf("%v at the end, want %v", err, errFull)
	}
}

// TestTakeAllocates nothing once there is room.
func TestTakeAllocates(t *testing.T) {
	s := newStream(binary.LittleEndian, 8)
	frame := numbered(1, 100)
	n := testing.AllocsPerRun(100, func() {
		for range 10 {
			if err := s.Take(frame, 1); err != nil {
				t.Fatal(err)
			}
		}
		s.write()
	})
	if n > 0 {
		t.Errorf("%v allocations for 10 frames", n)
	}
}

// TestNoRoom: where nobody takes frames, a hit waits for a second, or as long as it takes, or ends the run at once, or makes no
// frame, which is counted. What was there before is written in any case.
func TestNoRoom(t *testing.T) {
	for _, test := range []struct {
		when  target.WhenFull
		end   error
		lost  int64
		least time.Duration
	}{
		{target.WaitWhileMoving, errStandstill, 0, standstill}, {target.AlwaysWait, nil, 0, 3 * standstill / 2},
		{target.StopRun, errNoRoom, 0, 0}, {target.DropFrame, nil, 6, 0},
	} {
		s := newStream(binary.LittleEndian, 8)
		s.whenFull = test.when
		frame := numbered(1, 64<<10)
		var frames []byte
		for range 3 {
			frames = append(frames, frame...)
		}
		for len(s.filling)+len(frames) <= queueLimit {
			if err := s.Take(frames, 3); err != nil {
				t.Fatal(err)
			}
		}
		before := int64(len(s.filling))
		began := time.Now()
		if test.when == target.AlwaysWait {
			time.AfterFunc(test.least, func() { go s.run() })
		}
		for range 2 {
			if err := s.Take(frames, 3); !errors.Is(err, test.end) {
				t.Errorf("%d: %v, want %v", test.when, err, test.end)
			}
		}
		took := time.Since(began)
		if test.when != target.AlwaysWait {
			go s.run()
		} else {
			before += 2 * int64(len(frames))
		}
		if err := s.close(); !errors.Is(err, test.end) {
			t.Errorf("%d: %v at the end, want %v", test.when, err, test.end)
		}
		if _, bytes, _, _, lost := s.counts(); bytes != before || lost != test.lost || took < test.least {
			t.Errorf("%d: %d bytes, want %d; %d frames lost, want %d; after %s", test.when, bytes, before, lost, test.lost, took)
		}
	}
}

// TestSync: a hit waits until its frame has been shown, but not for ever if it may not, nor once the run is to end.
func TestSync(t *testing.T) {
	shown := make(chan struct{})
	fresh := func(whenFull target.WhenFull) *stream {
		s := newStream(binary.LittleEndian, 8)
		s.prompt, s.sync, s.whenFull = true, true, whenFull
		s.show = func(Frame) { <-shown }
		go s.run()
		return s
	}
	s := fresh(target.AlwaysWait)
	taken := make(chan error)
	take := func() { taken <- s.Take(numbered(1, 100), 1) }
	go take()
	select {
	case err := <-taken:
		t.Errorf("a hit did not wait: %v", err)
	case shown <- struct{}{}:
		if err := <-taken; err != nil {
			t.Error(err)
		}
	}
	go take()
	for s.taken.Load() < 200 {
		time.Sleep(time.Millisecond)
	}
	s.part()
	if err := <-taken; err != nil {
		t.Errorf("at the end of the run: %v", err)
	}
	if err := fresh(target.WaitWhileMoving).Take(numbered(1, 100), 1); !errors.Is(err, errStandstill) {
		t.Errorf("nobody looks: %v, want %v", err, errStandstill)
	}
	close(shown)
	if err := s.close(); err != nil {
		t.Error(err)
	}
}
