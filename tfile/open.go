package tfile

import (
	"bytes"
	"errors"
	"io"

	"tracewell/arch"
)

// File is an open trace file: its definitions, and where its frames are.
type File struct {
	source      source
	ahead       *readAhead
	header      Header
	definitions []Definition
	// definitionsEnd is the offset behind the last of them.
	definitionsEnd int64

	findings    []Finding
	orderFrom   OrderSource
	sizeFrom    SizeSource
	sizeLine    int64 // offset of the R line
	decimalSize int   // what it says read in decimal, 0 if it cannot be

	starts  []int64 // of each frame, and at last the end of the last one
	numbers []int16 // tracepoint number of each frame
	lost    []Lost  // between frames and behind the last, in the order of the file
	end     int64
	marker  int  // bytes of the end marker
	cut     bool // in the definitions
}

// Option changes how Open reads a file.
type Option func(*options)

type options struct {
	start        int64
	order        arch.ByteOrder
	registerSize int
	recovery     bool
	progress     func(done int64)
	window       int
}

// WithStart makes Open read the trace file that begins at an offset of what it is given, as one behind another does. All
// offsets remain those of the whole.
func WithStart(offset int64) Option { return func(o *options) { o.start = offset } }

// WithOrder makes Open take the frames to be in the given byte order.
func WithOrder(order arch.ByteOrder) Option { return func(o *options) { o.order = order } }

// WithRegisterSize makes Open take R blocks to be of n bytes, whatever the R line says.
func WithRegisterSize(n int) Option { return func(o *options) { o.registerSize = n } }

// WithRecovery makes Open search for whole frames behind damage. Without it a frame header that makes no sense is the end,
// for nothing tells where the next frame begins. With it, if the headers do not lead to the end of the file, Open reads all
// blocks of all frames, goes on at the next place from where frames of defined tracepoints, whole in all their blocks, follow
// one another, and accounts for what it passed over in File.Lost. What is found so is most probably, but not surely, what was
// recorded: memory that was collected may hold what looks like frames. GDB has nothing like it.
func WithRecovery() Option { return func(o *options) { o.recovery = true } }

// WithProgress has a function called now and then, about once a megabyte, with the number of bytes that have been indexed.
func WithProgress(progress func(done int64)) Option {
	return func(o *options) { o.progress = progress }
}

// Open indexes the trace file of size bytes that r reads; r must stay valid as long as the File is used. The cost is that of
// reading the definitions and all of the file but for the insides of long frames, and 10 bytes of memory a frame.
//
// The error is a *FormatError when the file is no trace file (ErrNotTraceFile, no File) or is readable up to some point only
// (ErrTruncated or ErrTooLong, with a File of what is whole before it). Errors of r come wrapped, without a File.
func Open(r io.ReaderAt, size int64, opts ...Option) (*File, error) {
	return open(source{r: r, size: size}, opts)
}

// OpenBytes is Open for a file in memory. Frames are views of data, which must not change.
func OpenBytes(data []byte, opts ...Option) (*File, error) {
	return open(source{r: bytes.NewReader(data), mem: data, size: int64(len(data))}, opts)
}

func open(src source, opts []Option) (*File, error) {
	chosen := options{window: defaultWindow}
	for _, opt := range opts {
		opt(&chosen)
	}
	f := &File{source: src, ahead: new(readAhead)}
	w := newWindow(src, chosen)
	end, err := f.readDefinitions(w, chosen.start)
	if err == nil || isPartial(err) {
		if frameErr := f.detect(w, end, chosen); frameErr != nil {
			return nil, frameErr
		}
	}
	f.starts, f.end, f.cut = []int64{end}, end, err != nil
	if err == nil {
		err = f.walk(w, chosen.recovery)
	}
	if err != nil && !isPartial(err) {
		return nil, err
	}
	return f, err
}

// detect finds out what the file does not say outright: how the frames, which begin at start, are to be read.
func (f *File) detect(w *window, start int64, chosen options) error {
	if chosen.registerSize > 0 {
		f.header.RegisterSize, f.sizeFrom = chosen.registerSize, SizeGiven
	} else if f.sizeFrom == SizeUnknown {
		if size := describedSize(f.header.Description); size > 0 {
			f.header.RegisterSize, f.sizeFrom = size, SizeDescription
		}
	}
	if err := f.detectOrder(w, start, chosen.order); err != nil {
		return err
	}
	return f.detectRegisterSize(w, start)
}

// isPartial reports whether err leaves a File of what is whole before it.
func isPartial(err error) bool {
	var format *FormatError
	return errors.As(err, &format) && format.Kind != ErrNotTraceFile
}
