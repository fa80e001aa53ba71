// Package output keeps the trace file of a run while it is made.
package output

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	"tracewell/arch"
	"tracewell/tdesc"
	"tracewell/tfile"
	"tracewell/trace"
)

// File is the trace file that frames are streamed into. Definitions stand ahead of the frames, so that new ones, as of
// tracepoints in a library that was loaded late, take another file, which gets the frames and then the name of the first.
type File struct {
	path     string
	f        *os.File
	appender *tfile.Appender
	start    int64 // of the frames
	header   tfile.Header
	threads  []tfile.Thread // those that have been named
}

// fewThreads is for how many names of threads there is room from the beginning.
const fewThreads = 8

// Create makes a trace file without frames.
func Create(path string, h tfile.Header) (*File, error) { return create(path, h, nil) }

// create makes one that has names of threads already, and room for as many more.
func create(path string, h tfile.Header, threads []tfile.Thread) (*File, error) {
	wanted := h
	if h.Description != "" {
		var lines []string
		for range max(fewThreads, len(threads)) {
			lines = append(lines, tfile.ThreadPlace())
		}
		h.Description = tfile.WithThreads(h.Description, threads) + "\n" + strings.Join(lines, "\n")
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, err
	}
	if status, err := f.Stat(); err != nil || !status.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("%s: frames can be streamed to a regular file only", path), err, f.Close())
	}
	// A pipe or a terminal cannot be written again in place, which the counts in the header need.
	a, err := tfile.NewAppender(f, h)
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(path))
	}
	return &File{path: path, f: f, appender: a, start: a.End() - endMarker, header: wanted, threads: threads}, nil
}

// Name keeps the name of a thread. Where there is no room for more the definitions are written anew.
func (f *File) Name(t tfile.Thread) error {
	if f.header.Description == "" {
		return nil
	}
	f.threads = append(f.threads, t)
	if ok, err := f.appender.Name(t); ok || err != nil {
		return err
	}
	return f.Redefine(f.header)
}

// copyRoom is how much is copied at once.
const copyRoom = 1 << 20

// endMarker is the length of the end marker of a trace file.
const endMarker = 4

// Append adds frames, and returns how many of them are in the file, and their bytes: where there is no room for all, the first.
func (f *File) Append(frames []byte) (kept int64, size int, err error) {
	return f.kept(func() error { return f.appender.Append(frames) })
}

// AppendWhole is Append of n frames by someone who knows that they are whole.
func (f *File) AppendWhole(frames []byte, n int64) (kept int64, size int, err error) {
	return f.kept(func() error { return f.appender.AppendWhole(frames, n) })
}

// kept is what there is more in the file once frames have been added.
func (f *File) kept(add func() error) (kept int64, size int, err error) {
	// Where the disk is full the appender has cut off what was not whole, and the end marker stands behind the last frame.
	before, end := f.appender.Frames(), f.appender.End()
	err = add()
	return f.appender.Frames() - before, int(f.appender.End() - end), err
}

// Update brings the status and the counts up to date.
func (f *File) Update(st trace.Status, tracepoints []trace.Tracepoint) error {
	return f.appender.Update(st, tracepoints)
}

// Redefine replaces the definitions.
func (f *File) Redefine(h tfile.Header) error {
	draft := f.path + ".part"
	// In the same folder, so that the rename replaces the file in one step: a reader sees the old file or the new one.
	next, err := create(draft, h, f.threads)
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
func (f *File) copyFrames(to *File, h tfile.Header) error {
	frames := io.NewSectionReader(f.f, f.start, f.appender.End()-endMarker-f.start)
	buf := make([]byte, 0, copyRoom)
	for {
		n, err := io.ReadFull(frames, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		whole := 0
		for len(buf)-whole >= tfile.FrameHeader && len(buf)-whole >= FrameLength(h.Order, buf[whole:]) {
			whole += FrameLength(h.Order, buf[whole:])
		}
		if _, _, failed := to.Append(buf[:whole]); failed != nil {
			return failed
		}
		buf = append(buf[:0], buf[whole:]...)
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		// A single frame may be longer than the buffer; the buffer doubles until it holds one.
		case whole == 0:
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
	}
}

// Keep makes a trace file of the first of the frames, as many as there is room for, with the name of any file that was there,
// and returns how many those are and their bytes. If they are not all the error says why; the file is not there if there is
// no room for a single one.
func Keep(path string, h tfile.Header, frames iter.Seq[tfile.Frame]) (kept, size int64, err error) {
	draft := path + ".part"
	f, err := create(draft, h, nil)
	if err != nil {
		return 0, 0, err
	}
	batch := make([]byte, 0, copyRoom)
	for frame := range frames {
		// Frames are written in batches, since each write moves the end marker.
		if b := frame.Bytes(); len(batch) > 0 && len(batch)+len(b) > copyRoom {
			if _, _, err = f.Append(batch); err != nil {
				break
			}
			batch = append(batch[:0], b...)
		} else {
			batch = append(batch, b...)
		}
	}
	if err == nil {
		_, _, err = f.Append(batch)
	}
	kept, size = f.appender.Frames(), f.appender.End()-endMarker-f.start
	err = errors.Join(err, f.Close())
	if kept == 0 && err != nil {
		return 0, 0, errors.Join(err, os.Remove(draft))
	}
	return kept, size, errors.Join(err, os.Rename(draft, path))
}

// Close closes it.
func (f *File) Close() error { return f.f.Close() }

// FrameLength is the length of the whole frame that b begins with, which has a header.
func FrameLength(order arch.ByteOrder, b []byte) int {
	// Two bytes of the tracepoint's number, and four of the length of what follows.
	return tfile.FrameHeader + int(order.Uint32(b[2:]))
}

// Arrange brings tracepoints into the order in which a file has them. GDB takes them from the last to the first and numbers them
// anew.
func Arrange(tracepoints []trace.Tracepoint) {
	slices.SortStableFunc(tracepoints, func(a, b trace.Tracepoint) int {
		return cmp.Or(cmp.Compare(b.Number, a.Number), cmp.Compare(b.Addr, a.Addr))
	})
}

// Describe prints a description with comments of tfile.Object behind it.
func Describe(t *tdesc.Target, objects []string) string {
	return strings.Join(append([]string{strings.TrimSuffix(string(t.XML()), "\n")}, objects...), "\n")
}
