package packed

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
)

// File is the content of a file, unpacked.
type File struct {
	io.ReaderAt
	Method *Method // by which the file is compressed, nil for none

	size   int64
	mem    []byte   // the content, if it is in memory
	unpack *os.File // where it was unpacked to, or nil
	seek   *seeker  // what unpacks it piece by piece, or nil
}

// Size returns the length of the content in bytes.
func (f *File) Size() int64 { return f.size }

// Bytes returns the content if it is in memory, and nil if it is in a file or unpacked when it is read.
func (f *File) Bytes() []byte { return f.mem }

// Close gives up what the content was unpacked to. It does not close the file that Open was given.
func (f *File) Close() error {
	if f.seek != nil {
		f.seek.close()
	}
	if f.unpack == nil {
		return nil
	}
	return f.unpack.Close()
}

// DamageError says that a compressed file cannot be unpacked to its end.
type DamageError struct {
	Method *Method
	Size   int64 // bytes of content that came out
	Cause  error
}

// Error tells all three.
func (e *DamageError) Error() string {
	problem := "damaged"
	if errors.Is(e.Cause, io.ErrUnexpectedEOF) {
		problem = "cut off"
	}
	return fmt.Sprintf("%s data is %s behind %d bytes of content: %v", e.Method.Name, problem, e.Size, e.Cause)
}

// Unwrap returns the cause.
func (e *DamageError) Unwrap() error { return e.Cause }

// Open opens the content of f, which must stay open and unchanged as long as the File is used. Of a regular file it is all,
// wherever f's offset is; of anything else what is still to be read. While it is unpacked progress is told, about every megabyte of
// content, how many bytes of f have been read; it may be nil.
//
// A large regular file in the seekable format of Zstandard is not unpacked at once but as it is read, in frames, of which some are
// kept in memory. Where it is damaged shows only then, by a *DamageError of ReadAt.
//
// The error is a *DamageError, with a File of what came out, if f is compressed and damaged or cut off; with other errors there
// is no File.
func Open(f *os.File, progress func(done int64)) (*File, error) {
	status, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !status.Mode().IsRegular() {
		return OpenReader(f, progress)
	}
	in, head, err := begin(io.NewSectionReader(f, 0, status.Size()))
	if err != nil {
		return nil, err
	}
	method := recognise(head)
	if method == nil {
		return &File{ReaderAt: f, size: status.Size()}, nil
	}
	if method.frames != nil {
		if t := method.frames(f, status.Size()); t != nil && t.size() >= seekSize {
			seek, err := newSeeker(f, method, t)
			if err != nil {
				return nil, err
			}
			return &File{ReaderAt: seek, Method: method, size: t.size(), seek: seek}, nil
		}
	}
	return unpack(in, head, method, progress)
}

// seekSize is from how many bytes of content on a file is unpacked piece by piece. A smaller one is unpacked before anybody waits
// for it, and damage shows at once. It changes in tests only.
var seekSize int64 = 16 << 20

// OpenReader is Open for what comes from anywhere. It reads all of it.
func OpenReader(r io.Reader, progress func(done int64)) (*File, error) {
	in, head, err := begin(r)
	if err != nil {
		return nil, err
	}
	return unpack(in, head, recognise(head), progress)
}

// begin reads as much as tells the method.
func begin(r io.Reader) (in *input, head []byte, err error) {
	in = &input{r: r}
	head = make([]byte, magicLength)
	n, err := io.ReadFull(in, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, nil, err
	}
	return in, head[:n], nil
}

// Gather has a function write, and makes a File of what it writes. The error is that of the function, or of the disk.
func Gather(write func(io.Writer) error) (*File, error) {
	to := spool{progress: func() {}}
	if err := write(&to); err != nil {
		return nil, errors.Join(err, to.discard())
	}
	return to.file(nil), nil
}

// input reads a file and remembers how far it has come, and what failed, for unpackers do not tell apart a file that cannot
// be read from one that is damaged. They may read ahead on a goroutine of their own.
type input struct {
	r    io.Reader
	done atomic.Int64
	err  error
}

// Read implements io.Reader.
func (in *input) Read(p []byte) (int, error) {
	n, err := in.r.Read(p)
	in.done.Add(int64(n))
	if err != nil && err != io.EOF {
		in.err = err
	}
	return n, err
}

// unpack unpacks a file that begins with head and goes on with in.
func unpack(in *input, head []byte, method *Method, progress func(done int64)) (*File, error) {
	to := spool{progress: func() { progress(in.done.Load()) }}
	if progress == nil {
		to.progress = func() {}
	}
	err := method.copy(&to, io.MultiReader(bytes.NewReader(head), in))
	if failed := errors.Join(in.err, to.err); failed != nil {
		return nil, errors.Join(failed, to.discard())
	}
	f := to.file(method)
	if err != nil {
		return f, &DamageError{method, f.size, ended(err)}
	}
	return f, nil
}

// copy unpacks r to w. When it returns r is not read any more.
func (m *Method) copy(w io.Writer, r io.Reader) error {
	if m != nil {
		unpacker, err := m.unpack(r)
		if err != nil {
			return err
		}
		defer unpacker.Close()
		r = unpacker
	}
	_, err := io.CopyBuffer(w, struct{ io.Reader }{r}, make([]byte, copyBuffer))
	return err
}

// copyBuffer is how much is unpacked at once.
const copyBuffer = 1 << 18

// ended makes the plain end of file of an unpacker that wanted more the unexpected one that it is.
func ended(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
