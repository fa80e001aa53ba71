package input

import (
	"fmt"
	"os"
	"path/filepath"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/progress"
	"tracewell/internal/text"
	"tracewell/tfile/ctf"
)

// OpenCTF opens a folder that holds a trace in the Common Trace Format, and warns of what is odd in
// it. An error may come with a trace, of what can be read; without a trace there is nothing to close.
func OpenCTF(folder string, streams console.Streams) (trace *ctf.Trace, closeTrace func() error, err error) {
	// The name of the metadata is that of CTF, the name of the stream is the one that GDB writes ("datastream").
	metadata, err := os.ReadFile(filepath.Join(folder, ctf.MetadataName))
	if err != nil {
		return nil, nil, err
	}
	stream, err := os.Open(filepath.Join(folder, ctf.StreamName))
	if err != nil {
		return nil, nil, err
	}
	// Metadata are text and read whole; the stream, which has the frames, stays open.
	size := SizeOf(stream)
	bar := progress.Start(streams.Err, progress.Work{Name: "reading " + text.Visible(folder), Total: size})
	trace, err = ctf.Open(metadata, stream, size, ctf.WithProgress(bar.Set))
	bar.Done()
	if err != nil {
		err = fmt.Errorf("%s: %w", folder, err)
	}
	if trace == nil {
		stream.Close()
		return nil, nil, err
	}
	var warnings []string
	for _, finding := range trace.Findings() {
		warnings = append(warnings, finding.String())
	}
	console.Warn(streams.Err, folder, warnings)
	return trace, stream.Close, err
}
