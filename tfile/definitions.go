package tfile

import (
	"bytes"
	"fmt"
	"strings"

	"tracewell/internal/text"
)

// The bytes of definitions are bounded, so that a file of another kind that begins like a trace file is not read whole in search
// of an empty line. Descriptions of large machines are below 100 kB, but a tracepoint in a function that was inlined thousands of
// times has as many locations, each with its actions. Therefore definitions may be as long as maxDefinitions if those that are
// longer than usualDefinitions are text: frames have zero bytes.
const (
	usualDefinitions = 16 << 20
	maxDefinitions   = 128 << 20
)

// readDefinitions reads the magic at start and the definition lines, and returns the offset behind the empty line that ends
// them or, with an error, behind the last whole line.
func (f *File) readDefinitions(w *window, start int64) (int64, error) {
	head, err := w.at(start, len(Magic))
	if err != nil {
		return 0, err
	}
	if head = head[:min(len(head), len(Magic))]; string(head) != Magic {
		return 0, &FormatError{ErrNotTraceFile, start, text.Quote(string(head)), fmt.Sprintf("%q", Magic)}
	}
	text, endless, err := definitionsAt(w, start+int64(len(Magic)))
	if err != nil {
		return 0, err
	}
	r := headerReader{definitions: make([]Definition, 0, strings.Count(text, "\n"))}
	offset := start + int64(len(Magic))
	for {
		line, rest, whole := strings.Cut(text, "\n")
		if !whole {
			break
		}
		r.line(offset, line)
		offset += int64(len(line)) + 1
		text = rest
	}
	f.takeHeader(&r, offset)
	if endless != nil {
		return offset, definitionsError(endless, offset, offset-start+int64(len(text)), text)
	}
	return offset + 1, nil
}

// definitionsAt returns the definition lines from offset on, each with its LF. If no empty line ends them it says why, and an
// unfinished line may come last.
func definitionsAt(w *window, offset int64) (text string, endless, err error) {
	before := offset - 1 // the LF of the magic, for the empty line may be the first
	for n := 4096; ; n *= 4 {
		b, err := w.at(before, min(n, maxDefinitions))
		if err != nil {
			return "", nil, err
		}
		b = b[:min(len(b), maxDefinitions)]
		end := bytes.Index(b, []byte("\n\n"))
		lines := b[:max(end, 0)]
		if end < 0 {
			lines = b
		}
		switch {
		case len(lines) >= usualDefinitions && bytes.IndexByte(lines, 0) >= 0:
			return string(b[1:usualDefinitions]), ErrTooLong, nil
		case end >= 0:
			return string(b[1 : end+1]), nil, nil
		case len(b) == maxDefinitions:
			return string(b[1:]), ErrTooLong, nil
		case len(b) < n:
			return string(b[1:]), ErrTruncated, nil
		}
	}
}

// definitionsError says what is at offset, behind the last whole line of so many bytes, in the place of an empty one.
func definitionsError(kind error, offset, read int64, unfinished string) error {
	e := &FormatError{kind, offset, "the end of the file", "an empty line after the definitions"}
	switch {
	case kind == ErrTooLong:
		e.Found = fmt.Sprintf("none in %d bytes", read)
	case unfinished != "":
		e.Found = "an unfinished line " + text.Quote(unfinished)
	}
	return e
}

func (f *File) takeHeader(r *headerReader, end int64) {
	r.finish(end)
	f.definitionsEnd = end
	f.header, f.definitions, f.findings = r.header, r.definitions, r.findings
	f.sizeFrom, f.sizeLine, f.decimalSize = SizeHexadecimal, r.sizeLine, r.decimalSize
	if r.header.RegisterSize == 0 {
		f.sizeFrom = SizeUnknown
	}
}
