package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"tracewell/internal/progress"
	"tracewell/internal/text"
	"tracewell/internal/wholefile"
	"tracewell/tfile/ctf"
	"tracewell/tfile/edit"
)

// readCTF opens a folder that holds a trace in the Common Trace Format.
func readCTF(folder string, streams Streams) (*source, error) {
	metadata, err := os.ReadFile(filepath.Join(folder, ctf.MetadataName))
	if err != nil {
		return nil, err
	}
	stream, err := os.Open(filepath.Join(folder, ctf.StreamName))
	if err != nil {
		return nil, err
	}
	size := sizeOf(stream)
	bar := progress.Start(streams.Err, progress.Work{Name: "reading " + text.Visible(folder), Total: size})
	trace, err := ctf.Open(metadata, stream, size, ctf.WithProgress(bar.Set))
	bar.Done()
	if err != nil {
		err = fmt.Errorf("%s: %w", folder, err)
	}
	if trace == nil {
		stream.Close()
		return nil, err
	}
	var warnings []string
	for _, finding := range trace.Findings() {
		warnings = append(warnings, finding.String())
	}
	warn(streams.Err, folder, warnings)
	s := &source{name: folder, close: stream.Close}
	s.parts = []edit.Part{{Name: folder, Content: trace}}
	return s, err
}

// writeCTF writes a folder that holds a trace in the Common Trace Format. One that exists must be empty or hold another such
// trace, which is replaced; one that is new is gone again if anything fails.
func writeCTF(folder string, wrap func(io.Writer) io.Writer, c *conversion) error {
	created, err := makeFolder(folder)
	if err != nil {
		return err
	}
	err = wholefile.Write(filepath.Join(folder, ctf.MetadataName), func(metadata io.Writer) error {
		return wholefile.Write(filepath.Join(folder, ctf.StreamName), func(stream io.Writer) error {
			return ctf.Write(wrap(metadata), wrap(stream), c.content)
		})
	})
	if err != nil && created {
		err = errors.Join(err, os.Remove(folder))
	}
	return err
}

// makeFolder makes a folder, or finds that there is one that may be used.
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
