package tfile

import (
	"bytes"
	"fmt"
)

// maxDefinitions bounds the bytes of the definitions, so that a file of another kind that begins like a trace file is not
// read whole in search of an empty line. Descriptions of large machines are below 100 kB.
const maxDefinitions = 16 << 20

// readDefinitions reads the magic at start and the definition lines, and returns the offset behind the empty line that ends
// them or, with an error, behind the last whole line.
func (f *File) readDefinitions(w *window, start int64) (int64, error) {
	head, err := w.at(start, len(magic))
	if err != nil {
		return 0, err
	}
	if head = head[:min(len(head), len(magic))]; string(head) != magic {
		return 0, &FormatError{ErrNotTraceFile, start, quote(string(head)), fmt.Sprintf("%q", magic)}
	}
	var r headerReader
	limit := start + maxDefinitions
	end := start + int64(len(magic))
	for {
		line, err := lineAt(w, end, limit)
		if err != nil || len(line) == 0 {
			f.takeHeader(&r, end)
			if err == nil {
				end++
			}
			return end, err
		}
		r.line(end, string(line))
		end += int64(len(line)) + 1
	}
}

func (f *File) takeHeader(r *headerReader, end int64) {
	r.finish(end)
	f.header, f.definitions, f.findings = r.header, r.definitions, r.findings
	f.sizeFrom, f.sizeLine, f.decimalSize = SizeHexadecimal, r.sizeLine, r.decimalSize
	if r.header.RegisterSize == 0 {
		f.sizeFrom = SizeUnknown
	}
}

// lineAt returns the definition line at offset without its LF, which must lie before limit.
func lineAt(w *window, offset, limit int64) ([]byte, error) {
	const expected = "an empty line after the definitions"
	for n := int64(MaxLine + 1); ; n *= 4 {
		b, err := w.at(offset, int(min(n, limit-offset)))
		if err != nil {
			return nil, err
		}
		b = b[:min(int64(len(b)), limit-offset)]
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			return b[:i], nil
		}
		if offset+int64(len(b)) >= limit {
			return nil, &FormatError{ErrTooLong, offset, fmt.Sprintf("no end of line in %d bytes", len(b)), expected}
		}
		if int64(len(b)) < n {
			found := "the end of the file"
			if len(b) > 0 {
				found = "an unfinished line " + quote(string(b))
			}
			return nil, &FormatError{ErrTruncated, offset, found, expected}
		}
	}
}
