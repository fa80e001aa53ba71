package execution

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"tracewell/internal/regularfile"
	"tracewell/internal/wholefile"
	"tracewell/itrace"
	"tracewell/itrace/index"
)

// Source is the text of an execution trace, which can be read anywhere.
type Source struct {
	Name    string
	Content io.ReaderAt // unpacked
	Size    int64       // of it
	// Path and Status are of the file that the content is in, compressed or not; Path is "" for none that could be had again.
	Path   string
	Status fs.FileInfo
	// Stored is that file, nil if Content is what is in it. It is what tells whether an index is of the file as it is, without
	// unpacking anything.
	Stored io.ReaderAt
}

// KeepIndex says where the index of a trace is kept.
type KeepIndex uint8

// The places.
const (
	Beside   KeepIndex = iota // beside the trace, or if that cannot be, in the user's cache; that of a small trace in memory
	InMemory                  // in memory
	Anew                      // as Beside, but built anew
)

// IndexSuffix is that of the file of an index, behind the name of the trace.
const IndexSuffix = ".twx"

// smallTrace is up to how many bytes a trace has no file of its index: building it takes no longer than a blink.
const smallTrace = 16 << 20

// kept is an index somewhere.
type kept struct {
	io.ReaderAt
	size  int64
	close func() error
	trace *index.Trace // as it was opened to check it; nil for an index in memory
}

// index finds the index of a trace, or builds it. The notes say what happened that is not usual.
func (s Source) index(d *itrace.Dialect, o Options) (kept, []string, error) {
	if s.Path == "" || s.Size < smallTrace || o.Keep == InMemory {
		return s.inMemory(d, o)
	}
	id, err := s.identity(d.String())
	if err != nil {
		return kept{}, nil, err
	}
	var notes []string
	places := s.places()
	if o.Keep != Anew {
		for _, path := range places {
			k, err := s.open(path, id, d)
			switch {
			case err == nil:
				return k, nil, nil
			case !errors.Is(err, fs.ErrNotExist):
				notes = append(notes, fmt.Sprintf("%s: %v; it is built anew", path, err))
			}
		}
	}
	for i, path := range places {
		var built error
		err := wholefile.Write(path, func(w io.Writer) error {
			_, built = s.build(d, id, o, w)
			return built
		})
		if err == nil {
			if i > 0 {
				notes = append(notes, "the index is kept in "+path)
			}
			k, err := s.open(path, id, d)
			return k, notes, err
		}
		var failed *fs.PathError
		if built != nil && !errors.As(err, &failed) {
			return kept{}, notes, built
		}
	}
	k, more, err := s.inMemory(d, o)
	return k, append(append(notes, "the index can be kept neither beside the trace nor in a cache, and is kept in memory"),
		more...), err
}

// Dialect returns the dialect of the index that is kept for the trace as it is, by its name with settings; "" if there is none. The
// trace was in it when the index was built, so that nobody needs to find out again.
func (s Source) Dialect() string {
	if s.Path == "" || s.Size < smallTrace {
		return ""
	}
	for _, path := range s.places() {
		f, err := regularfile.Open(path)
		if err != nil {
			continue
		}
		id, err := index.IdentityOf(f)
		f.Close()
		own, wrong := s.identity(id.Dialect)
		if err == nil && wrong == nil && id == own {
			return id.Dialect
		}
	}
	return ""
}

// places are where the index may be, the best first.
func (s Source) places() []string {
	places := []string{s.Path + IndexSuffix}
	absolute, err := filepath.Abs(s.Path)
	cache, none := os.UserCacheDir()
	if err != nil || none != nil {
		return places
	}
	folder := filepath.Join(cache, "tracewell")
	if os.MkdirAll(folder, 0o755) != nil {
		return places
	}
	h := fnv.New64a()
	io.WriteString(h, absolute)
	return append(places, filepath.Join(folder, fmt.Sprintf("%s-%016x%s", filepath.Base(absolute), h.Sum64(), IndexSuffix)))
}

// identity says which trace this is.
func (s Source) identity(dialect string) (index.Identity, error) {
	stored := s.Stored
	if stored == nil {
		stored = s.Content
	}
	size := s.Status.Size()
	sample, err := index.Sample(stored, size)
	return index.Identity{Size: size, Modified: s.Status.ModTime().UnixNano(), Sample: sample, Dialect: dialect}, err
}

// build builds the index.
func (s Source) build(d *itrace.Dialect, id index.Identity, o Options, w io.Writer) (index.Summary, error) {
	return index.Build(&watched{in: io.NewSectionReader(s.Content, 0, s.Size), o: o}, d, id, w)
}

// watched tells how much has been read, and ends when it is to.
type watched struct {
	in   io.Reader
	done int64
	o    Options
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	if w.o.Context != nil && w.o.Context.Err() != nil {
		return 0, w.o.Context.Err()
	}
	n, err := w.in.Read(p)
	w.done += int64(n)
	if w.o.Progress != nil {
		w.o.Progress(w.done)
	}
	return n, err
}

// inMemory builds an index that is nowhere else.
func (s Source) inMemory(d *itrace.Dialect, o Options) (kept, []string, error) {
	var out bytes.Buffer
	if _, err := s.build(d, index.Identity{}, o, &out); err != nil {
		return kept{}, nil, err
	}
	return kept{bytes.NewReader(out.Bytes()), int64(out.Len()), func() error { return nil }, nil}, nil, nil
}

// open opens an index that is there already, and reads all of it once, so that damage shows while it can be built anew.
func (s Source) open(path string, id index.Identity, d *itrace.Dialect) (kept, error) {
	f, err := regularfile.Open(path)
	if err != nil {
		return kept{}, err
	}
	k, err := s.check(f, id, d)
	if err != nil {
		f.Close()
		return kept{}, err
	}
	return k, nil
}

func (s Source) check(f *os.File, id index.Identity, d *itrace.Dialect) (kept, error) {
	info, err := f.Stat()
	if err != nil {
		return kept{}, err
	}
	t, err := index.Open(f, info.Size(), s.Content, d)
	switch {
	case err != nil:
		return kept{}, err
	case t.Identity() != id || t.Bytes != s.Size:
		return kept{}, index.ErrForeign
	}
	return kept{f, info.Size(), f.Close, t}, t.Verify()
}
