package convert

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/cmd/tracewell/internal/cli/printing"
	"tracewell/internal/wholefile"
	"tracewell/tfile/ctf"
	"tracewell/tfile/edit"
	"tracewell/view"
	typed "tracewell/view/export/ctf"
)

// typedLayout is the layout of --ctf that is not GDB's. It is not a format of its own: both are folders of the same two files, of
// which the metadata say what is in them.
const typedLayout = "typed"

// readCTF opens a folder that holds a trace in the Common Trace Format, as writeCTF or GDB's "tsave -ctf" has written it. It is
// one part, and has no bytes that could be kept.
func readCTF(folder string, streams console.Streams) (*source, error) {
	trace, closeTrace, err := input.OpenCTF(folder, streams)
	if trace == nil {
		return nil, err
	}
	return &source{name: folder, close: closeTrace, parts: []edit.Part{{Name: folder, Content: trace}}}, err
}

// writeCTF writes a folder that holds a trace in the Common Trace Format. One that exists must be empty or hold another such
// trace, which is replaced; one that is new is gone again if anything fails.
//
// The stream takes its name first and the metadata last: a folder without metadata is not taken for a trace, while one without
// a stream would be.
func writeCTF(folder string, wrap func(io.Writer) io.Writer, c *conversion) error {
	created, err := makeFolder(folder)
	if err != nil {
		return err
	}
	names := []string{filepath.Join(folder, ctf.StreamName), filepath.Join(folder, ctf.MetadataName)}
	err = wholefile.WriteTogether(names, func(files []io.Writer) error {
		if c.command.CTF == typedLayout {
			return writeTyped(wrap(files[1]), wrap(files[0]), c)
		}
		return ctf.Write(wrap(files[1]), wrap(files[0]), c.content)
	})
	if err != nil && created {
		err = errors.Join(err, os.Remove(folder))
	}
	return err
}

// writeTyped writes frames as events with types of their own, for readers other than GDB. It goes the way of the formats that are
// one file: the stream is that file, and the metadata are complete once all frames have been seen.
func writeTyped(metadata, stream io.Writer, c *conversion) error {
	begin := func(w io.Writer, v *view.View, _ *Command) (printing.FrameWriter, error) {
		return typed.NewWriter(metadata, w, v)
	}
	return writeFrames(begin)(stream, c)
}

// makeFolder makes a folder, or finds that there is one that may be used. A folder with any other file is refused: babeltrace
// takes every other file of a trace's folder for a stream, and a mistyped path must not litter somebody's home. Parents are not
// made.
func makeFolder(path string) (created bool, err error) {
	if !isFolder(path) {
		return true, os.Mkdir(path, 0o777)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return false, err
	}
	for _, entry := range entries {
		if entry.Name() != ctf.MetadataName && entry.Name() != ctf.StreamName {
			return false, fmt.Errorf("%s is a folder that holds %s: a CTF trace wants one of its own", path, entry.Name())
		}
	}
	return false, nil
}
