package tfile

import (
	"bytes"
	"io"
	"iter"
)

// OpenAll opens, one after the other, the trace files that lie one behind the other in r, as "cat" joins them; the first
// must begin at its start. It yields what Open returns for each, with offsets in the whole of r. Where one does not end
// as it should, or has something else behind its end marker, the next one is where the next magic line is; and if memory that
// was collected in a damaged file holds that line, it is taken for the beginning of a file, too.
func OpenAll(r io.ReaderAt, size int64, opts ...Option) iter.Seq2[*File, error] {
	return func(yield func(*File, error) bool) {
		for start := int64(0); ; {
			f, err := Open(r, size, append(opts[:len(opts):len(opts)], WithStart(start))...)
			if !yield(f, err) || f == nil {
				return
			}
			next, err := nextMagic(&window{source: f.source, step: defaultWindow}, f.end)
			if err != nil {
				yield(nil, err)
				return
			}
			if next < 0 {
				return
			}
			start = next
		}
	}
}

// nextMagic returns where the next magic line begins, from offset on, -1 if there is none.
func nextMagic(w *window, offset int64) (int64, error) {
	for {
		b, err := w.at(offset, len(Magic))
		if err != nil || len(b) < len(Magic) {
			return -1, err
		}
		if i := bytes.Index(b, []byte(Magic)); i >= 0 {
			return offset + int64(i), nil
		}
		offset += int64(len(b) - len(Magic) + 1)
	}
}
