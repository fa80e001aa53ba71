package record

import (
	"errors"
	"fmt"
	"io"
	"os"

	"tracewell/tfile"
	"tracewell/trace"
)

// file is the trace file that frames are streamed into. Definitions stand ahead of the frames, so that new ones, as of
// tracepoints in a library that was loaded late, take another file, which gets the frames and then the name of the first.
type file struct {
	path     string
	f        *os.File
	appender *tfile.Appender
	start    int64 // of the frames
}

// createFile makes a trace file without frames.
func createFile(path string, h tfile.Header) (*file, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, err
	}
	if status, err := f.Stat(); err != nil || !status.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("%s: frames can be streamed to a regular file only", path), err, f.Close())
	}
	a, err := tfile.NewAppender(f, h)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &file{path: path, f: f, appender: a, start: a.End() - endMarker}, nil
}

// endMarker is the length of the end marker of a trace file.
const endMarker = 4

func (f *file) append(frames []byte) error { return f.appender.Append(frames) }

// update brings the status and the counts up to date.
func (f *file) update(st trace.Status, tracepoints []trace.Tracepoint) error {
	return f.appender.Update(st, tracepoints)
}

// redefine replaces the definitions.
func (f *file) redefine(h tfile.Header) error {
	draft := f.path + ".part"
	next, err := createFile(draft, h)
	if err != nil {
		return err
	}
	if err := f.copyFrames(next, h); err != nil {
		return errors.Join(err, next.f.Close(), os.Remove(draft))
	}
	if err := os.Rename(draft, f.path); err != nil {
		return errors.Join(err, next.f.Close(), os.Remove(draft))
	}
	err = f.f.Close()
	next.path = f.path
	*f = *next
	return err
}

// copyFrames appends all frames to another file.
func (f *file) copyFrames(to *file, h tfile.Header) error {
	frames := io.NewSectionReader(f.f, f.start, f.appender.End()-endMarker-f.start)
	buf := make([]byte, 0, queueRoom)
	for {
		n, err := io.ReadFull(frames, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		whole := 0
		for len(buf)-whole >= tfile.FrameHeader && len(buf)-whole >= frameLength(h.Order, buf[whole:]) {
			whole += frameLength(h.Order, buf[whole:])
		}
		if failed := to.append(buf[:whole]); failed != nil {
			return failed
		}
		buf = append(buf[:0], buf[whole:]...)
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		case whole == 0:
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
	}
}

func (f *file) close() error { return f.f.Close() }
