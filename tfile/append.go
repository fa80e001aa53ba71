package tfile

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"tracewell/arch"
	"tracewell/trace"
)

// Appender writes a trace file that is whole at any time. Whoever kills the process that writes it, at whatever moment, leaves
// a file that opens without an error and holds all frames of all calls of Append that have returned.
//
// An end marker is two zero bytes that readers look at and two more. Append writes what belongs behind the first two: the rest
// of the frames over the rest of the marker, and a new marker behind them. The file still ends at the old marker. Then it
// writes the two bytes, the number of the first frame, and with them all its frames are there. One write of all would do if
// writes were not torn; a large one is, and a reader that comes meanwhile sees it. (Two bytes on two pages can be torn as well:
// then the number of a frame that was never acknowledged is wrong, if it is above 255.)
//
// What is known only when a run has ended has places of fixed width in the definitions: the status line, near enough to the
// beginning of the file to lie on one page and be written at once, and a tp V line for each tracepoint. Numbers there have
// leading zeros, which GDB reads. The number of frames is kept up to date, since GDB warns of a file that says it has none.
//
// A process that is killed loses nothing that it wrote; a machine that stops does, unless SyncEach is used. For a file that is
// written in one go, and is to be there whole or not at all, use a Writer on a file that takes its name when it is complete.
type Appender struct {
	w      io.WriterAt
	order  arch.ByteOrder
	size   int // of a register block
	check  Checker
	keep   writing
	end    int64 // offset of the end marker
	buf    []byte
	err    error
	status trace.Status
	line   statusPlace
	counts map[trace.Key]place
	told   map[trace.Key]told // by the last Update of each
	places []int64            // where a Thread can be put
}

// told is the counts of a tracepoint that its line has.
type told struct{ hits, usage uint64 }

// place is a definition line that is rewritten where it is.
type place struct {
	offset int64
	length int // without the LF
}

// SyncEach has Append call a function, as the Sync of an os.File, that returns when all that was written is on the disk: before
// the frames count and when they do.
func SyncEach(sync func() error) WriterOption { return func(o *writing) { o.sync = sync } }

// NewAppender begins a trace file at the start of w, which must be empty, and returns when it is there without frames. The
// status says why a run has ended whose writer was killed, so its reason should be trace.ReasonUnknown, which nil means. Errors
// are those of NewWriter and of w.
func NewAppender(w io.WriterAt, h Header, opts ...WriterOption) (*Appender, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	a := &Appender{w: w, order: h.Order, size: h.RegisterSize, counts: make(map[trace.Key]place), told: make(map[trace.Key]told)}
	a.check = NewChecker(a.order, a.size)
	for _, opt := range opts {
		opt(&a.keep)
	}
	a.status = trace.Status{Reason: trace.ReasonUnknown, Free: -1, Size: -1}
	if h.Status != nil {
		a.status = *h.Status
	}
	a.status.Frames, a.status.Created = 0, 0
	text, err := a.definitions(&h)
	if err != nil {
		return nil, err
	}
	a.end = int64(len(text))
	a.places = threadPlaces(text)
	if _, err := w.WriteAt(append([]byte(text), endMarker[:]...), 0); err != nil {
		return nil, err
	}
	return a, a.sync()
}

