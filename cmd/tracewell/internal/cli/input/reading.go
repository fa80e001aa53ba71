package input

import (
	"encoding/binary"
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/tfile"
)

// Reading are the flags for trace files that do not say how they are to be read, or say it wrongly. A file has no byte order of
// its own; tfile infers it from the description and the lengths of frames.
type Reading struct {
	Endian       string `aliases:"byte-order" enum:"auto,little,big" default:"auto" help:"The byte order of the frames, if it is not detected correctly: little or big."`
	RegisterSize int    `placeholder:"BYTES" help:"The length of a register block, in place of the one in the file."`
	Recover      bool   `help:"Skip damaged parts, and continue with the next intact frame."`
}

// OpenTrace is the function of that name with these options. It fails before it opens anything if an option is wrong.
func (o *Reading) OpenTrace(path, exec string, streams console.Streams) (*TraceFile, error) {
	opts, err := o.Options()
	if err != nil {
		return nil, err
	}
	return OpenTrace(path, exec, streams, opts...)
}

// OpenTraceOf is OpenTrace of a file that is open already, which it closes if it is no trace file. Without one it opens the path.
func (o *Reading) OpenTraceOf(file *PackedFile, path, exec string, streams console.Streams) (*TraceFile, error) {
	if file == nil {
		return o.OpenTrace(path, exec, streams)
	}
	opts, err := o.Options()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return openTrace(exec, streams, func() (*TraceFile, tfile.Content, error) { return ContentOf(file, streams, opts) })
}

// Options are those of tfile.Open. kong has checked the words of --endian (enum); the length of a register block can only be
// negative by mistake, and 0 stands for that of the file.
func (o *Reading) Options() ([]tfile.Option, error) {
	var opts []tfile.Option
	switch o.Endian {
	case "little":
		opts = append(opts, tfile.WithOrder(binary.LittleEndian))
	case "big":
		opts = append(opts, tfile.WithOrder(binary.BigEndian))
	}
	switch {
	case o.RegisterSize < 0:
		return nil, fmt.Errorf("--register-size: %d bytes", o.RegisterSize)
	case o.RegisterSize > 0:
		opts = append(opts, tfile.WithRegisterSize(o.RegisterSize))
	}
	if o.Recover {
		opts = append(opts, tfile.WithRecovery())
	}
	return opts, nil
}

// Order is the byte order of --endian, nil for auto. Execution traces have it from here, too: their lines have numbers, but the
// bytes of memory have an order in the target that replay simulates.
func (o *Reading) Order() arch.ByteOrder {
	switch o.Endian {
	case "little":
		return binary.LittleEndian
	case "big":
		return binary.BigEndian
	}
	return nil
}
