package bench

import (
	"bytes"
	"io"
	"testing"
	"time"

	"tracewell/tfile"
	"tracewell/tfile/ctf"
	"tracewell/tfile/tracetext"
)

// converted is a tenth of a recording in other formats.
type converted struct {
	text             []byte
	metadata, stream []byte // of the Common Trace Format
}

// convert makes the other formats, for ways that read them.
func (r *recording) convert(b *testing.B) {
	b.Helper()
	var text, metadata, stream bytes.Buffer
	check(b, tracetext.WriteContent(&text, tenth{r.file}))
	check(b, ctf.Write(&metadata, &stream, tenth{r.file}))
	r.converted = converted{text.Bytes(), metadata.Bytes(), stream.Bytes()}
}

// ofTenth measures what takes a tenth of the frames, and tells what all of them would take. It writes to nowhere.
func ofTenth(do func(r *recording) error) func(*testing.B, *recording) time.Duration {
	return func(b *testing.B, r *recording) time.Duration {
		b.Helper()
		start := time.Now()
		err := do(r)
		took := time.Since(start)
		check(b, err)
		return 10 * took
	}
}

func writeText(r *recording) error { return tracetext.WriteContent(io.Discard, tenth{r.file}) }

func readText(r *recording) error {
	return tracetext.Read(bytes.NewReader(r.converted.text), io.Discard)
}

func writeCTF(r *recording) error { return ctf.Write(io.Discard, io.Discard, tenth{r.file}) }

func readCTF(r *recording) error {
	stream := r.converted.stream
	t, err := ctf.Open(r.converted.metadata, bytes.NewReader(stream), int64(len(stream)))
	if err != nil {
		return err
	}
	return tfile.Write(io.Discard, t)
}