// OpenAppender goes on with the trace file f, which may be cut or have a torn frame at its end: the next frame comes behind the
// last whole one. w writes to the same file, and may have more behind the end than belongs there, which cutting it to End
// removes. The status and the counts of a file that no Appender made are kept up only as far as there is room in their lines.
func OpenAppender(f *File, w io.WriterAt, opts ...WriterOption) (*Appender, error) {
	switch {
	case f.cut:
		return nil, errors.New("trace file whose definitions are not whole: no frames can be added")
	case len(f.lost) > 0:
		return nil, errors.New("trace file with frames behind damage: no frames can be added")
	case f.joined():
		return nil, errors.New("trace file with another one behind it: no frames can be added")
	case f.orderFrom == OrderAssumed:
		return nil, errors.New("trace file whose byte order nothing tells: no frames can be added unless it is given")
	case f.header.RegisterSize <= 0:
		return nil, errors.New("trace file without a register size: no frames can be added")
	}
	a := &Appender{w: w, order: f.header.Order, size: f.header.RegisterSize, end: f.starts[len(f.numbers)], counts: countsOf(f),
		told: make(map[trace.Key]told)}
	a.check = NewChecker(a.order, a.size)
	for _, opt := range opts {
		opt(&a.keep)
	}
	if _, err := w.WriteAt(endMarker[:], a.end); err != nil {
		return nil, err
	}
	if f.header.Status != nil {
		a.status = *f.header.Status
		a.line.place = statusOf(f)
		before := max(a.status.Frames, 0)
		a.status.Frames = int64(f.NumFrames())
		a.status.Created = max(a.status.Created+a.status.Frames-before, a.status.Frames)
		if err := a.writeStatus(); err != nil && !errors.As(err, new(*LineError)) {
			return nil, err
		}
	}
	return a, a.sync()
}

// End returns where the file ends, the end marker included.
func (a *Appender) End() int64 { return a.end + markerLen }

// Frames returns how many frames the file has, those it had before included.
func (a *Appender) Frames() int64 { return a.status.Frames }

// largeBatch is the size from which on frames are written from where they are: copying them costs more than one more write.
const largeBatch = 32 << 10

// Append adds one or more whole frames, which lie one behind the other as Builder makes them, and returns when they are in the
// file. It allocates nothing once its buffer has grown. If there is one that WriteFrame refuses none is in the file. If there is no
// room for all, the first are that fit, as Frames and End tell. Further calls may succeed in either case. An error of w in the
// last, short writes is that of all further calls: nothing tells whether the frames are there.
func (a *Appender) Append(frames []byte) error {
	n, err := a.count(frames)
	if err != nil {
		return err
	}
	return a.AppendWhole(frames, n)
}

// AppendWhole is Append of n frames by someone who knows that WriteFrame would refuse none of them. Nobody looks at them here.
func (a *Appender) AppendWhole(frames []byte, n int64) error {
	if a.err != nil || n == 0 {
		return a.err
	}
	if err := a.writeBehind(frames); err != nil {
		return a.halve(frames, n, err)
	}
	return a.acknowledge(frames, n)
}

// acknowledge makes n frames count that were written, with an end marker behind them.
func (a *Appender) acknowledge(frames []byte, n int64) error {
	if err := a.sync(); err != nil {
		return err
	}
	if _, a.err = a.w.WriteAt(frames[:2], a.end); a.err != nil {
		return a.err
	}
	a.end += int64(len(frames))
	a.status.Frames += n
	a.status.Created += n
	if a.err = a.writeCounts(); a.err == nil {
		a.err = a.sync()
	}
	return a.err
}

// halve puts the file right after a write of n frames that failed, and tries with one half of them and then the other, so that
// there come to be as many as there is room for. (What an os.File says of a short write does not tell.) What is left over behind
// the end marker is cut off where w can be cut, as an os.File can.
func (a *Appender) halve(frames []byte, n int64, why error) error {
	if _, err := a.w.WriteAt(endMarker[:], a.end); err != nil {
		return errors.Join(why, err)
	}
	if w, ok := a.w.(interface{ Truncate(size int64) error }); ok {
		if err := w.Truncate(a.End()); err != nil {
			return errors.Join(why, err)
		}
	}
	if n == 1 {
		return why
	}
	half := 0
	for range n / 2 {
		half += FrameHeader + int(a.order.Uint32(frames[half+2:]))
	}
	if err := a.AppendWhole(frames[:half], n/2); err != nil {
		return err
	}
	return a.AppendWhole(frames[half:], n-n/2)
}

