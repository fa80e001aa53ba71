package packed

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"

	"tracewell/internal/routine"
)

const (
	// cachedContent is how many bytes of unpacked frames are kept beside those in use: a question comes back to where it was.
	cachedContent = 16 << 20
	// mostAhead is how many frames are unpacked ahead of one who reads them in order, at most.
	mostAhead = 4
)

// seeker is the content of a Zstandard file whose frames have a table. Frames are unpacked when they are read, by as many
// goroutines as read, and some are kept. Who reads one frame after the other has the next ones unpacked meanwhile.
type seeker struct {
	file    io.ReaderAt
	method  *Method
	table   table
	decoder *zstd.Decoder
	ahead   int
	work    routine.Group // frames that are unpacked ahead
	packed  sync.Pool     // of *[]byte: buffers for frames as they are in the file

	mu     sync.Mutex
	frames map[int]*unpacked
	kept   int64 // bytes of content of frames
	clock  int64
	latest int      // the frame asked for last
	idle   [][]byte // of frames given up
	closed bool
}

// unpacked is a frame that is being unpacked, or has been.
type unpacked struct {
	content []byte
	err     error
	done    chan struct{} // closed when the two are there
	users   int
	used    int64 // when, by the clock
}

// newSeeker returns the content of a file with a table.
func newSeeker(file io.ReaderAt, method *Method, t table) (*seeker, error) {
	processors := runtime.GOMAXPROCS(0)
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(processors), zstd.WithDecoderMaxWindow(maxWindow),
		zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return nil, err
	}
	return &seeker{file: file, method: method, table: t, decoder: decoder, ahead: min(processors, mostAhead),
		frames: make(map[int]*unpacked), latest: -1}, nil
}

// ReadAt implements io.ReaderAt. The error is a *DamageError where a frame is not what the table says.
func (s *seeker) ReadAt(p []byte, offset int64) (n int, err error) {
	if offset < 0 {
		return 0, errors.New("a negative offset")
	}
	for len(p) > 0 {
		if offset >= s.table.size() {
			return n, io.EOF
		}
		i := s.table.find(offset)
		u := s.take(i)
		<-u.done
		taken := 0
		if u.err == nil {
			taken = copy(p, u.content[offset-s.table[i].content:])
		}
		if s.give(u); u.err != nil {
			return n, u.err
		}
		n, offset, p = n+taken, offset+int64(taken), p[taken:]
	}
	return n, nil
}

// take returns a frame for use, which this goroutine unpacks unless it is there or somebody does already.
func (s *seeker) take(i int) *unpacked {
	s.mu.Lock()
	u, there := s.frames[i]
	if !there {
		u = s.begin(i)
	}
	u.users++
	s.clock++
	u.used = s.clock
	inOrder := i == s.latest+1
	s.latest = i
	if inOrder {
		s.readAhead(i)
	}
	s.mu.Unlock()
	if !there {
		s.unpack(i, u)
	}
	return u
}

// begin makes room for a frame. The lock is held.
func (s *seeker) begin(i int) *unpacked {
	size := s.table[i+1].content - s.table[i].content
	s.kept += size
	for s.kept > cachedContent && s.drop() {
	}
	u := &unpacked{done: make(chan struct{})}
	for at, b := range s.idle {
		if int64(cap(b)) >= size {
			u.content = b
			s.idle[at] = s.idle[len(s.idle)-1]
			s.idle = s.idle[:len(s.idle)-1]
			break
		}
	}
	s.frames[i] = u
	return u
}

// drop gives up the frame that has not been used for longest, and reports whether there is one that nobody uses. The lock is held.
func (s *seeker) drop() bool {
	oldest := -1
	for i, u := range s.frames {
		if u.users == 0 && (oldest < 0 || u.used < s.frames[oldest].used) {
			oldest = i
		}
	}
	if oldest < 0 {
		return false
	}
	if len(s.idle) < 2*mostAhead {
		s.idle = append(s.idle, s.frames[oldest].content)
	}
	delete(s.frames, oldest)
	s.kept -= s.table[oldest+1].content - s.table[oldest].content
	return true
}

// readAhead has the frames behind one unpacked that are not there. The lock is held.
func (s *seeker) readAhead(i int) {
	for next := i + 1; next <= i+s.ahead && next < s.table.frames() && !s.closed; next++ {
		if s.frames[next] != nil {
			continue
		}
		u := s.begin(next)
		u.users++
		s.clock++
		u.used = s.clock
		s.work.Go(func() {
			s.unpack(next, u)
			s.give(u)
		})
	}
}

// give ends a use of a frame.
func (s *seeker) give(u *unpacked) {
	s.mu.Lock()
	u.users--
	s.mu.Unlock()
}

// unpack unpacks a frame.
func (s *seeker) unpack(i int, u *unpacked) {
	defer close(u.done)
	from, to := s.table[i], s.table[i+1]
	buffer, _ := s.packed.Get().(*[]byte)
	if buffer == nil {
		buffer = new([]byte)
	}
	defer s.packed.Put(buffer)
	size := int(to.packed - from.packed)
	if cap(*buffer) < size {
		*buffer = make([]byte, size)
	}
	if n, err := s.file.ReadAt((*buffer)[:size], from.packed); n < size {
		if u.err = err; err == io.EOF { // the file is shorter than it was
			u.err = &DamageError{s.method, from.content, io.ErrUnexpectedEOF}
		}
		return
	}
	length := int(to.content - from.content)
	if cap(u.content) < length {
		u.content = make([]byte, 0, length)
	}
	// The capacity is the limit of what a frame may be unpacked to, whatever it says itself.
	content, err := s.decoder.DecodeAll((*buffer)[:size], u.content[:0:length])
	if err == nil && len(content) != length {
		err = fmt.Errorf("a frame has %d bytes of content, and %d by the table", len(content), length)
	}
	if err != nil {
		u.err = &DamageError{s.method, from.content, ended(err)}
		return
	}
	u.content = content
}

// close ends what is unpacked ahead.
func (s *seeker) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.work.Wait()
	s.decoder.Close()
}