// count returns how many frames there are, if they may all be written.
func (a *Appender) count(frames []byte) (n int64, err error) {
	for ; len(frames) > 0; n++ {
		length := len(frames)
		if length >= FrameHeader {
			length = int(min(int64(length), FrameHeader+int64(a.check.uint32(frames[2:]))))
		}
		if err := a.refuse(frames[:length]); err != nil {
			return 0, fmt.Errorf("appending frame %d: %w", n, err)
		}
		frames = frames[length:]
	}
	return n, nil
}

// refuse says why a frame is not to be written.
func (a *Appender) refuse(frame []byte) error {
	if n, kinds, err := a.check.Check(frame); err == nil && n > 0 && !kinds.Has(BlockStatic) {
		return nil
	}
	f, err := ParseFrame(frame, a.order, a.size)
	if err != nil {
		return err
	}
	return a.keep.check(f)
}

// writeBehind writes the frames and an end marker, except for the first two bytes.
func (a *Appender) writeBehind(frames []byte) error {
	if len(frames) > largeBatch {
		if _, err := a.w.WriteAt(endMarker[:], a.end+int64(len(frames))); err != nil {
			return err
		}
		_, err := a.w.WriteAt(frames[2:], a.end+2)
		return err
	}
	a.buf = append(append(a.buf[:0], frames[2:]...), endMarker[:]...)
	_, err := a.w.WriteAt(a.buf, a.end+2)
	return err
}

func (a *Appender) sync() error {
	if a.keep.sync == nil {
		return nil
	}
	return a.keep.sync()
}

// Update rewrites the status, of which the number of frames is the Appender's own, and the hits and the usage of tracepoints. It
// may be called at any time and should be when the run has ended. A description that is too long for its place is cut; what
// has no place, or no room in it, is left as it was and told by a *LineError.
func (a *Appender) Update(st trace.Status, tracepoints []trace.Tracepoint) error {
	if a.err != nil {
		return a.err
	}
	st.Frames, st.Created = a.status.Frames, max(st.Created, a.status.Frames)
	a.status = st
	err := a.writeStatus()
	for i := range tracepoints {
		err = errors.Join(err, a.writeHits(&tracepoints[i]))
	}
	return errors.Join(err, a.sync())
}

// Name puts the name of a thread into the definitions, false if the target description has no ThreadPlace left.
func (a *Appender) Name(t Thread) (ok bool, err error) {
	if a.err != nil || len(a.places) == 0 {
		return false, a.err
	}
	at := a.places[0]
	a.places = a.places[1:]
	_, err = a.w.WriteAt([]byte(t.Comment()), at)
	return err == nil, err
}

// threadPlaces finds the lines of definitions that are a ThreadPlace.
func threadPlaces(text string) (places []int64) {
	line := "tdesc " + ThreadPlace() + "\n"
	for at := strings.Index(text, line); at >= 0; {
		places = append(places, int64(at+len("tdesc ")))
		next := strings.Index(text[at+len(line):], line)
		if next < 0 {
			break
		}
		at += len(line) + next
	}
	return places
}

// writeHits rewrites the line of a tracepoint, unless it is the same: of tens of thousands few are hit between two calls of Update.
func (a *Appender) writeHits(t *trace.Tracepoint) error {
	now := told{t.Hits, t.Usage}
	if before, ok := a.told[t.Key()]; ok && before == now {
		return nil
	}
	p := a.counts[t.Key()]
	line, ok := countsLine(t, p.length)
	if !ok {
		return &LineError{line, fmt.Sprintf("the file has a place of %d bytes for it", p.length)}
	}
	_, err := a.w.WriteAt([]byte(line), p.offset)
	if err == nil {
		a.told[t.Key()] = now
	}
	return err
}

func (a *Appender) writeStatus() error {
	line, ok := a.line.compose(a.status)
	if !ok {
		return &LineError{line, fmt.Sprintf("the file has a place of %d bytes for it", a.line.length)}
	}
	_, err := a.w.WriteAt([]byte(line), a.line.offset)
	return err
}
